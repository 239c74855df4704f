"""Prose: a line's text as a terminal shows it, with the little markup that models like to write.

Code, bold, italics, headings, list marks, links and @names are set off; everything else stands as
it was written. Text is made harmless first.
"""

from __future__ import annotations

import re

from textual.content import Content

from loopforge.io.typed import visible

_FENCE = re.compile(r"^\s*```(\w*)\s*$")
_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|\*\*(?P<bold>[^*\n]+)\*\*"
    r"|(?<![\w*])\*(?P<slant>[^*\s][^*\n]*)\*(?![\w*])"
    r"|(?P<link>https?://[^\s<>()\]]+)"
    r"|(?<![\w@.])@(?P<name>[\w-]+)"
)
_HEADING = re.compile(r"^#{1,6}\s+(?=\S)")
_BULLET = re.compile(r"^(\s*)[-*]\s+(?=\S)")

CODE = "$code on $code-ground"


def prose(text: str, names: dict[str, str] | None = None) -> Content:
    """The text as Content. `names` are colours of handles, for @names."""
    parts: list[Content | str | tuple[str, str]] = []
    fenced = False
    lines = visible(text).strip("\n").split("\n")
    for n, line in enumerate(lines):
        end = "\n" if n < len(lines) - 1 else ""
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced:
            parts += [("▏", "$code 60%"), (line, "$code"), end]
        else:
            parts += [*_line(line, names or {}), end]
    if parts and parts[-1] == "\n":
        parts.pop()
    return Content.assemble(*parts)


def _line(line: str, names: dict[str, str]) -> list[Content | str | tuple[str, str]]:
    if heading := _HEADING.match(line):
        return [(line[heading.end() :], "bold")]
    if bullet := _BULLET.match(line):
        return [f"{bullet[1]}• ", *_inline(line[bullet.end() :], names)]
    return _inline(line, names)


def _inline(line: str, names: dict[str, str]) -> list[Content | str | tuple[str, str]]:
    parts: list[Content | str | tuple[str, str]] = []
    at = 0
    for found in _INLINE.finditer(line):
        kind = found.lastgroup or ""
        word = found[kind]
        if kind == "name":
            colour = names.get(word.casefold())
            if colour is None:
                continue
            styled = (found[0], f"bold {colour}")
        else:
            style = {"code": CODE, "bold": "bold", "slant": "italic", "link": "underline"}[kind]
            styled = (word, style)
        parts += [line[at : found.start()], styled]
        at = found.end()
    parts.append(line[at:])
    return parts
