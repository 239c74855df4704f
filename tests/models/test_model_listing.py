"""The models as their owner sees them: what is listed, what never is, and what answers."""

import pytest

from loopforge.errors import Unknown
from loopforge.models.model_listing import ModelListing
from loopforge.models.model_router import TieredModels
from loopforge.models.model_tiers import read_tiers
from loopforge.models.null_model import NullModels
from loopforge.runtime.system_clock import SystemClock, SystemDice
from tests.models.server import Behaviour
from tests.models.test_model_router import BROKEN, FINE, ask, routed, who

KEYS = {
    "ANTHROPIC_API_KEY": "sk-ant-sesame",
    "HOUSE_API_KEY": "open sesame",
    "OPENROUTER_BASE_URL": "http://ana:sesame@127.0.0.1:9/v1",
}
HOUSE = {
    "house": {
        "base_url": "http://bo:sesame@127.0.0.1:8000/v1",
        "key": "HOUSE_API_KEY",
        "price": {"read": 0.25, "written": 2},
    }
}


def listing(keys: dict[str, str], **models: object) -> ModelListing:
    """A listing over what these keys and tables give."""
    tiers = read_tiers(models, {"1": ["house"]} if models else {}, keys)
    return ModelListing(
        NullModels(), lambda _: TieredModels(tiers, SystemClock(), SystemDice()), keys
    )


def test_without_keys_the_embedded_model_stands_first_and_is_announced() -> None:
    """It serves all tiers; every other model says what it needs."""
    alone = listing({})
    first, *others = alone.rows()
    assert alone.keyless
    assert (first.name, first.tiers, first.embedded, first.small) == (
        "embedded",
        (1, 2, 3, 4),
        True,
        True,
    )
    assert others
    assert all(row.needs for row in others)
    assert not any(row.open for row in alone.places())


def test_what_is_configured_is_listed() -> None:
    """A model of the file with its place and price; the tier it stands in; which keys are set."""
    rows = {row.name: row for row in listing(KEYS, **HOUSE).rows()}
    house = rows["house"]
    assert (house.tiers, house.needs, house.price) == ((1,), "", "$0.25 read, $2 written")
    assert house.place == "http://127.0.0.1:8000/v1"
    assert rows["claude-opus-4.5"].place == "Anthropic"
    assert listing(KEYS, **HOUSE).tiers()[0].models == ("house",)
    open = [row for row in listing(KEYS, **HOUSE).places() if row.open]
    assert ("ANTHROPIC_API_KEY", True) in [each for row in open for each in row.variables]
    assert open[-1].variables == (("HOUSE_API_KEY", True),)


def test_no_value_of_a_key_is_listed() -> None:
    """Neither a key nor the password of an address stands anywhere."""
    there = listing(KEYS, **HOUSE)
    assert "sesame" not in repr([there.rows(), there.tiers(), there.places()])


async def test_a_model_that_answers() -> None:
    """It is asked once; what it said and how long it took are shown."""
    async with routed("a", "b") as (server, models, _):
        found = await ModelListing(models, lambda _: models, {}).check("b")
        assert (found.well, found.said, who(server)) == (True, "Hello, ana!", ["b"])


async def test_a_model_that_fails_is_not_stood_in_for() -> None:
    """It is asked once, no other model is, and the error is shown without the key."""
    async with routed("a", "b") as (server, models, _):
        server.does(Behaviour(status=401, body='{"error": {"message": "sk-sesame is no key"}}'))
        found = await ModelListing(models, lambda _: models, {}).check("a")
        assert (found.well, who(server)) == (False, ["a"])
        assert "is no key" in found.said
        assert "sesame" not in found.said
        assert found.mend.startswith("the key for a is refused: set the right one")


async def test_a_model_that_answers_again_rests_no_longer() -> None:
    """A failed check puts nobody to rest; a good one wakes a model that rests."""
    async with routed("a", "b") as (server, models, _):
        there = ModelListing(models, lambda _: models, {})
        server.does(BROKEN, FINE)
        assert not (await there.check("a")).well
        assert (await ask(models)).model == "a"
        server.does(BROKEN, BROKEN, FINE)
        assert [(await ask(models)).model for _ in range(2)] == ["b", "b"]
        assert (await there.check("a")).well
        assert (await ask(models)).model == "a"


async def test_a_model_that_cannot_be_used_says_why() -> None:
    """What it needs; one that nobody knows does not exist."""
    async with routed("a") as (server, models, _):
        there = ModelListing(models, lambda _: models, {})
        assert "needs ANTHROPIC_API_KEY" in (await there.check("claude")).said
        with pytest.raises(Unknown):
            await there.check("nobody")
        assert server.asked == []


async def test_other_models_than_tiers_are_asked_by_name() -> None:
    """Whatever serves the port is asked with a route that names the model."""
    found = await listing({}).check("embedded")
    assert found.name == "embedded"
