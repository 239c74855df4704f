"""Anchors: what a home's ledger knows of a run, so that its file cannot be changed unseen.

A run's rows stand in a file that is chained by hashes. Whoever can write that file can make a new
chain; they cannot make the ledger say that it was always so. The ledger is told how the run begins,
of each day that is closed and of its end, each with the hash of the chain there, and that it was
deleted (docs/decisions/0014-lab-rows-in-chained-files.md). Runs that no home knows of have none of
this.
"""

from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from loopforge.core.factory_vocabulary import (
    Began,
    DayEnded,
    LabEvent,
    RunBegan,
    RunDayEnded,
    RunDeleted,
    RunEnded,
    RunLastRow,
    Stepped,
)
from loopforge.errors import BadRun
from loopforge.lab.run.run_log import body_of, log_of, row_of
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp

PREFIX = "lab:"
ACTOR = "lab"


class AnchoredRun(Struct):
    """One run of that name as the ledger knows it: its first row's hash, and heads by row."""

    first: str
    heads: dict[int, str]
    ended: bool = False
    cause: str = ""


def stream_of(folder: Path) -> str:
    """The stream of a run, by the name of its folder."""
    name = folder.resolve().name
    return PREFIX + "".join(sign if sign.isprintable() else "?" for sign in name)


async def anchored_runs(ledger: Ledger, folder: Path) -> tuple[AnchoredRun, ...]:
    """What the ledger knows of runs of this name, oldest first."""
    found: dict[str, AnchoredRun] = {}
    for event in await ledger.read(stream_of(folder)):
        match event.body:
            case RunBegan(first=first):
                found[event.id] = AnchoredRun(first, {}, cause=event.id)
            case RunDayEnded(row=row, head=head) if event.cause in found:
                found[event.cause].heads[row] = head
            case RunEnded(row=row, head=head) if event.cause in found:
                found[event.cause].heads[row] = head
                found[event.cause].ended = True
    return tuple(found.values())


class LedgerWitness:
    """Tells the ledger of a run while it is played: give it as the run's `progress`.

    With `resumed` it goes on where it was told of this run before; else a new run begins. Raises
    LedgerError, which ends the run: it can be taken up again; and BadRun where the ledger took note
    of other rows.
    """

    def __init__(
        self, ledger: Ledger, stamp: Stamp, folder: Path, *, resumed: bool = False
    ) -> None:
        self._ledger, self._stamp, self._folder = ledger, stamp, folder
        self._resumed = resumed
        self._file: BinaryIO | None = None
        self._read = 0
        self._line = b""
        self._cause = ""
        self._known: dict[int, str] = {}

    async def __call__(self, row: Stepped | DayEnded | RunLastRow) -> None:
        """A closing row was written."""
        if self._file is None:
            self._file = log_of(self._folder).open("rb")
            await self._begin()
        if isinstance(row, Stepped):
            return
        head = self._hash(row.n)
        if (noted := self._known.get(row.n, head)) != head:
            raise BadRun(
                f"The ledger took note of another run {self._folder.name}: its row {row.n} closed "
                f"with {noted[:12]}, and here with {head[:12]}. Begin a new run; "
                f"`loopforge lab verify {self._folder}` says more."
            )
        if row.n in self._known:
            return
        if isinstance(row, RunLastRow):
            await self._note(RunEnded(row=row.n, head=head, why=row.why))
            return
        await self._note(
            RunDayEnded(
                day=row.day,
                row=row.n,
                head=head,
                output=row.output,
                incidents=row.incidents,
                squares=row.squares,
                failings=row.failings,
            )
        )

    async def deleted(self, head: str, actor: str = ACTOR) -> None:
        """This run, or sweep, is deleted by this actor; `head` is the hash of its last line, or "".

        Once, of a deletion that was cut off and is done again.
        """
        stream, body = stream_of(self._folder), RunDeleted(head)
        if [event.body for event in await self._ledger.read(stream)][-1:] != [body]:
            await self._ledger.append(stream, [self._stamp.fact(body, actor=actor)])

    def close(self) -> None:
        """Let the run's file go."""
        if self._file is not None:
            self._file.close()

    async def _begin(self) -> None:
        first, began = self._hash(0), row_of(self._line)
        assert isinstance(began, Began)
        if self._resumed:
            for before in await anchored_runs(self._ledger, self._folder):
                if before.first == first:
                    self._cause, self._known = before.cause, before.heads
        if not self._cause:
            await self._note(
                RunBegan(
                    scenario=str(began.scenario["name"]),
                    digest=began.digest,
                    seed=began.seed,
                    policies=began.policies,
                    first=first,
                    fork_of=str(began.forked["of"]) if began.forked else "",
                )
            )

    async def _note(self, body: LabEvent) -> None:
        fact = self._stamp.fact(body, actor=ACTOR, cause=self._cause)
        await self._ledger.append(stream_of(self._folder), [fact])
        self._cause = self._cause or fact.id

    def _hash(self, n: int) -> str:
        """The hash of row `n`, which is written; reads on from where it stood."""
        assert self._file is not None
        while self._read <= n:
            self._line = self._file.readline()
            self._read += 1
        return body_of(self._line)[1]
