"""Streaming by edits: the fewest changes, at a bearable pace, and the final text in the end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from loopforge.io.edits import (
    SLOWEST,
    Change,
    Delete,
    Edit,
    Pace,
    Post,
    changes,
)
from loopforge.io.fences import left_open
from loopforge.io.split import split

TEXTS = st.lists(st.sampled_from("abcd"), max_size=6)
STEPS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.2, 0.7, 3.0]), st.sampled_from(["more", "look", "429"])),
    max_size=40,
)


def applied(shown: Sequence[str], made: Sequence[Change]) -> tuple[str, ...]:
    """What is shown after these changes."""
    standing: list[str | None] = list(shown)
    for change in made:
        match change:
            case Post(text=text):
                standing.append(text)
            case Edit(at=at, text=text):
                standing[at] = text
            case Delete(at=at):
                standing[at] = None
    return tuple(text for text in standing if text is not None)


def drafted(text: str, limit: int) -> tuple[str, ...]:
    """The messages that show a text, finished or not."""
    return tuple(piece.text for piece in split(text, limit)) if text.strip() else ()


@given(TEXTS, TEXTS)
def test_the_changes_make_what_is_wanted(shown: list[str], wanted: list[str]) -> None:
    """For any two, applying the changes to the one gives the other."""
    assert applied(shown, changes(shown, wanted)) == tuple(wanted)


@given(TEXTS, TEXTS)
def test_there_are_no_fewer_changes(shown: list[str], wanted: list[str]) -> None:
    """However some messages are kept and the others deleted, it takes at least as many changes."""
    best = len(shown) + len(wanted)
    for size in range(min(len(shown), len(wanted)) + 1):
        for kept in combinations(shown, size):
            edits = sum(old != new for old, new in zip(kept, wanted, strict=False))
            best = min(best, len(shown) - size + edits + len(wanted) - size)
    assert len(changes(shown, wanted)) == best


@given(TEXTS, TEXTS)
def test_changes_come_in_order(shown: list[str], wanted: list[str]) -> None:
    """Edits and deletes from the first message to the last, then posts."""
    made = changes(shown, wanted)
    places = [len(shown) if isinstance(change, Post) else change.at for change in made]
    assert places == sorted(places)
    assert changes(wanted, wanted) == []


def test_an_edit_is_preferred_to_a_new_message() -> None:
    """Where a delete and a post would do as well, people are not notified again."""
    assert changes(["a", "b"], ["b", "c"]) == [Edit(0, "b"), Edit(1, "c")]
    assert changes(["a", "b"], ["x"]) == [Edit(0, "x"), Delete(1)]
    assert changes(["a", "b", "c"], ["b", "c"]) == [Delete(0)]
    assert changes(["a"], ["a", "b"]) == [Post("b")]


@given(st.text("ab `\n", max_size=300), st.integers(40, 80))
def test_a_draft_grows_into_the_final_text(text: str, limit: int) -> None:
    """However a text grows, the place shows it whole in the end, and never an open block."""
    shown: tuple[str, ...] = ()
    for end in range(0, len(text) + 1, 7):
        wanted = drafted(text[:end], limit)
        assert all(left_open(message) is None for message in wanted)
        shown = applied(shown, changes(shown, wanted))
    shown = applied(shown, changes(shown, drafted(text, limit)))
    assert shown == tuple(piece.text for piece in split(text, limit) if text.strip())


# ---------------------------------------------------------------- pace


def test_the_first_text_waits_for_a_few_words() -> None:
    """Three words and the beginning of a fourth are shown at once; fewer after a second."""
    quick = Pace()
    quick.offer("Well", 10.0)
    assert quick.take(10.0) is None
    quick.offer("Well, this is h", 10.1)
    assert quick.take(10.1) == "Well, this is h"
    slow = Pace()
    slow.offer("Well", 10.0)
    assert slow.due() == 11.0
    assert slow.take(11.0) == "Well"


def test_texts_in_between_are_left_out() -> None:
    """After one text the newest is shown a second later, once."""
    pace = Pace()
    pace.offer("one two three four", 0.0)
    assert pace.take(0.0) == "one two three four"
    assert pace.due() is None
    pace.offer("one two three four five", 0.3)
    pace.offer("one two three four five six", 0.6)
    assert pace.take(0.9) is None
    assert pace.due() == 1.0
    assert pace.take(1.0) == "one two three four five six"
    assert pace.take(5.0) is None


def test_the_final_text_waits_for_nothing() -> None:
    """It is shown at once, even if it is short or blank; what comes after it is not shown."""
    pace = Pace()
    pace.offer("one two three four", 0.0)
    pace.take(0.0)
    pace.offer("No.", 0.1, final=True)
    pace.offer("one two three four five", 0.2)
    assert pace.take(0.2) == "No."
    taken_back = Pace()
    taken_back.offer("one two three four", 0.0)
    taken_back.take(0.0)
    taken_back.offer("", 0.1, final=True)
    assert taken_back.take(0.1) == ""
    silent = Pace()
    silent.offer("", 0.0, final=True)
    assert silent.due() is None


def test_a_refusal_is_honoured_and_slows_down() -> None:
    """What was refused is shown after the time asked for; the gap doubles, and eases again."""
    pace = Pace()
    pace.offer("one two three four", 0.0)
    assert pace.take(0.0) == "one two three four"
    pace.put_off(5.0, 0.1)
    assert pace.take(5.0) is None
    assert pace.take(5.1) == "one two three four"
    pace.offer("one two three four five", 5.2)
    assert pace.due() is not None
    assert pace.take(6.8) is None
    assert pace.take(7.1) == "one two three four five"
    for n in range(10):
        pace.offer(f"text number {n} of it", 20.0 + 10 * n)
        assert pace.take(20.0 + 10 * n)
    pace.offer("one two three four five six", 110.1)
    assert pace.due() == 111.0
    for _ in range(9):
        pace.put_off(0.0, 111.0)
    due = pace.due()
    assert due is not None
    assert due <= 110.0 + SLOWEST


@given(STEPS)
@example([(0.0, "more"), (0.0, "look"), (0.0, "429")])
def test_the_final_text_always_goes_out(steps: list[tuple[float, str]]) -> None:
    """Whatever is offered, looked at and refused: a second apart, never while held, final last."""
    pace, now, held, text = Pace(), 0.0, 0.0, ""
    taken: list[tuple[float, str]] = []
    for wait, what in steps:
        now += wait
        if what == "more":
            text += f" word{len(text)}"
            pace.offer(text, now)
        elif what == "look" and (shown := pace.take(now)) is not None:
            assert now >= held
            taken.append((now, shown))
        elif what == "429" and taken and taken[-1][0] == now:
            taken.pop()
            pace.put_off(2.0, now)
            held = now + 2.0
    assert all(b[0] - a[0] >= 1.0 for a, b in pairwise(taken))
    pace.offer(f"{text}!", now, final=True)
    due = pace.due()
    assert due is not None
    assert due <= max(now, held)
    assert pace.take(max(now, held)) == f"{text}!"
    assert pace.due() is None
