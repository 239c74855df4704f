"""The bounds of a turn: how much a mind may have done by tools before it answers.

A mate's file, a room and the home may each set them; of each the strictest holds. What a turn has
taken of them so far is `TurnSpending`. Pure: time and cost are counted by who drives the turn.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from math import ceil
from typing import Any, get_type_hints

from msgspec import Struct

from loopforge.core.text.spoken_lists import join_as_prose, pluralize
from loopforge.errors import InputError

MOST_REQUESTS = 24
"""A turn that asks for more, of models and tools, is broken, where its seat says nothing else."""


class TurnBounds(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """At most so much in one turn; None sets no bound.

    `calls` of tools; how `depth`, counted from 1, a call stands in what a person's line set off: a
    turn that another mate's line or the end of a tool called is one deeper; `seconds` after which
    no tool is used or waited for; `output`, characters of what tools give; `money` in US dollars,
    of models and tools as far as their prices are known.
    """

    calls: int | None = None
    depth: int | None = None
    seconds: float | None = None
    output: int | None = None
    money: float | None = None


class TurnSpending(Struct, frozen=True, kw_only=True):
    """What a turn has taken so far, in the units of its bounds."""

    calls: int = 0
    depth: int = 1
    seconds: float = 0.0
    output: int = 0
    money: float = 0.0


UNBOUND, UNSPENT = TurnBounds(), TurnSpending()
WHOLE = tuple(name for name, kind in get_type_hints(TurnBounds).items() if kind == int | None)
"""The bounds that are whole numbers."""
MOST: dict[str, int] = {
    "calls": 1_000,
    "depth": 100,
    "seconds": 86_400,
    "output": 10_000_000,
    "money": 10_000,
}
"""The largest that may be set of each."""
MEANING = {
    "calls": "Uses of tools",
    "depth": "Steps after a person's line in which they may be used",
    "seconds": "Seconds until tools are no longer used",
    "output": "Characters of what they give",
    "money": "US dollars, as far as prices are known",
}
"""What each bound is, as a label."""


def strictest_bounds(*each: TurnBounds) -> TurnBounds:
    """Of every bound the smallest that is set."""
    found: dict[str, Any] = {}
    for name in TurnBounds.__struct_fields__:
        values = [value for one in each if (value := getattr(one, name)) is not None]
        found[name] = min(values, default=None)
    return TurnBounds(**found)


def met(bounds: TurnBounds, spent: TurnSpending) -> str:
    """Which bound keeps this turn from using a tool once more, as a sentence; "" for none."""
    for name, said in _sentences(bounds):
        most, now = getattr(bounds, name), getattr(spent, name)
        if now > most or (now == most and name != "depth"):
            return said
    return ""


def _sentences(bounds: TurnBounds) -> Iterator[tuple[str, str]]:
    """Each bound that is set, and what is said where it is met."""
    told = {
        "calls": f"tools may be used {pluralize(bounds.calls or 0, 'time')} in a turn here",
        "depth": f"calls may stand {bounds.depth} deep here, and too many led to this one",
        "seconds": f"tools may take {bounds.seconds or 0:g} seconds of a turn here",
        "output": f"tools may give {pluralize(bounds.output or 0, 'character')} in a turn here",
        "money": f"a turn may cost ${bounds.money or 0:g} here",
    }
    for name, said in told.items():
        if getattr(bounds, name) is not None:
            yield name, said


def left(bounds: TurnBounds, spent: TurnSpending) -> str:
    """What a turn still has, in words: "3 uses of tools and 40 seconds"; "" if nothing is bound."""
    parts: list[str] = []
    if bounds.calls is not None:
        parts.append(pluralize(max(0, bounds.calls - spent.calls), "use of tools", "uses of tools"))
    if bounds.seconds is not None:
        parts.append(pluralize(ceil(max(0.0, bounds.seconds - spent.seconds)), "second"))
    if bounds.output is not None:
        parts.append(f"{max(0, bounds.output - spent.output):,} characters of what they give")
    if bounds.money is not None:
        parts.append(f"${max(0.0, bounds.money - spent.money):.4f}")
    return join_as_prose(parts)


def flaw_of(name: str, value: object) -> str:
    """What is wrong with a bound that somebody sets; "" for nothing."""
    if name not in MOST:
        return f"There is no bound {name!r}; there are {join_as_prose(tuple(MOST))}."
    good = isinstance(value, int) or (isinstance(value, float) and name not in WHOLE)
    if not good or isinstance(value, bool) or not 0 <= value <= MOST[name]:  # type: ignore[operator]
        whole = "a whole number" if name in WHOLE else "a number"
        return f"{name} is {whole} from 0 to {MOST[name]:,}."
    return ""


def read(words: Sequence[str]) -> TurnBounds:
    """The bounds that are written so: ["calls", "4", "money", "0.05"]. Raises InputError."""
    found: dict[str, Any] = {}
    for name, written in zip_longest(words[::2], words[1::2], fillvalue=""):
        number = _number(written)
        if flaw := flaw_of(name, number):
            raise InputError(f"{flaw} Such as: calls 4 seconds 30 money 0.05")
        found[name] = number
    return TurnBounds(**found)


def _number(written: str) -> float | None:
    try:
        return int(written) if written.isdecimal() else float(written)
    except ValueError:
        return None


def said(bounds: TurnBounds) -> str:
    """The bounds that are set, as they are written: "calls 4, seconds 30"; "none"."""
    every = ((name, getattr(bounds, name)) for name in TurnBounds.__struct_fields__)
    return ", ".join(f"{name} {value:.15g}" for name, value in every if value is not None) or "none"
