"""Carries out slash commands for one terminal, and gives back what to show.

Knows nothing of screens: an Answer is text, and the form decides where it stands. Of files only
text is given: UTF-8, within a limit, with no NULs; every refusal says which file and why.
"""

import shlex
import stat
from pathlib import Path
from typing import Literal

from msgspec import Struct

from loopforge.chat.commands.command_catalogue import usage
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import File, Heard, Said
from loopforge.core.text.erasable_text import Words
from loopforge.errors import BadLine, TooLarge, Unknown
from loopforge.io.socket.socket_client import SocketLink
from loopforge.io.socket.wire_protocol import LIMIT
from loopforge.io.terminal.client_state import ClientState
from loopforge.io.terminal.terminal_commands import BY_NAME, TypedCommand, help_text
from loopforge.io.terminal.terminal_wording import clock_time, line_quotation, line_reference
from loopforge.io.terminal.typed_lines import is_blank_text, strip_terminal_controls

FOUND = 20
"""Lines that /search shows."""
Kinds = tuple[type[Heard | Said], ...]
ANYBODY: Kinds = (Heard, Said)
MATES: Kinds = (Said,)
LOOKED_BACK = 100
"""Events that are looked through for the last line."""
LARGEST = 200_000
"""Bytes of a file that is given, where nothing else is set."""
_MOST = LIMIT // 2
"""Bytes that surely pass through the socket at once, whatever is set."""


class CommandAnswer(Struct, frozen=True, kw_only=True):
    """What came of a command. `page`: long, to be read at leisure, under `title`.

    `then` is what the terminal itself must do: answer a line with the next one, or leave.
    """

    text: str = ""
    title: str = ""
    page: bool = False
    then: Literal["", "reply", "quit"] = ""
    to: str = ""


class CommandRunner:
    """One terminal's. `keys`: whether help speaks of keys. `largest`: bytes of a file."""

    def __init__(
        self, link: SocketLink, minutes: ClientState, *, keys: bool = True, largest: int = LARGEST
    ) -> None:
        self._link, self._minutes, self._keys, self._largest = link, minutes, keys, largest

    def say(self, text: str, reply_to: str = "") -> tuple[str, tuple[str, ...]]:
        """Say a line; its source, and notes on what was changed in it. Raises BadLine."""
        text, notes = strip_terminal_controls(text)
        if is_blank_text(text):
            raise BadLine("There is nothing in this line.")
        return self._link.say(text, reply_to=reply_to), notes

    async def do(self, given: TypedCommand) -> CommandAnswer:
        """Carry out a command. Raises Loopforge's errors, each a sentence for the person."""
        argument = given.argument
        match given.name:
            case "why":
                return await self._why(argument)
            case "reply":
                return await self._reply(argument)
            case "search":
                return await self._search(argument)
            case "file":
                return self._file(argument)
            case "who":
                return CommandAnswer(title="Who is here", text=self._who(), page=True)
            case "help":
                return CommandAnswer(title="Help", text=help_text(self._keys), page=True)
            case "quit":
                return CommandAnswer(then="quit")
            case "keep" | "spent":
                line = await self._line(argument, ANYBODY)
                return CommandAnswer(text=await self._link.act(given.name, line.id))
            case _:
                text = await self._link.act(given.name, argument)
                return CommandAnswer(title=f"/{given.name}", text=text, page="\n" in text)

    async def _why(self, argument: str) -> CommandAnswer:
        if argument and not argument.lstrip("#").isdigit():
            return CommandAnswer(title="Why?", text=await self._link.why(argument), page=True)
        line = await self._line(argument, MATES)
        title = f"Why? {line_quotation(line, self._minutes, 48)}"
        return CommandAnswer(title=title, text=await self._link.why(line.id), page=True)

    async def _reply(self, argument: str) -> CommandAnswer:
        number, _, text = argument.partition(" ")
        if not number:
            raise Unknown(f"{usage(BY_NAME['reply'])}: the number stands beside the line.")
        line = await self._line(number, ANYBODY)
        if not text.strip():
            return CommandAnswer(then="reply", to=line.id)
        self.say(text.strip(), line.id)
        return CommandAnswer()

    async def _search(self, words: str) -> CommandAnswer:
        if not words:
            raise Unknown(f"{usage(BY_NAME['search'])}: say what to look for.")
        found = await self._link.search(words, FOUND)
        for event in found:
            self._minutes.add(event)
        lines = [
            f"{line_reference(event):>6}  {event.at.astimezone():%d %b} {clock_time(event.at)}  "
            f"{line_quotation(event, self._minutes, 200)}"
            for event in found
        ]
        text = "\n".join(lines) or "Nothing was found."
        return CommandAnswer(title=f"Lines with “{words}”", text=text, page=True)

    def _file(self, argument: str) -> CommandAnswer:
        try:
            path, *words = shlex.split(argument)
        except ValueError as error:
            if not argument:
                raise Unknown(f"{usage(BY_NAME['file'])}: say which file.") from None
            raise BadLine(f"The path cannot be read ({error}); put it in quotes.") from None
        file = take_file(path, self._largest)
        self._link.say(strip_terminal_controls(" ".join(words))[0], files=(file,))
        return CommandAnswer(text=f"{file.name} ({file.size:,} bytes) goes to the room.")

    def _who(self) -> str:
        scene = self._minutes.scene
        rows = [
            f"{mate.name}  @{mate.handle}" + (f"  {mate.role}" if mate.role else "")
            for mate in scene.mates
        ]
        rows.append("")
        for id, name in scene.people:
            you = " (you)" if id == scene.you else ""
            away = "" if id in self._minutes.here else "  not here now"
            rows.append(f"{name}{you}{away}")
        return "\n".join(rows)

    async def _line(self, number: str, kinds: Kinds) -> Event:
        """The line of a number such as 12 or #12; with none, the last one of these kinds."""
        if not number:
            return await self._last(kinds)
        digits = number.removeprefix("#")
        if digits.isdecimal() and len(digits) < 16:
            seq = int(digits)
            line = self._minutes.numbered(seq)
            if line is None:
                older = await self._link.history(before=seq + 1, limit=1)
                line = next((event for event in older if event.seq == seq), None)
            if line is not None and isinstance(line.body, Heard | Said):
                return line
        raise Unknown(
            f"There is no line {number[:20]} here. The number stands beside each line, like #12."
        )

    async def _last(self, kinds: Kinds) -> Event:
        line = self._minutes.last_said if kinds == MATES else self._minutes.newest()
        if line is None:
            for event in await self._link.history(limit=LOOKED_BACK):
                line = event if isinstance(event.body, kinds) else line
        if line is None:
            raise Unknown("Nothing has been said here yet. A line is named by its number: #12.")
        return line


def take_file(path: str, limit: int = LARGEST) -> File:
    """Read a text file of at most `limit` bytes. Raises BadLine."""
    limit = min(limit, _MOST)
    where = Path(path).expanduser()
    try:
        about = where.stat()
        if stat.S_ISDIR(about.st_mode):
            raise BadLine(f"{where} is a folder; give one text file.")
        if not stat.S_ISREG(about.st_mode):
            raise BadLine(f"{where} is no ordinary file.")
        with where.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise BadLine(f"There is no file {where}.") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadLine(f"{where} cannot be read: {why}.") from error
    if len(data) > limit:
        raise TooLarge.file(where, about.st_size, limit)
    if not data.strip():
        raise BadLine(f"{where} is empty.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadLine(
            f"{where} is no text in UTF-8 (byte {error.start + 1:,} is none). "
            "Convert it first, or give a text file."
        ) from None
    if "\0" in text:
        raise BadLine(f"{where} is no text: it holds NUL bytes.")
    name = where.name.encode("utf-8", "replace").decode()
    return File(name=Words(name), size=len(data), text=Words(text))
