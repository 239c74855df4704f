"""What does not fit into a table is told with the words that would."""

from typing import Literal

import msgspec
import pytest
from msgspec import Struct, field

from loopforge.core.text.validation_errors import unfit


class Whistle(Struct, forbid_unknown_fields=True):
    """A table within a table."""

    pitch: int = 0
    much: bool = field(name="loud", default=False)


class Kettle(Struct, forbid_unknown_fields=True):
    """A table that people write."""

    heat: Literal["low", "high"] = "low"
    cups: int = 1
    lids: tuple[Literal["tin", "glass"], ...] = ()
    whistles: tuple[Whistle, ...] = ()
    of: Whistle | None = None


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (
            {"heat": "hot"},
            "Invalid enum value 'hot' - at `$.heat`; it is one of low, high",
        ),
        (
            {"lids": ["tin", "wood"]},
            "Invalid enum value 'wood' - at `$.lids[1]`; it is one of tin, glass",
        ),
        (
            {"lid": []},
            "Object contains unknown field `lid`; known are heat, cups, lids, whistles, of",
        ),
        (
            {"whistles": [{}, {"tone": 3}]},
            "Object contains unknown field `tone` - at `$.whistles[1]`; known are pitch, loud",
        ),
        (
            {"of": {"pich": 3}},
            "Object contains unknown field `pich` - at `$.of`; known are pitch, loud",
        ),
        ({"cups": "two"}, "Expected `int`, got `str` - at `$.cups`"),
    ],
)
def test_a_word_that_is_none_is_told_with_those_that_are(
    written: dict[str, object], told: str
) -> None:
    """Also within a list, and keys as words; of anything else is told what msgspec says."""
    with pytest.raises(msgspec.ValidationError) as wrong:
        msgspec.convert(written, Kettle)
    assert unfit(wrong.value, Kettle) == told
