"""Topics: which words a text is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.text.topics import (
    COMMON,
    count_interests_touched,
    fold_case,
    is_unspaced_script,
    overlap_coefficient,
    stem,
    text_topics,
    topic_stems,
    topic_words,
)


@pytest.mark.parametrize(
    "forms",
    [
        ("bake", "bakes", "baked", "baking"),
        ("run", "runs", "running"),
        ("berry", "berries"),
        ("map", "maps", "mapped", "mapping"),
        ("quick", "quickly"),
        ("sail", "sails", "sailed", "sailing"),
        ("mary", "mary's", "mary’s"),
    ],
)
def test_the_forms_of_a_word_share_a_stem(forms: tuple[str, ...]) -> None:
    """Endings do not matter."""
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("tea", "teeth"), ("glass", "gland"), ("sing", "single")]
)
def test_other_words_have_other_stems(one: str, other: str) -> None:
    """Cutting off endings does not make unlike words alike."""
    assert stem(one) != stem(other)


def test_common_words_carry_no_topic() -> None:
    """What is left of a sentence are its own words, as they are written."""
    assert topic_words("What do you think about the Kettle, is it 42 degrees?") == [
        "Kettle",
        "degrees",
    ]
    assert topic_stems("they were with us and would have been there") == frozenset()
    assert "the" in COMMON


def test_interests_are_touched_by_any_form() -> None:
    """An interest counts once, whichever of its words stands in the text in whatever form."""
    interests = ("old maps", "baking", "紅茶")
    assert count_interests_touched(text_topics("I mapped it, then drew a MAP"), interests) == 1
    assert count_interests_touched(text_topics("Bake me a map of 紅茶の話"), interests) == 3
    assert count_interests_touched(text_topics("nothing of the sort"), interests) == 0
    assert count_interests_touched(text_topics(""), interests) == 0


def test_overlap_is_a_share_of_the_smaller() -> None:
    """1 where one lies in the other, 0 where they have nothing in common or one is empty."""
    assert overlap_coefficient(frozenset("abc"), frozenset("ab")) == 1
    assert overlap_coefficient(frozenset("abcd"), frozenset("axyz")) == 0.25
    assert overlap_coefficient(frozenset(), frozenset("a")) == 0


def test_scripts_without_spaces_are_known() -> None:
    """Chinese, Japanese, Thai; not Latin, Cyrillic or Korean."""
    assert all(map(is_unspaced_script, "玛ひカไ"))
    assert not any(map(is_unspaced_script, "aя마1 "))


@given(st.text(max_size=60))
def test_folding_is_done_once(text: str) -> None:
    """A folded text is folded, and any text has topics without an error."""
    assert fold_case(fold_case(text)) == fold_case(text)
    assert all(topic_stems(text))
