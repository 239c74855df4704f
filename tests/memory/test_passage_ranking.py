"""Ranking of passages: what has no vector yet, and the order in which the best are looked at."""

from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.memory.passage_arrays import passages_of
from loopforge.memory.passage_ranking import RecallCue, _places_by_worth, rank_passages
from loopforge.memory.passages import bag_of_words, pack_bag, search_stems


class Row(NamedTuple):
    """A row of the index."""

    seq: int
    size: int
    words: bytes
    vector: bytes | None
    nth: int = 0
    at: int = 0
    speaker: str = "person:1"
    traits: int = 0
    old: bytes | None = None


def row(seq: int, text: str, nth: int, vector: bytes | None) -> Row:
    """A line, or what goes on with one."""
    return Row(seq, 8, pack_bag(Counter(bag_of_words(search_stems(text)))), vector, nth)


@pytest.mark.parametrize("nth", [0, 1])
def test_what_was_just_said_is_found_by_its_words(nth: int) -> None:
    """Among short lines and long ones, all with vectors at a cosine of 0.25, as lines of one talk have."""
    near = np.array([90] + [0] * 15, np.int8).tobytes()
    rows = [row(seq, f"harbour market bridge {seq}", nth, near) for seq in range(1, 50)]
    rows.append(row(50, "the zarquon key lies under the flowerpot", nth, None))
    vector = np.full(16, 0.25, np.float32)
    cue = RecallCue(text="where does the zarquon key lie", vector=vector)
    best = rank_passages(passages_of(rows, 16), cue, 3)
    assert best[0].place == 49


@given(st.lists(st.integers(0, 5), max_size=60), st.integers(1, 20))
def test_the_best_come_first_and_of_equal_ones_the_earlier(worth: list[int], first: int) -> None:
    """As if all were sorted, however few are looked at first."""
    values = np.array(worth, np.float32)
    order = np.argsort(-values, kind="stable").tolist()
    assert list(_places_by_worth(values, first)) == order
