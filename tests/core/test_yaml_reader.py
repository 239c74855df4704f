"""front: the YAML head of a Markdown file, with a line for every flaw."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.mates import yaml_reader
from loopforge.core.mates.yaml_reader import LARGEST, FrontMatterFlaw, read


def test_a_page_is_taken_apart() -> None:
    """Fields keep their order and their lines; the body is what stands under the second fence."""
    page = read("---\nname: Maya\n\ntraits: {calm: low}\n---\n\nYou are Maya.\n\n---\nmore\n")
    assert [(field.key, field.line) for field in page.fields.values()] == [
        ("name", 2),
        ("traits", 4),
    ]
    assert page.body == "You are Maya.\n\n---\nmore"
    assert (page.body_line, page.flaws) == (6, ())


def test_other_line_ends_and_a_byte_order_mark_are_read() -> None:
    """Files of other editors are the same files."""
    assert read("\ufeff---\r\nname: a\r\n---\r\nb\r\nc").body == "b\nc"
    assert read("---\rname: a\r---\rb").fields["name"].line == 2


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "begins with its front matter"),
        ("You are Maya.\n", 1, "begins with its front matter"),
        ("---\nname: a\n", 1, "never closed"),
        ("---\nname: a\n\tb: c\n---\n", 3, "use spaces"),
        ("---\nname: a: b\n---\n", 2, "in quotes"),
        ("---\nname: @a\n---\n", 2, "needs quotes"),
        ("---\nname: `a`\n---\n", 2, "needs quotes"),
        ("---\nname: **a** b\n---\n", 2, "needs quotes"),
        ("---\nname: - a\n---\n", 2, "needs quotes"),
        ("---\nname: | a\n---\n", 2, "needs quotes"),
        ("---\nname: ]\n---\n", 2, "needs quotes"),
        ("---\nname: 'it's a'\n---\n", 2, "double quotes"),
        ('---\nname: "a" b\n---\n', 2, "double quotes"),
        ("---\nname: a\nrole\n---\n", 3, "colon is missing"),
        ("---\nname: [a\n---\n", 2, "not closed with ]"),
        ("---\nname: {a: b\n---\n", 2, "not closed with }"),
        ('---\nname: "a\n---\n', 2, "never closed"),
        ("---\n- a\n- b\n---\n", 2, "`key: value` lines"),
        ("---\nname\n---\n", 2, "`key: value` lines"),
        ("---\na: 1\nb: 2\na: 3\n---\n", 4, "line 2 already"),
        ("---\na: &x [1]\nb: *x\n---\n", 3, "aliases"),
        ("---\na: [[[[[[[[1]]]]]]]]\n---\n", 2, "nested too deeply"),
        ("---\n? [a]\n: b\n---\n", 2, "a key is one word"),
        ("---\na: b\n...\nc: d\n---\n", 4, "YAML"),
        ("---\na: b\n---\nx\u202ey\n", 4, "U+202E"),
        ("---\na: b\n---\n\x00\n", 4, "U+0000"),
        ("---\na: \ud800\n---\n", 2, "U+D800"),
        ("x" * (LARGEST + 1), 1, "too large"),
    ],
)
def test_every_flaw_has_its_line(text: str, line: int, said: str) -> None:
    """What is wrong is said in plain words, with the line it stands in."""
    flaw = read(text).flaws[0]
    assert (flaw.line, said in flaw.problem) == (line, True), flaw


def test_a_billion_laughs_cost_nothing() -> None:
    """Aliases upon aliases are refused at the first of them, before anything is built."""
    lines = ["a: &a [lol]"] + [
        f"{b}: &{b} [*{a}, *{a}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    assert "aliases" in read("---\n" + "\n".join(lines) + "\n---\n").flaws[0].problem


def test_a_thousand_open_brackets_are_one_flaw() -> None:
    """Deep nesting ends at its bound, not in a RecursionError."""
    assert len(read("---\na: " + "[" * 5000 + "\n---\n").flaws) == 1


@given(st.text(max_size=200), st.text(alphabet="ab:-# \n\t[]{}&*!|>'\"%@`?,.", max_size=120))
def test_any_text_is_read(wild: str, yamlish: str) -> None:
    """Whatever stands there: a page, and flaws with lines inside the file."""
    for text in (wild, f"---\n{yamlish}\n---\n{wild}", f"---\n{wild}\n---\n{yamlish}"):
        page = read(text)
        last = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
        assert all(1 <= flaw.line <= last and flaw.problem for flaw in page.flaws)


def test_bytes_that_are_no_text() -> None:
    """Bytes that are not UTF-8 are a flaw of their line; too many are one of the first."""
    flaw = FrontMatterFlaw(3, "this is not UTF-8 text; save the file as UTF-8")
    assert read(b"---\nb\n\xff").flaws == (flaw,)
    assert read(b"x" * (LARGEST + 1)).flaws[0].line == 1


def test_words_are_taken_as_they_stand() -> None:
    """No, 007 and a date are words where words are wanted; YAML's guesses do not matter."""
    fields = read("---\na: No\nb: 007\nc: 2026-01-01\nd: [x]\ne:\nf: !!binary eA==\n---\n").fields
    words = [yaml_reader.word(field.node) for field in fields.values()]
    assert words == ["No", "007", "2026-01-01", None, None, None]


def test_numbers_are_numbers() -> None:
    """Whole and broken numbers are read; truth and words are none."""
    fields = read("---\na: 2\nb: 0.5\nc: true\nd: two\ne: 0x\nf: 1_0\n---\n").fields
    assert [yaml_reader.number(field.node) for field in fields.values()] == [
        2,
        0.5,
        None,
        None,
        None,
        10,
    ]
