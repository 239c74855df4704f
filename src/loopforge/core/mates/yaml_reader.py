"""Front matter: the YAML head of a Markdown file, read so that every flaw has its line.

    ---                 line 1
    name: Maya          YAML, one mapping, no aliases, no tags
    ---
    You are Maya.       the body, Markdown

All flaws are collected, none is raised. Lines count from 1 and lie within the file. Knows nothing
of what the keys mean.
"""

import re
from typing import Any, NamedTuple

import yaml
from yaml.error import MarkedYAMLError
from yaml.reader import ReaderError

LARGEST, LARGEST_HEAD = 256 * 1024, 64 * 1024
"""Bytes of a file, and of its head; one that is larger is taken for a mistake."""
DEEPEST = 6
FENCE = "---"

STRANGE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufeff\ufffe\uffff]"
)
"""Control characters, line breaks no editor shows, marks that turn the direction of writing."""

_UNQUOTED = (
    "a value that begins with @, `, %, *, -, ?, | or another such sign needs quotes around it"
)
_PLAIN = (
    (r"'\t' that cannot start any token", "a tab stands where YAML wants spaces; use spaces"),
    ("cannot start any token", _UNQUOTED),
    ("while scanning an alias", _UNQUOTED),
    ("while scanning a block scalar", _UNQUOTED),
    ("expected the node content", _UNQUOTED),
    ("sequence entries are not allowed", _UNQUOTED),
    ("mapping keys are not allowed", _UNQUOTED),
    (
        "but found '<scalar>'",
        "a value goes on behind its closing quote or bracket; put double quotes around all of it",
    ),
    (
        "mapping values are not allowed",
        "a colon too many, or odd indentation; put a value with a colon in it in quotes",
    ),
    ("could not find expected ':'", "this is no `key: value`; perhaps the colon is missing"),
    ("expected <block end>", "this line does not fit under the one before; mind the indentation"),
    ("while scanning a quoted scalar", "a quotation mark is opened and never closed"),
    ("unexpected end of stream", "a quotation mark is opened and never closed"),
    ("expected ',' or ']'", "a list that opens with [ is not closed with ]"),
    ("expected ',' or '}'", "a mapping that opens with { is not closed with }"),
    ("but found another document", "there is more than one YAML document in the front matter"),
)
"""What YAML's own errors mean, in plain words."""


class FrontMatterFlaw(NamedTuple):
    """Something wrong with a file: in which line, and what to do."""

    line: int
    problem: str


class FrontMatterField(NamedTuple):
    """One `key: value` of the head, and the line it stands in."""

    key: str
    line: int
    node: yaml.Node


class FrontMatterFile(NamedTuple):
    """A file taken apart. `fields` by key in their order; `body_line` is where the body begins."""

    fields: dict[str, FrontMatterField]
    body: str
    body_line: int
    flaws: tuple[FrontMatterFlaw, ...]


class _Refused(MarkedYAMLError):
    """A construct that is fine YAML and is not wanted here."""


class _Loader(yaml.SafeLoader):
    """Composes nodes; refuses aliases (a billion laughs needs them) and deep nesting."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise _Refused(
                problem="write the value out; aliases (*) are refused", problem_mark=mark
            )
        if self.depth >= DEEPEST:
            raise self._refusal("this is nested too deeply")
        self.depth += 1
        try:
            node: yaml.Node | None = super().compose_node(parent, index)
        finally:
            self.depth -= 1
        return node

    def _refusal(self, problem: str) -> _Refused:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        return _Refused(problem=problem, problem_mark=event.start_mark)


def read(text: str | bytes) -> FrontMatterFile:
    """Take a file apart."""
    if len(text) > LARGEST:
        return _nothing(
            FrontMatterFlaw(1, f"the file is too large; at most {LARGEST} bytes are read")
        )
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            return _nothing(FrontMatterFlaw(line, "this is not UTF-8 text; save the file as UTF-8"))
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    flaws = _strange(text)
    lines = STRANGE.sub(" ", text).split("\n")
    if lines[0].rstrip() != FENCE:
        opens = FrontMatterFlaw(
            1, "a mate's file begins with its front matter; make the first line ---"
        )
        return _nothing(*flaws, opens)
    close = next((n for n, line in enumerate(lines) if n and line.rstrip() == FENCE), None)
    if close is None:
        never = FrontMatterFlaw(
            1, "the front matter is never closed; put a line --- under its last entry"
        )
        return _nothing(*flaws, never)
    head = "\n".join(lines[1:close])
    if len(head) > LARGEST_HEAD:
        return _nothing(
            FrontMatterFlaw(1, f"the front matter is too large; {LARGEST_HEAD} bytes are read")
        )
    fields, wrong = _head(head, close + 1)
    body = "\n".join(lines[close + 1 :]).strip()
    return FrontMatterFile(fields, body, min(close + 2, len(lines)), (*flaws, *wrong))


def _nothing(*flaws: FrontMatterFlaw) -> FrontMatterFile:
    return FrontMatterFile({}, "", 1, flaws)


def _strange(text: str) -> list[FrontMatterFlaw]:
    """The first strange character of each line."""
    flaws = []
    for number, line in enumerate(text.split("\n"), 1):
        if found := STRANGE.search(line):
            code = f"U+{ord(found[0]):04X}"
            flaws.append(
                FrontMatterFlaw(number, f"an invisible character ({code}) stands here; delete it")
            )
    return flaws[:20]


def _head(head: str, last: int) -> tuple[dict[str, FrontMatterField], list[FrontMatterFlaw]]:
    """The fields of the YAML, which begins in line 2, and what is wrong with it."""
    loader = _Loader(head)
    try:
        node = loader.get_single_node()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return {}, [FrontMatterFlaw(min(last, mark.line + 2) if mark else 2, _said(error))]
    except (ReaderError, yaml.YAMLError, ValueError) as error:
        return {}, [FrontMatterFlaw(2, f"the front matter is no YAML ({_short(str(error))})")]
    finally:
        loader.dispose()
    if node is None:
        return {}, []
    if not isinstance(node, yaml.MappingNode):
        return {}, [
            FrontMatterFlaw(2, "the front matter is a list of `key: value` lines; this is none")
        ]
    return _fields(node, last)


def _fields(
    node: yaml.MappingNode, last: int
) -> tuple[dict[str, FrontMatterField], list[FrontMatterFlaw]]:
    fields: dict[str, FrontMatterField] = {}
    flaws = []
    for key, value in node.value:
        line = min(last, key.start_mark.line + 2)
        if not isinstance(key, yaml.ScalarNode):
            flaws.append(FrontMatterFlaw(line, "a key is one word, followed by a colon"))
        elif key.value in fields:
            first = fields[key.value].line
            flaws.append(
                FrontMatterFlaw(line, f"`{key.value}` stands in line {first} already; keep one")
            )
        else:
            fields[key.value] = FrontMatterField(key.value, line, value)
    return fields, flaws


def _said(error: MarkedYAMLError) -> str:
    """A YAML error in plain words, or at least in its own."""
    if isinstance(error, _Refused):
        return str(error.problem)
    told = f"{error.context or ''} {error.problem or ''}"
    for sign, plain in _PLAIN:
        if sign in told:
            return plain
    return f"this is no YAML ({_short(error.problem or 'it cannot be read')})"


def _short(text: str) -> str:
    return " ".join(text.split())[:120]


# ---------------------------------------------------------------- values, with their lines


def line_of(node: yaml.Node) -> int:
    """The line of the file a value begins in."""
    return int(node.start_mark.line) + 2


def word(node: yaml.Node) -> str | None:
    """A value as the words that stand there (No, 7 and 2026-01-01 too); None if it is none."""
    if not isinstance(node, yaml.ScalarNode) or kind(node) not in (
        "str",
        "int",
        "float",
        "bool",
        "timestamp",
    ):
        return None
    return str(node.value)


def number(node: yaml.Node) -> float | int | None:
    """A value as a finite number; None if it is none."""
    if not isinstance(node, yaml.ScalarNode) or kind(node) not in ("int", "float"):
        return None
    try:
        return int(node.value) if kind(node) == "int" else float(node.value)
    except ValueError:
        return None


def truth(node: yaml.Node) -> bool | None:
    """A value as yes or no; None if it is neither."""
    written = str(node.value).lower() if kind(node) == "bool" else ""
    return {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}.get(
        written
    )


def kind(node: yaml.Node) -> str:
    """The kind of a value: str, int, float, bool, null, timestamp, seq, map, or "" for others."""
    prefix = "tag:yaml.org,2002:"
    tag = str(node.tag)
    return tag.removeprefix(prefix) if tag.startswith(prefix) else ""
