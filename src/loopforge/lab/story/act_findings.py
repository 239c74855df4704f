"""Findings: claims made from rows and registers, each with the rows that bear it out.

One function for each kind of claim about an act, words or an incident, from rows and registers
(moment_watching.py) to facts (claims.py). Who tells and who checks both use these, each with
registers of its own: the checker has read the rows again, and counts again what is counted.
"""

from typing import Any, Literal

from loopforge.core.factory_vocabulary import Decided, Incident, Reflected, Shaped
from loopforge.lab.story.claims import (
    AT_HAND,
    DEEP,
    EVENING,
    AnyClaim,
    BelievedClaim,
    Bent,
    ClaimLink,
    Gap,
    HappenedClaim,
    HeardClaim,
    MetClaim,
    Quoted,
    SilentClaim,
    Struck,
    Turned,
    Unseen,
)
from loopforge.lab.story.moment_watching import (
    KnownIncident,
    StoryWatch,
    Streak,
    leading_cause,
    sentences_of,
)
from loopforge.lab.story.number_wording import stage_direction, story_quote
from loopforge.lab.world.protocols import fill_sentence
from loopforge.lab.world.robot_perception import BAND_OF, LEVEL

Told = tuple[AnyClaim, tuple[int, ...]]
"""A claim with the rows that bear it out."""
Evening = Literal["day", "self", "resolve"]
"""What is said at the end of a day: of the day, of oneself, of what is to change."""


def unique_row_ids(*rows: int) -> tuple[int, ...]:
    """Row ids, each once, in order."""
    return tuple(sorted(set(rows)))


# ---------------------------------------------------------------- an act


def _moment(seen: StoryWatch, row: Decided) -> dict[str, Any]:
    """What every claim about an act says of it."""
    return {"row": row.n, "day": row.day, "bell": seen.bell(row.step), "who": row.who}


def did(seen: StoryWatch, row: Decided, *, brief: bool = False) -> Told:
    """What somebody did with a rule; `brief` as in StoryWatch."""
    return seen.did(row, brief=brief), unique_row_ids(row.n)


def met(seen: StoryWatch, row: Decided) -> Told | None:
    """Who was on the other end of it."""
    targets, how = row.plan.get("targets", ()), AT_HAND.get(row.outcome.did)
    if how is None or not targets or row.verdict == "contained":
        return None
    return MetClaim(**_moment(seen, row), whom=str(targets[0]), did=how), unique_row_ids(row.n)


def unseen(seen: StoryWatch, row: Decided) -> Told | None:
    """Harm that looked like work."""
    if row.outcome.good or not row.outcome.seen_good:
        return None
    return Unseen(**_moment(seen, row)), unique_row_ids(row.n)


def turned(seen: StoryWatch, row: Decided, streak: Streak | None) -> Told | None:
    """A habit broken."""
    if streak is None:
        return None
    claim = Turned(
        **_moment(seen, row),
        at=row.at,
        kept=row.outcome.kept,
        after=streak.length,
        ever=streak.pure,
    )
    return claim, unique_row_ids(row.n, streak.first, streak.last)


def silent(seen: StoryWatch, row: Decided) -> Told | None:
    """No answer came."""
    outcome = row.minded.outcome
    if outcome == "planned":
        return None
    return SilentClaim(**_moment(seen, row), at=row.at, outcome=outcome), unique_row_ids(row.n)


def gap(seen: StoryWatch, row: Decided, *, widest: bool = False) -> Told:
    """Truth, shown and believed."""
    cue = seen.scenario.rules[row.truth.rule].cue
    claim = Gap(
        **_moment(seen, row),
        true=BAND_OF[row.truth.case],
        shown=row.shown.context.get("sign", ""),
        believed=row.outcome.belief,
        error=row.outcome.belief_error,
        sign=str(row.shown.local_events[0]) if row.shown.local_events else "",
        truth=fill_sentence(cue[LEVEL[row.truth.case]], row.at),
        widest=widest,
    )
    return claim, unique_row_ids(row.n)


def heard(seen: StoryWatch, row: Decided, *, words: bool = True) -> Told | None:
    """What the Supervisor said (in its `words`, or not), and how it was taken."""
    voice = row.voice
    if voice.heard == "silence":
        return None
    claim = HeardClaim(
        **_moment(seen, row),
        by=seen.scenario.overseer,
        text=row.shown.recent_supervisor_text if words else "",
        meant=voice.meant,
        heard=voice.heard,
        harder=voice.heard_strength > voice.meant_strength,
    )
    return claim, unique_row_ids(row.n)


def bent(seen: StoryWatch, row: Decided, edit: Shaped) -> Told:
    """An edit of what was shown."""
    true, shown = sentences_of(seen.scenario, row, edit)
    claim = Bent(
        **_moment(seen, row),
        what=edit.what,
        edit=edit.kind,
        by=edit.by,
        why=edit.why,
        true=true,
        shown=shown,
    )
    return claim, unique_row_ids(row.n)


def reason(seen: StoryWatch, row: Decided) -> Told | None:
    """Why, in its own words."""
    text = story_quote(row.plan.get("narrative"))
    if not text:
        return None
    return Quoted(**_moment(seen, row), source="reason", text=text, voice=""), unique_row_ids(row.n)


# ---------------------------------------------------------------- an incident


def happened(
    seen: StoryWatch, known: KnownIncident, *, threaded: bool = True, longest: bool = False
) -> Told:
    """An incident, with the thread of what it hung on where it is to be `threaded`."""
    incident = known.incident
    links, rows = thread(seen, incident) if threaded else ((), [])
    claim = HappenedClaim(
        id=incident.id,
        day=seen.day(known.step),
        bell=seen.bell(known.step),
        kind=incident.kind,
        at=incident.at,
        who=incident.who,
        links=links,
        longest=longest,
        depth=seen.depths[incident.id] if longest else 0,
    )
    own = [int(incident.causes[0][1:])] if incident.who else []
    return claim, unique_row_ids(known.row, *rows, *own)


def thread(seen: StoryWatch, incident: Incident) -> tuple[tuple[ClaimLink, ...], list[int]]:
    """What an incident hung on, back to where it began or DEEP links, and the rows of each."""
    found = [link(seen, effect, ref) for effect, ref in chain(seen, incident)]
    links = [each for each in found if each is not None]
    return tuple(each for each, _ in links), [row for _, row in links]


def chain(seen: StoryWatch, incident: Incident) -> list[tuple[Incident, str]]:
    """What an incident hung on, the nearest DEEP links: each effect with its cause's id."""
    found: list[tuple[Incident, str]] = []
    known: KnownIncident | None = KnownIncident(incident, -1, -1)
    while known is not None and len(found) < DEEP:
        ref = leading_cause(known.incident)
        if not ref:
            break
        found.append((known.incident, ref))
        known = seen.incidents.get(ref)
    return found


def root(seen: StoryWatch, incident: Incident) -> Told | None:
    """The act that ended in the last incident of a thread, where the thread ends in one.

    Of a thread that is told in part, nothing: there is something behind what is told last.
    """
    links, _ = thread(seen, incident)
    if seen.depths[incident.id] > len(links):
        return None
    known = seen.incidents.get(links[-1].ref) if links else None
    if known is None or not known.incident.who:
        return None
    row = int(known.incident.causes[0][1:])
    return (seen.hands[row], unique_row_ids(row)) if row in seen.hands else None


def link(seen: StoryWatch, effect: Incident, ref: str) -> tuple[ClaimLink, int] | None:
    """One cause of an incident as a link, with its row; None where nothing is known of it."""
    known, number = seen.incidents.get(ref), int(ref[1:])
    hand = seen.hands.get(number) if ref[0] == "r" else None
    if hand is not None:
        what, row = hand.consequence, number
        return ClaimLink(effect.id, ref, what, hand.who, hand.at, hand.day, hand.bell), row
    if known is not None:
        cause, row, step = known.incident, known.row, known.step
        what, who, at = cause.kind, cause.who, cause.at
    elif number in seen.faults and ref[0] == "f":
        (row, faults), step = seen.faults[number], number
        who, at = "", effect.at
        what = " and ".join([each for each in faults if each.endswith(f" at {at}")] or faults)
    else:
        return None
    return ClaimLink(effect.id, ref, what, who, at, seen.day(step), seen.bell(step)), row


def struck(seen: StoryWatch, row: int, step: int, what: str) -> Told:
    """Bad luck from outside."""
    return Struck(seen.day(step), seen.bell(step), what), unique_row_ids(row)


# ---------------------------------------------------------------- an evening


def believed(row: Decided, evening: Reflected) -> Told | None:
    """What somebody made of an act."""
    found = next((each for each in evening.of if each.row == row.n), None)
    if found is None:
        return None
    claim = BelievedClaim(row.n, row.day, row.who, found.good, found.truly, found.fault)
    return claim, unique_row_ids(row.n, evening.n)


def voiced(seen: StoryWatch, evening: Reflected, source: Evening, *, voice: bool) -> Told | None:
    """What somebody said in the evening, with its voice as a stage direction."""
    fields = {"day": "summary_of_day", "self": "self_assessment", "resolve": "intended_changes"}
    text = story_quote(evening.reflection.get(fields.get(source, "")))
    if not text:
        return None
    spec = next(each for each in seen.scenario.robots if each.name == evening.who)
    aside = stage_direction(spec.voice) if voice else ""
    claim = Quoted(evening.n, evening.day, EVENING, evening.who, source, text, aside)
    return claim, unique_row_ids(evening.n, *([0] if aside else []))
