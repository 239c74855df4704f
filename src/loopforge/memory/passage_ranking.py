"""Which passages fit what is asked: words, vectors and cues, fused by weights that stand here.

    words    Okapi BM25 over a passage, over it with its neighbours (a window of 3, one of 5), and
             over its whole talk; each as the share of the most that it could be
    meaning  the cosine of question and passage, and its mean over the same windows
    cues     whoever is named said it; "when" wants a line that tells a time; a time that is named;
             "I" means the one who asks; what follows a question answers it

A window takes in a neighbour only where both together are short, so that small talk is read in its
context and long answers are read by themselves: one set of weights does for both. Pure arithmetic
over arrays; knows no tables and no rooms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct

from loopforge.memory.passage_arrays import talk_numbers
from loopforge.memory.passages import ASKING, TIMED, bag_of_words, hash_stem, search_stems
from loopforge.memory.time_cues import TimeSpan, asks_when

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from loopforge.memory.passage_arrays import Passages

    Numbers = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class RankingWeights:
    """What each part counts. Where they come from: bench/README.md, "How passages are ranked"."""

    passage: float = 0.3
    three: float = 0.4
    five: float = 0.3
    talk: float = 0.15
    meaning: float = 0.16
    """Of each of the three: the passage, and its windows."""
    among_long: float = 0.9
    """More for each passage where most lines are long (`_wordiness`), and there so much less for
    words: in long chats everything is said again and again, and whoever asks says it otherwise."""
    words_among_long: float = 0.75
    named: float = 0.6
    when: float = 0.3
    told_time: float = 0.1
    mine: float = 0.15
    after_question: float = 0.03
    question: float = -0.03
    floor: float = 0.2
    """`named` and `when` are shares of what the words give, which counts as so much at least."""


WEIGHTS = RankingWeights()
K1, B = 1.2, 0.75
"""Okapi's own, as everywhere."""
WORDY = 0.35, 0.65
"""Share of passages that go on with a line, from which on lines count as long, and altogether."""
WINDOWS = ((1, 120), (2, 200))
"""Neighbours on each side, and the words that all of a window may have."""
_OTHERS_WORDS = re.compile(
    r"^(?>.*?\b(?:you|du)\b).*\b"
    r"(?:sa(?:id|y)|t(?:ell|old)|suggest|recommend|advi[sc]e|explain|propose|gesagt|empfohlen|"
    r"vorgeschlagen|erklärt|geraten)",
    re.IGNORECASE | re.MULTILINE,
)
AT_ONCE = 512
"""Vectors that are compared at once: as many as stay in a processor's own memory."""
FEW = 8
"""Passages that are looked at for each line that is wanted: a long line has several."""
RAREST = 16
"""Words of a question that count, the rarest first."""


class RecallCue(NamedTuple):
    """A question: its vector (None: by words alone), who is named in it, who asks, about when.

    `former` is its vector by the model whose vectors some passages still have.
    """

    text: str
    vector: Numbers | None = None
    former: Numbers | None = None
    named: frozenset[str] = frozenset()
    asker: str = ""
    span: TimeSpan | None = None


class RankedPassage(Struct, frozen=True, kw_only=True):
    """A passage by its place, its score, and what that is made of."""

    place: int
    score: float
    parts: dict[str, float]


class PassageCorpus(NamedTuple):
    """All passages that were looked through, where `rank_passages` is given but some of them.

    How many there are, how many hold each word (by number), and of those that are given the talk of
    each: of two that do not stand side by side in a room, not the same.
    """

    many: int
    holding: Mapping[int, int]
    talk: NDArray[np.int64]


def rank_passages(
    found: Passages,
    asked: RecallCue,
    limit: int,
    corpus: PassageCorpus | None = None,
    besides: NDArray[np.bool_] | None = None,
) -> list[RankedPassage]:
    """The best passages, the best first, one a line; none of those that are `besides`."""
    if not len(found):
        return []
    parts = _part_scores(found, asked, WEIGHTS, corpus)
    total = np.sum(list(parts.values()), axis=0)
    if besides is not None:
        total[besides] = -np.inf
    best: dict[tuple[int, int], RankedPassage] = {}
    for place in _places_by_worth(total, limit * FEW):
        line = int(found.room[place]), int(found.seq[place])
        if total[place] == -np.inf:
            break
        if line not in best:
            told = {name: round(float(each[place]), 4) for name, each in parts.items()}
            best[line] = RankedPassage(place=int(place), score=float(total[place]), parts=told)
            if len(best) == limit:
                break
    return list(best.values())


def _places_by_worth(worth: Numbers, first: int) -> Iterator[int]:
    """The places by their worth, of equal ones the earlier first.

    Of many, the `first` ones are found without all being sorted.
    """
    known = np.zeros(0, np.int64)
    if first < len(worth):
        least = np.partition(worth, len(worth) - first)[len(worth) - first]
        above = np.flatnonzero(worth >= least)
        known = above[np.argsort(-worth[above], kind="stable")]
        yield from known.tolist()
    yield from np.argsort(-worth, kind="stable")[len(known) :].tolist()


def _part_scores(
    found: Passages, asked: RecallCue, weights: RankingWeights, corpus: PassageCorpus | None
) -> dict[str, Numbers]:
    """What each part gives each passage."""
    talk = talk_numbers(found) if corpus is None else corpus.talk
    neighbours = _window_steps(found, talk)
    words = _word_scores(found, asked.text, neighbours, weights, corpus)
    if asked.vector is not None or asked.former is not None:
        words *= 1 - weights.words_among_long * _wordiness(found) * _comparable(found, asked)
    least = np.maximum(words, weights.floor)
    parts = {"words": words}
    if asked.vector is not None or asked.former is not None:
        parts["meaning"] = _vector_scores(found, asked, neighbours, weights)
    if asked.named:
        named = np.array([hash_stem(who) for who in asked.named], np.uint32)
        said = np.isin(found.speaker, named).astype(np.float32)
        parts["named"] = weights.named * said * least
    if asks_when(asked.text):
        parts["when"] = weights.when * ((found.traits & TIMED) > 0) * least
    if asked.span is not None:
        inside = (found.at >= asked.span.since) & (found.at < asked.span.until)
        parts["time"] = weights.told_time * inside.astype(np.float32)
    if asked.asker and _first_person(asked.text):
        parts["asker"] = weights.mine * (found.speaker == hash_stem(asked.asker))
    asking = (found.traits & ASKING) > 0
    after = np.concatenate([[False], asking[:-1] & (np.diff(talk) == 0)])
    parts["talk"] = weights.after_question * after + weights.question * asking
    return parts


def _comparable(found: Passages, asked: RecallCue) -> NDArray[np.bool_]:
    """Which have a vector to compare; of what was just said, words tell alone."""
    there = np.zeros(len(found), bool)
    if asked.vector is not None:
        there |= found.meant
    if asked.former is not None:
        there |= found.former.any(axis=1)
    return there


def _wordiness(found: Passages) -> float:
    """Whether these are long messages, 0 to 1; small talk is none."""
    since, until = WORDY
    share = float((found.nth > 0).mean())
    return min(max((share - since) / (until - since), 0.0), 1.0)


def _first_person(text: str) -> bool:
    """Whether somebody asks about what they said themselves."""
    if _OTHERS_WORDS.search(text):
        return False
    said = {word.strip(".,;:?!").partition("'")[0] for word in text.lower().split()}
    return not said.isdisjoint(("i", "my", "me", "mine", "ich", "mein", "meine", "mir", "mich"))


# ---------------------------------------------------------------- windows


Step = tuple[int, "NDArray[np.bool_]"]
"""How far a neighbour is, and of which passages it is in the window."""


def _window_steps(found: Passages, talk: NDArray[np.int64]) -> list[list[Step]]:
    """For each kind of window its neighbours, the nearest first, as far as there is room."""
    count, here = len(found), np.arange(len(found))
    windows = []
    for wide, most in WINDOWS:
        left = most - found.size.astype(np.int64)
        steps: list[Step] = []
        for off in (sign * far for far in range(1, wide + 1) for sign in (-1, 1)):
            there = np.clip(here + off, 0, count - 1)
            fits = (here + off >= 0) & (here + off < count) & (left > 0)
            fits &= (talk[there] == talk) & (found.size[there] <= left)
            left -= np.where(fits, found.size[there], 0)
            steps.append((off, fits))
        windows.append(steps)
    return windows


def _window_sums(values: Numbers, window: list[Step]) -> Numbers:
    """The sums over each passage's window; `values` have passages along their last axis."""
    total, count = values.copy(), values.shape[-1]
    for off, fits in window:
        if abs(off) < count:
            mine = slice(max(-off, 0), count - max(off, 0))
            theirs = slice(max(off, 0), count - max(-off, 0))
            total[..., mine] += values[..., theirs] * fits[mine]
    return total


# ---------------------------------------------------------------- words


def _word_scores(
    found: Passages,
    text: str,
    windows: list[list[Step]],
    weights: RankingWeights,
    corpus: PassageCorpus | None,
) -> Numbers:
    """What the words give: the passage, its windows, its talk."""
    often, wanted = _word_counts(found, text, corpus)
    length = np.add.reduceat(np.append(found.often, 0), found.starts[:-1]).astype(np.float32)
    length[found.starts[:-1] == found.starts[1:]] = 0
    score = weights.passage * bm25(often, length, _document_spread(corpus, wanted))
    for weight, window in zip((weights.three, weights.five), windows, strict=True):
        wide = _window_sums(np.ones(len(found), np.float32), window)
        spread = _document_spread(corpus, wanted, float(wide.mean()))
        score += weight * bm25(_window_sums(often, window), _window_sums(length, window), spread)
    if corpus is None:
        score += weights.talk * _talk_scores(often, length, talk_numbers(found))
    return score


def _talk_scores(often: Numbers, length: Numbers, talk: NDArray[np.int64]) -> Numbers:
    """What the words of the whole talk give each passage in it."""
    many = int(talk[-1]) + 1
    if many == 1:
        return np.zeros(len(length), np.float32)
    whole = np.zeros((len(often), many), np.float32)
    np.add.at(whole.T, talk, often.T)
    return bm25(whole, np.bincount(talk, length).astype(np.float32))[talk]


def _word_counts(
    found: Passages, text: str, corpus: PassageCorpus | None
) -> tuple[Numbers, list[int]]:
    """How often each word of the question stands in each passage: words x passages; the words."""
    wanted = np.array(sorted(bag_of_words(search_stems(text))), np.uint32)
    at = np.flatnonzero(np.isin(found.number, wanted))
    which = np.searchsorted(wanted, found.number[at])
    if corpus is None:
        spread = np.bincount(which, minlength=len(wanted))
    else:
        spread = np.array([corpus.holding.get(int(each), 0) for each in wanted], np.int64)
    rarest = np.sort(np.argsort(spread, kind="stable")[:RAREST])
    if len(rarest) < len(wanted):
        kept = np.isin(which, rarest)
        at, which = at[kept], np.searchsorted(rarest, which[kept])
    often = np.zeros((len(rarest), len(found)), np.float32)
    often[which, np.searchsorted(found.starts, at, side="right") - 1] = found.often[at]
    return often, wanted[rarest].tolist()


def _document_spread(
    corpus: PassageCorpus | None, words: Sequence[int], wide: float = 1.0
) -> tuple[int, Numbers] | None:
    """Of how many texts how many hold each word, where texts are `wide` passages of a corpus."""
    if corpus is None:
        return None
    share = np.array([corpus.holding.get(each, 0) / corpus.many for each in words], np.float32)
    return corpus.many, corpus.many * (1 - (1 - share) ** wide)


def bm25(often: Numbers, length: Numbers, spread: tuple[int, Numbers] | None = None) -> Numbers:
    """Okapi BM25 of texts, 0 to 1: of the most that the words could be worth.

    `spread`: of how many texts how many hold each word, where these are not all.
    """
    count, holding = spread or (often.shape[1], (often > 0).sum(axis=1))
    rare = np.log(1 + (count - holding + 0.5) / (holding + 0.5))
    longer = K1 * (1 - B + B * length / max(float(length.mean()), 1.0))
    worth = (rare[:, None] * often * (K1 + 1) / (often + longer)).sum(axis=0)
    most = float((rare * (holding > 0)).sum()) * (K1 + 1)
    return np.asarray(worth / most if most else worth, np.float32)


# ---------------------------------------------------------------- meaning


def _vector_scores(
    found: Passages, asked: RecallCue, windows: list[list[Step]], weights: RankingWeights
) -> Numbers:
    """What the vectors give: the passage's cosine, and the mean over its windows.

    A passage has a vector of one model; the question has one of each, so that while vectors are
    made anew the old ones serve.
    """
    cosine = np.zeros(len(found), np.float32)
    if asked.vector is not None and found.vector.shape[1] == len(asked.vector):
        cosine += cosine_similarities(found.vector, asked.vector)
    if asked.former is not None and found.former.shape[1] == len(asked.former):
        cosine += cosine_similarities(found.former, asked.former)
    score = (weights.meaning + weights.among_long * _wordiness(found)) * cosine
    one = np.ones(len(found), np.float32)
    for window in windows:
        score += weights.meaning * _window_sums(cosine, window) / _window_sums(one, window)
    return score


def cosine_similarities(stored: NDArray[np.int8], vector: Numbers) -> Numbers:
    """The cosines of vectors in int8 with one; 0 for those that are none."""
    near = np.empty(len(stored), np.float32)
    whole = np.empty((min(AT_ONCE, len(stored)), stored.shape[1]), np.float32)
    for start in range(0, len(stored), AT_ONCE):
        some = stored[start : start + AT_ONCE]
        part = whole[: len(some)]
        part[...] = some
        lengths = np.sqrt(np.einsum("ij,ij->i", part, part))
        near[start : start + AT_ONCE] = part @ vector / np.maximum(lengths, 1e-9)
    return near


def quantize_vectors(given: Numbers) -> NDArray[np.int8]:
    """Vectors of length 1 in int8. Of hundreds of numbers none is much above a third."""
    return np.clip(np.round(given * 3 * 127), -127, 127).astype(np.int8)
