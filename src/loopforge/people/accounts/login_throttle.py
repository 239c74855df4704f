"""The fair queue of tries at a password: nobody is refused for what others guessed, only later.

    five wrong in a row     at once
    each further one        a second after the last, then two, four ... up to half a minute
    after a hundred wrong   addresses that guessed five of them: one in five minutes, all together

All tries at one name stand in one queue, however many addresses they come from. A turn goes to the
address that had none for longest, so whoever comes from an address of their own is next, however
many wait behind another one; within an address, who came first is. A try waits inside its request,
no longer than proxies do.

Knows names and addresses as words; does not know passwords. Kept in memory alone.
"""

from collections import Counter

from msgspec import Struct, field

from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.errors import NotLetIn
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
