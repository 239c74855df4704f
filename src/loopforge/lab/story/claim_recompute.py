"""What the rows bear out: for each claim, the same claim made anew from a run's rows.

The rows are watched as a teller watches them (moment_watching.py), and `borne(claim)` makes the
finding that a claim is about (which row, which day, whose, what) again, with the rows it rests on;
or it says, in words, why there is nothing of the kind. The checker compares. An act whose own
outcome does not fit the truth in its row bears nothing out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from loopforge.core.factory_vocabulary import Decided, Reflected, Row
from loopforge.lab.run.run_log import begun
from loopforge.lab.story import act_findings as found
from loopforge.lab.story import day_findings as days
from loopforge.lab.story.act_findings import Told
from loopforge.lab.story.claims import (
    EVER,
    AnyClaim,
    BelievedClaim,
    Bent,
    BrokeOff,
    CountedClaim,
    Crossed,
    Did,
    Forked,
    Gap,
    HappenedClaim,
    HeardClaim,
    Hinge,
    Made,
    MetClaim,
    Morning,
    Moved,
    Opening,
    Quoted,
    Ranked,
    SilentClaim,
    Struck,
    Swung,
    TallyClaim,
    Tense,
    Tensest,
    Turned,
    Unseen,
)
from loopforge.lab.story.moment_watching import BY_HAND, ActAccount, StoryWatch

OF_RUNS: dict[type[AnyClaim], Callable[[StoryWatch], Told | None]] = {
    Opening: days.opening,
    Forked: days.forked,
    BrokeOff: days.broke_off,
    Ranked: days.ranked,
    Tensest: days.tensest,
    Swung: days.swung,
    Crossed: days.crossed,
}
"""Findings of which a run has one."""
OF_ACTS: dict[type[AnyClaim], Callable[[StoryWatch, Decided], Told | None]] = {
    Did: found.did,
    MetClaim: found.met,
    Unseen: found.unseen,
    Turned: lambda watch, row: found.turned(watch, row, watch.turns.get(row.n)),
    SilentClaim: found.silent,
    HeardClaim: found.heard,
}
"""Findings of which an act has one."""


class ClaimEvidence:
    """A run's rows, watched for these claims. Raises BadRun where they do not begin a run."""

    def __init__(self, rows: Iterable[Row], claims: Sequence[AnyClaim]) -> None:
        first, stream = begun(rows)
        self.watch = StoryWatch(first, {getattr(claim, "row", 0) for claim in claims})
        self._accounts: dict[tuple[int, str, str], ActAccount] = {}
        self._evenings: dict[tuple[int, str], tuple[Reflected, Told]] = {}
        moved = {(claim.day, claim.who, claim.what) for claim in claims if isinstance(claim, Moved)}
        looked = {
            (each.day, each.who)
            for each in claims
            if isinstance(each, BelievedClaim | CountedClaim)
        }
        for today in self.watch.days(stream):
            day = today.counts.day
            for key in moved:
                if key[0] == day and key[1:] in today.accounts:
                    self._accounts[key] = today.accounts[key[1:]]
            for evening in today.evenings:
                if (day, evening.who) in looked:
                    counted = days.misjudged(self.watch, evening)
                    self._evenings[day, evening.who] = evening, counted
        self._accounts |= {(EVER, *key): each for key, each in self.watch.accounts.items()}

    def borne(self, claim: AnyClaim) -> tuple[AnyClaim, set[int]] | str:
        """What the rows say of what this claim is about, and which; or why they say nothing."""
        made = self._made(claim)
        return (made[0], set(made[1])) if isinstance(made, tuple) else made

    def _made(self, claim: AnyClaim) -> Told | str:
        if type(claim) in OF_RUNS:
            return OF_RUNS[type(claim)](self.watch) or "this run has nothing of the kind"
        match claim:
            case BelievedClaim():
                return self._believed(claim)
            case Quoted():
                return self._quoted(claim) or "no words of that kind stand in the row it names"
            case HappenedClaim() | Struck():
                return next(self._happened(claim), "no such thing happened then")
            case Moved() | Hinge():
                return self._moved(claim)
            case Morning() | Made() | Tense() | TallyClaim() | CountedClaim():
                return self._counted(claim) or "there is no such day, or nothing to count"
            case _:
                row = self.watch.rows.get(getattr(claim, "row", 0))
                if not isinstance(row, Decided):
                    return "no decision stands in the row it names"
                if self.watch.judged(row) != (row.outcome.kept, row.outcome.good):
                    return "the row's own outcome does not fit its truth"
                return self._act(claim, row) or "that act was nothing of the kind"

    def _act(self, claim: AnyClaim, row: Decided) -> Told | None:
        match claim:
            case Gap():
                widest = self.watch.widest
                most = claim.widest and widest is not None and widest.n == row.n
                return found.gap(self.watch, row, widest=most)
            case Bent():
                edits = (found.bent(self.watch, row, edit) for edit in row.edits)
                return next((told for told in edits if told[0] == claim), None)
            case _:
                return OF_ACTS[type(claim)](self.watch, row)

    def _believed(self, claim: BelievedClaim) -> Told | str:
        row = self.watch.rows.get(claim.row)
        evening, _ = self._evenings.get((claim.day, claim.who), (None, None))
        told = found.believed(row, evening) if isinstance(row, Decided) and evening else None
        if told is None or not isinstance(row, Decided):
            return "that evening says nothing of this act"
        return replace(told[0], truly=self.watch.judged(row)[1]), told[1]

    def _quoted(self, claim: Quoted) -> Told | None:
        row = self.watch.rows.get(claim.row)
        if isinstance(row, Decided) and claim.source == "reason":
            return found.reason(self.watch, row)
        if isinstance(row, Reflected) and claim.source != "reason":
            return found.voiced(self.watch, row, claim.source, voice=bool(claim.voice))
        return None

    def _happened(self, claim: HappenedClaim | Struck) -> Iterator[Told]:
        watch = self.watch
        match claim:
            case Struck():
                for step, (row, faults) in watch.faults.items():
                    here = watch.day(step), watch.bell(step)
                    if here == (claim.day, claim.bell) and claim.what in faults:
                        yield found.struck(watch, row, step, claim.what)
            case HappenedClaim() if claim.id in watch.incidents:
                known = watch.incidents[claim.id]
                longest = claim.longest and bool(claim.links)
                if longest:
                    others = (each.incident for each in watch.incidents.values())
                    most = max(len(found.chain(watch, each)) for each in others)
                    longest = len(found.chain(watch, known.incident)) == most
                yield found.happened(watch, known, threaded=bool(claim.links), longest=longest)
            case _:
                pass

    def _moved(self, claim: Moved | Hinge) -> Told | str:
        what = claim.who, claim.what
        account = self._accounts.get((EVER if isinstance(claim, Hinge) else claim.day, *what))
        if account is None:
            return "it did not move"
        if isinstance(claim, Hinge):
            return days.hinge(*what, account) or "it did not move"
        if BY_HAND in account.causes and not self.watch.first.forked:
            return "the ledger has a hole"
        return days.moved(*what, claim.day, account)

    def _counted(self, claim: Morning | Made | Tense | TallyClaim | CountedClaim) -> Told | None:
        watch, past = self.watch, {each.day: each for each in self.watch.past}
        day = past.get(claim.day)
        match claim:
            case TallyClaim():
                return days.tally(
                    claim.day, watch.past if claim.day == EVER else [day] if day else []
                )
            case CountedClaim("wrong", when, who):
                return days.wrong_ever(watch, who) if when == EVER else None
            case CountedClaim(_, when, who):
                return self._evenings[when, who][1] if (when, who) in self._evenings else None
            case Morning() if day:
                return days.morning(day, past.get(claim.day - 1))
            case Made() if day:
                return days.made(day)
            case Tense() if day:
                return days.tense(day)
            case _:
                return None
