"""A run's rows in short, for who reads all of them, and the `StepMoment` that a page is made of.

Most of a decision's row is of no use to a count or a life: of it stands here a smaller shape,
decoded straight from a log's bytes (msgspec passes over what a shape does not name, and puts off
what it holds raw). The other rows are few, and are what they are.

Knows no file and no page; which bytes to decode is said by run_reader.py.
"""

import msgspec
from msgspec import Struct

from loopforge.core.factory_vocabulary import (
    Began,
    Change,
    DayEnded,
    Decided,
    Reflected,
    RunLastRow,
    Stepped,
)
from loopforge.errors import BadRun
from loopforge.lab.run.answered_decisions import AnsweringMind
from loopforge.lab.run.run_log import body_of


class RuleRight(Struct, frozen=True):
    """Whether the rule in force was right here."""

    right: bool


class ActOutcome(Struct, frozen=True):
    """What came of an act."""

    square: str
    failing: str
    belief_error: int


_changes = msgspec.json.Decoder(tuple[Change, ...])


class SeenAct(Struct, frozen=True, tag_field="kind", tag="act"):
    """A decision: whose it was, and what of it is counted."""

    n: int
    step: int
    who: str
    role: str
    truth: RuleRight
    minded: AnsweringMind
    outcome: ActOutcome
    inner: msgspec.Raw

    @property
    def changes(self) -> tuple[Change, ...]:
        """What it changed in whom. Raises BadRun."""
        try:
            return _changes.decode(self.inner)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise BadRun(f"row {self.n} says of no change what it was: {error}") from error


Seen = SeenAct | Stepped | Reflected | DayEnded | Began | RunLastRow
_seen = msgspec.json.Decoder(Seen)


def summarize_row(line: bytes) -> Seen:
    """A line as a smaller shape. Raises BadRun."""
    try:
        row: Seen = _seen.decode(body_of(line)[0])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRun(f"this is no row of a run: {error}") from error
    return row


class StepBrief(Struct, frozen=True, array_like=True):
    """A step in four numbers: [tension, incidents, over-compliances, over-reaches of the floor]."""

    tension: int
    incidents: int
    over_compliance: int
    over_reach: int


class StepMoment(Struct, frozen=True):
    """One closed step: its row, what everybody decided and did in it, which places stand still.

    `said` is what the Supervisor said in this step, for the next.
    """

    row: Stepped
    deeds: tuple[Decided, ...]
    still: tuple[str, ...]
    said: str
