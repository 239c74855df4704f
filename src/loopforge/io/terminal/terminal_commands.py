"""Slash commands: what they are called, what they take, and completion of what is being typed.

The table of the rooms (chat/commands/command_catalogue.py) and the terminal's own few. Pure; what
a command does is `command_runner.py`'s.
"""

import difflib
import re

from msgspec import Struct

from loopforge.chat.commands import command_catalogue
from loopforge.chat.commands.command_catalogue import RoomCommand, usage
from loopforge.chat.room.room_snapshot import RoomSnapshot
from loopforge.errors import Unknown

COMMANDS = (
    *command_catalogue.COMMANDS,
    RoomCommand(
        name="reply", argument="LINE [TEXT]", help="answer a line; without text, by your next line"
    ),
    RoomCommand(name="who", argument="", help="who is here"),
    RoomCommand(name="search", argument="WORDS", help="find lines that hold these words"),
    RoomCommand(name="file", argument="PATH [TEXT]", help="give a text file to the room"),
    RoomCommand(name="quit", argument="", help="leave"),
)
"""What every surface has, and what a terminal has beside it."""
BY_NAME = {command.name: command for command in COMMANDS}

KEYS = (
    ("Enter", "say it"),
    ("Shift+Enter, Ctrl+J", "a new line within it"),
    ("Tab", "complete a /command or an @name"),
    ("Up, Down", "what you said before"),
    ("PgUp, PgDn", "earlier, later"),
    ("Esc", "stop whoever speaks"),
    ("Ctrl+B", "who is here, at the side"),
    ("F3", "answers what a mate asks leave for"),
    ("Ctrl+D", "leave"),
)


class TypedCommand(Struct, frozen=True, kw_only=True):
    """A command that was typed."""

    name: str
    argument: str = ""


class Completion(Struct, frozen=True, kw_only=True):
    """One way to go on: what to put in place of the text from `start` on, and how it is shown."""

    start: int
    insert: str
    label: str
    about: str = ""


def parse_typed_line(text: str) -> TypedCommand | str:
    """A command, or the line to be said. Raises Unknown for a command that there is none of.

    A line that begins with two slashes is said with one; so is one whose first word has another
    slash in it, such as a path.
    """
    stripped = text.strip()
    if not stripped.startswith("/"):
        return text
    if stripped.startswith("//"):
        return stripped[1:]
    word, _, argument = stripped[1:].partition(" ")
    word, broken, more = word.partition("\n")
    argument = (more + " " + argument if broken else argument).strip()
    if "/" in word or not word:
        return text
    name = word.casefold()
    if name in ("exit", "q"):
        name = "quit"
    if name in BY_NAME:
        return TypedCommand(name=name, argument=argument)
    near = difflib.get_close_matches(name, BY_NAME, 1)
    hint = f"Did you mean /{near[0]}? " if near else ""
    raise Unknown(
        f"There is no command /{word[:40]}. {hint}/help lists them; begin with // to say it."
    )


Way = tuple[str, str, str, tuple[str, ...]]
"""A way to go on: what is put in, how it is shown, what it is, and the words that begin it."""


def complete_word(text: str, cursor: int, scene: RoomSnapshot) -> list[Completion]:
    """Ways to go on with the word that ends at `cursor`."""
    before, ways = text[:cursor], list[Way]()
    if found := re.fullmatch(r"(/)(\w*)", before):
        ways = [
            (f"/{one.name}" + " " * bool(one.argument), usage(one), one.help, (one.name,))
            for one in COMMANDS
        ]
    elif found := re.fullmatch(r"/\w+ ()(\S*)", before):
        ways = _choices(before[1 : found.start(1) - 1].casefold(), scene)
    elif found := re.search(r"(?:^|(?<=[\s(]))(@)([\w-]*)$", before):
        ways = [
            (f"@{mate.handle} ", f"@{mate.handle}", mate.role, (mate.handle, mate.name))
            for mate in scene.mates
        ]
        people = [name for id, name in scene.people if id != scene.you and " " not in name]
        ways += [(f"@{name} ", f"@{name}", "", (name,)) for name in people]
    else:
        return []
    begun = found[2].casefold()
    return [
        Completion(start=found.start(1), insert=insert, label=label, about=about)
        for insert, label, about, words in ways
        if any(word.casefold().startswith(begun) for word in words)
    ]


def _choices(name: str, scene: RoomSnapshot) -> list[Way]:
    """What the argument of a command may be, as far as it is known here."""
    known = BY_NAME.get(name)
    if known and known.complete == "mates here":
        return [(mate.handle, mate.handle, mate.role, (mate.handle,)) for mate in scene.mates]
    if known and known.complete == "talk":
        options = (
            ("free", "whenever they have something to say"),
            ("called", "only when they are called"),
        )
        return [(option, option, about, (option,)) for option, about in options]
    return []


def help_text(keys: bool = True) -> str:
    """The list of commands, and of keys where there are keys."""
    wide = max(len(usage(command)) for command in COMMANDS)
    rows = [f"{usage(command):<{wide}}  {command.help}" for command in COMMANDS]
    about = (
        "Everything else you type is said to the room. @name speaks to one mate. Each line has a "
        "number, #12; commands that take a LINE mean it, /keep and /spent without one the last."
    )
    if not keys:
        return "\n".join([about, "", *rows])
    wide = max(len(key) for key, _ in KEYS)
    return "\n".join([about, "", *rows, "", *(f"{key:<{wide}}  {does}" for key, does in KEYS)])
