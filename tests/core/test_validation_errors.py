"""What does not fit into a table is told with the words that would."""

from typing import Literal

import msgspec
import pytest
from msgspec import Struct, field

from loopforge.core.text.validation_errors import explain_validation_error


class Whistle(Struct, forbid_unknown_fields=True):
    """A table within a table."""

    pitch: int = 0
    much: bool = field(name="loud", default=False)
    name: str = ""


class Kettle(Struct, forbid_unknown_fields=True):
    """A table that people write."""

    heat: Literal["low", "high"] = "low"
    cups: int = 1
    lids: tuple[Literal["tin", "glass"], ...] = ()
    whistles: tuple[Whistle, ...] = ()
    of: Whistle | None = None
    sizes: dict[str, int] = {}


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (
            {"heat": "hot"},
            "`heat` cannot be 'hot'; it is one of low, high",
        ),
        (
            {"lids": ["tin", "wood"]},
            "`lids[1]` cannot be 'wood'; it is one of tin, glass",
        ),
        (
            {"lid": []},
            "there is no key `lid`; known are heat, cups, lids, whistles, of, sizes",
        ),
        (
            {"whistles": [{}, {"name": "shrill", "tone": 3}]},
            "whistle 2 (shrill): there is no key `tone`; known are pitch, loud, name",
        ),
        (
            {"of": {"pich": 3}},
            "`of`: there is no key `pich`; known are pitch, loud, name",
        ),
        ({"cups": "two"}, "`cups` must be a whole number, not a text in quotes"),
        ({"whistles": [{"pitch": 0.5}]}, "whistle 1, `pitch` must be a whole number, not a number"),
        (
            {"sizes": {"big": "no"}},
            "each value in `sizes` must be a whole number, not a text in quotes",
        ),
        ({"of": {"name": None}}, "`of.name` must be a text in quotes, not nothing"),
    ],
)
def test_a_word_that_is_none_is_told_with_those_that_are(
    written: dict[str, object], told: str
) -> None:
    """Also within a list, and keys as words; where it stands, and what must stand there, in words."""
    with pytest.raises(msgspec.ValidationError) as wrong:
        msgspec.convert(written, Kettle)
    assert (
        explain_validation_error(
            wrong.value, Kettle, many={"whistles": ("whistle", written.get("whistles"))}
        )
        == told
    )
