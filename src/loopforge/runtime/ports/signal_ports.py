"""What passes by on a stream and is kept nowhere: drafts, typing, stop."""

from collections.abc import AsyncIterator, Callable
from typing import Protocol

from msgspec import Struct

from loopforge.core.events import Event


class Thinking(Struct, frozen=True, tag="thinking", kw_only=True):
    """A mate began a turn; surfaces may show a typing sign."""

    turn: str
    mate: str


class Draft(Struct, frozen=True, tag="draft", kw_only=True):
    """What a mate is saying so far: the whole text, not a piece. A draft is not Said.

    `anew` is the line that it would stand in place of; "" for one of its own.
    """

    turn: str
    mate: str
    text: str
    anew: str = ""


class Withdrawn(Struct, frozen=True, tag="withdrawn", kw_only=True):
    """The draft of a turn is taken back, visibly."""

    turn: str
    mate: str
    why: str


class Rested(Struct, frozen=True, tag="rested", kw_only=True):
    """The turn is over; typing signs end. Comes after the Said event, if there is one."""

    turn: str
    mate: str


class ToolProgress(Struct, frozen=True, tag="progress", kw_only=True):
    """How far a use of a tool is (`effect`, its id), that a mate wanted in its turn.

    `text` is a line in the tool's own words, "" where it has none; `part` of the whole is done, 0
    to 1, None where nobody knows. With `over` it has ended, as the ledger tells. It may go on
    after its turn.
    """

    effect: str
    turn: str
    mate: str
    tool: str
    text: str = ""
    part: float | None = None
    over: bool = False


Signal = Thinking | Draft | Withdrawn | Rested | ToolProgress


class Listening(Protocol):
    """What `listen` gives: an iterator that can be closed."""

    def __aiter__(self) -> AsyncIterator[Signal | Event]:
        """Itself."""

    async def __anext__(self) -> Signal | Event:
        """The next thing that was heard."""

    def close(self) -> None:
        """Stop listening; the iterator ends."""


class Signals(Protocol):
    """What passes by on a stream and is kept nowhere: drafts, typing, stop."""

    def publish(self, stream: str, what: Signal | Event) -> None:
        """Let everybody hear it who listens; an event, of this process alone.

        What others append is heard there of the ledger.
        """

    def listen(self, stream: str) -> Listening:
        """Hear what is published from now on, in order; a draft takes the place of an older one."""

    def halt(self, stream: str, why: str, name: str = "") -> None:
        """Stop what is under way on a stream; with a name, only what goes by it."""

    def on_halt(self, stream: str, stop: Callable[[str], None], *names: str) -> Callable[[], None]:
        """Call `stop`, with the reason, when what goes by one of these names is to be halted.

        Call what is returned when it is over.
        """
