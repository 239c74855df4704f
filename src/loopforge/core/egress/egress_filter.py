r"""The egress filter: what a mind says is made fit to be said aloud.

    raw words --clean--> no control signs --trim--> no "Maya:" --redact--> no secrets --bound-->

`feed` serves a draft that is still growing: it holds back the end, as far as a secret might still
be growing there. `finish` serves the whole.

Laws, each with its property test:
  1. No draft and no final text holds a known secret (of 6 characters or more), nor a key of a
     well-known shape, however the text is cut into pieces on the way.
  2. A draft is the beginning of every later draft and of the final text; except where the text
     outgrew its length, or an opening quotation mark turns out to belong to the words.
  3. finish(finish(x)) == finish(x).

A known secret that is hidden in a text (concealed_secrets.py) is not taken out of it: drafts stop
before it, and `leak` says that nothing of it may go.

Does not know who says it, nor what may be said; that is the guard's (act_guard.py).
"""

import re
import string
from collections.abc import Iterable, Iterator, Sequence

from loopforge.core.egress.concealed_secrets import watch_for
from loopforge.core.egress.key_shapes import MARK, SHAPES

CUT = "… [cut off here: longer than a line may be]"
"""What a text ends with that was cut; only the ellipsis where so many signs are a half of it."""
TOO_LONG = "what was longer than a line may be"
"""The kind of what was taken out of such a text."""
SHORTEST = 6
"""Characters of a known secret; a shorter one would tear holes into plain words."""
SHORTEST_KEY = 12
"""Of a model service's key: for a server that wants none people put a word ("ollama")."""
QUOTES = {'"': '"', "“": "”", "«": "»"}

_ANSI = re.compile(
    "\x1b(?:\\[[0-?]*[ -/]*[@-~]"  # colours and moves of the cursor
    "|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)"  # titles and links
    "|[PX^_][^\x1b]*\x1b\\\\"  # strings meant for devices
    "|[ -/]*[0-OQ-WYZ\\\\`-~])"  # the rest
)
_UNFINISHED = re.compile("\x1b(?:\\[[0-?]*[ -/]*|[\\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\\Z")
_BROKEN_OFF = re.compile("\x1b\\[[0-?]*[ -/]*\\Z")
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Control signs, marks that turn the direction of writing, signs without width, tags."""
_BETWEEN = re.compile(
    "(?<=[ -~])[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]+(?=[ -~]|\\Z)"
)
"""Fillers and marks of variants, which some scripts and pictures need: not between these signs."""
_BREAK = re.compile("\r\n|[\r\u2028\u2029]")
_LONE = re.compile("[\ud800-\udfff]")
_JOINER = re.compile(
    "(?<![^\\s!-~\u200c\u200d])[\u200c\u200d]+|(?<=[\u200c\u200d])[\u200c\u200d]+"
    "|[\u200c\u200d]+(?=\\s|\\Z)"
)
"""Joiners hold emoji and some scripts together; at an edge or in a row they only hide things."""
_STACK = re.compile("([\u0300-\u036f\u0489]{3})[\u0300-\u036f\u0489]+")
_SOLID = "".join(map(chr, range(0x21, 0x7F)))
"""The signs that keys are made of."""
_HEADER, _HEADER_SIGNS = "-----BEGIN", string.ascii_uppercase + " -"
_FOOTER = re.compile("-----END [A-Z ]*KEY-----\\Z")
_SENTENCE = re.compile("[.!?…。！？][\"'”»)\\]*_]*(?=\\s)|\n")

ROW = "#[0-9]+ [0-9]{2}:[0-9]{2} "
BEGUN_ROW = re.compile("#(?:[0-9]+(?: [0-9]{0,2}(?::[0-9]{0,2})?)?)?")
"""Number and time before a name, as in the rows that a mind is shown; and their beginning."""


class EgressFilter:
    """The filter for one mate's words. `secrets` are values that must never be said.

    `name` is stripped where it stands before the words as a label. `length` bounds the whole, in
    characters. `leaks` says how things that were kept in would have told a secret; `shown` is what
    was let through last of a text that grew.
    """

    def __init__(self, secrets: Iterable[str] = (), name: str = "", length: int = 0) -> None:
        known = {secret for secret in secrets if len(secret) >= SHORTEST and secret not in MARK}
        self._secrets = tuple(sorted(known, key=lambda secret: (-len(secret), secret)))
        self._watch = watch_for(frozenset(known))
        self._gone: list[str] = []
        self.leaks: list[str] = []
        self.shown = ""
        self._name, self._length = name.strip(), length
        self._label = (
            re.compile(
                f"(?:{ROW})?[*_\\[(]*{re.escape(self._name)}[*_\\])]*:[*_]*\\s*", re.IGNORECASE
            )
            if self._name
            else None
        )

    def feed(self, so_far: str) -> str:
        """What may be shown of a text that still grows; `so_far` is all of it, not a piece."""
        text = strip_control_characters(_UNFINISHED.sub("", so_far)).lstrip()
        if self._awaits_label(text):
            return ""
        text = self._unlabel(text)
        close = QUOTES.get(text[:1])
        if close and close not in text[1:].rstrip()[:-1]:
            text = text[1:].rstrip().removesuffix(close).lstrip()
            if self._awaits_label(text):
                return ""
            text = self._unlabel(text)
        shown, _ = self._redact(text[: self._held(text)])
        shown = shown[: self._watch.clear_length(shown)]
        self.shown = self._bound(shown).rstrip()
        return self.shown

    def finish(self, text: str) -> tuple[str, tuple[str, ...]]:
        """The whole text made fit, and the kinds of what was taken out of it."""
        return self._finish(text, file=False)

    def finish_file(self, text: str) -> tuple[str, tuple[str, ...]]:
        """The same of a file's text: its spaces, labels, quotation marks and length are its own."""
        return self._finish(text, file=True)

    def _finish(self, text: str, *, file: bool) -> tuple[str, tuple[str, ...]]:
        taken: list[str] = []
        for _ in range(8):
            before, text = text, strip_control_characters(text)
            text, kinds = self._redact(text if file else self._trim(text))
            taken += kinds
            if not file:
                taken += [TOO_LONG] if self._outgrown(text) else []
                text = self._bound(text).strip()
            if text == before:
                return text, tuple(taken)
        return MARK if file else self._bound(MARK), (*taken, "what would not come clean")

    def leak(self, texts: Iterable[str], before: Sequence[str] = ()) -> str:
        """How texts that are to go out together would tell a known secret; "" where they may go.

        `before` went out earlier, newest first, besides what was let through here. The secret as it
        is counts too: what is said aloud comes here with it taken out.
        """
        whole = "\n".join(texts)
        way = "as it is" if any(secret in whole for secret in self._secrets) else ""
        way = way or self._watch.way(whole, (*reversed(self._gone), *before))
        (self.leaks if way else self._gone).append(way or whole)
        return way

    # ------------------------------------------------------------ labels and quotation marks

    def _trim(self, text: str) -> str:
        """Without the mate's own name as a label, and without quotation marks around it all."""
        while True:
            before = text
            text = _unquote(self._unlabel(text.strip()))
            if text == before:
                return text

    def _unlabel(self, text: str) -> str:
        while self._label and (found := self._label.match(text)):
            text = text[found.end() :]
        return text

    def _awaits_label(self, text: str) -> bool:
        """Whether this beginning might still turn out to be the mate's own label."""
        if not (name := self._name.casefold()):
            return False
        if BEGUN_ROW.fullmatch(text):
            return True
        start = re.sub(f"\\A{ROW}", "", text).lstrip("*_[(").casefold()
        return name.startswith(start) or not start.removeprefix(name).strip("*_])")

    # ------------------------------------------------------------ secrets

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        """Where secrets stand in a text: start, end, kind; in order and apart from each other."""
        found: list[tuple[int, int, str]] = []
        for secret in self._secrets:
            found += [(at, at + len(secret), "known secret") for at in _places(text, secret)]
        for shape in SHAPES:
            for match in shape.pattern.finditer(text):
                start, end = match.span("key" if "key" in match.re.groupindex else 0)
                found.append((start, end, shape.name))
        merged: list[tuple[int, int, str]] = []
        for start, end, kind in sorted(found, key=lambda span: (span[0], -span[1])):
            if merged and start < merged[-1][1]:
                first, last, kept = merged.pop()
                merged.append((first, max(last, end), kept))
            else:
                merged.append((start, end, kind))
        return merged

    def _redact(self, text: str) -> tuple[str, list[str]]:
        kinds = []
        for start, end, kind in reversed(self._spans(text)):
            text = text[:start] + MARK + text[end:]
            kinds.append(kind)
        return text, kinds[::-1]

    def _held(self, text: str) -> int:
        """How much of a growing text may be shown: nothing that might grow into a secret.

        Held back are the last unbroken run of ASCII (a key, or just a word), the header of a
        private key, and any end that is the beginning of a known secret.
        """
        end = len(text)
        header = text.find(_HEADER, len(text.rstrip(_HEADER_SIGNS)))
        end = header if header >= 0 else end
        end = min(end, len(text.rstrip(_SOLID)))
        for secret in self._secrets:
            for size in range(min(len(secret) - 1, len(text)), 0, -1):
                if text.endswith(secret[:size]):
                    end = min(end, len(text) - size)
                    break
        while True:
            before = end
            if text[end : end + 1].rstrip(_SOLID) != text[end : end + 1]:
                end = len(text[:end].rstrip(_SOLID))
            for start, stop, _ in self._spans(text):
                if start < end and (end < stop or _is_open(text[start:stop])):
                    end = start
            if end == before:
                return end

    # ------------------------------------------------------------ length

    def _outgrown(self, text: str) -> bool:
        return 0 < self._length < len(text)

    def _bound(self, text: str) -> str:
        """Not longer than it may be: cut, visibly, at the end of a sentence or else of a word."""
        if not self._outgrown(text):
            return text
        sign = CUT if len(CUT) * 2 <= self._length else CUT[0]
        room = self._length - len(sign)
        ends = [match.end() for match in _SENTENCE.finditer(text[: max(0, room)])]
        if ends and (kept := text[: ends[-1]].rstrip()) and len(kept) * 3 > self._length:
            return f"{kept} {sign}"
        head = text[:room]
        space = max(head.rfind(" "), head.rfind("\n"))
        return (head[:space] if space * 3 > self._length else head).rstrip() + sign


def strip_control_characters(text: str) -> str:
    """Without escape sequences, control signs and invisible tricks; breaks and tabs stay."""
    text = _BREAK.sub("\n", _LONE.sub("\ufffd", text))
    while True:
        before = text
        text = _CONTROL.sub("", _BROKEN_OFF.sub("", _ANSI.sub("", text)))
        text = _BETWEEN.sub("", _STACK.sub(r"\1", _JOINER.sub("", text)))
        if text == before:
            return text


def _unquote(text: str) -> str:
    """Without quotation marks, where one pair of them encloses everything."""
    close = QUOTES.get(text[:1])
    inner = text[1:-1]
    if close is None or len(text) < 2 or text[-1] != close or close in inner or text[0] in inner:
        return text
    return inner.strip()


def _is_open(secret: str) -> bool:
    """Whether this is a private key whose end has not come yet."""
    return secret.startswith("-----BEGIN") and not _FOOTER.search(secret)


def _places(text: str, secret: str) -> Iterator[int]:
    """Every place where a secret begins, those that overlap too."""
    at = text.find(secret)
    while at >= 0:
        yield at
        at = text.find(secret, at + 1)
