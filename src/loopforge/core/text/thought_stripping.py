"""Leaving out what a model thinks in its text: `<think>...</think>` before the answer.

Many servers of open models send thoughts inside the text, or the marks of their chat template.
Only what stands at the very beginning is a thought or a mark; the same words later are words.
Pure; pieces may be cut anywhere.
"""

BLOCKS = {
    "<think>": ("</think>",),
    "<thinking>": ("</thinking>",),
    "<thought>": ("</thought>",),
    "<reasoning>": ("</reasoning>",),
    "<seed:think>": ("</seed:think>",),
    "[THINK]": ("[/THINK]",),
    "◁think▷": ("◁/think▷",),
    "<|START_THINKING|>": ("<|END_THINKING|>",),
    "<|channel|>analysis": ("<|end|>", "<|channel|>final<|message|>"),
    "<|channel|>commentary": ("<|end|>", "<|call|>", "<|channel|>final<|message|>"),
}
"""How thoughts begin, and by what they end."""
MARKS = (
    "<|start|>assistant",
    "<|channel|>final",
    "<|message|>",
    "<|START_RESPONSE|>",
    "<|im_start|>assistant",
    "<|assistant|>",
)
"""Marks of chat templates that may stand before an answer; they are passed over."""
LONGEST = max(len(end) for ends in BLOCKS.values() for end in ends)
OPENINGS = (*BLOCKS, *MARKS)


class ThoughtFilter:
    """A filter for one answer: `feed` each piece, then take the `rest`."""

    def __init__(self) -> None:
        self._blanks: list[str] = []
        self._held = ""
        self._endings: tuple[str, ...] = ()
        self._begun = self._after = False

    def feed(self, piece: str) -> str:
        """What may be heard now."""
        if self._after:
            return piece
        self._held += piece
        while True:
            if self._endings and not self._closed():
                return ""
            begun = self._held.lstrip("\ufeff \t\r\n")
            if not begun:
                self._blanks.append(self._held)
                self._held = ""
                return ""
            opening = next((one for one in OPENINGS if begun.startswith(one)), "")
            if opening:
                self._begun, self._held = True, begun[len(opening) :]
                self._endings = BLOCKS.get(opening, ())
            elif any(one.startswith(begun) for one in OPENINGS):
                return ""  # it may still become a thought
            else:
                held, self._after = self.rest(), True
                return begun if self._begun else held

    def _closed(self) -> bool:
        """Pass over the thought that is open, as far as it came; whether its end is there."""
        found = [(self._held.find(end), end) for end in self._endings if end in self._held]
        if not found:
            self._held = self._held[-LONGEST:]
            return False
        place, end = min(found)
        self._held, self._endings = self._held[place + len(end) :], ()
        return True

    def rest(self) -> str:
        """What was held back and is no thought after all, once the answer has ended."""
        held = "" if self._endings else "".join((*self._blanks, self._held))
        self._blanks, self._held = [], ""
        return held.lstrip() if self._begun else held
