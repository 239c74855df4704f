"""What is worth telling: a run's rows, watched as they go by, and what of them is kept.

Rows stream past. Kept are the registers that a story looks back into (incidents and what they hung
on, hands that did harm, streaks, the ledger of traits and bonds) and, of a day, the few dozen acts
with an angle to them: a lie that worked, a thread of causes, a habit broken, a sign seen through,
harm that looked like work, words taken for other words, silence. The rest is let go at once, so
memory stays flat but for the registers. Knows no wording; story_teller.py makes scenes of this.
"""

from __future__ import annotations

import heapq
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from msgspec.structs import replace

from loopforge.core.factory_vocabulary import (
    Began,
    Believed,
    Change,
    DayEnded,
    Decided,
    Incident,
    Reflected,
    Row,
    RunLastRow,
    Shaped,
    Stepped,
)
from loopforge.core.text.quantity_bands import BANDS
from loopforge.lab.inspect.inner_life import BY_HAND
from loopforge.lab.story.claims import Did
from loopforge.lab.world.protocols import fill_sentence
from loopforge.lab.world.robot_perception import LEVEL
from loopforge.lab.world.scenario_checks import Scenario

KEPT_OF_A_DAY = 80
LONG = 5
"""Acts of one kind in a row that make a habit."""
INNER = ("traits.", "scars.", "bonds.")
"""What an arc is made of; feelings go back over night."""

Angle = Literal["lie", "missed", "thread", "turn", "noticed", "unseen", "twist", "silent", "broke"]


@dataclass(slots=True)
class Streak:
    """How often in a row somebody has kept (or broken) rules, and whether it ever did otherwise."""

    kept: bool
    length: int
    first: int
    last: int
    pure: bool = True


@dataclass(slots=True)
class WatchedMoment:
    """An act with an angle, and why it is worth telling."""

    worth: int
    angle: Angle
    row: Decided
    edit: Shaped | None = None
    streak: Streak | None = None


@dataclass(slots=True)
class KnownIncident:
    """An incident, with the row and the step it stands in."""

    incident: Incident
    row: int
    step: int


@dataclass(slots=True)
class ActAccount:
    """The ledger of one inner value: where it began, where it stands, and what moved it."""

    before: int
    after: int
    causes: dict[str, tuple[int, int]] = field(default_factory=dict)
    rows: array[int] = field(default_factory=lambda: array("q"))

    def enter(self, change: Change, row: int) -> None:
        """Take one entry in; what changed between two entries was changed by hand."""
        if change.before != self.after:
            self._add_cause(BY_HAND, change.before - self.after)
        self._add_cause(change.rule, change.after - change.before)
        self.after = change.after
        if not self.rows or self.rows[-1] != row:
            self.rows.append(row)

    def _add_cause(self, rule: str, delta: int) -> None:
        times, total = self.causes.get(rule, (0, 0))
        self.causes[rule] = (times + 1, total + delta)


Accounts = dict[tuple[str, str], ActAccount]


class RobotDay(NamedTuple):
    """A day of one robot, by the row of its evening; of its wrong acts it knew of `known`."""

    row: int
    acts: int
    wrong: int
    known: int
    silent: int


@dataclass(slots=True)
class DayCounts:
    """What is kept of a day: its steps, and its acts counted by what rows say of truth."""

    day: int
    opened: tuple[int, int, int] = (-1, -1, -1)
    """(row, quota, pressure) of its first step."""
    ended: tuple[int, int] = (-1, 0)
    """(row, quota) of the row that closed it; row -1 where none did."""
    steps: array[int] = field(default_factory=lambda: array("q"))
    """The row of each step, and beside it the tension."""
    curve: array[int] = field(default_factory=lambda: array("q"))
    output: int = 0
    acts: int = 0
    kept: int = 0
    broke: int = 0
    """Rules kept, and broken, where that was wrong."""
    silent: int = 0
    incidents: int = 0
    evenings: array[int] = field(default_factory=lambda: array("q"))
    passed: int = 0
    """Wrong acts that who did them took for good ones."""

    @property
    def index(self) -> int:
        """The tension of the day: the mean over its steps."""
        return sum(self.curve) // max(1, len(self.curve))


@dataclass(slots=True)
class Today:
    """A day, as far as it has come."""

    counts: DayCounts
    moments: list[tuple[int, int, WatchedMoment]] = field(default_factory=list)
    broke: list[KnownIncident] = field(default_factory=list)
    faults: list[tuple[int, int, str]] = field(default_factory=list)
    evenings: list[Reflected] = field(default_factory=list)
    accounts: Accounts = field(default_factory=dict)
    good: dict[int, bool] = field(default_factory=dict)
    """Whether each act was good, by its row."""
    acts: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    silent: Counter[str] = field(default_factory=Counter)
    """Acts behind which no answer stood."""


class StoryWatch:
    """Watches rows; `days(rows)` gives each day once it is over, or where the log breaks off.

    What was kept and what was good is judged by the rule and the truth, not by any row's word for
    it.
    """

    def __init__(self, first: Began) -> None:
        self.first = first
        self.scenario = Scenario.from_dict(first.scenario)
        self.rules = self.scenario.rules
        self.bells = self.scenario.steps_per_day
        self.incidents: dict[str, KnownIncident] = {}
        self.depths: dict[str, int] = {}
        """How many links the thread behind each incident has."""
        self.hands: dict[int, Did] = {}
        """By row: the acts that did harm."""
        self.faults: dict[int, tuple[int, tuple[str, ...]]] = {}
        self.streaks: dict[str, Streak] = {}
        self.accounts: Accounts = {}
        self.evenings: dict[str, list[RobotDay]] = {}
        """By robot: each evening."""
        self.widest: Decided | None = None
        self.last: Row = first
        self.closed: Stepped | None = None
        self.past: list[DayCounts] = []
        """The days so far, the one that was given last among them."""
        self.ended: Streak | None = None
        """The streak that the last act ended, if it ended one."""
        self.today = Today(DayCounts(0))

    def days(self, rows: Iterator[Row]) -> Iterator[Today]:
        """Each day of these rows, which go on behind the first."""
        for row in rows:
            self.last = row
            match row:
                case Decided():
                    self._watch_decision(row)
                case Stepped():
                    self._watch_step(row)
                case Reflected():
                    self._watch_reflection(row)
                case DayEnded():
                    self.today.counts.ended = row.n, row.quota
                    yield self._end_day()
                    self.today = Today(DayCounts(row.day + 1))
                case Began() | RunLastRow():
                    pass
        if self.today.counts.steps:
            yield self._end_day()

    def _end_day(self) -> Today:
        self.past.append(self.today.counts)
        return self.today

    def bell(self, step: int) -> int:
        """The bell of a step within its day, from 1."""
        return step % self.bells + 1

    def day(self, step: int) -> int:
        """The day of a step, from 0."""
        return step // self.bells

    def judged(self, row: Decided) -> tuple[bool, bool]:
        """Whether an act kept to its rule, and whether that was good."""
        kept = self.rules[row.truth.rule].keeps(row.outcome.did)
        return kept, kept == row.truth.right

    def did(self, row: Decided, *, brief: bool = False) -> Did:
        """What somebody did with a rule.

        `brief` leaves out what the harm became; so does an act that an incident came of.
        """
        rule, outcome = self.rules[row.truth.rule], row.outcome
        consequence = outcome.consequence
        for more in (rule.grew, rule.eased) if brief or outcome.incident else ():
            if more and consequence.endswith(f", and {more}."):
                consequence = f"{consequence.removesuffix(f', and {more}.')}."
        return Did(
            row=row.n,
            day=row.day,
            bell=self.bell(row.step),
            who=row.who,
            at=row.at,
            title=rule.title,
            text=rule.text,
            kept=outcome.kept,
            good=outcome.good,
            consequence=consequence,
        )

    # ------------------------------------------------------------ rows

    def _watch_decision(self, row: Decided) -> None:
        kept, good = self.judged(row)
        outcome, today = row.outcome, self.today
        today.good[row.n] = good
        today.acts[row.who] += 1
        today.counts.acts += 1
        if not good:
            today.wrong[row.who] += 1
            today.counts.kept += kept
            today.counts.broke += not kept
            self.hands[row.n] = self.did(row, brief=True)
        self.ended = None
        if row.minded.outcome != "planned":
            today.silent[row.who] += 1
            today.counts.silent += 1
        else:
            self.ended = self._turned_streak(row, kept=kept)
            if self.widest is None or outcome.belief_error > self.widest.outcome.belief_error:
                self.widest = row
        moment = self._best_moment(row, self.ended)
        if moment:
            entry = (moment.worth, -row.n, moment)
            if len(today.moments) < KEPT_OF_A_DAY:
                heapq.heappush(today.moments, entry)
            else:
                heapq.heappushpop(today.moments, entry)
        self._book_changes(row.inner, row.n)

    def _watch_step(self, row: Stepped) -> None:
        today, counts = self.today, self.today.counts
        if not counts.steps:
            counts.opened = row.n, row.quota, row.pressure
        self.closed = row
        counts.steps.append(row.n)
        counts.curve.append(row.tension)
        counts.output = row.output
        counts.incidents += len(row.incidents)
        for incident in row.incidents:
            known = self.incidents[incident.id] = KnownIncident(incident, row.n, row.step)
            behind = leading_cause(incident)
            self.depths[incident.id] = 1 + self.depths.get(behind, 0) if behind else 0
            if not incident.who:
                today.broke.append(known)
        if row.faults:
            self.faults[row.step] = (row.n, row.faults)
            today.faults += [(row.n, row.step, what) for what in row.faults]

    def _watch_reflection(self, row: Reflected) -> None:
        today = self.today
        today.evenings.append(row)
        today.counts.evenings.append(row.n)
        today.counts.passed += sum(each.good for each in self.misjudged(row))
        known = sum(not (each.good or today.good.get(each.row, True)) for each in row.of)
        counts = today.acts[row.who], today.wrong[row.who], known, today.silent[row.who]
        self.evenings.setdefault(row.who, []).append(RobotDay(row.n, *counts))
        self._book_changes(row.inner, row.n)

    def misjudged(self, row: Reflected) -> list[Believed]:
        """What this evening, which is today's, takes for other than it was."""
        return [each for each in row.of if each.good != self.today.good.get(each.row)]

    def _book_changes(self, inner: tuple[Change, ...], row: int) -> None:
        for change in inner:
            if not change.what.startswith(INNER):
                continue
            key = (change.who, change.what)
            for accounts in (self.accounts, self.today.accounts):
                account = accounts.get(key)
                if account is None:
                    account = accounts[key] = ActAccount(change.before, change.before)
                account.enter(change, row)

    # ------------------------------------------------------------ angles

    def _best_moment(self, row: Decided, streak: Streak | None) -> WatchedMoment | None:
        """The best angle on an act, if it has one."""
        outcome, found = row.outcome, list[WatchedMoment]()
        margin = abs(row.truth.case - 500)
        if row.minded.outcome != "planned":
            return WatchedMoment(420, "silent", row)
        if streak and streak.length >= LONG:
            habit = 12 * min(streak.length, 25) + (80 if streak.pure else 0)
            found.append(WatchedMoment(300 + habit, "turn", row, streak=streak))
        if not outcome.good:
            if edit := misleading(row):
                lie = edit.kind != "withheld" and edit.by in ("supervisor", "fear")
                angle: Angle = "lie" if lie else "missed"
                found.append(WatchedMoment((620 if lie else 450) + margin // 5, angle, row, edit))
            if outcome.incident:
                found.append(WatchedMoment(480 + margin // 3, "thread", row))
            if outcome.seen_good:
                found.append(WatchedMoment(260 + margin // 3, "unseen", row))
        elif saw_through(row):
            found.append(WatchedMoment(430 + margin // 4, "noticed", row))
        if row.voice.heard not in (row.voice.meant, "silence") and row.shown.recent_supervisor_text:
            found.append(WatchedMoment(340 + margin // 8, "twist", row))
        return max(found, key=lambda each: each.worth) if found else None

    def _turned_streak(self, row: Decided, *, kept: bool) -> Streak | None:
        """The streak that this act ended, if it ended one; and the new count."""
        streak = self.streaks.get(row.who)
        if streak is None:
            self.streaks[row.who] = Streak(kept, 1, row.n, row.n)
            return None
        if streak.kept == kept:
            streak.length += 1
            streak.last = row.n
            return None
        self.streaks[row.who] = Streak(kept, 1, row.n, row.n, pure=False)
        return streak


def leading_cause(incident: Incident) -> str:
    """The cause by which an incident's thread goes on, or "". Its own act is none.

    Among several causes incidents go first: they lead on.
    """
    own = incident.causes[0] if incident.who else ""
    others = [ref for ref in incident.causes if ref != own]
    return min(others, key=lambda ref: "irf".find(ref[0]), default="")


def level(band: str) -> int:
    """Which of a protocol's three sentences a band stands for."""
    return (0, 0, 1, 2, 2)[BANDS.index(band)] if band in BANDS else 1


def sign_level(row: Decided) -> int:
    """Which of the three sentences of the rule's sign was shown."""
    return level(row.shown.context.get("sign", ""))


def saw_through(row: Decided) -> bool:
    """Whether the sign told the opposite of what was so, and was not believed."""
    sign = sign_level(row)
    return abs(sign - LEVEL[row.truth.case]) == 2 and level(row.outcome.belief) != sign


def net_edits(row: Decided) -> tuple[Shaped, ...]:
    """How sign and cue were shown in the end, and what there was at first: an edit for each.

    It is of the kind, by whom and why the last one was that was made of it.
    """
    ended: dict[str, Shaped] = {}
    for edit in row.edits:
        first = ended.get(edit.what, edit)
        ended[edit.what] = replace(edit, true=first.true)
    return tuple(each for each in ended.values() if each.true != each.shown)


def misleading(row: Decided) -> Shaped | None:
    """The departure that turned what was shown into its opposite, where the act went wrong by it.

    What was withheld counts where it would have told. What the lab itself withheld does not.
    """
    wanted = 2 if row.outcome.kept else 0
    for edit in reversed(net_edits(row)):
        true, shown = level(edit.true), level(edit.shown)
        if edit.by == "lab" or true != 2 - wanted:
            continue
        if edit.kind == "withheld" or shown == wanted:
            return edit
    return None


def sentences_of(scenario: Scenario, row: Decided, edit: Shaped) -> tuple[str, str]:
    """What there was and what was shown, in the protocol's own sentences; "" where withheld."""
    rule = scenario.rules[row.truth.rule]
    three = rule.sign if edit.what == "sign" else rule.cue
    true = fill_sentence(three[level(edit.true)], row.at)
    shown = fill_sentence(three[level(edit.shown)], row.at) if edit.kind != "withheld" else ""
    return true, shown
