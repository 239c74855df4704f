"""The outbox: what a terminal has said and asked, until it is answered."""

import asyncio
import gc

import pytest

from loopforge.errors import BadLine, Unknown, Unreachable
from loopforge.io.socket.pending_requests import WINDOW, PendingRequests
from loopforge.io.socket.wire_protocol import HostAnswer, TerminalRequest, from_client
from loopforge.runtime.background_tasks import BackgroundTasks


class Wire:
    """A host that takes bytes down."""

    def __init__(self) -> None:
        self.got: list[TerminalRequest] = []

    def __call__(self, data: bytes) -> None:
        frame = from_client(data)
        assert isinstance(frame, TerminalRequest)
        self.got.append(frame)

    def numbers(self) -> list[int]:
        """The numbers of the lines that came."""
        return [one.n for one in self.got if one.do == "say"]


def test_lines_wait_for_a_host_and_go_in_order() -> None:
    """What is said without a host is written when there is one, in order."""
    outbox, wire = PendingRequests("c"), Wire()
    sources = [outbox.say(text, "", ()) for text in ("one", "two")]
    outbox.open(wire)
    assert sources == ["c:1", "c:2"]
    assert [one.words for one in wire.got] == ["one", "two"]
    assert outbox.mine("c:1")
    assert not outbox.mine("cc:1")


def test_what_was_not_taken_is_written_to_the_next_host_with_the_same_number() -> None:
    """After a host went away only the lines that were not taken go to the next, in order."""
    outbox, first, second = PendingRequests("c"), Wire(), Wire()
    outbox.open(first)
    for text in "abcd":
        outbox.say(text, "", ())
    taken = outbox.done(2, HostAnswer(n=2))
    assert taken is not None
    assert taken.words == "b"
    outbox.shut()
    outbox.say("e", "", ())
    assert first.numbers() == [1, 2, 3, 4]
    outbox.open(second)
    assert second.numbers() == [1, 3, 4, 5]


def test_only_some_lines_are_on_their_way_at_once() -> None:
    """Of very many lines WINDOW are written; each one taken lets the next go."""
    outbox, wire = PendingRequests("c"), Wire()
    outbox.open(wire)
    for _ in range(10_000):
        outbox.say("x", "", ())
    assert wire.numbers() == list(range(1, WINDOW + 1))
    for n in range(1, 10_001):
        assert not outbox.empty.is_set()
        outbox.done(n, HostAnswer(n=n))
    assert wire.numbers() == list(range(1, 10_001))
    assert outbox.empty.is_set()


def test_a_line_that_cannot_be_sent_leaves_no_trace() -> None:
    """A line too long is refused at once and takes no number."""
    outbox, wire = PendingRequests("c"), Wire()
    outbox.open(wire)
    with pytest.raises(BadLine):
        outbox.say("x" * (1 << 20), "", ())
    assert outbox.empty.is_set()
    assert outbox.say("short", "", ()) == "c:1"


async def asked(
    outbox: PendingRequests, tasks: BackgroundTasks, *names: str
) -> list[asyncio.Task[object]]:
    """Ask: a question for "why", else a command of that name."""
    made: list[asyncio.Task[object]] = [
        tasks.spawn(outbox.ask(do="why" if name == "why" else "act", words=name), name)
        for name in names
    ]
    await asyncio.sleep(0)
    return made


async def test_questions_are_asked_again_and_commands_fail_but_stop() -> None:
    """When the host goes away, a question and stop go to the next; another command is an error.

    A command that was never written is not lost.
    """
    outbox, first, second, tasks = PendingRequests("c"), Wire(), Wire(), BackgroundTasks()
    outbox.open(first)
    why, title, stop = await asked(outbox, tasks, "why", "title", "stop")
    outbox.shut()
    (energy,) = await asked(outbox, tasks, "energy")
    with pytest.raises(Unreachable, match="Look whether it was done"):
        await title
    outbox.open(second)
    assert [one.words for one in second.got] == ["why", "stop", "energy"]
    for frame in second.got:
        outbox.done(frame.n, HostAnswer(n=frame.n, text="because"))
    await asyncio.gather(why, stop, energy)


async def test_a_refusal_and_the_end_are_raised_where_it_was_asked() -> None:
    """A refused question raises its error; when no host will come, all that wait are told."""
    outbox, tasks = PendingRequests("c"), BackgroundTasks()
    outbox.open(Wire())
    one, two = await asked(outbox, tasks, "why", "why")
    outbox.done(1, Unknown("No such event."))
    with pytest.raises(Unknown):
        await one
    outbox.fail(Unreachable("gone"))
    with pytest.raises(Unreachable):
        await two
    with pytest.raises(Unreachable):
        outbox.say("more", "", ())
    assert outbox.empty.is_set()


async def test_a_question_that_cannot_be_written_is_not_kept() -> None:
    """Its asker has the error; when the terminal ends nobody is left to be told, and no error lost."""
    gc.collect()  # what other tests left is not judged here
    lost: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: lost.append(context))

    def broken(_data: bytes) -> None:
        raise RuntimeError("Cannot call write() after write_eof()")

    outbox = PendingRequests("c")
    outbox.open(broken)
    with pytest.raises(RuntimeError, match="write_eof"):
        await outbox.ask(do="why")
    outbox.fail(Unreachable("This terminal is closed."))
    del outbox
    gc.collect()
    assert lost == []


async def test_what_is_asked_while_a_terminal_parts_fails_as_it_ends() -> None:
    """It is written to no host any more."""
    outbox, wire, tasks = PendingRequests("c"), Wire(), BackgroundTasks()
    outbox.open(wire)
    outbox.part()
    asking = tasks.spawn(outbox.ask(do="why"), "a question")
    await asyncio.sleep(0)
    outbox.fail(Unreachable("This terminal is closed."))
    with pytest.raises(Unreachable, match="closed"):
        await asking
    assert wire.got == []
