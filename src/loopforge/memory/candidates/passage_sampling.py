"""Of very many passages those that may be worth ranking: near in meaning, or holding rare words.

    words    the rarest words of the question first, up to POSTINGS passages that hold them
    meaning  the nearest by the signs of their vectors, of these the nearest by their cosines
    around   the neighbours of all these, since passages are ranked in their context

What comes of it is ranked as if it were all, but that how rare a word is is counted over all
passages that may be used. Not exact: a passage that holds none but common words and is near to the
question only by its neighbours is not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from loopforge.memory.passage_arrays import APART, Passages, concatenate_passages
from loopforge.memory.passage_ranking import K1, B, PassageCorpus, RecallCue, cosine_similarities
from loopforge.memory.passage_segments import Segment, signs_of
from loopforge.memory.passages import bag_of_words, search_stems

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from loopforge.memory.passage_loading import PassageStretch, VectorSpace

    Rows = NDArray[np.int64]

POSTINGS = 30_000
"""Passages that are looked at for holding a word, at most; those of the rarest word, if more."""
MOST = 200_000
"""A word that more hold says nothing."""
NEAREST = 1_000
"""By the signs of their vectors."""
BEST = 300
"""By words, and by the vectors themselves: candidates."""
AROUND = 2
FAR = 30_000
"""More than any two vectors differ."""


class _Shelf(NamedTuple):
    """The stretches of one segment (None: of rows in memory, one), by where they begin in it.

    `base` is the place of each one's first passage among all.
    """

    segment: Segment | None
    passages: Passages
    since: Rows
    until: Rows
    base: Rows

    @property
    def holes(self) -> bool:
        """Whether there are rows between them that may not be used."""
        return bool((self.since[1:] != self.until[:-1]).any())

    def rows(self) -> Rows:
        """All rows that may be used."""
        return np.concatenate(
            [np.arange(*each) for each in zip(self.since, self.until, strict=True)]
        )

    def places(self, rows: Rows) -> Rows:
        """Which of all passages these rows are; those that may not be used are left out."""
        which = np.searchsorted(self.since, rows, side="right") - 1
        inside = (which >= 0) & (rows < self.until[which])
        return self.base[which[inside]] + rows[inside] - self.since[which[inside]]


def sample_passages(
    stretches: Sequence[PassageStretch], asked: RecallCue, space: VectorSpace
) -> tuple[Passages, PassageCorpus]:
    """Those worth ranking, in their order, and what is to be known of all."""
    base = np.concatenate([[0], np.cumsum([len(each.passages) for each in stretches])])
    shelves = list(_shelves(stretches, base))
    words = np.array(sorted(bag_of_words(search_stems(asked.text))), np.uint32)
    holders = [[_holders(shelf, word) for shelf in shelves] for word in words]
    holding = [sum(map(len, each)) for each in holders]
    chosen = [_by_words(stretches, base, holders, holding)]
    if asked.vector is not None:
        given = asked.vector, space.model, True
        chosen.append(_by_meaning(stretches, base, shelves, *given))
    if asked.former is not None:
        given = asked.former, space.former, False
        chosen.append(_by_meaning(stretches, base, shelves, *given))
    near = np.concatenate(chosen)
    there = _around(near, base)
    found = concatenate_passages(
        [part.only(rows) for part, rows in _by_stretch(stretches, base, there)]
    )
    apart = (np.diff(there) != 1) | (np.diff(found.room) != 0)
    apart |= np.abs(np.diff(found.at)) > APART
    talk = np.concatenate([[0], np.cumsum(apart)])
    return found, PassageCorpus(
        int(base[-1]), dict(zip(words.tolist(), holding, strict=True)), talk
    )


def _shelves(stretches: Sequence[PassageStretch], base: Rows) -> Iterator[_Shelf]:
    """The stretches by the segments in which they are."""
    of: dict[int, list[int]] = {}
    for nth, stretch in enumerate(stretches):
        if stretch.segment is None:
            whole = np.array([0]), np.array([len(stretch.passages)]), base[nth : nth + 1]
            yield _Shelf(None, stretch.passages, *whole)
        else:
            of.setdefault(id(stretch.segment), []).append(nth)
    for mine in of.values():
        mine.sort(key=lambda nth: stretches[nth].since)
        since = np.array([stretches[nth].since for nth in mine])
        long = np.array([len(stretches[nth].passages) for nth in mine])
        segment = stretches[mine[0]].segment
        assert segment is not None
        yield _Shelf(segment, segment.passages, since, since + long, base[mine])


# ---------------------------------------------------------------- words


def _holders(shelf: _Shelf, word: np.uint32) -> Rows:
    """Which of all passages hold a word, of those of a shelf."""
    if shelf.segment is None:
        at = np.flatnonzero(shelf.passages.number == word)
        return shelf.places(np.searchsorted(shelf.passages.starts, at, side="right") - 1)
    known, begins, holder = shelf.segment.words
    here = int(np.searchsorted(known, word))
    if here == len(known) or known[here] != word:
        return np.zeros(0, np.int64)
    return shelf.places(holder[int(begins[here]) : int(begins[here + 1])].astype(np.int64))


def _by_words(
    stretches: Sequence[PassageStretch],
    base: Rows,
    holders: Sequence[Sequence[Rows]],
    holding: Sequence[int],
) -> Rows:
    """The best by the rarest words of the question: BM25 as if each stood there once."""
    places, worth, taken = [np.zeros(0, np.int64)], [np.zeros(0)], 0
    for nth in sorted(range(len(holding)), key=lambda nth: holding[nth]):
        if not holding[nth]:
            continue
        if holding[nth] > MOST or (taken and taken + holding[nth] > POSTINGS):
            break
        taken += holding[nth]
        places += holders[nth]
        rare = np.log(1 + (base[-1] - holding[nth] + 0.5) / (holding[nth] + 0.5))
        worth.append(np.full(holding[nth], rare))
    found, which = np.unique(np.concatenate(places), return_inverse=True)
    if not len(found):
        return found
    length = np.concatenate(
        [
            part.starts[rows + 1] - part.starts[rows]
            for part, rows in _by_stretch(stretches, base, found)
        ]
    )
    longer = 1 + K1 * (1 - B + B * length / max(float(length.mean()), 1.0))
    return _highest(found, np.bincount(which, np.concatenate(worth)) / longer, BEST)


def _highest(places: Rows, worth: NDArray[Any], most: int) -> Rows:
    if len(places) <= most:
        return places
    best: Rows = places[np.argpartition(-worth, most)[:most]]
    return best


# ---------------------------------------------------------------- meaning


def _by_meaning(
    stretches: Sequence[PassageStretch],
    base: Rows,
    shelves: Sequence[_Shelf],
    vector: NDArray[np.float32],
    model: str,
    today: bool,
) -> Rows:
    """The nearest: by signs those of each shelf, then of all, of these by cosines."""
    asked = signs_of((vector > 0).astype(np.int8)[None, :])[:, 0]
    places, apart = [np.zeros(0, np.int64)], [np.zeros(0, np.int16)]
    for shelf in shelves:
        first, last = int(shelf.since[0]), int(shelf.until[-1])
        if shelf.segment is None:
            here = shelf.passages.vector if today else shelf.passages.former
            signs = signs_of(here) if here.shape[1] == len(vector) else None
        else:
            mine = shelf.segment.head.model == model
            signs = shelf.segment.signs[:, first:last] if mine else None
        if signs is None or len(signs) != len(asked):
            continue
        far = _apart(signs, asked)
        if shelf.holes:
            far[~np.isin(np.arange(first, last), shelf.rows())] = FAR
        near = _highest(np.arange(len(far)), -far, NEAREST)
        near = near[far[near] < FAR]
        places.append(shelf.places(near + first))
        apart.append(far[near])
    found = np.concatenate(places)
    found = np.sort(_highest(found, -np.concatenate(apart), NEAREST))
    cosines = [np.zeros(0, np.float32)]
    for part, rows in _by_stretch(stretches, base, found):
        cosines.append(cosine_similarities((part.vector if today else part.former)[rows], vector))
    return _highest(found, np.concatenate(cosines), BEST)


def _apart(signs: NDArray[np.uint64], asked: NDArray[np.uint64]) -> NDArray[np.int16]:
    """In how many signs each differs."""
    far = np.zeros(signs.shape[1], np.int16)
    for row, mine in zip(signs, asked, strict=True):
        far += np.bitwise_count(row ^ mine)
    return far


# ---------------------------------------------------------------- places


def _around(places: Rows, base: Rows) -> Rows:
    """These places and their neighbours, in order."""
    off = np.arange(-AROUND, AROUND + 1)
    near = np.unique((places[:, None] + off).ravel())
    inside: Rows = near[(near >= 0) & (near < base[-1])]
    return inside


def _by_stretch(
    stretches: Sequence[PassageStretch], base: Rows, places: Rows
) -> Iterator[tuple[Passages, Rows]]:
    """Places in order, as rows of the stretches in which they are."""
    cuts = np.searchsorted(places, base)
    for nth in np.flatnonzero(np.diff(cuts)).tolist():
        yield stretches[nth].passages, places[cuts[nth] : cuts[nth + 1]] - base[nth]
