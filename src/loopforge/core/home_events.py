"""The home's own facts, in the stream "home": settings, keys and budgets that were changed.

And those of a platform as a whole, in "platform:NAME": what of it was not read yet, and which
commands were. What a key is stands in no event. Does not know what a platform's numbers mean, but
that they grow.
"""

from typing import Literal

from msgspec import Struct

from loopforge.core.limits.budget_limits import Budget
from loopforge.core.text.erasable_text import Words

STREAM = "home"


class SettingChanged(Struct, frozen=True, tag="home.setting_changed", kw_only=True):
    """A setting was given another value, or taken back.

    `before` and `after` are what was saved, as JSON; "" where nothing was. An `undo` brings back
    what was saved before the change before it.
    """

    setting: str
    before: Words
    after: Words
    how: Literal["change", "undo"] = "change"


class KeyChanged(Struct, frozen=True, tag="home.key_changed", kw_only=True):
    """A model service's key or address was saved in this home, or removed (`kept`: false)."""

    variable: str
    kept: bool


class BudgetSet(Struct, frozen=True, tag="home.budget_set", kw_only=True):
    """A budget was set, in place of the one for the same that there was."""

    budget: Budget


class BudgetRemoved(Struct, frozen=True, tag="home.budget_removed", kw_only=True):
    """A budget was taken away: what the settings say of the same holds again."""

    budget: Budget


HomeEvent = SettingChanged | KeyChanged | BudgetSet | BudgetRemoved


# ---------------------------------------------------------------- platforms


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
