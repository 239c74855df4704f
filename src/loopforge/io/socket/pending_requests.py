"""Pending requests: what a terminal has said and asked, until it is answered.

A line is written again to every new host until it is taken or refused; only some are on their way
at once, so that a command need not wait behind ten thousand pasted lines. A question is written
again too; a command only if it may be given twice, else it fails when the host goes away.

Knows nothing of sockets: it is given a function that writes bytes while there is a host.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from loopforge.core.room_vocabulary import File
from loopforge.errors import LoopforgeError, Unreachable
from loopforge.io.socket import wire_protocol
from loopforge.io.socket.wire_protocol import HostAnswer, TerminalRequest

WINDOW = 64
"""Lines on their way to the host at once."""
TWICE = frozenset(("stop",))
"""Commands that may be given twice."""


@dataclass
class PendingRequest:
    """A request that is not yet answered. For a question somebody waits; for a line nobody does."""

    asked: TerminalRequest
    encoded: bytes
    answered: asyncio.Future[HostAnswer] | None = None
    written: bool = False

    @property
    def again(self) -> bool:
        """Whether it may be written a second time."""
        return self.asked.do != "act" or self.asked.words in TWICE

    def conclude(self, outcome: HostAnswer | LoopforgeError) -> None:
        """Tell whoever waits what came of it."""
        if self.answered is None or self.answered.done():
            return
        if isinstance(outcome, HostAnswer):
            self.answered.set_result(outcome)
        else:
            self.answered.set_exception(outcome)


class PendingRequests:
    """One terminal's. `client` is its id, the beginning of its lines' sources."""

    def __init__(self, client: str) -> None:
        self.empty = asyncio.Event()
        self.empty.set()
        self._client = client
        self._write: Callable[[bytes], None] | None = None
        self._error: LoopforgeError | None = None
        self._count = 0
        self._lines: dict[int, PendingRequest] = {}
        self._questions: dict[int, PendingRequest] = {}

    def mine(self, source: str) -> bool:
        """Whether a line with this source was said here."""
        return source.startswith(f"{self._client}:")

    # ------------------------------------------------------------ hosts come and go

    def open(self, write: Callable[[bytes], None]) -> None:
        """There is a host now: write what waits."""
        self._write = write
        self._send_lines()
        for question in self._questions.values():
            self._send(question)

    def shut(self) -> None:
        """The host went away."""
        self._write = None
        for line in self._lines.values():
            line.written = False
        gone = Unreachable(
            "The host went away before it answered. Look whether it was done before you say it "
            "again."
        )
        for question in self._questions.values():
            if question.written and not question.again:
                question.conclude(gone)

    def part(self) -> None:
        """What was asked may still be answered; nothing more is written to this host."""
        self._write = None

    def fail(self, error: LoopforgeError) -> None:
        """There will be no host any more."""
        self._write, self._error = None, error
        for question in self._questions.values():
            question.conclude(error)
        self.empty.set()

    # ------------------------------------------------------------ what is said and asked

    def say(self, text: str, reply_to: str, files: Sequence[File]) -> str:
        """Keep a line and write it when its turn comes; its source. Raises BadLine."""
        line = self._numbered(do="say", words=text, argument=reply_to, files=tuple(files))
        self._lines[line.asked.n] = line
        self.empty.clear()
        self._send_lines()
        return self.source(line.asked)

    def source(self, line: TerminalRequest) -> str:
        """By which a line that was said here is known in the room."""
        return f"{self._client}:{line.n}"

    async def ask(self, **asked: Any) -> HostAnswer:
        """Ask, and return the answer. Raises what the host refuses it with."""
        question = self._numbered(**asked)
        question.answered = asyncio.get_running_loop().create_future()
        self._questions[question.asked.n] = question
        try:
            self._send(question)
            return await question.answered
        finally:
            del self._questions[question.asked.n]

    def done(self, n: int, outcome: HostAnswer | LoopforgeError) -> TerminalRequest | None:
        """A request was answered or refused: let it go. The line, if it was one."""
        if (line := self._lines.pop(n, None)) is not None:
            if not self._lines:
                self.empty.set()
            self._send_lines()
            return line.asked
        if (question := self._questions.get(n)) is not None:
            question.conclude(outcome)
        return None

    def _numbered(self, **asked: Any) -> PendingRequest:
        if self._error is not None:
            raise self._error
        frame = TerminalRequest(n=self._count + 1, **asked)
        encoded = wire_protocol.encode(frame)
        self._count += 1
        return PendingRequest(frame, encoded)

    def _send_lines(self) -> None:
        for line in islice(self._lines.values(), WINDOW):
            if not line.written:
                self._send(line)

    def _send(self, request: PendingRequest) -> None:
        if self._write is not None:
            request.written = True
            self._write(request.encoded)
