r"""Reading an object while it is being written, as models write it.

    raw text --feed--> a place in a grammar, kept between pieces --> `words`: the field so far

The grammar is JSON with the liberties that language models take: a code fence or a list around the
object, the object inside another one ("answer", "arguments"), keys and strings in single, curly or
no quotation marks, quotation marks within words that are not escaped, line breaks in strings,
commas too many or missing, True and None. What is valid JSON is read as JSON.

What `words` shows stays: it is the beginning of what is read in the end. So a field is shown only
of an object that opens the text; what stands behind other words may turn out to be a thought. And
where a yes or no stands before the words (`gate`), they are shown once it is yes.

Each sign is looked at once, however the text comes in pieces. Knows only the first object that
holds the field; what a text without one means is lenient_json.py's to say.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any, Literal, TypeVar

from loopforge.core.text.thought_stripping import Thoughts

WRAPPERS = frozenset(
    (
        *("answer", "response", "reply", "message", "output", "result", "content", "data"),
        *("arguments", "parameters", "input", "properties", "json", "object"),
        *("function", "function_call", "tool_call", "tool_calls"),
    )
)
"""Keys under which models put the object they were asked for."""
DEEPEST = 24
"""Objects and lists in each other; what goes deeper is no answer."""
AHEAD = 120
"""Signs looked at behind a quotation mark, to see whether it closes its string."""

_CLOSING = {'"': '"', "'": "'", "“": "”", "”": "”", "‘": "’", "`": "`"}
_PLAIN = re.compile(r"[^\\\"'”’`]+")
_SPACE = re.compile(r"[\s\ufeff]+")
_WORD = re.compile(r"[\w$.-]+")
_BARE = re.compile(r"[^,{}\[\]\n\"“]+")
_KEY = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|“[^”]*”|‘[^’]*’|[A-Za-z_]\w*)\s*:""", re.DOTALL
)
_MAYBE_KEY = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*(?:\\|"\s*)?|'(?:[^'\\]|\\.)*(?:\\|'\s*)?|“[^”]*(?:”\s*)?|‘[^’]*(?:’\s*)?"""
    r"""|[A-Za-z_]\w*\s*)\Z""",
    re.DOTALL,
)
_QUOTED_KEY = re.compile(r"""["'“‘]\w+["'”’]\s*:""")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": ""}
_NAMES: dict[str, Any] = {"true": True, "false": False, "null": None, "none": None, "nil": None}

T = TypeVar("T")
Reading = Generator[None, None, T]
Where = Literal["", "object", "list"]


class _Broken(Exception):
    """This is no object."""


class Partial:
    """Reads for the first object that has `field`.

    `found` is that object as far as it is read, `outermost` the first object there was (`opens`:
    with it the text begins), `closed` whether it came to its end, `whole` whether the field did.
    `prose`: other words stand before. `damaged`: it is no JSON. `end` once when no more comes.
    """

    def __init__(self, field: str, gate: str = "", *, depth: int = 0) -> None:
        self.field, self.gate = field, gate
        self.found: dict[str, Any] | None = None
        self.outermost: dict[str, Any] | None = None
        self.value: Any = None
        self.whole = self.prose = self.damaged = self.wrapped = self.closed = self.opens = False
        self._depth = depth
        self._thoughts = Thoughts()
        self._text, self._at, self._ended = "", 0, False
        self._shown: list[str] = []
        self.length = 0
        self._reading: Reading[None] | None = self._document()
        self._go()

    # ------------------------------------------------------------ from outside

    def feed(self, piece: str) -> None:
        """Read on."""
        self._take(self._thoughts.feed(piece))

    def end(self) -> None:
        """Nothing more comes."""
        self._take(self._thoughts.rest())
        self._ended = True
        self._go()

    @property
    def words(self) -> str:
        """The field's text as far as it may be shown."""
        if self.prose or (self.gate and not yes((self.found or {}).get(self.gate))):
            return ""
        return "".join(self._shown)

    def _take(self, text: str) -> None:
        if text and self._reading is not None:
            self._text, self._at = self._text[self._at :] + text, 0
            self._go()

    def _go(self) -> None:
        """Let the grammar run until it waits for more, or is done."""
        if self._reading is None:
            return
        try:
            next(self._reading)
        except StopIteration:
            self._reading = None

    # ------------------------------------------------------------ single signs

    def _peek(self) -> Reading[str]:
        """The next sign; "" at the end."""
        while self._at >= len(self._text):
            if self._ended:
                return ""
            yield
        return self._text[self._at]

    def _ahead(self, count: int) -> Reading[str]:
        """Up to so many next signs; fewer only at the end."""
        while len(self._text) - self._at < count and not self._ended:
            yield
        return self._text[self._at : self._at + count]

    def _run(self, pattern: re.Pattern[str]) -> Reading[str]:
        """All signs from here that match, a run that may go on in the next piece."""
        found: list[str] = []
        while (yield from self._peek()):
            match = pattern.match(self._text, self._at)
            if match is None:
                break
            found.append(match[0])
            self._at = match.end()
        return "".join(found)

    def _space(self) -> Reading[str]:
        """Skip blanks and comments; the sign that follows."""
        while True:
            yield from self._run(_SPACE)
            if (yield from self._peek()) != "/" or (yield from self._ahead(2)) != "//":
                return (yield from self._peek())
            self.damaged = True
            while (yield from self._peek()) not in ("", "\n"):
                self._at += 1

    # ------------------------------------------------------------ the document

    def _document(self) -> Reading[None]:
        while sign := (yield from self._space()):
            if sign == "`" and (yield from self._ahead(3)) == "```":
                self.damaged = True
                while (sign := (yield from self._peek())) and sign not in '\n{["':
                    self._at += 1
            elif sign in '{["':
                yield from self._attempt(sign)
                if self.found is not None:
                    return
            else:
                self.prose = True
                while (yield from self._peek()) not in ("", "{", "["):
                    self._at += 1

    def _attempt(self, sign: str) -> Reading[None]:
        """Read a value here, if it is one."""
        if sign == '"' and self.prose:
            self._at += 1
            return
        try:
            value = yield from self._value(wrapper=True, deep=0)
        except _Broken:
            self.prose = self.prose or self.found is None
            self.damaged = True
            return
        if self.found is None:
            alone = not self.prose and (yield from self._space()) in ("", "`")
            self.value, self.prose = value if alone else None, True

    # ------------------------------------------------------------ values

    def _value(
        self, *, wrapper: bool, deep: int, where: Where = "", spoken: bool = False
    ) -> Reading[Any]:
        if deep > DEEPEST:
            raise _Broken
        sign = yield from self._space()
        if sign == "{":
            return (yield from self._object(wrapper=wrapper, deep=deep))
        if sign == "[":
            return (yield from self._list(wrapper=wrapper, deep=deep))
        if sign in _CLOSING and sign:
            text = yield from self._string(spoken=spoken, where=where)
            return self._within(text) if wrapper else text
        return (yield from self._name(spoken=spoken))

    def _within(self, text: str) -> Any:
        """A string that may hold the object itself, written as text in its turn."""
        if self.found is None and self._depth < 2 and text.lstrip()[:1] in (*'{["',):
            inner = Partial(self.field, depth=self._depth + 1)
            inner.feed(text)
            inner.end()
            if inner.found is not None and not inner.prose:
                self.found, self.whole, self.wrapped = inner.found, inner.whole, True
                self.damaged = True
        return text

    def _object(self, *, wrapper: bool, deep: int) -> Reading[dict[str, Any]]:
        made: dict[str, Any] = {}
        if self.outermost is None and wrapper:
            self.outermost, self.opens = made, not self.prose
        self._at += 1
        while True:
            sign = yield from self._space()
            if sign == "":
                return made
            if sign == "}":
                self._at += 1
                sought = self.outermost if self.found is None else self.found
                self.closed = self.closed or made is sought
                return made
            if sign in ",;":
                self._at += 1
                continue
            try:
                yield from self._member(made, wrapper=wrapper, deep=deep)
            except _Broken:
                if self.found is None:
                    raise
                self.damaged = True
                return made

    def _member(self, made: dict[str, Any], *, wrapper: bool, deep: int) -> Reading[None]:
        sign = yield from self._peek()
        if sign in _CLOSING:
            key = yield from self._string(spoken=False, where="")
        else:
            self.damaged = True
            key = yield from self._run(_WORD)
            if not key:
                raise _Broken
        if (yield from self._space()) not in (":", "="):
            if (yield from self._peek()) == "":
                return
            raise _Broken
        self._at += 1
        key = key.strip().casefold()
        if wrapper and key == self.field and self.found is None:
            self.found, self.wrapped, self.closed = made, deep > 0, False
            made[key] = yield from self._value(
                wrapper=False, deep=deep + 1, where="object", spoken=True
            )
            self.whole = self.whole or bool((yield from self._peek()))
            return
        inner = wrapper and key in WRAPPERS and self.found is None and "tool" not in made
        value = yield from self._value(wrapper=inner, deep=deep + 1, where="object")
        made.setdefault(key, value)

    def _list(self, *, wrapper: bool, deep: int) -> Reading[list[Any]]:
        made: list[Any] = []
        self._at += 1
        while (sign := (yield from self._space())) and sign != "]":
            if sign == ",":
                self._at += 1
            elif sign in "}:":
                raise _Broken
            else:
                item = yield from self._value(wrapper=wrapper, deep=deep + 1, where="list")
                made.append(item)
        self._at += 1
        return made

    def _name(self, *, spoken: bool) -> Reading[Any]:
        """A number, a yes or no, or words without quotation marks."""
        text = (yield from self._run(_BARE)).strip()
        if not text:
            raise _Broken
        if text.casefold() in _NAMES:
            return _NAMES[text.casefold()]
        try:
            return float(text) if re.search("[.eE]", text) else int(text)
        except ValueError:
            if not spoken and " " in text and self.found is None:
                raise _Broken from None
            self.damaged = True
            return text

    # ------------------------------------------------------------ strings

    def _string(self, *, spoken: bool, where: Where) -> Reading[str]:
        opening = self._text[self._at]
        closing = _CLOSING[opening]
        self._at += 1
        made: list[str] = []
        while sign := (yield from self._peek()):
            if plain := _PLAIN.match(self._text, self._at):
                piece, self._at = plain[0], plain.end()
            elif sign == "\\":
                piece = yield from self._escape()
            elif sign == closing and (yield from self._closes(where)):
                self._at += 1
                if spoken:
                    self.whole = True
                return "".join(made)
            else:
                piece, self._at = sign, self._at + 1
            made.append(piece)
            if spoken and piece:
                self._shown.append(piece)
                self.length += len(piece)
        return "".join(made)

    def _escape(self) -> Reading[str]:
        """What a backslash and the signs behind it mean; half of one at the end means nothing."""
        two = yield from self._ahead(2)
        if len(two) < 2:
            self._at = len(self._text)
            return ""
        sign = two[1]
        if sign == "u":
            return (yield from self._unicode())
        self._at += 2
        if sign in _ESCAPES:
            return _ESCAPES[sign]
        if sign in "\"'\\/`\n":
            return sign.lstrip("\n")
        self.damaged = True
        return two  # a formula, a path: the backslash is its own

    def _unicode(self) -> Reading[str]:
        first = yield from self._unit()
        if not "\ud800" <= first <= "\udbff" or len(first) != 1:
            return first
        if not (yield from self._ahead(2)).startswith("\\u"):
            return first if (yield from self._peek()) else ""
        at = self._at
        second = yield from self._unit()
        if len(second) == 1 and "\udc00" <= second <= "\udfff":
            return chr(0x10000 + (ord(first) - 0xD800) * 0x400 + ord(second) - 0xDC00)
        self._at = at
        return first if second else ""

    def _unit(self) -> Reading[str]:
        six = yield from self._ahead(6)
        if len(six) < 6:
            self._at = len(self._text)
            return ""
        if not re.fullmatch("[0-9a-fA-F]{4}", six[2:]):
            self._at += 2
            self.damaged = True
            return six[:2]
        self._at += 6
        return chr(int(six[2:], 16))  # noqa: FURB166  int("\\u0041", 0) is none

    def _closes(self, where: Where) -> Reading[bool]:
        """Whether the quotation mark here ends its string, rather than stand in its words."""
        while True:
            rest = self._text[self._at + 1 : self._at + 1 + AHEAD]
            full = self._ended or len(rest) >= AHEAD
            closes = _closes(rest.lstrip(), where, full=full)
            if closes is not None:
                self.damaged = self.damaged or not closes
                return closes
            yield


def _closes(after: str, where: Where, *, full: bool) -> bool | None:
    """The same by what follows; None: it takes more to know."""
    if not where:
        return True
    if not after:
        return True if full else None
    if after[0] in "}]" or after.startswith(("```", "<|", "</")):
        return True
    if after[0] == ",":
        return _goes_on(after[1:].lstrip(), where, full=full)
    if _QUOTED_KEY.match(after):
        return True
    open_ = after in ("`", "``", "<") or (after[0] in "\"'“‘" and _MAYBE_KEY.match(after))
    return None if open_ and not full else False


def _goes_on(after: str, where: Where, *, full: bool) -> bool | None:
    """Whether an object or a list goes on behind a comma."""
    if not after:
        return True if full else None
    if after[0] in "}]" or _KEY.match(after):
        return True
    if _MAYBE_KEY.match(after):
        return True if full else None
    return where == "list" and after[0] in "\"'“{[0123456789-tfn"


def yes(value: Any) -> bool:
    """Whether a value means yes, however a model writes it."""
    if isinstance(value, str):
        return value.strip().casefold() in ("true", "yes", "1", "y", "on")
    return bool(value)
