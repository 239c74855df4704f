"""Late interaction: texts compared word by word, each word with the one of the other nearest to it.

One vector for a whole text is a mean, in which a talk about three things is near none of them; here
each word finds its own. Words count by the length of their vectors: the table that comes along
gives words that say much long ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from loopforge.core.text.topics import COMMON, fold_case, written_words
from loopforge.runtime.ports import WordEmbeddings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
