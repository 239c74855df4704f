"""Verify: whether a run's folder holds what was written, whole, and whether it is true.

    the chain, line by line -> each row against those before it (decision_rubric.py) -> played again
    from its recorded decisions -> played again asking its policies, where they ask no model ->
    against what the home's ledger knows of it (ledger_anchors.py)

Every pass reads the file from its beginning, a step at a time: a long run takes no more memory than
a short one. A run that is being written, or was cut off, is checked as far as it goes.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from loopforge import __version__
from loopforge.core.factory_vocabulary import Began, Row, RunLastRow
from loopforge.errors import BadRun, LoopforgeError
from loopforge.lab.run.run_folder import is_run_of_sweep
from loopforge.lab.run.run_lifecycle import replay_run
from loopforge.lab.run.run_log import START, body_of, is_resume_point, is_written, log_of, row_of
from loopforge.lab.run.step_loop import DecisionRecord
from loopforge.lab.verification.decision_rubric import RubricJudge, RubricScore
from loopforge.lab.verification.header_check import first_row_problems
from loopforge.lab.verification.ledger_anchors import AnchoredRun
from loopforge.lab.verification.world_fold import WorldFold, has_repeatable_minds, stand_in_minds

State = Literal["finished", "running", "cut off"]
SENSELESS = (
    LoopforgeError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a world may raise that is fed rows which somebody made up."""


class WrongLine(Struct, frozen=True):
    """The first line of the file that is not what was written, counted from 1, and why."""

    line: int
    why: str


class ReplayFinding(Struct, frozen=True):
    """The run played once more: how many lines came out the same, and where the first other is.

    `skipped` says why it was not played so.
    """

    same: bool
    lines: int = 0
    differs: str = ""
    skipped: str = ""


UNANCHORED = (
    "No ledger took note of it: whoever can write the file could have written all of it anew."
)
NAMESAKE = "The home that you are in knows another run of this name, which began otherwise."
UNPLAYED = ReplayFinding(same=False, skipped="its first row is not that of a run")


@dataclass(slots=True)
class VerifyReport:
    """All that was found. `rubric` holds one score for each of the twelve questions.

    `open_rows` are decisions of a step that was never closed, `unreflected` those of a day that
    was not; neither is held against a run that is not over. `anchors`: "agree", "none" where no
    ledger knows of it, or what does not agree. `namesake`: it knows another of that name.
    """

    folder: str
    state: State = "cut off"
    rows: int = 0
    head: str = ""
    chain: WrongLine | None = None
    rubric: dict[str, RubricScore] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    more: int = 0
    open_rows: int = 0
    unreflected: int = 0
    replay: ReplayFinding = UNPLAYED
    asked: ReplayFinding = UNPLAYED
    anchors: str = "none"
    namesake: bool = False
    written_by: str = ""

    @property
    def complete(self) -> bool:
        """Whether every row that counts answers all twelve questions."""
        return all(score.answered == score.of for score in self.rubric.values())

    @property
    def sound(self) -> bool:
        """Whether nothing speaks against what is there, however much that is."""
        again = self.replay.same and (self.asked.same or bool(self.asked.skipped))
        held = self.chain is None and self.anchors in ("agree", "none")
        return held and self.complete and not self.findings and again

    @property
    def passed(self) -> bool:
        """Whether it is sound, and over or still being written."""
        return self.sound and self.state != "cut off"

    @property
    def says(self) -> str:
        """What was found, in a sentence or two."""
        if self.chain is not None:
            return f"Line {self.chain.line} is not what was written: {self.chain.why}."
        if self.anchors not in ("agree", "none"):
            return f"The ledger knows another run: {self.anchors}."
        for again in (self.replay, self.asked):
            if again.differs:
                old = self.written_by not in ("", __version__)
                by = f" It was written by {self.written_by}; this is {__version__}." if old else ""
                return f"Played again, it does not come out the same: {again.differs}.{by}"
        if not self.complete or self.findings:
            return "Its rows do not agree with each other; see `rubric` and `findings`."
        if not self.sound:
            return f"It could not be played again: {self.replay.skipped or self.asked.skipped}."
        if self.state == "running":
            return f"It is being written just now; what is there ({self.rows} rows) is sound."
        if self.state == "cut off":
            goes_on = f"`loopforge lab run --resume --out {self.folder}` goes on."
            if is_run_of_sweep(Path(self.folder)):
                goes_on = "Its sweep, started again, plays it anew."
            return f"It was cut off after {self.rows} rows, which are sound. {goes_on}"
        told = f"All {self.rows} rows are as they were written, and play out the same again."
        if self.anchors == "agree":
            return told
        return f"{told} {UNANCHORED} {NAMESAKE if self.namesake else ''}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        plain: dict[str, Any] = {
            "says": self.says,
            "passed": self.passed,
            "folder": self.folder,
            "state": self.state,
            "written_by": self.written_by,
            "rows": self.rows,
            "head": self.head,
            "chain": {"sound": self.chain is None},
            "rubric": {key: _score_values(score) for key, score in self.rubric.items()},
            "findings": self.findings,
            "more_findings": self.more,
            "open_rows": self.open_rows,
            "unreflected": self.unreflected,
            "replay": msgspec.to_builtins(self.replay),
            "asked_again": msgspec.to_builtins(self.asked),
            "anchors": self.anchors,
        }
        if self.chain is not None:
            plain["chain"] |= {"line": self.chain.line, "why": self.chain.why}
        return plain


def _score_values(score: RubricScore) -> dict[str, Any]:
    share = score.answered / score.of if score.of else 1.0
    return {**msgspec.to_builtins(score), "share": round(share, 6)}


def verify_run(
    folder: Path, known: Sequence[AnchoredRun] = (), *, guest: bool = False
) -> VerifyReport:
    """Check a run's folder; `known` is what a ledger has of runs of this name, oldest first.

    `guest`: it does not lie among the runs of that ledger's home, and may only be called so.
    Never raises for what stands in the log, only BadRun where there is none.
    """
    path = log_of(folder)
    report = VerifyReport(str(folder), state="running" if is_written(path) else "cut off")
    reading = _Reading(path, {0}.union(*(each.heads for each in known)))
    _read_rows(reading, report)
    first = reading.heads.get(0, "")
    report.namesake = guest and bool(known) and all(each.first != first for each in known)
    if known and not report.namesake:
        report.anchors = _check_anchors(reading, known)
    if reading.first is not None:
        asyncio.run(_play_again(path, reading.first, reading.closed_at, report))
    return report


# ------------------------------------------------------------ the chain, and the rows


class _Reading:
    """The lines of a log, checked as they are read.

    `closed_at` counts the lines up to which it may be played again; `heads` are the hashes of the
    rows that were `wanted`.
    """

    def __init__(self, path: Path, wanted: set[int]) -> None:
        self.path, self.wanted = path, wanted
        self.heads: dict[int, str] = {}
        self.first: Began | None = None
        self.wrong: WrongLine | None = None
        self.count = self.closed_at = 0
        self.head = ""
        self.ended = False

    def rows(self) -> Iterator[tuple[Row, bool]]:
        """The rows that can be read, each with whether its line is as it was written."""
        digest = START
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n") and not self.ended:
                    return  # torn by a kill, or being written: it was never a row
                self.count += 1
                body, stated = body_of(line)
                digest = sha256(digest + body).digest()
                row = _row_or_none(line)
                if why := self._flaw_of_line(row, line, body, digest.hex()):
                    self.wrong = self.wrong or WrongLine(self.count, why)
                    digest = _digest_bytes(stated)
                self.head = stated
                if self.count - 1 in self.wanted:
                    self.heads[self.count - 1] = stated
                if row is not None:
                    self.closed_at = self.count if is_resume_point(row) else self.closed_at
                    self.ended = isinstance(row, RunLastRow)
                    yield row, not why

    def _flaw_of_line(self, row: Row | None, line: bytes, body: bytes, made: str) -> str:
        """What is wrong with a line, or ""."""
        nth = self.count - 1
        if self.ended:
            return "the run had ended before"
        if row is None:
            return "it holds no row"
        if row.n != nth:
            return f"it is row {row.n}, where row {nth} belongs"
        if line != b'%s,"hash":"%s"}\n' % (body[:-1], made.encode()):
            return "its hash is not that of what it says and of the line before"
        return "" if nth or isinstance(row, Began) else "it does not say what the run was"


def _row_or_none(line: bytes) -> Row | None:
    try:
        return row_of(line)
    except (BadRun, RecursionError):
        return None


def _digest_bytes(digest: str) -> bytes:
    try:
        return bytes.fromhex(digest)
    except ValueError:
        return START


def _read_rows(reading: _Reading, report: VerifyReport) -> None:
    """The first pass: the chain, and each row against those before it."""
    judge: RubricJudge | None = None
    for row, whole in reading.rows():
        if isinstance(row, Began) and reading.count == 1:
            try:
                judge = RubricJudge(WorldFold(row))
                judge.findings += first_row_problems(row)
                reading.first = row
            except SENSELESS as error:
                report.findings.append(f"row 0: nothing can be run from it: {error}")
        elif judge is not None:
            try:
                judge.see(row, whole=whole)
            except SENSELESS as error:
                judge.finding(row.n, f"it makes no sense where it stands: {error!r}")
    if reading.ended:
        report.state = "finished"
    if judge is not None:
        report.rubric, report.findings, report.more = judge.scores, judge.findings, judge.more
        report.open_rows, report.unreflected = judge.open, judge.unreflected
    report.chain, report.rows, report.head = reading.wrong, reading.count, reading.head


def _check_anchors(reading: _Reading, known: Sequence[AnchoredRun]) -> str:
    """How the heads that the ledger took note of stand in the file."""
    first = reading.heads.get(0, "")
    same = [each for each in known if each.first == first]
    if not same:
        return f"no run of this name began in this home as the file does (hash {first[:12]})"
    wrong = ""
    for each in same:
        wrong = next(
            (
                f"row {n} closed with {head[:12]}, and the file has {_head_found(reading, n)}"
                for n, head in sorted(each.heads.items())
                if reading.heads.get(n) != head
            ),
            "",
        )
        if not wrong:
            return "agree"
    return wrong


def _head_found(reading: _Reading, n: int) -> str:
    return reading.heads[n][:12] if n in reading.heads else f"{reading.count} rows alone"


# ------------------------------------------------------------ played again


async def _play_again(path: Path, first: Began, upto: int, report: VerifyReport) -> None:
    """The second pass and the third."""
    whole = report.state == "finished"
    report.written_by = str(first.versions.get("loopforge", ""))
    report.replay = await _compare_replay(path, first, upto, DecisionRecord(), whole=whole)
    if has_repeatable_minds(first):
        report.asked = await _compare_replay(path, first, upto, None, whole=whole)
    else:
        report.asked = ReplayFinding(
            same=False, skipped="not all of its minds answer the same each time"
        )


async def _compare_replay(
    path: Path, first: Began, upto: int, record: DecisionRecord | None, *, whole: bool
) -> ReplayFinding:
    """Play a run again and compare it with the first `upto` lines of its log.

    From its recorded decisions where a record is given (it is filled a step ahead of the play),
    else asking. `whole`: there must be no line more.
    """
    count = 0
    played = cast("AsyncGenerator[bytes, None]", replay_run(first, stand_in_minds(first), record))
    async with aclosing(played):
        try:
            for group in _feed_groups(_groups_of_lines(path, upto), record):
                for line in group:
                    count += 1
                    if await anext(played, b"") != line:
                        return ReplayFinding(
                            same=False, lines=count - 1, differs=f"line {count} is other"
                        )
            more = await anext(played, b"") if whole else b""
            if more:
                return ReplayFinding(
                    same=False, lines=count, differs="it goes on after the last line"
                )
        except SENSELESS as error:
            return ReplayFinding(
                same=False, lines=count, differs=f"line {count} makes no sense: {error}"
            )
    return ReplayFinding(same=True, lines=count)


def _groups_of_lines(path: Path, upto: int) -> Iterator[list[bytes]]:
    """The first lines of a log, in groups that end with a closing row."""
    group: list[bytes] = []
    with path.open("rb") as file:
        for line in islice(file, upto):
            group.append(line)
            row = _row_or_none(line)
            if row is not None and is_resume_point(row):
                yield group
                group = []


def _feed_groups(
    groups: Iterator[list[bytes]], record: DecisionRecord | None
) -> Iterator[list[bytes]]:
    """The groups, each once the decisions of the one after it are on record."""
    ahead = next(groups, [])
    while ahead:
        group, ahead = ahead, next(groups, [])
        if record is not None:
            more = DecisionRecord.of(row for row in map(_row_or_none, ahead) if row is not None)
            record.steps |= more.steps
            record.days |= more.days
        yield group
