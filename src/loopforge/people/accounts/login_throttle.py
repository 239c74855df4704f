"""How wrong tries are slowed: at passwords in a fair queue, at codes by a lock-out.

    five wrong in a row     at once
    each further one        a second after the last, then two, four ... up to half a minute
    after a hundred wrong   addresses that guessed five of them: one in five minutes, all together

`FairQueue`: nobody is refused for what others guessed, only later. All tries at one name stand in
one queue, however many addresses they come from. A turn goes to the address that had none for
longest, so whoever comes from an address of their own is next, however many wait behind another
one; within an address, who came first is. A try waits inside its request, no longer than proxies
do.

`GuessLockout`: who gave several wrong ones in a row is refused for a while.

Knows names and addresses as words; does not know passwords or accounts. Kept in memory alone.
"""

from collections import Counter
from typing import NamedTuple

from msgspec import Struct, field

from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.core.text.spoken_lists import seconds_in_words
from loopforge.errors import NotLetIn, TooEarly
from loopforge.runtime.ports import Clock

FREE = 5
"""Wrong tries in a row that do not wait; and those of an address before it counts as guessing."""
LONGEST = 30
"""Seconds between two turns, at the most; so 2,880 a day for one name, from all addresses."""
MANY, GUESSING = 100, 5 * 60
"""After so many wrong in a row, addresses that guess share a turn in so many seconds: 288 a day."""
PATIENCE = 45
"""Seconds that a try waits; proxies hang up after 60."""
FORGIVEN = 24 * 60 * 60
"""Seconds without a try after which nothing is held against a name: no pause makes more guesses."""
NAMES = 50_000
"""Names counted at once; who was tried longest ago is dropped first."""
PLACES = 1_000
"""Addresses remembered of one name; who had their turn longest ago is dropped first."""
EACH, ALL = 8, 512
"""Tries that may wait of one address, and in all: each holds a connection."""

LATE = (
    "Many wrong passwords are being tried at this name just now, and it was not your turn yet. "
    "Yours was not looked at: send it again. A browser in which you are signed in lets you in at "
    "once, by a link (your picture, “Sign in on another device”); so does the owner of this home."
)


class _Try(Struct, eq=False):
    place: str


class _Place(Struct):
    """An address: wrong tries at this name, and which turn was its last."""

    wrong: int = 0
    turn: int = 0


class _Queue(Struct):
    """What is known of one name: wrong tries, when there is a turn, who waits, who had theirs."""

    wrong: int = 0
    next: float = 0.0
    next_guess: float = 0.0
    waiting: list[_Try] = field(default_factory=list)
    turns: int = 0
    had: dict[str, _Place] = field(default_factory=dict)

    def due(self, place: str) -> float:
        """When there may be a turn for that address."""
        return max(self.next, self.next_guess) if self._guesses(place) else self.next

    def first(self, now: float) -> _Try | None:
        """Whose turn is next, of those for whom there may be one."""
        due = [one for one in self.waiting if self.due(one.place) <= now]
        return min(due, key=lambda one: self.had.get(one.place, _Place()).turn, default=None)

    def begin(self, place: str, now: float) -> None:
        """Somebody has their turn, and counts as wrong until they are known to be right."""
        if self._guesses(place):
            self.next_guess = now + GUESSING
        self.turns += 1
        self.wrong += 1
        self.had[place] = _Place(self.had.pop(place, _Place()).wrong + 1, self.turns)
        if len(self.had) > PLACES:
            del self.had[next(iter(self.had))]
        self.next = now + (self.wrong >= FREE) * min(LONGEST, 2 ** min(self.wrong - FREE, 10))

    def _guesses(self, place: str) -> bool:
        known = self.had.get(place)
        return self.wrong >= MANY and known is not None and known.wrong >= FREE


class FairQueue:
    """Tries at passwords, by name; `turn` before each, `right` after one that was."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._queues: BoundedMapping[str, _Queue] = BoundedMapping(NAMES)
        self._waiting: Counter[str] = Counter()

    async def turn(self, name: str, place: str) -> None:
        """Wait for the turn of a try at this name from this place, and count it.

        Raises NotLetIn where it did not come in time; then the try is not counted.
        """
        queue, now = self._queue(name), self._clock.ticks()
        if now - queue.next > FORGIVEN and not queue.waiting:
            queue.wrong, queue.had = 0, {}
        if queue.wrong >= FREE and (queue.waiting or now < queue.due(place)):
            await self._wait(queue, place, now + PATIENCE)
        queue.begin(place, self._clock.ticks())

    def right(self, name: str, place: str) -> None:
        """The last try of this place was right: nothing is held against name and place."""
        if queue := self._queues.get(name):
            queue.wrong = 0
            queue.had.pop(place, None)

    def _queue(self, name: str) -> _Queue:
        queue = self._queues[name] = self._queues.pop(name) if name in self._queues else _Queue()
        return queue

    async def _wait(self, queue: _Queue, place: str, until: float) -> None:
        if self._waiting[place] >= EACH or self._waiting.total() >= ALL:
            raise NotLetIn(LATE)
        mine, clock = _Try(place), self._clock
        queue.waiting.append(mine)
        self._waiting[place] += 1
        try:
            while queue.first(now := clock.ticks()) is not mine:
                if now >= until:
                    raise NotLetIn(LATE)
                await clock.sleep(max(min(queue.due(place), until) - now, 0.05))
        finally:
            queue.waiting.remove(mine)
            self._waiting -= Counter([place])


# ---------------------------------------------------------------- guess lockout


FREE_GUESSES = 5
"""Wrong passwords in a row before the first wait."""
FIRST_LOCK, LONGEST_LOCK = 10, 15 * 60
"""Seconds of the first wait, which doubles with every further one, and of the longest."""
UNLOCKED_AFTER = 60 * 60
"""Seconds without a try after which nothing is held against a name."""
LOCKED_NAMES = 10_000
"""Names counted at once; who tried longest ago is dropped first."""


class WrongTries(NamedTuple):
    """How often it was wrong, until when (ticks) to wait, and whether that was told."""

    times: int = 0
    until: float = 0.0
    told: bool = False


class GuessLockout:
    """How often in a row a password, or a code, was wrong, by name; kept in memory alone."""

    def __init__(self, clock: Clock, what: str = "password") -> None:
        self._clock, self._what = clock, what
        self._wrong: BoundedMapping[str, WrongTries] = BoundedMapping(LOCKED_NAMES)

    def begin(self, name: str) -> None:
        """Count a try, before it is known whether it is right: many at once are many.

        Raises TooEarly while there is still to be waited; such a try is not counted.
        """
        count, until, told = wrong = self._wrong.get(name, WrongTries())
        now = self._clock.ticks()
        if now < until:
            self._wrong[name] = wrong._replace(told=True)
            raise TooEarly(
                f"The {self._what} was wrong {count} times in a row. "
                f"Wait {seconds_in_words(until - now)}, then try again.",
                told=told,
            )
        count = 1 if now - until > UNLOCKED_AFTER else count + 1
        wait = (
            min(LONGEST_LOCK, FIRST_LOCK * 2 ** min(count - FREE_GUESSES, 10))
            if count >= FREE_GUESSES
            else 0
        )
        self._wrong[name] = WrongTries(count, now + wait)

    def right(self, name: str) -> None:
        """The last try was right: nothing is held against that name."""
        self._wrong.pop(name, None)

    def uncounted(self, name: str) -> None:
        """The last try was right, and says nothing about those before: it is not counted."""
        if count := self._wrong.get(name, WrongTries()).times:
            self._wrong[name] = WrongTries(count - 1, self._clock.ticks())
