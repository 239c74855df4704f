"""Thoughts at the beginning of a text are left out, however the text is cut into pieces."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.text.thought_stripping import ThoughtFilter

HM = "<|channel|>analysis<|message|>Hm, hm.<|end|>"
TO = "<|channel|>commentary to=functions.clock <|constrain|>json<|message|>{}<|call|>"


def heard(pieces: list[str]) -> str:
    """What is heard of these pieces."""
    thoughts = ThoughtFilter()
    return "".join([*map(thoughts.feed, pieces), thoughts.rest()])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Hello.", "Hello."),
        ("  Hello.", "  Hello."),
        ("<think>Hm, hm.</think>\n\nHello.", "Hello."),
        ("\n<think>\nHm.\n</think>Hello <think>there</think>.", "Hello <think>there</think>."),
        ("<thinking>Hm.</thinking>Hello.", "Hello."),
        ("<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Hello.", "Hello."),
        ("◁think▷Hm.◁/think▷Hello.", "Hello."),
        (f"{HM}<|start|>assistant<|channel|>final<|message|>Hello.<|return|>", "Hello."),
        (f"{HM}{HM}<|channel|>final <|constrain|>json<|message|>{{}}<|end|>", "{}"),
        (f"{HM}<|start|>assistant<|channel|>commentary<|message|>Hm.<|end|>Hello.", "Hello."),
        ("<|channel|>analysis<|message|>Hm.<|channel|>final<|message|>A <b> c.", "A <b> c."),
        (f"<|channel|>final<|message|>Hello.<|end|><|start|>assistant{HM}", "Hello."),
        ("<|channel|>final Hello.", "Hello."),
        ("<|channel|>analysis", ""),
        ("<|channel|>analysis<|message|>for ever and ever", ""),
        ("analysisHm, hm.assistantfinalHello.", "Hello."),
        ("analysisFor ever and ever", ""),
        ("analysis of what is there", "analysis of what is there"),
        (f"{HM}{TO}", TO),
        (f"{HM}<|start|>assistant to=a.b<|message|>{{}}", "<|start|>assistant to=a.b<|message|>{}"),
        ("analysisHm.assistantcommentary to=a.b json{}", "commentary to=a.b json{}"),
        ("<thinks>is a word</thinks>", "<thinks>is a word</thinks>"),
        ("<thi", "<thi"),
        ("<think>for ever and ever", ""),
        ("<think></think>", ""),
        ("", ""),
    ],
)
@given(data=st.data())
def test_thoughts_are_left_out(text: str, left: str, data: st.DataObject) -> None:
    """Only a block at the very beginning is a thought; cuts make no difference."""
    cuts = data.draw(st.lists(st.integers(0, len(text))).map(sorted))
    places = [0, *cuts, len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(places)]
    assert heard(pieces) == left


@given(st.lists(st.text(max_size=9)))
def test_other_texts_pass_unchanged(pieces: list[str]) -> None:
    """A text that does not begin with a thought is heard exactly as it came."""
    text = "".join(pieces)
    if not text.lstrip().startswith("<think>"):
        assert heard(pieces) == text


@pytest.mark.timeout(30)
def test_blanks_before_an_answer_are_looked_at_once() -> None:
    """All of them were at each that came: 40,000, sign by sign, took five seconds of the home."""
    text = " " * 400_000
    assert heard([*text, "Hello."]) == f"{text}Hello."
    assert heard([*text, "<think>", "Hm.", "</think>", *text, "Hello."]) == "Hello."
