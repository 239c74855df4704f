"""The plain form: lines in, lines out, for pipes and for terminals that can do no more.

What people and mates say goes to standard output, one `name: text` each (or JSON); everything else
goes to standard error. When the input ends, it waits until the room has come to rest. What the
person at this end says is not printed again.

Imports nothing that draws.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Coroutine
from typing import IO, Any

from loopforge.chat.room.event_wording import line_asides
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, LineDeleted, LineEdited, PersonReacted, Said
from loopforge.errors import LoopforgeError
from loopforge.io.socket.socket_client import (
    LineTaken,
    LinkJoined,
    LinkParted,
    SocketLink,
    UnsentLine,
    Update,
)
from loopforge.io.socket.wire_protocol import RoomSight, TextsForgotten
from loopforge.io.terminal.client_state import ClientState
from loopforge.io.terminal.command_runner import LARGEST, CommandAnswer, CommandRunner
from loopforge.io.terminal.terminal_commands import TypedCommand, parse_typed_line
from loopforge.io.terminal.terminal_wording import files_of, line_text, notice_sentence
from loopforge.io.terminal.typed_lines import (
    LineSplitter,
    TypedLine,
    is_blank_text,
    safe_for_terminal,
)
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Draft, Rested, Thinking, ToolProgress, Withdrawn

INDENT = "  "
MARKS = ("bot", "late", "untrusted")
"""What --json says of a person's line where it holds."""
CLOSES = (
    "Nothing was typed, so this home closes again. `loopforge up --headless` keeps it open "
    "without a terminal, until SIGTERM or ctrl+c."
)


class PlainTerminal:
    """One plain terminal over an open link."""

    def __init__(
        self, link: SocketLink, out: IO[str], err: IO[str], *, as_json: bool, largest: int
    ) -> None:
        self.missed = 0
        self._link, self._out, self._err, self._json = link, out, err, as_json
        self._minutes = ClientState()
        self._runner = CommandRunner(link, self._minutes, keys=False, largest=largest)
        self._lines: dict[str, int] = {}
        self._drafted: set[str] = set()
        self._reply_to = ""
        self._in = asyncio.Event()

    # ------------------------------------------------------------ out

    async def show(self) -> None:
        """Print what happens, until the link ends."""
        async for update in self._link:
            self._minutes.take(update)
            self._show(update)

    def _show(self, update: Update) -> None:
        match update:
            case LinkJoined():
                self._joined(update)
            case LinkParted(why=why):
                self._notice(f"{why} Looking for it again…")
            case UnsentLine(source=source, error=error):
                self._miss(self._lines.pop(source, 0), str(error))
            case Event():
                self._event(update)
            case Draft(turn=turn, text=text):
                if text.strip():
                    self._drafted.add(turn)
            case Withdrawn(turn=turn, mate=mate, why=why):
                if turn in self._drafted:
                    name = self._minutes.scene.mate(mate).name
                    self._notice(f"{name} took back what it was saying: {safe_for_terminal(why)}")
            case Rested(turn=turn):
                self._drafted.discard(turn)
            case LineTaken(source=source):
                self._lines.pop(source, None)
            case RoomSight() | Thinking() | ToolProgress() | TextsForgotten():
                pass

    def _joined(self, joined: LinkJoined) -> None:
        if joined.again:
            self._notice("Here again.")
        elif joined.scene.notice:
            self._notice(joined.scene.notice)
        self._in.set()

    def _event(self, event: Event) -> None:
        body = event.body
        if isinstance(body, Heard) and self._link.mine(body.source) and not self._json:
            return self._link.seen(event.seq)
        if self._json:
            self._print(json.dumps(self._plain(event), ensure_ascii=False))
        elif isinstance(body, Heard | Said):
            files = "".join(f" [{about}]" for about in files_of(event))
            name = body.mate if isinstance(body, Said) else self._minutes.speaker(event)
            text = (
                safe_for_terminal(line_text(event, self._minutes))
                .strip()
                .replace("\n", f"\n{INDENT}")
            )
            quietly = "".join(f" ({aside})" for aside in line_asides(event))
            self._print(f"{safe_for_terminal(name)}{quietly}: {text}{files}")
        elif (told := notice_sentence(event, self._minutes)) is not None:
            self._notice(told)
        return self._link.seen(event.seq)

    def _plain(self, event: Event) -> dict[str, Any]:
        """An event as --json prints it."""
        body = event.body
        plain: dict[str, Any] = {
            "kind": event.kind.removeprefix("room."),
            "n": event.seq,
            "id": event.id,
            "at": event.at.isoformat(),
        }
        if isinstance(body, Heard | Said):
            plain["who"] = body.mate if isinstance(body, Said) else self._minutes.speaker(event)
            plain["text"] = str(body.text)
            plain["reply_to"] = body.reply_to
            plain["mine"] = isinstance(body, Heard) and self._link.mine(body.source)
            plain |= {name: True for name in MARKS if getattr(body, name, False)}
            if files := files_of(event):
                plain["files"] = files
        elif isinstance(body, LineEdited | LineDeleted):
            plain["line"], plain["who"] = body.line, self._minutes.scene.author(body.by)
            plain["text"] = str(body.text) if isinstance(body, LineEdited) else ""
        elif isinstance(body, PersonReacted):
            plain["line"], plain["who"] = body.to, self._minutes.scene.person(body.person)
            plain["emoji"], plain["back"] = body.emoji, body.back
            plain["text"] = notice_sentence(event, self._minutes) or ""
        else:
            plain["text"] = notice_sentence(event, self._minutes) or ""
        return plain

    def _answer(self, given: TypedCommand, answer: CommandAnswer) -> None:
        if answer.then == "reply":
            self._reply_to = answer.to
        if not answer.text:
            return
        if self._json:
            plain = {"kind": "answer", "command": given.name, "text": answer.text}
            self._print(json.dumps(plain, ensure_ascii=False))
        elif answer.page:
            self._print(safe_for_terminal(answer.text))
        else:
            self._notice(answer.text)

    def _print(self, text: str) -> None:
        print(text, file=self._out, flush=True)

    def _notice(self, text: str) -> None:
        *_, last = text.split() or [""]
        apart = " " if "://" in last else ""  # a bracket would be taken for the address's last sign
        print(f"[{text}{apart}]", file=self._err, flush=True)

    def _miss(self, number: int, why: str) -> None:
        self.missed += 1
        self._notice(f"line {number}: {why}")

    # ------------------------------------------------------------ in

    async def take(self, lines: AsyncIterator[TypedLine]) -> None:
        """Say each line or do what it commands; then wait until the room has come to rest."""
        await self._in.wait()
        empty = True
        async for line in lines:
            empty = False
            if line.lost:
                self._miss(line.number, f"It has {line.lost:,} bytes, which is too long.")
            elif not await self._line(line):
                return await self._link.taken()
        if empty and self._link.hosting:
            self._notice(CLOSES)
        await self._link.settled()
        return await self._link.shown()

    async def _line(self, line: TypedLine) -> bool:
        """False when it says to leave."""
        for note in line.notes:
            self._notice(f"line {line.number}: {note}.")
        if is_blank_text(line.text):
            return True
        try:
            match parse_typed_line(line.text):
                case TypedCommand() as given:
                    answer = await self._runner.do(given)
                    self._answer(given, answer)
                    return answer.then != "quit"
                case str(text):
                    source, _ = self._runner.say(text, self._reply_to)
                    self._lines[source] = line.number
                    self._reply_to = ""
        except LoopforgeError as error:
            self._miss(line.number, str(error))
        return True


async def run_plain(
    link: SocketLink,
    stdin: int,
    out: IO[str],
    err: IO[str],
    *,
    as_json: bool = False,
    largest: int = LARGEST,
) -> int:
    """Talk through pipes until the input ends; the exit code.

    `stdin` is a file descriptor. 0: every line was taken; 1: some were not, and standard error says
    which and why. Raises what breaks the link.
    """
    tasks = BackgroundTasks()
    async with link:
        plain = PlainTerminal(link, out, err, as_json=as_json, largest=largest)
        jobs = (plain.show(), plain.take(typed(stdin)))
        running = [tasks.spawn(_outcome(job), "plain") for job in jobs]
        try:
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            broken = [error for task in done if (error := task.result()) is not None]
        finally:
            await tasks.close()
    if broken:
        raise broken[0]
    return 1 if plain.missed else 0


async def _outcome(job: Coroutine[Any, Any, None]) -> LoopforgeError | None:
    try:
        await job
    except LoopforgeError as error:
        return error
    return None


async def typed(stdin: int) -> AsyncIterator[TypedLine]:
    """Lines from a file descriptor, as they come."""
    splitter = LineSplitter()
    while data := await read(stdin):
        for line in splitter.feed(data):
            yield line
    for line in splitter.finish():
        yield line


async def read(descriptor: int) -> bytes:
    """Some bytes as soon as there are any, of a pipe, a terminal or a file; b"" at its end."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    try:
        loop.add_reader(descriptor, _resolve, ready)
    except PermissionError:  # an ordinary file, which is always ready
        await asyncio.sleep(0)
    else:
        try:
            await ready
        finally:
            loop.remove_reader(descriptor)
    return os.read(descriptor, 1 << 16)


def _resolve(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
