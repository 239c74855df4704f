"""The facts of a turn: what a mind was shown, what it asked and was told, and what it planned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from loopforge.core.limits.budget_limits import BudgetNote, Charge
from loopforge.core.perception import Edit, Line, Picture
from loopforge.core.text.erasable_text import Words, public_words


class LineRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Lines shown, written as a change: the first `keep` lines of event `base`, then `more`."""

    more: tuple[Line | str, ...]
    base: str = ""
    keep: int = 0


class TextPiece(Struct, frozen=True, omit_defaults=True):
    """One message of a prompt: its role, the words that make it up, the pictures shown with it.

    `layout` says how each of the words is laid out (prompt_rows.py); "": all as they are.
    """

    role: str
    words: tuple[Words, ...]
    pictures: tuple[Picture, ...] = ()
    layout: str = ""


class PieceRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A prompt, written as a change: the first `keep` messages of event `base`, then `more`."""

    more: tuple[TextPiece, ...]
    base: str = ""
    keep: int = 0


class Recollection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line or an item of memory that came to a mind before its turn, by its event's id.

    `score` says how well it fitted, `parts` of what that is made; `left` why it was not shown, ""
    where it was.
    """

    of: str
    score: float = 0.0
    parts: tuple[tuple[str, float], ...] = ()
    left: str = ""


class Perceived(Struct, frozen=True, tag="turn.perceived", kw_only=True, omit_defaults=True):
    """A turn began: what one mind was shown. The event's id is the turn's.

    `shown` is the perception as JSON without its lines, which stand in `lines`, and without the
    mate's own words about itself, which stand in `character`. `mind` is the hash
    of the mate's file, `policy` a name with its version ("talk/1"). `line` is the event that called
    the turn, `summons` how (mention, reply, name, conversation, continue, title). `upto` is the
    sequence number up to which the stream had been read for it; 0: of before that was kept.
    `recalled` is what was remembered for it, `also` are other lines that called it, and are
    answered too.
    """

    mate: str
    policy: str
    mind: str
    line: str
    summons: str
    step: int
    shown: Words
    lines: LineRun
    character: Words = public_words("")
    edits: tuple[Edit, ...] = ()
    tokens: int = 0
    upto: int = 0
    recalled: tuple[Recollection, ...] = ()
    also: tuple[str, ...] = ()


class Asked(Struct, frozen=True, tag="turn.asked", kw_only=True, omit_defaults=True):
    """A model is about to be asked; `nth` counts the requests of the turn from 1.

    `tier` is that of the question, where it is not the mate's own (0).
    """

    turn: str
    nth: int
    purpose: str
    prompt: PieceRun
    schema: Words = public_words("")
    aloud: bool = False
    field: str = ""
    max_tokens: int = 0
    tier: int = 0


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens read (of which `cached` came from the provider's cache) and written; `cost` in USD."""

    read: int = 0
    cached: int = 0
    written: int = 0
    cost: str = ""


class Attempt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One try at one model: what came of it, how long it took (milliseconds), the raw error.

    `cause` is why there is no answer, as in core/model_trouble.py; `has` what its server has
    instead, in words, where it does not know the model. `usage` is what it took, where another try
    came after it. `wait`: the seconds for which its service asked to be left alone.
    """

    model: str
    outcome: str
    took: int = 0
    detail: Words = public_words("")
    cause: str = ""
    has: str = ""
    usage: Usage | None = None
    wait: float = 0.0


class Answered(Struct, frozen=True, tag="turn.answered", kw_only=True, omit_defaults=True):
    """What became of an Asked: the raw answer, what was parsed of it (JSON), every attempt.

    `first` and `took` are milliseconds to the first token and in all; `heard` are the ids of lines
    that came in meanwhile and were given to the mind with this answer. `mended` says what the
    answer lacked of the form it was asked for; `cut`: its words broke off; `small`: a small model
    was to be asked in its own form. `charge` says for whom it was paid, beside what stands here
    anyway; `budget` is what the tightest budget said.
    """

    turn: str
    nth: int
    outcome: str
    text: Words
    parsed: Words = public_words("")
    model: str = ""
    fallback: bool = False
    attempts: tuple[Attempt, ...] = ()
    usage: Usage = Usage()
    first: int = 0
    took: int = 0
    heard: tuple[Line, ...] = ()
    mended: tuple[str, ...] = ()
    cut: bool = False
    small: bool = False
    charge: Charge | None = None
    budget: BudgetNote | None = None

    @property
    def usages(self) -> tuple[Usage, ...]:
        """All that it took: of the answer, and of each try before it."""
        return (*(one.usage for one in self.attempts if one.usage), self.usage)


class Called(Struct, frozen=True, tag="turn.called", kw_only=True, omit_defaults=True):
    """A tool was about to be called, in a ledger of before there were effects.

    Calls by acts of a plan had numbers from 1000 on.
    """

    turn: str
    nth: int
    tool: str
    arguments: Words
    idempotent: bool = False


class Returned(Struct, frozen=True, tag="turn.returned", kw_only=True, omit_defaults=True):
    """What a mind was told of its request for a tool; `outcome` "deferred" if it goes on.

    `cost` in US dollars, as far as it is known; `left` and `bound` as in `Result`.
    """

    turn: str
    nth: int
    outcome: str
    value: Words
    took: int = 0
    heard: tuple[Line, ...] = ()
    cost: float = 0.0
    left: str = ""
    bound: str = ""


class Planned(Struct, frozen=True, tag="turn.planned", kw_only=True, omit_defaults=True):
    """The mind returned its plan (JSON in `plan`)."""

    turn: str
    intent: str
    mode: str
    plan: Words
    narrative: Words = public_words("")
    rule: Words = public_words("")


class Verdict(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the guard said of one act: its kind, whether it may happen, by which rule, why."""

    act: str
    allowed: bool
    rule: str = ""
    why: str = ""


class Judged(Struct, frozen=True, tag="turn.judged", kw_only=True):
    """The guard's verdict on each act of the plan, in the plan's order."""

    turn: str
    verdicts: tuple[Verdict, ...]


class TurnEnded(Struct, frozen=True, tag="turn.ended", kw_only=True, omit_defaults=True):
    """The turn is over. `done`: its plan was carried out. `took` in milliseconds.

    `took_in` are ids of lines that came in meanwhile and were put before the mind in this very
    turn: it needs no further turn for them.
    """

    turn: str
    outcome: Literal["done", "stopped", "diverged", "failed"]
    why: Words = public_words("")
    took: int = 0
    took_in: tuple[str, ...] = ()


TurnEvent = Perceived | Asked | Answered | Called | Returned | Planned | Judged | TurnEnded


def last_attempts(bodies: Iterable[object]) -> tuple[Attempt, ...]:
    """The tries at models for the last question that was answered, or was to be."""
    answered = [body for body in bodies if isinstance(body, Answered)]
    return answered[-1].attempts if answered else ()
