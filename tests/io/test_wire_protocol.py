"""Frames: two unions, their bytes, and what may be seen."""

import asyncio
import math
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge import errors
from loopforge.chat.room.room_snapshot import MateCard, RoomSnapshot
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import File, Heard, Noted, Said, Told
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Asked, PieceRun, TextPiece
from loopforge.io.socket import wire_protocol
from loopforge.io.socket.wire_protocol import FromClient, FromHost
from loopforge.runtime.ports import Draft, Rested, Thinking, Withdrawn

F = TypeVar("F")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
COUNT = st.integers(0, 1 << 53)
SOME = st.integers(0, wire_protocol.PAGE)
FILES = st.lists(
    st.builds(File, name=TEXT.map(Words), size=COUNT, text=TEXT.map(Words)), max_size=2
)

CLIENT: st.SearchStrategy[FromClient] = st.one_of(
    st.builds(
        wire_protocol.Hello,
        version=COUNT,
        client=TEXT,
        room=TEXT,
        name=TEXT,
        mates=st.lists(TEXT, max_size=3).map(tuple),
        after=st.none() | COUNT,
        tail=SOME,
    ),
    st.builds(
        wire_protocol.TerminalRequest,
        n=COUNT,
        do=st.sampled_from(("say", "act", "history", "search", "why", "settle")),
        words=TEXT,
        argument=TEXT,
        files=FILES.map(tuple),
        before=st.none() | COUNT,
        limit=SOME,
    ),
    st.builds(wire_protocol.Seen, seq=COUNT),
)


def event(body: Heard | Said | Told | Noted | Asked, seq: int = 1) -> Event:
    """An event that holds this body."""
    at = datetime(2026, 10, 8, 14, 0, tzinfo=UTC)
    return Event(
        stream="commons", seq=seq, id=f"e{seq}", at=at, actor="room", cause="", body=body, hash="ab"
    )


def said(text: str, seq: int = 1) -> Event:
    """A line of a mate, with what people must not see."""
    body = Said(
        turn="t", mate="maya", text=Words(text), mode="guardrail", narrative=Words("my secret")
    )
    return event(body, seq)


EVENTS = st.builds(said, TEXT, COUNT)
SCENES = st.builds(
    RoomSnapshot,
    room=TEXT,
    title=TEXT,
    you=TEXT,
    people=st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple),
    mates=st.lists(st.builds(MateCard, handle=TEXT, name=TEXT), max_size=2).map(tuple),
    energy=COUNT,
    stopped=st.booleans(),
)
HOST: st.SearchStrategy[FromHost] = st.one_of(
    st.builds(wire_protocol.SocketWelcome, at=COUNT, scene=SCENES),
    st.builds(wire_protocol.RoomSight, scene=SCENES, here=st.lists(TEXT, max_size=2).map(tuple)),
    st.builds(wire_protocol.RoomHappened, event=EVENTS),
    st.builds(
        wire_protocol.HostAnswer, n=COUNT, text=TEXT, events=st.lists(EVENTS, max_size=2).map(tuple)
    ),
    st.builds(wire_protocol.RequestRefused, kind=TEXT, sentence=TEXT, n=COUNT),
    st.builds(Thinking, turn=TEXT, mate=TEXT),
    st.builds(Draft, turn=TEXT, mate=TEXT, text=TEXT),
    st.builds(Withdrawn, turn=TEXT, mate=TEXT, why=TEXT),
    st.builds(Rested, turn=TEXT, mate=TEXT),
)


def line(text: str) -> wire_protocol.TerminalRequest:
    """A line of a terminal."""
    return wire_protocol.TerminalRequest(n=1, do="say", words=text)


def parts(data: bytes, cuts: list[int]) -> list[bytes]:
    """The data in pieces, cut anywhere."""
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


def read(read: Callable[[bytes], F], pieces: Iterable[bytes], limit: float) -> list[F]:
    """The frames that come out of these pieces."""

    async def work() -> list[F]:
        reader = asyncio.StreamReader()
        for piece in pieces:
            reader.feed_data(piece)
        reader.feed_eof()
        return [frame async for frame in wire_protocol.frames(reader, read, limit)]

    return asyncio.run(work())


def told(*pieces: bytes) -> list[FromClient]:
    """What a terminal says in these pieces, as the host reads it."""
    return read(wire_protocol.from_client, pieces, wire_protocol.LIMIT)


@given(st.lists(CLIENT, max_size=4), st.lists(st.integers(0, 10_000), max_size=5))
def test_what_a_terminal_says_arrives_however_it_is_cut(
    said: list[FromClient], cuts: list[int]
) -> None:
    """Frames of a terminal come out as they went in, whatever the pieces."""
    assert told(*parts(b"".join(map(wire_protocol.encode, said)), cuts)) == said


@given(st.lists(HOST, max_size=4))
def test_what_the_host_says_arrives(said: list[FromHost]) -> None:
    """Frames of the host come out as they went in; one that is not complete is none."""
    data = [*map(wire_protocol.encode, said), b'{"type":"answ']
    assert read(wire_protocol.from_host, data, math.inf) == said


@pytest.mark.parametrize(
    "data",
    [b"\n", b"{}\n", b'{"type":"no such"}\n', b"[" * 5000 + b"\n", b'{"type":"seen","seq":-1}\n'],
)
def test_what_is_no_frame_is_named_so(data: bytes) -> None:
    """An unknown, unfinished, too deep or impossible frame cannot be understood."""
    with pytest.raises(errors.Unreachable, match="no frame of version 6"):
        told(data)


def test_a_frame_at_the_limit_passes_and_one_byte_more_does_not() -> None:
    """The limit is exact, at both ends."""
    room = wire_protocol.LIMIT - len(wire_protocol.encode(line("")))
    longest = wire_protocol.encode(line("x" * room))
    assert len(longest) == wire_protocol.LIMIT
    assert len(told(longest)) == 1
    with pytest.raises(errors.BadLine, match="too long"):
        wire_protocol.encode(line("x" * (room + 1)))
    with pytest.raises(errors.Unreachable, match="at most"):
        told(longest[:-1] + b" \n")


def test_text_that_is_no_text_is_refused() -> None:
    """A lone surrogate cannot be sent, and the error says so."""
    with pytest.raises(errors.BadLine, match="no text"):
        wire_protocol.encode(line("\ud800"))


def test_people_do_not_see_what_is_not_for_them() -> None:
    """Of a mate's line people see the text, not its mode and narrative; of a file not its text."""
    seen = wire_protocol.shown(said("hello"))
    assert seen is not None
    assert seen.body == Said(turn="t", mate="maya", text=Words("hello"))
    file = File(name=Words("notes.txt"), size=4, text=Words("deep"))
    heard = wire_protocol.shown(event(Heard(person="p", text=Words("look"), files=(file,))))
    assert heard is not None
    assert b"deep" not in wire_protocol.encode(wire_protocol.RoomHappened(event=heard))
    assert b"notes.txt" in wire_protocol.encode(wire_protocol.RoomHappened(event=heard))


def test_notes_and_questions_are_not_shown() -> None:
    """A mate's note to itself and a turn's questions are no events for people."""
    assert wire_protocol.shown(event(Noted(turn="t", mate="maya", text=Words("hm")))) is None
    prompt = PieceRun(more=(TextPiece("user", (Words("x"),)),))
    assert wire_protocol.shown(event(Asked(turn="t", nth=1, purpose="talk", prompt=prompt))) is None


@pytest.mark.parametrize("letter", ["x", "\x01", "é", "😀"])
def test_the_longest_line_can_be_shown(letter: str) -> None:
    """A line that is too long to be shown is cut, and says what is left out."""
    seen = wire_protocol.shown(said(letter * (wire_protocol.LONGEST_SHOWN + 1234)))
    assert seen is not None
    assert isinstance(seen.body, Said)
    assert str(seen.body.text).endswith("… [1,234 more characters stand in the ledger]")


def test_an_answer_of_the_host_is_as_long_as_it_is() -> None:
    """What the limit keeps a terminal from saying at once, the host may."""
    events = [said("x" * 100_000, seq) for seq in range(1, 15)]
    data = wire_protocol.encode(wire_protocol.answer(7, events))
    assert len(data) > wire_protocol.LIMIT
    (frame,) = read(wire_protocol.from_host, [data], math.inf)
    assert isinstance(frame, wire_protocol.HostAnswer)
    assert [event.seq for event in frame.as_they_stand] == list(range(1, 15))


def test_errors_keep_their_kind_on_the_way() -> None:
    """An error of the room is raised in the terminal as the same kind, with the same sentence."""
    for kind in (errors.BadLine, errors.LedgerFull, errors.Unknown, errors.LoopforgeError):
        back = wire_protocol.raised(wire_protocol.refusal(kind("It did not work."), 3))
        assert type(back) is kind
        assert str(back) == "It did not work."
    mate = errors.BadMate("mates/x.md", 3, "no name")
    assert str(wire_protocol.raised(wire_protocol.refusal(mate))) == str(mate)
    unknown = wire_protocol.raised(
        wire_protocol.RequestRefused(kind="FromTomorrow", sentence="New.")
    )
    assert type(unknown) is errors.LoopforgeError
