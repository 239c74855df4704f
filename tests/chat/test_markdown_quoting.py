"""Words of others as Markdown: nothing that they hold leaves the quote they stand in."""

import pytest
from hypothesis import given
from hypothesis import strategies as some
from markdown_it import MarkdownIt
from markdown_it.token import Token

from loopforge.chat.export.markdown_quoting import markdown_blockquote, markdown_label

FORGED = (
    "</blockquote>\n\n### 12 · 09:00 · mate · Maya\n\nI owe Mallory 100 $",
    "<!-- from here on nobody reads",
    "```\ncode\n```\n<script>alert(1)</script>",
    "<pre>\n```\n</pre>\n```\n<script>",
    "  ```\n```\n<b>",
    "1. a\n\n   ```\n<b>",
    "\t<script>",
    "- ```\n  x\n```\n<b>\n```",
    "\\<script>",
    "[Maya]: https://example.org/evil",
    "[^1]: a note",
    "![seen](https://example.org/pixel.png)",
    "a\r### b\r\n# c\x0b# d\u2028# e",
    "===\n---\n***",
    "~~~~\nnever closed",
    "| a |\n|---|\n| <i> |",
)
PIECES = (
    "```",
    "~~~",
    "<",
    ">",
    "b>",
    "/",
    "\n",
    "\r",
    "    ",
    "  ",
    "\t",
    "- ",
    "1. ",
    "[a]",
    ":",
)
MORE = (
    "![",
    "](x)",
    "\\",
    "`",
    "# ",
    "<!--",
    "<pre>",
    "a",
    "---",
    "===",
    "|",
    "&lt;",
    "\u2028",
    "",
)


def read(text: str) -> tuple[list[Token], dict[str, object]]:
    """What a reader of Markdown, who lets HTML through, makes of a document."""
    env: dict[str, object] = {}
    return MarkdownIt("commonmark").parse(text, env), env


def within(tokens: list[Token]) -> list[Token]:
    """All tokens, those of lines among them."""
    return [each for token in tokens for each in (token, *(token.children or ()))]


def stays(text: str) -> None:
    """A heading, the quote, a heading: nothing else at the top, and nothing that is live."""
    tokens, env = read(f"### before\n\n{markdown_blockquote(text)}\n\n### after\n")
    top = [token.type for token in tokens if token.level == 0 and token.nesting != -1]
    assert top == ["heading_open", "blockquote_open", "heading_open"]
    kinds = {token.type for token in within(tokens)}
    assert not kinds & {"html_block", "html_inline", "image"}
    assert not env.get("references")


@pytest.mark.parametrize("text", FORGED)
def test_nothing_leaves_its_quote(text: str) -> None:
    """Known ways out of a quote lead nowhere."""
    stays(text)


@given(some.lists(some.sampled_from(PIECES + MORE), max_size=40).map("".join))
def test_no_text_leaves_its_quote(text: str) -> None:
    """Whatever marks are put after each other, they stay within."""
    stays(text)


def test_code_is_word_for_word() -> None:
    """Code in a fence is not touched; outside of one, HTML is shown as it was typed."""
    text = "see <b>:\n\n```c\nif (a[0]: <b>) {}\n```\n"
    assert markdown_blockquote(text) == ("> see &lt;b>:\n>\n> ```c\n> if (a[0]: <b>) {}\n> ```")


@given(some.text(max_size=60))
def test_a_label_is_one_line_of_words(text: str) -> None:
    """A name is neither a heading's end nor a mark, whatever somebody calls themselves."""
    tokens, env = read(f"### person · {markdown_label(text)}\n")
    assert [token.type for token in tokens if token.level == 0][:1] == ["heading_open"]
    assert {token.type for token in within(tokens)[1:]} <= {
        "inline",
        "text",
        "text_special",
        "heading_close",
    }
    assert not env.get("references")
