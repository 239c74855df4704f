"""What the rows bear out of days and of the whole run: counted anew from the grounds alone.

The other half of bearing.py: the frame of a run, its days, its counts, and what moved in whom.
"""

from __future__ import annotations

from msgspec.structs import replace

from loopforge.lab.claims import (
    EVENING,
    EVER,
    AnyClaim,
    BrokeOff,
    Cause,
    Counted,
    Crossed,
    Forked,
    Hinge,
    Made,
    Morning,
    Moved,
    Opening,
    Ranked,
    Swung,
    Tally,
    Tense,
    Tensest,
)
from loopforge.lab.grounds import DayGround, Entry, Grounds
from loopforge.lab.wording import quote

Borne = tuple[AnyClaim, set[int]] | str
"""What the rows say, and which rows say it; or why they say nothing of the kind."""
BY_HAND = "set by the fork"

# ---------------------------------------------------------------- the frame


def run_borne(claim: Opening | Forked | BrokeOff, grounds: Grounds) -> Borne:
    """What the first row, or the last one, says of this."""
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


def day_borne(claim: Morning | Made | Tense, day: DayGround, grounds: Grounds) -> Borne:
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


def counts_borne(claim: Tally | Counted | Ranked | Tensest | Swung, grounds: Grounds) -> Borne:
    """What comes of counting again."""
    match claim:
        case Tally():
            days = [each for each in _span(claim.day, grounds) if each.ended]
            rows = {day.ended.n for day in days if day.ended}
            rows |= {row for day in days for row in day.evenings.values()}
            return Tally(
                claim.day,
                sum(day.acts.total() for day in days),
                sum(day.wrong.total() for day in days),
                sum(day.kept for day in days),
                sum(day.broke for day in days),
                sum(day.passed for day in days),
                sum(day.incidents for day in days),
            ), rows
        case Counted(what, day, who):
            if what not in ("wrong", "misjudged"):
                return f"nothing of the kind of {what!r} is counted"
            days = [each for each in _span(day, grounds) if who in each.evenings]
            counts = [(each.wrong if what == "wrong" else each.misjudged)[who] for each in days]
            of = sum(each.acts[who] for each in days)
            found = Counted(what, day, who, sum(counts), of)
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


def _span(day: int, grounds: Grounds) -> list[DayGround]:
    """One day, or all."""
    return list(grounds.days.values()) if day == EVER else [grounds.days.get(day, DayGround())]


def _swung(grounds: Grounds) -> Borne:
    lean = [(day.kept - day.broke, -n, day) for n, day in grounds.days.items() if day.ended]
    one = max(lean, key=lambda each: each[:2], default=None)
    other = min(lean, key=lambda each: (each[0], -each[1]), default=None)
    if one is None or other is None or one[0] <= 0 or other[0] >= 0:
        return "the floor did not swing"
    kept, broke = one[2], other[2]
    claim = Swung(-one[1], kept.kept, kept.broke, -other[1], broke.broke, broke.kept)
    return claim, {day.ended.n for day in (kept, broke) if day.ended}


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


def inner_borne(claim: Moved | Hinge | Crossed, grounds: Grounds) -> Borne:
    """What the ledger of somebody's inner life says of this."""
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
    now = [grounds.slept[who].get(claim.what, 0) for who in (claim.one, claim.other)]
    if not (was[0] > was[1] and now[0] < now[1]):
        return "they did not change places"
    return Crossed(claim.what, claim.one, claim.other, *was, *now), {0, ends[-1].n}
