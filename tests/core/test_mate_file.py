"""mate: one Markdown file is one character, or a list of flaws with their lines."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.mates.mate_file import (
    FIELDS,
    TRIGGERS,
    Mate,
    mate_file_flaws,
    parse_dialogue,
    parse_mate,
)
from loopforge.errors import BadMate
from loopforge.home import shipped_mates

WHOLE = """---
name: Maya Rós
handle: maya
role: field scientist of failures
voice: short and warm
colour: teal
face: 🔬
traits: {curiosity: very high, patience: low}
tier: 2
temperature: 0.4
top_p: 0.9
tools: [clock]
triggers: [name, mention]
interests: [bread, Bridges]
policy: chain
---

You are Maya.
"""


def file(head: str, body: str = "You are Maya.") -> str:
    """A mate's file with this front matter."""
    return f"---\n{head}\n---\n{body}\n"


@pytest.mark.parametrize("text", [WHOLE, WHOLE.encode()], ids=["text", "bytes"])
def test_every_field_is_read(text: str | bytes) -> None:
    """A file with everything in it becomes a mate with everything in it, and the file's own hash."""
    assert parse_mate(text, "maya.md") == Mate(
        name="Maya Rós",
        handle="maya",
        role="field scientist of failures",
        voice="short and warm",
        colour="#008080",
        face="🔬",
        traits={"curiosity": "very high", "patience": "low"},
        tier=2,
        temperature=0.4,
        top_p=0.9,
        tools=("clock",),
        triggers=("mention", "name"),
        interests=("bread", "Bridges"),
        policy="chain",
        prompt="You are Maya.",
        hash=hashlib.sha256(WHOLE.encode()).hexdigest()[:16],
    )


def test_a_name_and_a_body_are_enough() -> None:
    """Handle, face and colour come from the name; it is called by everything, on tier 1."""
    mate = parse_mate(file("name: Émile Zed"), "x.md")
    assert (mate.handle, mate.face, mate.tier, mate.model) == ("emile-zed", "É", 1, "")
    assert mate.triggers == TRIGGERS
    assert mate.temperature is None
    assert mate.colour.startswith("#")


@pytest.mark.parametrize(
    ("head", "line", "said"),
    [
        ("role: x", 1, "`name` is missing"),
        ("name:", 2, "`name` is empty"),
        ("name: [a]", 2, "`name` is a text"),
        ("name: 'a: b'", 2, "`name` is what people call it"),
        ("name: '...'", 2, "`name` is what people call it"),
        (f"name: {'a' * 41}", 2, "40 are the most"),
        (r'name: "Ma\u202eya"', 2, "nobody can see"),
        (r'name: "Ma\u200bya"', 2, "nobody can see"),
        ("name: 山", 2, "add one, such as `handle: maya`"),
        ("name: Everyone", 2, "no handle can be made"),
        ("name: a\nhandle: Dr. No", 3, "such as dr-no"),
        ("name: a\nhandle: room", 3, "means something else"),
        ("name: a\nnam: b", 3, "did you mean `name`?"),
        ("name: a\nRole: b", 3, "written small here: `role`"),
        ("name: a\ncolor: red", 3, "did you mean `colour`?"),
        ("name: a\nzzz: red", 3, "the keys are name, handle"),
        ("name: a\ncolour: #ff0000", 3, "needs quotes"),
        ("name: a\ncolour: tael", 3, "did you mean teal?"),
        ("name: a\ncolour: xyzzy", 3, "such as teal"),
        ("name: a\nface: smile", 3, "one emoji"),
        ("name: a\nface: 🦝🦊", 3, "one emoji"),
        ("name: a\ntraits: curious", 3, "such as {curiosity: very high}"),
        ("name: a\ntraits:\n  calm: low\n  wild: hgih", 5, "did you mean high?"),
        ("name: a\ntraits: {calm: low, calm: high}", 3, "names calm twice"),
        ("name: a\ntier: 7", 3, "from 1 (small and cheap) to 4"),
        ("name: a\ntier: 2.5", 3, "whole number"),
        ("name: a\ntier: true", 3, "whole number"),
        ("name: a\ntier: 1\nmodel: gpt", 3, "exclude each other"),
        ("name: a\ntemperature: hot", 3, "from 0"),
        ("name: a\ntemperature: .nan", 3, "from 0"),
        ("name: a\ntemperature: 2.1", 3, "from 0"),
        ("name: a\ntop_p: 0", 3, "to 1"),
        ("name: a\ntop_p: 1.1", 3, "to 1"),
        ("name: a\ntools: clock", 3, "is a list, such as [clock]"),
        ("name: a\ntools: [clock, [x]]", 3, "holds an entry that is a text"),
        ("name: a\ntriggers: [mention,\n  nmae]", 4, "did you mean name?"),
        ("name: a\npolicy: tlak", 3, "did you mean talk?"),
        ("name: a\nmodel: !!python/object:os.system ls", 3, "`model` is a text"),
    ],
)
def test_each_flaw_is_said_with_its_line(head: str, line: int, said: str) -> None:
    """What is wrong, in which line, and what to write instead."""
    with pytest.raises(BadMate) as caught:
        parse_mate(file(head), "mates/x.md")
    assert (caught.value.source, caught.value.line) == ("mates/x.md", line)
    assert said in caught.value.problem
    assert str(caught.value).startswith(f"mates/x.md, line {line}: ")


@pytest.mark.parametrize(
    ("body", "said"), [("", "body is empty"), ("> hi\nhello", "only examples")]
)
def test_a_mate_needs_a_character(body: str, said: str) -> None:
    """A file whose body is empty, or holds examples alone, says nobody."""
    (bad,) = mate_file_flaws(file("name: Maya", body), "x.md")
    assert said in bad.problem


def test_all_flaws_are_found_at_once() -> None:
    """check gives every flaw, in the order of lines; parse raises the first of them."""
    text = file("nam: a\ntier: 9\npolicy: x\nface: smile", "")
    found = mate_file_flaws(text, "x.md")
    assert [bad.line for bad in found] == [1, 2, 3, 4, 5, 7]
    with pytest.raises(BadMate) as caught:
        parse_mate(text, "x.md")
    assert caught.value.problem == found[0].problem


HEADS = st.lists(
    st.tuples(
        st.sampled_from([*FIELDS, "color", "x"]),
        st.one_of(
            st.text(max_size=12),
            st.sampled_from(
                [
                    "Maya",
                    "maya",
                    "teal",
                    "[clock]",
                    "{calm: low}",
                    "2",
                    "0.5",
                    "🦝",
                    "talk",
                    "[name]",
                ]
            ),
        ),
    ),
    max_size=6,
).map(lambda pairs: "\n".join(f"{key}: {value}" for key, value in pairs))


@given(st.one_of(st.text(max_size=80), st.builds(file, HEADS, st.text(max_size=40))))
def test_any_text_is_a_mate_or_has_flaws(text: str) -> None:
    """No other exception; every flaw's line lies within the file; parse and check agree."""
    last = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    found = mate_file_flaws(text, "x.md")
    assert all(1 <= bad.line <= last for bad in found)
    if found:
        with pytest.raises(BadMate) as caught:
            parse_mate(text, "x.md")
        assert str(caught.value) == str(found[0])
    else:
        mate = parse_mate(text, "x.md")
        assert mate.name
        assert mate.handle
        assert mate.prompt
        assert mate.face


@given(st.binary(max_size=60))
def test_any_bytes_are_a_mate_or_have_flaws(data: bytes) -> None:
    """Bytes raise nothing but BadMate either."""
    assert all(bad.problem for bad in mate_file_flaws(b"---\nname: a\n---\n" + data, "x.md"))


@pytest.mark.parametrize("face", ["🦝", "👩‍🔬", "🏳️‍🌈", "🇵🇪", "1️⃣", "👍🏽", "☕", "M", "Mö"])
def test_faces(face: str) -> None:
    """One emoji, however it is composed, or one or two letters."""
    assert parse_mate(file(f'name: a\nface: "{face}"'), "x").face == face


def test_examples_are_taken_out_of_the_prompt() -> None:
    """Quoted lines and the answer under them are examples; the rest is who this is."""
    prompt = (
        "You are Maya.\n\n> My bread\n> did not rise.\nDead yeast,\nI guess.\n> Why?\nHeat.\n\n"
        "> a quote without an answer\n\nYou like toast."
    )
    assert parse_dialogue(prompt) == (
        "You are Maya.\n\n> a quote without an answer\n\nYou like toast.",
        (("My bread\ndid not rise.", "Dead yeast, I guess."), ("Why?", "Heat.")),
    )


@given(st.text(alphabet="ab> \n", max_size=60))
def test_examples_lose_no_words(prompt: str) -> None:
    """Whatever a prompt looks like, each of its words is in the character or in an example."""
    parts = parse_dialogue(prompt)
    kept = parts.character + " ".join(said + answer for said, answer in parts.examples)
    assert sorted(kept.replace(">", "").split() and "".join(kept.split()).replace(">", "")) == (
        sorted("".join(prompt.split()).replace(">", ""))
    )


@pytest.mark.parametrize("name", shipped_mates())
def test_the_shipped_mates_are_good_files(name: str) -> None:
    """Each shipped mate parses, is short enough for a small model, and shows how it talks."""
    mate = parse_mate(shipped_mates()[name], name)
    assert f"{mate.handle}.md" == name
    parts = parse_dialogue(mate.prompt)
    assert len(parts.character.split()) <= 60
    assert len(parts.examples) >= 5
    assert mate.role
    assert mate.voice
    assert mate.traits
    assert mate.interests


def test_three_ship_and_differ() -> None:
    """maya, merlin and a third: other faces, colours, traits and words."""
    mates = [parse_mate(text, name) for name, text in shipped_mates().items()]
    assert {"maya", "merlin"} < {mate.handle for mate in mates}
    assert len(mates) == 3
    for one in ("face", "colour", "voice", "role"):
        assert len({getattr(mate, one) for mate in mates}) == 3
    interests = [word for mate in mates for word in mate.interests]
    assert len(set(interests)) >= len(interests) - 2
