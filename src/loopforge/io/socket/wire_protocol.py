"""The wire protocol: what a terminal and the host of a home say to each other over a socket.

Two closed unions, their bytes, and `frames`, which reads them. A frame is one line of JSON; a
terminal's has at most LIMIT bytes. It says Hello first, with the version it speaks; whatever is no
frame the host refuses before it hangs up.

`shown` says which events people may see of a room, and takes out of them what they may not: a
mate's mode and narrative, notes, the text of files.

Knows nothing of rooms, or who is right.
"""

import math
from asyncio import StreamReader
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from loopforge import errors
from loopforge.chat.room.event_wording import SHOWN
from loopforge.chat.room.room_snapshot import RoomSnapshot
from loopforge.core.edited_lines import Revised, Revision
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import File, Heard, Said
from loopforge.core.text.erasable_text import Words, decode_plain, encode_plain, public_words
from loopforge.runtime.ports import Draft, Rested, Thinking, ToolProgress, Withdrawn

VERSION = 6
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
    """The first frame: who comes in, and where.

    `client` is this terminal's own id; lines it says have sources "<client>:<n>". With `mates`, a
    room that is new holds only these. `after` is the last event it has; with None it is new here
    and wants the last `tail` lines.
    """

    client: str
    room: str
    name: str
    version: int = VERSION
    mates: tuple[str, ...] = ()
    after: Count | None = None
    tail: Some = 0


class TerminalRequest(Struct, frozen=True, tag="request", kw_only=True, forbid_unknown_fields=True):
    """Something that is answered by HostAnswer or RequestRefused of the same `n`.

    say: the line `words`, with `files`, in answer to the line `argument`; it may be sent again, and
    is heard once. act: the command `words`, with `argument`; history: the `limit` events before
    `before` (None: the newest); search: lines that hold `words`; why: the flight record of the
    event `words`; settle: nothing, once nothing is pending in the room; anew: to be welcomed once
    more, as if this terminal were new here.
    """

    n: Count
    do: Literal["say", "act", "history", "search", "why", "settle", "anew"]
    words: str = ""
    argument: str = ""
    files: tuple[File, ...] = ()
    before: Count | None = None
    limit: Some = 50


class Seen(Struct, frozen=True, tag="seen", kw_only=True, forbid_unknown_fields=True):
    """Everything up to `seq` was shown to the person."""

    seq: Count


FromClient = Hello | TerminalRequest | Seen

# ---------------------------------------------------------------- what the host says


class SocketWelcome(Struct, frozen=True, tag="welcome", kw_only=True, forbid_unknown_fields=True):
    """The answer to Hello, and to `anew`. `here` are the ids of people whose terminals are open.

    Every event after `at` follows.
    """

    at: Count
    scene: RoomSnapshot
    here: tuple[str, ...] = ()


class RoomSight(Struct, frozen=True, tag="sight", kw_only=True, forbid_unknown_fields=True):
    """The room looks different now."""

    scene: RoomSnapshot
    here: tuple[str, ...] = ()


class RoomHappened(Struct, frozen=True, tag="happened", kw_only=True, forbid_unknown_fields=True):
    """An event, in the room's order, each once."""

    event: Event


class TextsForgotten(
    Struct, frozen=True, tag="forgotten", kw_only=True, forbid_unknown_fields=True
):
    """Texts of this room were forgotten; who still shows some asks for the room `anew`."""


class HostAnswer(Struct, frozen=True, tag="answer", kw_only=True, forbid_unknown_fields=True):
    """The answer to request `n`: words, events, or nothing more than that it is done.

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
    """A request (`n`) was not done, or (0) nothing more will be; nothing was lost.

    `kind` is the name of one of Loopforge's errors, `sentence` is for the person.
    """

    kind: str
    sentence: str
    n: int = 0


FromHost = (
    SocketWelcome
    | RoomSight
    | RoomHappened
    | TextsForgotten
    | HostAnswer
    | RequestRefused
    | Thinking
    | Draft
    | Withdrawn
    | Rested
    | ToolProgress
)

# ---------------------------------------------------------------- bytes

F = TypeVar("F")
_encoder = msgspec.json.Encoder(enc_hook=encode_plain)


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


_from_client: msgspec.json.Decoder[FromClient] = msgspec.json.Decoder(
    FromClient, dec_hook=decode_plain
)
_from_host: msgspec.json.Decoder[FromHost] = msgspec.json.Decoder(FromHost, dec_hook=decode_plain)


def from_client(line: bytes) -> FromClient:
    """What a terminal says. Raises Unreachable."""
    return _decoded(_from_client, line)


def from_host(line: bytes) -> FromHost:
    """What the host says. Raises Unreachable."""
    return _decoded(_from_host, line)


def _decoded(decoder: msgspec.json.Decoder[F], line: bytes) -> F:
    try:
        return decoder.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise errors.Unreachable(
            f"What came cannot be understood: it is no frame of version {VERSION} ({error})."
        ) from error


async def frames(
    reader: StreamReader, read: Callable[[bytes], F], limit: float = math.inf
) -> AsyncGenerator[F, None]:
    """Frames as they come in, until the other end hangs up. Raises Unreachable for what is none.

    `limit` is the longest frame in bytes, its newline included.
    """
    held = bytearray()
    while data := await reader.read(1 << 16):
        for n, piece in enumerate(data.split(b"\n")):
            if n:
                yield read(bytes(held))
                held.clear()
            held += piece
            if len(held) >= limit:
                raise errors.Unreachable(f"A frame is at most {limit:,} bytes long.")


# ---------------------------------------------------------------- what may be seen


def shown(event: Event) -> Event | None:
    """The event as people see it, or None if it is not for their eyes."""
    body = event.body
    if isinstance(body, Heard | Said):
        files = tuple(replace(file, text=public_words("")) for file in body.files)
        body = replace(body, text=_cut(body.text), files=files)
        if isinstance(body, Said):
            body = replace(body, mode="", rule=public_words(""), narrative=public_words(""))
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


def refusal(error: errors.LoopforgeError, n: int = 0) -> RequestRefused:
    """An error as a frame."""
    return RequestRefused(kind=type(error).__name__, sentence=sound(str(error)), n=n)


def raised(refused: RequestRefused) -> errors.LoopforgeError:
    """The error that a Refused stands for."""
    kind = getattr(errors, refused.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, errors.LoopforgeError)):
        kind = errors.LoopforgeError
    try:
        return kind(refused.sentence)
    except TypeError:  # a mate's file, say, which has a place beside its sentence
        return errors.InputError(refused.sentence)
