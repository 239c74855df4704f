"""The home's own facts, in the stream "home": settings, keys and budgets that were changed.

What a key is stands in no event.
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
