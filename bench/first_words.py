"""The first words: what the embedded model answers to ordinary first lines, word for word.

    python -m bench.first_words           # in fresh rooms
    python -m bench.first_words --after   # after ten lines of talk, and the lines before

Prints a transcript in Markdown. The lines stand in first_lines.json: twelve to each mate, written
by somebody who knew neither the prompt nor the examples, and a talk to be had before. Not part of
`make bench`: it measures answers, which somebody must read.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from bench.figures import folder
from bench.homes import home
from loopforge.app import App
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.erasable_text import Words
from loopforge.home import make_home
from loopforge.models_opening import open_models
from loopforge.runtime.system_clock import SystemClock, SystemDice
from loopforge.settings import load_settings

LINES = Path(__file__).with_name("first_lines.json")


class Talk:
    """One room with one mate, in which Ana says one line after the other."""

    def __init__(self, app: App, room: str, mate: str) -> None:
        self._app, self._room, self._mate = app, room, mate
        self._you, self._said = "", 0

    async def answer(self, line: str) -> str:
        """What the mate says to this line."""
        front = self._app.front
        if not self._you:
            self._you = (await front.rooms.enter(self._room, "Ana", "terminal", (self._mate,))).you
        self._said += 1
        source = f"{self._room}:{self._said}"
        await front.rooms.hear(
            self._room, Heard(person=self._you, text=Words(line), surface="terminal", source=source)
        )
        await front.rooms.settled(self._room)
        events = await self._app.ledger.read(f"room:{self._room}")
        heard = max(at for at, event in enumerate(events) if isinstance(event.body, Heard))
        said = [str(event.body.text) for event in events[heard:] if isinstance(event.body, Said)]
        return said[-1] if said else "(nothing)"


async def told(path: Path, *, after: bool) -> AsyncIterator[tuple[str, str, str]]:
    """Mate, line, answer: each in a room of its own, or all of a mate's after a talk with it."""
    given = json.loads(LINES.read_text("utf-8"))
    make_home(path)
    settings = load_settings(path, environ={"LOOPFORGE_TIMEZONE": "UTC"})
    models = open_models(settings, SystemClock(), SystemDice())
    talks: dict[str, Talk] = {}
    try:
        async with home(path, models) as app:
            for nth, (mate, line) in enumerate(given["lines"]):
                room = mate if after else f"first-{nth}"
                if room not in talks:
                    talks[room] = Talk(app, room, mate)
                    for before in given["warmup"][:5] if after else ():
                        await talks[room].answer(before)
                yield mate, line, await talks[room].answer(line)
    finally:
        await models.close()


async def main(after: bool) -> None:
    """Print them as they come."""
    with folder() as here:
        async for mate, line, said in told(here, after=after):
            print(f"> **Ana**: {line}  \n> **{mate.title()}**: {said}\n", flush=True)


if __name__ == "__main__":
    asyncio.run(main("--after" in sys.argv))
