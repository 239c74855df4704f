"""Slash commands: what they are called, what they take, and completion of what is being typed.

The table of the rooms (chat/commands/command_catalogue.py) and the terminal's own few. Pure; what
a command does is `command_runner.py`'s.
"""

from __future__ import annotations

import difflib
import re

from msgspec import Struct

from loopforge.chat.commands import command_catalogue
from loopforge.chat.commands.command_catalogue import RoomCommand, usage
from loopforge.chat.room.room_snapshot import Scene
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
    ("Ctrl+D", "leave"),
)


class Given(Struct, frozen=True, kw_only=True):
    """A command that was typed."""

    name: str
    argument: str = ""


class Completion(Struct, frozen=True, kw_only=True):
    """One way to go on: what to put in place of the text from `start` on, and how it is shown."""

    start: int
    insert: str
    label: str
    about: str = ""


def parse(text: str) -> Given | str:
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
        return Given(name=name, argument=argument)
    near = difflib.get_close_matches(name, BY_NAME, 1)
    hint = f"Did you mean /{near[0]}? " if near else ""
    raise Unknown(
        f"There is no command /{word[:40]}. {hint}/help lists them; begin with // to say it."
    )


def complete(text: str, cursor: int, scene: Scene) -> list[Completion]:
    """Ways to go on with the word that ends at `cursor`."""
    before = text[:cursor]
    if command := re.fullmatch(r"/(\w*)", before):
        begun = command[1].casefold()
        return [
            Completion(
                start=0,
                insert=f"/{one.name}" + (" " if one.argument else ""),
                label=usage(one),
                about=one.help,
            )
            for one in COMMANDS
            if one.name.startswith(begun)
        ]
    if choice := re.fullmatch(r"/(\w+) (\S*)", before):
        return _choices(choice[1].casefold(), choice[2].casefold(), choice.start(2), scene)
    if mention := re.search(r"(?:^|[\s(])@([\w-]*)$", before):
        begun = mention[1].casefold()
        start = mention.start(1) - 1
        mates = [
            Completion(
                start=start, insert=f"@{mate.handle} ", label=f"@{mate.handle}", about=mate.role
            )
            for mate in scene.mates
            if mate.handle.casefold().startswith(begun) or mate.name.casefold().startswith(begun)
        ]
        people = [
            Completion(start=start, insert=f"@{name} ", label=f"@{name}", about="")
            for id, name in scene.people
            if id != scene.you and " " not in name and name.casefold().startswith(begun)
        ]
        return mates + people
    return []


def _choices(name: str, begun: str, start: int, scene: Scene) -> list[Completion]:
    """What the argument of a command may be, as far as it is known here."""
    known = BY_NAME.get(name)
    options: list[tuple[str, str]] = []
    if known and known.complete == "mates here":
        options = [(mate.handle, mate.role) for mate in scene.mates]
    elif known and known.complete == "talk":
        options = [("free", "where they have cause"), ("called", "only when they are called")]
    return [
        Completion(start=start, insert=option, label=option, about=about)
        for option, about in options
        if option.casefold().startswith(begun)
    ]


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
