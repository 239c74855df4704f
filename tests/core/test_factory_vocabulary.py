"""The Factory's vocabulary: rows are written and read again, and its unions are closed."""

from typing import get_args

import msgspec
import pytest

from loopforge.core.factory_vocabulary import INTENTS, PERCEPTION_MODES, STYLES, Row, RunLastRow


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
