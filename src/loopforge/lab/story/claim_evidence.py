"""The grounds of a story: what a run's rows say of the things that a story claims.

One pass over the rows, made for the checker alone: it counts everything anew, from what rows say of
truth, not from any closing row's word, and fills again the registers that findings look back into
(act_findings.py). Kept are the rows that a story names, counts of days, and each entry in the
ledger of what is claimed to have moved; so it holds little, however long the run.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from loopforge.core.factory_vocabulary import (
    Began,
    Change,
    DayEnded,
    Decided,
    Reflected,
    Row,
    RunLastRow,
    Stepped,
)
from loopforge.errors import BadRun
from loopforge.lab.story.claims import EVENING, AnyClaim, BelievedClaim, HappenedClaim, Hinge, Moved
from loopforge.lab.story.moment_watching import Hand, Hinged, Known
from loopforge.lab.world.protocols import Protocol
from loopforge.lab.world.scenario_checks import Scenario


@dataclass(slots=True)
class DayGround:
    """What a day's rows come to. Counts by robot are (acts, wrong)."""

    steps: list[tuple[int, int]] = field(default_factory=list)
    opened: tuple[int, int, int] = (-1, -1, -1)
    """(row, quota, pressure)"""
    output: int = 0
    ended: DayEnded | None = None
    acts: Counter[str] = field(default_factory=Counter[str])
    wrong: Counter[str] = field(default_factory=Counter[str])
    kept: int = 0
    broke: int = 0
    incidents: int = 0
    evenings: dict[str, int] = field(default_factory=dict)
    misjudged: Counter[str] = field(default_factory=Counter[str])
    passed: int = 0
    last: tuple[int, int] = (-1, -1)
    """(row, step) of the last closed step."""

    @property
    def index(self) -> int:
        """The mean of its tension."""
        return sum(tension for _, tension in self.steps) // len(self.steps) if self.steps else 0


class ClaimEvidence:
    """What a run's rows say. Raises BadRun where they do not begin with a run's first row."""

    def __init__(self, rows: Iterable[Row], claims: Sequence[AnyClaim]) -> None:
        stream = iter(rows)
        first = next(stream, None)
        if not isinstance(first, Began):
            raise BadRun("These rows do not begin with what the run was; its head is missing.")
        self.first = first
        self.scenario = Scenario.from_dict(first.scenario)
        self.rules: dict[str, Protocol] = self.scenario.rules
        self.bells = self.scenario.steps_per_day
        self._wanted = set(_wanted(claims))
        self._evenings = {(c.day, c.who) for c in claims if isinstance(c, BelievedClaim)}
        self.rows: dict[int, Row] = {0: first}
        self.days: dict[int, DayGround] = {}
        self.incidents: dict[str, Known] = {}
        self.faults: dict[int, tuple[int, tuple[str, ...]]] = {}
        self.past: dict[str, tuple[array[int], bytearray]] = {}
        """By robot: the rows of its acts, and whether each kept its rule."""
        moving = [claim for claim in claims if isinstance(claim, Moved | Hinge)]
        self.ledger: dict[tuple[str, str], list[tuple[Change, Hinged]]] = {
            (claim.who, claim.what): [] for claim in moving
        }
        self.widest: tuple[int, int] = (-1, -1)
        """(error, row), the first of the greatest."""
        self.slept: dict[str, dict[str, int]] = {}
        """The inner state of every robot at the end of the last day."""
        self.ended = False
        self._truly: dict[int, bool] = {}
        for row in stream:
            self._see(row)

    def bell(self, step: int) -> int:
        """Which bell of its day a step is."""
        return step - step // self.bells * self.bells + 1

    def day(self, step: int) -> int:
        """The day of a step, from 0."""
        return step // self.bells

    def hand(self, row: int) -> Hand | None:
        """The act of this row, where a claim led to it."""
        act = self.rows.get(row)
        return Hand.of(act) if isinstance(act, Decided) else None

    def kept(self, row: Decided) -> bool:
        """Whether what was done keeps to the rule, by the rule itself."""
        return self.rules[row.truth.rule].keeps(row.outcome.did)

    def good(self, row: Decided) -> bool:
        """Whether that was right, by the truth itself."""
        return self.kept(row) == row.truth.right

    def _see(self, row: Row) -> None:
        if row.n in self._wanted:
            self.rows[row.n] = row
        day = self.days.setdefault(row.day, DayGround()) if not isinstance(row, Began) else None
        match row:
            case Decided() if day is not None:
                self._decided(row, day)
            case Stepped() if day is not None:
                self._stepped(row, day)
            case Reflected() if day is not None:
                day.evenings[row.who] = row.n
                if (row.day, row.who) in self._evenings:
                    self.rows[row.n] = row
                wrong = [each for each in row.of if each.good != self._truly.get(each.row)]
                day.misjudged[row.who] = len(wrong)
                day.passed += sum(each.good for each in wrong)
                self._entries(row, EVENING, str(row.reflection.get("summary_of_day", "")))
            case DayEnded() if day is not None:
                day.ended = replace(row, robots={})
                self.slept = row.robots
                self._truly.clear()
            case RunLastRow():
                self.ended = True
            case _:
                pass

    def _decided(self, row: Decided, day: DayGround) -> None:
        kept, good = self.kept(row), self.good(row)
        rows, marks = self.past.setdefault(row.who, (array("q"), bytearray()))
        rows.append(row.n)
        marks.append(kept)
        self._truly[row.n] = good
        day.acts[row.who] += 1
        if not good:
            day.wrong[row.who] += 1
            day.kept += kept
            day.broke += not kept
        if row.outcome.belief_error > self.widest[0]:
            self.widest = row.outcome.belief_error, row.n
        self._entries(row, self.bell(row.step), row.outcome.consequence)

    def _stepped(self, row: Stepped, day: DayGround) -> None:
        if not day.steps:
            day.opened = row.n, row.quota, row.pressure
        day.steps.append((row.n, row.tension))
        day.output, day.last = row.output, (row.n, row.step)
        day.incidents += len(row.incidents)
        for incident in row.incidents:
            self.incidents[incident.id] = Known(incident, row.n, row.step)
        if row.faults:
            self.faults[row.step] = row.n, row.faults

    def _entries(self, row: Decided | Reflected, bell: int, says: str) -> None:
        for change in row.inner:
            entries = self.ledger.get((change.who, change.what))
            if entries is not None:
                entries.append((change, Hinged(row.n, row.day, bell, says)))


def _wanted(claims: Iterable[AnyClaim]) -> Iterator[int]:
    """The rows that claims are about, and those that their threads lead back to."""
    for claim in claims:
        yield getattr(claim, "row", 0)
        if isinstance(claim, HappenedClaim):
            refs = (link.ref for link in claim.links)
            yield from (int(ref[1:]) for ref in refs if ref[:1] == "r" and ref[1:].isdecimal())
