"""Findings about days and about the whole run: what was wanted and made, counted, and moved.

As in act_findings.py, one function for each kind of claim, from what was watched to facts with
their rows. What is counted, ranked or compared is counted from the acts, not from a closing row.
"""

from collections.abc import Iterable, Sequence

from loopforge.core.factory_vocabulary import Reflected, RunLastRow
from loopforge.lab.inspect.inner_life import rank_causes
from loopforge.lab.story.act_findings import Told, unique_row_ids
from loopforge.lab.story.claims import (
    EVER,
    BrokeOff,
    Brought,
    CountedClaim,
    Forked,
    Made,
    Morning,
    Moved,
    Opening,
    Ranked,
    SilentActs,
    TallyClaim,
    Tense,
)
from loopforge.lab.story.moment_watching import ActAccount, DayCounts, KnownIncident, StoryWatch

# ---------------------------------------------------------------- a day


def opening(watch: StoryWatch) -> Told:
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


def forked(watch: StoryWatch) -> Told | None:
    """Where this run parts from the one it was forked from."""
    fork = watch.first.forked
    if not fork:
        return None
    changed = tuple(f"{key}={value}" for key, value in fork["set"].items())
    return Forked(watch.day(fork["at"]), watch.bell(fork["at"]), changed), (0,)


def morning(today: DayCounts, before: DayCounts | None) -> Told | None:
    """What was wanted of a day."""
    row, quota, pressure = today.opened
    was = before.opened if before else (-1, -1, -1)
    claim = Morning(today.day, quota, pressure, quota_before=was[1], pressure_before=was[2])
    return (claim, unique_row_ids(row, *([was[0]] if before else []))) if row >= 0 else None


def made(today: DayCounts) -> Told | None:
    """What came of what was wanted."""
    row, quota = today.ended
    return (Made(today.day, today.output, quota), (row,)) if row >= 0 else None


def tense(today: DayCounts) -> Told | None:
    """The curve of a day."""
    if not today.steps:
        return None
    levels = today.curve
    peak = max(levels)
    claim = Tense(
        day=today.day,
        first=levels[0],
        peak=peak,
        peak_bell=levels.index(peak) + 1,
        last=levels[-1],
        index=today.index,
    )
    return claim, unique_row_ids(*today.steps)


def broke_off(watch: StoryWatch) -> Told | None:
    """Where the log ends before the run does."""
    last = watch.closed
    if isinstance(watch.last, RunLastRow) or last is None:
        return None
    return BrokeOff(last.n, last.day, watch.bell(last.step)), (last.n,)


def tally(day: int, days: Sequence[DayCounts]) -> Told | None:
    """The acts of these days, which are one day, or all, as far as they are over."""
    days = [past for past in days if past.ended[0] >= 0]
    if not days:
        return None
    claim = TallyClaim(
        day=day,
        acts=sum(past.acts for past in days),
        wrong=sum(past.kept + past.broke for past in days),
        kept=sum(past.kept for past in days),
        broke=sum(past.broke for past in days),
        passed=sum(past.passed for past in days),
        incidents=sum(past.incidents for past in days),
    )
    return claim, unique_row_ids(*(row for past in days for row in (past.ended[0], *past.evenings)))


def silent_acts(day: int, days: Sequence[DayCounts]) -> Told | None:
    """How many acts of these days had no answer behind them, as far as they are over."""
    days = [past for past in days if past.ended[0] >= 0]
    count, acts = sum(past.silent for past in days), sum(past.acts for past in days)
    if not count:
        return None
    return SilentActs(day, count, acts), unique_row_ids(*(past.ended[0] for past in days))


def misjudged(watch: StoryWatch, evening: Reflected) -> Told:
    """How much of the day that is watched somebody took for other than it was."""
    count, of = len(watch.misjudged(evening)), watch.today.acts[evening.who]
    claim = CountedClaim("misjudged", evening.day, evening.who, count, of)
    return claim, unique_row_ids(evening.n)


def moved(who: str, what: str, day: int, account: ActAccount) -> Told:
    """How a value moved, with all that moved it."""
    claim = Moved(who, what, day, account.before, account.after, rank_causes(account.causes))
    return claim, unique_row_ids(*account.rows)


# ---------------------------------------------------------------- the whole run


def wrong_ever(watch: StoryWatch, who: str) -> Told | None:
    """How often somebody was wrong."""
    evenings = watch.evenings.get(who, [])
    if not evenings:
        return None
    rows, *sums = zip(*evenings, strict=True)
    acts, wrong, known, silent = map(sum, sums)
    return CountedClaim("wrong", EVER, who, wrong, acts, known, silent), unique_row_ids(*rows)


def brought(watch: StoryWatch, who: str) -> Told | None:
    """Which incidents bear somebody's name; nothing where there were none at all."""
    if not watch.incidents:
        return None
    mine = [each for each in watch.incidents.values() if each.incident.who == who]
    if not mine:
        return Brought(who, 0, EVER, 1, "", ""), unique_row_ids(0)
    worst = max(mine, key=lambda each: each.incident.severity)
    at = watch.day(worst.step), watch.bell(worst.step)
    claim = Brought(who, len(mine), *at, worst.incident.kind, worst.incident.at)
    return claim, unique_row_ids(*(each.row for each in mine))


def ranked(watch: StoryWatch) -> Told | None:
    """Who was wrong least often, and who most often; nothing where all were as often."""
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
    if sums[best][0] * sums[worst][1] == sums[worst][0] * sums[best][1]:
        return None
    rows = [each[0] for who in (best, worst) for each in watch.evenings[who]]
    return Ranked(best, *sums[best], worst, *sums[worst]), unique_row_ids(*rows)


def longest(watch: StoryWatch, known: Iterable[KnownIncident]) -> KnownIncident | None:
    """The incident with the longest thread behind it, where one has two links or more."""
    found = [(watch.depths[each.incident.id], -nth, each) for nth, each in enumerate(known)]
    best = max(found, key=lambda each: each[:2], default=None)
    return best[2] if best and best[0] >= 2 else None
