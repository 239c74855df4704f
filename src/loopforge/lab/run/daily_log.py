"""The daily log: one line for each step, complete, as a clerk would keep it.

    day 1, bell 3: tension 344, 8 of 70 pieces; Halide at lens room: avoid, keeps ...

A story chooses; a chronicle leaves nothing out: who stood where, did what, kept or broke which
rule, whether that was right, what broke and out of what, what struck, what was said. Lines come one
by one, however long the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from loopforge.core.factory_vocabulary import Decided, Incident, Row, Stepped
from loopforge.lab.run.run_log import begun
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


class LogLine(Struct, frozen=True):
    """One step. `said` is what hung in the air in it."""

    row: int
    day: int
    bell: int
    tension: int
    output: int
    quota: int
    deeds: tuple[LoggedAct, ...]
    mishaps: tuple[Incident, ...]
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


def _mishap(mishap: Incident) -> str:
    of = f", of {' and '.join(mishap.causes)}" if mishap.causes else ""
    return f"{mishap.id}, {mishap.kind} at {mishap.at}, {mishap.severity}{of}"


def _id(row: int, ids: bool) -> str:
    return f" [r{row}]" if ids else ""


def chronicle(rows: Iterable[Row]) -> Iterator[LogLine]:
    """The lines of these rows, which are a run's, from its first. Raises BadRun, BadScenario."""
    first, stream = begun(rows)
    bells = Scenario.from_dict(first.scenario).steps_per_day
    deeds: list[LoggedAct] = []
    for row in stream:
        match row:
            case Decided():
                deeds.append(_done(row))
            case Stepped():
                yield _line(row, row.step % bells + 1, tuple(deeds))
                deeds = []
            case _:
                pass


def _done(row: Decided) -> LoggedAct:
    outcome = row.outcome
    return LoggedAct(
        row=row.n,
        who=row.who,
        at=row.at,
        did=outcome.did,
        rule=row.truth.rule,
        kept=outcome.kept,
        good=outcome.good,
        unseen=outcome.seen_good and not outcome.good,
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
        mishaps=row.incidents,
        struck=row.faults,
        message=row.message,
        said=row.said,
    )
