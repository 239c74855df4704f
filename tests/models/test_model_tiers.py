"""Tiers: what loopforge.toml and the keys make of the ladder."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from loopforge.errors import BadSettings
from loopforge.models.model_tiers import KEYS, TierLimits, Tiers, read_tiers, shipped_ladder
from loopforge.models.providers.known_services import PLACES, place_of
from loopforge.models.providers.model_spec import Secret
from loopforge.runtime.ports import Route

OPENROUTER = {"OPENROUTER_API_KEY": "sk-or-1"}


def names(tiers: Tiers, tier: int, model: str = "") -> list[str]:
    """The names of the models a route asks, in order."""
    return [spec.name for spec in tiers.choose(Route(tier=tier, model=model))]


def read(
    models: dict[str, Any] | None = None,
    tiers: dict[str, Any] | None = None,
    keys: dict[str, str] | None = None,
    **limits: Any,
) -> Tiers:
    """The tiers, with nothing set but what is given."""
    return read_tiers(models or {}, tiers or {}, keys or {}, TierLimits(**limits))


def test_ladder_ships_as_written() -> None:
    """The ladder that ships holds the four tiers in their order, tier 1 without tools."""
    tiers = read(keys=OPENROUTER)
    assert names(tiers, 1) == ["mistral-nemo", "gpt-oss-120b", "gemini-2.5-flash-lite"]
    assert names(tiers, 2) == ["minimax-m2.1", "gpt-5.1-codex-mini", "gemini-3-flash", "glm-4.7"]
    assert names(tiers, 3) == [
        "qwen3-coder-plus",
        "gpt-5.1-codex-max",
        "gemini-3-pro",
        "claude-sonnet-4.5",
    ]
    assert names(tiers, 4) == [
        "qwen3-max",
        "gpt-5.2-codex",
        "claude-sonnet-4.5",
        "claude-opus-4.5",
    ]
    assert [spec.tools for tier in (1, 2) for spec in tiers.choose(Route(tier=tier))] == [
        *[False] * 3,
        *[True] * 4,
    ]
    assert all(spec.price for tier in range(1, 5) for spec in tiers.choose(Route(tier=tier)))


def test_every_rung_can_be_reached_by_openrouter_and_by_its_maker() -> None:
    """Each model of the ladder names OpenRouter and at least one other place, all of them known."""
    for name, table in shipped_ladder()["models"].items():
        assert "openrouter" in table["at"], name
        assert len(table["at"]) > 1, name
        assert set(table["at"]) <= set(PLACES), name


def test_without_a_key_the_embedded_model_serves_all() -> None:
    """With no key at all, every tier asks the embedded model, and the description says so."""
    tiers = read()
    assert tiers.keyless
    assert [names(tiers, tier) for tier in range(1, 5)] == [["embedded"]] * 4
    said = " ".join(tiers.describe())
    assert "the small embedded model answers for all tiers" in said
    assert "ANTHROPIC_API_KEY" not in said
    assert "Not usable without ANTHROPIC_API_KEY" in " ".join(tiers.wanting())


def test_without_a_key_and_without_the_embedded_model_there_is_nothing() -> None:
    """If the embedded model is switched off as well, no route has a model, and it says why."""
    tiers = read(embedded=False)
    assert names(tiers, 1) == []
    assert tiers.describe() == [
        "No model can be used: no key is set, and the embedded model is switched off."
    ]


def test_tiers_without_a_model_fall_down_then_up() -> None:
    """A tier with no usable model is served by the nearest lower one, else the nearest higher."""
    tiers = read(keys={"ANTHROPIC_API_KEY": "k"})
    assert tiers.served == (3, 3, 3, 4)
    assert names(tiers, 1) == ["claude-sonnet-4.5"]
    lines = tiers.describe()
    assert lines[0] == "Tier 1: none of its models can be used, so tier 3 answers for it."
    assert lines[3] == "Tier 4: claude-sonnet-4.5 (Anthropic), claude-opus-4.5 (Anthropic)."
    mistral = read(keys={"MISTRAL_API_KEY": "k"})
    assert mistral.served == (1, 1, 1, 1)


def test_native_places_come_before_gateways() -> None:
    """Claude and Gemini go to their makers when their keys are there, all else to the gateway."""
    keys = OPENROUTER | {"ANTHROPIC_API_KEY": "a", "GEMINI_API_KEY": "g"}
    tiers = read(keys=keys)
    assert tiers.models["claude-opus-4.5"].provider == "anthropic"
    assert tiers.models["claude-opus-4.5"].id == "claude-opus-4-5"
    assert tiers.models["gemini-3-pro"].provider == "google"
    assert tiers.models["glm-4.7"].base_url == "https://openrouter.ai/api/v1"
    assert tiers.models["glm-4.7"].id == "z-ai/glm-4.7"


def test_a_proxy_serves_everything_by_plain_names() -> None:
    """A LiteLLM proxy is asked for each model by the ladder's name, with or without a key."""
    tiers = read(keys={"LITELLM_BASE_URL": "http://127.0.0.1:4000/"} | OPENROUTER)
    spec = tiers.models["claude-sonnet-4.5"]
    assert (spec.provider, spec.id) == ("openai", "claude-sonnet-4.5")
    assert (spec.base_url, bool(spec.key)) == ("http://127.0.0.1:4000/v1", False)
    assert not tiers.missing


def test_openai_base_url_takes_its_key_with_it() -> None:
    """Where OPENAI_BASE_URL names another server, OPENAI_API_KEY is that server's, not OpenAI's."""
    tiers = read(keys={"OPENAI_BASE_URL": "http://box:8000/v1", "OPENAI_API_KEY": "k"})
    assert {tiers.models[name].base_url for name in names(tiers, 2)} == {"http://box:8000/v1"}
    assert {tiers.models[name].key.reveal() for name in names(tiers, 2)} == {"k"}
    assert "gpt-5.2-codex" not in tiers.models
    routed = read(keys={"OPENAI_BASE_URL": "https://openrouter.ai/api/v1", "OPENAI_API_KEY": "k"})
    assert routed.models["glm-4.7"].id == "z-ai/glm-4.7"


def test_openai_itself_is_asked_by_responses() -> None:
    """At OpenAI itself, models that answer only through the Responses API are asked through it."""
    spec = read(keys={"OPENAI_API_KEY": "k"}).models["gpt-5.2-codex"]
    assert (spec.base_url, spec.responses) == ("https://api.openai.com/v1", True)


def test_own_server_and_own_tier() -> None:
    """A server of one's own, in a tier of one's own, with a key from a variable the file names."""
    tables = {
        "qwen": {
            "base_url": "http://127.0.0.1:8000/v1",
            "id": "Qwen/Qwen3-8B",
            "key": "BOX_API_KEY",
            "window": 40_960,
            "price": {"read": 0, "written": 0},
        }
    }
    tiers = read(tables, {"1": ["qwen"]}, {"BOX_API_KEY": "sesame"}, total_seconds=9)
    assert names(tiers, 1) == names(tiers, 4) == ["qwen"]
    spec = tiers.models["qwen"]
    assert (spec.id, spec.window, spec.key.reveal()) == ("Qwen/Qwen3-8B", 40_960, "sesame")
    assert (spec.first_token_seconds, spec.total_seconds) == (60, 9)
    without = read(tables, {"1": ["qwen"]})
    assert without.missing["qwen"] == "BOX_API_KEY"
    assert without.keyless


def test_an_address_may_be_a_variable() -> None:
    """`base_url` may name a variable that holds the address."""
    tables = {"box": {"base_url": "BOX_BASE_URL"}}
    tiers = read(tables, {"1": ["box"]}, {"BOX_BASE_URL": "http://box/v1/"})
    assert tiers.models["box"].base_url == "http://box/v1"
    assert "BOX_BASE_URL" in read(tables).missing["box"]


def test_passwords_in_addresses_are_shown_to_nobody() -> None:
    """The sentences about tiers and servers name an address without who signs in there."""
    tables = {"box": {"base_url": "http://ana:s3c@ret@box/v1", "id": "b"}}
    tiers = read(tables, {"1": ["box"]})
    assert tiers.describe()[0] == "Tier 1: box (http://box/v1)."
    assert "ret@" not in " ".join(note.said for note in tiers.notes())
    assert tiers.models["box"].base_url == "http://ana:s3c@ret@box/v1"


@pytest.mark.parametrize(
    ("address", "service"),
    [
        ("https://API.mistral.ai:443/v1", "mistral"),
        ("https://api.anthropic.com", "anthropic"),
        ("http://mistral/v1", ""),
        ("http://api/v1", ""),
        ("http://com", ""),
        ("http://[", ""),
        ("", ""),
    ],
)
def test_a_service_is_known_by_its_whole_host(address: str, service: str) -> None:
    """A machine of one's own that is called as a part of a service's name is a server of one's own."""
    assert place_of(address) == service


def test_a_provider_alone_is_enough() -> None:
    """`provider` and `id` reach a model at its maker with the standard variable."""
    tables = {"haiku": {"provider": "anthropic", "id": "claude-haiku-4-5"}}
    tiers = read(tables, {"1": ["haiku"]}, {"ANTHROPIC_API_KEY": "k"})
    assert tiers.models["haiku"].base_url == "https://api.anthropic.com"
    assert read(tables).missing["haiku"] == "ANTHROPIC_API_KEY"


def test_what_a_place_wants_goes_out() -> None:
    """What a place wants in each request is in the spec, and a model's own `extra` on top."""
    keys = {"MISTRAL_API_KEY": "k"}
    tiers = read({"mistral-nemo": {"extra": {"safe_prompt": True}}}, {}, keys)
    assert tiers.models["mistral-nemo"].extra == {"stream_options": {}, "safe_prompt": True}


def test_a_table_goes_on_top_of_the_ladder() -> None:
    """A key written for a model of the ladder replaces that key and no other."""
    tiers = read({"glm-4.7": {"window": 1000}}, {}, OPENROUTER)
    spec = tiers.models["glm-4.7"]
    assert (spec.window, spec.id, spec.structured) == (1000, "z-ai/glm-4.7", False)


def test_a_named_model_comes_first() -> None:
    """A route that names a model asks it first and the tier's models after it."""
    tiers = read(keys=OPENROUTER)
    assert names(tiers, 1, "gpt-oss-120b") == [
        "gpt-oss-120b",
        "mistral-nemo",
        "gemini-2.5-flash-lite",
    ]
    assert names(tiers, 4, "mistral-nemo")[0] == "mistral-nemo"


def test_a_named_model_that_cannot_be_used_is_passed_over() -> None:
    """Then the tier answers, and the objection says what is missing or what was meant."""
    tiers = read(keys={"MISTRAL_API_KEY": "k"})
    assert names(tiers, 1, "claude-opus-4.5") == ["mistral-nemo"]
    assert tiers.objection("claude-opus-4.5").startswith("claude-opus-4.5 needs ANTHROPIC_API_KEY")
    assert tiers.objection("mistral-nemo") == ""
    assert tiers.objection("mistral-nem") == (
        "there is no model 'mistral-nem'; did you mean `mistral-nemo`?"
    )


def test_scripted_and_embedded_are_known_by_name() -> None:
    """The two models that need no network can stand in a tier without a table."""
    tiers = read({}, {"1": ["scripted"], "2": ["embedded"]})
    assert [spec.provider for tier in (1, 2) for spec in tiers.choose(Route(tier=tier))] == [
        "scripted",
        "embedded",
    ]
    assert not tiers.keyless


@pytest.mark.parametrize(
    ("models", "tiers", "named"),
    [
        ({"a": 3}, {}, "`models.a` must be a table"),
        ({"a": {}}, {}, "`models.a` says nowhere how to reach it"),
        ({"a": {"base_url": "http://x", "windw": 1}}, {}, "did you mean `window`?"),
        ({"a": {"base_url": "http://x", "window": "big"}}, {}, "`window` must be a whole number"),
        ({"a": {"base_url": "http://x", "window": 0}}, {}, "`window` must be at least 1"),
        ({"a": {"base_url": "http://x", "price": {"read": 1}}}, {}, "`price`: "),
        ({"a": {"provider": "acme"}}, {}, "'acme'; it is one of openai, anthropic"),
        (
            {"a": {"base_url": "http://x", "thinking": -1}},
            {},
            "`thinking` must be a whole number >= 0",
        ),
        (
            {"a": {"base_url": "http://x", "price": {"read": -1, "written": 1}}},
            {},
            "`price.read` must be a number >= 0",
        ),
        (
            {"a": {"base_url": "http://x", "price": {"read": float("nan"), "written": 1}}},
            {},
            "`price.read` must be a number >= 0",
        ),
        ({"a": {"at": {"acme": "x"}}}, {}, "`at` names 'acme'"),
        ({}, {"5": ["embedded"]}, "`tiers.5`: there are tiers 1 to 4"),
        ({}, {"1": "embedded"}, "`tiers.1` must be a list"),
        ({}, {"1": ["glm-4.8"]}, "no table [models.glm-4.8]; did you mean `glm-4.7`?"),
    ],
)
def test_errors_name_the_key(models: dict[str, Any], tiers: dict[str, Any], named: str) -> None:
    """What is wrong in loopforge.toml is refused, and the error names the key."""
    with pytest.raises(BadSettings) as caught:
        read(models, tiers)
    assert named in str(caught.value)


def test_the_examples_in_the_docs_are_read() -> None:
    """Every example of docs/adding-models.md is accepted, and it explains every key there is."""
    text = (Path(__file__).parents[2] / "docs" / "adding-models.md").read_text("utf-8")
    examples = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert len(examples) >= 3
    for example in examples:
        tables = tomllib.loads(example)
        tiers = read(tables.get("models"), tables.get("tiers"), OPENROUTER)
        assert set(tables.get("models", {})) <= set(tiers.models) | set(tiers.missing)
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|.*\|.*\|$", text, re.MULTILINE)
    told = {key for row in rows for key in re.findall(r"\w+", row)}
    assert told == set(KEYS)


def test_a_secret_never_shows() -> None:
    """A key is in no repr of what holds it, and is blotted out of texts."""
    spec = read(keys={"OPENAI_API_KEY": "sk-verysecret"}).models["gpt-5.2-codex"]
    assert "verysecret" not in f"{spec!r} {spec.key} {spec.key!r}"
    assert spec.key.hide_in("no: sk-verysecret!") == "no: [key]!"
    assert Secret().hide_in("as it is") == "as it is"
