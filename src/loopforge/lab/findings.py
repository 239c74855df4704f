"""Findings: claims made from what was watched, each with the rows that bear it out.

One function for each kind of claim, from rows and registers (watching.py) to facts (claims.py). The
checker does not use these: it finds the same facts its own way, in checking.py.
"""

from __future__ import annotations

from typing import Literal

from loopforge.core.factory import Decided, Incident, Reflected
from loopforge.lab.claims import (
    AT_HAND,
    DEEP,
    EVENING,
    AnyClaim,
    Believed,
    Bent,
    Did,
    Gap,
    Happened,
    Heard,
    Link,
    Met,
    Quoted,
    Silent,
    Struck,
    Turned,
    Unseen,
)
from loopforge.lab.protocols import told
from loopforge.lab.shaping import BAND_OF, LEVEL
from loopforge.lab.watching import Known, Moment, Watch, sentences_of
from loopforge.lab.wording import direction, quote

Told = tuple[AnyClaim, tuple[int, ...]]
"""A claim with the rows that bear it out."""
Evening = Literal["day", "self", "resolve"]
"""What is said at the end of a day: of the day, of oneself, of what is to change."""


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
    targets, how = row.plan.get("targets", ()), AT_HAND.get(row.outcome.did)
    if how is None or not targets or row.verdict == "contained":
        return None
    bell = watch.bell(row.step)
    return Met(row.n, row.day, bell, row.who, str(targets[0]), how), ids(row.n)


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


def happened(watch: Watch, known: Known, *, threaded: bool = True, longest: bool = False) -> Told:
    """An incident, with the thread of what it hung on where it is to be `threaded`."""
    incident = known.incident
    links, rows = thread(watch, incident) if threaded else ((), [])
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
    """The act that ended in the last incident of a thread, where the thread ends in one."""
    links, _ = thread(watch, incident)
    known = watch.incidents.get(links[-1].ref) if links else None
    if known is None or not known.incident.who:
        return None
    row = int(known.incident.causes[0][1:])
    hand = watch.hands[row]
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
        consequence=hand.says,
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
        return Link(effect.id, ref, hand.says, hand.who, hand.at, day, bell), number, None
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


def voiced(watch: Watch, evening: Reflected, source: Evening, *, voice: bool) -> Told | None:
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
        source,
        text,
        aside,
    )
    return claim, ids(evening.n, *([0] if aside else []))
