"""Words between Telegram and the house: entities inward as Markdown, Markdown outward as entities."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopforge.io.telegram.text.markdown import (
    EntityText,
    as_entity_text,
    as_readable_markdown,
    split_into_messages,
)
from loopforge.io.text.message_split import VOID
from telegram import MessageEntity as Entity
from telegram import User
from tests.work_count import calls_of

WORDS = st.text("abc𝔸é名", min_size=1, max_size=6)
BITS = st.one_of(
    WORDS,
    st.sampled_from(["**", "*", "_", "__", "~~", "`", "``", "```", "\n```py\n", "[", "](", ")"]),
    st.sampled_from(
        ["https://a.b", "\n", "\n\n", " ", "\n- ", "\n  1. ", "\n> ", "\n# ", "\n---\n"]
    ),
    st.sampled_from(
        ["\n| a | b |\n|--|--|\n| c | d |\n", "![", "<https://c.d>", "\\", "&amp;", "|"]
    ),
    st.sampled_from(["    ", "\t", "\u200b", "👩‍👩‍👧‍👦"]),
    st.text(max_size=4),
)
TEXTS = st.lists(BITS, max_size=40).map("".join)
AROUND = {"bold": "**", "italic": "*", "underline": "__", "strikethrough": "~~", "spoiler": "||"}

Made = tuple[str, str, list[tuple[str, int, int]]]
"""A text, what it reads as, and its entities as types, offsets and lengths."""


def units(text: str) -> int:
    """UTF-16 code units, counted otherwise than the house does."""
    return sum(2 if ord(letter) > 0xFFFF else 1 for letter in text)


def end(entity: Entity) -> int:
    """The unit after the last."""
    return entity.offset + entity.length


def part(text: str, entity: Entity) -> str:
    """The words of an entity; fails where it parts a character."""
    data = text.encode("utf-16-le")
    return data[2 * entity.offset : 2 * end(entity)].decode("utf-16-le")


def wrapped(kind: str, inner: Made) -> Made:
    """What was made, within one more entity."""
    text, read, entities = inner
    whole = (kind, 0, units(text))
    if kind == "code":
        return text, f"`{text}`", [whole]
    if kind == "text_link":
        return text, f"[{read}](https://a.b)", [whole, *entities]
    mark = AROUND.get(kind, "")
    return text, f"{mark}{read}{mark}", [whole, *entities]


def joined(parts: list[Made]) -> Made:
    """Several one after the other, with a space between."""
    text, read, entities = "", "", []
    for n, (words, as_read, inner) in enumerate(parts):
        gap = " " if n else ""
        text, read = text + gap, read + gap + as_read
        entities += [(kind, at + units(text), length) for kind, at, length in inner]
        text += words
    return text, read, entities


KINDS = st.sampled_from([*AROUND, "text_link", "code", "url", "hashtag", "cashtag", "custom_emoji"])
MADE: st.SearchStrategy[Made] = st.recursive(
    WORDS.map(lambda word: (word, word, [])),
    lambda inner: st.one_of(
        st.builds(wrapped, KINDS, inner), st.lists(inner, min_size=1, max_size=4).map(joined)
    ),
    max_leaves=12,
)

# ---------------------------------------------------------------- inward


@given(MADE)
def test_nested_entities_become_nested_marks(made: Made) -> None:
    """However entities nest, the text reads as if each had been written by itself."""
    text, read, raw = made
    entities = [Entity(kind, at, length, url="https://a.b") for kind, at, length in raw]
    assert as_readable_markdown(text, entities) == read


@pytest.mark.parametrize(
    ("text", "entities", "read"),
    [
        ("hi @ada /stop@bot #tea", [("mention", 3, 4), ("bot_command", 8, 9)], None),
        ("𝔸 bold", [("bold", 3, 4)], "𝔸 **bold**"),
        ("a bold one", [("bold", 1, 6)], "a **bold** one"),
        ("both", [("bold", 0, 4), ("italic", 0, 4)], "***both***"),
        ("x `y` z", [("code", 2, 3)], "x `` `y` `` z"),
        ("so x = 1 ok", [("pre", 3, 5)], "so \n```\nx = 1\n```\n ok"),
        ("a\nb\nc", [("blockquote", 0, 3)], "> a\n> b\nc"),
        ("a\nb", [("expandable_blockquote", 2, 1)], "a\n> b"),
        ("quote", [("bold", 0, 5), ("blockquote", 0, 5)], "> **quote**"),
        ("left right", [("bold", 0, 6), ("italic", 3, 7)], "**lef*t r***ight"),
        ("far", [("bold", 1, 99)], "f**ar**"),
        ("none", [("bold", 2, 0), ("bold", 50, 2), ("bold", -3, 3)], "none"),
        ("secret", [("spoiler", 0, 6)], "||secret||"),
        ("soon", [("date_time", 0, 4)], "soon"),
    ],
)
def test_a_message_reads_as_markdown(
    text: str, entities: list[tuple[str, int, int]], read: str | None
) -> None:
    """Each kind of entity; those that reach too far are read as the nearest that do not."""
    found = as_readable_markdown(text, [Entity(*entity) for entity in entities])
    assert found == (text if read is None else read)


def test_people_without_a_user_name_are_called_by_their_own() -> None:
    """A text_mention reads as @ and the name; code keeps its language."""
    mention = Entity("text_mention", 4, 3, user=User(7, "Ada\n", False, "L."))
    assert as_readable_markdown("hey Ada!", [mention]) == "hey @Ada L.!"
    assert as_readable_markdown("hey you!", [Entity("text_mention", 4, 3)]) == "hey @you!"
    assert as_readable_markdown("x=1", [Entity("pre", 0, 3, language="py")]) == "```py\nx=1\n```"


@given(
    st.text(),
    st.lists(
        st.builds(
            Entity,
            st.sampled_from([*AROUND, "pre", "code", "blockquote", "text_link", "text_mention"]),
            st.integers(-3, 30),
            st.integers(-3, 30),
        ),
        max_size=8,
    ),
)
def test_any_entities_can_be_read(text: str, entities: list[Entity]) -> None:
    """Whatever comes, no letter of the text is lost, and their order stays."""
    letters = iter(as_readable_markdown(text, [e for e in entities if e.type != "text_mention"]))
    assert all(letter in letters for letter in text if not letter.isspace())
    assert isinstance(as_readable_markdown(text, entities), str)


# ---------------------------------------------------------------- outward


@given(TEXTS)
@example("**a `b` c**")
@example("> - **a**\n>   ```py\n>   x\n>   ```")
@example("[`a`](https://b.c) **[**x**](https://d.e)**")
def test_entities_are_what_telegram_takes(text: str) -> None:
    """They lie within the text, nest, part no character, and code holds and is in no style."""
    made = as_entity_text(text)
    assert made.text == made.text.strip(VOID)
    entities = made.entities
    for entity in entities:
        assert 0 <= entity.offset < end(entity) <= units(made.text)
        assert part(made.text, entity)
        assert (entity.url is not None) == (entity.type == "text_link")
    assert list(entities) == sorted(entities, key=lambda e: (e.offset, -e.length))
    for n, one in enumerate(entities):
        for other in entities[n + 1 :]:
            assert other.offset >= end(one) or end(other) <= end(one)
            if other.offset < end(one):
                assert one.type not in ("pre", "code", other.type)
                assert other.type not in ("pre", "code") or one.type == "blockquote"


@given(st.lists(st.lists(st.lists(WORDS, min_size=1).map(" ".join), min_size=1).map("\n".join)))
def test_prose_stays_as_it_is(paragraphs: list[str]) -> None:
    """Words, lines and paragraphs without markup are rendered as they were written."""
    for gap in ("\n\n", "\n\n\n"):
        assert as_entity_text(gap.join(paragraphs)) == EntityText(gap.join(paragraphs))


@given(TEXTS, st.integers(40, 90))
@example("| a | b |\n|--|--|\n" + "| c | d |\n" * 3 + "| " + "e" * 45 + " | f |", 80)
@example("#", 40)
@example("**", 40)
def test_pieces_fit_and_are_never_blank(text: str, limit: int) -> None:
    """Each message is within the limit and shows something; a text that is not blank shows."""
    found = split_into_messages(text, limit)
    for piece in found:
        assert 0 < units(piece.text) <= limit
        assert piece.text.strip(VOID)
        assert all(end(entity) <= units(piece.text) for entity in piece.entities)
    assert bool(found) == bool(text.strip(VOID))


@pytest.mark.parametrize(
    ("markdown", "text", "entities"),
    [
        ("**a** *b* ~~c~~", "a b c", [("bold", "a"), ("italic", "b"), ("strikethrough", "c")]),
        ("**a *b* c**", "a b c", [("bold", "a b c"), ("italic", "b")]),
        ("𝔸 `x` y", "𝔸 x y", [("code", "x")]),
        ("**a `b` c**", "a b c", [("bold", "a "), ("code", "b"), ("bold", " c")]),
        ("# T *i*\ntext", "T i\ntext", [("bold", "T i"), ("italic", "i")]),
        ("## **T**", "T", [("bold", "T")]),
        ("a ||b **c**|| d", "a b c d", [("spoiler", "b c"), ("bold", "c")]),
        ("**||a||** ||`x`||", "a x", [("spoiler", "a"), ("bold", "a"), ("spoiler", "x")]),
        ("a || b || c|| \\|\\|d|| `||e||`", "a || b || c|| ||d|| ||e||", [("code", "||e||")]),
        ("[a `b`](https://c.d)", "a b", [("text_link", "a b")]),
        ("![p](https://c.d) ![](https://e.f)", "p https://e.f", [
            ("text_link", "p"), ("text_link", "https://e.f"),
        ]),
        ("[a](b.md) <c@d.e> [](g.h)", "a (b.md) c@d.e g.h", []),
        ("see https://a.b", "see https://a.b", []),
        ("so [1]\n\n[1]: https://a.b", "so [1]\n\n[1]: https://a.b", []),
        ("- a\n- b\n  c\n\n  d\n  - e", "• a\n• b\n  c\n\n  d\n  • e", []),
        ("Do:\n3. a\n4. b", "Do:\n3. a\n4. b", []),
        ("Do:\n\n3. a\n   - b\n4. c", "Do:\n\n3. a\n  • b\n4. c", []),
        ("1) a\n\n- - b", "1) a\n\n• \n  • b", []),
        ("> a\n> **b**\n\nc", "a\nb\n\nc", [("blockquote", "a\nb"), ("bold", "b")]),
        ("> a\n>> b", "a\nb", [("blockquote", "a\nb")]),
        ("a\n\n---\nb", f"a\n\n{'─' * 12}\nb", []),
        ("So:\n```py\nx\n\ny\n```\nok", "So:\nx\n\ny\nok", [("pre", "x\n\ny")]),
        ("a <b>&amp; \\*", "a <b>& *", []),
        ("|`a`|b|\n|-|-|\n|cc|d|", "a   b\n--  -\ncc  d", [("pre", "a   b\n--  -\ncc  d")]),
        ("", "", []),
        ("```\n```", "", []),
    ],
)  # fmt: skip
def test_markdown_becomes_text_and_entities(
    markdown: str, text: str, entities: list[tuple[str, str]]
) -> None:
    """Each kind of markup, alone and within others."""
    made = as_entity_text(markdown)
    assert made.text == text
    assert [(entity.type, part(text, entity)) for entity in made.entities] == entities


def test_languages_and_addresses_are_kept() -> None:
    """A block has its language, a link its address."""
    made = as_entity_text("```c++ title\nx\n```\n[a](https://b.c/d?e=f)")
    assert [entity.to_dict() for entity in made.entities] == [
        {"type": "pre", "offset": 0, "length": 1, "language": "c++"},
        {"type": "text_link", "offset": 2, "length": 1, "url": "https://b.c/d?e=f"},
    ]


@pytest.mark.parametrize(
    "markdown",
    ["**a** and *b* `c`", "[a](https://b.c)", "```py\nx = 1\n```\nso", "> a\n> b", "~~a~~\n\nb"],
)
def test_what_goes_out_would_come_back_the_same(markdown: str) -> None:
    """What a mate says reads, from Telegram, as it was written."""
    made = as_entity_text(markdown)
    assert as_readable_markdown(made.text, made.entities) == markdown


def test_a_wild_text_stays_as_it_is() -> None:
    """What nests too deeply or is too long to be read as Markdown is not lost."""
    for text in (">" * 200 + " deep", "- " * 100 + "deep", "[" * 2000, "**word** " * 3000):
        made = as_entity_text(text)
        assert made == EntityText(text.strip())


@pytest.mark.parametrize(
    "markdown",
    [
        "Who? ||secret|| open",
        "Who? ||secret\n\nsecret|| open",
        "||\nsecret\n\n||open",
        "||secret || open",
        "- ||secret\n- secret\n\n> secret|| open",
        "# ||secret\n1. secret || open",
        "||use secret `secret || secret` secret|| open",
        "open ||```py\nsecret(\n\n  secret || secret)```|| open",
        "||\n```\n*secret*\n```\n|| open",
        "||| secret | secret |\n|-|-|\n| secret | secret ||| open",
        "open || open ||secret, not ended\n\nsecret",
        "||" + "secret words, " * 30 + "secret|| open",
    ],
)
def test_what_is_hidden_stays_hidden(markdown: str) -> None:
    """Over lines, in lists and code, through cuts, ended or not: every secret lies in a spoiler."""
    found = split_into_messages(markdown, 100)
    for made in found:
        assert "||" not in made.text.replace("open || open", "").replace("secret || secret", "")
        hidden = [part(made.text, one) for one in made.entities if one.type == "spoiler"]
        assert made.text.count("secret") == "".join(hidden).count("secret")
        assert "open" not in "".join(hidden)
    whole = "".join(made.text for made in found)
    assert (whole.count("secret"), whole.count("open")) == (
        markdown.count("secret"),
        markdown.count("open"),
    )


def test_what_is_hidden_behind_many_marks_stays_hidden() -> None:
    """Telegram drops what is marked behind a hundred marks: such a line takes more messages."""
    markdown = "**w** " * 110 + "||secret|| " * 90 + "open"
    found = split_into_messages(markdown)
    for made in found:
        hidden = [part(made.text, one) for one in made.entities[:100] if one.type == "spoiler"]
        assert made.text.count("secret") == "".join(hidden).count("secret")
    whole = "".join(made.text for made in found)
    assert (whole.count("w"), whole.count("secret"), whole.count("open")) == (110, 90, 1)


def test_bars_that_hide_nothing_stay_as_they_are() -> None:
    """An *or* of a program, and what stands in code, is no spoiler, though cut between the two."""
    words = "Is it a || b? " * 3 + "`a||b`, `x` || `y` and \\|\\|this\\|\\|. " * 3
    found = split_into_messages(words, 60)
    assert len(found) > 1
    assert "".join(made.text for made in found).count("||") == words.count("||") + 6
    assert not any(one.type == "spoiler" for made in found for one in made.entities)


def test_a_table_that_grows_too_wide_is_cut() -> None:
    """Columns may take more room than the table did: then there are more messages."""
    table = "|a|b|\n|-|-|\n" + "|c|d|\n" * 5 + f"|{'e' * 60}|f|"
    found = split_into_messages(table, 110)
    assert len(found) > 1
    assert all(units(piece.text) <= 110 for piece in found)
    assert "e" * 60 in "".join(piece.text for piece in found)


def test_a_text_that_is_dear_to_read_is_shown_as_it_was_written() -> None:
    """Each message of it was bounded and not all of them: eight of brackets held the home a second."""
    text = ("![" * 1400 + "x" * 1200 + "\n\n") * 8
    assert "".join(piece.text for piece in split_into_messages(text)).replace(
        "\n", ""
    ) == text.replace("\n", "")
    (spent,) = calls_of(split_into_messages, (text,))
    assert spent < 100_000
