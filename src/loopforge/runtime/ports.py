"""Ports: what the runtime needs of the world, each one or two methods.

Adapters live elsewhere (ledger/, models/, tools/, io/) and are wired in app.py. Nothing above a
port knows which adapter serves it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

from loopforge.core.delivery_states import What
from loopforge.core.events import Attempt, Event, Fact, Usage
from loopforge.core.model_trouble import Delay
from loopforge.core.perception import ToolOffer
from loopforge.core.policy import AnswerOutcome, Fits
from loopforge.core.room_vocabulary import File
from loopforge.runtime.looking_back import FoundLine, LineSearch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from loopforge.runtime.plugins.setting_rows import PluginSettings

T = TypeVar("T")

# ---------------------------------------------------------------- time and dice


class Clock(Protocol):
    """Time. `now` is UTC and aware; `ticks` is a steady count of seconds for measuring spans."""

    def now(self) -> datetime: ...

    def ticks(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Dice(Protocol):
    """Randomness: `bytes(n)` gives n random bytes (a scripted one makes runs repeatable)."""

    def bytes(self, count: int) -> bytes: ...


# ---------------------------------------------------------------- the ledger


class Ledger(Protocol):
    """Append-only streams of events."""

    async def append(
        self, stream: str, facts: Sequence[Fact], *, expect: int | None = None
    ) -> tuple[Event, ...]:
        """Add facts to a stream, all or none, and return them as events.

        `expect` is the sequence number the stream must stand at (0: it must not exist); if it
        stands elsewhere, raises `Conflict` and writes nothing. Raises LedgerBusy or LedgerFull.
        """
        ...

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
        ...

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
        ...

    async def event(self, id: str) -> Event:
        """One event by its id. Raises Unknown."""
        ...

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
        ...

    async def told(self, stream: str, past: int = -1) -> int:
        """Up to which event subscribers were told of a stream.

        What this process knows to be there is told first; and if that is no more than `past`, what
        others wrote is looked for and told.
        """
        ...

    async def heads(self, prefix: str = "") -> dict[str, int]:
        """Every stream whose name starts so, and its last sequence number."""
        ...


# ---------------------------------------------------------------- language models


class Route(Struct, frozen=True, kw_only=True):
    """Which model to ask: a tier (1 to 4), or one model by its name in loopforge.toml."""

    tier: int = 1
    model: str = ""
    temperature: float | None = None


class Pictured(Struct, frozen=True, kw_only=True):
    """A picture at the end of a question's message; `message` is its place among them, from 0."""

    message: int
    hash: str
    media: str


class Question(Struct, frozen=True, kw_only=True):
    """One request to a language model. `messages` are (role, text) pairs; the rest as in Ask.

    `pictures` stand by the hash of their bytes, in the order of their messages. `field` is the one
    that the answer is about; with `aloud` it (or without a schema, the text) is shown to people as
    it comes, and once it has more than `longest` characters (0: any) no more is read.
    """

    messages: tuple[tuple[str, str], ...]
    schema: dict[str, Any] | None = None
    max_tokens: int = 400
    route: Route = Route()
    pictures: tuple[Pictured, ...] = ()
    field: str = ""
    aloud: bool = False
    longest: int = 0
    fits: Fits = "any"
    tools: tuple[ToolOffer, ...] = ()
    listing: int = -1


class ModelReply(Struct, frozen=True, kw_only=True):
    """What became of a question; never an exception.

    `text` is the raw answer as far as it came. `data` is what was parsed under a schema.
    `attempts` lists every try at every model, in order. `first` and `took` are milliseconds.
    `cut`: more would have come.
    `small` as in Answer.
    """

    outcome: AnswerOutcome
    text: str = ""
    data: dict[str, Any] | None = None
    model: str = ""
    fallback: bool = False
    attempts: tuple[Attempt, ...] = ()
    usage: Usage = Usage()
    first: int = 0
    took: int = 0
    cut: bool = False
    small: bool = False


class Pictures(Protocol):
    """The bytes of pictures, by their hash."""

    async def get(self, hash: str) -> bytes:
        """The bytes. Raises a LoopforgeError when they are gone, damaged or out of reach."""
        ...


@runtime_checkable
class Attentive(Protocol):
    """Who hears an answer come and wants to know, too, that it does not come."""

    def slow(self, model: str, others: str, how: Delay) -> None:
        """This model lets one wait; the next that is asked is `others`, "" for nobody.

        Whether there are words in what came is the hearer's to know.
        """
        ...


ANEW = "\0anew\0"
"""A piece of an answer that says: another one begins in the place of what came so far."""


class Models(Protocol):
    """Language models behind tiers."""

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """Ask; `hear` is given each piece of text as it comes, and ANEW where it comes anew.

        Cancelling the task stops it. An empty piece is a sign of life (the model thinks). A `hear`
        that is Attentive is told, once, when no sign comes for a while.
        """
        ...

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by the model's own tokenizer, or a stated estimate."""
        ...

    def facts(self, route: Route) -> ModelFacts:
        """What is known of the first choice of a route, without asking it."""
        ...


class ModelFacts(Struct, frozen=True, kw_only=True):
    """A model as configured.

    `window` is in tokens; `small` models get short prompts; `vision`: it is shown pictures;
    `counting` says how tokens are counted ("its own tokenizer", "estimated at 4 characters a
    token").
    """

    name: str
    window: int
    small: bool = False
    tools: bool = False
    embedded: bool = False
    vision: bool = False
    counting: str = ""


class Embeddings(Protocol):
    """Texts as vectors: texts of near meaning lie near each other.

    `name` says whose vectors they are: those of two names are never compared. `dimension` is how
    many numbers a vector has; 0 where a server has yet to tell.
    """

    name: str
    dimension: int

    async def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of `dimension` numbers for each text, in order, of length 1 (so a dot is a cosine).

        A text that holds nothing known is a row of zeros. Raises ModelError, which says what to do.
        """
        ...

    async def close(self) -> None:
        """Let go of what it holds; it is asked no more."""
        ...


# ---------------------------------------------------------------- tools


class Tool(Struct, frozen=True, kw_only=True):
    """A tool as a mind is told of it. `schema` is the JSON schema of its arguments.

    `idempotent`: used twice is used once. `harmless`: it tells, and neither changes anything nor
    gives away what is not everybody's; with both, anybody may have it used. `reads`: it changes
    nothing, though what it tells may not be everybody's. `asks`: before each use
    people are shown exactly what is to run, and one of them has to say yes. `address` names the
    argument that is sent for as an address of the web: where it is one that no person of the room
    gave and no tool showed that `finds` addresses, people are asked first, too. `always`: every
    mate that has tools has it, whether its file names it or not. `trusted`: what it gives holds no
    words of strangers, as of a page or a file, so that nobody is warned of them. A turn waits for
    it for `patience` seconds, then goes on without it; it may run for `limit` seconds.
    """

    name: str
    summary: str
    schema: dict[str, Any] = {}
    idempotent: bool = False
    harmless: bool = False
    reads: bool = False
    asks: bool = False
    address: str = ""
    finds: bool = False
    always: bool = False
    trusted: bool = False
    patience: float = 5.0
    limit: float = 30.0


class ToolCall(Struct, frozen=True, kw_only=True):
    """One use of a tool, as the work behind it is given it.

    `id` is the same where it is made again after a crash. `mate` wants it in its `turn`, for
    `people`, those whom the turn answers, while `present` are in the room. It is ended at `until`.
    """

    arguments: dict[str, Any]
    id: str = ""
    stream: str = ""
    turn: str = ""
    mate: str = ""
    people: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    until: datetime | None = None


class ToolFile(Struct, frozen=True, kw_only=True):
    """A picture, a table or any other file that a tool gives or is given; `media` is its type."""

    name: str
    data: bytes
    media: str = ""


class ToolResult(Struct, frozen=True, kw_only=True):
    """What a tool gives: text for the mind, and files, of which it is told name, size and handle.

    `cost` in US dollars.
    """

    text: str = ""
    files: tuple[ToolFile, ...] = ()
    cost: float = 0.0


ToolWork = Callable[[ToolCall], Awaitable[str | ToolResult]]
"""The coroutine function that does the work of a tool; it raises to say that it failed."""


class RoomFiles(Protocol):
    """The kept files of a room, as far as a call may see them.

    Those that people gave to the room, and what tools gave to the same mate for the same people.
    """

    async def known(self, call: ToolCall) -> Sequence[File]:
        """All of them, the newest first."""
        ...

    async def text(self, call: ToolCall, which: str) -> tuple[File, str]:
        """A file by its handle or name, and what can be read of it. Raises Unknown, InputError."""
        ...

    async def data(self, call: ToolCall, which: str) -> ToolFile:
        """A file by its handle or name, with its bytes. Raises Unknown, ArtifactError."""
        ...

    async def extract(self, file: ToolFile) -> str:
        """What a document or a page (HTML in UTF-8, its address as its name) says.

        It need not be kept anywhere. Raises InputError, which says why there is nothing to read.
        """
        ...


class RoomHistory(Protocol):
    """What was said in a room, as far as all may see it who are there and whom a call is for."""

    async def lines(self, call: ToolCall, wanted: LineSearch) -> Sequence[FoundLine]:
        """The lines that are wanted, the oldest first."""
        ...


@dataclass(frozen=True)
class ToolHome:
    """What the home gives to its tools.

    `zone` is its time zone (an IANA name); `files` are those of the rooms where tools are used,
    `history` is what was said there.
    """

    clock: Clock
    zone: str
    settings: PluginSettings
    files: RoomFiles
    history: RoomHistory


class ToolMaker(Protocol):
    """A tool as a plugin offers it (entry points "loopforge.tools")."""

    tool: Tool

    def make(self, home: ToolHome, /) -> ToolWork | None:
        """The work of this tool in a home; made anew when the home's settings change.

        None where the home lacks what it needs: it is not offered then.
        """
        ...


class Tools(Protocol):
    """Tools by name."""

    def known(self) -> tuple[Tool, ...]:
        """Every tool there is."""
        ...

    def misfit(self, tool: str, arguments: dict[str, Any]) -> str:
        """Which of the arguments is not as the tool's schema wants it, and why; "" for none."""
        ...

    async def choose(
        self, where: tuple[str, str], may: Sequence[Tool], talk: Sequence[str]
    ) -> Sequence[Tool]:
        """Those a mate is offered now, of the tools it may use, by the last lines of the talk.

        `where` are the stream and the mate's handle.
        """
        ...

    async def call(self, tool: str, call: ToolCall) -> tuple[bool, ToolResult]:
        """Run it: whether it worked, and what it gives, or how it failed. Never raises."""
        ...


# ---------------------------------------------------------------- who works on streams, and when


class Lanes(Protocol):
    """Who works on streams: one at a time on each stream, and streams side by side.

    What is to be done stands in the ledger; a lane is told only to look.
    """

    def wake(self, stream: str) -> None:
        """There may be something to do; who is at work looks once more at the end."""
        ...

    async def settled(self, stream: str) -> None:
        """Return when nobody has anything left to do on this stream."""
        ...


class Timers(Protocol):
    """One moment for each stream at which its lane is to be woken. Nothing of it is kept.

    So what a stream waits for stands in the ledger too: whoever looks into it sets the moment anew.
    """

    def at(self, stream: str, when: datetime) -> None:
        """Wake it then, and not at the moment that was set before; in the past: at once."""
        ...

    def cancel(self, stream: str) -> None:
        """Do not wake it any more."""
        ...


# ---------------------------------------------------------------- signals


class Thinking(Struct, frozen=True, tag="thinking", kw_only=True):
    """A mate began a turn; surfaces may show a typing sign."""

    turn: str
    mate: str


class Draft(Struct, frozen=True, tag="draft", kw_only=True):
    """What a mate is saying so far: the whole text, not a piece. A draft is not Said."""

    turn: str
    mate: str
    text: str


class Withdrawn(Struct, frozen=True, tag="withdrawn", kw_only=True):
    """The draft of a turn is taken back, visibly."""

    turn: str
    mate: str
    why: str


class Rested(Struct, frozen=True, tag="rested", kw_only=True):
    """The turn is over; typing signs end. Comes after the Said event, if there is one."""

    turn: str
    mate: str


Signal = Thinking | Draft | Withdrawn | Rested


class Listening(Protocol):
    """What `listen` gives: an iterator that can be closed."""

    def __aiter__(self) -> AsyncIterator[Signal | Event]:
        """Itself."""
        ...

    async def __anext__(self) -> Signal | Event:
        """The next thing that was heard."""
        ...

    def close(self) -> None:
        """Stop listening; the iterator ends."""
        ...


class Signals(Protocol):
    """What passes by on a stream and is kept nowhere: drafts, typing, stop."""

    def publish(self, stream: str, what: Signal | Event) -> None:
        """Let everybody hear it who listens; an event, of this process alone.

        What others append is heard there of the ledger.
        """
        ...

    def listen(self, stream: str) -> Listening:
        """Hear what is published from now on, in order; a draft takes the place of an older one."""
        ...

    def halt(self, stream: str, why: str, name: str = "") -> None:
        """Stop what is under way on a stream; with a name, only what goes by it."""
        ...

    def on_halt(self, stream: str, stop: Callable[[str], None], *names: str) -> Callable[[], None]:
        """Call `stop`, with the reason, when what goes by one of these names is to be halted.

        Call what is returned when it is over.
        """
        ...


# ---------------------------------------------------------------- surfaces


class Outgoing(Struct, frozen=True, kw_only=True):
    """One thing to deliver: its delivery id, its idempotency key, where, and what.

    `place` is the surface's name, or for a surface with many places the key of one ("platform:12").
    `first` is the id of the event that its first attempt was written down by.
    """

    delivery: str
    nonce: str
    stream: str
    place: str
    what: What
    event: Event
    first: str = ""


class Surface(Protocol):
    """Where lines go out: a terminal, a web room, a channel of a platform."""

    name: str

    async def send(self, out: Outgoing) -> str:
        """Send it and return the surface's id of the message (ids, with spaces between, of parts).

        Raises SendFailed.
        """
        ...

    async def sent(self, out: Outgoing) -> str | None:
        """Whether it is already there (asked before sending a second time), by its id.

        Raises SendFailed: `uncertain` where nobody can know.
        """
        ...
