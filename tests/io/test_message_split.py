"""Splitting: nothing lost, nothing too long, no code left open, cut where a reader would pause."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from loopforge.errors import InputError
from loopforge.io.text.code_fences import find_code_blocks, unclosed_fence
from loopforge.io.text.graphemes import clip, is_inside_grapheme, utf16_length
from loopforge.io.text.message_split import VOID, MessagePiece, as_file, join, split
from tests.work_count import calls_of

LIMITS = st.integers(40, 120)
WORDS = st.text("abcdefghij", min_size=1, max_size=9)
FENCES = st.sampled_from(
    [
        "```",
        "~~~",
        "```python\n",
        "   ```\n",
        "````\n",
        "~~~~ x\n",
        "``",
        "`",
        "    ```",
        "~~~ ~~~~\n",
        "```\r",
        "- ```\n",
        "\n10. ```\n",
        "\n  - - ~~~\n",
        "\n    ",
        "> ```\n",
        "```\n",
    ]
)
BITS = st.one_of(
    FENCES,
    st.sampled_from(["`" * 50, f"```{'i' * 60}\n"]),
    WORDS,
    st.sampled_from([" ", "\n", "\n\n", "  \n", "\r\n", "\t", ". ", "。", " " * 90, "\n" * 60]),
    st.sampled_from(["👩‍👩‍👧‍👦", "e\u0301", "🇩🇪", "👍🏽", "각", "\u200b", "\u2800", "𝔸"]),
    st.text(max_size=5),
)
TEXTS = st.lists(BITS, max_size=60).map("".join)
PROSE = st.lists(
    st.lists(WORDS, min_size=1, max_size=12).map(lambda words: " ".join(words) + "."),
    min_size=1,
    max_size=20,
)
READER = MarkdownIt("commonmark", {"html": False})


@given(TEXTS, LIMITS)
@example("", 40)
@example(" \n", 40)
@example("a" + "\u0301" * 100, 40)
@example("`" * 300, 40)
@example("```" + "x" * 300 + "\ncode\n```", 40)
@example("a" + " " * 500 + "b", 40)
@example("```\n" + "\n" * 300, 40)
@example("-    " * 40 + "x", 40)
def test_nothing_is_lost_and_nothing_is_too_long(text: str, limit: int) -> None:
    """For any text the pieces join to it, and none is longer than the limit in UTF-16 units."""
    pieces = split(text, limit)
    assert join(pieces) == text
    assert all(len(piece.text.encode("utf-16-le")) // 2 <= limit for piece in pieces)


@given(TEXTS, LIMITS)
@example("\x1f", 40)
def test_no_piece_shows_nothing(text: str, limit: int) -> None:
    """No piece is blank, unless the whole text is; without code, none begins or ends so."""
    pieces = split(text, limit)
    if text.strip(VOID):
        assert all(piece.text.strip(VOID) for piece in pieces)
        if not set("`~") & set(text):
            assert all(piece.text == piece.text.strip() for piece in pieces)


@given(TEXTS, LIMITS)
def test_no_piece_leaves_a_fence_open(text: str, limit: int) -> None:
    """An independent reader of Markdown finds each block of code at the top closed."""
    for piece in split(text, limit):
        assert unclosed_fence(piece.text) is None
        for token in READER.parse(piece.text):
            if token.type == "fence" and token.level == 0:
                assert token.map
                rows = piece.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
                last = rows[token.map[1] - 1].strip(" \t")
                assert last.startswith(token.markup)
                assert token.map[1] - token.map[0] > 1


@given(TEXTS)
def test_blocks_are_found_where_an_independent_reader_finds_them(text: str) -> None:
    """The lines where blocks begin are the same, for texts without quotes and lists."""
    rows = text.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")
    tokens = READER.parse(rows)
    if re.search(r"^ *(?:[-+*>]|\d+[.)])", rows, re.MULTILINE):
        return
    starts = [rows.count("\n", 0, block.start) for block in find_code_blocks(rows)]
    assert starts == [token.map[0] for token in tokens if token.type == "fence" and token.map]


@given(
    st.lists(st.sampled_from(["👩‍👩‍👧‍👦", "e\u0301", "🇩🇪", "👍🏽", "각", "क्ष", "กำ", "❤️", "a"])),
    LIMITS,
)
def test_what_a_reader_takes_for_one_stays_one(clusters: list[str], limit: int) -> None:
    """Families, flags, accents, syllables: no piece begins or ends within one of them."""
    text = "".join(clusters)
    ends = {sum(map(len, clusters[:n])) for n in range(len(clusters) + 1)}
    at = 0
    for piece in split(text, limit):
        at += len(piece.own)
        assert at in ends
    assert clip(text, limit) == "" or len(clip(text, limit)) in ends


def test_a_long_grapheme_is_cut_between_characters_and_never_within_one() -> None:
    """A hundred accents on one letter do not fit; a pair of surrogates is not parted."""
    assert len(split("a" + "\u0301" * 100, 40)) == 3
    assert [utf16_length(piece.text) for piece in split("𝔸" * 30, 41)] == [40, 20]
    assert clip("𝔸𝔸", 3) == "𝔸"
    assert is_inside_grapheme("\ud835\udd38", 1)


@given(PROSE, st.integers(250, 400))
def test_prose_is_cut_between_sentences_and_pieces_are_filled(lines: list[str], limit: int) -> None:
    """Every piece of ordinary prose ends with its sentence, and is at least half full."""
    pieces = split(" ".join(lines), limit)
    for piece in pieces[:-1]:
        assert piece.text.endswith(".")
        assert utf16_length(piece.text) >= limit // 2 - 1


def test_the_best_place_is_taken() -> None:
    """Between paragraphs, before a block, between lines, after a sentence, at a space, else hard."""

    def first(text: str) -> str:
        return split(text, 60)[0].text

    para = "One two three four five six seven.\n\nEight nine.\nTen eleven twelve thirteen fourteen."
    assert first(para) == "One two three four five six seven."
    assert first("One two three four five:\n```py\n" + "x = 1\n" * 9 + "```") == (
        "One two three four five:"
    )
    assert first("One two three four five six\nseven eight nine ten. " + "a b " * 20) == (
        "One two three four five six\nseven eight nine ten."
    )
    assert first("A one two three four five six seven\nlines. go on " + "a b " * 20) == (
        "A one two three four five six seven"
    )
    assert first("一二三四五六七八九十" * 4 + "。" + "一二三四五六七八九十" * 4) == (
        "一二三四五六七八九十" * 4 + "。"
    )
    assert first("word " * 20) == "word " * 11 + "word"
    assert first("x" * 100) == "x" * 60
    assert first("a b " + "x" * 100) == "a b " + "x" * 56


def test_a_block_that_is_cut_is_closed_and_opened_again() -> None:
    """Each part of a long block is a block with the same language, cut between lines."""
    code = "".join(f"line_{n:02} = {n}\n" for n in range(20))
    pieces = split(f"Here:\n```python\n{code}```\nThat is all.", 80)
    assert [piece.text for piece in pieces][1:-1] == [
        "```python\nline_05 = 5\nline_06 = 6\nline_07 = 7\nline_08 = 8\nline_09 = 9\n```",
        "```python\nline_10 = 10\nline_11 = 11\nline_12 = 12\nline_13 = 13\nline_14 = 14\n```",
        "```python\nline_15 = 15\nline_16 = 16\nline_17 = 17\nline_18 = 18\nline_19 = 19\n```",
    ]
    assert pieces[-1].text == "That is all."


def test_a_block_in_a_list_item_is_a_block() -> None:
    """It is closed as far in as its item is, and ends where the item does."""
    text = "1. Do:\n2. ```sh\n" + "   make it\n" * 9 + "   ```\nThen rest.\n"
    first, second = split(text, 90)
    assert first.text == "1. Do:\n2. ```sh\n" + "   make it\n" * 6 + "   ```"
    assert second.text == "```sh\n" + "   make it\n" * 3 + "   ```\nThen rest."
    assert unclosed_fence("- ```\n  code\n\nthat is no code\n") is None
    assert unclosed_fence("- ```\n  code\n\n  and more\n") is not None


def test_a_block_is_cut_between_its_parts() -> None:
    """A blank line in code is where to cut it, if the piece is well filled then."""
    code = "aaaa = 1\n" * 5 + "\n" + "bbbb = 2\n" * 9
    assert split(f"```py\n{code}```", 66)[0].text == "```py\n" + "aaaa = 1\n" * 5 + "\n```"


@pytest.mark.parametrize(
    "text",
    ["```" + "i" * 35 + "\n" + "x" * 100 + "\n```", "```\n" + "a" * 50 + "\n``````\nb"],
)
def test_no_piece_has_an_empty_block(text: str) -> None:
    """A cut is made neither right after a block is opened nor right before it is closed."""
    for piece in split(text, 60):
        for block in find_code_blocks(piece.text):
            assert piece.text[block.inner : block.outer].strip()


def test_a_cut_makes_no_block_of_what_was_none() -> None:
    """Three backticks within a line stay within a line."""
    for piece in split("word " * 10 + "``` " + "word " * 10, 52):
        assert find_code_blocks(piece.text) == ()


def test_words_behind_a_fence_do_not_break_the_limit() -> None:
    """A long line that opens a block is not repeated whole; its language is, if it fits."""
    long = split("```python title=" + "x" * 70 + "\n" + "a = 1\n" * 30 + "```", 120)
    assert long[1].text.startswith("```python\na = 1\n")
    longer = split("```" + "y" * 50 + "\n" + "a = 1\n" * 30 + "```", 80)
    assert longer[1].text.startswith("```\na = 1\n")


def test_a_text_that_is_still_written_is_shown_closed() -> None:
    """An open block is closed in what is sent, though the text does not close it."""
    assert split("So:\n```py\nx = 1", 50) == (MessagePiece("So:\n```py\nx = 1\n```", tail=4),)


@given(PROSE, PROSE, st.integers(60, 120))
@example(["a aa aaaaaaaa aaaaaaaaa."], ["aa aaa aaaaaaaa aaaaaaaaa."], 60)
@example(
    ["a."] * 6,
    ["a a a aa aa aaa aaaa aaaaa aaaaaaa.", "aaaaa aaaaa aaaaaaa aaaaaaaaa aaaaaaaaa."],
    85,
)
def test_what_stands_stays_while_a_text_grows(some: list[str], more: list[str], limit: int) -> None:
    """All pieces but the last of a text are the first pieces of any text that it grows into."""
    text = "\n\n".join(some) + "\n```py\n" + "\n".join(more)
    grown = [piece.text for piece in split(f"{text}\n```\n" + " ".join(some + more), limit)]
    shown = [piece.text for piece in split(text, limit)]
    assert grown[: len(shown) - 1] == shown[:-1]


def test_a_limit_that_leaves_no_room_is_refused() -> None:
    """Below forty units there is no promise to keep."""
    with pytest.raises(InputError, match="40 or more"):
        split("a", 39)


def test_a_very_long_text_becomes_a_file() -> None:
    """More than `most` pieces become a file with the whole text and a beginning to show."""
    text = "# My *grand* plan\n\n" + "Word after word. " * 500
    assert as_file(text, 2000, 5) is None
    file = as_file(text, 2000, 4)
    assert file is not None
    assert (file.name, file.data.decode()) == ("my-grand-plan.md", text)
    assert file.preview.text.endswith("Word after word.\n…")
    assert utf16_length(file.preview.text) <= 2000
    assert text.startswith(file.preview.own)


@given(TEXTS, LIMITS)
def test_a_file_is_made_of_what_is_more_than_so_many_pieces(text: str, limit: int) -> None:
    """A file exactly when there are more pieces; its name is a plain word."""
    file = as_file(text, limit + 2, 3)
    assert (file is not None) == (len(split(text, limit + 2)) > 3)
    if file is not None:
        assert utf16_length(file.preview.text) <= limit + 2
        assert file.name.endswith(".md")
        assert "/" not in file.name
        assert len(file.name) > 3


@pytest.mark.sample(5)
@pytest.mark.parametrize("limit", [40, 300])
@pytest.mark.parametrize(
    "unit", ["🇩🇪", "\U0001f1e9", "क्", "👩\u200d", "\U000e0061", "[", "e\u0301"]
)
def test_a_text_of_one_sign_is_split_in_linear_work(unit: str, limit: int) -> None:
    """Flags go by twos: all before a cut were counted for each cut, which held rooms for 20 seconds."""
    few, many = calls_of(split, *((unit * (size // len(unit)), limit) for size in (2000, 8000)))
    assert many / few < 6  # four where it is linear
