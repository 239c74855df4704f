"""Reading a run while it grows: where each step lies in its log, and what there is to see of it.

An index holds a few numbers for each row and step, never the rows themselves; a step, a decision or
a robot's life is read from its bytes when it is asked for. Only what is
closed counts: a run that is being written, or was killed, is read up to its last whole step.

Most of a decision's row is of no use to a count or a life: of it a smaller shape is decoded from
those bytes (msgspec passes over what a shape does not name, and puts off what it holds raw).

Knows no page and no picture, and writes nothing. What is damaged is said in `damage`, and what
stands before it is still read; whether the chain of hashes holds is not looked at here.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import BinaryIO, cast

import msgspec
from msgspec import Struct

from loopforge.core.factory_vocabulary import (
    Began,
    Change,
    DayEnded,
    Decided,
    Incident,
    Reflected,
    Row,
    RunLastRow,
    Stepped,
)
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.errors import BadRun, BadScenario, Unknown
from loopforge.lab.inspect.inner_life import Life, LifeMark
from loopforge.lab.run.answered_decisions import AnsweringMind
from loopforge.lab.run.run_counts import RunCounts
from loopforge.lab.run.run_folder import label_of
from loopforge.lab.run.run_log import LOG, body_of, row_of
from loopforge.lab.run.step_loop import FORMAT
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.supervisor_message import message_in_plan


class RuleRight(Struct, frozen=True):
    """Whether the rule in force was right here."""

    right: bool


class ActOutcome(Struct, frozen=True):
    """What came of an act."""

    square: str
    failing: str
    belief_error: int


_changes = msgspec.json.Decoder(tuple[Change, ...])


class SeenAct(Struct, frozen=True, tag_field="kind", tag="act"):
    """A decision: whose it was, and what of it is counted."""

    n: int
    step: int
    who: str
    role: str
    truth: RuleRight
    minded: AnsweringMind
    outcome: ActOutcome
    inner: msgspec.Raw

    @property
    def changes(self) -> tuple[Change, ...]:
        """What it changed in whom. Raises BadRun."""
        try:
            return _changes.decode(self.inner)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise BadRun(f"row {self.n} says of no change what it was: {error}") from error


Seen = SeenAct | Stepped | Reflected | DayEnded | Began | RunLastRow
_seen = msgspec.json.Decoder(Seen)


def summarize_row(line: bytes) -> Seen:
    """A line as a smaller shape. Raises BadRun."""
    try:
        row: Seen = _seen.decode(body_of(line)[0])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRun(f"this is no row of a run: {error}") from error
    return row


class StepBrief(Struct, frozen=True, array_like=True):
    """A step in four numbers: [tension, incidents, over-compliances, over-reaches of the floor]."""

    tension: int
    incidents: int
    over_compliance: int
    over_reach: int


class StepMoment(Struct, frozen=True):
    """One closed step: its row, what everybody decided and did in it, which places stand still.

    `said` is what the Supervisor said in this step, for the next.
    """

    row: Stepped
    deeds: tuple[Decided, ...]
    still: tuple[str, ...]
    said: str


LIVES = 6
"""Lives that are kept for as long as the run has not grown."""


@dataclass(slots=True)
class _Open:
    """What was read since the last row that closes something."""

    rows: list[int] = field(default_factory=list)
    acts: list[SeenAct] = field(default_factory=list)
    nights: dict[str, int] = field(default_factory=dict)
    evenings: list[Reflected] = field(default_factory=list)


class _Stops:
    """Which places stand still, by step; as Factory.incident and Factory.tick count it."""

    def __init__(self) -> None:
        self._left: dict[str, int] = {}
        self.still: dict[int, tuple[str, ...]] = {}

    def close(self, step: int, incidents: tuple[Incident, ...]) -> None:
        """A step's incidents: those of acts came before its time passed, the others after."""
        self._strike(each for each in incidents if each.who)
        self._left = {at: left - 1 for at, left in self._left.items() if left > 1}
        self._strike(each for each in incidents if not each.who)
        still = {*self._left, *(each.at for each in incidents)}
        if still:
            self.still[step] = tuple(sorted(still))

    def _strike(self, incidents: Iterator[Incident]) -> None:
        for each in incidents:
            self._left[each.at] = max(self._left.get(each.at, 0), 1 + each.severity // 500)


class RunIndex:
    """A run's log by step and row. `refresh` takes in what was closed since; safe in threads."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / LOG
        self._lock = Lock()
        self._forget()

    def _forget(self) -> None:
        self.began: Began | None = None
        self.scenario: Scenario | None = None
        self.run = RunCounts(self.folder)
        self.ended = self.damage = ""
        self.size = self._inode = 0
        self.written = 0.0
        self._rows = array("Q")
        self._first = array("Q")
        self._last = array("Q")
        self._briefs: list[StepBrief] = []
        self._nights: list[dict[str, int]] = []
        self._happened: dict[str, int] = {}
        self._stops = _Stops()
        self._lives: BoundedMapping[str, tuple[int, Life]] = BoundedMapping(LIVES)

    # ------------------------------------------------------------ taking in

    def refresh(self, until: int | None = None) -> bool:
        """Take in what was closed since; whether there was anything. Raises BadRun: no log.

        With `until` no further than the end of the day of that step.
        """
        with self._lock:
            try:
                found = self.path.stat()
                if found.st_ino != self._inode or found.st_size < self.size:
                    self._forget()
                    self._inode = found.st_ino
                self.written = found.st_mtime
                if found.st_size == self.size or self.damage:
                    return False
                with self.path.open("rb") as file:
                    file.seek(self.size)
                    return self._read(file, until)
            except FileNotFoundError as error:
                name = self.folder.name
                told = f"{name} holds no {LOG}: it is no run. `loopforge lab run --out` makes one."
                raise BadRun(label_of(self.folder).said(name) or told) from error
            except OSError as error:
                told = f"{self.folder.name} holds no {LOG} that can be read: {error.strerror}."
                raise BadRun(told) from error

    def _read(self, file: BinaryIO, until: int | None) -> bool:
        at = before = self.size
        pending = _Open()
        for number, line in enumerate(file, len(self._rows) + 1):
            if not line.endswith(b"\n"):
                break
            try:
                row = summarize_row(line)
                if row.n != number - 1:
                    raise BadRun(f"row {row.n} does not follow on the one before it.")
                pending.rows.append(at)
                closes = self._take(row, pending)
            except (BadRun, BadScenario) as error:
                self.damage = f"The log of this run is damaged at line {number}: {error}"
                break
            at += len(line)
            if closes:
                self._rows.extend(pending.rows)
                self.run.rows = len(self._rows)
                self.run.head = body_of(line)[1]
                self.size, pending = at, _Open()
                if until is not None and isinstance(row, DayEnded) and self.steps > until:
                    break
        return self.size > before

    def _take(self, row: Seen, pending: _Open) -> bool:
        """Note a row; whether it closes what was open."""
        match row:
            case SeenAct():
                pending.acts.append(row)
                return False
            case Reflected():
                pending.nights[row.who] = row.n
                pending.evenings.append(row)
                return False
            case Stepped():
                self._close(row, pending)
            case DayEnded():
                self._nights.append(pending.nights)
                for each in pending.evenings:
                    self.run.answers.reflected(each.minded)
            case RunLastRow():
                self.ended = row.why
            case Began():
                if row.format != FORMAT:
                    raise BadRun(f"this program reads runs of format {FORMAT}.")
                self.scenario = Scenario.from_dict(row.scenario)
                self.began = row
        return True

    def _close(self, row: Stepped, pending: _Open) -> None:
        if row.step != self.steps or self.began is None:
            raise BadRun(f"step {row.step} does not follow on the one before it.")
        for act in pending.acts:
            self.run.decided(cast("Decided", act))  # of the fields that it counts it has all
        self.run.incidents += len(row.incidents)
        self._first.append(len(self._rows))
        self._last.append(row.n)
        floor = [act.outcome.failing for act in pending.acts if act.role != "supervisor"]
        over = floor.count("over_compliance"), floor.count("over_reach")
        self._briefs.append(StepBrief(row.tension, len(row.incidents), *over))
        self._happened.update((incident.id, row.step) for incident in row.incidents)
        self._stops.close(row.step, row.incidents)

    # ------------------------------------------------------------ what is asked

    @property
    def steps(self) -> int:
        """Closed steps."""
        return len(self._briefs)

    @property
    def days(self) -> int:
        """Closed days."""
        return len(self._nights)

    @property
    def planned(self) -> int:
        """Steps that the run has in the end; 0 where its head is missing."""
        return self.scenario.days * self.scenario.steps_per_day if self.scenario else 0

    def briefs(self, first: int = 0) -> list[StepBrief]:
        """The steps from `first` on, in four numbers each."""
        return self._briefs[first:]

    def step_of(self, incident: str) -> int | None:
        """In which step this incident ("i3") happened."""
        return self._happened.get(incident)

    def step_at(self, number: int) -> int:
        """The step that a row belongs to; the rows of an evening belong to the day's last one."""
        at = bisect_left(self._last, number)
        within = at < self.steps and number >= self._first[at]
        return max(0, at if within else at - 1)

    def moment(self, step: int) -> StepMoment:
        """One step. Raises Unknown, BadRun."""
        return self.moments(step, 1)[0]

    def moments(self, first: int, count: int) -> list[StepMoment]:
        """So many steps from `first` on, fewer at the end. Raises Unknown, BadRun."""
        with self._lock:
            if not 0 <= first < self.steps:
                raise Unknown(f"There is no step {first} in this run; it has {self.steps}.")
            last = min(first + count, self.steps) - 1
            overseer = self.scenario.overseer if self.scenario else ""
            found: list[StepMoment] = []
            acts: dict[str, Decided] = {}
            for line in self._between(self._first[first], self._last[last]):
                row = row_of(line)
                if isinstance(row, Decided):
                    acts[row.who] = row
                elif isinstance(row, Stepped):
                    spoke = acts.get(overseer)
                    said = message_in_plan({"meta": spoke.plan.get("meta")}).text if spoke else ""
                    still = self._stops.still.get(row.step, ())
                    found.append(StepMoment(row, tuple(acts.values()), still, said))
                    acts = {}
            return found

    def _between(self, first: int, last: int) -> Iterator[bytes]:
        """The lines of the rows from one number to another, both among them."""
        with self.path.open("rb") as file:
            file.seek(self._rows[first])
            yield from islice(file, last + 1 - first)

    def line(self, number: int) -> bytes:
        """A row as it stands in the log, hash and all. Raises Unknown."""
        if not 0 <= number < len(self._rows):
            raise Unknown(f"There is no row {number} in this run; it has {len(self._rows)}.")
        with self.path.open("rb") as file:
            file.seek(self._rows[number])
            return file.readline()

    def row(self, number: int) -> Row:
        """A whole row. Raises Unknown, BadRun."""
        return row_of(self.line(number))

    def decision(self, number: int) -> Decided:
        """A decision by its row. Raises Unknown, BadRun."""
        row = self.row(number)
        if not isinstance(row, Decided):
            raise Unknown(f"Row {number} of this run is no decision.")
        return row

    def reflection(self, day: int, who: str) -> Reflected | None:
        """How somebody looked back on a day; None while it is not over."""
        number = self._nights[day].get(who) if 0 <= day < len(self._nights) else None
        row = self.row(number) if number is not None else None
        return row if isinstance(row, Reflected) else None

    def deeds(self, who: str, first: int, last: int) -> list[Decided]:
        """What somebody did from one step to before another. Raises BadRun."""
        first, last = max(0, first), min(last, self.steps) - 1
        if first > last:
            return []
        with self._lock:
            lines = self._between(self._first[first], self._last[last])
            rows = (row_of(line) for line in lines)
            return [row for row in rows if isinstance(row, Decided) and row.who == who]

    def weather(self, place: str) -> list[tuple[tuple[int, ...], tuple[Incident, ...]]]:
        """How a place stood after each step, and what happened there. Raises Unknown, BadRun."""
        places = self.scenario.places if self.scenario else ()
        if place not in [each.name for each in places]:
            raise Unknown(f"There is no place {place!r} in this run.")
        with self._lock:
            return [
                (row.places[place], tuple(each for each in row.incidents if each.at == place))
                for row in map(summarize_row, self._between(0, len(self._rows) - 1))
                if isinstance(row, Stepped)
            ]

    def life(self, who: str) -> Life:
        """A robot's inner life so far. Raises Unknown, BadRun."""
        robots = self.scenario.robots if self.scenario else ()
        spec = next((each for each in robots if each.name == who), None)
        if spec is None or self.began is None:
            raise Unknown(f"Nobody in this run is called {who!r}.")
        with self._lock:
            size, life = self._lives.get(who, (-1, None))
            if life is None or size != self.size:
                life = self._lived(Life(spec, self.began))
            self._lives[who] = (self.size, life)
        return life

    def _lived(self, life: Life) -> Life:
        for row in map(summarize_row, self._between(0, len(self._rows) - 1)):
            if isinstance(row, Stepped):
                life.battery.append(row.robots.get(life.who, ("", 0))[1])
            elif isinstance(row, SeenAct | Reflected):
                life.came(row.step)
                for change in row.changes if isinstance(row, SeenAct) else row.inner:
                    life.change(row.step, row.n, change)
            if isinstance(row, SeenAct) and row.who == life.who:
                fell = row.outcome
                life.deeds.append(LifeMark(row.step, row.n, fell.square, fell.failing))
        return life
