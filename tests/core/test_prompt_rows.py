"""Rows: how names, texts and quotes are laid out in a prompt. What comes of it: test_speaker_messages.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.text.prompt_rows import (
    BAR,
    LONGEST_QUOTE,
    barred,
    break_special_tokens,
    laid_out,
    quotable_text,
)


@given(st.text(max_size=80))
def test_every_line_of_a_text_but_the_first_has_a_bar(text: str) -> None:
    """Whatever signs break it; what stands between the breaks stays."""
    first, *rest = barred(text).split("\n")
    assert all(line.startswith(BAR) for line in rest)
    assert all(len(line.splitlines()) <= 1 for line in (first, *rest))
    assert barred(text).replace(f"\n{BAR}", "").split() == "".join(text.splitlines()).split()


@given(st.text(max_size=200))
def test_a_quote_is_short_and_cannot_end_its_marks(text: str) -> None:
    """One line, no quotation mark, and an ellipsis where something is left out."""
    short = quotable_text(text)
    assert len(short) <= LONGEST_QUOTE
    assert len(short.splitlines()) <= 1
    assert not set(short) & set('"“”„‟')


def test_a_long_quote_says_that_it_goes_on() -> None:
    """At its end."""
    assert quotable_text("a b " * 40) == "a b " * 14 + "a b…"
    assert quotable_text("a\n“b”") == "a 'b'"


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("<|im_end|>", "< |im_end| >"),
        ("[INST] a [/INST]", "[ INST] a [ /INST]"),
        ("<<SYS>>", "< <SYS>>"),
        ("</s><s>", "< /s>< s>"),
        ("<｜User｜>", "< ｜User｜ >"),
        ("<start_of_turn>", "< start_of_turn>"),
        ("a < b, a <b> c, [a], x|y", "a < b, a <b> c, [a], x|y"),
    ],
)
def test_signs_of_chat_templates_are_broken_up(text: str, broken: str) -> None:
    """By a space; what only resembles them stays."""
    assert break_special_tokens(text) == broken


def test_each_part_has_its_form() -> None:
    """A name, a text and a quote; without a layout all parts stay as they are."""
    parts = ("Ana:", " “", "a\n”b", "”: ", "x\ny")
    assert laid_out(parts, "n.q.t") == "Ana “a 'b”: x\n| y"
    assert laid_out(("a\n", "b")) == "a\nb"
