"""Character n-grams: texts compared by the pieces of their words, weighed by how rare those are.

They find a word within another (`airquality` in "air quality"), other endings, and names that are
misspelt or run together, where whole words find nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log, sqrt
from typing import TYPE_CHECKING

from loopforge.core.text.topics import COMMON, fold_case, written_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHORTEST, LONGEST = 3, 5
"""Characters of a piece, the edges of its word counted as one each."""
MOST = 256
"""Words of a text that are looked at."""


class NgramIndex:
    """Texts, ready to be compared with others."""

    def __init__(self, texts: Sequence[str]) -> None:
        import numpy as np

        counted = [_pieces(text) for text in texts]
        often = Counter(piece for each in counted for piece in each)
        self._rare = {piece: log(1 + len(texts) / count) for piece, count in often.items()}
        self._count = len(texts)
        where: dict[str, list[int]] = {}
        worth: dict[str, list[float]] = {}
        for place, each in enumerate(counted):
            weighed = self._weighed(each)
            for piece, weight in weighed.items():
                where.setdefault(piece, []).append(place)
                worth.setdefault(piece, []).append(weight)
        self._postings = {
            piece: (np.array(at), np.array(worth[piece], np.float32)) for piece, at in where.items()
        }

    def scores(self, text: str) -> NDArray[np.float32]:
        """How near each of the texts is to this one: a cosine, from 0 to 1."""
        import numpy as np

        found = np.zeros(self._count, np.float32)
        for piece, weight in self._weighed(_pieces(text)).items():
            places, worth = self._postings[piece]
            found[places] += weight * worth
        return found

    def _weighed(self, counted: Counter[str]) -> dict[str, float]:
        """The pieces that are known here with what they count; together of length 1."""
        weights = {
            piece: (1 + log(count)) * self._rare[piece]
            for piece, count in counted.items()
            if piece in self._rare
        }
        length = sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        return {piece: weight / length for piece, weight in weights.items()}


def _pieces(text: str) -> Counter[str]:
    """The pieces of its words; of those that carry no topic none."""
    words = [word for word in map(fold_case, written_words(text)) if word not in COMMON][:MOST]
    return Counter(
        edged[at : at + size]
        for edged in (f"<{word}>" for word in words)
        for size in range(SHORTEST, LONGEST + 1)
        for at in range(len(edged) - size + 1)
    )
