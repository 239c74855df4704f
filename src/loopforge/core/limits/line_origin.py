"""Line origin: who said the line that something goes back to, and as what they said it.

What a mate says, and what a routine of somebody's tells, bear it themselves: rights, rules for
guests and budgets hold also when that line is gone.
"""

from msgspec import Struct


class LineOrigin(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`who` is a person's id, `beside` are others who may be meant; the rest is as in Heard."""

    who: str
    surface: str = ""
    bot: bool = False
    untrusted: bool = False
    keeper: bool = False
    owner: bool = False
    guest: bool = False
    beside: tuple[str, ...] = ()
