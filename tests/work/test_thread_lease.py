"""A thread is held by one task at a time, under a number that only grows."""

from loopforge.work.thread_lease import LEASE, ThreadLeases
from tests.runtime.conftest import Stage, stage

__all__ = ["stage"]


async def test_one_task_holds_a_thread_until_it_lets_go(stage: Stage) -> None:
    """Who comes second is told by whom it is held; another thread is free; then it is its turn."""
    leases = ThreadLeases(stage.ledger, stage.stamp)
    assert (await leases.take("t", "one")).task == "one"
    assert (await leases.take("t", "two")).task == "one"
    assert (await leases.take("u", "two")).task == "two"
    await leases.release("t", "one")
    taken = await leases.take("t", "two")
    assert (taken.task, taken.fence) == ("two", 2)
    assert not leases.mine("t", "one", 1)


async def test_a_lease_is_renewed_and_taken_over_when_it_is_over(stage: Stage) -> None:
    """Whoever was frozen so long holds nothing any more, and neither renews nor releases."""
    frozen, other = (ThreadLeases(stage.ledger, stage.stamp) for _ in range(2))
    await frozen.take("t", "one")
    await stage.clock.advance(LEASE.total_seconds() * 0.6)
    assert await frozen.renew("t")
    await stage.clock.advance(LEASE.total_seconds() * 0.9)
    assert (await other.take("t", "two")).task == "one"
    await stage.clock.advance(LEASE.total_seconds() * 0.2)
    assert (await other.take("t", "two")).fence == 2
    assert not await frozen.renew("t")
    await frozen.release("t", "one")
    assert (await other.take("t", "three")).task == "two"


async def test_a_task_takes_its_own_thread_again_at_once(stage: Stage) -> None:
    """After a crash the next process need not wait for the end of the lease; its number is new."""
    await ThreadLeases(stage.ledger, stage.stamp).take("t", "one")
    again = ThreadLeases(stage.ledger, stage.stamp)
    assert (await again.take("t", "one")).fence == 2
    assert again.mine("t", "one", 2)
    assert not again.mine("t", "one", 1)


async def test_what_a_process_held_that_died_is_let_go_by_its_number(stage: Stage) -> None:
    """A task that stands still after a crash keeps nobody waiting; one that goes on elsewhere may."""
    await ThreadLeases(stage.ledger, stage.stamp).take("t", "one")
    after = ThreadLeases(stage.ledger, stage.stamp)
    for task, fence in (("one", 0), ("one", 2), ("two", 1)):
        await after.release("t", task, fence)
        assert (await after.take("t", "two")).task == "one"
    await after.release("t", "one", 1)
    assert (await after.take("t", "two")).fence == 2
