"""A look holds for a moment."""

from datetime import UTC, datetime

from loopforge.runtime.ttl_cache import MOMENT, TtlCache
from tests.sim_clock import SimClock


async def test_a_look_holds_for_a_moment() -> None:
    """Then it is looked again, or at once for who wants it anew; without a clock, each time."""
    looks = iter(range(100))
    clock = SimClock(datetime(2026, 11, 28, tzinfo=UTC))
    cache = TtlCache(lambda: next(looks), clock)
    assert [cache.get(), cache.get()] == [0, 0]
    await clock.advance(MOMENT)
    assert [cache.get(), cache.get(anew=True), cache.get()] == [1, 2, 2]
    always = TtlCache(lambda: next(looks), None)
    assert [always.get(), always.get()] == [3, 4]
