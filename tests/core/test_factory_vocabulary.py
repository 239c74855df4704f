"""The Factory's vocabulary: rows are written and read again, and its unions are closed."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.factory_vocabulary import (
    INTENTS,
    PERCEPTION_MODES,
    STYLES,
    Change,
    Incident,
    Row,
    RunLastRow,
    Shaped,
    SupervisorVoice,
)


@given(
    st.from_type(Change)
    | st.from_type(Shaped)
    | st.from_type(SupervisorVoice)
    | st.from_type(Incident)
)
def test_parts_of_a_row_are_read_back_as_they_were(part: msgspec.Struct) -> None:
    """What is written is what is read, for every part."""
    assert msgspec.json.decode(msgspec.json.encode(part), type=type(part)) == part


def test_a_change_is_a_line_of_five() -> None:
    """An entry of the trait ledger is [who, what, before, after, rule]."""
    change = Change("Sprocket", "traits.obedience", 500, 476, "regretted_obedience")
    line = msgspec.json.decode(msgspec.json.encode(change))
    assert line == ["Sprocket", "traits.obedience", 500, 476, "regretted_obedience"]


def test_every_row_says_what_it_is() -> None:
    """The rows of a run are a closed union, told apart by `kind`; another kind is refused."""
    kinds = {each.__struct_config__.tag for each in get_args(Row)}
    assert kinds == {"run", "act", "step", "reflection", "day", "end"}
    ended = RunLastRow(7, 1, 3, "the days were over", 7)
    assert msgspec.json.decode(msgspec.json.encode(ended), type=Row) == ended
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"kind":"rumour","n":1}', type=Row)


def test_the_words_are_the_field_s() -> None:
    """The intents, styles and perception modes that users are promised are there."""
    assert {"work", "inspect", "confront", "recharge", "avoid", "idle"} <= set(INTENTS)
    assert set(STYLES) == {"supportive", "punitive", "apathetic", "gaslighting", "incentive"}
    assert PERCEPTION_MODES == ("accurate", "partial", "spin")
