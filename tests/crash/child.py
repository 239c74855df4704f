"""The host of a home, made to be killed; `main` runs in a process of its own (host.py).

The real app on the database that its home names, the real hall on its Unix socket; a scripted model,
or the embedded one. Through a pipe it says "ready", takes an Order, says "armed", "waits" whenever a
lane does, and ends when the pipe does.

The scripted mate repeats the marks (`[k17]`) of the lines it answers: all that were said to it and
that it has not answered; if there is none, the newest again, so that a turn too many is seen. A line
to it that has no mark wants no answer. Where it has tools it first presses a button with them, which
changes something, and looks, which does not; then it looks twice at once, and says what it was told
of all of them.
"""

import asyncio
import dataclasses
import json
import logging
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import msgspec
from msgspec import Struct

from loopforge.app import App, open_app
from loopforge.chat.rooms_api import RoomsApi
from loopforge.chat.server import Rooms
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.host_lock import lock_home
from loopforge.io.socket.socket_address import SocketAddress
from loopforge.io.socket.socket_server import SocketServer
from loopforge.models.scripted_model import ScriptedAnswer, ScriptedModels
from loopforge.models_opening import open_models
from loopforge.policies.prompt_building import RECALLED
from loopforge.runtime.ports import (
    ModelFacts,
    ModelReply,
    Models,
    Question,
    Route,
)
from loopforge.runtime.system_clock import SystemClock, SystemDice
from loopforge.setting_defaults import Settings
from loopforge.settings import load_settings
from tests.crash.board import Board
from tests.crash.button import USED, install
from tests.crash.fate import Fate, watch_transactions
from tests.said_now import said_now

MARK = re.compile(r"\[k\d+\]")
QUOTED = re.compile(r" \[answers .*?”\]")
"""What a row quotes of the line that it answers: it is not said to whoever reads it."""
RESULT = re.compile(r"\[result of (\w+(?:, \w+)?): ")
PROGRAM = """import asyncio
try:
    pressed = await press(marks={marks})
except RuntimeError as why:
    pressed = str(why)
print(pressed, await asyncio.gather(look(), look()))
"""
"""What a mate writes that uses both tools."""
PLAIN = {"again": False, "note": "", "tool": ""}
"""An answer in one step."""


class Options(Struct, kw_only=True):
    """What kind of host to be. `point` and `after` arm it before it opens anything."""

    home: str
    embedded: bool = False
    tools: bool = False
    programs: bool = False
    point: str = ""
    after: int = 1
    deaf: int = 0
    pieces: int = 8
    wait: float = 0.05
    pause: float = 0.02


class Order(Struct, kw_only=True):
    """Die at this point, the n-th time from now on; or halt there."""

    point: str
    after: int
    halts: bool = False


class Waits(logging.Handler):
    """Says that a lane waits before it tries again what failed."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__()
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        """One more warning of a lane's."""
        self._say("waits")


# ---------------------------------------------------------------- the model


def mate_of(question: Question) -> str:
    """The handle of the mate that asks, by its character; "" when it is the room itself."""
    role, text = question.messages[0]
    found = re.search(r"You are (\w+)\.", text) if role == "system" else None
    return found[1].lower() if found else ""


def marks_for(mate: str, question: Question) -> str:
    """The marks that this mate is to repeat; "" when no answer is wanted of it."""
    asked: dict[str, None] = {}
    answered: set[str] = set()
    newest = ""
    for role, text in question.messages:
        if role == "assistant":
            answered.update(MARK.findall(text))
        elif role == "user" and not text.startswith(RECALLED):
            for line in QUOTED.sub("", text).splitlines():
                if f"@{mate} " in line:
                    newest = line
                    asked.update(dict.fromkeys(MARK.findall(line)))
    left = [mark for mark in asked if mark not in answered]
    again = MARK.findall(newest)[-1:]
    return " ".join(left or again)


def results_in(question: Question) -> list[str]:
    """What became of each use of a tool since it was asked last: "press", "press, unknown"."""
    rows = [line for text in said_now(question) for line in text.split("\n")]
    last = max(nth for nth, row in enumerate(rows) if MARK.search(row) and " @" in f" {row}")
    return [found[1] for row in rows[last:] if (found := RESULT.match(row))]


def script_of(options: Options) -> Callable[[Question], ScriptedAnswer]:
    """The script of every mate."""

    def script(question: Question) -> ScriptedAnswer:
        mate = mate_of(question)
        marks = marks_for(mate, question) if mate else ""
        if not marks:
            return ScriptedAnswer(data={**PLAIN, "speak": False, "say": ""}, text="Small talk")
        told = results_in(question) if options.tools else []
        if options.programs and not told:
            code = json.dumps({"code": PROGRAM.format(marks=json.dumps(marks))})
            return ScriptedAnswer(data={**PLAIN, "say": "", "tool": "python", "arguments": code})
        if options.tools and not options.programs and len(told) < 2 * len(USED):
            wanted = USED if not told else ("look", "look")  # in turn, then side by side
            calls = [{"tool": each, "arguments": json.dumps({"marks": marks})} for each in wanted]
            return ScriptedAnswer(data={**PLAIN, "say": "", "calls": calls})
        return ScriptedAnswer(
            data=PLAIN,
            text=f"{marks} Heard, and this is {mate}'s answer, in so many words as it takes. "
            + ", ".join(told),
            pieces=options.pieces,
            wait=options.wait,
            pause=options.pause,
        )

    return script


class Doomed:
    """Models that tell fate how far each answer is."""

    def __init__(self, inner: Models, fate: Fate) -> None:
        self._inner, self._fate = inner, fate

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """Ask the model behind."""
        self._fate.at("ask.begin")
        came = 0

        def heard(piece: str) -> None:
            nonlocal came
            came += 1
            if came == 1:
                self._fate.at("ask.first")
            hear(piece)
            self._fate.at("ask.piece")

        reply = await self._inner.ask(question, heard)
        self._fate.at("ask.end")
        return reply

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:
        """Ask the model behind."""
        return await self._inner.count(route, texts)

    def facts(self, route: Route) -> ModelFacts:
        """Ask the model behind."""
        return self._inner.facts(route)


# ---------------------------------------------------------------- the host


class Doorstep(Rooms):
    """The rooms, where fate stands at the door."""

    def __init__(self, rooms: Rooms, fate: Fate) -> None:
        vars(self).update(vars(rooms))
        self._fate = fate

    async def hear(self, room: str, line: Heard) -> Event:
        """Take in a line."""
        self._fate.at("hear.before")
        event = await super().hear(room, line)
        self._fate.at("hear.after")
        return event


class Threshold(RoomsApi):
    """The front of these rooms."""

    def __init__(self, app: App, fate: Fate) -> None:
        vars(self).update(vars(app.front))
        self.rooms, self._fate = Doorstep(app.rooms, fate), fate

    async def seen(self, room: str, person: str, seq: int, surface: str = "terminal") -> None:
        """Something was shown."""
        self._fate.at("seen.before")
        await super().seen(room, person, seq, surface)
        self._fate.at("seen.after")


@asynccontextmanager
async def models_of(options: Options, settings: Settings) -> AsyncIterator[Models]:
    """The model that answers here."""
    if not options.embedded:
        yield ScriptedModels(script_of(options))
        return
    models = open_models(settings, SystemClock(), SystemDice())
    try:
        yield models
    finally:
        await models.close()


async def host(options: Options, line: Connection) -> None:
    """Be the host until whoever started it hangs up."""

    def say(word: str) -> None:
        line.send_bytes(word.encode())

    fate = Fate(say, options.point, options.after)
    logging.getLogger("loopforge.runtime.local.stream_lanes").addHandler(Waits(say))
    watch_transactions(fate)
    home = Path(options.home)
    settings = load_settings(home, environ={})
    settings = dataclasses.replace(
        settings, debounce_seconds=0.03, timezone="UTC", embedded_context=1024
    )
    if options.tools:
        install(home, fate)
    board = Board(settings.data / "board.jsonl", fate, options.deaf)
    with lock_home(home):
        async with (
            models_of(options, settings) as models,
            open_app(settings, models=Doomed(models, fate), surfaces={board.name: board}) as app,
        ):
            app.ledger.subscribe(lambda _, events: _said(fate, events))
            async with SocketServer(Threshold(app, fate), SocketAddress(settings.data)):
                say("ready")
                while (order := await asyncio.to_thread(_order, line)) is not None:
                    fate.arm(order.point, order.after, halts=order.halts)
                    say("armed")


def _order(line: Connection) -> Order | None:
    try:
        return msgspec.json.decode(line.recv_bytes(), type=Order)
    except EOFError:
        return None


def _said(fate: Fate, events: Sequence[Event]) -> None:
    if any(isinstance(event.body, Said) for event in events):
        fate.at("said")


def main(options: bytes, line: Connection) -> None:
    """Begin a life."""
    asyncio.run(host(msgspec.json.decode(options, type=Options), line))
