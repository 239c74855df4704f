"""A better model by a key or an address given in the browser: tried, saved, chosen, removed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from loopforge.models_opening import open_models
from loopforge.runtime.system_clock import SystemClock, SystemDice
from loopforge.settings import load_settings
from tests.models.own import own
from tests.models.server import Behaviour, serving
from tests.web.conftest import Town, town, words

KEY = "sk-planted-0123456789"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Town]:
    """A home without keys, whose models are the real ones."""
    known = {"LOOPFORGE_EMBEDDED_MODEL": "false"}
    settings = load_settings(tmp_path, environ=known)
    models = open_models(settings, SystemClock(), SystemDice())
    async with town(tmp_path, models=models, environ=known) as made:
        yield made
    await models.close()


async def test_a_server_is_tried_saved_and_asked(home: Town) -> None:
    """Its models are listed, the first says hello; the next line is answered by it."""
    olu = await home.owner()
    async with own("ollama", key=KEY) as server:
        given = {"address": f"{server.url}/v1", "key": KEY}
        page = words(await olu.post("/admin/models/keys", given))
        assert "Saved. It opens llama3.2:latest, qwen3:8b. llama3.2:latest said:" in page
        assert "Tier 1 llama3.2:latest" in page
        assert not home.app.rooms.notice.startswith("Answers come from a small")
        await olu.says("commons", "@maya are you there?")
        await home.rest("commons")
        assert "Here I am." in words(await olu.get("/rooms/commons"))
        assert load_settings(home.path, environ={}).keys["OPENAI_API_KEY"] == KEY


async def test_tiers_are_chosen_and_the_choice_undone(home: Town) -> None:
    """The other model of the server is asked first, by whoever names no other tier."""
    olu = await home.owner()
    async with own("ollama") as server:
        await olu.post("/admin/models/keys", {"address": f"{server.url}/v1"})
        wish = {f"tier-{tier}": "qwen3:8b" for tier in range(1, 5)}
        page = words(await olu.post("/admin/models/tiers", wish))
        assert "The tiers are saved." in page
        assert "Tier 1 qwen3:8b" in page
        await olu.says("commons", "@maya are you there?")
        await home.rest("commons")
        assert server.asked[-1] == "qwen3:8b"
        page = words(await olu.post("/admin/settings/tiers/undo"))
        assert home.app.live.now.tiers == {}
        short = await olu.post("/admin/models/tiers", {"tier-1": "qwen3:8b"})
        assert "Choose a model for each tier." in words(short)


async def test_nothing_is_removed_that_a_tier_names(home: Town) -> None:
    """A home that could not start again is not made: first another model, or the tiers undone."""
    olu = await home.owner()
    async with own("ollama") as server:
        await olu.post("/admin/models/keys", {"address": f"{server.url}/v1"})
        wish = {f"tier-{tier}": "qwen3:8b" for tier in range(1, 5)}
        await olu.post("/admin/models/tiers", wish)
        refused = await olu.post("/admin/models/keys/OPENAI_BASE_URL/remove")
        assert refused.status_code == 400
        assert "`loopforge settings undo tiers`" in words(refused)
        await olu.post("/admin/settings/tiers/undo")
        gone = await olu.post("/admin/models/keys/OPENAI_BASE_URL/remove")
        assert "OPENAI_BASE_URL is no longer saved here." in words(gone)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"address": "127.0.0.1:11434"}, "An address begins with http://"),
        ({"address": "http://127.0.0.1:9/v1"}, "does not answer"),
        ({"address": "http://127.0.0.1:9/v1"}, "Is the server running, and is this its whole"),
        ({"service": "nobody", "key": KEY}, "Choose the service that the key is from."),
        ({"service": "openrouter", "key": " "}, "Paste the key that OpenRouter gave you."),
        ({"service": "openrouter", "key": "my key"}, "must be one word"),
    ],
)
async def test_what_does_not_answer_is_not_saved(
    home: Town, given: dict[str, str], told: str
) -> None:
    """What is wrong is said, nothing is kept, and no key stands on the page."""
    olu = await home.owner()
    answer = await olu.post("/admin/models/keys", given)
    assert answer.status_code == 400
    assert told in words(answer)
    assert KEY not in answer.text
    assert not (home.path / "data/keys.json").exists()


async def test_a_refused_key_is_saved_only_on_purpose(home: Town) -> None:
    """The server wants another key: said in words, without either; saved all the same if wished."""
    olu = await home.owner()
    async with own("litellm", key="another") as server:
        given = {"address": server.url, "key": KEY}
        answer = await olu.post("/admin/models/keys", given)
        assert answer.status_code == 400
        assert "refuses the key" in words(answer)
        assert "Nothing was saved." in words(answer)
        assert KEY not in answer.text
        kept = await olu.post("/admin/models/keys", {**given, "anyway": "yes"})
        assert "Saved." in words(kept)
        assert KEY not in kept.text
    gone = await olu.post("/admin/models/keys/OPENAI_API_KEY/remove")
    assert "OPENAI_API_KEY is no longer saved here." in words(gone)
    assert list(load_settings(home.path, environ={}).keys) == ["OPENAI_BASE_URL"]


async def test_what_an_account_lacks_is_said_in_words(home: Town) -> None:
    """No credit: neither the service's raw error, nor a doubt about the address that answered."""
    olu = await home.owner()
    no_credit = '{"error": {"code": "insufficient_quota", "message": "Check your plan."}}'
    async with serving() as server:
        server.does(Behaviour(status=429, body=no_credit))
        page = words(await olu.post("/admin/models/keys", {"address": server.url, "key": KEY}))
    assert "has no credit left: top it up at its service. Nothing was saved." in page
    assert "insufficient_quota" not in page
    assert "Is the server running" not in page


async def test_guests_give_no_keys(home: Town) -> None:
    """For them there is no such page."""
    olu = await home.owner()
    ana = await home.guest("ana", by=olu)
    answer = await ana.post("/admin/models/keys", {"address": "http://127.0.0.1:9"})
    assert answer.status_code == 404
