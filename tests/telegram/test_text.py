"""What the twin makes of texts."""

from __future__ import annotations

import pytest

from tests.telegram import text
from tests.telegram.wire import Refused


@pytest.mark.parametrize(
    ("offset", "length", "error"),
    [
        (-1, 2, "incorrect offset"),
        (0, 4, "ends after the end of the text"),
        (0, 1, "ends in a middle of a UTF-16 symbol"),
    ],
)
def test_broken_entities(offset: int, length: int, error: str) -> None:
    """Entities lie within the text and cut no symbol in two."""
    entity = {"type": "bold", "offset": offset, "length": length}
    with pytest.raises(Refused, match="Bad Request") as caught:
        text.read("🙂!", None, [entity])
    assert error in caught.value.description


def test_what_is_found_in_a_text() -> None:
    """Links, commands and mentions are found, in UTF-16 units; an address of mail is none."""
    words = "🙂 /why@aria_bot @ana_l see https://e.org/x_y, a@bcde 1/2"
    found = [
        (entity["type"], entity["offset"], entity["length"]) for entity in text.detected(words)
    ]
    assert found == [("bot_command", 3, 13), ("mention", 17, 6), ("url", 28, 17)]
