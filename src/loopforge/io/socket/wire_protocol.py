"""Frames: what a terminal and the host of a home say to each other over a socket.

The pure half: two closed unions, their bytes, and a Decoder that is fed bytes and gives frames. A
frame is one line of JSON, at most LIMIT bytes. The terminal says Hello first, with the version it
speaks; whatever is no frame is Nonsense, which the host answers with Garbled before it hangs up.

`shown` says which events people may see of a room, and takes out of them what they may not: a
mate's mode and narrative, notes, the text of files.

Knows nothing of sockets, rooms, or who is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from loopforge import errors
from loopforge.chat.room.room_snapshot import Scene
from loopforge.core.events import Event
from loopforge.core.line_revision import Revised, Revision
from loopforge.core.room_vocabulary import (
    ConversationBegan,
    ConversationEnded,
    DefaultMateSet,
    EnergySet,
    File,
    Heard,
    LineDeleted,
    LineEdited,
    Marked,
    MateJoined,
    MateLeft,
    PersonJoined,
    PersonLeft,
    PersonReacted,
    PlaceJoined,
    PlaceLeft,
    PolicyChosen,
    Reacted,
    RightsSet,
    Said,
    Stopped,
    TalkSet,
    Titled,
    Told,
)
from loopforge.core.text.erasable_text import Words, decode_plain, encode_plain, public
from loopforge.runtime.ports import Draft, Rested, Thinking, Withdrawn

VERSION = 2
LIMIT = 1 << 20
"""Longest frame in bytes, its newline included."""
LONGEST_SHOWN = 100_000
"""Characters of one line that are sent to a terminal; JSON may need six bytes for each."""
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


class Act(Struct, frozen=True, tag="act", kw_only=True, forbid_unknown_fields=True):
    """A command to the room, by its name."""

    n: Count
    name: str
    argument: str = ""


class History(Struct, frozen=True, tag="history", kw_only=True, forbid_unknown_fields=True):
    """The `limit` events before `before` (None: the newest ones)."""

    n: Count
    before: Count | None = None
    limit: Some = 50


class Search(Struct, frozen=True, tag="search", kw_only=True, forbid_unknown_fields=True):
    """Lines that hold these words."""

    n: Count
    words: str
    limit: Some = 20


class WhyRequest(Struct, frozen=True, tag="why", kw_only=True, forbid_unknown_fields=True):
    """The flight record of an event."""

    n: Count
    event: str


class Settle(Struct, frozen=True, tag="settle", kw_only=True, forbid_unknown_fields=True):
    """Say Done when nothing is pending in the room."""

    n: Count


class Seen(Struct, frozen=True, tag="seen", kw_only=True, forbid_unknown_fields=True):
    """Everything up to `seq` was shown to the person."""

    seq: Count


class Bye(Struct, frozen=True, tag="bye", kw_only=True, forbid_unknown_fields=True):
    """Hang up, once everything said before is done."""


FromClient = Hello | SayRequest | Act | History | Search | WhyRequest | Settle | Seen | Bye

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


class HistoryPage(Struct, frozen=True, tag="page", kw_only=True, forbid_unknown_fields=True):
    """Part of the answer to request `n`; `more` of it follows, or not.

    Lines are as they stand now; of those that were changed, `revisions` says how.
    """

    n: int
    events: tuple[Event, ...] = ()
    more: bool = False
    revisions: tuple[Revision, ...] = ()


class CommandDone(Struct, frozen=True, tag="done", kw_only=True, forbid_unknown_fields=True):
    """Part of the answer to request `n`, in words; `more` of it follows, or not."""

    n: int
    text: str = ""
    more: bool = False


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
    | HistoryPage
    | CommandDone
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
    """A frame as one line. Raises BadLine if it would be too long to send."""
    try:
        line = _encoder.encode(frame) + b"\n"
    except (UnicodeEncodeError, ValueError) as error:
        raise errors.BadLine("This holds characters that are no text; nothing was sent.") from error
    if len(line) > LIMIT:
        raise errors.BadLine(
            f"This is too long to be sent at once: {len(line):,} bytes of at most {LIMIT:,}. "
            "Nothing was sent."
        )
    return line


class Decoder(Generic[F]):
    """Bytes in, frames out: `for frame in decoder.feed(data)`. After Nonsense it is of no use."""

    def __init__(self, read: Callable[[bytes], F]) -> None:
        self._read = read
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[F]:
        """Every frame that is complete now. Raises Nonsense at the first that is none."""
        self._rest += data
        while (end := self._rest.find(b"\n")) >= 0:
            if end >= LIMIT:
                break
            line = bytes(self._rest[:end])
            del self._rest[: end + 1]
            yield self._frame(line)
        if len(self._rest) >= LIMIT:
            raise Nonsense(f"A frame is at most {LIMIT:,} bytes long.")

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
    """A decoder for the host's end."""
    return Decoder(_from_clients.decode)


def from_hosts() -> Decoder[FromHost]:
    """A decoder for the terminal's end."""
    return Decoder(_from_hosts.decode)


# ---------------------------------------------------------------- what may be seen

SEEN_AS_THEY_ARE = (
    Told
    | Reacted
    | Stopped
    | PersonJoined
    | PersonLeft
    | MateJoined
    | MateLeft
    | ConversationBegan
    | ConversationEnded
    | Titled
    | Marked
    | PolicyChosen
    | EnergySet
    | LineEdited
    | LineDeleted
    | PersonReacted
    | PlaceJoined
    | PlaceLeft
    | TalkSet
    | RightsSet
    | DefaultMateSet
)


def shown(event: Event) -> Event | None:
    """The event as people see it, or None if it is not for their eyes."""
    body = event.body
    if isinstance(body, Heard | Said):
        files = tuple(replace(file, text=public("")) for file in body.files)
        body = replace(body, text=_cut(body.text), files=files)
        if isinstance(body, Said):
            body = replace(body, mode="", rule=public(""), narrative=public(""))
        return replace(event, hash="", body=body)
    if isinstance(body, SEEN_AS_THEY_ARE):
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


def pages(n: int, events: Iterable[Event]) -> Iterator[HistoryPage]:
    """The answer to request `n` in as many frames as it needs."""
    batch: list[Event] = []
    weight = 0
    for event in events:
        size = len(_encoder.encode(event)) + 1
        if batch and weight + size > LIMIT // 2:
            yield _page(n, batch, more=True)
            batch, weight = [], 0
        batch.append(event)
        weight += size
    yield _page(n, batch, more=False)


def _page(n: int, events: Sequence[Event], *, more: bool) -> HistoryPage:
    revisions = tuple(event.revision for event in events if isinstance(event, Revised))
    return HistoryPage(n=n, events=tuple(events), more=more, revisions=revisions)


def as_they_stand(page: HistoryPage) -> Iterator[Event]:
    """The events of a page, lines that were changed with how."""
    changed = {revision.line: revision for revision in page.revisions}
    for event in page.events:
        if event.id in changed:
            event = Revised(**asdict(event), revision=changed[event.id])
        yield event


def texts(n: int, text: str) -> Iterator[CommandDone]:
    """The answer to request `n` in words, in as many frames as it needs."""
    clean = sound(text)
    for start in range(0, len(clean), LONGEST_SHOWN):
        part = clean[start : start + LONGEST_SHOWN]
        yield CommandDone(n=n, text=part, more=start + LONGEST_SHOWN < len(clean))
    if not clean:
        yield CommandDone(n=n)


# ---------------------------------------------------------------- errors

_KINDS: dict[str, type[errors.LoopforgeError]] = {
    kind.__name__: kind
    for kind in (
        errors.InputError,
        errors.BadMate,
        errors.BadLine,
        errors.TooLarge,
        errors.BadSettings,
        errors.Unknown,
        errors.LedgerError,
        errors.LedgerBusy,
        errors.LedgerFull,
        errors.LedgerBroken,
        errors.LedgerBehind,
        errors.Conflict,
        errors.ModelError,
    )
}


def refusal(error: errors.LoopforgeError, *, n: int = 0, source: str = "") -> RequestRefused:
    """An error as a frame."""
    return RequestRefused(kind=type(error).__name__, sentence=sound(str(error)), n=n, source=source)


def raised(refused: RequestRefused) -> errors.LoopforgeError:
    """The error that a Refused stands for."""
    kind = _KINDS.get(refused.kind, errors.LoopforgeError)
    if kind is errors.BadMate:  # it wants a file and a line; its sentence names them already
        return errors.InputError(refused.sentence)
    return kind(refused.sentence)
