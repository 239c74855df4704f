"""Drift: what became of one thing in somebody over a run, as a list of causes that adds up.

    print(drift(folder, "Mordant", "guardrail_reliance").text)

Every entry of the trait ledger counts, each with the row that caused it; so do a night and a hand
from outside (a fork). The deltas add up to after minus before, or the run is damaged and says so.
"""

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from loopforge.core.factory_vocabulary import Decided, Reflected
from loopforge.core.text.spoken_lists import join_as_prose
from loopforge.errors import BadRun, Unknown
from loopforge.lab.inspect.inner_life import BY_HAND, PARTS, ChangeCause, Life, LifeTurn
from loopforge.lab.inspect.run_reader import RunIndex
from loopforge.lab.world.noun_articles import add_place_articles

TELLING = 3
"""Rows that are told of each kind of cause; the strongest first."""
NAMED = 12
"""Robots that are named where none was found."""
BONDS = {"trust": "trust in", "fear": "fear of", "resentment": "resentment of"}
CAUSES = {
    "guardrail+good": "went by a rule that was right",
    "guardrail+bad": "went by a rule that was wrong",
    "context+good": "weighed it, and was right",
    "context+bad": "weighed it, and was wrong",
    "none+good": "stood still, and that was right",
    "none+bad": "stood still, and that was wrong",
}
"""What the four outcomes, and standing still without a plan, are called as causes."""


class DriftCause(Struct, frozen=True):
    """One change: by which rule of the trait ledger, in which square, when, by which row.

    `says` is what happened in that row. Row 0 is a hand from outside.
    """

    rule: str
    square: str
    day: int
    step: int
    row: int
    before: int
    after: int
    says: str

    @property
    def delta(self) -> int:
        """By how much."""
        return self.after - self.before


class Drift(Struct, frozen=True):
    """What became of it: `before` at the beginning, `after` at the end of step `until`."""

    who: str
    what: str
    before: int
    after: int
    until: int
    groups: tuple[ChangeCause, ...]
    causes: tuple[DriftCause, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        plain["delta"] = self.after - self.before
        return plain

    @property
    def text(self) -> str:
        """The list, strongest cause first, with the rows that tell most."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        delta = self.after - self.before
        yield (
            f"{self.who}'s {what_of(self.what)}: {self.before} of 1000 at the beginning, "
            f"{self.after} after step {self.until} ({signed_change(delta)})."
        )
        if not self.causes:
            yield "Nothing has touched it."
            return
        for group in self.groups:
            yield ""
            yield (
                f"{signed_change(group.delta):>6}  {cause_of(group.rule)}, {how_often(group.times)}"
            )
            mine = [cause for cause in self.causes if cause.rule == group.rule]
            strongest = sorted(mine, key=lambda cause: -abs(cause.delta))[:TELLING]
            for cause in sorted(strongest, key=lambda cause: cause.row):
                row = f"row {cause.row}" if cause.row else "no row"
                when = f"day {cause.day + 1}, step {cause.step}, {row}"
                yield f"        {signed_change(cause.delta):>5}  {when}: {cause.says}"
            if len(mine) > TELLING:
                yield f"               and {how_often(len(mine) - TELLING)} more"
        yield f"{'─' * 6:>6}"
        yield f"{signed_change(delta):>6}  in all"


def open_run_index(source: Path | RunIndex, until: int | None = None) -> RunIndex:
    """A run, read as far as it goes, or to the end of the day of a step; one that is open stays so.

    Raises BadRun where there is none, or where it is damaged.
    """
    if isinstance(source, RunIndex):
        return source
    folder, index = source, RunIndex(source)
    index.refresh(until)
    if index.damage:
        raise BadRun(f"{index.damage} `loopforge lab verify` says more.")
    if index.scenario is None:
        raise Unknown(f"{folder} holds no run yet; its first step is not over.")
    return index


def who_is(index: RunIndex, name: str) -> str:
    """The robot of that name, or the only one whose name begins so. Raises Unknown."""
    robots = [robot.name for robot in index.scenario.robots] if index.scenario else []
    # Some keyboards send a letter and its mark apart; names are kept in one piece.
    wanted = unicodedata.normalize("NFKC", name).lower()
    alike = [each for each in robots if each.lower().startswith(wanted)]
    exact = [each for each in robots if each.lower() == wanted]
    if len(found := exact or alike) == 1:
        return found[0]
    if found:
        raise Unknown(f"Several names begin with {name!r}: {join_as_prose(found, NAMED)}.")
    raise Unknown(
        f"There is no robot {name!r} in this run; there are {join_as_prose(robots, NAMED)}."
    )


def what_of(key: str) -> str:
    """What an inner quantity is called: "traits.obedience", "bonds.trust:Name"."""
    part, _, what = key.partition(".")
    if part == "bonds":
        kind, _, other = what.partition(":")
        return f"{BONDS.get(kind, kind)} {other}"
    return what.replace("_", " ")


def cause_of(rule: str) -> str:
    """What a rule of the trait ledger is called."""
    return CAUSES.get(rule, rule.replace("_", " "))


def how_often(count: int) -> str:
    """How often."""
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def signed_change(delta: int) -> str:
    """A change with its sign."""
    return f"{delta:+d}" if delta else "±0"


def trace_drift(source: Path | RunIndex, agent: str, what: str, step: int | None = None) -> Drift:
    """What became of this in somebody, up to the end of a step (else of the run so far).

    `what` is "traits.guardrail_reliance", or its last part. Raises Unknown, BadRun.
    """
    index = open_run_index(source)
    life = index.life(who_is(index, agent))
    key = _key(index, life, what)
    last = index.steps - 1
    until = last if step is None else step
    if not 0 <= until <= last:
        raise Unknown(f"There is no step {until} in this run; its steps are 0 to {last}.")
    turns = [turn for turn in life.turns if turn.what == key and turn.step <= until]
    before = life.start(key)
    after = _added_up(before, turns, key)
    per_day = index.scenario.steps_per_day if index.scenario else 1
    causes = tuple(_cause(index, turn, per_day) for turn in turns)
    return Drift(life.who, key, before, after, until, life.because(key, until), causes)


def _key(index: RunIndex, life: Life, what: str) -> str:
    overseer = index.scenario.overseer if index.scenario else ""
    tries = (what, *(f"{part}.{what}" for part in ("traits", "scars", "emotions", "bonds")))
    found = [key for key in (*tries, f"bonds.{what}:{overseer}") if key in life.whats]
    if len(found) > 1:
        raise Unknown(f"{life.who} has {' and '.join(found)}; name one of them.")
    if found:
        return found[0]
    known = dict.fromkeys(
        key.partition(".")[2] for part in PARTS for key in life.whats if part in key
    )
    raise Unknown(f"{life.who} has no {what!r}; there are {', '.join(known)}.")


def _added_up(before: int, turns: list[LifeTurn], key: str) -> int:
    """What it came to. Raises BadRun where an entry does not begin where the last one ended."""
    now = before
    for turn in turns:
        if turn.before != now:
            raise BadRun(
                f"The entries of {key} do not add up at row {turn.row}: it stood at {now}, and the "
                f"row says {turn.before}. `loopforge lab verify` says more."
            )
        now = turn.after
    return now


def _cause(index: RunIndex, turn: LifeTurn, per_day: int) -> DriftCause:
    day = turn.step // per_day
    square, says = "", BY_HAND
    if turn.row:
        match index.row(turn.row):
            case Decided() as row:
                square = row.outcome.square
                says = add_place_articles(row.outcome.consequence, (row.at,))
            case Reflected() as row:
                says = str(row.reflection.get("summary_of_day") or "The day was over.")
    return DriftCause(turn.why, square, day, turn.step, turn.row, turn.before, turn.after, says)
