"""What the rows bear out: for each claim, the same claim made anew from the grounds alone.

`borne(claim, grounds)` looks only at what a claim is about (which row, which day, whose, what), and
says what the rows say of that, with the rows it rests on; or, in words, why there is nothing of the
kind. The checker compares. What one row says is read by the findings (act_findings.py) that the
teller uses too, from registers filled again; whether it was kept, right, a turn, the widest or the
longest is found anew, from what rows say of truth.
"""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from loopforge.core.factory_vocabulary import Decided, Reflected
from loopforge.lab.story import act_findings as found
from loopforge.lab.story.claim_evidence import ClaimEvidence
from loopforge.lab.story.claims import (
    AnyClaim,
    BelievedClaim,
    Bent,
    BrokeOff,
    ClaimLink,
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
from loopforge.lab.story.day_recompute import (
    Borne,
    borne_by,
    counts_borne,
    day_borne,
    inner_borne,
    run_borne,
)
from loopforge.lab.story.moment_watching import Known, Streak

NO_ACT = "no decision stands in the row it names"


def borne(claim: AnyClaim, grounds: ClaimEvidence) -> Borne:
    """What the rows say of what this claim is about."""
    match claim:
        case (
            Did() | MetClaim() | Unseen() | Turned() | SilentClaim() | Gap() | HeardClaim() | Bent()
        ):
            row = grounds.rows.get(claim.row)
            return _act(claim, row, grounds) if isinstance(row, Decided) else NO_ACT
        case BelievedClaim() | Quoted():
            return _said(claim, grounds)
        case HappenedClaim() | Struck():
            return _world(claim, grounds)
        case Opening() | Forked() | BrokeOff():
            return run_borne(claim, grounds)
        case Morning() | Made() | Tense():
            day = grounds.days.get(claim.day)
            return day_borne(claim, day, grounds) if day else "there is no such day"
        case TallyClaim() | CountedClaim() | Ranked() | Tensest() | Swung():
            return counts_borne(claim, grounds)
        case Moved() | Hinge() | Crossed():
            return inner_borne(claim, grounds)
        case _:
            assert_never(claim)


# ---------------------------------------------------------------- acts

Act = Did | MetClaim | Unseen | Turned | SilentClaim | Gap | HeardClaim | Bent


def _act(claim: Act, row: Decided, grounds: ClaimEvidence) -> Borne:
    kept, good = grounds.kept(row), grounds.good(row)
    match claim:
        case Did() | Turned() if (kept, good) != (row.outcome.kept, row.outcome.good):
            return "the row's own outcome does not fit its truth"
        case Did():
            return borne_by(found.did(grounds, row))
        case MetClaim():
            return borne_by(found.met(grounds, row), "nobody was spoken up to or helped")
        case Unseen():
            if good or not row.outcome.seen_good:
                return "it was good" if good else "it was seen that it was bad"
            return borne_by(found.unseen(grounds, row))
        case Turned():
            return _turned(row, grounds)
        case SilentClaim():
            if row.minded.outcome == "planned":
                return "an answer came"
            return borne_by(found.silent(grounds, row))
        case Gap():
            widest = claim.widest and grounds.widest[1] == row.n
            return borne_by(found.gap(grounds, row, widest=widest))
        case HeardClaim():
            if row.voice.heard == "silence":
                return "nothing was heard"
            return borne_by(found.heard(grounds, row))
        case Bent():
            edits = (found.bent(grounds, row, edit) for edit in row.edits)
            same = next((told for told in edits if told[0] == claim), None)
            return borne_by(same, "no such edit was made of what it was shown")


def _turned(row: Decided, grounds: ClaimEvidence) -> Borne:
    rows, marks = grounds.past[row.who]
    at = rows.index(row.n)
    start = at
    while start and marks[start - 1] != marks[at]:
        start -= 1
    if start == at:
        return "nothing turned: the act before went the same way"
    streak = Streak(not marks[at], at - start, rows[start], rows[at - 1], pure=start == 0)
    return borne_by(found.turned(grounds, row, streak))


# ---------------------------------------------------------------- words and evenings


def _said(claim: BelievedClaim | Quoted, grounds: ClaimEvidence) -> Borne:
    row = grounds.rows.get(claim.row)
    match claim:
        case BelievedClaim():
            day = grounds.days.get(claim.day)
            evening = grounds.rows.get(day.evenings.get(claim.who, -1)) if day else None
            if not isinstance(row, Decided) or not isinstance(evening, Reflected):
                return "no act of that evening stands in the rows it names"
            told = found.believed(row, evening)
            if told is None:
                return "that evening says nothing of this act"
            return replace(told[0], truly=grounds.good(row)), set(told[1])
        case Quoted():
            told = None
            if isinstance(row, Decided) and claim.source == "reason":
                told = found.reason(grounds, row)
            elif isinstance(row, Reflected) and claim.source != "reason":
                told = found.voiced(grounds, row, claim.source, voice=bool(claim.voice))
            return borne_by(told, "no words of that kind stand in the row it names")


# ---------------------------------------------------------------- the world


def _world(claim: HappenedClaim | Struck, grounds: ClaimEvidence) -> Borne:
    match claim:
        case Struck():
            for step, (row, faults) in grounds.faults.items():
                here = grounds.day(step), grounds.bell(step)
                if here == (claim.day, claim.bell) and claim.what in faults:
                    return borne_by(found.struck(grounds, row, step, claim.what))
            return "no such thing struck then"
        case HappenedClaim():
            known = grounds.incidents.get(claim.id)
            if known is None:
                return "there was no such incident"
            return _happened(claim, known, grounds)


def _happened(claim: HappenedClaim, known: Known, grounds: ClaimEvidence) -> Borne:
    links: list[ClaimLink] = []
    rows: set[int] = set()
    effect = known.incident
    for each in claim.links:
        if each.of != effect.id or each.ref not in effect.causes:
            return f"{each.ref} did not lead to {effect.id}"
        one = found.link(grounds, effect, each.ref)
        if one is None:
            return f"nothing is known of {each.ref}"
        links.append(one[0])
        rows.add(one[1])
        if each.ref in grounds.incidents:
            effect = grounds.incidents[each.ref].incident
    threads = (len(found.chain(grounds, other.incident)) for other in grounds.incidents.values())
    longest = claim.longest and len(links) == max(threads)
    told, own = found.happened(grounds, known, threaded=False, longest=longest)
    return replace(told, links=tuple(links)), rows | set(own)
