"""What docs/mates.md tells of a mate's file is so."""

import re
from pathlib import Path

import pytest

from loopforge.chat.turns import lore_lines
from loopforge.core.mates import lorebook, mate_file, yaml_reader
from loopforge.core.mates.mate_file import FIELDS, POLICIES, TRIGGERS, mate_file_flaws, parse_mate
from loopforge.core.text.quantity_bands import BANDS

PAGE = (Path(__file__).parents[2] / "docs" / "mates.md").read_text("utf-8")
EXAMPLE = PAGE.partition("```markdown\n")[2].partition("```")[0]
BARE = "---\nname: Dr. Émile Zed\n{}---\nYou are somebody.\n"
WRONG = {
    "name": "x" * 41,
    "handle": "x" * 33,
    "role": "x" * 121,
    "voice": "x" * 241,
    "traits": "{curiosity: endless}",
    "tier": "5",
    "temperature": "2.1",
    "top_p": "0",
    "tools": str([f"t{nth}" for nth in range(61)]),
    "triggers": "[smell]",
    "interests": str([f"t{nth}" for nth in range(61)]),
    "policy": "guess",
    "greeting": "x" * 4001,
    "unprompted": "after 1 minute",
    "pace": "201",
    "bounds": "{cups: 3}",
    "sandbox": "{cups: 3}",
    "colour": "warm",
    "face": "Otto",
    "model": "x" * 121,
}


def test_the_table_names_every_key_in_order() -> None:
    """None is missing, none is made up."""
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == list(FIELDS)


def test_the_example_is_a_mate() -> None:
    """It has all that the page speaks of."""
    otto = parse_mate(EXAMPLE, "otto.md")
    assert (otto.name, otto.handle, otto.tier, otto.pace) == ("Otto", "otto", 2, 12)
    assert otto.triggers == ("mention", "reply", "name")
    assert [entry.keys for entry in otto.lore] == [("storm", "wreck"), ("*",)]
    assert [said for said, _ in mate_file.parse_dialogue(otto.prompt).examples] == [
        "Who are you?",
        "I had a bad day.",
        "Hello!",
    ]


def test_what_is_left_out_is_as_the_page_says() -> None:
    """A name and a body are a mate."""
    mate = parse_mate(BARE.format(""), "zed.md")
    assert (mate.handle, mate.face, mate.tier, mate.pace) == ("dr-emile-zed", "D", 1, 0)
    assert (mate.triggers, mate.policy, mate.tools) == (TRIGGERS, "", ())


@pytest.mark.parametrize("key", FIELDS)
def test_a_limit_of_the_page_is_held(key: str) -> None:
    """What is more than it says is a flaw of that key."""
    line = "" if key == "name" else f"{key}: {WRONG[key]}\n"
    text = BARE.format(line)
    if key == "name":
        text = text.replace("Dr. Émile Zed", WRONG[key])
    assert [flaw.problem.partition(" ")[0] for flaw in mate_file_flaws(text, "zed.md")] == [
        f"`{key}`"
    ]


def test_the_words_of_the_page_are_those_of_the_program() -> None:
    """Triggers, policies, bands, sizes."""
    told = " ".join(PAGE.split())
    for words in (
        "A file has at most 256 KiB, its head 64",
        "(in the newest four lines)",
        "to a small model a tenth",
    ):
        assert words in told, words
    for word in (*TRIGGERS, *POLICIES, *BANDS):
        assert f"`{word}`" in PAGE, word
    assert (yaml_reader.LARGEST, yaml_reader.LARGEST_HEAD) == (256 * 1024, 64 * 1024)
    assert lorebook.NEAR == 4
    assert lore_lines.SMALL_BYTES * 10 == lore_lines.BYTES
