"""Suggestion: of many tools the few that fit the talk, found by words and vectors, by no model.

Words are weighed as BM25 does, over a tool's name, summary and arguments, and compared by their
pieces; vectors compare what the talk means with what the tool says of itself, as a whole and word
by word; all of that is added. Where vectors are not to be had (none installed, a server that is
down or slow) words alone decide. The same talk, tools and vectors give the same tools in the same
order.

Does not know who may use what: it is given the tools that may be used.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from loopforge.core.text.topics import COMMON, fold_case, stem, written_words
from loopforge.errors import LoopforgeError
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Embeddings, Tool, WordEmbeddings
from loopforge.tools.text_similarity import LateInteraction, NgramIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

NAME, SUMMARY, ARGUMENT, EXPLAINED = 1.0, 1.0, 0.5, 0.25
"""How much a word counts in a tool's name, in its summary, as an argument's name, in what is said
of an argument."""
K1, B = 0.9, 0.75
"""BM25's own: how soon a word that is repeated counts no more, how much length counts."""
WORDS, PIECES, SAID, TOLD = 0.3, 0.15, 0.3, 0.25
"""What is added to the cosine of talk and tool: by its words, at most; by pieces of words; by the
words of the talk, each with the tool's nearest; by those of the tool, each with the talk's. The
last two only of vectors that each word has: a model that reads whole lines is worse with them."""
FADE = 0.5
"""How much an earlier line of the talk counts, of what the one after it does."""
LINES = 4
LONGEST = 4_000
"""Lines of the talk, and characters of each, that are looked at."""
VIEWS = (1.0, 0.3, 0.3)
"""How much the views of a tool count in its vector: the whole, its name, its summary."""
SECONDS = 2.0
"""A turn waits for vectors of the talk no longer than this."""


class RankedTool(NamedTuple):
    """A tool and how well it fits; what fits better has more."""

    name: str
    score: float


class ToolIndex:
    """Tools, ready to be ranked. `embeddings` None: by words alone.

    Vectors of tools are made beside the turns: one waits for them for SECONDS, and then goes by
    words. After a failure they are tried again at the earliest when `pause` seconds have gone by.
    """

    def __init__(self, embeddings: Embeddings | None = None, *, pause: float = 60.0) -> None:
        self._embeddings, self._pause = embeddings, pause
        self._known: tuple[Tool, ...] = ()
        self._postings: dict[str, tuple[NDArray[np.intp], NDArray[np.float32]]] = {}
        self._most: dict[str, float] = {}
        self._pieces = NgramIndex(())
        self._late: LateInteraction | None = None
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._matrix: NDArray[np.float32] | None = None
        self._tasks = BackgroundTasks()
        self._making: asyncio.Task[None] | None = None
        self._again = 0.0

    async def rank(self, tools: Sequence[Tool], talk: Sequence[str]) -> list[RankedTool]:
        """All of these tools, the fittest first, for a talk (its lines, the newest last).

        The first time they are seen, and after a change of them, they are indexed.
        """
        import numpy as np

        if (known := tuple(tools)) != self._known:
            self._postings, self._most = _postings([_weighed(tool) for tool in known])
            self._pieces = NgramIndex([*map(_whole, known)])
            self._known, self._matrix, self._late = known, None, None
        lines = [line[-LONGEST:] for line in talk[-LINES:] if line.strip()]
        weights = [FADE**age for age in reversed(range(len(lines)))]
        scores = np.zeros(len(tools), np.float32)
        for weight, line in zip(weights, lines, strict=True):
            words = WORDS * self._by_words(line, len(tools)) + PIECES * self._pieces.scores(line)
            scores += weight * words
        meant = await self._meant(lines) if known and lines else None
        if meant is not None and self._matrix is not None and self._known == known:
            scores += self._matrix @ (np.array(weights, np.float32) @ meant)
            if self._late is not None:
                for weight, line in zip(weights, lines, strict=True):
                    said, told = self._late.scores(line)
                    scores += weight * (SAID * said + TOLD * told)
        order = np.argsort(-scores, kind="stable")
        return [RankedTool(tools[at].name, float(scores[at])) for at in order]

    async def learn(self, tools: Sequence[Tool]) -> None:
        """Make the vectors of these tools, and wait until they are there. Raises ModelError."""
        await self.rank(tools, ())
        if self._embeddings is not None and self._known:
            await self._place(self._known, self._embeddings)

    async def close(self) -> None:
        """Make no more vectors."""
        await self._tasks.close()
        if self._embeddings is not None:
            await self._embeddings.close()

    async def _meant(self, lines: Sequence[str]) -> NDArray[np.float32] | None:
        """The vectors of the talk; None where they, or those of the tools, are not to be had."""
        if self._embeddings is None or asyncio.get_running_loop().time() < self._again:
            return None
        try:
            async with asyncio.timeout(SECONDS):
                if self._matrix is None:
                    await asyncio.shield(self._placing(self._embeddings))
                if self._matrix is not None:
                    return await self._embeddings.vectors(lines)
        except TimeoutError:
            if self._matrix is not None:
                self._gone("Its vectors take too long.")
        except LoopforgeError as error:
            self._gone(str(error))
        return None

    def _placing(self, embeddings: Embeddings) -> asyncio.Task[None]:
        """What makes the vectors of the tools, begun where it is not under way."""
        if self._making is None or self._making.done():
            self._making = self._tasks.spawn(self._beside(self._known, embeddings), "tool vectors")
        return self._making

    async def _beside(self, tools: tuple[Tool, ...], embeddings: Embeddings) -> None:
        """Make them while turns go on; a failure is told in the log."""
        try:
            await self._place(tools, embeddings)
        except LoopforgeError as error:
            self._gone(str(error))

    def _gone(self, why: str) -> None:
        """Do without vectors for a while."""
        self._again = asyncio.get_running_loop().time() + self._pause
        log.warning("Tools are found by words alone for now. %s", why)

    async def _place(self, tools: tuple[Tool, ...], embeddings: Embeddings) -> None:
        """Make the vectors of these tools; those that were had before are not asked for again."""
        import numpy as np

        views = [_views(tool) for tool in tools]
        wanted = dict.fromkeys(text for each in views for text in each)
        known = self._vectors  # others may take their place while the new ones are made
        new = [text for text in wanted if text not in known]
        found = await embeddings.vectors(new) if new else ()
        had = known | dict(zip(new, found, strict=True))
        self._vectors = {text: had[text] for text in wanted}
        weights = np.array(VIEWS, np.float32) / sum(VIEWS)
        late = None
        if tools and isinstance(embeddings, WordEmbeddings):
            late = await asyncio.to_thread(LateInteraction, [*map(_whole, tools)], embeddings)
        if self._known == tools:
            self._late = late
            self._matrix = np.stack(
                [weights @ np.stack([had[one] for one in each]) for each in views]
            )

    def _by_words(self, line: str, count: int) -> NDArray[np.float32]:
        """From 0 to 1: how much of what the words of a line could give, each tool gives."""
        import numpy as np

        scores, best = np.zeros(count, np.float32), 0.0
        for word in {*_stems(line)} & self._postings.keys():
            places, worth = self._postings[word]
            scores[places] += worth
            best += self._most[word]
        return scores / best if best else scores


def _whole(tool: Tool) -> str:
    """A tool in its own words."""
    return f"{tool.name} {tool.summary}"


def _views(tool: Tool) -> tuple[str, str, str]:
    """A tool in the words that its vector is made of: as a whole, its name, its summary."""
    name = " ".join(written_words(tool.name))
    return f"{name}. {tool.summary}", name, tool.summary


def _stems(text: str) -> Iterator[str]:
    for word in map(fold_case, written_words(text)):
        if word not in COMMON:
            yield stem(word)


def _weighed(tool: Tool) -> Counter[str]:
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
