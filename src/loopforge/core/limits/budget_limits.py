"""Budgets: how much may be spent for whom in a day or a month, and what to do as that runs out.

    free --first mark--> low: the cheapest tier answers --all of it--> spent: no model is asked

A charge says for whom something is paid; each of its meters (the home, the mate, the room, the
person, the surface, the tool) counts it. A budget bounds one meter, or each of a kind of meter (of
platforms' places, of people, of guests). Amounts are whole: picodollars, or numbers of what is
counted. Days and months are those of the home's time zone.

Pure. Does not know where it is counted, nor what anything costs.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple, get_args
from zoneinfo import ZoneInfo

from msgspec import Struct

from loopforge.core.limits.money_amounts import DEAREST, DOLLAR, format_dollars, picos_from_dollars
from loopforge.core.text.spoken_lists import join_as_prose, pluralize
from loopforge.errors import InputError, Unknown

Scope = Literal["home", "mate", "room", "person", "surface", "tool", "places", "people", "guests"]
Unit = Literal["dollars", "calls", "uses", "answers"]
Period = Literal["day", "month"]
Level = Literal["free", "low", "spent"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
UNITS: tuple[Unit, ...] = get_args(Unit)
PERIODS: tuple[Period, ...] = get_args(Period)
SAME = {
    **dict.fromkeys(("dollar", "usd", "$"), "dollars"),
    **dict.fromkeys(("daily", "days"), "day"),
    **dict.fromkeys(("monthly", "months"), "month"),
    **{unit[:-1]: unit for unit in ("calls", "uses", "answers")},
}
"""Other words that people write, and those they stand for."""
BETWEEN = ("a", "per", "each", "every")
ALONE = ("home", "places", "people", "guests")
"""Scopes that name nobody in particular."""
UNCOUNTED = ("", "terminal")
"""Surfaces of the home's own people, whom budgets of people do not bind."""
MOST = 10**9
MEANING: dict[Unit, str] = {
    "dollars": "US dollars, as far as prices are known",
    "calls": "questions to language models",
    "uses": "uses of tools",
    "answers": "lines that mates say (in a day)",
}


class Charge(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """For whom something is paid: a mate's turn in a stream, that answers a person of a surface.

    `person` is whose line it goes back to, `surface` where that was said (for a platform the key of
    the place: "platform:12"); `guest` and `owner` are what they are here. `tool` is what is used.
    """

    stream: str = ""
    turn: str = ""
    mate: str = ""
    person: str = ""
    surface: str = ""
    guest: bool = False
    owner: bool = False
    tool: str = ""


class Budget(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """At most `amount` of a unit in a period (picodollars, or a number), for a scope.

    `subject`: the mate's handle, the room's slug, the person's id, the surface's or tool's name; ""
    for a scope that is no name. `keepers`: set by who keeps a room, and holds beside what the home
    says; `default`: of the settings.
    """

    scope: Scope
    subject: str = ""
    unit: Unit
    period: Period = "day"
    amount: int
    keepers: bool = False
    default: bool = False

    @property
    def key(self) -> tuple[str, ...]:
        """What one budget is, of which there can be one amount."""
        by = "keepers" if self.keepers else ""
        return (self.scope, self.subject, self.unit, self.period, by)

    @property
    def name(self) -> str:
        """Such as "room:commons dollars/day"."""
        of = f"{self.scope}:{self.subject}" if self.subject else self.scope
        return f"{of} {self.unit}/{self.period}{' (keepers)' * self.keepers}"


class Limit(NamedTuple):
    """A budget as it bounds one meter."""

    meter: str
    budget: Budget


class LimitStanding(NamedTuple):
    """How a limit stands: what is used, and what is held for what is under way."""

    limit: Limit
    used: int
    held: int = 0

    @property
    def gone(self) -> int:
        """Used or held."""
        return self.used + self.held

    @property
    def lasting(self) -> bool:
        """Whether it stays spent: of money, and of nothing else, less may be needed than held."""
        budget = self.limit.budget
        return (self.used if budget.unit == "dollars" else self.gone) >= budget.amount

    @property
    def share(self) -> float:
        """How much of it is gone; 1 and more: all."""
        amount = self.limit.budget.amount
        return self.gone / amount if amount else 1.0

    @property
    def left(self) -> int:
        """What there still is."""
        return max(0, self.limit.budget.amount - self.gone)


class BudgetNote(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the tightest budget said of a question: recorded with its answer.

    `budget` as people read it; how much of it was `used` before, in words; `stepped`: a cheaper
    tier was asked. Where it was spent nobody was asked: `resumes` says until when, and `told` that
    the room is to be told now.
    """

    budget: str
    used: str
    level: Level = "free"
    stepped: bool = False
    resumes: str = ""
    told: bool = False


# ---------------------------------------------------------------- which budgets bind


def meters_of(charge: Charge) -> dict[Scope, str]:
    """What counts a charge, by the scope that names it."""
    kind = charge.surface.partition(":")[0]
    found: dict[Scope, str] = {"home": "home"}
    if charge.stream:
        found["room"] = charge.stream
    for scope, name in (("mate", charge.mate), ("person", charge.person), ("surface", kind)):
        if name:
            found[scope] = f"{scope}:{name}"  # type: ignore[index]
    if charge.tool:
        found["tool"] = f"tool:{charge.tool}"
    if ":" in charge.surface and charge.stream:
        found["places"] = charge.stream
    if charge.person and not charge.owner and kind not in UNCOUNTED:
        found["people"] = f"person:{charge.person}"
    if charge.person and charge.guest:
        found["guests"] = f"person:{charge.person}"
    return found


def meter_of(budget: Budget) -> str:
    """The one meter that a budget bounds; "" for each of a kind."""
    if budget.scope == "home":
        return "home"
    return f"{budget.scope}:{budget.subject}" if budget.subject else ""


def binding_limits(budgets: Iterable[Budget], charge: Charge) -> list[Limit]:
    """The limits of a charge. One that is named takes the place of one for each of a kind.

    What keepers of a room set holds beside that, so that they can make it less, and never more.
    """
    meters = meters_of(charge)
    named: list[Limit] = []
    kinds: list[Limit] = []
    for budget in budgets:
        meter = meters.get(budget.scope)
        if meter is None or (budget.subject and meter_of(budget) != meter):
            continue
        general = not budget.subject and budget.scope != "home"
        (kinds if general else named).append(Limit(meter, budget))
    own = {_limit_key(limit) for limit in named if not limit.budget.keepers}
    chosen: dict[tuple[str, ...], Limit] = {}
    for limit in kinds:
        before = chosen.get(_limit_key(limit))
        if _limit_key(limit) not in own and (
            before is None or limit.budget.amount < before.budget.amount
        ):
            chosen[_limit_key(limit)] = limit
    return [*named, *chosen.values()]


def _limit_key(limit: Limit) -> tuple[str, ...]:
    return (limit.meter, limit.budget.unit, limit.budget.period)


# ---------------------------------------------------------------- what they say


def level_of(standings: Sequence[LimitStanding], mark: float) -> tuple[Level, LimitStanding | None]:
    """How far it is with the tightest limit; of those that are spent, the one that lasts longest.

    `mark` is the share at which one steps down.
    """
    spent = [one for one in standings if one.gone >= one.limit.budget.amount]
    if spent:
        return "spent", max(spent, key=_how_lasting)
    if not standings:
        return "free", None
    tightest = max(standings, key=lambda one: one.share)
    return ("low" if tightest.share >= mark else "free"), tightest


def _how_lasting(one: LimitStanding) -> tuple[bool, bool, float]:
    """How long it stays spent: money that is only held may be free again in a moment."""
    return one.lasting, one.limit.budget.period == "month", one.share


def first_day(period: Period, day: date) -> date:
    """The day on which the period began that this day is in."""
    return day.replace(day=1) if period == "month" else day


def next_day(period: Period, day: date) -> date:
    """The day on which the next period begins."""
    if period == "day":
        return day + timedelta(days=1)
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)


def local_day(now: datetime, zone: ZoneInfo) -> date:
    """Which day it is at home."""
    return now.astimezone(zone).date()


def budget_reset_text(period: Period, day: date, zone: ZoneInfo) -> str:
    """When it begins anew, in words: "after midnight (Europe/Vienna)"."""
    if period == "day":
        return f"after midnight ({zone.key})"
    begins = next_day(period, day)
    return f"from {begins.day} {begins:%B} on ({zone.key})"


# ---------------------------------------------------------------- words

WHOSE: dict[Scope, str] = {
    "home": "this home",
    "mate": "the mate {}",
    "room": "this room",
    "person": "this person",
    "surface": "all of {}",
    "tool": "the tool {}",
    "places": "this place",
    "people": "one person",
    "guests": "one guest",
}
COUNTED: dict[Unit, str] = {
    "calls": "question to models",
    "uses": "use of tools",
    "answers": "answer",
}
MANY = {"calls": "questions to models", "uses": "uses of tools", "answers": "answers"}


def format_amount(unit: Unit, amount: int) -> str:
    """An amount as people read it: "$5.00", "20 answers"."""
    if unit != "dollars":
        return pluralize(amount, COUNTED[unit], MANY[unit])
    cents, rest = divmod(amount, DOLLAR // 100)
    return format_dollars(amount) if rest else f"${cents // 100:,}.{cents % 100:02}"


def describe_budget(budget: Budget) -> str:
    """A budget as people read it: "$5.00 a day for this room"."""
    whose = WHOSE[budget.scope].format(budget.subject)
    return f"{format_amount(budget.unit, budget.amount)} a {budget.period} for {whose}"


def budget_note(standing: LimitStanding, level: Level) -> BudgetNote:
    """What is recorded of a budget with an answer."""
    budget = standing.limit.budget
    used = format_amount(budget.unit, standing.gone)
    return BudgetNote(budget=describe_budget(budget), used=used, level=level)


def budget_spent_notice(note: BudgetNote) -> str:
    """What a room is told when a budget is spent."""
    return f"The budget is used up: {note.budget}. It goes on {note.resumes}."


def explain_budget_note(note: BudgetNote) -> str:
    """What a budget said, as Why? tells it."""
    before = f"Against the budget of {note.budget}, of which {note.used} was gone or held"
    if note.level == "spent":
        return f"{before}: no model was asked. It goes on {note.resumes}."
    if note.level == "low":
        how = "the cheapest tier was asked" if note.stepped else "nothing cheaper could be asked"
        return f"{before}: little is left, so {how}."
    return f"{before}."


BANDS = ((0.25, "most of it"), (0.6, "about half"), (0.8, "less than half"), (0.95, "little"))


def left_words(standings: Iterable[LimitStanding]) -> str:
    """What is left for a mind, in words without a number: "of this day's money about half".

    "" where nothing is bound.
    """
    tight: dict[tuple[Period, Unit], float] = {}
    for one in standings:
        place = one.limit.budget.period, one.limit.budget.unit
        tight[place] = max(one.share, tight.get(place, 0.0))
    kinds = {**MANY, "dollars": "models and tools"}
    told = [
        f"{_band_of(share)} of what this {period} has for {kinds[unit]}"
        for (period, unit), share in sorted(tight.items())
    ]
    return join_as_prose(told)


def _band_of(share: float) -> str:
    return next((words for most, words in BANDS if share < most), "almost nothing")


# ---------------------------------------------------------------- what people write


def read_amount(unit: Unit, written: str) -> int:
    """An amount as it is written: "5", "$0.50", "1,000". Raises InputError."""
    text = written.strip().removeprefix("$")
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d*)?", text):  # another comma may be a decimal one
        text = text.replace(",", "")
    if unit == "dollars":
        found = picos_from_dollars(text) if text else None
        if found is None:
            raise InputError(
                f"{written!r} is no amount of dollars from 0 to {DEAREST}; such as 2.50."
            )
        return found
    if not text.isdecimal() or len(text) > len(str(MOST)) or int(text) > MOST:
        raise InputError(f"{written!r} is no whole number from 0 to {MOST:,}.")
    return int(text)


def read_scope(written: str) -> tuple[Scope, str]:
    """Whose budget it is: "home", "places", "room:commons", "mate:maya". Raises InputError."""
    scope, _, subject = written.strip().partition(":")
    if scope not in SCOPES:
        raise InputError(
            f"{written!r} is none of {join_as_prose(SCOPES)}. Such as room:commons, or home."
        )
    if (scope in ALONE) == bool(subject):
        how = f"{scope} stands alone" if subject else f"say which {scope}: {scope}:NAME"
        raise InputError(f"{written!r}: {how}.")
    return scope, subject


def check_subject(
    scope: Scope,
    subject: str,
    mates: Collection[str],
    rooms: Collection[str],
    platforms: Collection[str],
) -> None:
    """Refuse a budget for a mate, a room or a surface that there is not. Raises Unknown."""
    if scope == "room" and subject not in rooms:
        raise Unknown(f"There is no room {subject!r} here.")
    if scope == "mate" and subject not in mates:
        are = "is" if len(mates) == 1 else "are"
        known = join_as_prose(sorted(mates)[:12]) or "none"
        raise Unknown(f"There is no mate {subject!r} here; there {are} {known}.")
    surfaces = ("web", "terminal", *platforms)
    if scope == "surface" and subject not in surfaces:
        raise Unknown(f"There is no surface {subject!r} here; there are {join_as_prose(surfaces)}.")


def read_budget(words: Sequence[str], scope: Scope, subject: str, *, keepers: bool) -> Budget:
    """A budget as it is written: ["5", "dollars", "day"], ["$2", "a", "day"]. Raises InputError.

    Unit and period may be left out: dollars, a day.
    """
    said = [SAME.get(each, each) for word in words if (each := word.lower().strip("/"))]
    amount, *rest = [each for each in said if each not in BETWEEN] or [""]
    unit = rest.pop(0) if rest and rest[0] in UNITS else "dollars"
    # The word of the table itself: a default is told from others by identity when it is encoded.
    period = PERIODS[PERIODS.index(rest.pop(0))] if rest and rest[0] in PERIODS else "day"
    if rest or not amount:
        raise InputError(
            "A budget is written: AMOUNT UNIT PERIOD, such as 5 dollars day, or 200 calls month. "
            f"Units are {join_as_prose(UNITS)}; periods are {join_as_prose(PERIODS)}."
        )
    if unit == "answers" and (period != "day" or scope in ("tool", "surface", "mate", "home")):
        raise InputError(
            "Answers are counted by the day, for a room, a person, places, people or guests; "
            "for others bound calls or dollars."
        )
    if scope == "tool" and unit == "calls":
        unit = "uses"
    found = read_amount(unit, amount)  # type: ignore[arg-type]
    return Budget(
        scope=scope,
        subject=subject,
        unit=unit,  # type: ignore[arg-type]
        period=period,
        amount=found,
        keepers=keepers,
    )
