"""What the rows bear out: for each claim, the same claim made anew from the grounds alone.

`borne(claim, grounds)` looks only at what a claim is about (which row, which day, whose, what), and
says what the rows say of that, with the rows it rests on; or, in words, why there is nothing of the
kind. The checker compares. Nothing here is shared with the teller's own findings.
"""

from __future__ import annotations

from typing import assert_never

from loopforge.core.factory import Decided, Incident, Reflected
from loopforge.lab.claims import (
    AT_HAND,
    DEEP,
    EVENING,
    AnyClaim,
    Believed,
    Bent,
    BrokeOff,
    Counted,
    Crossed,
    Did,
    Forked,
    Gap,
    Happened,
    Heard,
    Hinge,
    Link,
    Made,
    Met,
    Morning,
    Moved,
    Opening,
    Quoted,
    Ranked,
    Silent,
    Struck,
    Swung,
    Tally,
    Tense,
    Tensest,
    Turned,
    Unseen,
)
from loopforge.lab.grounds import Grounds
from loopforge.lab.recount import Borne, counts_borne, day_borne, inner_borne, run_borne
from loopforge.lab.shaping import BAND_OF
from loopforge.lab.wording import direction, quote

NO_ACT = "no decision stands in the row it names"


def borne(claim: AnyClaim, grounds: Grounds) -> Borne:
    """What the rows say of what this claim is about."""
    match claim:
        case Did() | Met() | Unseen() | Turned() | Silent() | Gap() | Heard() | Bent():
            row = grounds.rows.get(claim.row)
            return _act(claim, row, grounds) if isinstance(row, Decided) else NO_ACT
        case Believed() | Quoted():
            return _said(claim, grounds)
        case Happened() | Struck():
            return _world(claim, grounds)
        case Opening() | Forked() | BrokeOff():
            return run_borne(claim, grounds)
        case Morning() | Made() | Tense():
            day = grounds.days.get(claim.day)
            return day_borne(claim, day, grounds) if day else "there is no such day"
        case Tally() | Counted() | Ranked() | Tensest() | Swung():
            return counts_borne(claim, grounds)
        case Moved() | Hinge() | Crossed():
            return inner_borne(claim, grounds)
        case _:
            assert_never(claim)


# ---------------------------------------------------------------- acts

Act = Did | Met | Unseen | Turned | Silent | Gap | Heard | Bent


def _act(claim: Act, row: Decided, grounds: Grounds) -> Borne:
    bell, rule, only = grounds.bell(row.step), grounds.rules[row.truth.rule], {row.n}
    kept, good = grounds.kept(row), grounds.good(row)
    match claim:
        case Did():
            said = row.outcome.consequence
            if (kept, good) != (row.outcome.kept, row.outcome.good):
                return "the row's own outcome does not fit its truth"
            return Did(
                row.n, row.day, bell, row.who, row.at, rule.title, rule.text, kept, good, said
            ), only
        case Met():
            targets, did = row.plan.get("targets", ()), AT_HAND.get(row.outcome.did)
            if did is None or not targets:
                return "nobody was spoken up to or helped"
            return Met(row.n, row.day, bell, row.who, str(targets[0]), did), only
        case Unseen():
            if good or not row.outcome.seen_good:
                return "it was good" if good else "it was seen that it was bad"
            return Unseen(row.n, row.day, bell, row.who), only
        case Turned():
            return _turned(row, kept, bell, grounds)
        case Silent():
            if row.minded.outcome == "planned":
                return "an answer came"
            return Silent(row.n, row.day, bell, row.who, row.at, row.minded.outcome), only
        case Gap():
            return _gap(claim, row, bell, grounds), only
        case Heard():
            voice, text = row.voice, row.shown.recent_supervisor_text
            by, harder = grounds.scenario.overseer, voice.heard_strength > voice.meant_strength
            if voice.heard == "silence":
                return "nothing was heard"
            meant, heard = voice.meant, voice.heard
            return Heard(row.n, row.day, bell, row.who, by, text, meant, heard, harder), only
        case Bent():
            return _bent(claim, row, bell, grounds)


def _turned(row: Decided, kept: bool, bell: int, grounds: Grounds) -> Borne:
    rows, marks = grounds.past[row.who]
    at = rows.index(row.n)
    start = at
    while start and bool(marks[start - 1]) != kept:
        start -= 1
    if start == at:
        return "nothing turned: the act before went the same way"
    after = at - start
    claim = Turned(row.n, row.day, bell, row.who, row.at, kept, after, ever=start == 0)
    return claim, {row.n, rows[start], rows[at - 1]}


def _gap(claim: Gap, row: Decided, bell: int, grounds: Grounds) -> Gap:
    cue = grounds.rules[row.truth.rule].cue[_third(row.truth.case)]
    events = row.shown.local_events
    return Gap(
        row=row.n,
        day=row.day,
        bell=bell,
        who=row.who,
        true=BAND_OF[row.truth.case],
        shown=row.shown.context.get("sign", ""),
        believed=row.outcome.belief,
        error=row.outcome.belief_error,
        sign=str(events[0]) if events else "",
        truth=_placed(cue, row),
        widest=claim.widest and grounds.widest[1] == row.n,
    )


def _third(value: int) -> int:
    """Which of three sentences a value from 0 to 1000 stands for: against, little, for."""
    return 0 if value < 400 else 1 if value < 600 else 2


def _placed(sentence: str, row: Decided) -> str:
    return sentence.replace("{place}", row.at).replace("{who}", "")


def _bent(claim: Bent, row: Decided, bell: int, grounds: Grounds) -> Borne:
    rule = grounds.rules[row.truth.rule]
    mine = (claim.what, claim.edit, claim.by, claim.why)
    for edit in row.edits:
        if (edit.what, edit.kind, edit.by, edit.why) != mine:
            continue
        three = rule.sign if edit.what == "sign" else rule.cue
        ends = [
            "" if not band else _placed(three[_third(BAND_OF.index(band))], row)
            for band in (edit.true, edit.shown)
        ]
        if edit.kind == "withheld":
            ends[1] = ""
        found = Bent(row.n, row.day, bell, row.who, *mine, *ends)
        if found == claim:
            return found, {row.n}
    return "no such edit was made of what it was shown"


# ---------------------------------------------------------------- words and evenings


def _said(claim: Believed | Quoted, grounds: Grounds) -> Borne:
    match claim:
        case Believed():
            act = grounds.rows.get(claim.row)
            day = grounds.days.get(claim.day)
            evening = grounds.rows.get(day.evenings.get(claim.who, -1)) if day else None
            if not isinstance(act, Decided) or not isinstance(evening, Reflected):
                return "no act of that evening stands in the rows it names"
            found = next((each for each in evening.of if each.row == act.n), None)
            if found is None:
                return "that evening says nothing of this act"
            good, fault = found.good, found.fault
            truly = grounds.good(act)
            return Believed(act.n, act.day, act.who, good, truly, fault), {act.n, evening.n}
        case Quoted():
            return _quoted(claim, grounds)


def _quoted(claim: Quoted, grounds: Grounds) -> Borne:
    row = grounds.rows.get(claim.row)
    if isinstance(row, Decided) and claim.source == "reason":
        text, bell = quote(row.plan.get("narrative")), grounds.bell(row.step)
    elif isinstance(row, Reflected) and claim.source != "reason":
        fields = {"day": "summary_of_day", "self": "self_assessment", "resolve": "intended_changes"}
        text, bell = quote(row.reflection.get(fields.get(claim.source, ""))), EVENING
    else:
        return "no words of that kind stand in the row it names"
    voices = {each.name: direction(each.voice) for each in grounds.scenario.robots}
    voice = voices[row.who] if claim.voice else ""
    found = Quoted(row.n, row.day, bell, row.who, claim.source, text, voice)
    return found, {row.n, 0} if voice else {row.n}


# ---------------------------------------------------------------- the world


def _world(claim: Happened | Struck, grounds: Grounds) -> Borne:
    match claim:
        case Struck():
            for step, (row, faults) in grounds.faults.items():
                here = step // grounds.bells, grounds.bell(step)
                if here == (claim.day, claim.bell) and claim.what in faults:
                    return claim, {row}
            return "no such thing struck then"
        case Happened():
            known = grounds.incidents.get(claim.id)
            if known is None:
                return "there was no such incident"
            return _happened(claim, *known, grounds)


def _happened(claim: Happened, incident: Incident, row: int, step: int, grounds: Grounds) -> Borne:
    links: list[Link] = []
    rows = {row}
    if incident.who:
        rows.add(int(incident.causes[0].removeprefix("r")))
    effect = incident
    for link in claim.links:
        if link.of != effect.id or link.ref not in effect.causes:
            return f"{link.ref} did not lead to {effect.id}"
        found = _link(effect, link.ref, grounds)
        if found is None:
            return f"nothing is known of {link.ref}"
        links.append(found[0])
        rows.add(found[1])
        if link.ref in grounds.incidents:
            effect = grounds.incidents[link.ref][0]
    return Happened(
        incident.id,
        step // grounds.bells,
        grounds.bell(step),
        incident.kind,
        incident.at,
        incident.who,
        tuple(links),
        longest=claim.longest and len(links) == _longest(grounds, len(links)),
    ), rows


def _link(effect: Incident, ref: str, grounds: Grounds) -> tuple[Link, int] | None:
    what = who = ""
    if ref in grounds.incidents:
        cause, row, step = grounds.incidents[ref]
        what, who, at = cause.kind, cause.who, cause.at
    elif ref.startswith("f"):
        step, at = int(ref[1:]), effect.at
        row, faults = grounds.faults.get(step, (-1, ()))
        here = [each for each in faults if each.endswith(f" at {at}")]
        what = " and ".join(here or faults)
    else:
        act = grounds.rows.get(int(ref[1:]))
        if not isinstance(act, Decided):
            return None
        row, step, who, at = act.n, act.step, act.who, act.at
        what = act.outcome.consequence
    day, bell = step // grounds.bells, grounds.bell(step)
    return Link(effect.id, ref, what, who, at, day, bell), row


def _longest(grounds: Grounds, least: int) -> int:
    """The longest thread of causes in the run, as far as one of this length goes."""
    most = 0
    for incident, _, _ in grounds.incidents.values():
        length, now = 0, incident
        while length <= least:
            others = [ref for ref in now.causes if not (now.who and ref == now.causes[0])]
            if not others:
                break
            length += 1
            onward = [grounds.incidents[ref][0] for ref in others if ref in grounds.incidents]
            if not onward:
                break
            now = onward[0]
        most = max(most, length)
    return min(most, DEEP)
