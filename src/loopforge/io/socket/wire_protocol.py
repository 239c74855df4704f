"""Frames: what a terminal and the host of a home say to each other over a socket.

The pure half: two closed unions, their bytes, and a Decoder that is fed bytes and gives frames. A
frame is one line of JSON; a terminal's has at most LIMIT bytes. It says Hello first, with the
version it speaks; whatever is no frame is Nonsense, which the host answers with Garbled before it
hangs up.

`shown` says which events people may see of a room, and takes out of them what they may not: a
mate's mode and narrative, notes, the text of files.

Knows nothing of sockets, rooms, or who is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from loopforge import errors
from loopforge.chat.room.event_wording import SHOWN
from loopforge.chat.room.room_snapshot import Scene
from loopforge.core.events import Event
from loopforge.core.line_revision import Revised, Revision
from loopforge.core.room_vocabulary import File, Heard, Said
from loopforge.core.text.erasable_text import Words, decode_plain, encode_plain, public
from loopforge.runtime.ports import Draft, Rested, Thinking, Withdrawn

VERSION = 3
LIMIT = 1 << 20
"""Bytes of the longest frame that a terminal may send, its newline included."""
LONGEST_SHOWN = 100_000
"""Characters of one line that are sent to a terminal."""
PAGE = 500
"""Most events that may be asked for at once."""

Count = Annotated[int, Meta(ge=0, le=1 << 53)]
Some = Annotated[int, Meta(ge=0, le=PAGE)]

# ---------------------------------------------------------------- what a terminal says


class Hello(Struct, frozen=True, tag="hello", kw_only=True, forbid_unknown_fields=True):
    """The first frame. `client` is this terminal's id; lines it says have sources "<client>:<n>".

    `after` is the last event it has; with None it is new here and wants the last `tail` lines.
    """

    version: int
    client: str
    room: str
    name: str
    surface: str = "terminal"
    mates: tuple[str, ...] = ()
    after: Count | None = None
    tail: Some = 0


class SayRequest(Struct, frozen=True, tag="say", kw_only=True, forbid_unknown_fields=True):
    """A line. Sent again with the same `source` until it is Taken or Refused."""

    source: str
    text: str
    reply_to: str = ""
    files: tuple[File, ...] = ()


class TerminalRequest(Struct, frozen=True, tag="request", kw_only=True, forbid_unknown_fields=True):
    """Something that is answered by HostAnswer or RequestRefused of the same `n`.

    act: the command `words`, with `argument`; history: the `limit` events before `before` (None:
    the newest); search: lines that hold `words`; why: the flight record of the event `words`;
    settle: nothing, once nothing is pending in the room.
    """

    n: Count
    do: Literal["act", "history", "search", "why", "settle"]
    words: str = ""
    argument: str = ""
    before: Count | None = None
    limit: Some = 50


class Seen(Struct, frozen=True, tag="seen", kw_only=True, forbid_unknown_fields=True):
    """Everything up to `seq` was shown to the person."""

    seq: Count


class Bye(Struct, frozen=True, tag="bye", kw_only=True, forbid_unknown_fields=True):
    """Hang up, once everything said before is done."""


FromClient = Hello | SayRequest | TerminalRequest | Seen | Bye

# ---------------------------------------------------------------- what the host says


class SocketWelcome(Struct, frozen=True, tag="welcome", kw_only=True, forbid_unknown_fields=True):
    """The answer to Hello. `here` are the ids of people whose terminals are open.

    Every event after `at` follows.
    """

    version: int
    at: Count
    scene: Scene
    here: tuple[str, ...] = ()


class RoomSight(Struct, frozen=True, tag="sight", kw_only=True, forbid_unknown_fields=True):
    """The room looks different now."""

    scene: Scene
    here: tuple[str, ...] = ()


class RoomHappened(Struct, frozen=True, tag="happened", kw_only=True, forbid_unknown_fields=True):
    """An event, in the room's order, each once."""

    event: Event


class LineTaken(Struct, frozen=True, tag="taken", kw_only=True, forbid_unknown_fields=True):
    """The line of this source is in the ledger, as event `event`."""

    source: str
    event: str


class HostAnswer(Struct, frozen=True, tag="answer", kw_only=True, forbid_unknown_fields=True):
    """The answer to request `n`: words, or events.

    Lines are as they stand now; of those that were changed, `revisions` says how.
    """

    n: int
    text: str = ""
    events: tuple[Event, ...] = ()
    revisions: tuple[Revision, ...] = ()

    @property
    def as_they_stand(self) -> Iterator[Event]:
        """The events, lines that were changed with how."""
        changed = {revision.line: revision for revision in self.revisions}
        for event in self.events:
            if event.id in changed:
                event = Revised(**asdict(event), revision=changed[event.id])
            yield event


class RequestRefused(Struct, frozen=True, tag="refused", kw_only=True, forbid_unknown_fields=True):
    """A line (`source`), a request (`n`) or the Hello (neither) was not done; nothing was lost.

    `kind` is the name of one of Loopforge's errors, `sentence` is for the person.
    """

    kind: str
    sentence: str
    n: int = 0
    source: str = ""


class Garbled(Struct, frozen=True, tag="garbled", kw_only=True, forbid_unknown_fields=True):
    """What came in was no frame, or the wrong one here; the host hangs up after this."""

    sentence: str


FromHost = (
    SocketWelcome
    | RoomSight
    | RoomHappened
    | LineTaken
    | HostAnswer
    | RequestRefused
    | Garbled
    | Thinking
    | Draft
    | Withdrawn
    | Rested
)

# ---------------------------------------------------------------- bytes

F = TypeVar("F")
_encoder = msgspec.json.Encoder(enc_hook=encode_plain)


class Nonsense(ValueError):
    """Bytes that are no frame; the message is a sentence for the other end."""


def encode(frame: FromClient | FromHost) -> bytes:
    """A frame as one line. Raises BadLine for what a terminal cannot say at once."""
    try:
        line = _encoder.encode(frame) + b"\n"
    except (UnicodeEncodeError, ValueError) as error:
        raise errors.BadLine("This holds characters that are no text; nothing was sent.") from error
    if isinstance(frame, FromClient) and len(line) > LIMIT:
        raise errors.BadLine(
            f"This is too long to be sent at once: {len(line):,} bytes of at most {LIMIT:,}. "
            "Nothing was sent."
        )
    return line


class Decoder(Generic[F]):
    """Bytes in, frames out: `for frame in decoder.feed(data)`. After Nonsense it is of no use.

    `limit` is the longest frame in bytes, its newline included.
    """

    def __init__(self, read: Callable[[bytes], F], limit: float) -> None:
        self._read, self._limit = read, limit
        self._rest = bytearray()
        self._looked = 0

    def feed(self, data: bytes) -> Iterator[F]:
        """Every frame that is complete now. Raises Nonsense at the first that is none."""
        self._rest += data
        while (end := self._rest.find(b"\n", self._looked)) >= 0:
            if end >= self._limit:
                break
            line = bytes(self._rest[:end])
            del self._rest[: end + 1]
            self._looked = 0
            yield self._frame(line)
        self._looked = len(self._rest)
        if len(self._rest) >= self._limit:
            raise Nonsense(f"A frame is at most {self._limit:,} bytes long.")

    def _frame(self, line: bytes) -> F:
        try:
            return self._read(line)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise Nonsense(f"This is no frame of version {VERSION}: {error}") from error


_from_clients: msgspec.json.Decoder[FromClient] = msgspec.json.Decoder(
    FromClient, dec_hook=decode_plain
)
_from_hosts: msgspec.json.Decoder[FromHost] = msgspec.json.Decoder(FromHost, dec_hook=decode_plain)


def from_clients() -> Decoder[FromClient]:
    """A decoder for the host's end, which takes no more than a person can have said."""
    return Decoder(_from_clients.decode, LIMIT)


def from_hosts() -> Decoder[FromHost]:
    """A decoder for the terminal's end."""
    return Decoder(_from_hosts.decode, math.inf)


# ---------------------------------------------------------------- what may be seen


def shown(event: Event) -> Event | None:
    """The event as people see it, or None if it is not for their eyes."""
    body = event.body
    if isinstance(body, Heard | Said):
        files = tuple(replace(file, text=public("")) for file in body.files)
        body = replace(body, text=_cut(body.text), files=files)
        if isinstance(body, Said):
            body = replace(body, mode="", rule=public(""), narrative=public(""))
        return replace(event, hash="", body=body)
    if event.kind in SHOWN:
        words = {n: _cut(value) for n, value in asdict(body).items() if isinstance(value, Words)}
        return replace(event, hash="", body=replace(body, **words))
    return None


def shown_draft(draft: Draft) -> Draft:
    """A draft as it can be sent, whatever a model writes."""
    text = sound(draft.text)
    return replace(draft, text=text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…")


def sound(text: str) -> str:
    """The text without halves of characters, which no frame can hold."""
    return text.encode("utf-8", "replace").decode()


def _cut(words: Words) -> Words:
    text = sound(str(words))
    if len(text) <= LONGEST_SHOWN:
        return Words(text)
    left_out = len(text) - LONGEST_SHOWN
    return Words(f"{text[:LONGEST_SHOWN]}… [{left_out:,} more characters stand in the ledger]")


def answer(n: int, events: Iterable[Event]) -> HostAnswer:
    """Those of the events that people may see, as the answer to request `n`."""
    seen = tuple(one for event in events if (one := shown(event)))
    revisions = tuple(event.revision for event in seen if isinstance(event, Revised))
    return HostAnswer(n=n, events=seen, revisions=revisions)


# ---------------------------------------------------------------- errors


def refusal(error: errors.LoopforgeError, *, n: int = 0, source: str = "") -> RequestRefused:
    """An error as a frame."""
    return RequestRefused(kind=type(error).__name__, sentence=sound(str(error)), n=n, source=source)


def raised(refused: RequestRefused) -> errors.LoopforgeError:
    """The error that a Refused stands for."""
    kind = getattr(errors, refused.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, errors.LoopforgeError)):
        kind = errors.LoopforgeError
    try:
        return kind(refused.sentence)
    except TypeError:  # a mate's file, say, which has a place beside its sentence
        return errors.InputError(refused.sentence)
