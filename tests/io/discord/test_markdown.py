"""Words between Discord and the house: readable inward, harmless outward, code as it was."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopforge.io.discord.sending.draft_messages import CURSOR, draft_as_message
from loopforge.io.discord.text.markdown import (
    LIMIT,
    DiscordNames,
    as_discord_markdown,
    as_readable_markdown,
    mentioned_user_ids,
    split_into_messages,
    thread_name,
    webhook_name,
)
from loopforge.io.text.code_spans import find_code_spans
from loopforge.io.text.markdown_tables import align_columns

NAMES = DiscordNames(
    users={1: "Ada", 2: "<@1>", 3: "Bo\n## the `great`"},
    roles={1: "Crew"},
    channels={1: "tea-room"},
)
BITS = st.one_of(
    st.sampled_from(
        ["@everyone", "@here", "<@1>", "<@!22>", "<@&3>", "@", "<", "everyone", "here"]
    ),
    st.sampled_from(["`", "``", "```", "```py\n", "~~~\n", "````\n", "\\", "\\`", "1>", "<@"]),
    st.sampled_from(["\n", "\n\n", " ", "- ", "# ", "##### x\n", "---\n", "> ", "| a | b |\n"]),
    st.sampled_from(["|--|--|\n", "https://a.b/@here", "[x](https://a.b/c)", "@Everyone", "a"]),
    st.text(max_size=4),
)
TEXTS = st.lists(BITS, max_size=30).map("".join)
PROSE = TEXTS.map(lambda text: re.sub("`{3,}|~{3,}", "", text))
CODE = st.lists(
    st.sampled_from(
        ["@everyone", "<@1>", "#### x", "---", "| a |", "|--|", "https://a", "`", "``"]
    ),
    min_size=1,
).map("\n".join)
PING = re.compile(r"@everyone|@here|<@[!&]?\d+>", re.IGNORECASE)

ESCAPE = re.compile(r"\\[^0-9A-Za-z\s]")
BLOCK = re.compile(
    r"```(?:([a-z0-9_+\-.#]+?)\n)?\n*([^\n][\s\S]*?)\n*```", re.IGNORECASE | re.ASCII
)
SPAN = re.compile(r"(`+)([\s\S]*?[^`])\1(?!`)")


def judged(text: str) -> list[tuple[int, int]]:
    """Code as the grammar of Discord's own reader of Markdown has it, rule by rule."""
    found, at = [], 0
    while at < len(text):
        if escape := ESCAPE.match(text, at):
            at = escape.end()
        elif mark := BLOCK.match(text, at) or SPAN.match(text, at):
            found.append(mark.span())
            at = mark.end()
        else:
            at += 1
    return found


def uncoded(text: str) -> str:
    """What of a text is not code, parts set apart."""
    parts, at = [], 0
    for start, end in judged(text):
        parts.append(text[at:start])
        at = end
    return "\x00".join([*parts, text[at:]])


# ---------------------------------------------------------------- inward


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ("hi <@1> and <@!1>", "hi @Ada and @Ada"),
        ("<@&1> to <#1>!", "@Crew to #tea-room!"),
        ("<@9> <@&9> <#9>", "@somebody @a-role #a-channel"),
        ("<:tea:1><a:party_cat:22>", ":tea::party_cat:"),
        ("</remind me:1>", "/remind me"),
        ("<id:browse> <id:linked-roles:5>", "#Browse #Linked Roles"),
        ("<t:0> <t:0:t> <t:0:T>", "1 January 1970, 00:00 UTC 00:00 UTC 00:00:00 UTC"),
        ("<t:1772442309:F>", "Monday, 2 March 2026, 09:05 UTC"),
        ("<t:1772442309:D>, <t:-1:R>", "2 March 2026, 31 December 1969, 23:59 UTC"),
        ("<t:9999999999999>", "<t:9999999999999>"),
        ("`<@1>` ```\n<#1>\n``` ``<@1>``", "`<@1>` ```\n<#1>\n``` ``<@1>``"),
        ("```\n<@1> is not closed", "```\n@Ada is not closed"),
        ("\\<@1> <https://a.b/<@1> @everyone", "\\<@1> <https://a.b/@Ada @everyone"),
    ],
)
def test_marks_are_read_as_names(content: str, read: str) -> None:
    """Each kind of mark becomes what Discord shows; code and what is escaped stay as they are."""
    assert as_readable_markdown(content, NAMES) == read


def test_a_name_is_never_read_as_a_mark() -> None:
    """A person called like a mark stays that person; a name is one line."""
    assert as_readable_markdown("<@2><@3>", NAMES) == "@<@1>@Bo ## the `great`"


def test_the_mentioned_are_told_once_in_order() -> None:
    """People outside code, each once; a name is not a mention."""
    content = "<@5> <@!2> <@5> `<@7>` <@&4> @everyone \\<@8> <@&4>"
    assert mentioned_user_ids(content) == (5, 2)
    assert mentioned_user_ids("nobody") == ()


@given(TEXTS)
def test_code_is_found_where_discord_finds_it(text: str) -> None:
    """The quick reader of code agrees with Discord's rules, applied one by one."""
    assert list(find_code_spans(text)) == judged(text)


@given(TEXTS)
def test_any_message_can_be_read(text: str) -> None:
    """No known mark is left outside code, and code is left alone."""
    read = as_readable_markdown(text, DiscordNames())
    for start, end in judged(text):
        assert text[start:end] in read
    if "\\" not in text and "`" not in text:
        assert not re.search(r"<@[!&]?[0-9]{1,20}>", read)


# ---------------------------------------------------------------- outward


@given(TEXTS)
@example("`@everyone` @everyone ```\n@here\n")
def test_no_ping_survives_outside_code(text: str) -> None:
    """Whatever a model writes, nothing that Discord does not show as code rings a bell."""
    assert not PING.search(uncoded(as_discord_markdown(text)))


@given(TEXTS, st.integers(40, 90))
@example("`" + "a " * 30 + "@everyone" + " a" * 30 + "`", 40)
def test_no_ping_survives_a_cut(text: str, limit: int) -> None:
    """The same for each message, though a cut goes through code; none is blank or too long."""
    for piece in split_into_messages(text, limit):
        assert not PING.search(uncoded(piece))
        assert len(piece.encode("utf-16-le")) // 2 <= limit
        assert piece.strip()


@given(st.lists(st.tuples(PROSE, CODE, st.sampled_from(["```", "~~~", "````"])), max_size=5))
def test_code_is_never_altered(parts: list[tuple[str, str, str]]) -> None:
    """A block of code is shown as code as it was written, whatever stands before it."""
    text = "\n".join(f"{prose}\n{mark}py\n{code}\n{mark}" for prose, code, mark in parts)
    written = as_discord_markdown(text)
    found = [written[start:end] for start, end in judged(written)]
    assert [span for span in found if span.startswith("```py")] == [
        f"```py\n{code}\n```" for _, code, _ in parts
    ]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Plain *words*, **bold**, `code` and ||spoilers||.", None),
        ("# One\n## Two\n### Three\n- a\n  - b\n1. c\n> d", None),
        ("#### Four\n###### **Six** #", "**Four**\n**Six**"),
        ("#### C#\n#### #", "**C#**\n#### #"),
        ("#### A `**` in **it**", "A `**` in **it**"),
        ("a\n\n---\n\n* * *\nb", f"a\n\n{'─' * 12}\n\n{'─' * 12}\nb"),
        ("@everyone and @here", "@\u200beveryone and @\u200bhere"),
        ("<@1> <@!2> <@&3> <#4>", "<@\u200b1> <@\u200b!2> <@\u200b&3> <#4>"),
        ("`@everyone <@1>`", None),
        ("```py\n#### @here\n---\n```", None),
        ("text ```a\n#### b\n#### c``` text\n#### d", "text ```a\n#### b\n#### c``` text\n**d**"),
        ("~~~python\n@here\n~~~", "```python\n@here\n```"),
        ("````c sharp\n@here\n````", "```c\n@here\n```"),
        ("```\nopen @here", "```\nopen @here\n```"),
        ("it`s\n```\na `b`\n```", "it\\`s\n```\na `b`\n```"),
        ("- ```py\n  @here\n  ```\n#### a", "- ```py\n  @here\n```\n**a**"),
        ("- ```py\n  @here\n#### a", "- ```py\n  @here\n```\n**a**"),
        ("``a`\n```\n``\n```", "\\``a`\n```\n``\n```"),
        ("https://a.b/@here?q=<x", "https://a.b/%40here?q=<x"),
        ("[x](https://a.b/@here) <https://a.b/@x>", "[x](https://a.b/%40here) <https://a.b/@x>"),
        ("- a https://a.b. And", None),
    ],
)
def test_markdown_becomes_what_discord_knows(text: str, written: str | None) -> None:
    """What Discord knows stays; deep headings, rules, other fences and pings are written anew."""
    assert as_discord_markdown(text) == (text if written is None else written)


def test_a_table_becomes_columns() -> None:
    """A table is shown as a block of code with its cells in columns, wide letters counted."""
    text = "Stock:\n| Name | *Qty* |\n|:--|--:|\n| `tea` | 1 |\n| 名前 | @here |\n\nThat is all."
    assert as_discord_markdown(text) == (
        "Stock:\n```\nName  Qty\n----  -----\ntea   1\n名前  @here\n```\n\nThat is all."
    )
    assert as_discord_markdown("| a |\n| b |") == "| a |\n| b |"
    wide = align_columns([["a" * 60, "b"], ["c", "d" * 60]]).split("\n")
    assert wide == [f"{'a' * 60} | b", "-" * 12, f"c | {'d' * 60}"]
    assert align_columns([["e\u0301名", "b"], ["👩\u200d👧", "c"]]).split("\n") == [
        "e\u0301名  b",
        "---  -",
        "👩\u200d👧   c",
    ]


def test_a_long_answer_is_cut_into_messages() -> None:
    """Two thousand units each; nothing of a blank text is sent."""
    cut = split_into_messages("Word after word. " * 400)
    assert [len(piece) <= LIMIT for piece in cut] == [True] * 4
    assert "".join(cut).count("after") == 400
    assert split_into_messages(" \n\u200b") == ()


# ---------------------------------------------------------------- names


@given(st.one_of(st.text(), TEXTS))
@example("clydediscord" * 10)
@example("dis\u200bcord")
@example("everyone")
@example("a" + "\u0301" * 200)
def test_any_mate_can_speak(name: str) -> None:
    """For any name there is one that Discord takes."""
    written = webhook_name(name)
    assert 1 <= len(written.encode("utf-16-le")) // 2 <= 80
    assert not re.search(r"[@#:`\n]|clyde|discord", written, re.IGNORECASE)
    assert written == written.strip() != ""
    assert written.casefold() not in ("everyone", "here")
    assert webhook_name(written) == written


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Maya", "Maya"),
        ("Zoë 👩‍🚀 der Größte", "Zoë 👩‍🚀 der Größte"),
        ("Bonnie and Clyde", "Bonnie and C·lyde"),
        ("DiscordFan", "Dis·cordFan"),
        ("@R2:D2 #5", "R2-D2 5"),
        ("山田　太郎", "山田 太郎"),
        ("here", "here (mate)"),
        ("\u200b", "mate"),
    ],
)
def test_a_mate_keeps_as_much_of_its_name_as_may_be(name: str, written: str) -> None:
    """A name that Discord takes stays as it is; another is changed where it must be."""
    assert webhook_name(name) == written


@given(st.one_of(st.text(), TEXTS))
def test_any_text_gives_a_thread_its_name(text: str) -> None:
    """One line, not blank, a hundred units at most."""
    name = thread_name(text)
    assert 1 <= len(name.encode("utf-16-le")) // 2 <= 100
    assert len(name.splitlines()) == 1
    assert name == name.strip()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("\n\n## **Plan** for `tea`\nmore", "Plan for tea"),
        ("- [ ] see [the doc](https://a.b)", "[ ] see the doc"),
        ("1. first", "first"),
        ("", "A thread"),
        ("word " * 30, "word " * 18 + "word…"),
        ("x" * 200, "x" * 99 + "…"),
    ],
)
def test_a_thread_is_called_by_its_first_line(text: str, name: str) -> None:
    """Marks of Markdown are left out; a long line ends at a word."""
    assert thread_name(text) == name


@pytest.mark.timeout(20)
def test_a_draft_is_read_as_far_as_it_shows() -> None:
    """A million backticks behind it change nothing, and are not laid out at each look."""
    draft = draft_as_message("Snails. " * 400 + "`" * 1_000_000)
    assert draft == draft_as_message("Snails. " * 400)
    assert draft.endswith(CURSOR)


def test_a_draft_hides_what_begins_on_a_line_of_its_own() -> None:
    """Bars before a line break hide what comes, though nothing ends them yet."""
    assert draft_as_message("Who? ||\nThe cook").startswith("Who? ||\nThe cook||")
    assert draft_as_message("a ||").startswith("a || ")
