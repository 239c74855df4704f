"""The ledger: append-only streams of events, read and followed."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Protocol, TypeVar

from loopforge.core.events import Event, Fact

T = TypeVar("T")


class Ledger(Protocol):
    """Append-only streams of events."""

    async def append(
        self, stream: str, facts: Sequence[Fact], *, expect: int | None = None
    ) -> tuple[Event, ...]:
        """Add facts to a stream, all or none, and return them as events.

        `expect` is the sequence number the stream must stand at (0: it must not exist); if it
        stands elsewhere, raises `Conflict` and writes nothing. Raises LedgerBusy or LedgerFull.
        """

    async def decide(
        self,
        stream: str,
        head: Callable[[int], Awaitable[int]],
        attempt: Callable[[int], Awaitable[T]],
    ) -> T:
        """Decide on a stream as it stands, and append that before anybody else appends.

        `head` says up to which sequence number the caller has read, having read on if that is no
        more than the number it is given. `attempt` decides and appends with that number as
        `expect`; where somebody else wrote meanwhile (Conflict), both are called anew. What
        `attempt` raises is raised. Raises LedgerBusy where the stream never stands still. Must not
        be called from within an `attempt` on the same stream.
        """

    async def read(
        self,
        stream: str,
        *,
        after: int = 0,
        before: int | None = None,
        kinds: Sequence[str] = (),
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Event]:
        """Events of a stream with `after < seq < before`, of these kinds, in order of `seq`.

        With `limit`, the first ones; with `newest` too, the last ones (still in order).
        Private words are filled in; forgotten ones have `text` None.
        """

    async def event(self, id: str) -> Event:
        """One event by its id. Raises Unknown."""

    def subscribe(
        self,
        handler: Callable[[str, Sequence[Event]], None],
        *,
        streams: str = "",
        kinds: Collection[str] = (),
    ) -> Callable[[], None]:
        """Have `handler` told of every event from now on, once, in the order of its stream.

        Of this process and of others, alike; only of streams whose name starts so, and of these
        kinds. Earlier subscribers are told first. Whoever awaited an append goes on after all were
        told. Call what is returned to be told no longer.
        """

    async def told(self, stream: str, past: int = -1) -> int:
        """Up to which event subscribers were told of a stream.

        What this process knows to be there is told first; and if that is no more than `past`, what
        others wrote is looked for and told.
        """

    async def heads(self, prefix: str = "") -> dict[str, int]:
        """Every stream whose name starts so, and its last sequence number."""
