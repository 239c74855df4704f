"""Slash commands: what they are called, what they take, and completion of what is being typed.

One table for every form of the terminal. Pure; what a command does is `command_runner.py`'s.
"""

from __future__ import annotations

import difflib
import re

from msgspec import Struct

from loopforge.chat.commands import command_catalogue
from loopforge.chat.room.room_snapshot import Scene
from loopforge.errors import Unknown


class SlashCommand(Struct, frozen=True):
    """A command: its name, what it takes ([in brackets]: may be left out), and what it does."""

    name: str
    takes: str
    does: str


MORE = (
    "status",
    "mates",
    "mate",
    "talk",
    "rights",
    "model",
    "usage",
    "memory",
    "remind",
    "link",
)
"""Commands of rooms that are the same here as elsewhere."""

COMMANDS = (
    SlashCommand("why", "[n]", "why a line was said, with all that led to it"),
    SlashCommand("reply", "n [text]", "answer line n; without text, your next line answers it"),
    SlashCommand("stop", "", "halt everybody at once (so does Esc)"),
    SlashCommand("new", "", "begin a new conversation: mates start from a clean page"),
    SlashCommand("end", "", "end this conversation"),
    SlashCommand("who", "", "who is here"),
    SlashCommand("search", "words", "find lines that hold these words"),
    SlashCommand("file", "PATH [text]", "give a text file to the room"),
    SlashCommand("title", "[text]", "name the room; without text, let it name itself"),
    SlashCommand("energy", "[n]", "how much mates may say without you; with n, set it"),
    SlashCommand("keep", "[n]", "keep line n in mates' minds (the last one, without n)"),
    SlashCommand("spent", "[n]", "let line n go first when mates run out of room"),
    SlashCommand("policy", "[name [mate]]", "how mates think here; with a name, choose"),
    SlashCommand("add", "mate", "bring a mate into the room"),
    SlashCommand("remove", "mate", "send a mate out of the room"),
    SlashCommand(
        "triggers", "mate [calls]", "what may call a mate here; with calls, or none, choose"
    ),
    *(
        SlashCommand(one.name, one.argument.lower(), one.help)
        for one in command_catalogue.COMMANDS
        if one.name in MORE
    ),
    SlashCommand("help", "", "this list"),
    SlashCommand("quit", "", "leave"),
)
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
                insert=f"/{one.name}" + (" " if one.takes else ""),
                label=f"/{one.name} {one.takes}".rstrip(),
                about=one.does,
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
    known = command_catalogue.BY_NAME.get(name)
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


def usage(command: SlashCommand) -> str:
    """Such as /reply n [text]."""
    return f"/{command.name} {command.takes}".rstrip()


def help_text(keys: bool = True) -> str:
    """The list of commands, and of keys where there are keys."""
    wide = max(len(usage(command)) for command in COMMANDS)
    rows = [f"{usage(command):<{wide}}  {command.does}" for command in COMMANDS]
    about = (
        "Everything else you type is said to the room. @name speaks to one mate. Each line has a "
        "number, #12; commands that take n mean it."
    )
    if not keys:
        return "\n".join([about, "", *rows])
    wide = max(len(key) for key, _ in KEYS)
    return "\n".join([about, "", *rows, "", *(f"{key:<{wide}}  {does}" for key, does in KEYS)])
