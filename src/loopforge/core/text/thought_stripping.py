"""Leaving out what a model thinks in its text: `<think>...</think>` before the answer.

Many servers of open models send thoughts inside the text, or the marks of their chat template.
Only what stands at the very beginning is a thought or a mark; the same words later are words.
Where a text has channels, the final one is the answer, and ends with it; one that is sent `to=` a
tool stays with its marks, for tool_markup.py. Pure; pieces may be cut anywhere.
"""

import re

BLOCKS = {
    "<think>": ("</think>",),
    "<thinking>": ("</thinking>",),
    "<thought>": ("</thought>",),
    "<reasoning>": ("</reasoning>",),
    "<seed:think>": ("</seed:think>",),
    "[THINK]": ("[/THINK]",),
    "◁think▷": ("◁/think▷",),
    "<|START_THINKING|>": ("<|END_THINKING|>",),
}
"""How thoughts begin, and by what they end."""
START = "<|start|>assistant"
MARKS = (
    START,
    "<|message|>",
    "<|START_RESPONSE|>",
    "<|im_start|>assistant",
    "<|assistant|>",
)
"""Marks of chat templates that may stand before an answer; they are passed over."""
CHANNEL = "<|channel|>"
"""How a channel of OpenAI's open models begins: its name and, maybe, the form of what it holds."""
BARE = "analysis"
"""The same where a server leaves out the marks: a thought begins behind it, with a capital."""
_HEADER = re.compile(r"(?P<said>[^<]*(?:<\|constrain\|>[^<]*)?)<\|message\|>")
LONGEST_HEADER = 200
_UNHEADED = re.compile(r"\s*<\|channel\|>\s*(?:final\s*|(?:analysis|commentary).*)?", re.DOTALL)
"""A channel that never says what it holds."""
_THOUGHT_ENDS = ("<|end|>", "<|call|>", "<|return|>", START, f"{CHANNEL}final", f"{CHANNEL}comm")
_BARE_ENDS = ("assistantfinal", "assistantcommentary to=")
_ANSWER_ENDS = ("<|end|>", "<|return|>", START)
LONGEST = max(len(end) for ends in (*BLOCKS.values(), _THOUGHT_ENDS, _BARE_ENDS) for end in ends)
OPENINGS = (*BLOCKS, *MARKS)


class ThoughtFilter:
    """A filter for one answer: `feed` each piece, then take the `rest`."""

    def __init__(self) -> None:
        self._blanks: list[str] = []
        self._held = ""
        self._endings: tuple[str, ...] = ()
        self._opening = ""
        self._begun = self._after = self._final = self._over = False

    def feed(self, piece: str) -> str:
        """What may be heard now."""
        if self._after:
            return self._answer(piece) if self._final else piece
        self._held += piece
        while True:
            if self._endings and not self._closed():
                return ""
            begun = self._held.lstrip("\ufeff \t\r\n")
            if not begun:
                self._blanks.append(self._held)
                self._held = ""
                return ""
            left = self._opened(begun)
            if left is None:
                return ""  # it may still become a thought
            if left == begun:
                return self._words(begun)
            self._begun, self._held = True, left

    def _opened(self, begun: str) -> str | None:
        """What is left behind a thought's opening, or a mark; all of it where there is none.

        None where more must come to tell.
        """
        opening = next((one for one in OPENINGS if begun.startswith(one)), "")
        if opening:
            self._endings, self._opening = BLOCKS.get(opening, ()), opening
            return begun[len(opening) :]
        if begun.startswith(CHANNEL):
            return self._channel(begun)
        if begun.startswith(BARE) and begun[len(BARE) : len(BARE) + 1].isupper():
            self._endings = _BARE_ENDS
            return begun[len(BARE) :]
        likely = (*OPENINGS, CHANNEL, BARE, *(("to=",) if self._opening == START else ()))
        return None if any(one.startswith(begun) for one in likely) else begun

    def _channel(self, begun: str) -> str | None:
        """The same of a channel: what it holds is the answer, a thought, or a use of a tool."""
        header = _HEADER.match(begun, len(CHANNEL))
        if header is None:
            return None if len(begun) < LONGEST_HEADER else begun
        if "to=" in header["said"]:
            return begun
        self._final = header["said"].strip().startswith("final")
        self._endings = () if self._final else _THOUGHT_ENDS
        return begun[header.end() :]

    def _words(self, begun: str) -> str:
        """The answer begins."""
        self._after = True
        held = self.rest()
        if not self._begun:
            return held
        if self._opening == START and begun.startswith("to="):
            return f"{START} {begun}"
        return self._answer(begun) if self._final else begun

    def _answer(self, piece: str) -> str:
        """Words of the final channel, up to its end."""
        self._held += piece
        ends = [at for end in _ANSWER_ENDS if (at := self._held.find(end)) >= 0]
        begins = self._held.rfind("<")
        unsure = begins >= 0 and any(end.startswith(self._held[begins:]) for end in _ANSWER_ENDS)
        upto = min(ends) if ends else begins if unsure else len(self._held)
        words = "" if self._over else self._held[:upto]
        self._held, self._over = "" if ends else self._held[upto:], self._over or bool(ends)
        return words

    def _closed(self) -> bool:
        """Pass over the thought that is open, as far as it came; whether its end is there."""
        found = [(self._held.find(end), end) for end in self._endings if end in self._held]
        if not found:
            self._held = self._held[-LONGEST:]
            return False
        place, end = min(found)
        kept = next((one for one in (CHANNEL, "commentary to=") if one in end), "")
        self._held = self._held[place + (end.index(kept) if kept else len(end)) :]
        self._endings, self._opening = (), end
        return True

    def rest(self) -> str:
        """What was held back and is no thought after all, once the answer has ended."""
        held = "" if self._endings or self._over else "".join((*self._blanks, self._held))
        self._blanks, self._held = [], ""
        held = held if self._after else _UNHEADED.sub("", held, count=1)
        return held.lstrip() if self._begun else held
