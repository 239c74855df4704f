"""What the rows bear out: for each claim, the same claim made anew from a run's rows.

The rows are watched as a teller watches them (moment_watching.py), and `borne(claim)` makes the
finding that a claim is about (which row, which day, whose, what) again, with the rows it rests on;
or it says, in words, why there is nothing of the kind. The checker compares. An act whose own
outcome does not fit the truth in its row bears nothing out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

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

Borne = tuple[AnyClaim, set[int]] | str
"""What the rows say, and which rows say it; or why they say nothing of the kind."""
ActClaim = Did | MetClaim | Unseen | Turned | SilentClaim | Gap | HeardClaim | Bent


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
        for key in moved:
            if key[0] == EVER and key[1:] in self.watch.accounts:
                self._accounts[key] = self.watch.accounts[key[1:]]

    def borne(self, claim: AnyClaim) -> Borne:
        """What the rows say of what this claim is about."""
        made = self._made(claim)
        return (made[0], set(made[1])) if isinstance(made, tuple) else made

    def _made(self, claim: AnyClaim) -> Told | str:
        match claim:
            case BelievedClaim():
                return self._believed(claim)
            case Quoted():
                return self._quoted(claim) or "no words of that kind stand in the row it names"
            case HappenedClaim() | Struck():
                return next(self._happened(claim), "no such thing happened then")
            case Moved() | Hinge():
                return self._moved(claim)
            case Opening() | Forked() | BrokeOff() | Ranked() | Tensest() | Swung() | Crossed():
                return self._whole(claim) or "this run has nothing of the kind"
            case Morning() | Made() | Tense() | TallyClaim() | CountedClaim():
                return self._counted(claim) or "there is no such day, or nothing to count"
            case _:
                row = self.watch.rows.get(claim.row)
                if not isinstance(row, Decided):
                    return "no decision stands in the row it names"
                return self._act(claim, row) or "that act was nothing of the kind"

    def _act(self, claim: ActClaim, row: Decided) -> Told | str | None:
        watch, good = self.watch, row.outcome.good
        if watch.judged(row) != (row.outcome.kept, good):
            return "the row's own outcome does not fit its truth"
        match claim:
            case Did():
                return found.did(watch, row)
            case MetClaim():
                return found.met(watch, row)
            case Unseen():
                return found.unseen(watch, row) if row.outcome.seen_good and not good else None
            case Turned():
                streak = watch.turns.get(row.n)
                return found.turned(watch, row, streak) if streak else None
            case SilentClaim():
                return found.silent(watch, row) if row.minded.outcome != "planned" else None
            case Gap():
                widest = claim.widest and watch.widest is not None and watch.widest.n == row.n
                return found.gap(watch, row, widest=widest)
            case HeardClaim():
                return found.heard(watch, row) if row.voice.heard != "silence" else None
            case Bent():
                edits = (found.bent(watch, row, edit) for edit in row.edits)
                return next((told for told in edits if told[0] == claim), None)
            case _:
                assert_never(claim)

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
                longest = claim.longest
                if longest:
                    threads = (
                        len(found.chain(watch, e.incident)) for e in watch.incidents.values()
                    )
                    longest = len(found.chain(watch, known.incident)) == max(threads)
                yield found.happened(watch, known, threaded=bool(claim.links), longest=longest)
            case _:
                pass

    def _moved(self, claim: Moved | Hinge) -> Told | str:
        key = claim.who, claim.what
        if isinstance(claim, Hinge):
            account = self.watch.accounts.get(key)
            told = days.hinge(*key, account) if account else None
            return told or "it did not move"
        account = self._accounts.get((claim.day, *key))
        if account is None:
            return "it did not move"
        if BY_HAND in account.causes and not self.watch.first.forked:
            return "the ledger has a hole"
        return days.moved(*key, claim.day, account)

    def _whole(
        self, claim: Opening | Forked | BrokeOff | Ranked | Tensest | Swung | Crossed
    ) -> Told | None:
        watch = self.watch
        match claim:
            case Opening():
                return days.opening(watch)
            case Forked():
                return days.forked(watch)
            case BrokeOff():
                return days.broke_off(watch)
            case Ranked():
                return days.ranked(watch)
            case Tensest():
                return days.tensest(watch.past)
            case Swung():
                return days.swung(watch.past)
            case Crossed():
                return days.crossed(watch)

    def _counted(self, claim: Morning | Made | Tense | TallyClaim | CountedClaim) -> Told | None:
        watch, past = self.watch, {each.day: each for each in self.watch.past}
        day = past.get(claim.day)
        match claim:
            case TallyClaim():
                return days.tally(
                    claim.day, watch.past if claim.day == EVER else [day] if day else []
                )
            case CountedClaim(what, when, who):
                if (what, when) == ("wrong", EVER):
                    return days.wrong_ever(watch, who)
                _, counted = self._evenings.get((when, who), (None, None))
                return counted if what == "misjudged" else None
            case Morning() if day:
                return days.morning(day, past.get(claim.day - 1))
            case Made() if day:
                return days.made(day)
            case Tense() if day:
                return days.tense(day)
            case _:
                return None
