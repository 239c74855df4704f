"""The facts of a platform as a whole: what of it was not read yet, and which commands were.

Stream "platform:NAME". Pure: no clock, no I/O. Does not know what a platform's numbers mean, but
that they grow.
"""

from msgspec import Struct


class FellBehind(Struct, frozen=True, tag="platform.fell_behind", kw_only=True):
    """Something newer is about to be heard while not all is read that was said after `since`.

    `since` is the number of a message. Without this, what is newer would hide it after a crash.
    """

    since: str


class CaughtUp(Struct, frozen=True, tag="platform.caught_up", kw_only=True):
    """Everything is read that was said since this platform fell behind."""


class CommandTaken(
    Struct, frozen=True, tag="platform.command_taken", kw_only=True, omit_defaults=True
):
    """A command is about to be carried out; `over`: it was, and was answered.

    `message` names what brought it, a message or a press: what the platform tells again after a
    crash is not done again. What was begun and is not over may have happened or not.
    """

    message: str
    over: bool = False


PlatformEvent = FellBehind | CaughtUp | CommandTaken
