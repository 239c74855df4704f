"""Texts of very many combining marks, which Unicode's normal forms put in order."""

import pytest

from loopforge.chat.speaking.stop_requests import is_stop
from loopforge.core.text.decoded_text import plain_signs
from loopforge.core.text.topics import MOST_MARKS, fold_case, normal_form
from loopforge.ledger.erasure.quote_matching import fold_for_search
from loopforge.people.identity.account_names import fold_name, sanitize_display_name
from loopforge.schedule.phrases.phrase_patterns import normalize_phrase

_MANY = 400_000
"""Of each kind: to put them all in order takes a quarter of an hour."""


@pytest.mark.parametrize(
    "marks",
    ["\u0315" * _MANY + "\u0316" * _MANY, ("\u0315" * MOST_MARKS + "\uff9e\u0316") * _MANY],
    ids=["combining", "halfwidth"],
)
def test_no_text_is_too_dear_to_fold(marks: str) -> None:
    """Of marks without end upon one letter the first few are read."""
    zalgo = f"sto{marks}p"
    assert plain_signs(zalgo) == "stop"
    assert len(fold_case(zalgo)) < 50
    assert len(fold_for_search(zalgo)) < 50
    assert len(fold_name(zalgo)) < 50
    assert len(sanitize_display_name(zalgo, "nobody")) < 50
    assert normalize_phrase(zalgo) == "stop"
    assert not is_stop(zalgo)


def test_marks_that_people_write_are_all_read() -> None:
    """A letter with a mark is the letter that holds it; of a stack as high as may be none is lost."""
    assert normal_form("e\u0301", "NFC") == "\u00e9"
    assert normal_form("\u00e9" + "\u0316" * MOST_MARKS, "NFD").count("\u0316") == MOST_MARKS
    assert normal_form("e" + "\u0316" * 99, "NFC") == "e" + "\u0316" * MOST_MARKS
    assert normal_form("\uff76\uff9e") == "\u30ac"
