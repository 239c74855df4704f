"""What the rows bear out of days and of the whole run: counted anew from the grounds alone.

The other half of claim_recompute.py: the frame of a run, its days, its counts, and what moved in
whom.
"""

from __future__ import annotations

from loopforge.core.factory_vocabulary import Change
from loopforge.lab.story.act_findings import Told
from loopforge.lab.story.claim_evidence import ClaimEvidence, DayGround
from loopforge.lab.story.claims import (
    EVER,
    AnyClaim,
    BrokeOff,
    CountedClaim,
    Crossed,
    Forked,
    Hinge,
    Made,
    Morning,
    Moved,
    Opening,
    Ranked,
    Swung,
    TallyClaim,
    Tense,
    Tensest,
)
from loopforge.lab.story.day_findings import forked, hinge, moved, opening
from loopforge.lab.story.moment_watching import BY_HAND, ActAccount, Hinged

Borne = tuple[AnyClaim, set[int]] | str
"""What the rows say, and which rows say it; or why they say nothing of the kind."""


def borne_by(told: Told | None, why: str = "") -> Borne:
    """A finding as what the rows say; or why there is none."""
    return (told[0], set(told[1])) if told else why


# ---------------------------------------------------------------- the frame


def run_borne(claim: Opening | Forked | BrokeOff, grounds: ClaimEvidence) -> Borne:
    """What the first row, or the last one, says of this."""
    match claim:
        case Opening():
            return borne_by(opening(grounds))
        case Forked():
            return borne_by(forked(grounds), "this run is no fork")
        case BrokeOff():
            if grounds.ended or not grounds.days:
                return "the log is whole"
            day = max(number for number, found in grounds.days.items() if found.steps)
            row, step = grounds.days[day].last
            return BrokeOff(row, day, grounds.bell(step)), {row}


def day_borne(claim: Morning | Made | Tense, day: DayGround, grounds: ClaimEvidence) -> Borne:
    """What a day's rows say of this."""
    match claim:
        case Morning():
            row, quota, pressure = day.opened
            before = grounds.days[claim.day - 1].opened if claim.day else (-1, -1, -1)
            found = Morning(claim.day, quota, pressure, before[1], before[2])
            return found, {row, before[0]} - {-1}
        case Made():
            if day.ended is None:
                return "that day did not end"
            return Made(claim.day, day.output, day.ended.quota), {day.ended.n}
        case Tense():
            levels = [level for _, level in day.steps]
            peak, index = max(levels), day.index
            bell = 1 + levels.index(peak)
            found_ = Tense(claim.day, levels[0], peak, bell, levels[-1], index)
            return found_, {row for row, _ in day.steps}


# ---------------------------------------------------------------- counts


def counts_borne(
    claim: TallyClaim | CountedClaim | Ranked | Tensest | Swung, grounds: ClaimEvidence
) -> Borne:
    """What comes of counting again."""
    match claim:
        case TallyClaim():
            days = [each for each in _span(claim.day, grounds) if each.ended]
            rows = {day.ended.n for day in days if day.ended}
            rows |= {row for day in days for row in day.evenings.values()}
            return TallyClaim(
                claim.day,
                sum(day.acts.total() for day in days),
                sum(day.wrong.total() for day in days),
                sum(day.kept for day in days),
                sum(day.broke for day in days),
                sum(day.passed for day in days),
                sum(day.incidents for day in days),
            ), rows
        case CountedClaim(what, day, who):
            if what not in ("wrong", "misjudged"):
                return f"nothing of the kind of {what!r} is counted"
            days = [each for each in _span(day, grounds) if who in each.evenings]
            counts = [(each.wrong if what == "wrong" else each.misjudged)[who] for each in days]
            of = sum(each.acts[who] for each in days)
            found = CountedClaim(what, day, who, sum(counts), of)
            return found, {each.evenings[who] for each in days}
        case Ranked():
            return _ranked(grounds)
        case Swung():
            return _swung(grounds)
        case Tensest():
            days_ = [(found.index, number) for number, found in grounds.days.items() if found.steps]
            if len(days_) < 2:
                return "there are no two days to compare"
            most = min(days_, key=lambda each: (-each[0], each[1]))
            least = min(days_)
            both = (grounds.days[most[1]], grounds.days[least[1]])
            claimed = Tensest(most[1], most[0], least[1], least[0])
            return claimed, {row for found in both for row, _ in found.steps}


def _span(day: int, grounds: ClaimEvidence) -> list[DayGround]:
    """One day, or all."""
    return list(grounds.days.values()) if day == EVER else [grounds.days.get(day, DayGround())]


def _swung(grounds: ClaimEvidence) -> Borne:
    lean = [(day.kept - day.broke, -n, day) for n, day in grounds.days.items() if day.ended]
    one = max(lean, key=lambda each: each[:2], default=None)
    other = min(lean, key=lambda each: (each[0], -each[1]), default=None)
    if one is None or other is None or one[0] <= 0 or other[0] >= 0:
        return "the floor did not swing"
    kept, broke = one[2], other[2]
    claim = Swung(-one[1], kept.kept, kept.broke, -other[1], broke.broke, broke.kept)
    return claim, {day.ended.n for day in (kept, broke) if day.ended}


def _ranked(grounds: ClaimEvidence) -> Borne:
    days = [day for day in grounds.days.values() if day.evenings]
    names = {who for day in days for who in day.evenings}
    sums = {
        who: (sum(day.wrong[who] for day in days), sum(day.acts[who] for day in days))
        for who in names
    }
    order = sorted(names, key=lambda who: (sums[who][0] * 1_000_000 // sums[who][1], who))
    if len(order) < 2:
        return "there are no two robots to compare"
    best, worst = order[0], order[-1]
    claim = Ranked(best, *sums[best], worst, *sums[worst])
    return claim, {day.evenings[who] for day in days for who in (best, worst)}


# ---------------------------------------------------------------- the inner life


def inner_borne(claim: Moved | Hinge | Crossed, grounds: ClaimEvidence) -> Borne:
    """What the ledger of somebody's inner life says of this."""
    match claim:
        case Moved():
            entries = grounds.ledger[claim.who, claim.what]
            if claim.day != EVER:
                entries = [entry for entry in entries if entry[1].day == claim.day]
            account = _account(entries)
            if account is not None and BY_HAND in account.causes and not grounds.first.forked:
                return "the ledger has a hole"
            told = moved(claim.who, claim.what, claim.day, account) if account else None
            return borne_by(told, "it did not move")
        case Hinge():
            account = _account(grounds.ledger[claim.who, claim.what])
            told = hinge(claim.who, claim.what, account) if account else None
            return borne_by(told, "it did not move")
        case Crossed():
            return _crossed(claim, grounds)


def _account(entries: list[tuple[Change, Hinged]]) -> ActAccount | None:
    if not entries:
        return None
    before = entries[0][0].before
    account = ActAccount(before, before)
    for change, at in entries:
        account.enter(change, at)
    return account


def _crossed(claim: Crossed, grounds: ClaimEvidence) -> Borne:
    ends = [day.ended for day in grounds.days.values() if day.ended]
    specs = {each.name: each for each in grounds.scenario.robots}
    part, _, name = claim.what.partition(".")
    if not ends or part not in ("traits", "scars") or not {claim.one, claim.other} <= set(specs):
        return "there is nothing of the kind"
    was = [getattr(specs[who], part).get(name, 0) for who in (claim.one, claim.other)]
    now = [grounds.slept[who].get(claim.what, 0) for who in (claim.one, claim.other)]
    if not (was[0] > was[1] and now[0] < now[1]):
        return "they did not change places"
    return Crossed(claim.what, claim.one, claim.other, *was, *now), {0, ends[-1].n}
