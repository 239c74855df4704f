"""Servers of one's own by their address alone: Ollama, vLLM, LM Studio, llama.cpp, LiteLLM."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from loopforge.cli.health_checks.health_finding import DoctorFinding
from loopforge.cli.health_checks.model_checks import check_models as examined
from loopforge.home import make_home
from loopforge.models.embedded.embedded_model import SHARED, EmbeddedModel
from loopforge.models.model_listing import ModelListing
from loopforge.models.model_router import TieredModels
from loopforge.models.model_tiers import TierLimits, Tiers, read_tiers
from loopforge.models.providers.model_spec import Secret
from loopforge.models.providers.server_catalogue import (
    ServerCatalogue,
    candidate_base_urls,
    fetch_catalogue,
    read,
    size_of,
    talks,
)
from loopforge.runtime.ports import ModelReply, Question, Route
from loopforge.runtime.system_clock import SystemDice
from loopforge.settings import load_settings
from tests.models.own import HAS, Kind, OwnServer, own
from tests.models.test_model_router import Brisk
from tests.seeded_dice import SeededDice

LISTED: list[Kind] = ["ollama", "vllm", "lmstudio", "llamacpp", "litellm"]
FIRST = {
    "ollama": "llama3.2:latest",
    "vllm": "Qwen/Qwen3-8B",
    "lmstudio": "google/gemma-3-12b",
    "llamacpp": "/models/gemma-3-4b-it-Q4_K_M.gguf",
    "litellm": "team-chat",
}
FORM = {
    "type": "object",
    "properties": {"say": {"type": "string"}},
    "required": ["say"],
}


@asynccontextmanager
async def home(
    keys: dict[str, str],
    tables: dict[str, Any] | None = None,
    tiers: dict[str, Any] | None = None,
    model: str = "",
) -> AsyncIterator[TieredModels]:
    """A router over what these variables and tables give, as a home opens one."""
    reading = partial(_read, tables or {}, tiers or {}, keys, TierLimits(model=model))
    models = TieredModels(reading({}), Brisk(), SeededDice(1), read=reading)
    try:
        yield models
    finally:
        await models.close()


def _read(
    tables: dict[str, Any],
    tiers: dict[str, Any],
    keys: dict[str, str],
    limits: TierLimits,
    catalogues: dict[str, ServerCatalogue],
) -> Tiers:
    return read_tiers(tables, tiers, keys, limits, catalogues)


async def ask(models: TieredModels, schema: Any = None, **route: Any) -> ModelReply:
    """One question."""
    asked = Question(messages=(("user", "hi"),), schema=schema, route=Route(**route))
    return await models.ask(asked, lambda _: None)


def later(models: TieredModels) -> None:
    """Half a minute passes."""
    clock = models._clock
    assert isinstance(clock, Brisk)
    clock.passed += 30


def address(server: OwnServer, end: str = "/v1") -> dict[str, str]:
    """The one variable that names a server; with its key, where it wants one."""
    key = {"OPENAI_API_KEY": server.key} if server.key else {}
    return {"OPENAI_BASE_URL": server.url + end} | key


# ---------------------------------------------------------------- the address alone


@pytest.mark.parametrize("end", ["/v1", "/v1/", "", "/", "/v1/chat/completions"])
@pytest.mark.parametrize("kind", LISTED)
async def test_the_address_is_enough(kind: Kind, end: str) -> None:
    """Every tier is answered by the first model that talks, however the address is written."""
    async with own(kind) as server, home(address(server, end)) as models:
        replies = [await ask(models, tier=tier) for tier in range(1, 5)]
    assert {reply.outcome for reply in replies} == {"answered"}
    assert set(server.asked) == {FIRST[kind]}
    assert server.listed == 1
    assert not any(reply.fallback for reply in replies)


@pytest.mark.parametrize("end", ["/v1", "/v1/", "", "/"])
async def test_a_server_without_a_list_is_asked_all_the_same(end: str) -> None:
    """Where `/models` is 404 the server is asked for `default`, or for the name that is given."""
    async with own("listless") as server:
        async with home(address(server, end)) as models:
            assert (await ask(models)).outcome == "answered"
        async with home(address(server, end), model="mine") as models:
            assert (await ask(models)).outcome == "answered"
            (note,) = models.tiers.notes()
    assert server.asked == ["default", "mine"]
    assert "tells no list of models (it answered 404)" in note.said
    assert "correct OPENAI_BASE_URL" in note.mend


@pytest.mark.parametrize("kind", LISTED)
async def test_a_table_with_an_address_is_enough(kind: Kind) -> None:
    """A table of [models] with `base_url` alone serves every tier with what its server has."""
    async with own(kind) as server:
        async with home({}, {"house": {"base_url": f"{server.url}/v1"}}) as models:
            reply = await ask(models, tier=3)
            assert (reply.outcome, reply.model) == ("answered", "house")
            assert not models.tiers.keyless
        assert server.asked == [FIRST[kind]]


async def test_one_that_is_named_is_taken() -> None:
    """OPENAI_MODEL, a mate's `model`, a tier and a table's `id` each name one; `latest` is meant."""
    async with own("ollama") as server:
        keys = address(server)
        async with home(keys, model="qwen3:8b") as models:
            await ask(models)
        async with home(keys) as models:
            named = await ask(models, model="qwen3:8b")
            meant = await ask(models, model="llama3.2")
        async with home(keys, tiers={"1": ["qwen3:8b"]}) as models:
            await ask(models)
            await ask(models, tier=2)
        table = {"base_url": keys["OPENAI_BASE_URL"], "id": "qwen3:8b"}
        async with home({}, {"house": table}) as models:
            await ask(models)
    assert server.asked == [
        *["qwen3:8b"] * 2,
        "llama3.2:latest",
        "qwen3:8b",
        "llama3.2:latest",
        "qwen3:8b",
    ]
    assert (named.fallback, meant.fallback) == (False, False)


@pytest.mark.parametrize("kind", ["ollama", "vllm", "litellm"])
async def test_a_name_it_does_not_know_is_answered_by_those_it_knows(kind: Kind) -> None:
    """Nobody else is passed off as it; the note and the objection to a mate's wish name them all."""
    async with own(kind) as server, home(address(server), model="gpt-9") as models:
        reply = await ask(models)
        (note,) = models.tiers.notes()
        wish = models.tiers.objection("gpt-10")
    assert (reply.outcome, set(server.asked)) == ("failed", {"gpt-9"})
    assert {attempt.cause for attempt in reply.attempts} == {"unknown"}
    assert note.state == "wrong"
    for text in (note.said, wish):
        assert all(name in text for name in HAS[kind])


async def test_a_port_that_there_is_not_is_told_as_a_server_that_does_not_answer() -> None:
    """No address keeps a question from being asked of the other models."""
    said = await fetch_catalogue("http://127.0.0.1:99999/v1", Secret())
    assert said.trouble == "unreachable"
    assert "port must be 0-65535" in said.detail


async def test_a_key_that_is_wanted() -> None:
    """With the key its list is read; without it the note says which variable is missing."""
    async with own("litellm", key="sk-1234") as server:
        async with home({"LITELLM_BASE_URL": server.url}) as models:
            assert (await ask(models)).attempts[0].cause == "key"
            (note,) = models.tiers.notes()
        assert (note.state, note.mend) == ("wrong", "Set LITELLM_API_KEY.")
        keys = {"LITELLM_BASE_URL": server.url, "LITELLM_API_KEY": "sk-1234"}
        async with home(keys) as models:
            assert (await ask(models)).outcome == "answered"
        assert server.asked == ["team-chat"]


async def test_a_proxy_that_knows_the_ladder_serves_the_ladder() -> None:
    """Where a proxy has models of the ladder, each serves its tier; the others are passed over."""
    has = ("glm-4.7", "claude-opus-4.5", "my-own")
    async with own("litellm", has=has) as server, home(address(server)) as models:
        for tier in (1, 2, 4):
            await ask(models, tier=tier)
        await ask(models, model="my-own")
    assert server.asked == ["glm-4.7", "glm-4.7", "claude-opus-4.5", "my-own"]


async def test_a_proxy_with_patterns_may_have_the_ladder() -> None:
    """A list may hold patterns (`claude-*`): they are no models, and names that fit are asked."""
    async with own("litellm", has=("claude-*",)) as server, home(address(server)) as models:
        await models.learn()
        names = {
            tier: [spec.name for spec in models.tiers.choose(Route(tier=tier))] for tier in (1, 4)
        }
    assert names == {
        1: ["claude-sonnet-4.5"],
        4: ["claude-sonnet-4.5", "claude-opus-4.5"],
    }


# ---------------------------------------------------------------- what people are told


@pytest.mark.parametrize("kind", LISTED)
async def test_the_doctor_asks_and_tells(kind: Kind, tmp_path: Path) -> None:
    """What the server has and what is asked for; a name it does not know is wrong, with the list."""
    make_home(tmp_path)

    async def told(model: str = "", *, offline: bool = False) -> list[DoctorFinding]:
        settings = load_settings(tmp_path, environ=address(server) | {"OPENAI_MODEL": model})
        found = await asyncio.to_thread(lambda: list(examined(settings, offline=offline)))
        return [finding for finding in found if finding.said.startswith("The server at")]

    async with own(kind) as server:
        (well,) = await told()
        (ill,) = await told("gpt-9")
        (unasked,) = await told(offline=True)
        assert server.listed == 2
    (gone,) = await told()
    assert (well.state, ill.state, gone.state) == ("ok", "wrong", "wrong")
    for name in HAS[kind]:
        assert name in well.said
        assert name in ill.said
    assert "gpt-9" in ill.said
    assert "OPENAI_MODEL" in ill.mend
    assert "OPENAI_BASE_URL" in gone.mend
    assert (unasked.state, "not asked" in unasked.said) == ("note", True)


async def test_the_page_tells_what_a_server_has() -> None:
    """Rows for all that talk, asked anew whenever the page is; what is wrong is told in words."""
    async with own("ollama") as server, home(address(server)) as models:
        there = ModelListing(models, lambda _: models, {})
        await there.look()
        rows = [row for row in there.rows() if not row.needs]
        assert [row.name for row in rows if row.tiers] == ["llama3.2:latest"]
        assert {row.name for row in rows} == {"llama3.2:latest", "qwen3:8b", "embedded"}
        assert there.notes()[0].state == "ok"
        assert (await there.check("qwen3:8b")).well
        server.known = ()
        later(models)
        await there.look()
        assert "has no model that talks" in there.notes()[0].said
        assert there.keyless


# ---------------------------------------------------------------- not yet, no longer


async def test_one_that_is_not_up_yet_is_asked_again() -> None:
    """Nobody there at first: the failure says so; once it is there its own model answers."""
    async with own("ollama") as server:
        port = int(server.url.rpartition(":")[2])
    async with home(address(server)) as models:
        reply = await ask(models)
        (note,) = models.tiers.notes()
        assert {attempt.cause for attempt in reply.attempts} == {"unreachable"}
        assert "does not answer" in note.said
        async with own("ollama", port=port) as server:
            later(models)
            assert (await ask(models)).outcome == "answered"
        assert server.asked == ["llama3.2:latest"]
        assert models.tiers.notes()[0].state == "ok"


async def test_one_that_is_still_loading_is_asked_again() -> None:
    """llama.cpp says 503 while it loads, to lists and to questions alike; then it answers."""
    async with own("llamacpp", loading=True) as server, home(address(server)) as models:
        assert {attempt.cause for attempt in (await ask(models)).attempts} == {"broken"}
        assert "not ready yet" in models.tiers.notes()[0].said
        server.loading = False
        later(models)
        assert (await ask(models)).model == FIRST["llamacpp"]


async def test_a_server_with_another_model_now() -> None:
    """vLLM started anew with another model: the question goes to that one, in the same turn."""
    async with own("vllm") as server, home(address(server)) as models:
        await ask(models)
        server.known = ("mistralai/Devstral-Small",)
        reply = await ask(models)
    assert (reply.outcome, reply.model) == ("answered", "mistralai/Devstral-Small")
    assert server.asked == ["Qwen/Qwen3-8B", "Qwen/Qwen3-8B", "mistralai/Devstral-Small"]


async def test_a_form_that_it_does_not_take_goes_into_the_prompt() -> None:
    """A server that refuses `response_format` is asked in words, at once and from then on."""
    async with own("vllm", forms=False) as server, home(address(server)) as models:
        replies = [await ask(models, FORM) for _ in range(2)]
    assert [reply.outcome for reply in replies] == ["answered"] * 2
    assert [len(reply.attempts) for reply in replies] == [1, 1]
    assert ["response_format" in body for body in server.bodies] == [True, False, False]


async def test_the_embedded_server_by_its_address_alone() -> None:
    """The real llama.cpp that comes along, told as any other server: its model, small, its window."""
    embedded = EmbeddedModel(SystemDice())
    try:
        there = await embedded.address()
        keys = {"OPENAI_BASE_URL": there.url, "OPENAI_API_KEY": there.key.reveal()}
        async with home(keys) as models:
            await models.learn()
            facts = models.facts(Route())
            (note,) = models.tiers.notes()
        without = await fetch_catalogue(there.url, Secret())
    finally:
        await embedded.close()
    assert (facts.name, facts.small, facts.window) == ("embedded", True, int(4096 * SHARED))
    assert note.state == "ok", note
    assert without.trouble == "key"


# ---------------------------------------------------------------- lists and names


def test_what_does_not_talk_is_passed_over() -> None:
    """Embeddings, rerankers, ears, voices, pictures and judges are no company."""
    mute = [
        "nomic-embed-text:latest",
        "mxbai-embed-large",
        "text-embedding-ada-002",
        "bge-m3",
        "all-minilm:l6-v2",
        "BAAI/bge-reranker-v2-m3",
        "jina-embeddings-v3",
        "whisper-1",
        "openai/whisper-large-v3",
        "tts-1-hd",
        "gpt-4o-mini-transcribe",
        "gpt-image-1",
        "dall-e-3",
        "black-forest-labs/flux.1",
        "stable-diffusion-xl",
        "omni-moderation-latest",
        "llama-guard3:8b",
        "gpt-4o-realtime-preview",
        "kokoro",
        "openai/*",
        "intfloat/e5",
    ]
    company = [
        "llama3.2:latest",
        "qwen3:8b",
        "gpt-4o-mini",
        "Qwen/Qwen3-8B",
        "mistral-nemo",
        "gemma-3-4b-it-Q4_K_M.gguf",
        "claude-opus-4.5",
        "deepseek-r1:8b",
        "phi4",
        "embedded",
        "openai/gpt-oss-20b",
        "llava:7b",
        "smollm2:135m",
    ]
    assert [id for id in mute if talks(id, {})] == []
    assert [id for id in company if not talks(id, {})] == []
    assert not talks("any", {"type": "embeddings"})


def test_small_ones_are_known_by_their_size() -> None:
    """By the number of parameters in the list, else by the name."""
    sizes = {"smollm2:135m": 135e6, "qwen2.5:0.5b": 5e8, "llama3.2:1b": 1e9, "qwen3-30b-a3b": 3e10}
    assert {id: size_of(id, {}) for id in sizes} == sizes
    assert size_of("llama3.2:latest", {}) == 0
    assert size_of("model.gguf", {"meta": {"n_params": 134_515_008}}) == 134_515_008


@pytest.mark.parametrize("body", [None, 3, {}, {"error": "Unexpected endpoint"}, {"data": "no"}])
def test_what_is_no_list_is_none(body: object) -> None:
    """LM Studio answers 200 to what it does not know; pages and errors are no lists."""
    assert read(body) is None


def test_rows_that_make_no_sense_are_left_out() -> None:
    """What has no id, or is no object, is no model."""
    found = read({"data": [3, {}, {"id": 4}, {"id": "a"}, None]})
    assert [one.id for one in found or ()] == ["a"]


def test_where_a_list_may_be() -> None:
    """An address is tried as it is and below `/v1`; without any path `/v1` is likelier."""
    assert candidate_base_urls("http://box:1/v1/") == ("http://box:1/v1",)
    assert candidate_base_urls("box:11434") == ("http://box:11434/v1", "http://box:11434")
    assert candidate_base_urls("https://x/api") == ("https://x/api", "https://x/api/v1")
