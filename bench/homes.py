"""A home to measure in: the shipped mates, SQLite, and a model that answers at once."""

import dataclasses
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from loopforge.app import App, open_app
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.turn_events import Usage
from loopforge.home import make_home
from loopforge.models.providers.token_estimate import estimate_tokens
from loopforge.models.scripted_model import fill
from loopforge.runtime.installation.process_resources import collect_seldom
from loopforge.runtime.ports import ModelFacts, ModelReply, Models, Question, Route
from loopforge.settings import load_settings


def wording(count: int) -> str:
    """What a model says that answers at once."""
    return f"Warm water kills yeast above fifty degrees; that is guess number {count}."


class Instant:
    """A model that answers at once, whatever it is asked; what it says is never twice the same."""

    def __init__(self, window: int = 8192) -> None:
        self._window, self._count = window, 0

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """One short line, in whatever form it is asked for."""
        self._count += 1
        said = wording(self._count)
        data = None
        if question.schema is not None:
            given = {"mode": "context", "rule": "", "note": "", "again": False, "tool": ""}
            data = fill(question.schema, said, given)
        hear(said)
        usage = Usage(read=1000, written=20)
        return ModelReply(outcome="answered", text=said, data=data, model="instant", usage=usage)

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:  # noqa: ARG002
        """Tokens, estimated."""
        return [estimate_tokens(text) for text in texts]

    def facts(self, route: Route) -> ModelFacts:  # noqa: ARG002
        """As configured."""
        return ModelFacts(name="instant", window=self._window)


class Append(NamedTuple):
    """One append: its stream, and the ids of its events."""

    stream: str
    ids: tuple[str, ...]


class Taken:
    """How long each line of a person waited for its answer, and what was appended meanwhile.

    From the moment the line is in the ledger (its room is woken right after) to the moment the
    first answer to it is.
    """

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.turns: list[list[Append]] = []
        self.last = 0.0
        self._heard: dict[str, tuple[float, list[Append]]] = {}

    def __call__(self, stream: str, events: Sequence[Event]) -> None:
        """Take in an append."""
        now = time.perf_counter()
        heard = self._heard.get(stream)
        if heard is not None:
            heard[1].append(Append(stream, tuple(event.id for event in events)))
        for event in events:
            if isinstance(event.body, Heard):
                self._heard[stream] = (now, [])
            elif isinstance(event.body, Said) and heard is not None:
                self.waits.append(now - heard[0])
                self.turns.append(heard[1])
                self.last = now
                self._heard.pop(stream, None)

    def clear(self) -> None:
        """Begin anew."""
        self.waits, self.turns = [], []
        self._heard.clear()


@asynccontextmanager
async def home(path: Path, models: Models | None = None, **changes: Any) -> AsyncIterator[App]:
    """A home that runs until the block ends; lines are not gathered. `changes` are settings."""
    collect_seldom()
    make_home(path)
    settings = load_settings(path, environ={"LOOPFORGE_TIMEZONE": "UTC"})
    settings = dataclasses.replace(settings, **{"debounce_seconds": 0.0, **changes})
    async with open_app(settings, models=models) as app:
        yield app


def database(path: Path) -> Path:
    """The database file of a home."""
    return path / "data" / "loopforge.db"
