"""Budgets: which bind a charge, how far it is with them, and how people write and read them."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from loopforge.core.events import decode_body, encode_body
from loopforge.core.home_events import BudgetSet
from loopforge.core.limits.budget_limits import (
    Budget,
    Charge,
    Level,
    Limit,
    LimitStanding,
    Period,
    Scope,
    Unit,
    binding_limits,
    budget_note,
    budget_reset_text,
    budget_spent_notice,
    describe_budget,
    left_words,
    level_of,
    local_day,
    meters_of,
    next_day,
    read_amount,
    read_budget,
    read_scope,
)
from loopforge.core.limits.money_amounts import DOLLAR
from loopforge.errors import InputError

VIENNA = ZoneInfo("Europe/Vienna")
GUEST = Charge(stream="room:a", mate="maya", person="p1", surface="discord:7", guest=True)


def budget(
    scope: Scope,
    amount: int,
    subject: str = "",
    unit: Unit = "dollars",
    period: Period = "day",
    *,
    keepers: bool = False,
) -> Budget:
    """A budget."""
    return Budget(
        scope=scope, subject=subject, unit=unit, period=period, amount=amount, keepers=keepers
    )


def standing(used: int, amount: int = 100, period: Period = "day", held: int = 0) -> LimitStanding:
    """How the home's budget stands."""
    return LimitStanding(Limit("home", budget("home", amount, period=period)), used, held)


def test_a_charge_counts_for_all_it_is_for() -> None:
    """The home, the room, the mate, the person, the surface; a tool; a place, people and guests."""
    assert meters_of(GUEST) == {
        "home": "home",
        "room": "room:a",
        "mate": "mate:maya",
        "person": "person:p1",
        "surface": "surface:discord",
        "places": "room:a",
        "people": "person:p1",
        "guests": "person:p1",
    }
    assert meters_of(Charge(tool="plot")) == {"home": "home", "tool": "tool:plot"}
    owner = Charge(stream="room:a", person="p1", surface="discord:7", owner=True)
    assert "people" not in meters_of(owner)
    assert "people" not in meters_of(Charge(person="p1", surface="terminal"))


def test_a_budget_with_a_name_takes_the_place_of_one_for_each() -> None:
    """What keepers of a room set holds beside: with it they can have less, and never more."""
    each, own = budget("places", 5), budget("room", 50, "a")
    theirs = budget("room", 1_000, "a", keepers=True)
    assert binding_limits([each], GUEST) == [Limit("room:a", each)]
    assert binding_limits([each, own], GUEST) == [Limit("room:a", own)]
    assert binding_limits([each, theirs], GUEST) == [Limit("room:a", theirs), Limit("room:a", each)]
    assert binding_limits([budget("room", 1, "b"), budget("mate", 1, "zuzu")], GUEST) == []
    few = [budget("people", 9), budget("guests", 3)]
    assert binding_limits(few, GUEST) == [Limit("person:p1", few[1])]


@pytest.mark.parametrize(
    ("used", "level"),
    [((0,), "free"), ((79,), "free"), ((80,), "low"), ((99, 10), "low"), ((100,), "spent")],
)
def test_at_the_first_mark_it_is_low_and_at_the_second_spent(
    used: tuple[int, ...], level: Level
) -> None:
    """The tightest limit says it."""
    found, by = level_of([standing(each) for each in used], 0.8)
    assert found == level
    assert by is not None
    assert by.used == max(used)


def test_what_is_held_counts_as_gone_and_nothing_bound_is_free() -> None:
    """Of those that are spent the one is told that lasts longest; none of nothing is spent."""
    assert level_of([], 0.8) == ("free", None)
    assert level_of([standing(60, held=40)], 0.8)[0] == "spent"
    assert level_of([standing(0, 0)], 0.8)[0] == "spent"
    long = standing(100, period="month")
    assert level_of([standing(900), long], 0.8) == ("spent", long)


@given(st.dates(date(2020, 1, 1), date(2040, 1, 1)))
def test_a_period_ends_where_the_next_begins(day: date) -> None:
    """A day tomorrow; a month on the first of the next one."""
    assert (next_day("day", day) - day).days == 1
    begins = next_day("month", day)
    assert begins.day == 1
    assert 1 <= (begins - day).days <= 31


def test_a_day_is_one_of_the_home() -> None:
    """Late in the evening of UTC it is tomorrow in Vienna."""
    assert local_day(datetime(2026, 11, 30, 23, 30, tzinfo=UTC), VIENNA) == date(2026, 12, 1)


def test_people_are_told_what_is_used_up_and_until_when() -> None:
    """In one sentence each."""
    note = budget_note(standing(4 * DOLLAR, 5 * DOLLAR), "low")
    assert (note.budget, note.used) == ("$5.00 a day for this home", "$4.00")
    assert (
        budget_reset_text("month", date(2026, 12, 24), VIENNA)
        == "from 1 January on (Europe/Vienna)"
    )
    told = budget_spent_notice(replace(note, resumes=budget_reset_text("day", date.min, VIENNA)))
    assert told == (
        "The budget is used up: $5.00 a day for this home. "
        "It goes on after midnight (Europe/Vienna)."
    )
    assert describe_budget(budget("tool", 20, "plot", "uses", "month")) == (
        "20 uses of tools a month for the tool plot"
    )


def test_a_mind_is_told_in_words_what_is_left() -> None:
    """Never in numbers; of a period's limits the tightest."""
    assert left_words([]) == ""
    told = left_words([standing(10), standing(50), standing(97, period="month")])
    assert told == (
        "about half of what this day has for models and tools and "
        "almost nothing of what this month has for models and tools"
    )


def test_a_budget_is_read_as_people_write_it() -> None:
    """Dollars and a day, where nothing else is said."""
    read = read_budget(["$0.50"], "home", "", keepers=False)
    assert read == budget("home", DOLLAR // 2)
    many = read_budget(["1,200", "calls", "month"], "room", "a", keepers=True)
    assert many == budget("room", 1_200, "a", "calls", "month", keepers=True)
    for written in ("$0.50 a day", "0.5 USD per day", "0.50 dollars/day", ".5 daily", "0.5 a day"):
        assert read_budget(written.replace("/", " /").split(), "home", "", keepers=False) == read
    assert read_budget(["9", "calls"], "tool", "plot", keepers=False).unit == "uses"


@pytest.mark.parametrize("period", ["day", "month"])
def test_a_budget_is_kept_as_it_is_read_again(period: str) -> None:
    """Whoever typed the period, the body is the same when it is decoded and encoded once more."""
    typed = f"5 dollars {period}".split()
    body = encode_body(BudgetSet(budget=read_budget(typed, "home", "", keepers=False)))
    assert encode_body(decode_body(body)) == body
    assert read_scope("room:a") == ("room", "a")
    assert read_scope("guests") == ("guests", "")


@pytest.mark.parametrize(
    "words",
    [[], ["five"], ["5", "euros"], ["5", "dollars", "year"], ["1.5", "calls"], ["1"] * 4,
     ["5", "answers", "month"]],
)  # fmt: skip
def test_what_is_no_budget_is_refused(words: list[str]) -> None:
    """With a sentence that says how it is written."""
    with pytest.raises(InputError):
        read_budget(words, "room", "a", keepers=False)


@pytest.mark.parametrize("written", ["", "all", "home:x", "room", "guests:p1"])
def test_whose_budget_it_is_has_to_be_said_rightly(written: str) -> None:
    """A kind alone, or a name after a colon."""
    with pytest.raises(InputError):
        read_scope(written)


def test_an_amount_is_no_debt() -> None:
    """Nothing below nought, nothing beyond reason."""
    for written in ("-1", "nan", "1e99", "", "9" * 5000):
        for unit in ("dollars", "calls"):
            with pytest.raises(InputError):
                read_amount(unit, written)


def test_a_comma_parts_thousands_and_nothing_else() -> None:
    """What may be meant as two dollars and fifty cents is not taken for two hundred and fifty."""
    assert read_amount("calls", "1,000,000") == 1_000_000
    assert read_amount("dollars", "$1,000") == 1000 * DOLLAR
    for written in ("2,50", "2,5", "1,00,000", ",5"):
        for unit in ("dollars", "calls"):
            with pytest.raises(InputError):
                read_amount(unit, written)
