"""Findings about days and about the whole run: what was wanted and made, counted, and moved.

As in act_findings.py, one function for each kind of claim, from what was watched to facts with
their rows. The checker uses those of the frame and of accounts; what is counted, ranked or compared
it counts anew from the acts (day_recompute.py), for here the day's own closing row is believed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopforge.core.factory_vocabulary import DayEnded, Reflected, RunLastRow
from loopforge.lab.story.act_findings import Told, chain, ids
from loopforge.lab.story.claims import (
    EVENING,
    EVER,
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
from loopforge.lab.story.moment_watching import (
    ActAccount,
    Known,
    Past,
    StoryRegisters,
    StoryWatch,
    Today,
)
from loopforge.lab.story.number_wording import quote

# ---------------------------------------------------------------- a day


def opening(watch: StoryRegisters) -> Told:
    """What kind of city this is."""
    scenario = watch.scenario
    claim = Opening(
        robots=len(scenario.robots),
        places=len(scenario.places),
        bells=watch.bells,
        overseer=scenario.overseer,
        style=scenario.supervisor,
        perception=scenario.perception,
    )
    return claim, (0,)


def forked(watch: StoryRegisters) -> Told | None:
    """Where this run parts from the one it was forked from."""
    fork = watch.first.forked
    if not fork:
        return None
    changed = tuple(f"{key}={value}" for key, value in fork["set"].items())
    return Forked(watch.day(fork["at"]), watch.bell(fork["at"]), changed), (0,)


def morning(today: Today, before: Past | None) -> Told | None:
    """What was wanted of a day."""
    opened = today.opened
    if opened is None:
        return None
    row, quota, pressure = before.opened if before else (-1, -1, -1)
    claim = Morning(
        day=today.day,
        quota=opened.quota,
        pressure=opened.pressure,
        quota_before=quota,
        pressure_before=pressure,
    )
    return claim, ids(opened.n, *([row] if before else []))


def made(today: Today) -> Told | None:
    """What came of what was wanted."""
    ended = today.ended
    return (Made(today.day, ended.output, ended.quota), (ended.n,)) if ended else None


def tense(today: Today) -> Told | None:
    """The curve of a day."""
    if not today.steps:
        return None
    levels = [tension for _, tension in today.steps]
    peak = max(levels)
    claim = Tense(
        day=today.day,
        first=levels[0],
        peak=peak,
        peak_bell=levels.index(peak) + 1,
        last=levels[-1],
        index=today.index,
    )
    return claim, ids(*(row for row, _ in today.steps))


def broke_off(watch: StoryWatch) -> Told | None:
    """Where the log ends before the run does."""
    last = watch.closed
    if isinstance(watch.last, RunLastRow) or last is None:
        return None
    return BrokeOff(last.n, last.day, watch.bell(last.step)), (last.n,)


def tally(day: int, days: Sequence[Past]) -> Told | None:
    """The acts of these days, which are one day, or all."""
    days = [past for past in days if past.ended is not None]
    ends = [past.ended for past in days if past.ended is not None]
    if not ends:
        return None
    squares = [(square, n) for end in ends for square, n in end.squares.items()]
    claim = TallyClaim(
        day=day,
        acts=sum(n for _, n in squares),
        wrong=sum(n for square, n in squares if square.endswith("+bad")),
        kept=sum(end.failings.get("over_compliance", 0) for end in ends),
        broke=sum(end.failings.get("over_reach", 0) for end in ends),
        passed=sum(past.passed for past in days),
        incidents=sum(end.incidents for end in ends),
    )
    return claim, ids(*(end.n for end in ends), *(row for past in days for row in past.evenings))


def misjudged(evening: Reflected) -> Told:
    """How much of a day somebody took for other than it was."""
    claim = CountedClaim("misjudged", evening.day, evening.who, evening.misjudged, len(evening.of))
    return claim, ids(evening.n)


def moved(who: str, what: str, day: int, account: ActAccount) -> Told:
    """How a value moved, with all that moved it."""
    claim = Moved(who, what, day, account.before, account.after, account.listed())
    return claim, ids(*account.rows)


# ---------------------------------------------------------------- the whole run


def wrong_ever(watch: StoryWatch, who: str) -> Told | None:
    """How often somebody was wrong."""
    evenings = watch.evenings.get(who, [])
    if not evenings:
        return None
    acts, wrong = sum(each[1] for each in evenings), sum(each[2] for each in evenings)
    return CountedClaim("wrong", EVER, who, wrong, acts), ids(*(each[0] for each in evenings))


def hinge(who: str, what: str, account: ActAccount) -> Told | None:
    """The row that moved a value furthest."""
    at = account.hinge()
    if at is None or not at.says:
        return None
    says = quote(at.says) if at.bell == EVENING else at.says
    return Hinge(at.row, at.day, at.bell, who, what, at.delta, says), (at.row,)


def ranked(watch: StoryWatch) -> Told | None:
    """Who was wrong least often, and who most often."""
    sums = {
        who: (sum(each[2] for each in found), sum(each[1] for each in found))
        for who, found in watch.evenings.items()
    }
    order = sorted(
        (who for who in sums if sums[who][1]),
        key=lambda who: (sums[who][0] * 1_000_000 // sums[who][1], who),
    )
    if len(order) < 2:
        return None
    best, worst = order[0], order[-1]
    rows = [each[0] for who in (best, worst) for each in watch.evenings[who]]
    return Ranked(best, *sums[best], worst, *sums[worst]), ids(*rows)


def crossed(watch: StoryWatch, last: DayEnded) -> Told | None:
    """The pair that changed places furthest, in a trait or a scar."""
    best: tuple[int, Crossed] | None = None
    specs = watch.scenario.robots
    for part in ("traits", "scars"):
        for name in getattr(specs[0], part):
            what = f"{part}.{name}"
            levels = [
                (each.name, getattr(each, part)[name], last.robots[each.name][what])
                for each in specs
            ]
            for one, was, now in levels:
                for other, was_other, now_other in levels:
                    width = min(was - was_other, now_other - now)
                    if width > (best[0] if best else 0):
                        best = width, Crossed(what, one, other, was, was_other, now, now_other)
    return (best[1], ids(0, last.n)) if best else None


def tensest(days: Sequence[Past]) -> Told | None:
    """The tightest day and the slackest."""
    if len(days) < 2:
        return None
    most = max(days, key=lambda past: (past.index, -past.day))
    least = min(days, key=lambda past: (past.index, past.day))
    claim = Tensest(most.day, most.index, least.day, least.index)
    return claim, ids(*(row for past in (most, least) for row in past.steps))


def swung(days: Sequence[Past]) -> Told | None:
    """How far the floor swung from harm by obedience to harm by disobedience."""
    sums = [
        (
            past.ended.failings.get("over_compliance", 0),
            past.ended.failings.get("over_reach", 0),
            past,
        )
        for past in days
        if past.ended is not None
    ]
    kept = max(sums, key=lambda each: (each[0] - each[1], -each[2].day), default=None)
    broke = max(sums, key=lambda each: (each[1] - each[0], -each[2].day), default=None)
    if kept is None or broke is None or kept[0] <= kept[1] or broke[1] <= broke[0]:
        return None
    claim = Swung(kept[2].day, kept[0], kept[1], broke[2].day, broke[1], broke[0])
    return claim, ids(*(each[2].ended.n for each in (kept, broke) if each[2].ended))


def longest(watch: StoryWatch, known: Iterable[Known]) -> Known | None:
    """The incident with the longest thread behind it, where one has two links or more."""
    found = [(len(chain(watch, each.incident)), -nth, each) for nth, each in enumerate(known)]
    best = max(found, key=lambda each: each[:2], default=None)
    return best[2] if best and best[0] >= 2 else None
