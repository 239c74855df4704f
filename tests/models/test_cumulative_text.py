"""Streams whose pieces hold all that came so far."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.models.providers.cumulative_text import CumulativeText
from tests.models.server import Behaviour
from tests.models.test_model_attempt import ask


def new_of(pieces: list[str]) -> str:
    """What is new in each piece, put together."""
    text = CumulativeText()
    return "".join([*map(text.feed, pieces), text.rest()])


@given(st.lists(st.text(min_size=1), min_size=3, max_size=8))
def test_what_grows_is_said_once(parts: list[str]) -> None:
    """From three pieces on, each of which holds the one before, nothing is doubled."""
    assert new_of(list(itertools.accumulate(parts))) == "".join(parts)


@pytest.mark.parametrize(
    "pieces", [["ha", "ha", "ha"], ["1", "10"], ["a", "ab", "c", "abc"], ["I", " ", "I", " am"]]
)
def test_what_repeats_itself_by_chance_stays(pieces: list[str]) -> None:
    """A piece may begin as the one before did, and a model may say a thing twice."""
    assert new_of(pieces) == "".join(pieces)


def test_a_long_beginning_is_no_chance() -> None:
    """Two pieces are enough where the first is long."""
    assert new_of(["Hello, ana!", "Hello, ana! Tea?"]) == "Hello, ana! Tea?"


async def test_a_gateway_that_sends_the_whole_each_time() -> None:
    """Its answer is heard as any other one is."""
    tried = await ask("chat", Behaviour(pieces=("Hi", "Hi, a", "Hi, ana", "Hi, ana, tea?")))
    assert (tried.outcome, tried.text) == ("answered", "Hi, ana, tea?")
