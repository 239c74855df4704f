"""What an answer cost, in US dollars, as plain digits ("0.00042"); "" where nobody knows.

A price in the model's own table comes first; else the list that genai-prices carries (no look-up
over the network). Knows nothing of budgets.
"""

from decimal import Decimal

from loopforge.core.turn_events import Usage
from loopforge.models.providers.model_spec import ModelSpec, Price

MILLION = Decimal(1_000_000)


def usage_cost(spec: ModelSpec, usage: Usage, *, stored: int = 0) -> str:
    """What this use of the model cost; `stored` of the tokens read went into the cache."""
    if spec.price is not None:
        return plain(by_price(spec.price, usage, stored))
    if not spec.vendor:
        return ""
    listed = _listed(spec, usage, stored)
    return "" if listed is None else plain(listed)


def by_price(price: Price, usage: Usage, stored: int = 0) -> Decimal:
    """The cost at a price per million tokens. `usage.read` includes what was cached and stored."""
    cached = min(usage.cached, usage.read)
    stored = min(stored, usage.read - cached)
    fresh = usage.read - cached - stored
    total = fresh * _exact(price.read)
    total += cached * _exact(price.read if price.cached is None else price.cached)
    total += stored * _exact(price.read if price.stored is None else price.stored)
    return (total + usage.written * _exact(price.written)) / MILLION


def of_minutes(price: float, minutes: float) -> str:
    """The cost of so much sound at a price a minute."""
    return plain(_exact(price) * _exact(minutes))


def plain(amount: Decimal) -> str:
    """Digits without an exponent and without zeros at the end."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _exact(rate: float) -> Decimal:
    return Decimal(repr(rate))


def _listed(spec: ModelSpec, usage: Usage, stored: int) -> Decimal | None:
    import genai_prices

    used = genai_prices.Usage(
        input_tokens=usage.read,
        cache_read_tokens=min(usage.cached, usage.read),
        cache_write_tokens=min(stored, usage.read - min(usage.cached, usage.read)),
        output_tokens=usage.written,
    )
    try:
        return genai_prices.calc_price(used, model_ref=spec.id, provider_id=spec.vendor).total_price
    except LookupError:
        return None
