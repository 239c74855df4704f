"""The catalogue: the commands of a room as people are told of them, whichever surface offers them.

One table. Help texts, the commands of platforms and the terminal's are made from
it. What a command does is elsewhere: change_commands.py changes a room, query_commands.py tells
about it.
"""

from typing import Literal

from msgspec import Struct

from loopforge.core.room_vocabulary import Right

Choices = Literal["", "mates", "mates here", "policies", "lines", "talk", "people"]
"""What an argument may be completed with."""


class RoomCommand(Struct, frozen=True, kw_only=True):
    """A command: what it takes ([in brackets]: may be left out), what it does, what it needs.

    `asks`: without an argument it only tells how things stand, which needs no right. `private`: the
    answer is for whoever asked, and for nobody else. `complete`: what its argument is one of.
    `tells`: it changes nothing.
    """

    name: str
    argument: str
    help: str
    right: Right = "talk"
    asks: bool = False
    private: bool = False
    complete: Choices = ""
    tells: bool = False

    @property
    def needs(self) -> bool:
        """Whether it means nothing without an argument."""
        return bool(self.argument) and not self.argument.startswith("[")

    def changes(self, argument: str) -> bool:
        """Whether it may change something, with this argument."""
        return not self.tells and bool(argument.strip() or not self.asks)


def _asked(
    name: str, help: str, argument: str = "", complete: Choices = "", *, tells: bool = False
) -> RoomCommand:
    """A command that tells whoever asked, and nobody else; what it needs, it asks for itself."""
    return RoomCommand(
        name=name, argument=argument, help=help, private=True, complete=complete, tells=tells
    )


def _set(
    name: str, argument: str, help: str, complete: Choices = "", *, asks: bool = False
) -> RoomCommand:
    """A command that changes the room."""
    return RoomCommand(
        name=name, argument=argument, help=help, right="change", complete=complete, asks=asks
    )


COMMANDS: tuple[RoomCommand, ...] = (
    RoomCommand(
        name="stop", argument="", help="stop everything mates do here, at once", right="stop"
    ),
    RoomCommand(
        name="new", argument="", help="begin a new conversation; mates start from a clean page"
    ),
    RoomCommand(name="end", argument="", help="end this conversation"),
    _asked(
        "again", "have a mate answer anew in place of its last line; N: show version N again", "[N]"
    ),
    _asked("more", "have a mate go on from its last line"),
    _asked("status", "who is here, what is running, what is still on its way", tells=True),
    _asked(
        "why",
        "why a mate said its last line, or this one, with all that led to it",
        "[LINE]",
        "lines",
        tells=True,
    ),
    _asked("mates", "all mates of this home, and who is here", tells=True),
    _set(
        "mate",
        "[NAME]",
        "who answers lines that name no mate; owner: new NAME ROLE, edit NAME TEXT, fork OLD NEW",
        "mates here",
        asks=True,
    ),
    _set(
        "talk",
        "[HOW]",
        "whether mates speak when they like (free), or only when they are called (called)",
        "talk",
        asks=True,
    ),
    _set(
        "unprompted",
        "[HOW]",
        "whether mates may speak up by themselves, after a silence or at a time of day (on, off)",
        asks=True,
    ),
    _set(
        "pace",
        "[HOW]",
        "whether mates answer after the time that typing takes (on), or at once (off)",
        asks=True,
    ),
    _set("title", "[TEXT]", "name the room; without a text it finds a title by itself"),
    _set("energy", "[N]", "how many lines mates may say before a person speaks again", asks=True),
    _set(
        "bounds",
        "[CALLS]",
        "limits of tools in one turn: calls 4, seconds 30, output, depth, money; or none",
        asks=True,
    ),
    _set(
        "keep",
        "LINE",
        "where the talk gets too long for a model, leave this line out last",
        "lines",
    ),
    _set(
        "spent",
        "LINE",
        "where the talk gets too long for a model, leave this line out first",
        "lines",
    ),
    _set(
        "policy",
        "[NAME [MATE]]",
        "how mates here think (their policy), such as talk or chain; own: as their files say",
        "policies",
        asks=True,
    ),
    _set("add", "MATE", "bring a mate into the room", "mates"),
    _set("remove", "MATE", "take a mate out of the room", "mates here"),
    _set(
        "triggers",
        "MATE [CALLS]",
        "what makes a mate answer here: mention, reply, name, conversation; none; own",
        "mates here",
    ),
    _set(
        "rights",
        "[WHO RIGHTS]",
        "who may be answered, stop mates, change the room, have mates use tools",
        "people",
        asks=True,
    ),
    RoomCommand(
        name="approve",
        argument="[N [always]]",
        help="say yes to what a mate asks (N; always: from now on), or accept the result of a task",
    ),
    RoomCommand(
        name="deny",
        argument="[N [WHY]]",
        help="say no to what a mate asks",
    ),
    RoomCommand(
        name="work",
        argument="WHAT",
        help="give a mate a task that takes many turns (NAME: says which); /stop halts it",
    ),
    RoomCommand(name="resume", argument="", help="let a task go on that was stopped"),
    RoomCommand(name="reject", argument="[WHY]", help="refuse the result of a task"),
    RoomCommand(name="undo", argument="", help="take back the last change that a task made"),
    _asked("model", "which language model answers for whom", "[MATE]", "mates here", tells=True),
    _asked(
        "usage",
        "what your answers cost, in tokens and money; the room's too, for whoever manages it",
        tells=True,
    ),
    _set(
        "budget",
        "[AMOUNT]",
        "what may be spent here; or a limit for this room: 5 dollars day, 200 calls month, none",
        asks=True,
    ),
    _asked(
        "memory",
        "what mates remember of you; correct N: TEXT, lock N, drop N, forget N, undo, off, on",
        "[HOW]",
    ),
    _asked(
        "delete",
        "what deleting this room would mean; with its name, delete it (whoever opened it)",
        "[NAME]",
    ),
    _asked(
        "remind",
        "be reminded: when, a colon, of what (on Friday at nine: call Anna)",
        "[WHEN WHAT]",
    ),
    _asked("reminders", "what waits here; cancel N, snooze N in 10 minutes, move N WHEN", "[HOW]"),
    _asked("zone", "your time zone", "[ZONE]"),
    _asked(
        "quiet",
        "hours in which your reminders wait, such as 22:00-07:00; off; or home, the home's",
        "[HOURS]",
    ),
    _asked(
        "link", "link this account to another one of yours, so that mates know it is you", "[CODE]"
    ),
    _asked("help", "this list", tells=True),
)
BY_NAME = {command.name: command for command in COMMANDS}


def usage(command: RoomCommand) -> str:
    """Such as "/title [TEXT]"."""
    return f"/{command.name} {command.argument}".rstrip()


def help_text() -> str:
    """Every command, one a line."""
    return "\n".join(f"{usage(command)}: {command.help}" for command in COMMANDS)
