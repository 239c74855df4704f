"""The static table: a vector for each piece of a word, and their mean for a text. No model runs.

The table is wordllama's (MIT License), 32,000 pieces of 256 numbers, as its package carries it; the
package's own code is not used, since it asks for 65 MB of libraries. The file is mapped, not read,
so that only what is looked up lies in memory. Pieces are those of Llama 2's tokenizer: of two
neighbours, those are joined first whose union is the earliest piece of the list. It knows English
best. It knows nothing of the order of words.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from loopforge.core.text.topics import COMMON, fold_case, written_words
from loopforge.errors import NotInstalled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PACKAGE = "wordllama"
"""What carries the table."""
MISSING = (
    "The table of word vectors is not installed here. `loopforge up --model` fetches it, or `pip "
    "install --no-deps wordllama==0.2.2.post0`; or name a server in the setting embeddings_url."
)
NONE = 1 << 30
LONGEST = 64
"""Characters of a word that are looked up; a longer one is no word."""


class StaticTable:
    """The table as Embeddings. Raises NotInstalled where its package is not here.

    Its files are read when the first text comes, where that is done: in a thread.
    """

    name = "wordllama-l2-supercat-256"
    dimension = 256

    def __init__(self) -> None:
        self._root = _package()
        self._word = lru_cache(20_000)(self._numbers)

    @cached_property
    def _table(self) -> NDArray[np.float16]:
        with _reading(self._root / "weights" / "l2_supercat_256.safetensors") as path:
            table: NDArray[np.float16] = _mapped(path)
            return table

    @cached_property
    def _pieces(self) -> dict[str, int]:
        with _reading(self._root / "tokenizers" / "l2_supercat_tokenizer_config.json") as path:
            return _vocabulary(path)

    def read(self) -> Self:
        """Itself, with its files read now. Raises NotInstalled where they cannot be."""
        _ = self._table, self._pieces
        return self

    async def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As Embeddings has it."""
        return await asyncio.to_thread(self.look_up, texts)

    async def close(self) -> None:
        """Nothing is open."""

    def look_up(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same, at once: some 30,000 words a second at first, 500,000 that were met before.

        Words that carry no topic are left out, where there are others.
        """
        import numpy as np

        found = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(found, texts, strict=True):
            said = written_words(text)
            words = [word for word in said if fold_case(word) not in COMMON] or said
            if numbers := [number for word in words for number in self._word(word[:LONGEST])]:
                total = self._table[numbers].astype(np.float32).sum(axis=0)
                row[:] = total / (float(np.linalg.norm(total)) or 1.0)
        return found

    def word_vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """As WordEmbeddings has it: of a word of several pieces, their sum."""
        import numpy as np

        found = np.zeros((len(words), self.dimension), np.float32)
        for row, word in zip(found, words, strict=True):
            if numbers := self._word(word[:LONGEST]):
                row[:] = self._table[list(numbers)].astype(np.float32).sum(axis=0)
        return found

    def _numbers(self, word: str) -> tuple[int, ...]:
        """The pieces of one word, by their place in the table."""
        parts = [*f"▁{word}"]
        while len(parts) > 1:
            unions = [self._pieces.get(a + b, NONE) for a, b in pairwise(parts)]
            if (first := min(unions)) == NONE:
                break
            at = unions.index(first)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return tuple(number for part in parts for number in self._known(part))

    def _known(self, part: str) -> list[int]:
        """A piece, or where it is none, its bytes."""
        if (number := self._pieces.get(part)) is not None:
            return [number]
        return [self._pieces[f"<0x{byte:02X}>"] for byte in part.encode("utf-8", "replace")]


def _vocabulary(path: Path) -> dict[str, int]:
    """The pieces, and their places in the table."""
    pieces: dict[str, int] = json.loads(path.read_bytes())["model"]["vocab"]
    return pieces


@contextmanager
def _reading(path: Path) -> Iterator[Path]:
    try:
        yield path
    except (OSError, ValueError, KeyError) as error:
        raise NotInstalled(f"{path.name} cannot be read ({error}). {MISSING}") from error


def _package() -> Path:
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise NotInstalled(MISSING)
    return Path(next(iter(found.submodule_search_locations)))


def _mapped(path: Path) -> Any:
    """The one table in a file of safetensors, mapped. Raises ValueError for any other file."""
    import numpy as np

    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > 100_000:
            raise ValueError("its head is too long")
        (about,) = (row for key, row in json.loads(file.read(length)).items() if key[0] != "_")
    if about["dtype"] != "F16" or about["shape"][1:] != [StaticTable.dimension]:
        raise ValueError("it holds another table")
    start = 8 + length + about["data_offsets"][0]
    return np.memmap(path, np.dtype("<f2"), "r", start, tuple(about["shape"]))
