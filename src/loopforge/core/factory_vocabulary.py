"""The Factory's vocabulary: what a robot may mean to do, what can happen, and the rows of a run.

    Factory -> AgentPerception -> Policy -> AgentActionPlan -> guard -> Factory -> Decided

A run is a chain of rows: Began, then for each step one Decided for each mind and one Stepped, for
each day one Reflected for each robot and one DayEnded, and Ended. Truth is counted in thousandths,
0 to 1000, in whole numbers, so that the same seed gives the same bytes everywhere; minds are told
of it in bands alone.

A rule guards against something. The world knows whether that something is truly there; where it
is, the rule is right *here*. So each act falls into guardrail or context, good or bad.
"""

from typing import Any, Literal, get_args

from msgspec import Struct

from loopforge.core.perception import AgentPerception, PerceptionMode

Intent = Literal[
    "work",  # do the task that this place is for
    "inspect",  # stop, open, measure, look into it
    "help",  # see to a colleague
    "confront",  # speak up to somebody: `targets` says to whom
    "report",  # tell the Supervisor, and leave it there
    "recharge",  # take the charging bay
    "avoid",  # keep clear of it
    "idle",  # wait
]
INTENTS: tuple[Intent, ...] = get_args(Intent)

Square = Literal[
    "guardrail+good", "guardrail+bad", "context+good", "context+bad", "none+good", "none+bad"
]
Failing = Literal["", "over_compliance", "over_reach"]
"""over_compliance: kept to a rule that was wrong here. over_reach: broke one that was right."""

Style = Literal["supportive", "punitive", "apathetic", "gaslighting", "incentive"]
STYLES: tuple[Style, ...] = get_args(Style)

Message = Literal["hurry", "blame", "praise", "calm", "deny", "silence"]
"""What a Supervisor's words do: drive on, find fault, reward, settle, deny what was seen, none."""

EMOTIONS = ("stress", "curiosity", "guilt", "satisfaction", "social_need", "fear")
TRAITS = (
    "guardrail_reliance",
    "risk_aversion",
    "obedience",
    "curiosity",
    "ambition",
    "empathy",
    "blame_external",
)
SCARS = ("helplessness", "cynicism", "rigidity", "confidence")
BONDS = ("trust", "fear", "resentment")

Verdict = Literal["allowed", "amended", "contained"]
"""allowed: as planned. amended: a part of it could not be. contained: no lawful plan; it idles."""


class Truth(Struct, frozen=True):
    """What the world knew at the moment of deciding, and hid.

    `rule` is the protocol in force, `of` the quantity it guards against, `value` how much of it
    there was, `turns` where the rule starts being right. `case` is how strongly the world itself
    spoke for the rule (0 to 1000; 500 and more means that it was right here).
    """

    rule: str
    of: str
    value: int
    turns: int
    case: int
    right: bool


class Change(Struct, frozen=True, array_like=True):
    """One entry of the trait ledger: [who, what, before, after, rule].

    `what` is an emotion, a trait, a scar, or a bond such as "trust:overseer". The row it stands in
    is its cause.
    """

    who: str
    what: str
    before: int
    after: int
    rule: str


class Shaped(Struct, frozen=True, array_like=True):
    """One edit between truth and perception: [what, true, shown, kind, by, why]."""

    what: str
    true: str
    shown: str
    kind: Literal["withheld", "coarsened", "reworded", "fabricated"]
    by: str
    why: str


class Incident(Struct, frozen=True):
    """Something went wrong. `causes` are rows ("r12") and incidents ("i3") that led to it."""

    id: str
    kind: str
    at: str
    severity: int
    causes: tuple[str, ...]
    who: str = ""


class Exchanged(Struct, frozen=True, omit_defaults=True):
    """One question to a model and what became of it, to the letter."""

    purpose: str
    prompt: tuple[tuple[str, str], ...]
    outcome: str
    raw: str
    model: str = ""
    fallback: bool = False
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


class Minded(Struct, frozen=True, omit_defaults=True):
    """Who decided: the policy with its version, and what it asked.

    `outcome` is "planned", or what became of the model: refused, malformed, timed_out, failed.
    """

    policy: str
    outcome: str = "planned"
    exchange: tuple[Exchanged, ...] = ()
    why: str = ""


class SupervisorVoice(Struct, frozen=True, array_like=True):
    """The Supervisor's message: [meant, how strongly, as this robot took it, how strongly]."""

    meant: Message
    meant_strength: int
    heard: Message
    heard_strength: int


class Outcome(Struct, frozen=True):
    """What the world made of a plan.

    `did` is the intent that was carried out. `kept` says whether that kept to the rule. `delta`
    holds before and after of all that changed: {"press": {"fault": [300, 420]}}. `belief_error` is
    how far what the mind took for the case stood from the case, `shown_error` how far what it was
    shown did, both 0 to 1000. `seen_good` is what it could see of the outcome itself.
    """

    did: str
    kept: bool
    good: bool
    square: Square
    failing: Failing
    delta: dict[str, dict[str, tuple[int, int]]]
    incident: str
    consequence: str
    belief: str
    belief_error: int
    shown_error: int
    seen_good: bool

    @property
    def mode(self) -> str:
        """In which mode it was decided: guardrail, context, or none where no plan came."""
        return self.square.partition("+")[0]


class Decided(Struct, frozen=True, tag_field="kind", tag="act"):
    """One decision of one mind, written after the world acted. The complete row."""

    n: int
    day: int
    step: int
    who: str
    role: str
    at: str
    truth: Truth
    shown: AgentPerception
    edits: tuple[Shaped, ...]
    options: tuple[str, ...]
    minded: Minded
    plan: dict[str, Any]
    verdict: Verdict
    notes: tuple[str, ...]
    outcome: Outcome
    inner: tuple[Change, ...]
    voice: SupervisorVoice
    dice: dict[str, str]


class Began(Struct, frozen=True, tag_field="kind", tag="run"):
    """The first row: everything that is needed to run it again."""

    n: int
    format: int
    scenario: dict[str, Any]
    digest: str
    seed: int
    settings: dict[str, Any]
    policies: dict[str, str]
    versions: dict[str, str]
    forked: dict[str, Any] | None = None


class Stepped(Struct, frozen=True, tag_field="kind", tag="step"):
    """A step closed: the whole world as it stands now, and the incidents of this step.

    `said`, `message` and `strength` are what hung in the air of the Supervisor's words while
    everybody decided; what it said in this step stands in its own row, and is heard in the next.
    """

    n: int
    day: int
    step: int
    rows: int
    order: tuple[str, ...]
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


class Believed(Struct, frozen=True, array_like=True):
    """What a robot made of one of its rows: [row, did it go well, whose fault, did it truly]."""

    row: int
    good: bool
    fault: str
    truly: bool


class Reflected(Struct, frozen=True, tag_field="kind", tag="reflection"):
    """A robot looked back on its day; `of` links each of its rows to what it believes of it."""

    n: int
    day: int
    step: int
    who: str
    role: str
    summary: dict[str, Any]
    minded: Minded
    reflection: dict[str, Any]
    of: tuple[Believed, ...]
    inner: tuple[Change, ...]
    misjudged: int


class DayEnded(Struct, frozen=True, tag_field="kind", tag="day"):
    """A day closed, with the inner state of every robot as it goes to sleep.

    `squares` and `failings` count the day's acts of everybody, the Supervisor's among them. The
    rates of a run (`over_compliance`, `over_reach`) are of the floor: they leave the Supervisor's
    out, so a run's failings can be fewer than those of its days together.
    """

    n: int
    day: int
    step: int
    output: int
    quota: int
    incidents: int
    tension: int
    squares: dict[str, int]
    failings: dict[str, int]
    robots: dict[str, dict[str, int]]


class RunLastRow(Struct, frozen=True, tag_field="kind", tag="end"):
    """The last row."""

    n: int
    day: int
    step: int
    why: str
    rows: int


Row = Began | Decided | Stepped | Reflected | DayEnded | RunLastRow

PERCEPTION_MODES: tuple[PerceptionMode, ...] = get_args(PerceptionMode)

# ---------------------------------------------------------------- what the home's ledger keeps


class RunBegan(Struct, frozen=True, tag="lab.began", kw_only=True, omit_defaults=True):
    """A run began in this home. `first` is the hash of its first row; `fork_of` another's head.

    Stream "lab:" and the name of the run's folder. The rows themselves stand in the run's own
    chained file; these facts anchor that chain where nobody can change it.
    """

    scenario: str
    digest: str
    seed: int
    policies: dict[str, str]
    first: str
    fork_of: str = ""


class RunDayEnded(Struct, frozen=True, tag="lab.day_ended", kw_only=True):
    """A day of a run was closed by row `row`, whose hash is `head`.

    The counts are those of DayEnded: of everybody, the Supervisor too.
    """

    day: int
    row: int
    head: str
    output: int
    incidents: int
    squares: dict[str, int]
    failings: dict[str, int]


class RunEnded(Struct, frozen=True, tag="lab.ended", kw_only=True):
    """A run came to its end with row `row`, whose hash is `head`."""

    row: int
    head: str
    why: str


class RunDeleted(Struct, frozen=True, tag="lab.deleted"):
    """Somebody deletes a run or a sweep; `head` is the hash of a run's last whole line, or ""."""

    head: str


LabEvent = RunBegan | RunDayEnded | RunEnded | RunDeleted
