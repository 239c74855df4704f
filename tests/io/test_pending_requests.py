"""The outbox: what a terminal has said and asked, until it is answered."""

from __future__ import annotations

import asyncio

import pytest

from loopforge.errors import BadLine, Unknown, Unreachable
from loopforge.io.socket import wire_protocol
from loopforge.io.socket.pending_requests import WINDOW, PendingRequests
from loopforge.io.socket.wire_protocol import FromClient
from loopforge.runtime.background_tasks import Tasks


class Wire:
    """A host that takes bytes down."""

    def __init__(self) -> None:
        self._decoder = wire_protocol.from_clients()
        self.got: list[FromClient] = []

    def __call__(self, data: bytes) -> None:
        self.got.extend(self._decoder.feed(data))

    def sources(self) -> list[int]:
        """The numbers of the lines that came."""
        return [
            int(one.source.split(":")[1])
            for one in self.got
            if isinstance(one, wire_protocol.SayRequest)
        ]


def test_lines_wait_for_a_host_and_go_in_order() -> None:
    """What is said without a host is written when there is one, in order."""
    outbox, wire = PendingRequests("c"), Wire()
    sources = [outbox.say(text, "", ()) for text in ("one", "two")]
    outbox.open(wire)
    assert sources == ["c:1", "c:2"]
    assert [one.text for one in wire.got if isinstance(one, wire_protocol.SayRequest)] == [
        "one",
        "two",
    ]
    assert outbox.mine("c:1")
    assert not outbox.mine("cc:1")


def test_what_was_not_taken_is_written_to_the_next_host_with_the_same_source() -> None:
    """After a host went away only the lines that were not taken go to the next, in order."""
    outbox, first, second = PendingRequests("c"), Wire(), Wire()
    outbox.open(first)
    for text in "abcd":
        outbox.say(text, "", ())
    assert outbox.done("c:2") == "b"
    outbox.shut()
    outbox.say("e", "", ())
    assert first.sources() == [1, 2, 3, 4]
    outbox.open(second)
    assert second.sources() == [1, 3, 4, 5]


def test_only_some_lines_are_on_their_way_at_once() -> None:
    """Of very many lines WINDOW are written; each one taken lets the next go."""
    outbox, wire = PendingRequests("c"), Wire()
    outbox.open(wire)
    for _ in range(10_000):
        outbox.say("x", "", ())
    assert wire.sources() == list(range(1, WINDOW + 1))
    for n in range(1, 10_001):
        assert not outbox.empty.is_set()
        outbox.done(f"c:{n}")
    assert wire.sources() == list(range(1, 10_001))
    assert outbox.empty.is_set()


def test_a_line_that_cannot_be_sent_leaves_no_trace() -> None:
    """A line too long is refused at once and takes no number."""
    outbox, wire = PendingRequests("c"), Wire()
    outbox.open(wire)
    with pytest.raises(BadLine):
        outbox.say("x" * (1 << 20), "", ())
    assert outbox.empty.is_set()
    assert outbox.say("short", "", ()) == "c:1"


async def asked(outbox: PendingRequests, tasks: Tasks, *names: str) -> list[asyncio.Task[object]]:
    """Ask: a question for "why", else a command of that name."""

    def make(name: str) -> asyncio.Task[object]:
        if name == "why":
            return tasks.spawn(
                outbox.ask(lambda n: wire_protocol.TerminalRequest(n=n, do="why", words="e")), name
            )
        return tasks.spawn(
            outbox.ask(lambda n: wire_protocol.TerminalRequest(n=n, do="act", words=name)), name
        )

    made = [make(name) for name in names]
    await asyncio.sleep(0)
    return made


async def test_questions_are_asked_again_and_commands_fail_but_stop() -> None:
    """When the host goes away, a question and stop go to the next; another command is an error."""
    outbox, first, second, tasks = PendingRequests("c"), Wire(), Wire(), Tasks()
    outbox.open(first)
    why, title, stop = await asked(outbox, tasks, "why", "title", "stop")
    outbox.shut()
    with pytest.raises(Unreachable, match="Look whether it was done"):
        await title
    outbox.open(second)
    asked_again = [one for one in second.got if isinstance(one, wire_protocol.TerminalRequest)]
    assert [(one.do, one.words) for one in asked_again] == [("why", "e"), ("act", "stop")]
    for frame in asked_again:
        outbox.answer(wire_protocol.HostAnswer(n=frame.n, text="because"))
    await asyncio.gather(why, stop)


async def test_a_command_given_without_a_host_waits_for_one() -> None:
    """A command that was never written is not lost when there is no host."""
    outbox, wire, tasks = PendingRequests("c"), Wire(), Tasks()
    (title,) = await asked(outbox, tasks, "title")
    outbox.shut()
    outbox.open(wire)
    outbox.answer(wire_protocol.HostAnswer(n=1, text="done"))
    await title


async def test_a_refusal_and_the_end_are_raised_where_it_was_asked() -> None:
    """A refused question raises its error; when no host will come, all that wait are told."""
    outbox, tasks = PendingRequests("c"), Tasks()
    outbox.open(Wire())
    one, two = await asked(outbox, tasks, "why", "why")
    outbox.refuse(1, Unknown("No such event."))
    with pytest.raises(Unknown):
        await one
    outbox.fail(Unreachable("gone"))
    with pytest.raises(Unreachable):
        await two
    with pytest.raises(Unreachable):
        outbox.say("more", "", ())
    assert outbox.empty.is_set()
