"""What docs/group-chat.md tells in figures is so."""

from pathlib import Path

import pytest

from loopforge.chat.room import energy_limit
from loopforge.chat.speaking import line_debounce, triggers
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.chat.turns import room_titles

PAGE = " ".join((Path(__file__).parents[2] / "docs" / "group-chat.md").read_text("utf-8").split())
RULES, USUAL, SMALL = RoomRules(), triggers.USUAL, triggers.SMALL
FIGURES = {
    "within 0.6 seconds": RULES.debounce == 0.6,
    "for 4 seconds at the most": line_debounce.PATIENCE == 4,
    "From 70 on a mate speaks. From 30 on its own mind": (USUAL.speak, USUAL.ask) == (70, 30),
    "so it is asked from 55 on": (SMALL.speak, SMALL.ask) == (70, 55),
    "at most two (`max_speakers`)": USUAL.speakers == 2,
    "and one after a mate's": USUAL.speakers_after_mate == 1,
    "A room holds 6 lines of mates": energy_limit.CAPACITY == RULES.capacity == 6,
    "a person's line gives 4 back": energy_limit.REFILL == RULES.refill == 4,
    "four hours after the last line": RULES.idle == 4 * 3600,
    "after four lines, two of them of people": (room_titles.FIRST_LINES, room_titles.FIRST_HEARD)
    == (4, 2),
}


@pytest.mark.parametrize("told", FIGURES)
def test_a_figure_of_the_page_is_that_of_the_program(told: str) -> None:
    """It stands on the page, and rooms go by it."""
    assert told in PAGE
    assert FIGURES[told]
