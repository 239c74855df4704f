"""The prompt of a small model: what holds of it for any talk at all (see also test_talk)."""

from hypothesis import given
from hypothesis import strategies as st

from loopforge.policies.small_prompt import LATEST, small_prompt, trim_small_answer
from tests.playbook import PROMPTS, heard, mine, shown

LINES = st.lists(st.tuples(st.sampled_from(["ana", "bo", ""]), st.text(max_size=40)), max_size=12)


@given(LINES)
def test_it_stays_short_however_long_the_talk(talk: list[tuple[str, str]]) -> None:
    """Character, one exchange or two examples at the most, and a few rows: never the whole talk."""
    lines = [
        heard(who, text, f"{nth}") if who else mine(text) for nth, (who, text) in enumerate(talk)
    ]
    messages = small_prompt(shown(*lines, model="small"), PROMPTS)
    assert messages[0].role == "system"
    assert messages[-1].role == "user"
    assert len(messages) <= 6
    assert sum(part == "\n" for part in messages[-1].parts) < LATEST


@given(st.text())
def test_what_is_spoken_is_part_of_what_was_answered(text: str) -> None:
    """Nothing is added to a small model's words; at most something is left out."""
    assert trim_small_answer(text, shown(heard("ana", "hi"), model="small")) in text


def test_a_use_of_a_tool_is_not_said() -> None:
    """A small model that was offered none may write one all the same, behind its words or alone."""
    seen = shown(heard("ana", "hi"), model="small")
    for use in ('<|python_tag|>clock.call(zone="UTC")', '<tool_call>{"name": "clock"}</tool_call>'):
        assert trim_small_answer(f"I look.\n{use}", seen) == "I look."
        assert trim_small_answer(use, seen) == ""


def test_what_it_remembers_is_not_said_as_it_was_told() -> None:
    """A row of memory is no answer; what follows it is, and a link stays one."""
    seen = shown(heard("ana", "hi"), model="small")
    row = "[in another room, 26 November 2026 from Ana: what do you think of rain?]"
    assert trim_small_answer(row, seen) == ""
    assert trim_small_answer(row[:-1], seen) == ""
    assert trim_small_answer(f"{row[:-1]}\n{row}\nI like it.", seen) == "I like it."
    assert trim_small_answer(f"{row} I like it.", seen) == "I like it."
    assert trim_small_answer(f"Ana: {row}", seen) == ""
    assert trim_small_answer(f"ana: {row} Ana: I like it.", seen) == "I like it."
    assert trim_small_answer("[Rain](https://rain.example) it is.", seen).startswith("[Rain]")
