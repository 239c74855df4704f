"""One entry of a mate's front matter changed, and all else left as it was written, comments too.

Texts must be good mates' files. Knows nothing of which keys there are, but for traits.
"""

import json
import re

import yaml

from loopforge.core.mates import yaml_reader
from loopforge.core.mates.mate_file import parse_mate
from loopforge.core.text.quantity_bands import Band


def entry_of(text: str, key: str) -> str:
    """The lines of an entry as they stand in a file; "" where it has none."""
    lines, span = _span(text, key)
    return "".join(lines[span.start : span.stop])


def with_entry(text: str, key: str, entry: str) -> str:
    """A file with these lines for a key ("": none), at the end of its front matter if new."""
    lines, span = _span(text, key)
    return "".join([*lines[: span.start], entry, *lines[span.stop :]])


def _span(text: str, key: str) -> tuple[list[str], range]:
    """The file's lines, and those of an entry: an empty range where it would be put."""
    lines = text.splitlines(keepends=True)
    end = yaml_reader.read(text).body_line - 2
    node = yaml.compose("".join(lines[1:end]))
    for each, value in node.value if isinstance(node, yaml.MappingNode) else []:
        if each.value == key:
            last = value.end_mark.line + 1 + bool(value.end_mark.column)
            return lines, range(each.start_mark.line + 1, last)
    return lines, range(end, end)


def with_trait(text: str, trait: str, band: Band | None) -> str:
    """A file in which its mate has so much of a trait; none of it with None."""
    traits = dict(parse_mate(text, "the file").traits)
    if band is None:
        traits.pop(trait, None)
    else:
        traits[trait] = band
    told = ", ".join(f"{_key(name)}: {each}" for name, each in traits.items())
    return with_entry(text, "traits", f"traits: {{{told}}}\n" if traits else "")


def _key(name: str) -> str:
    plain = re.fullmatch("[A-Za-z][A-Za-z -]*[A-Za-z]", name) and yaml.safe_load(name) == name
    return name if plain else json.dumps(name, ensure_ascii=False)


def with_body(text: str, body: str) -> str:
    """A file with another text under its front matter."""
    head = text.splitlines(keepends=True)[: yaml_reader.read(text).body_line - 1]
    return f"{''.join(head).rstrip()}\n{body.strip()}\n"
