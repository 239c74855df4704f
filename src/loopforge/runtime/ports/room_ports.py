"""Rooms and what goes on beside them: lines and commands that something else takes, and its words.

A room asks `LineRoute` before its mates take a line up, and gives `OrderRoute` the commands that
are not its own. By `RoomVoice` whoever took them has a mate say, in that room, what came of it;
buttons under such a line, and where more of it is told, are asked of `OrderRoute` again.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import File
from loopforge.core.text.erasable_text import Words


class RoomLine(Struct, frozen=True, kw_only=True):
    """What a person said in a room (several lines in a row are one), before a mate takes it up.

    `line` is the id of the last of them, `reply_to` the line it answers. `calls` are the mates that
    are to answer, `named` those that it names, `here` all that are in the room, whoever answers
    what names nobody first. `tools` are those that the person may have used there ("*": all);
    `changes`: they may change the room.
    """

    stream: str
    line: str
    person: str
    text: str
    surface: str = ""
    reply_to: str = ""
    files: tuple[File, ...] = ()
    calls: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    here: tuple[str, ...] = ()
    tools: frozenset[str] = frozenset()
    owner: bool = False
    changes: bool = False


class RoomOrder(Struct, frozen=True, kw_only=True):
    """A command that a person gives in a room, by itself, by a `line`, or by a button under one.

    `reply_to` is the line that it answers, or under which was pressed. `here`, `tools`, `owner` and
    `changes` as in RoomLine; `stops`: they may stop mates; `guest`: an invite let them in.
    """

    stream: str
    person: str
    name: str
    argument: str
    surface: str = ""
    line: str = ""
    reply_to: str = ""
    files: tuple[File, ...] = ()
    here: tuple[str, ...] = ()
    tools: frozenset[str] = frozenset()
    owner: bool = False
    guest: bool = False
    changes: bool = False
    stops: bool = False


class LineButton(Struct, frozen=True):
    """A button under a line: a press gives the command of this name as an answer to that line."""

    name: str
    label: str
    tone: Literal["yes", "plain", "no"] = "plain"


class LineSource(Struct, frozen=True):
    """Where in the browser what a line tells of is shown, and where why it came to be.

    `words` say that to who is not in a browser.
    """

    page: str
    record: str
    words: str


class LineRoute(Protocol):
    """Where lines of rooms may go instead of to a mate's turn."""

    async def line(self, line: RoomLine) -> bool:
        """Whether it is taken, so that no mate answers it. Asked twice, it is taken once."""


class OrderRoute(Protocol):
    """What carries out commands that are not the room's own."""

    async def order(self, order: RoomOrder) -> str:
        """Do it; what whoever gave it is told. Raises input errors."""

    async def awaits(self, stream: str, reply_to: str = "") -> bool:
        """Whether a yes or a no that names no number, and answers this line, is for it."""

    async def buttons(self, said: Event) -> Sequence[LineButton]:
        """The buttons that belong under a line of `RoomVoice` as things stand."""

    async def source(self, said: Event) -> LineSource | None:
        """Where more is told of a line of `RoomVoice`; None for any other."""


class RoomVoice(Protocol):
    """Words of mates in a room that are of no turn there. They call nobody."""

    async def say(
        self, stream: str, mate: str, text: str | Words, *, cause: str, files: Sequence[File] = ()
    ) -> str:
        """Say it once for each cause (an event's id); the line's id, "" where the room is gone.

        A plain string is private, and forgotten with what it quotes.
        """

    async def edit(self, stream: str, mate: str, line: str, text: str) -> bool:
        """Let that line of the mate be this text; False while an earlier edit is on its way."""

    async def spoken(self, stream: str, causes: Collection[str]) -> Mapping[str, Sequence[str]]:
        """The lines that were said for these causes, each with the events that edited it."""

    async def delete(self, stream: str, line: str, person: str) -> None:
        """Delete a line of a mate on somebody's wish, once, everywhere it was said."""

    async def react(self, stream: str, mate: str, line: str, emoji: str, *, cause: str) -> None:
        """Put an emoji on a line, once for each cause."""

    async def called(self, stream: str, person: str) -> str:
        """What somebody is called in a room; who was never in it is the owner of the home."""

    async def granted(self, stream: str, person: str, line: str) -> Collection[str]:
        """The tools that somebody who said this line ("" for none) may have used there by now."""

    async def reached(self, order: RoomOrder, cause: str) -> bool:
        """Whether what was said for this cause stood where a command was given, before it was."""
