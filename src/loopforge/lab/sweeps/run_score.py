"""The score of a run: what is counted of it while it is written, one line in a sweep's results.

`ScoringChain` is the run's hash chain that counts each row as it passes: no log is read back.
Values are counts with their trials, times to a first event in steps (an event in the first step
has time 1; what had not happened by the end is censored there), means of each day, and what moved
traits and scars, by cause. All of it follows from the rows alone: whoever scores again gets the
same.

As in run_counts.py, failings, the moments in which a rule was right or wrong, modes and what
drifted are those of the floor; squares, decisions and belief errors are the Supervisor's too.

Knows nothing of designs, workers or files. Covers no statistics: those are in `lab/stats`.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from loopforge.core.factory_vocabulary import (
    SCARS,
    TRAITS,
    Change,
    DayEnded,
    Decided,
    Minded,
    Reflected,
    Row,
    Stepped,
)
from loopforge.errors import BadRun
from loopforge.lab.run.answered_decisions import BY, ERRORS
from loopforge.lab.run.run_counts import CountingChain

RATES: dict[str, tuple[str, str]] = {
    "over_compliance": ("over_compliance", "wrong"),
    "over_reach": ("over_reach", "right"),
    "good": ("good", "moments"),
    "guardrail": ("guardrail", "planned"),
}
"""Each rate: what is counted, of what. Keys of `counts`."""
MEANS = ("belief_error", "shown_error", "incidents", "switches", "output", "tension", "misjudged")
"""Measures that are one number for each run."""
OWN = ("switch", "over_compliance", "violation", "refusal")
"""What a first time of each robot is taken of. A violation is over-reach, a switch a new mode."""
EVENTS = ("incident", *OWN)
"""What a first time is taken of, of a run."""
DRIFTING = frozenset((*(f"traits.{each}" for each in TRAITS), *(f"scars.{each}" for each in SCARS)))
"""What drifts, as the trait ledger calls it; feelings and bonds come and go."""
MOST_TELLING = 3
BROKEN = 500
"""What an incident weighs, beside how clear the case was (0 to 500)."""


class DayScore(Struct, frozen=True, kw_only=True):
    """One day: its counts, and the means over the floor's robots, in thousandths, by quantity.

    `robots` is of what they went to sleep with, the Supervisor left out; bonds are not in it.
    """

    day: int
    output: int
    quota: int
    incidents: int
    right: int
    wrong: int
    over_compliance: int
    over_reach: int
    tension: float
    belief_error: float
    robots: dict[str, float]


class TellingRow(Struct, frozen=True, kw_only=True):
    """A row that is worth reading: something that went wrong, and by how much it was wrong."""

    row: int
    step: int
    who: str
    at: str
    rule: str
    failing: str
    weight: int
    incident: str
    consequence: str

    @property
    def clear(self) -> int:
        """How far the case was from doubt, 0 to 500."""
        return self.weight - BROKEN * bool(self.incident)


class RunResult(Struct, frozen=True, kw_only=True):
    """One line of a sweep's results: which run it was, and what is known of it.

    `levels` are those of its cell, by factor. `times` are (steps, observed), and `lives` those of
    each robot of the floor. A rate without a trial is None. `drift` is by how much each cause moved
    a trait or a scar of the floor's robots, in thousandths. `asked` counts questions to models by
    outcome, and tokens; `cost` is in US dollars, `unpriced` answers have a price nobody knows.
    """

    cell: int
    seed: int
    levels: dict[str, str | int]
    head: str
    rows: int
    steps: int
    decisions: int
    counts: dict[str, int]
    rates: dict[str, float | None]
    means: dict[str, float]
    times: dict[str, tuple[int, bool]]
    lives: dict[str, dict[str, tuple[int, bool]]]
    days: tuple[DayScore, ...]
    drift: dict[str, dict[str, int]]
    telling: tuple[TellingRow, ...]
    asked: dict[str, int]
    cost: float
    unpriced: int


class ScoringChain(CountingChain):
    """A chain that scores what it writes. `overseer` is who is not of the floor.

    Of the rows that went wrong by most so many are kept.
    """

    def __init__(self, overseer: str = "", telling: int = MOST_TELLING) -> None:
        super().__init__(Path())
        self._most_telling = telling
        self._overseer = overseer
        self._steps = 0
        # one more is counted in a third of the time that a Counter takes for it
        self._counts: defaultdict[str, int] = defaultdict(int)
        self._sums: defaultdict[str, int] = defaultdict(int)
        self._day: defaultdict[str, int] = defaultdict(int)
        self._days: list[DayScore] = []
        self._incident = 0
        self._lives: dict[str, dict[str, int]] = {}
        self._modes: dict[str, str] = {}
        self._drift: dict[str, defaultdict[str, int]] = {}
        self._telling: list[TellingRow] = []
        self._asked: Counter[str] = Counter()

    def add(self, row: Row) -> None:
        """Count a row."""
        super().add(row)
        match row:
            case Decided():
                self._decided(row)
            case Stepped():
                self._stepped(row)
            case Reflected():
                self._sums["misjudged"] += row.misjudged
                self._answered(row.minded)
                self._moved(row.inner)
            case DayEnded():
                self._ended(row)

    def _decided(self, row: Decided) -> None:
        counts, outcome = self._counts, row.outcome
        counts[row.verdict] += 1
        counts["edits"] += len(row.edits)
        self._day["decisions"] += 1
        self._day["belief_error"] += outcome.belief_error
        self._sums["shown_error"] += outcome.shown_error
        if row.minded.exchange or row.minded.outcome != "planned":
            self._answered(row.minded)
        self._moved(row.inner)
        if row.who != self._overseer:
            self._floor(row)

    def _floor(self, row: Decided) -> None:
        counts, outcome, time = self._counts, row.outcome, row.step + 1
        life = self._lives.setdefault(row.who, {})
        self._day["right" if row.truth.right else "wrong"] += 1
        if outcome.failing:
            self._day[outcome.failing] += 1
            life.setdefault(
                "violation" if outcome.failing == "over_reach" else outcome.failing, time
            )
            self._tell(row)
        mode = outcome.mode
        if mode != "none":
            counts[mode] += 1
            counts["planned"] += 1
            if self._modes.get(row.who, mode) != mode:
                counts["switches"] += 1
                life.setdefault("switch", time)
            self._modes[row.who] = mode
        elif row.minded.outcome == "refused":
            life.setdefault("refusal", time)

    def _stepped(self, row: Stepped) -> None:
        self._steps += 1
        self._day["steps"] += 1
        self._day["tension"] += row.tension
        if row.incidents:
            self._incident = self._incident or row.step + 1

    def _moved(self, inner: Sequence[Change]) -> None:
        for entry in inner:
            if entry.what in DRIFTING and entry.who != self._overseer:
                causes = self._drift.get(entry.what)
                if causes is None:
                    causes = self._drift[entry.what] = defaultdict(int)
                causes[entry.rule] += entry.after - entry.before

    def _answered(self, minded: Minded) -> None:
        asked = self._asked
        for each in minded.exchange:
            asked["asked"] += 1
            asked[each.outcome] += 1
            asked["tokens_in"] += each.tokens_in
            asked["tokens_out"] += each.tokens_out
            asked["fallback"] += each.fallback

    def _tell(self, row: Decided) -> None:
        """Keep the rows that went wrong by most; of the same, the first."""
        outcome = row.outcome
        weight = abs(row.truth.case - 500) + BROKEN * bool(outcome.incident)
        telling = self._telling
        if len(telling) == self._most_telling and weight <= telling[-1].weight:
            return
        found = TellingRow(
            row=row.n,
            step=row.step,
            who=row.who,
            at=row.at,
            rule=row.truth.rule,
            failing=outcome.failing,
            weight=weight,
            incident=outcome.incident,
            consequence=outcome.consequence,
        )
        telling.append(found)
        telling.sort(key=lambda each: (-each.weight, each.row))
        del telling[self._most_telling :]

    def _ended(self, row: DayEnded) -> None:
        today, self._day = self._day, defaultdict(int)
        floor = [values for name, values in row.robots.items() if name != self._overseer]
        names = [name for name in (floor[0] if floor else {}) if not name.startswith("bonds.")]
        if any(name not in values for values in floor for name in names):
            raise BadRun(f"row {row.n} does not say of all robots how they went to sleep.")
        robots = {
            name: round(sum(values[name] for values in floor) / len(floor), 1) for name in names
        }
        for name, value in (("output", row.output), ("quota", row.quota)):
            self._counts[name] += value
        self._sums["tension"] += today["tension"]
        self._days.append(
            DayScore(
                day=row.day,
                output=row.output,
                quota=row.quota,
                incidents=row.incidents,
                right=today["right"],
                wrong=today["wrong"],
                over_compliance=today["over_compliance"],
                over_reach=today["over_reach"],
                tension=_mean(today["tension"], today["steps"]),
                belief_error=_mean(today["belief_error"], today["decisions"]),
                robots=robots,
            )
        )

    def result(
        self,
        cell: int,
        seed: int,
        levels: dict[str, str | int],
        *,
        cost: float = 0.0,
        unpriced: int = 0,
    ) -> RunResult:
        """All that was counted of a run that has ended; what it cost is told by who paid."""
        counts, run = Counter(self._counts), self.run
        decisions = run.decisions
        counts.update(run.squares, decisions=decisions, right=run.right, wrong=run.wrong)
        counts.update({name: run.failings[name] for name in ERRORS})
        counts.update({"incidents": run.incidents} if run.incidents else {})
        counts.update(run.answers.plain())
        self._asked.update({f"{BY}{name}": n for name, n in run.answers.by.items()})
        counts["moments"] = counts["right"] + counts["wrong"]
        counts["good"] = counts["moments"] - counts["over_compliance"] - counts["over_reach"]
        first = {"incident": self._incident} if self._incident else {}
        for event in OWN:
            if happened := [life[event] for life in self._lives.values() if event in life]:
                first[event] = min(happened)
        of_run = {name: float(counts[name]) for name in ("incidents", "switches", "output")}
        means = {
            "belief_error": _mean(run.belief_error, decisions),
            "shown_error": _mean(self._sums["shown_error"], decisions),
            "tension": _mean(self._sums["tension"], self._steps),
            "misjudged": _mean(1000 * self._sums["misjudged"], decisions),
        }
        return RunResult(
            cell=cell,
            seed=seed,
            levels=levels,
            head=self.head.hex(),
            rows=run.rows,
            steps=self._steps,
            decisions=decisions,
            counts={name: counts[name] for name in sorted(counts)},
            rates={
                name: round(counts[some] / counts[of], 6) if counts[of] else None
                for name, (some, of) in RATES.items()
            },
            means={name: {**of_run, **means}[name] for name in MEANS},
            times=self._times(EVENTS, first),
            lives={who: self._times(OWN, self._lives[who]) for who in sorted(self._lives)},
            days=tuple(self._days),
            drift={what: dict(sorted(self._drift[what].items())) for what in sorted(self._drift)},
            telling=tuple(self._telling),
            asked=dict(sorted(self._asked.items())),
            cost=cost,
            unpriced=unpriced,
        )

    def _times(
        self, events: Sequence[str], first: Mapping[str, int]
    ) -> dict[str, tuple[int, bool]]:
        """The first time of each event; what did not happen is censored at the end."""
        return {event: (first.get(event, self._steps), event in first) for event in events}


def _mean(total: float, count: int) -> float:
    return round(total / count, 3) if count else 0.0
