"""The menu: the commands of a room as people are told of them, whichever surface offers them.

One table. Help texts, the commands of platforms and the terminal's are made from
it. What a command does is elsewhere: change_commands.py changes a room, query_commands.py tells
about it.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from loopforge.core.room_vocabulary import Right

Choices = Literal["", "mates", "mates here", "policies", "lines", "talk", "people"]
"""What an argument may be completed with."""


class RoomCommand(Struct, frozen=True, kw_only=True):
    """A command: what it takes ([in brackets]: may be left out), what it does, what it needs.

    `asks`: without an argument it only tells how things stand, which needs no right. `private`: the
    answer is for whoever asked, and for nobody else. `complete`: what its argument is one of.
    """

    name: str
    argument: str
    help: str
    right: Right = "talk"
    asks: bool = False
    private: bool = False
    complete: Choices = ""

    @property
    def needs(self) -> bool:
        """Whether it means nothing without an argument."""
        return bool(self.argument) and not self.argument.startswith("[")


COMMANDS: tuple[RoomCommand, ...] = (
    RoomCommand(
        name="stop", argument="", help="halt everything mates do here, at once", right="stop"
    ),
    RoomCommand(
        name="new", argument="", help="begin a new conversation; mates start from a clean page"
    ),
    RoomCommand(name="end", argument="", help="end this conversation"),
    RoomCommand(
        name="status",
        argument="",
        help="who is here, what is running, what is still on its way",
        private=True,
    ),
    RoomCommand(
        name="why",
        argument="[LINE]",
        help="why a mate said its last line, or this one, with all that led to it",
        private=True,
        complete="lines",
    ),
    RoomCommand(
        name="mates", argument="", help="all mates of this home, and who is here", private=True
    ),
    RoomCommand(
        name="mate",
        argument="[NAME]",
        help="who answers what names no mate; for the owner: new NAME ROLE, edit NAME CHARACTER",
        right="change",
        asks=True,
        complete="mates here",
    ),
    RoomCommand(
        name="talk",
        argument="[HOW]",
        help="whether mates speak here uncalled (free), or only when they are called (called)",
        right="change",
        asks=True,
        complete="talk",
    ),
    RoomCommand(
        name="title",
        argument="[TEXT]",
        help="fix the room's title, or let it find its own",
        right="change",
    ),
    RoomCommand(
        name="energy",
        argument="[N]",
        help="how many lines mates may say without a person",
        right="change",
        asks=True,
    ),
    RoomCommand(
        name="keep",
        argument="LINE",
        help="keep a line in the mates' minds",
        right="change",
        complete="lines",
    ),
    RoomCommand(
        name="spent",
        argument="LINE",
        help="let a line leave the mates' minds first",
        right="change",
        complete="lines",
    ),
    RoomCommand(
        name="policy",
        argument="[NAME [MATE]]",
        help="which kind of mind runs here",
        right="change",
        asks=True,
        complete="policies",
    ),
    RoomCommand(
        name="add",
        argument="MATE",
        help="bring a mate into the room",
        right="change",
        complete="mates",
    ),
    RoomCommand(
        name="remove",
        argument="MATE",
        help="send a mate out of the room",
        right="change",
        complete="mates here",
    ),
    RoomCommand(
        name="triggers",
        argument="MATE [CALLS]",
        help="what may call a mate here",
        right="change",
        complete="mates here",
    ),
    RoomCommand(
        name="rights",
        argument="[WHO RIGHTS]",
        help="who may talk, stop mates, change the room, have tools used",
        right="change",
        asks=True,
        complete="people",
    ),
    RoomCommand(
        name="model",
        argument="[MATE]",
        help="which language model answers for whom",
        private=True,
        complete="mates here",
    ),
    RoomCommand(
        name="usage",
        argument="",
        help="tokens and cost of this room, today and this month",
        private=True,
    ),
    RoomCommand(name="memory", argument="", help="what mates remember", private=True),
    RoomCommand(name="remind", argument="", help="whether mates can remind you", private=True),
    RoomCommand(
        name="link",
        argument="[CODE]",
        help="make this account and another one of yours one person",
        private=True,
    ),
    RoomCommand(name="help", argument="", help="this list", private=True),
)
BY_NAME = {command.name: command for command in COMMANDS}


def usage(command: RoomCommand) -> str:
    """Such as "/title [TEXT]"."""
    return f"/{command.name} {command.argument}".rstrip()


def help_text() -> str:
    """Every command, one a line."""
    return "\n".join(f"{usage(command)}: {command.help}" for command in COMMANDS)
