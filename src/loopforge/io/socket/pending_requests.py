"""The outbox: what a terminal has said and asked, until it is answered.

A line is written again to every new host until it is taken or refused; only some are on their way
at once, so that a command need not wait behind ten thousand pasted lines. A question is written
again too; a command only if it may be given twice, else it fails when the host goes away.

Knows nothing of sockets: it is given a function that writes bytes while there is a host.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loopforge.core.room_vocabulary import File
from loopforge.errors import LoopforgeError, Unreachable
from loopforge.io.socket import wire_protocol

WINDOW = 64
"""Lines on their way to the host at once."""
TWICE = frozenset(("stop",))
"""Commands that may be given twice."""

Write = Callable[[bytes], None]


@dataclass
class OutgoingLine:
    """A line that is not yet taken."""

    said: wire_protocol.SayRequest
    encoded: bytes


@dataclass
class PendingQuestion:
    """A request that is not yet answered. `again`: it may be written a second time."""

    encoded: bytes
    again: bool
    answered: asyncio.Future[wire_protocol.HostAnswer]
    written: bool = False


class PendingRequests:
    """One terminal's. `client` is its id, the beginning of its lines' sources."""

    def __init__(self, client: str) -> None:
        self.empty = asyncio.Event()
        self.empty.set()
        self._client = client
        self._write: Write | None = None
        self._error: LoopforgeError | None = None
        self._said = self._asked = 0
        self._lines: dict[str, OutgoingLine] = {}
        self._going: set[str] = set()
        self._questions: dict[int, PendingQuestion] = {}

    def mine(self, source: str) -> bool:
        """Whether a line with this source was said here."""
        return source.startswith(f"{self._client}:")

    # ------------------------------------------------------------ hosts come and go

    def open(self, write: Write) -> None:
        """There is a host now: write what waits."""
        self._write = write
        self._going.clear()
        self._write_lines()
        for question in self._questions.values():
            self._write_question(question)

    def shut(self) -> None:
        """The host went away."""
        self._write = None
        gone = Unreachable(
            "The host went away before it answered. Look whether it was done before you say it "
            "again."
        )
        for question in self._questions.values():
            if question.written and not question.again and not question.answered.done():
                question.answered.set_exception(gone)

    def fail(self, error: LoopforgeError) -> None:
        """There will be no host any more."""
        self._write, self._error = None, error
        for question in self._questions.values():
            if not question.answered.done():
                question.answered.set_exception(error)
        self.empty.set()

    # ------------------------------------------------------------ lines

    def say(self, text: str, reply_to: str, files: Sequence[File]) -> str:
        """Keep a line and write it when its turn comes; its source. Raises BadLine."""
        if self._error is not None:
            raise self._error
        source = f"{self._client}:{self._said + 1}"
        said = wire_protocol.SayRequest(
            source=source, text=text, reply_to=reply_to, files=tuple(files)
        )
        self._lines[source] = OutgoingLine(said, wire_protocol.encode(said))
        self._said += 1
        self.empty.clear()
        self._write_lines()
        return source

    def done(self, source: str) -> str | None:
        """A line was taken or refused: let it go. Its text, None if it was not here."""
        line = self._lines.pop(source, None)
        self._going.discard(source)
        if not self._lines:
            self.empty.set()
        self._write_lines()
        return None if line is None else line.said.text

    def _write_lines(self) -> None:
        if self._write is None:
            return
        for source, line in self._lines.items():
            if len(self._going) >= WINDOW:
                return
            if source not in self._going:
                self._going.add(source)
                self._write(line.encoded)

    # ------------------------------------------------------------ questions

    async def ask(
        self, make: Callable[[int], wire_protocol.TerminalRequest]
    ) -> wire_protocol.HostAnswer:
        """Ask, and return the answer. Raises what the host refuses it with."""
        if self._error is not None:
            raise self._error
        self._asked += 1
        n = self._asked
        frame = make(n)
        again = frame.do != "act" or frame.words in TWICE
        question = PendingQuestion(
            wire_protocol.encode(frame), again, asyncio.get_running_loop().create_future()
        )
        self._questions[n] = question
        self._write_question(question)
        try:
            return await question.answered
        finally:
            del self._questions[n]

    def answer(self, answer: wire_protocol.HostAnswer) -> None:
        """An answer came."""
        question = self._questions.get(answer.n)
        if question is not None and not question.answered.done():
            question.answered.set_result(answer)

    def refuse(self, n: int, error: LoopforgeError) -> None:
        """A question was refused."""
        question = self._questions.get(n)
        if question is not None and not question.answered.done():
            question.answered.set_exception(error)

    def _write_question(self, question: PendingQuestion) -> None:
        if self._write is not None and not question.answered.done():
            question.written = True
            self._write(question.encoded)
