"""A stream whose pieces hold all that came so far, where each should hold what is new.

    "Hi" "Hi, a" "Hi, ana!" --feed--> "Hi" ", a" "na!"

Some gateways send answers so. One is known by its first pieces, of which each is the beginning of
the next; as long as that may be chance, a piece is held back. Pure; knows nothing of protocols.
"""

CHANCE = 8
"""Characters; a longer piece that is the beginning of the next one is so by no chance."""


class CumulativeText:
    """A filter for one answer: `feed` each piece, then take the `rest`."""

    def __init__(self) -> None:
        self._whole = self._held = ""
        self._plain = self._cumulative = False

    def feed(self, piece: str) -> str:
        """What is new in a piece."""
        if self._plain or not piece:
            return piece
        if self._cumulative:
            return self._grown(piece)
        last = self._held or self._whole
        if not last:
            self._whole = piece
            return piece
        if not (piece.startswith(last) and len(piece) > len(last)):
            self._plain = True
            return self.rest() + piece
        if self._held or len(last) > CHANCE:
            self._cumulative, self._held = True, ""
            return self._grown(piece)
        self._held = piece
        return ""

    def _grown(self, piece: str) -> str:
        new = piece.removeprefix(self._whole)
        self._whole = piece if piece.startswith(self._whole) else self._whole + piece
        return new

    def rest(self) -> str:
        """What was held back, once the answer has ended: two pieces are those of any stream."""
        held, self._held = self._held, ""
        return held
