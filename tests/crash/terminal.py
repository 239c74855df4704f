"""A person at a terminal, over the real link: says lines, notes all that is shown, acknowledges it.

It is never host itself. It lives through the deaths of many hosts; the link finds the next one,
says again what was not taken, and asks for what was missed.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from loopforge.chat.rooms_api import RoomsApi
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Said
from loopforge.errors import HostTaken
from loopforge.io.socket.socket_address import SocketAddress
from loopforge.io.socket.socket_client import (
    LineTaken,
    LinkJoined,
    LinkParted,
    SocketLink,
    UnsentLine,
    Update,
)
from loopforge.io.socket.wire_protocol import Hello
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Draft
from loopforge.runtime.system_clock import SystemClock
from tests.crash.tally import Line

ROOM = "commons"


class Restless(SystemClock):
    """The machine's clock for somebody who looks for a host more often than a link would."""

    async def sleep(self, seconds: float) -> None:
        """Wait, but not for long."""
        await super().sleep(min(seconds, 0.03))


class Terminal:
    """One terminal. `shown` is every event that reached its screen, in that order."""

    def __init__(self, link: SocketLink, name: str) -> None:
        self.link, self.name = link, name
        self.shown: list[Event] = []
        self.lines: list[Line] = []
        self.taken: set[str] = set()
        self.unsaid: list[UnsentLine] = []
        self.drafts: list[Draft] = []
        self.here = False
        self._waiting: list[tuple[Callable[[Update], bool], asyncio.Future[Update]]] = []

    def say(self, text: str, mark: str = "", mate: str = "") -> Line:
        """Say a line, whether there is a host or not."""
        source = self.link.say(text)
        line = Line(source=source, person=self.name, text=text, mark=mark, mate=mate)
        self.lines.append(line)
        return line

    def sees(self, what: Callable[[Update], bool]) -> asyncio.Future[Update]:
        """The next update of this kind."""
        future: asyncio.Future[Update] = asyncio.get_running_loop().create_future()
        self._waiting.append((what, future))
        return future

    def answered(self, mark: str) -> bool:
        """Whether a mate's line with this mark is on the screen."""
        return any(isinstance(e.body, Said) and mark in str(e.body.text) for e in self.shown)

    async def watch(self) -> None:
        """Take in updates until the link ends."""
        async for update in self.link:
            self._take(update)

    def _take(self, update: Update) -> None:
        match update:
            case Event():
                self.shown.append(update)
                self.link.seen(update.seq)
            case LineTaken(source=source):
                self.taken.add(source)
            case UnsentLine():
                self.unsaid.append(update)
            case Draft():
                self.drafts.append(update)
            case LinkJoined() | LinkParted():
                self.here = isinstance(update, LinkJoined)
            case _:
                pass
        left = []
        for what, future in self._waiting:
            if future.done():
                continue
            if what(update):
                future.set_result(update)
            else:
                left.append((what, future))
        self._waiting = left


def drafting(update: Update) -> bool:
    """Something a mate says, so far."""
    return isinstance(update, Draft)


def said(update: Update) -> bool:
    """A mate said something."""
    return isinstance(update, Event) and isinstance(update.body, Said)


def joined(update: Update) -> bool:
    """There is a host again."""
    return isinstance(update, LinkJoined)


def never_host() -> AbstractAsyncContextManager[RoomsApi]:
    """This process is to be no host."""
    raise HostTaken("This terminal only talks.")


@asynccontextmanager
async def sitting(home: Path, name: str, room: str = ROOM) -> AsyncIterator[Terminal]:
    """A terminal that is open until the block ends."""
    person = Hello(client=f"t-{name}", room=room, name=name, tail=0)
    tasks = BackgroundTasks()
    async with SocketLink(SocketAddress(home / "data"), never_host, person, Restless()) as link:
        terminal = Terminal(link, name)
        tasks.spawn(terminal.watch(), f"terminal of {name}")
        try:
            yield terminal
        finally:
            await tasks.close()
