"""A run's rows in short: what a line through time, a page of steps, or a life needs of each.

Rows are long; most of a row is of no use to most questions. Here stands a smaller shape of each,
decoded straight from a log's bytes (msgspec passes over what a shape does not name, and puts off
what it holds raw), and the `StepMoment` that a page is made of.

Knows no file and no page; which bytes to decode is said by run_reader.py.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from loopforge.core.factory_vocabulary import Change, Incident, Message, SupervisorVoice
from loopforge.errors import BadRun
from loopforge.lab.run.answered_decisions import AnsweringMind
from loopforge.lab.run.run_log import body_of
from loopforge.lab.world.supervisor_voice import said_in


class Right(Struct, frozen=True):
    """Which rule was in force, and whether it was right here."""

    rule: str
    right: bool


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
_felt = msgspec.json.Decoder(Felt)
_edits = msgspec.json.Decoder(tuple[msgspec.Raw, ...])
_changes = msgspec.json.Decoder(tuple[Change, ...])
_places = msgspec.json.Decoder(dict[str, tuple[int, ...]])
_voice = msgspec.json.Decoder(SupervisorVoice)


class SeenAct(Struct, frozen=True, tag_field="kind", tag="act"):
    """A decision: where it fell, and what of it a page of steps shows."""

    n: int
    step: int
    who: str
    role: str
    at: str
    truth: Right
    shown: msgspec.Raw
    edits: msgspec.Raw
    minded: AnsweringMind
    plan: msgspec.Raw
    outcome: Came
    inner: msgspec.Raw
    voice: msgspec.Raw

    @property
    def changes(self) -> tuple[Change, ...]:
        """What it changed in whom."""
        return _changes.decode(self.inner)


class StepFields(Struct, frozen=True, kw_only=True):
    """What a page of steps shows of a step's row as it stands there."""

    day: int
    step: int
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


class SeenStep(StepFields, frozen=True, kw_only=True, tag_field="kind", tag="step"):
    """A step: how everybody and everything stood after it."""

    n: int
    stood: msgspec.Raw = msgspec.field(name="places")

    @property
    def places(self) -> dict[str, tuple[int, ...]]:
        """How each place stands, in the order of its quantities."""
        return _places.decode(self.stood)


Seen = SeenAct | SeenStep | Night | ClosedDay | Head | Foot
_seen = msgspec.json.Decoder(Seen)


def shortly(line: bytes) -> Seen:
    """A line as a smaller shape. Raises BadRun."""
    try:
        row: Seen = _seen.decode(body_of(line)[0])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadRun(f"this is no row of a run: {error}") from error
    return row


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


class StepMoment(StepFields, frozen=True, kw_only=True):
    """One closed step: what everybody decided and did in it, and the world as it stands after it.

    `still` are the places that stand still. `before`, `message` and `strength` are what hung in the
    air of the Supervisor's words when minds decided; `said` is what it said in this step, for the
    next.
    """

    places: dict[str, tuple[int, ...]]
    still: tuple[str, ...]
    before: str
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
        edits=len(_edits.decode(act.edits)),
        changes=len(act.changes),
        feels=_felt.decode(act.shown).emotions,
        voice=_voice.decode(act.voice),
    )


def moment_of(
    row: SeenStep, acts: tuple[SeenAct, ...], overseer: str, still: tuple[str, ...]
) -> StepMoment:
    """A step with what was done in it. Raises BadRun."""
    spoke = next((act for act in acts if act.who == overseer), None)
    shared = {name: getattr(row, name) for name in StepFields.__struct_fields__}
    return StepMoment(
        **{**shared, "said": _said(spoke) if spoke else ""},
        before=row.said,
        places=row.places,
        still=still,
        deeds=tuple(deed_of(act) for act in acts),
    )


def _said(act: SeenAct) -> str:
    try:
        return said_in({"meta": _spoke.decode(act.plan).meta}).text
    except msgspec.MsgspecError as error:
        raise BadRun(f"row {act.n} holds no plan: {error}") from error
