"""Counting tokens: by the model's own tokenizer where it can be asked, else estimated."""

import asyncio

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from loopforge.models import token_counting
from loopforge.models.embedded.embedded_model import EmbeddedModel, ModelAddress
from loopforge.models.providers.model_spec import ModelSpec, Secret
from loopforge.models.providers.token_estimate import estimate_tokens
from loopforge.models.token_counting import TokenCounter, count_tokens_per_text
from tests.listening import listening
from tests.models.server import serving
from tests.seeded_dice import SeededDice

TEXTS = ["one two three", "", "one", "one two three"]


def counter() -> TokenCounter:
    """A counter whose embedded model is never started."""
    return TokenCounter(EmbeddedModel(SeededDice(1)))


async def test_a_server_that_tokenizes_is_asked() -> None:
    """One's own server that answers /tokenize counts; each text is asked for once."""
    counting = counter()
    async with serving(tokenizer=True) as server:
        spec = server.spec()
        assert await counting.count(spec, TEXTS) == [3, 0, 1, 3]
    assert await counting.count(spec, ["one", "one two three"]) == [1, 3]  # remembered
    await counting.close()


async def test_what_is_forgotten_while_others_are_counted_is_counted_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A room that comes again after a long while: its lines are the oldest that are remembered."""
    monkeypatch.setattr(token_counting, "REMEMBERED", 3)
    counting = counter()
    async with serving(tokenizer=True) as server:
        spec = server.spec()
        await counting.count(spec, ["one", "two two", "three"])
        assert await counting.count(spec, ["a new one", "one", "two two"]) == [3, 1, 2]
    await counting.close()


async def test_a_server_that_does_not_is_asked_once() -> None:
    """One that does not know /tokenize is never asked again."""
    counting = counter()
    async with serving() as server:
        spec = server.spec()
        assert await counting.count(spec, TEXTS) == [estimate_tokens(text) for text in TEXTS]
        asked = len(server.asked)
        await counting.count(spec, ["something else"])
        assert len(server.asked) == asked
    await counting.close()


async def test_nobody_waits_long_for_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no count in time is estimated: a server that is busy may drip one for ever."""
    monkeypatch.setattr(token_counting, "SECONDS", 0.5)
    asked: list[str] = []

    async def tokenize(request: web.Request) -> web.StreamResponse:
        asked.append((await request.json())["content"])
        if len(asked) == 1:
            return web.json_response({"count": 7})
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" ")
            await asyncio.sleep(0)

    counting, app = counter(), web.Application()
    app.router.add_post("/tokenize", tokenize)
    async with listening(app) as url:
        spec = ModelSpec(name="m", provider="openai", base_url=f"{url}/v1", id="m-1")
        rest = estimate_tokens("two"), estimate_tokens("three")
        assert await counting.count(spec, ["one", "two", "three"]) == [7, *rest]
        assert await counting.count(spec, ["two"]) == [rest[0]]
        assert await counting.count(spec, ["three"]) == [rest[1]]
        assert asked == ["one", "two", "two"]
    await counting.close()


async def test_an_address_that_is_none_ends_in_the_estimate() -> None:
    """Whatever stands for a port, a turn goes on by the estimate."""
    counting = counter()
    spec = ModelSpec(name="m", provider="openai", base_url="http://127.0.0.1:99999/v1", id="m-1")
    assert await counting.count(spec, ["x" * 35]) == [10]
    await counting.close()


class LoadedElsewhere(EmbeddedModel):
    """An embedded model that is at this address already."""

    def __init__(self, url: str) -> None:
        super().__init__(SeededDice(1))
        self._url = url

    async def address(self) -> ModelAddress:
        """Where it is."""
        return ModelAddress(self._url, Secret("sk-sesame"))


WORDS = {"!": 0, "sure": 9707}


async def tokenize_words(request: web.Request) -> web.Response:
    """As llama.cpp does, by a vocabulary whose first token is a plain `!`, as Qwen's and Llama's."""
    content = (await request.json())["content"]
    parts = content if isinstance(content, list) else [content]
    split = [part.split() if isinstance(part, str) else [part] for part in parts]
    tokens = [
        WORDS.get(word, word if isinstance(word, int) else 1446) for one in split for word in one
    ]
    return web.json_response({"tokens": tokens})


async def test_a_separator_that_is_a_word_of_the_model_is_not_counted_by() -> None:
    """A file whose token 0 is `!` counts each text by itself where one holds it, and all are right."""
    app = web.Application()
    app.router.add_post("/tokenize", tokenize_words)
    async with listening(app) as url:
        counting = TokenCounter(LoadedElsewhere(url))
        spec = ModelSpec(name="embedded", provider="embedded", id="qwen2.5")
        assert await counting.count(spec, ["sure ! yes", "", "!", "no no"]) == [3, 0, 1, 2]
        assert await counting.count(spec, ["sure sure", "yes"]) == [2, 1]
    await counting.close()


@pytest.mark.parametrize(
    "body",
    ['{"count": 1e999}', "[" * 100_000, '{"count": null}', '{"tokens": 7}', "{}", "?"],
    ids=["endless", "deep", "null", "a number", "nothing", "no JSON"],
)
async def test_an_answer_that_is_no_count_ends_in_the_estimate(body: str) -> None:
    """Whatever a server says of a text, a turn goes on by the estimate."""

    async def tokenize(_: web.Request) -> web.Response:
        return web.Response(text=body, content_type="application/json")

    counting, app = counter(), web.Application()
    app.router.add_post("/tokenize", tokenize)
    async with listening(app) as url:
        spec = ModelSpec(name="m", provider="openai", base_url=f"{url}/v1", id="m-1")
        assert await counting.count(spec, ["x" * 35]) == [10]
    await counting.close()


async def test_services_are_not_asked() -> None:
    """Services that have no tokenizer to ask, and no model at all: estimated."""
    counting = counter()
    for provider in ("anthropic", "google"):
        spec = ModelSpec(name=provider, provider=provider, id="x")
        assert await counting.count(spec, ["x" * 35]) == [10]
    routed = ModelSpec(name="r", provider="openai", id="x", vendor="openrouter")
    for which in (routed, None):
        assert await counting.count(which, ["x" * 35]) == [10]


@given(st.text())
def test_estimates_are_on_the_safe_side(text: str) -> None:
    """An estimate is never less than a quarter of the bytes, and only nothing is nothing."""
    count = estimate_tokens(text)
    assert count * 4 >= len(text.encode("utf-8", "replace"))
    assert (count == 0) == (text == "")


def test_a_separator_more_is_no_count() -> None:
    """A text that holds the separator itself cannot be told from two."""
    assert count_tokens_per_text([9707, 0, 1446, 0], 1) is None
    assert count_tokens_per_text([9707], 1) is None


@given(st.lists(st.lists(st.integers(1, 99)), min_size=1))
def test_counts_between_separators(texts: list[list[int]]) -> None:
    """Tokens of several texts, each followed by a separator, are told apart again."""
    tokens = [token for text in texts for token in (*text, 0)]
    assert count_tokens_per_text(tokens, len(texts)) == [len(text) for text in texts]
