"""What the rows bear out: for each claim, the same claim made anew from the grounds alone.

`borne(claim, grounds)` looks only at what a claim is about (which row, which day, whose, what), and
says what the rows say of that, with the rows it rests on; or, in words, why there is nothing of the
kind. The checker compares. Nothing here is shared with the teller's own findings.
"""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from loopforge.core.factory import Decided, Incident, Reflected
from loopforge.lab.claims import (
    EVENING,
    EVER,
    AnyClaim,
    Believed,
    Bent,
    BrokeOff,
    Cause,
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
    Tally,
    Tense,
    Tensest,
    Turned,
    Unseen,
)
from loopforge.lab.grounds import DayGround, Entry, Grounds
from loopforge.lab.shaping import BAND_OF
from loopforge.lab.wording import direction, quote

Borne = tuple[AnyClaim, set[int]] | str
"""What the rows say, and which rows say it; or why they say nothing of the kind."""
BY_HAND = "set by the fork"
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
            return _run(claim, grounds)
        case Morning() | Made() | Tense():
            day = grounds.days.get(claim.day)
            return _day(claim, day, grounds) if day else "there is no such day"
        case Tally() | Counted() | Ranked() | Tensest():
            return _counts(claim, grounds)
        case Moved() | Hinge() | Crossed():
            return _inner(claim, grounds)
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
            targets, did = row.plan.get("targets", ()), row.outcome.did
            if did not in ("confront", "help") or not targets:
                return "nobody was spoken up to or helped"
            return Met(row.n, row.day, bell, row.who, str(targets[0]), did), only  # type: ignore[arg-type]
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
        text, bell = quote(row.reflection.get(fields[claim.source])), EVENING
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
    return min(most, 4)


# ---------------------------------------------------------------- the frame


def _run(claim: Opening | Forked | BrokeOff, grounds: Grounds) -> Borne:
    scenario = grounds.scenario
    match claim:
        case Opening():
            robots, places = len(scenario.robots), len(scenario.places)
            style, seen = scenario.supervisor, scenario.perception
            return Opening(robots, places, grounds.bells, scenario.overseer, style, seen), {0}
        case Forked():
            fork = grounds.first.forked
            if not fork:
                return "this run is no fork"
            changed = tuple(f"{key}={value}" for key, value in fork["set"].items())
            return Forked(fork["at"] // grounds.bells, grounds.bell(fork["at"]), changed), {0}
        case BrokeOff():
            if grounds.ended or not grounds.days:
                return "the log is whole"
            day = max(number for number, found in grounds.days.items() if found.steps)
            row, step = grounds.days[day].last
            return BrokeOff(row, day, grounds.bell(step)), {row}


def _day(claim: Morning | Made | Tense, day: DayGround, grounds: Grounds) -> Borne:
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


def _counts(claim: Tally | Counted | Ranked | Tensest, grounds: Grounds) -> Borne:
    match claim:
        case Tally():
            days = _span(claim.day, grounds)
            rows = {day.ended.n for day in days if day.ended}
            rows |= {row for day in days for row in day.evenings.values()}
            return Tally(
                claim.day,
                sum(day.acts.total() for day in days),
                sum(day.wrong.total() for day in days),
                sum(day.kept for day in days),
                sum(day.broke for day in days),
                sum(day.misjudged.total() for day in days),
                sum(day.incidents for day in days),
            ), rows
        case Counted(what, day, who):
            days = [each for each in _span(day, grounds) if who in each.evenings]
            counts = [(each.wrong if what == "wrong" else each.misjudged)[who] for each in days]
            of = sum(each.acts[who] for each in days)
            found = Counted(what, day, who, sum(counts), of)
            return found, {each.evenings[who] for each in days}
        case Ranked():
            return _ranked(grounds)
        case Tensest():
            days_ = [(found.index, number) for number, found in grounds.days.items() if found.steps]
            if len(days_) < 2:
                return "there are no two days to compare"
            most = min(days_, key=lambda each: (-each[0], each[1]))
            least = min(days_)
            both = (grounds.days[most[1]], grounds.days[least[1]])
            claimed = Tensest(most[1], most[0], least[1], least[0])
            return claimed, {row for found in both for row, _ in found.steps}


def _span(day: int, grounds: Grounds) -> list[DayGround]:
    """One day, or all, as far as they ended."""
    days = grounds.days.values() if day == EVER else [grounds.days.get(day, DayGround())]
    return [found for found in days if found.ended]


def _ranked(grounds: Grounds) -> Borne:
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


def _inner(claim: Moved | Hinge | Crossed, grounds: Grounds) -> Borne:
    match claim:
        case Moved():
            entries = grounds.ledger[claim.who, claim.what]
            if claim.day != EVER:
                entries = [entry for entry in entries if entry.day == claim.day]
            return _moved(claim, entries, grounds)
        case Hinge():
            return _hinge(claim, grounds.ledger[claim.who, claim.what])
        case Crossed():
            return _crossed(claim, grounds)


def _moved(claim: Moved, entries: list[Entry], grounds: Grounds) -> Borne:
    if not entries:
        return "it did not move"
    causes: dict[str, list[int]] = {}
    stood = entries[0].change.before
    for entry in entries:
        change = entry.change
        if change.before != stood:
            if not grounds.first.forked:
                return "the ledger has a hole"
            causes.setdefault(BY_HAND, []).append(change.before - stood)
        causes.setdefault(change.rule, []).append(change.after - change.before)
        stood = change.after
    listed = [Cause(rule, len(each), sum(each)) for rule, each in causes.items()]
    listed.sort(key=lambda each: (-abs(each.delta), each.rule))
    found = replace(claim, before=entries[0].change.before, after=stood, causes=tuple(listed))
    return found, {entry.row for entry in entries}


def _hinge(claim: Hinge, entries: list[Entry]) -> Borne:
    if not entries:
        return "it did not move"
    up = entries[-1].change.after > entries[0].change.before
    sums: dict[int, int] = {}
    for entry in entries:
        sums[entry.row] = sums.get(entry.row, 0) + entry.change.after - entry.change.before
    row = max(sums, key=lambda each: (sums[each] if up else -sums[each], -each))
    entry = next(each for each in entries if each.row == row)
    told = quote(entry.says) if entry.bell == EVENING else entry.says
    delta = sums[row]
    return Hinge(row, entry.day, entry.bell, claim.who, claim.what, delta, told), {row}


def _crossed(claim: Crossed, grounds: Grounds) -> Borne:
    ends = [day.ended for day in grounds.days.values() if day.ended]
    specs = {each.name: each for each in grounds.scenario.robots}
    part, _, name = claim.what.partition(".")
    if not ends or part not in ("traits", "scars") or not {claim.one, claim.other} <= set(specs):
        return "there is nothing of the kind"
    was = [getattr(specs[who], part).get(name, 0) for who in (claim.one, claim.other)]
    now = [ends[-1].robots[who].get(claim.what, 0) for who in (claim.one, claim.other)]
    if not (was[0] > was[1] and now[0] < now[1]):
        return "they did not change places"
    return Crossed(claim.what, claim.one, claim.other, *was, *now), {0, ends[-1].n}
