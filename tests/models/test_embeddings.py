"""Embeddings: the table that comes along, and servers that answer as OpenAI's does, well or badly."""

import json
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from loopforge.errors import BadSettings, ModelError, NotInstalled
from loopforge.models.embeddings import static_table
from loopforge.models.embeddings.embeddings_choice import EmbeddingsChoice, embeddings_of
from loopforge.models.embeddings.embeddings_endpoint import EmbeddingsEndpoint
from loopforge.models.embeddings.static_table import StaticTable
from loopforge.models.providers.model_spec import Secret
from loopforge.settings import load_settings
from tests.child_process import run_python
from tests.hurried_clock import HurriedClock
from tests.listening import listening

Answer = Callable[[list[str], int], tuple[int, Any]]
"""From the texts of a request, and which it is, to a status and a body."""


def rows(texts: list[str], numbers: int = 3) -> list[dict[str, Any]]:
    """A vector for each text, whose first number is its length, as OpenAI writes them."""
    return [
        {"object": "embedding", "index": at, "embedding": [len(text), *[1.0] * (numbers - 1)]}
        for at, text in enumerate(texts)
    ]


class Served:
    """A server of embeddings on loopback, as strict as OpenAI's; `batches` are what it was sent."""

    def __init__(self, answer: Answer) -> None:
        self.batches: list[list[str]] = []
        self.keys: list[str] = []
        self.url, self._answer = "", answer

    async def reply(self, request: web.Request) -> web.Response:
        """Whatever the test says; what OpenAI refuses is refused."""
        body = await request.json()
        assert body.keys() == {"model", "input", "encoding_format"}
        assert body["input"]
        assert all(body["input"])
        self.batches.append(body["input"])
        self.keys.append(request.headers.get("authorization", ""))
        status, answer = self._answer(body["input"], len(self.batches))
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return web.Response(status=status, text=text, headers={"retry-after": "1"})


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[tuple[Served, EmbeddingsEndpoint]]:
    """A server, and what asks it, with a clock that does not keep one waiting."""
    served = Served(answer)
    app = web.Application()
    app.router.add_post("/v1/embeddings", served.reply)
    async with listening(app) as url:
        served.url = f"{url}/v1"
        asking = EmbeddingsEndpoint(served.url, "m-1", Secret("sk-sesame"), HurriedClock(1000))
        try:
            yield served, asking
        finally:
            await asking.close()


# ---------------------------------------------------------------- the table


async def test_near_meanings_lie_near() -> None:
    """What the weather does is nearer to a forecast than to a bill, and each row has length 1."""
    table = StaticTable()
    asked, near, far = await table.vectors(
        ["will it rain tomorrow?", "a weather forecast for any city", "pay an invoice by card"]
    )
    assert asked @ near > asked @ far + 0.1
    assert math.isclose(float(np.linalg.norm(asked)), 1, abs_tol=1e-5)


async def test_any_text_has_a_vector() -> None:
    """Nothing, signs, other scripts and a word of a megabyte are taken; nothing is zeros."""
    table = StaticTable()
    texts = ["", "?!", "Straße 天気 🌧 \ud800", "w" * 1_000_000, "the of and"]
    found = await table.vectors(texts)
    lengths = np.linalg.norm(found, axis=1)
    assert found.shape == (5, table.dimension)
    assert [round(float(length)) for length in lengths] == [0, 0, 1, 1, 1]


def test_words_are_cut_as_the_table_was_made() -> None:
    """The pieces are those of the tokenizer that the table belongs to."""
    table = StaticTable()
    pieces = {number: piece for piece, number in table._pieces.items()}
    cut = {word: [pieces[n] for n in table._numbers(word)] for word in ("tokenization", "zürich")}
    assert cut == {"tokenization": ["▁token", "ization"], "zürich": ["▁z", "ür", "ich"]}


def test_without_the_table_one_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is not everywhere, and nothing else is missing."""
    monkeypatch.setattr(static_table, "PACKAGE", "a_package_that_nobody_has")
    with pytest.raises(NotInstalled, match="loopforge up --model"):
        StaticTable()


async def test_a_table_that_cannot_be_read_is_told_at_the_first_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And whoever asks for embeddings of that name is given none."""
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "l2_supercat_256.safetensors").write_bytes(b"something else")
    monkeypatch.setattr(static_table, "_package", lambda: tmp_path)
    table = StaticTable()
    with pytest.raises(NotInstalled, match="cannot be read"):
        await table.vectors(["a word"])
    choice = EmbeddingsChoice(lambda: load_settings(tmp_path, environ={}), HurriedClock(1000))
    assert choice.called(StaticTable.name) is None


# ---------------------------------------------------------------- servers


async def test_a_server_is_asked_once_for_a_batch_and_its_order_does_not_matter() -> None:
    """Rows come back in the order of the texts; an empty text is not sent, and is zeros."""
    async with serving(lambda texts, _: (200, {"data": rows(texts)[::-1]})) as (served, asking):
        found = await asking.vectors(["one", " ", "three"])
    assert served.batches == [["one", "three"]]
    assert served.keys == ["Bearer sk-sesame"]
    assert [round(float(row[0]), 2) for row in found] == [0.9, 0.0, 0.96]
    assert (asking.dimension, found.dtype.name) == (3, "float32")


async def test_a_server_that_takes_few_texts_at_once_is_given_few() -> None:
    """What it refuses is halved until it fits, and from then on never more is sent."""

    def answer(texts: list[str], _: int) -> tuple[int, Any]:
        return (200, {"data": rows(texts)}) if len(texts) <= 40 else (413, "batch too large")

    async with serving(answer) as (served, asking):
        found = await asking.vectors(["x"] * 200)
        await asking.vectors(["x"] * 64)
    assert len(found) == 200
    assert [len(batch) for batch in served.batches] == [128, 64, *[32] * 6, 8, 32, 32]


@pytest.mark.parametrize("refusal", [400, 413, 422, 500])
async def test_a_text_that_is_too_long_stands_by_its_beginning(refusal: int) -> None:
    """It is halved until it is taken; the others' vectors come, and as many are sent at once again."""

    def answer(texts: list[str], _: int) -> tuple[int, Any]:
        fits = all(len(text) <= 1000 for text in texts)
        return (200, {"data": rows(texts)}) if fits else (refusal, "input too long")

    async with serving(answer) as (served, asking):
        found = await asking.vectors(["x", "好" * 5000, "xxx"])
        short = await asking.vectors(["x", "好" * 625, "xxx"])
        assert np.allclose(found, short)
        assert len(await asking.vectors(["x"] * 64)) == 64
    assert [len(batch) for batch in served.batches[-2:]] == [3, 64]


async def test_a_text_of_which_nothing_is_taken_has_no_vector() -> None:
    """Where the server takes others it is the text's fault, and nothing behind it waits for it."""

    def answer(texts: list[str], _: int) -> tuple[int, Any]:
        return (
            (422, "refused")
            if any("好" in text for text in texts)
            else (200, {"data": rows(texts)})
        )

    async with serving(answer) as (_, asking):
        found = await asking.vectors(["好" * 500, "xxx"])
    assert [round(float(np.linalg.norm(row))) for row in found] == [0, 1]


async def test_a_key_that_cannot_be_sent_is_told() -> None:
    """A header holds no such sign: who set it is told what to set, and the key is not shown."""
    asking = EmbeddingsEndpoint(
        "http://127.0.0.1:1/v1", "m", Secret("sk-säsam"), HurriedClock(1000)
    )
    with pytest.raises(
        ModelError, match=r"key or address has signs .* set embeddings_key"
    ) as raised:
        await asking.vectors(["one"])
    assert "sam" not in str(raised.value)
    await asking.close()


async def test_half_a_sign_is_no_hindrance() -> None:
    """Half of a pair of surrogates, as some clients cut texts, is sent as a question mark."""
    async with serving(lambda texts, _: (200, {"data": rows(texts)})) as (served, asking):
        await asking.vectors(["a \ud83d b"])
    assert served.batches == [["a ? b"]]


async def test_a_password_in_an_address_is_not_kept_with_vectors() -> None:
    """The name that stands beside each vector tells the server alone."""
    asking = EmbeddingsEndpoint("http://ana:s3cret@box/v1/", "m", Secret(), HurriedClock(1000))
    assert asking.name == "m at http://box/v1"


async def test_a_busy_server_is_waited_for() -> None:
    """Twice; then it answers, or one is told."""
    async with serving(
        lambda texts, nth: (200, {"data": rows(texts)}) if nth == 3 else (429, "slow down")
    ) as (served, asking):
        assert len(await asking.vectors(["x"])) == 1
    assert len(served.batches) == 3
    async with serving(lambda *_: (429, "slow down")) as (served, asking):
        with pytest.raises(ModelError, match="its answer was 429: slow down"):
            await asking.vectors(["x"])
    assert len(served.batches) == 3


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (401, {"error": "bad key"}, "its key is refused .*; set embeddings_key"),
        (404, {"error": "no such model"}, "its model or address is unknown .*; see embeddings_url"),
        (400, "input too long", "its answer was 400: input too long"),
        (200, "<html>hello</html>", "holds not one vector for each of 2 texts"),
        (200, {"data": rows(["one"])}, "holds not one vector for each of 2 texts"),
        (200, {"data": [{"embedding": "AAAA"}] * 2}, "holds not one vector for each"),
        (200, {"data": [{"embedding": [10**400]}] * 2}, "holds not one vector for each"),
        (200, '{"data": [{"index": Infinity, "embedding": [1]}]}', "holds not one vector for each"),
        (200, {"data": [{"embedding": []}] * 2}, "holds not one vector|vectors have 0 numbers"),
        (200, {"data": [*rows(["a"]), *rows(["a", "b"], 4)[1:]]}, "vectors have 3, 4 numbers"),
        (
            200,
            '{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}',
            "none",
        ),
    ],
)
async def test_an_answer_that_is_none_is_told(status: int, body: Any, told: str) -> None:
    """The sentence names the server and says what is wrong with what it said."""
    async with serving(lambda *_: (status, body)) as (served, asking):
        with pytest.raises(ModelError, match=told) as raised:
            await asking.vectors(["one", "two"])
    assert served.url in str(raised.value)
    assert "sesame" not in str(raised.value)


async def test_a_server_whose_vectors_change_their_size_is_not_believed() -> None:
    """Another model answers all at once: its vectors cannot be compared with those of before."""
    async with serving(lambda texts, nth: (200, {"data": rows(texts, 2 + nth)})) as (_, asking):
        await asking.vectors(["one"])
        with pytest.raises(ModelError, match="vectors have 4 numbers, where 3 were expected"):
            await asking.vectors(["one"])


async def test_a_server_that_is_not_there_is_told() -> None:
    """Nobody listens at this address."""
    asking = EmbeddingsEndpoint("http://127.0.0.1:1/v1", "m", Secret(), HurriedClock(1000))
    with pytest.raises(ModelError, match="address cannot be reached"):
        await asking.vectors(["one"])
    await asking.close()


# ---------------------------------------------------------------- settings


def test_a_home_says_which_embeddings_it_uses(tmp_path: Path) -> None:
    """Without a word the table; with an address that server, whose key is shown nowhere."""
    clock = HurriedClock(1)
    assert embeddings_of(load_settings(tmp_path, environ={}), clock).name.startswith("wordllama")
    told = {
        "LOOPFORGE_EMBEDDINGS_URL": "http://127.0.0.1:11434/v1",
        "LOOPFORGE_EMBEDDINGS_MODEL": "nomic-embed-text",
        "LOOPFORGE_EMBEDDINGS_KEY": "sk-sesame",
    }
    settings = load_settings(tmp_path, environ=told)
    assert embeddings_of(settings, clock).name.startswith("nomic-embed-text at http")
    assert "sesame" not in repr(settings)
    with pytest.raises(BadSettings, match="must be such as"):
        load_settings(tmp_path, environ={"LOOPFORGE_EMBEDDINGS_URL": "localhost"})


def test_the_sentence_model_tells_nobody_and_leaves_nothing(tmp_path: Path) -> None:
    """What runs it would keep an id of the device and tell its makers of each start: it does not."""
    script = (
        "import asyncio\n"
        "from loopforge.models.embeddings.sentence_model import SentenceModel\n"
        "print(asyncio.run(SentenceModel().vectors(['a slug'])).shape)\n"
    )
    told = run_python("-c", script, env={"HOME": str(tmp_path)})
    assert (told.stdout, told.stderr) == ("(1, 640)\n", "")
    assert list(tmp_path.rglob("*")) == []
