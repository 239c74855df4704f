r"""Reading an object as models write it: JSON with the liberties that they take.

A code fence or a list around the object, the object inside another one ("answer", "arguments"),
keys and strings in single, curly or no quotation marks, quotation marks within words that are not
escaped, line breaks in strings, commas too many or missing, True and None, an end that is missing.
What is valid JSON is read as JSON.

Knows only the first object that holds the field; what a text without one means is
malformed_answer.py's to say, and what is shown while a text comes streamed_answer.py's.
"""

import json
import re
from typing import Any, Literal

WRAPPERS = (
    *("answer", "response", "reply", "message", "output", "result", "content", "data"),
    *("plan", "acts", "actions"),
    *("arguments", "parameters", "input", "properties", "json", "object"),
    *("function", "function_call", "tool_call", "tool_calls"),
)
"""Keys under which models put the object they were asked for."""
DEEPEST = 24
"""Objects and lists in each other; what goes deeper is no answer."""
AHEAD = 120
"""Signs looked at behind a quotation mark, to see whether it closes its string."""
ESCAPED = (
    r'\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
    r"|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
"""A sign as JSON escapes it."""

_CLOSING = {'"': '"', "'": "'", "“": "”", "”": "”", "‘": "’", "`": "`"}
_PLAIN = re.compile(rf"""(?:[^\\"'”’`]|{ESCAPED})+""")
_HALF = re.compile(
    r"\\(?:u[0-9a-fA-F]{0,3}|u[dD][89abAB][0-9a-fA-F]{2}(?:\\u?[0-9a-fA-F]{0,3})?)?\Z"
)
_UNIT = re.compile(r"\\u([0-9a-fA-F]{4})")
_ODD = {r"\'": "'", r"\`": "`", "\\\n": "", r"\0": ""}
"""Escapes that are none in JSON, and what is meant by them."""
_SPACE = re.compile(r"[\s\ufeff]*(//[^\n]*[\s\ufeff]*)*")
_WORD = re.compile(r"[\w$.-]*")
_BARE = re.compile(r"[^,{}\[\]\n\"“]*")
_KEY = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|“[^”]*”|‘[^’]*’|[A-Za-z_]\w*)\s*:""", re.DOTALL
)
_MAYBE_KEY = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*(?:\\|"\s*)?|'(?:[^'\\]|\\.)*(?:\\|'\s*)?|“[^”]*(?:”\s*)?|‘[^’]*(?:’\s*)?"""
    r"""|[A-Za-z_]\w*\s*)\Z""",
    re.DOTALL,
)
_QUOTED_KEY = re.compile(r"""["'“‘]\w+["'”’]\s*:""")
_MORE = re.compile(r"[^\W_](?!\w*\|?>)")
"""A letter or a number of what stands behind an object, but for the sign of an end."""
_NAMES: dict[str, Any] = {"true": True, "false": False, "null": None, "none": None, "nil": None}

Where = Literal["", "object", "list"]


class _Broken(Exception):
    """This is no object."""


class JsonRepair:
    """Reads a text for the first object that has `field`.

    `found` is that object as far as it is there, `outermost` the first object there is (`opens`:
    with it the text begins), `closed` whether it came to its end, `whole` whether the field did.
    `prose`: other words stand before, up to where the outermost `begins`. `more`: something stands
    behind it, or beside it in a list. `damaged`: it is no JSON.
    """

    def __init__(self, text: str, field: str, *, depth: int = 0) -> None:
        self.field = field
        self.found: dict[str, Any] | None = None
        self.outermost: dict[str, Any] | None = None
        self.value: Any = None
        self.whole = self.prose = self.damaged = self.wrapped = self.closed = self.opens = False
        self.more, self.begins = False, 0
        self._text, self._at, self._depth = text, 0, depth
        self._document()

    # ------------------------------------------------------------ the document

    def _sign(self) -> str:
        """The next sign that is no blank and no comment; "" at the end."""
        blank = self._run(_SPACE)
        self.damaged = self.damaged or "/" in blank
        return self._text[self._at : self._at + 1]

    def _run(self, pattern: re.Pattern[str]) -> str:
        """All that matches from here."""
        match = pattern.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return match[0]

    def _document(self) -> None:
        while self.found is None and (sign := self._sign()):
            if self._text.startswith("```", self._at):
                self.damaged = True
                self._run(re.compile(r'```[^\n{\["]*'))
            elif sign in "{[" or (sign == '"' and not self.prose):
                self._attempt()
            else:
                self.prose = True
                self._run(re.compile(r"[^{\[]*"))
        if self.found is not None:
            self.more = self.more or bool(_MORE.search(self._text, self._at))

    def _attempt(self) -> None:
        """Read a value here, if it is one."""
        try:
            value = self._value(wrapper=True, deep=0)
        except _Broken:
            self.prose = self.prose or self.found is None
            self.damaged = True
            return
        if self.found is None:
            alone = not self.prose and self._sign() in ("", "`")
            self.value, self.prose = value if alone else None, True

    # ------------------------------------------------------------ values

    def _value(self, *, wrapper: bool, deep: int, where: Where = "", spoken: bool = False) -> Any:
        if deep > DEEPEST:
            raise _Broken
        sign = self._sign()
        if sign == "{":
            return self._object(wrapper=wrapper, deep=deep)
        if sign == "[":
            return self._list(wrapper=wrapper, deep=deep)
        if sign in _CLOSING:
            text = self._string(spoken=spoken, where=where)
            return self._within(text) if wrapper else text
        return self._name(spoken=spoken)

    def _within(self, text: str) -> Any:
        """A string that may hold the object itself, written as text in its turn."""
        if self.found is None and self._depth < 2 and text.lstrip()[:1] in (*'{["',):
            inner = JsonRepair(text, self.field, depth=self._depth + 1)
            if inner.found is not None and not inner.prose:
                self.found, self.whole, self.wrapped = inner.found, inner.whole, True
                self.damaged = True
        return text

    def _object(self, *, wrapper: bool, deep: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if self.outermost is None and wrapper:
            self.outermost, self.opens, self.begins = made, not self.prose, self._at
        self._at += 1
        while sign := self._sign():
            if sign == "}":
                self._at += 1
                sought = self.outermost if self.found is None else self.found
                self.closed = self.closed or made is sought
                break
            if sign in ",;":
                self._at += 1
                continue
            try:
                self._member(made, wrapper=wrapper, deep=deep)
            except _Broken:
                if self.found is None:
                    raise
                self.damaged = True
                break
        return made

    def _member(self, made: dict[str, Any], *, wrapper: bool, deep: int) -> None:
        if self._sign() in _CLOSING:
            key = self._string(spoken=False, where="")
        else:
            self.damaged = True
            key = self._run(_WORD)
            if not key:
                raise _Broken
        if (sign := self._sign()) not in (":", "="):
            if sign == "":
                return
            raise _Broken
        self._at += 1
        key = key.strip().casefold()
        if wrapper and key == self.field and self.found is None:
            self.found, self.wrapped, self.closed = made, deep > 0, False
            made[key] = self._value(wrapper=False, deep=deep + 1, where="object", spoken=True)
            self.whole = self.whole or self._at < len(self._text)
            return
        inner = wrapper and key in WRAPPERS and self.found is None and "tool" not in made
        value = self._value(wrapper=inner, deep=deep + 1, where="object")
        made.setdefault(key, value)

    def _list(self, *, wrapper: bool, deep: int) -> list[Any]:
        made: list[Any] = []
        self._at += 1
        while (sign := self._sign()) and sign != "]":
            if sign == ",":
                self._at += 1
            elif sign in "}:":
                raise _Broken
            else:
                made.append(self._value(wrapper=wrapper, deep=deep + 1, where="list"))
        self._at += 1
        self.more = self.more or (len(made) > 1 and any(one is self.found for one in made))
        return made

    def _name(self, *, spoken: bool) -> Any:
        """A number, a yes or no, or words without quotation marks."""
        text = self._run(_BARE).strip()
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

    def _string(self, *, spoken: bool, where: Where) -> str:
        closing = _CLOSING[self._text[self._at]]
        self._at += 1
        made: list[str] = []
        while sign := self._text[self._at : self._at + 1]:
            if _PLAIN.match(self._text, self._at):
                made.append(json.loads(f'"{self._run(_PLAIN)}"', strict=False))
            elif sign == "\\":
                made.append(self._escape())
            else:
                self._at += 1
                if sign == closing and self._closes(where):
                    self.whole = self.whole or spoken
                    break
                made.append(sign)
        return "".join(made)

    def _escape(self) -> str:
        """What is meant by an escape that is none in JSON; half of one at the end means nothing."""
        if _HALF.match(self._text, self._at):
            self._at = len(self._text)
            return ""
        if unit := _UNIT.match(self._text, self._at):
            self._at = unit.end()
            return chr(int(unit[1], 16))
        two = self._text[self._at : self._at + 2]
        self._at += 2
        self.damaged = self.damaged or two not in _ODD
        return _ODD.get(two, two)  # a formula, a path: the backslash is its own

    def _closes(self, where: Where) -> bool:
        """Whether the mark before here ends its string, rather than stand in its words."""
        after = self._text[self._at : self._at + AHEAD].lstrip()
        closes = not where or not after or after.startswith(("}", "]", "```", "<|", "</"))
        if not closes and after[0] == ",":
            closes = _goes_on(after[1:].lstrip(), where)
        closes = closes or bool(_QUOTED_KEY.match(after))
        self.damaged = self.damaged or not closes
        return closes


def _goes_on(after: str, where: Where) -> bool:
    """Whether an object or a list goes on behind a comma."""
    if not after or after[0] in "}]" or _KEY.match(after) or _MAYBE_KEY.match(after):
        return True
    return where == "list" and after[0] in "\"'“{[0123456789-tfn"


def is_affirmative(value: Any) -> bool:
    """Whether a value means yes, however a model writes it."""
    if isinstance(value, str):
        return value.strip().casefold() in ("true", "yes", "1", "y", "on")
    return bool(value)
