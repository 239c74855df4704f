"""Streaming by edits: the newest text, at a bearable pace."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from loopforge.io.platforms.draft_throttle import SLOWEST, EditThrottle

STEPS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.2, 0.7, 3.0]), st.sampled_from(["more", "look", "429"])),
    max_size=40,
)


def test_the_first_text_waits_for_a_few_words() -> None:
    """Three words and the beginning of a fourth are shown at once; fewer after a second."""
    quick = EditThrottle()
    quick.offer("Well", 10.0)
    assert quick.take(10.0) is None
    quick.offer("Well, this is h", 10.1)
    assert quick.take(10.1) == "Well, this is h"
    slow = EditThrottle()
    slow.offer("Well", 10.0)
    assert slow.due() == 11.0
    assert slow.take(11.0) == "Well"


def test_texts_in_between_are_left_out() -> None:
    """After one text the newest is shown a second later, once."""
    pace = EditThrottle()
    pace.offer("one two three four", 0.0)
    assert pace.take(0.0) == "one two three four"
    assert pace.due() is None
    pace.offer("one two three four five", 0.3)
    pace.offer("one two three four five six", 0.6)
    assert pace.take(0.9) is None
    assert pace.due() == 1.0
    assert pace.take(1.0) == "one two three four five six"
    assert pace.take(5.0) is None


def test_a_refusal_is_honoured_and_slows_down() -> None:
    """What was refused is shown after the time asked for; the gap doubles, and eases again."""
    pace = EditThrottle()
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
def test_the_newest_text_always_goes_out(steps: list[tuple[float, str]]) -> None:
    """Whatever is offered, looked at and refused: a second apart, never while held, newest last."""
    pace, now, held, text = EditThrottle(), 0.0, 0.0, ""
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
    pace.offer(f"{text}!", now)
    due = pace.due()
    assert due is not None
    assert pace.take(max(now, due)) == f"{text}!"
    assert pace.due() is None
