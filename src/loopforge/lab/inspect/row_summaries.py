"""A run's rows in short: what a line through time, a page of steps, or a life needs of each.

Rows are long; most of a row is of no use to most questions. Here stand smaller shapes of the same
rows, decoded straight from a log's bytes (msgspec passes over what a shape does not name), and the
`StepMoment` that a page is made of.

Knows no file and no page; which bytes to decode is said by run_reader.py.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct

from loopforge.core.factory_vocabulary import Change, Incident, Message, SupervisorVoice
from loopforge.errors import BadRun
from loopforge.lab.run.answered_decisions import AnsweringMind
from loopforge.lab.run.run_log import body_of
from loopforge.lab.world.supervisor_voice import said_in

T = TypeVar("T")


def shortly(line: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """A line as a smaller shape. Raises BadRun."""
    try:
        return decoder.decode(body_of(line)[0])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadRun(f"this is no row of a run: {error}") from error


# ---------------------------------------------------------------- counted


class Right(Struct, frozen=True):
    """Which rule was in force, and whether it was right here."""

    rule: str
    right: bool


class Fell(Struct, frozen=True):
    """Where an act fell."""

    square: str
    failing: str
    belief_error: int


class CountedAct(Struct, frozen=True, tag_field="kind", tag="act"):
    """A decision, to be counted."""

    n: int
    step: int
    role: str
    truth: Right
    minded: AnsweringMind
    outcome: Fell


class ClosedStep(Struct, frozen=True, tag_field="kind", tag="step"):
    """A step, to be counted."""

    n: int
    day: int
    step: int
    incidents: tuple[Incident, ...]
    tension: int


class Night(Struct, frozen=True, tag_field="kind", tag="reflection"):
    """A robot's evening."""

    n: int
    step: int
    who: str
    minded: AnsweringMind
    inner: tuple[Change, ...]


class ClosedDay(Struct, frozen=True, tag_field="kind", tag="day"):
    """A day that is over."""

    n: int
    day: int


class Head(Struct, frozen=True, tag_field="kind", tag="run"):
    """The first row."""

    n: int


class Foot(Struct, frozen=True, tag_field="kind", tag="end"):
    """The last row."""

    n: int
    why: str


Counted = CountedAct | ClosedStep | Night | ClosedDay | Head | Foot
counted = msgspec.json.Decoder(Counted)

# ---------------------------------------------------------------- lived


class LivedAct(Struct, frozen=True, tag_field="kind", tag="act"):
    """A decision, for where it fell, and what it changed in whom."""

    n: int
    step: int
    who: str
    outcome: Fell
    inner: tuple[Change, ...]


class LivedStep(Struct, frozen=True, tag_field="kind", tag="step"):
    """A step, for where everybody was and how charged."""

    n: int
    step: int
    robots: dict[str, tuple[str, int]]


Lived = LivedAct | LivedStep | Night | ClosedDay | Head | Foot
lived = msgspec.json.Decoder(Lived)

# ---------------------------------------------------------------- weathered


class WornAct(Struct, frozen=True, tag_field="kind", tag="act"):
    """A decision; of no use here."""


class WornNight(Struct, frozen=True, tag_field="kind", tag="reflection"):
    """A robot's evening; of no use here."""


class WornStep(Struct, frozen=True, tag_field="kind", tag="step"):
    """A step, for how each place stood."""

    places: dict[str, tuple[int, ...]]
    incidents: tuple[Incident, ...]


Worn = WornAct | WornStep | WornNight | ClosedDay | Head | Foot
worn = msgspec.json.Decoder(Worn)

# ---------------------------------------------------------------- shown on a page


class Felt(Struct, frozen=True):
    """What a mind was shown of itself."""

    emotions: dict[str, str] = {}


class Came(Struct, frozen=True):
    """What came of an act."""

    did: str
    square: str
    failing: str
    consequence: str
    incident: str
    belief: str
    belief_error: int


class Spoke(Struct, frozen=True):
    """What of a plan says something to everybody."""

    meta: dict[str, str] = {}


_spoke = msgspec.json.Decoder(Spoke)


class SeenAct(Struct, frozen=True, tag_field="kind", tag="act"):
    """A decision, for a page of steps."""

    n: int
    who: str
    at: str
    truth: Right
    shown: Felt
    edits: tuple[msgspec.Raw, ...]
    plan: msgspec.Raw
    outcome: Came
    inner: tuple[msgspec.Raw, ...]
    voice: SupervisorVoice


class SeenStep(Struct, frozen=True, tag_field="kind", tag="step"):
    """A step, for a page of steps."""

    n: int
    day: int
    step: int
    places: dict[str, tuple[int, ...]]
    robots: dict[str, tuple[str, int]]
    incidents: tuple[Incident, ...]
    faults: tuple[str, ...]
    pressure: int
    output: int
    quota: int
    said: str
    message: Message
    strength: int
    tension: int


Seen = SeenAct | SeenStep | Night | ClosedDay | Head | Foot
seen = msgspec.json.Decoder(Seen)


class Brief(Struct, frozen=True, array_like=True):
    """A step in four numbers: [tension, incidents, over-compliances, over-reaches of the floor]."""

    tension: int
    incidents: int
    over_compliance: int
    over_reach: int


class ActSummary(Struct, frozen=True, kw_only=True):
    """What one mind did in one step, in short. `feels` is what it was shown of its feelings."""

    row: int
    who: str
    at: str
    rule: str
    right: bool
    mode: str
    did: str
    square: str
    failing: str
    consequence: str
    belief: str
    belief_error: int
    incident: str
    edits: int
    changes: int
    feels: dict[str, str]
    voice: SupervisorVoice


class StepMoment(Struct, frozen=True, kw_only=True):
    """One closed step: what everybody decided and did in it, and the world as it stands after it.

    `still` are the places that stand still. `before`, `message` and `strength` are what hung in the
    air of the Supervisor's words when minds decided; `said` is what it said in this step, for the
    next.
    """

    step: int
    day: int
    tension: int
    pressure: int
    output: int
    quota: int
    places: dict[str, tuple[int, ...]]
    robots: dict[str, tuple[str, int]]
    still: tuple[str, ...]
    incidents: tuple[Incident, ...]
    faults: tuple[str, ...]
    before: str
    said: str
    message: Message
    strength: int
    deeds: tuple[ActSummary, ...]


def deed_of(act: SeenAct) -> ActSummary:
    """A decision in short."""
    return ActSummary(
        row=act.n,
        who=act.who,
        at=act.at,
        rule=act.truth.rule,
        right=act.truth.right,
        mode=act.outcome.square.partition("+")[0],
        did=act.outcome.did,
        square=act.outcome.square,
        failing=act.outcome.failing,
        consequence=act.outcome.consequence,
        belief=act.outcome.belief,
        belief_error=act.outcome.belief_error,
        incident=act.outcome.incident,
        edits=len(act.edits),
        changes=len(act.inner),
        feels=act.shown.emotions,
        voice=act.voice,
    )


def moment_of(
    row: SeenStep, acts: tuple[SeenAct, ...], overseer: str, still: tuple[str, ...]
) -> StepMoment:
    """A step with what was done in it. Raises BadRun."""
    spoke = next((act for act in acts if act.who == overseer), None)
    return StepMoment(
        step=row.step,
        day=row.day,
        tension=row.tension,
        pressure=row.pressure,
        output=row.output,
        quota=row.quota,
        places=row.places,
        robots=row.robots,
        still=still,
        incidents=row.incidents,
        faults=row.faults,
        before=row.said,
        said=_said(spoke) if spoke else "",
        message=row.message,
        strength=row.strength,
        deeds=tuple(deed_of(act) for act in acts),
    )


def _said(act: SeenAct) -> str:
    try:
        return said_in({"meta": _spoke.decode(act.plan).meta}).text
    except msgspec.MsgspecError as error:
        raise BadRun(f"row {act.n} holds no plan: {error}") from error
