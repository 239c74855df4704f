"""Suggestion: of many tools the few that fit the talk, found by words and vectors, by no model.

Words are weighed as BM25 does, over a tool's name, summary and arguments; vectors compare what the
talk means with what the tool says of itself; the two are added. Where vectors are not to be had
(none installed, a server that is down or slow) words alone decide. The same talk, tools and
vectors give the same tools in the same order.

Does not know who may use what: it is given the tools that may be used.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import msgspec

from loopforge.core.text.topics import COMMON, folded, stem, written_words
from loopforge.errors import LoopforgeError
from loopforge.runtime.ports import Embeddings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

NAME, SUMMARY, ARGUMENT, EXPLAINED = 1.0, 1.0, 0.5, 0.25
"""How much a word counts in a tool's name, in its summary, as an argument's name, in what is said
of an argument."""
K1, B = 1.2, 0.75
"""BM25's own: how soon a word that is repeated counts no more, how much length counts."""
WORDS = 0.4
"""What the words of a tool that has all words of the talk add to a cosine."""
FADE = 0.5
"""How much an earlier line of the talk counts, of what the one after it does."""
LINES = 4
LONGEST = 4_000
"""Lines of the talk, and characters of each, that are looked at."""
SECONDS = 2.0
"""A turn waits for vectors of the talk no longer than this."""


class Described(Protocol):
    """A tool, as far as suggestion looks at it; `schema` is the JSON schema of its arguments."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def summary(self) -> str: ...  # noqa: D102

    @property
    def schema(self) -> dict[str, Any]: ...  # noqa: D102


D = TypeVar("D", bound=Described)


class RankedTool(NamedTuple):
    """A tool and how well it fits; what fits better has more."""

    name: str
    score: float


class ToolIndex:
    """Tools, ready to be ranked. `embeddings` None: by words alone."""

    def __init__(self, embeddings: Embeddings | None = None) -> None:
        self._embeddings = embeddings
        self._known: tuple[tuple[str, str], ...] = ()
        self._postings: dict[str, tuple[NDArray[np.intp], NDArray[np.float32]]] = {}
        self._most: dict[str, float] = {}
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._matrix: NDArray[np.float32] | None = None

    async def rank(self, tools: Sequence[Described], talk: Sequence[str]) -> list[RankedTool]:
        """All of these tools, the fittest first, for a talk (its lines, the newest last).

        The first time they are seen, and after a change of them, they are indexed.
        """
        import numpy as np

        await self._learn(tools)
        lines = [line[-LONGEST:] for line in talk[-LINES:] if line.strip()]
        weights = [FADE**age for age in reversed(range(len(lines)))]
        scores = np.zeros(len(tools), np.float32)
        for weight, line in zip(weights, lines, strict=True):
            scores += weight * WORDS * self._by_words(line, len(tools))
        if self._matrix is not None and (vectors := await self._embedded(lines)) is not None:
            scores += self._matrix @ (np.array(weights, np.float32) @ vectors)
        order = np.argsort(-scores, kind="stable")
        return [RankedTool(tools[at].name, float(scores[at])) for at in order]

    async def _learn(self, tools: Sequence[Described]) -> None:
        known = tuple((tool.name, _described(tool)) for tool in tools)
        if known != self._known:
            self._postings, self._most = _postings([_weighed(tool) for tool in tools])
            self._known = known
            self._matrix = None
        if self._matrix is None and self._embeddings is not None and known:
            self._matrix = await self._placed([text for _, text in known], self._embeddings)

    async def _placed(
        self, texts: Sequence[str], embeddings: Embeddings
    ) -> NDArray[np.float32] | None:
        """The vectors of the tools; those that were had before are not asked for again."""
        import numpy as np

        new = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        try:
            found = await embeddings.vectors(new) if new else ()
        except LoopforgeError as error:
            log.warning("Tools are found by words alone for now. %s", error)
            return None
        had = self._vectors | dict(zip(new, found, strict=True))
        self._vectors = {text: had[text] for text in texts}
        return np.stack([had[text] for text in texts])

    async def _embedded(self, lines: Sequence[str]) -> NDArray[np.float32] | None:
        """The vectors of the talk; None where they are not to be had in time."""
        if self._embeddings is None or not lines:
            return None
        try:
            async with asyncio.timeout(SECONDS):
                return await self._embeddings.vectors(lines)
        except (LoopforgeError, TimeoutError) as error:
            why = str(error) or "It took too long."
            log.warning("Tools are found by words alone this time. %s", why)
            return None

    def _by_words(self, line: str, count: int) -> NDArray[np.float32]:
        """From 0 to 1: how much of what the words of a line could give, each tool gives."""
        import numpy as np

        scores, best = np.zeros(count, np.float32), 0.0
        for word in {*_stems(line)} & self._postings.keys():
            places, worth = self._postings[word]
            scores[places] += worth
            best += self._most[word]
        return scores / best if best else scores


def offered(
    tools: Sequence[D],
    fits: Iterable[RankedTool],
    *,
    pinned: Collection[str] = (),
    before: Sequence[str] = (),
    most: int = 8,
    room: int = 4_000,
) -> list[D]:
    """The tools that a turn is offered, so that what stands in front changes as seldom as can be.

    Pinned ones come first, by name, always. Then those that were offered `before`, in that order,
    then the `most` that fit best, in theirs; where all of that is more than twice `most`, or is
    larger than `room` bytes of JSON, those of before go, and the front is made anew.
    """
    known = {tool.name: tool for tool in tools}
    front = sorted(name for name in {*pinned} if name in known)
    fitting = [fit.name for fit in fits if fit.name not in front][:most]
    earlier = [name for name in before if name in known and name not in front]
    kept = list(dict.fromkeys([*earlier, *fitting]))
    left = room - sum(size(known[name]) for name in front)
    if len(kept) > 2 * most or sum(size(known[name]) for name in kept) > left:
        kept = []
        for name in fitting:
            if (needs := size(known[name])) <= left:
                kept.append(name)
                left -= needs
    return [known[name] for name in (*front, *kept)]


def size(tool: Described) -> int:
    """How many bytes a tool's definition takes in a prompt, about."""
    return len(msgspec.json.encode((tool.name, tool.summary, tool.schema)))


def _described(tool: Described) -> str:
    """A tool in the words that its vector is made of."""
    return f"{' '.join(written_words(tool.name))}. {tool.summary}"


def _stems(text: str) -> Iterator[str]:
    for word in map(folded, written_words(text)):
        if word not in COMMON:
            yield stem(word)


def _weighed(tool: Described) -> Counter[str]:
    """The stems of a tool's words, each with what it counts."""
    bag: Counter[str] = Counter()
    parts = [(NAME, tool.name), (SUMMARY, tool.summary), *_arguments(tool.schema)]
    for weight, text in parts:
        for word in _stems(text):
            bag[word] += weight  # type: ignore[assignment]
    return bag


def _arguments(schema: dict[str, Any]) -> Iterator[tuple[float, str]]:
    properties = schema.get("properties")
    for name, about in properties.items() if isinstance(properties, dict) else ():
        yield ARGUMENT, str(name)
        if isinstance(about, dict) and isinstance(said := about.get("description"), str):
            yield EXPLAINED, said


def _postings(
    bags: Sequence[Counter[str]],
) -> tuple[dict[str, tuple[NDArray[np.intp], NDArray[np.float32]]], dict[str, float]]:
    """For each word, which tools have it and what it is worth there; and the most it can be."""
    import numpy as np

    lengths = np.array([sum(bag.values()) for bag in bags], np.float32)
    longer = K1 * (1 - B + B * lengths / (float(lengths.mean()) or 1.0)) if len(bags) else lengths
    where: dict[str, list[int]] = {}
    for place, bag in enumerate(bags):
        for word in bag:
            where.setdefault(word, []).append(place)
    postings, most = {}, {}
    for word, at in where.items():
        places = np.array(at)
        often = np.array([bags[place][word] for place in at], np.float32)
        rare = float(np.log(1 + (len(bags) - len(at) + 0.5) / (len(at) + 0.5)))
        postings[word] = places, rare * often * (K1 + 1) / (often + longer[places])
        most[word] = rare * (K1 + 1)
    return postings, most
