"""The fair queue of tries: how many there may be, whose turn is next, what is held against whom."""

import asyncio

import pytest

from loopforge.errors import NotLetIn, TooEarly
from loopforge.people.accounts import login_throttle
from loopforge.people.accounts.login_throttle import (
    ALL,
    EACH,
    FORGIVEN,
    FREE,
    FREE_GUESSES,
    GUESSING,
    LOCKED_NAMES,
    LONGEST,
    LONGEST_LOCK,
    MANY,
    NAMES,
    UNLOCKED_AFTER,
    FairQueue,
    GuessLockout,
)
from loopforge.runtime.background_tasks import BackgroundTasks
from tests.ledger.saying import NOON
from tests.sim_clock import SimClock

DAY = 24 * 3600


async def attacked(
    queue: FairQueue, clock: SimClock, places: int, each: int = 1
) -> BackgroundTasks:
    """A queue at whose name so many addresses guess without end."""
    tasks = BackgroundTasks()

    async def guess(place: str) -> None:
        while True:
            try:
                await queue.turn("ana", place)
            except NotLetIn:
                await clock.sleep(1)

    for nth in range(places * each):
        tasks.spawn(guess(f"place {nth % places}"), "guess")
    await clock.advance(1)
    return tasks


@pytest.mark.parametrize("places", [1, 3])
async def test_guesses_of_a_day_are_few(places: int) -> None:
    """One address and many make the same number of guesses at a name: 2,880 a day."""
    clock = SimClock(NOON)
    queue = FairQueue(clock)
    tasks = await attacked(queue, clock, places)
    await clock.advance(90)
    before = queue._queues["ana"].turns
    assert before <= FREE + 7
    await clock.advance(300)
    assert queue._queues["ana"].turns - before == 300 / LONGEST
    assert DAY / LONGEST == 2880
    await tasks.close()


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> int:
    """What counts as many is less here, for the sake of time."""
    monkeypatch.setattr(login_throttle, "MANY", 20)
    return 20


@pytest.mark.parametrize("places", [1, 3])
async def test_guesses_on_and_on_are_fewer(many: int, places: int) -> None:
    """Addresses that guess on and on have one turn in five minutes, all together: 288 a day."""
    clock = SimClock(NOON)
    queue = FairQueue(clock)
    tasks = await attacked(queue, clock, places)
    await clock.advance((many + 1) * LONGEST)
    before = queue._queues["ana"].turns
    assert before <= many + 1
    await clock.advance(4 * GUESSING)
    assert queue._queues["ana"].turns - before == 4
    assert (MANY, DAY / GUESSING) == (100, 288)
    await tasks.close()


async def test_no_pause_makes_more_guesses(many: int) -> None:
    """Who waits for hours between guesses is not given new ones for it."""
    clock = SimClock(NOON)
    queue = FairQueue(clock)
    tasks = await attacked(queue, clock, 1)
    await clock.advance(many * LONGEST)
    await tasks.close()
    await clock.advance(12 * 3600)
    before = queue._queues["ana"].turns
    tasks = await attacked(queue, clock, 1)
    await clock.advance(GUESSING)
    assert queue._queues["ana"].turns - before == 2
    await tasks.close()


async def test_after_many_guesses_another_address_is_as_quick(many: int) -> None:
    """Where guesses of one address take turns of minutes, who has not guessed at another is next.

    Who mistyped a few times there is so, too; and who was right there before.
    """
    clock = SimClock(NOON)
    queue = FairQueue(clock)
    tasks = await attacked(queue, clock, 1, each=4)
    await clock.advance((many + FREE) * LONGEST)
    for _ in range(FREE):
        mine = tasks.spawn(queue.turn("ana", "home"), "ana")
        await clock.advance(LONGEST)
        assert mine.done()
        await mine
    queue.right("ana", "home")
    assert "home" not in queue._queues["ana"].had
    await tasks.close()


@pytest.mark.parametrize("places", [1, 3])
async def test_another_address_is_next(places: int) -> None:
    """Addresses that guess have each had their turn; one that had none comes before all of them."""
    clock = SimClock(NOON)
    queue = FairQueue(clock)
    tasks = await attacked(queue, clock, places, each=2)
    await clock.advance(places * LONGEST)
    mine = tasks.spawn(queue.turn("ana", "home"), "ana")
    await clock.advance(LONGEST)
    assert mine.done()
    await mine
    await tasks.close()


async def test_who_came_first_within_an_address() -> None:
    """Within one address the tries are taken in order."""
    clock = SimClock(NOON)
    queue, order, tasks = FairQueue(clock), list[int](), BackgroundTasks()

    async def turn(nth: int) -> None:
        await queue.turn("ana", "")
        order.append(nth)

    for nth in range(FREE + 4):
        tasks.spawn(turn(nth), "turn")
    await clock.advance(0)
    assert order == list(range(FREE))
    await clock.advance(1 + 2 + 4 + 8)
    assert order == list(range(FREE + 4))
    await tasks.close()


async def test_a_turn_that_does_not_come_in_time() -> None:
    """Who waited for most of a minute is told so, what to do, and that nothing was looked at."""
    clock = SimClock(NOON)
    queue = FairQueue(clock)
    tasks = await attacked(queue, clock, 1, each=EACH - 1)
    await clock.advance(120)
    mine = tasks.spawn(queue.turn("ana", "place 0"), "ana")
    await clock.advance(46)
    with pytest.raises(NotLetIn, match="not looked at: send it again"):
        await mine
    await tasks.close()


async def test_not_too_many_wait() -> None:
    """Of one address, and in all, so many wait; the next one is told at once."""
    clock = SimClock(NOON)
    queue, tasks = FairQueue(clock), BackgroundTasks()
    names = [f"name {nth}" for nth in range(ALL // EACH)]
    for nth, name in enumerate(names):
        for _ in range(FREE + EACH):
            tasks.spawn(queue.turn(name, f"place {nth}"), "turn")
    await asyncio.sleep(0)
    assert queue._waiting.total() == ALL
    for place in ("place 0", "another"):
        with pytest.raises(NotLetIn):
            await queue.turn(names[0], place)
    await queue.turn("somebody else", "place 0")
    await tasks.close()
    assert queue._waiting.total() == 0


async def test_right_or_long_ago_is_forgiven() -> None:
    """After the right password, or a day without a try, counting begins anew."""
    clock = SimClock(NOON)
    queue = FairQueue(clock)
    for _ in range(FREE):
        await queue.turn("ana", "")
    queue.right("ana", "")
    for _ in range(FREE):
        await queue.turn("ana", "")
    await clock.advance(1 + FORGIVEN + 1)
    for _ in range(FREE):
        await queue.turn("ana", "")
    assert queue._queues["ana"].wrong == FREE


async def test_counting_takes_no_endless_memory() -> None:
    """Whoever tries more names than are kept makes this process forget the oldest ones."""
    queue = FairQueue(SimClock(NOON))
    for nth in range(NAMES + 500):
        await queue.turn(f"n{nth}", "")
    assert len(queue._queues) == NAMES


# ---------------------------------------------------------------- test guess lockout


async def test_guessing_has_to_wait_and_the_wait_grows() -> None:
    """Five wrong in a row, then ten seconds, twenty, and so on up to a quarter of an hour.

    How often, and how long, is told in words, rounded up.
    """
    clock = SimClock(NOON)
    guesses = GuessLockout(clock)
    for _ in range(FREE_GUESSES):
        guesses.begin("ana")
    for nth, wait in enumerate((10, 20, 40, 80, 160, 320, 640, *[LONGEST_LOCK] * 5)):
        told = f"{wait} seconds" if wait < 60 else f"{-(-wait // 60)} minutes"
        for early, left in ((0.0, told), (wait - 0.5, "1 second")):
            await clock.advance(early)
            said = f"wrong {FREE_GUESSES + nth} times in a row. Wait {left}, then try again"
            with pytest.raises(NotLetIn, match=said):
                guesses.begin("ana")
        guesses.begin("bo")
        guesses.right("bo")
        await clock.advance(0.5)
        guesses.begin("ana")


async def test_a_wait_knows_whether_it_was_told() -> None:
    """Who tries again during a wait was told of it; the next wait has to be told anew."""
    clock = SimClock(NOON)
    guesses, told = GuessLockout(clock), []
    for _ in range(FREE_GUESSES):
        guesses.begin("ana")
    for wait in (10, 20):
        for _ in range(3):
            with pytest.raises(TooEarly) as early:
                guesses.begin("ana")
            told.append(early.value.told)
        await clock.advance(wait)
        guesses.begin("ana")
    assert told == [False, True, True] * 2


async def test_a_lock_is_lifted_by_a_right_one_or_time() -> None:
    """After the right password, or an hour without a try, counting begins anew."""
    clock = SimClock(NOON)
    guesses = GuessLockout(clock)
    for _ in range(FREE_GUESSES):
        guesses.begin("ana")
    guesses.right("ana")
    for _ in range(FREE_GUESSES):
        guesses.begin("ana")
    await clock.advance(10 + UNLOCKED_AFTER + 1)
    for _ in range(FREE_GUESSES):
        guesses.begin("ana")
    with pytest.raises(NotLetIn):
        guesses.begin("ana")


def test_locks_take_no_endless_memory() -> None:
    """Whoever tries a hundred thousand names makes this process forget the oldest ones."""
    guesses = GuessLockout(SimClock(NOON))
    for nth in range(LOCKED_NAMES + 500):
        guesses.begin(f"n{nth}")
    assert len(guesses._wrong) == LOCKED_NAMES
