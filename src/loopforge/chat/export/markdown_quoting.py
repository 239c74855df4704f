"""What somebody wrote, as Markdown that stays within the quote that it stands in.

    a text    every line of it in one block quote; its Markdown is read there, code word for word
    a label   a name or a title within a line, in which nothing is a mark

Whatever stands in a quote, no heading, list or line of the document itself can be made of it. Pages
of HTML, pictures that are fetched from elsewhere, and definitions that change the links of others'
words are made plain, so a browser or an editor may show the file. Pure.
"""

import re

from markdown_it import MarkdownIt

from loopforge.core.text.name_labels import one_line

LONGEST_LABEL = 300
LONGEST = 100_000
"""Characters of a text in which code is looked for; of a longer one, no code is word for word."""

_MARKS = re.compile(r"([\\`*_\[\]#|<>~&$^]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
"""What is a mark within a line; at the beginning of one no label stands."""
_PLAIN = (("<", "&lt;"), ("![", "!&#91;"), ("]:", "]&#58;"))
"""Where HTML, a picture or a definition could begin. An entity is never a mark."""
_BLOCKS = MarkdownIt("commonmark", {"maxNesting": 20}).disable(["html_block", "reference"])
_BLOCKS.core.ruler.enableOnly(["normalize", "block"])


def markdown_blockquote(text: str) -> str:
    """The text as one block quote, without the line's end."""
    lines = [f"> {line}".rstrip() for line in text.splitlines()] or [">"]
    code = _code(lines) if len(text) <= LONGEST else frozenset()
    return "\n".join(line if n in code else _plain(line) for n, line in enumerate(lines))


def _code(lines: list[str]) -> frozenset[int]:
    """The lines within fences that stand in the quote itself, as whoever shows it will read them.

    Neither HTML nor definitions are looked for: none is left of them outside of these lines.
    """
    found: set[int] = set()
    for token in _BLOCKS.parse("\n".join(lines)):
        if token.type == "fence" and token.level == 1 and token.map is not None:
            found.update(range(token.map[0] + 1, token.map[1]))
    return frozenset(found)


def _plain(line: str) -> str:
    for mark, entity in _PLAIN:
        line = line.replace(mark, entity)
    return line


def markdown_label(text: str) -> str:
    """A name or a title: one line in which nothing is a mark."""
    return _MARKS.sub(r"\\\1", one_line(text, LONGEST_LABEL))
