"""Findings: claims made from what was watched, each with the rows that bear it out.

One function for each kind of claim, from rows and registers (watching.py) to facts (claims.py). The
checker does not use these: it finds the same facts its own way, in checking.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loopforge.core.factory import DayEnded, Decided, Incident, Reflected
from loopforge.lab.claims import (
    EVENING,
    EVER,
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
    Tally,
    Tense,
    Tensest,
    Turned,
    Unseen,
)
from loopforge.lab.protocols import told
from loopforge.lab.shaping import BAND_OF, LEVEL
from loopforge.lab.watching import Account, Known, Moment, Past, Today, Watch, sentences_of
from loopforge.lab.wording import direction, quote

Told = tuple[AnyClaim, tuple[int, ...]]
"""A claim with the rows that bear it out."""
DEEP = 4
"""Links of a thread of causes that are told."""


def ids(*rows: int) -> tuple[int, ...]:
    """Row ids, each once, in order."""
    return tuple(sorted(set(rows)))


# ---------------------------------------------------------------- an act


def did(watch: Watch, row: Decided) -> Told:
    """What somebody did with a rule."""
    rule, outcome = watch.scenario.rules[row.truth.rule], row.outcome
    claim = Did(
        row=row.n,
        day=row.day,
        bell=watch.bell(row.step),
        who=row.who,
        at=row.at,
        title=rule.title,
        text=rule.text,
        kept=outcome.kept,
        good=outcome.good,
        consequence=outcome.consequence,
    )
    return claim, ids(row.n)


def met(watch: Watch, row: Decided) -> Told | None:
    """Who was on the other end of it."""
    targets, how = row.plan.get("targets", ()), row.outcome.did
    if how not in ("confront", "help") or not targets or row.verdict == "contained":
        return None
    bell = watch.bell(row.step)
    return Met(row.n, row.day, bell, row.who, str(targets[0]), how), ids(row.n)  # type: ignore[arg-type]


def unseen(watch: Watch, row: Decided) -> Told:
    """Harm that looked like work."""
    return Unseen(row.n, row.day, watch.bell(row.step), row.who), ids(row.n)


def turned(watch: Watch, moment: Moment) -> Told:
    """A habit broken."""
    row, streak = moment.row, moment.streak
    assert streak is not None
    claim = Turned(
        row=row.n,
        day=row.day,
        bell=watch.bell(row.step),
        who=row.who,
        at=row.at,
        kept=row.outcome.kept,
        after=streak.length,
        ever=streak.pure,
    )
    return claim, ids(row.n, streak.first, streak.last)


def silent(watch: Watch, row: Decided) -> Told:
    """No answer came."""
    claim = Silent(
        row=row.n,
        day=row.day,
        bell=watch.bell(row.step),
        who=row.who,
        at=row.at,
        outcome=row.minded.outcome,
    )
    return claim, ids(row.n)


def gap(watch: Watch, row: Decided, *, widest: bool = False) -> Told:
    """Truth, shown and believed."""
    cue = watch.scenario.rules[row.truth.rule].cue
    claim = Gap(
        row=row.n,
        day=row.day,
        bell=watch.bell(row.step),
        who=row.who,
        true=BAND_OF[row.truth.case],
        shown=row.shown.context.get("sign", ""),
        believed=row.outcome.belief,
        error=row.outcome.belief_error,
        sign=str(row.shown.local_events[0]) if row.shown.local_events else "",
        truth=told(cue[LEVEL[row.truth.case]], row.at),
        widest=widest,
    )
    return claim, ids(row.n)


def heard(watch: Watch, row: Decided) -> Told:
    """What the Supervisor said, and how it was taken."""
    voice = row.voice
    claim = Heard(
        row=row.n,
        day=row.day,
        bell=watch.bell(row.step),
        who=row.who,
        by=watch.scenario.overseer,
        text=row.shown.recent_supervisor_text,
        meant=voice.meant,
        heard=voice.heard,
        harder=voice.heard_strength > voice.meant_strength,
    )
    return claim, ids(row.n)


def bent(watch: Watch, moment: Moment) -> Told:
    """An edit of what was shown."""
    row, edit = moment.row, moment.edit
    assert edit is not None
    true, shown = sentences_of(watch.scenario, row, edit)
    claim = Bent(
        row=row.n,
        day=row.day,
        bell=watch.bell(row.step),
        who=row.who,
        what=edit.what,
        edit=edit.kind,
        by=edit.by,
        why=edit.why,
        true=true,
        shown=shown,
    )
    return claim, ids(row.n)


def reason(watch: Watch, row: Decided) -> Told | None:
    """Why, in its own words."""
    text = quote(row.plan.get("narrative"))
    if not text:
        return None
    bell = watch.bell(row.step)
    claim = Quoted(row.n, row.day, bell, row.who, "reason", text, "")
    return claim, ids(row.n)


# ---------------------------------------------------------------- an incident


def happened(watch: Watch, known: Known, *, longest: bool = False) -> Told:
    """An incident with the thread of what it hung on."""
    incident = known.incident
    links, rows = thread(watch, incident)
    claim = Happened(
        id=incident.id,
        day=watch.day(known.step),
        bell=watch.bell(known.step),
        kind=incident.kind,
        at=incident.at,
        who=incident.who,
        links=links,
        longest=longest,
    )
    own = [int(incident.causes[0][1:])] if incident.who else []
    return claim, ids(known.row, *rows, *own)


def thread(watch: Watch, incident: Incident) -> tuple[tuple[Link, ...], list[int]]:
    """What an incident hung on, back to where it began, and the rows of each link.

    An incident's own act is no link of it; among several causes incidents go first: they lead on.
    """
    links: list[Link] = []
    rows: list[int] = []
    now: Incident | None = incident
    while now is not None and len(links) < DEEP:
        others = [ref for ref in now.causes if not _own(now, ref)]
        refs = sorted(others, key=lambda ref: "irf".find(ref[0]))
        link, row, now = _link(watch, now, refs[0]) if refs else (None, -1, None)
        if link is not None:
            links.append(link)
            rows.append(row)
    return tuple(links), rows


def root(watch: Watch, incident: Incident) -> Told | None:
    """What somebody did that the thread of an incident ends in, if it ends in an act."""
    links, _ = thread(watch, incident)
    last = links[-1].ref if links else ""
    if last.startswith("i") and watch.incidents[last].incident.who:
        last = watch.incidents[last].incident.causes[0]
    if not last.startswith("r"):
        return None
    row, hand = int(last[1:]), watch.hands[int(last[1:])]
    rule = watch.scenario.rules[hand.rule]
    claim = Did(
        row=row,
        day=watch.day(hand.step),
        bell=watch.bell(hand.step),
        who=hand.who,
        at=hand.at,
        title=rule.title,
        text=rule.text,
        kept=hand.kept,
        good=False,
        consequence=told(rule.kept_bad if hand.kept else rule.broke_bad, hand.at, hand.who),
    )
    return claim, ids(row)


def _own(incident: Incident, ref: str) -> bool:
    """Whether this cause is the very act that ended in the incident."""
    return bool(incident.who) and ref == incident.causes[0]


def _link(watch: Watch, effect: Incident, ref: str) -> tuple[Link | None, int, Incident | None]:
    """One cause as a link, its row, and the incident to go on from, if it is one."""
    number = int(ref[1:])
    if ref[0] == "i":
        known = watch.incidents[ref]
        cause = known.incident
        day, bell = watch.day(known.step), watch.bell(known.step)
        return Link(effect.id, ref, cause.kind, cause.who, cause.at, day, bell), known.row, cause
    if ref[0] == "r":
        hand = watch.hands[number]
        day, bell = watch.day(hand.step), watch.bell(hand.step)
        return Link(effect.id, ref, "", hand.who, hand.at, day, bell), number, None
    row, faults = watch.faults[number]
    what = " and ".join(each for each in faults if each.endswith(f" at {effect.at}"))
    day, bell = watch.day(number), watch.bell(number)
    return Link(effect.id, ref, what or " and ".join(faults), "", effect.at, day, bell), row, None


def struck(watch: Watch, row: int, step: int, what: str) -> Told:
    """Bad luck from outside."""
    return Struck(watch.day(step), watch.bell(step), what), ids(row)


# ---------------------------------------------------------------- an evening


def believed(row: Decided, evening: Reflected) -> Told | None:
    """What somebody made of an act."""
    found = next((each for each in evening.of if each.row == row.n), None)
    if found is None:
        return None
    claim = Believed(row.n, row.day, row.who, found.good, found.truly, found.fault)
    return claim, ids(row.n, evening.n)


def voiced(watch: Watch, evening: Reflected, source: str, *, voice: bool) -> Told | None:
    """What somebody said in the evening, with its voice as a stage direction."""
    fields = {"day": "summary_of_day", "self": "self_assessment", "resolve": "intended_changes"}
    text = quote(evening.reflection.get(fields[source]))
    if not text:
        return None
    spec = next(each for each in watch.scenario.robots if each.name == evening.who)
    aside = direction(spec.voice) if voice else ""
    claim = Quoted(
        evening.n,
        evening.day,
        EVENING,
        evening.who,
        source,  # type: ignore[arg-type]
        text,
        aside,
    )
    return claim, ids(evening.n, *([0] if aside else []))


# ---------------------------------------------------------------- a day


def opening(watch: Watch) -> Told:
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


def forked(watch: Watch, day: int) -> Told | None:
    """Where this run parts from the one it was forked from, if it does so on this day."""
    fork = watch.first.forked
    if not fork or watch.day(fork["at"]) != day:
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


def broke_off(watch: Watch, today: Today) -> Told | None:
    """Where the log ends before the run does."""
    last = today.closed
    if today.ended is not None or last is None:
        return None
    return BrokeOff(last.n, today.day, watch.bell(last.step)), (last.n,)


def tally(day: int, days: Sequence[Past]) -> Told | None:
    """The acts of these days, which are one day, or all."""
    ends = [past.ended for past in days if past.ended is not None]
    if not ends:
        return None
    squares = [(square, n) for end in ends for square, n in end.squares.items()]
    claim = Tally(
        day=day,
        acts=sum(n for _, n in squares),
        wrong=sum(n for square, n in squares if square.endswith("+bad")),
        kept=sum(end.failings.get("over_compliance", 0) for end in ends),
        broke=sum(end.failings.get("over_reach", 0) for end in ends),
        misjudged=sum(past.misjudged for past in days),
        incidents=sum(end.incidents for end in ends),
    )
    return claim, ids(*(end.n for end in ends), *(row for past in days for row in past.evenings))


def misjudged(evening: Reflected) -> Told:
    """How much of a day somebody took for other than it was."""
    claim = Counted("misjudged", evening.day, evening.who, evening.misjudged, len(evening.of))
    return claim, ids(evening.n)


def moved(who: str, what: str, day: int, account: Account) -> Told:
    """How a value moved, with all that moved it."""
    claim = Moved(who, what, day, account.before, account.after, account.listed())
    return claim, ids(*account.rows)


# ---------------------------------------------------------------- the whole run


def wrong_ever(watch: Watch, who: str) -> Told | None:
    """How often somebody was wrong."""
    evenings = watch.evenings.get(who, [])
    if not evenings:
        return None
    acts, wrong = sum(each[1] for each in evenings), sum(each[2] for each in evenings)
    return Counted("wrong", EVER, who, wrong, acts), ids(*(each[0] for each in evenings))


def hinge(who: str, what: str, account: Account) -> Told | None:
    """The row that moved a value furthest."""
    at = account.hinge()
    if at is None or not at.says:
        return None
    says = quote(at.says) if at.bell == EVENING else at.says
    return Hinge(at.row, at.day, at.bell, who, what, at.delta, says), (at.row,)


def ranked(watch: Watch) -> Told | None:
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


def crossed(watch: Watch, last: DayEnded) -> Told | None:
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


def longest(watch: Watch, known: Iterable[Known]) -> Known | None:
    """The incident with the longest thread behind it, where one has two links or more."""
    found = [(len(thread(watch, each.incident)[0]), -nth, each) for nth, each in enumerate(known)]
    best = max(found, key=lambda each: each[:2], default=None)
    return best[2] if best and best[0] >= 2 else None
