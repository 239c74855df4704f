"""How near texts are to each other: by pieces of their words, and by each word's nearest.

Character n-grams, weighed by how rare they are, find a word within another (`airquality` in "air
quality"), other endings, and names that are misspelt or run together. Late interaction compares
word by word, each with the one of the other text nearest to it: one vector for a whole text is a
mean, in which a talk about three things is near none of them. Words count by the length of their
vectors: the table that comes along gives words that say much long ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from math import log, sqrt
from typing import TYPE_CHECKING

from loopforge.core.text.topics import COMMON, fold_case, written_words
from loopforge.runtime.ports import WordEmbeddings

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


# ---------------------------------------------------------------- word by word

ASKED, TOLD = 64, 128
"""Words of a line, and of a text, that are looked at."""


class LateInteraction:
    """Texts, ready to be compared with lines."""

    def __init__(self, texts: Sequence[str], embeddings: WordEmbeddings) -> None:
        import numpy as np

        self._embeddings = embeddings
        told = [_words(text)[:TOLD] or [""] for text in texts]
        known = {word: at for at, word in enumerate(dict.fromkeys(chain(*told)))}
        self._units, weights = self._lengths([*known])
        self._slots = np.array([known[word] for each in told for word in each])
        self._starts = np.cumsum([0, *(len(each) for each in told[:-1])])
        self._weights = weights[self._slots]
        total = np.add.reduceat(self._weights, self._starts)
        self._total: NDArray[np.float32] = np.maximum(total, 1e-9).astype(np.float32)

    def scores(self, line: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """How near what the line says is to each text, and what each text says to the line."""
        import numpy as np

        units, weights = self._lengths(_words(line)[-ASKED:])
        if not len(units) or not weights.sum():
            none = np.zeros(len(self._starts), np.float32)
            return none, none
        near = units @ self._units.T
        best = np.maximum.reduceat(near[:, self._slots], self._starts, axis=1)
        said = near.max(axis=0)[self._slots] * self._weights
        back = np.add.reduceat(said, self._starts) / self._total
        return weights @ best / weights.sum(), back.astype(np.float32)

    def _lengths(self, words: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The vectors of words, made to length 1, and how much each word counts."""
        import numpy as np

        found = self._embeddings.word_vectors(words)
        squares = (found * found).sum(axis=1)
        return found / np.sqrt(np.maximum(squares, 1e-9))[:, None], squares


def _words(text: str) -> list[str]:
    """Its words, folded; those that carry no topic only where there are no others."""
    said = [fold_case(word) for word in written_words(text)]
    return [word for word in said if word not in COMMON] or said
