"""Who may come in, for tests that say it themselves: the part of pairing that incoming lines ask."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Knock = Callable[[str, str, str, str], Awaitable[str | None]]
"""Platform, account, name, place: None lets them in; a text is shown, once; "" shows nothing."""


async def welcome(_platform: str, _account: str, _name: str, _place: str) -> str | None:
    """Everybody may come in."""
    return None


@dataclass(frozen=True)
class Door:
    """Lets in by `knock`; says of each person whether they are known here, and own the home."""

    knock: Knock = welcome
    trusts: Callable[[str], bool] = lambda _: True
    owns: Callable[[str], bool] = lambda _: False
