"""What answers cost."""

from decimal import Decimal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.turn_events import Usage
from loopforge.models.providers.answer_cost import by_price, plain, usage_cost
from loopforge.models.providers.model_spec import ModelSpec, Price
from tests.models.server import Behaviour
from tests.models.test_model_attempt import ask, piece


def spec(price: Price | None, vendor: str = "", id: str = "x") -> ModelSpec:
    """A model with this price."""
    return ModelSpec(name="x", provider="openai", id=id, vendor=vendor, price=price)


def test_own_price_comes_first() -> None:
    """A price in the model's table is per million tokens, and the cached ones have their own."""
    price = Price(read=3, cached=0.3, written=15)
    used = Usage(read=1000, cached=900, written=10)
    assert usage_cost(spec(price, "anthropic", "claude-opus-4-5"), used) == "0.00072"
    assert usage_cost(spec(Price(read=3, written=15)), used) == "0.00315"


def test_listed_price_otherwise() -> None:
    """Without one the price list is asked, by the vendor's name for itself and for the model."""
    used = Usage(read=1000, written=1000)
    assert usage_cost(spec(None, "anthropic", "claude-opus-4-5"), used) == "0.03"


def test_unknown_price_is_no_price() -> None:
    """A model or a vendor that is in no list costs "", not zero."""
    used = Usage(read=1000, written=1000)
    assert usage_cost(spec(None), used) == ""
    assert usage_cost(spec(None, "openai", "no-such-model"), used) == ""
    assert usage_cost(spec(Price(read=0, written=0)), used) == "0"


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9))
def test_caching_never_costs_more(read: int, cached: int, written: int) -> None:
    """With a cheaper cached rate, the cost falls as more is cached, and its digits read back."""
    price = Price(read=0.25, cached=0.025, written=2)
    amount = by_price(price, Usage(read=read, cached=cached, written=written))
    assert amount <= by_price(price, Usage(read=read, written=written))
    assert Decimal(plain(amount)) == amount


@pytest.mark.filterwarnings("ignore:Pydantic serializer")
async def test_usage_in_parts_of_tokens_can_be_read_again() -> None:
    """A server that tells 7.5 tokens, or 2.0, makes no record that nobody can read any more."""
    shares = {"prompt_tokens": 7.5, "completion_tokens": 2.0, "total_tokens": 9.5}
    told = piece({"content": "Hi!"}) + piece({}, "stop", usage=shares)
    usage = (await ask("chat", Behaviour(raw=told))).usage
    assert msgspec.json.decode(msgspec.json.encode(usage), type=Usage) == usage
    assert (usage.read, usage.written) == (7, 2)
