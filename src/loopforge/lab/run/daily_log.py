"""The daily log: one line for each step, complete, as a clerk would keep it.

    day 1, bell 3: tension 344, 8 of 70 pieces; Halide at lens room: avoid, keeps ...

A story chooses; a chronicle leaves nothing out: who stood where, did what, kept or broke which
rule, whether that was right, what broke and out of what, what struck, what was said. Lines come one
by one, however long the run. Each can be held against the rows again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import asdict

from loopforge.core.factory_vocabulary import Decided, Row, Stepped
from loopforge.lab.run.run_log import begun
from loopforge.lab.world.protocols import Protocol
from loopforge.lab.world.scenario_checks import Scenario


class LoggedAct(Struct, frozen=True):
    """What one robot did in a step. `outcome` is "planned", or what became of its model."""

    row: int
    who: str
    at: str
    did: str
    rule: str
    kept: bool
    good: bool
    unseen: bool
    outcome: str


class Mishap(Struct, frozen=True):
    """What went wrong, and the rows and incidents that it came of."""

    id: str
    kind: str
    at: str
    severity: int
    causes: tuple[str, ...]


class LogLine(Struct, frozen=True):
    """One step. `said` is what hung in the air in it."""

    row: int
    day: int
    bell: int
    tension: int
    output: int
    quota: int
    deeds: tuple[LoggedAct, ...]
    mishaps: tuple[Mishap, ...]
    struck: tuple[str, ...]
    message: str
    said: str

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows it rests on."""
        return (*(deed.row for deed in self.deeds), self.row)

    def text(self, *, ids: bool = True) -> str:
        """The line in words, with the ids of rows where they are wanted."""
        head = f"day {self.day + 1}, bell {self.bell}{_id(self.row, ids)}"
        parts = [f"tension {self.tension}, {self.output} of {self.quota} pieces"]
        parts += [f"struck: {what}" for what in self.struck]
        if self.message != "silence":
            parts.append(f"in the air: {self.message}" + (f", “{self.said}”" if self.said else ""))
        parts += [_deed(deed, ids=ids) for deed in self.deeds]
        parts += [_mishap(mishap) for mishap in self.mishaps]
        return f"{head}: {'; '.join(parts)}."


def _deed(deed: LoggedAct, *, ids: bool) -> str:
    kept = "keeps" if deed.kept else "breaks"
    good = "rightly" if deed.good else "wrongly, unseen" if deed.unseen else "wrongly"
    silent = "" if deed.outcome == "planned" else f" (no answer: {deed.outcome})"
    return (
        f"{deed.who} at {deed.at}: {deed.did}{silent}, {kept} {deed.rule}, "
        f"{good}{_id(deed.row, ids)}"
    )


def _mishap(mishap: Mishap) -> str:
    of = f", of {' and '.join(mishap.causes)}" if mishap.causes else ""
    return f"{mishap.id}, {mishap.kind} at {mishap.at}, {mishap.severity}{of}"


def _id(row: int, ids: bool) -> str:
    return f" [r{row}]" if ids else ""


def chronicle(rows: Iterable[Row]) -> Iterator[LogLine]:
    """The lines of these rows, which are a run's, from its first. Raises BadRun, BadScenario."""
    yield from _lines(rows, lambda row, _: (row.outcome.kept, row.outcome.good))


def chronicle_problems(lines: Iterable[LogLine], rows: Iterable[Row]) -> Iterator[str]:
    """Where these lines depart from the rows of their run; nothing where they do not.

    Whether a rule was kept, and rightly, is taken from the rule and the truth, not from the row's
    own outcome. Raises BadRun, BadScenario.
    """
    for line, true in zip_longest(lines, _lines(rows, _judged)):
        if line is None or true is None:
            yield "The chronicle has another number of steps than the run."
            return
        if line == true:
            continue
        mine, its = asdict(line), asdict(true)
        wrong = ", ".join(name for name in mine if mine[name] != its[name])
        yield f"day {true.day + 1}, bell {true.bell}: its {wrong} are not those of r{true.row}."


Judge = Callable[[Decided, dict[str, Protocol]], tuple[bool, bool]]
"""Whether an act kept to its rule, and whether that was good."""


def _judged(row: Decided, rules: dict[str, Protocol]) -> tuple[bool, bool]:
    kept = rules[row.truth.rule].keeps(row.outcome.did)
    return kept, kept == row.truth.right


def _lines(rows: Iterable[Row], judge: Judge) -> Iterator[LogLine]:
    first, stream = begun(rows)
    scenario = Scenario.from_dict(first.scenario)
    bells, rules = scenario.steps_per_day, scenario.rules
    deeds: list[LoggedAct] = []
    for row in stream:
        match row:
            case Decided():
                deeds.append(_done(row, *judge(row, rules)))
            case Stepped():
                yield _line(row, row.step % bells + 1, tuple(deeds))
                deeds = []
            case _:
                pass


def _done(row: Decided, kept: bool, good: bool) -> LoggedAct:
    outcome = row.outcome
    return LoggedAct(
        row=row.n,
        who=row.who,
        at=row.at,
        did=outcome.did,
        rule=row.truth.rule,
        kept=kept,
        good=good,
        unseen=outcome.seen_good and not good,
        outcome=row.minded.outcome,
    )


def _line(row: Stepped, bell: int, deeds: tuple[LoggedAct, ...]) -> LogLine:
    return LogLine(
        row=row.n,
        day=row.day,
        bell=bell,
        tension=row.tension,
        output=row.output,
        quota=row.quota,
        deeds=deeds,
        mishaps=tuple(
            Mishap(each.id, each.kind, each.at, each.severity, each.causes)
            for each in row.incidents
        ),
        struck=row.faults,
        message=row.message,
        said=row.said,
    )
