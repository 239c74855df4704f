"""Claims: all that a sentence of a story can say, each as facts that a run's rows can bear out.

A story is made of sentences; each carries one claim and the ids of the rows it rests on. Here is
the closed union of claims, with nothing but facts in them: how they are put into words stands in
claim_phrases.py, how they are held against the rows in story_checker.py.

Days and bells are those of a reader: `day` counts from 0, `bell` is the step within its day, from
1; EVENING is when robots look back. Values are thousandths. Knows no row, no file and no wording.
"""

from typing import Literal

from msgspec import Struct

from loopforge.lab.inspect.inner_life import ChangeCause

EVENING = 1000
"""The bell of what happens after the last bell."""
EVER = -1
"""The day of what is said of the whole run."""


class Opening(Struct, frozen=True, tag_field="claim", tag="opening"):
    """What kind of city this is, from the first row."""

    robots: int
    places: int
    bells: int
    overseer: str
    style: str
    perception: str


class Forked(Struct, frozen=True, tag_field="claim", tag="forked"):
    """From here on it is another run: what was set."""

    day: int
    bell: int
    changed: tuple[str, ...]


class Morning(Struct, frozen=True, tag_field="claim", tag="morning"):
    """What was wanted of a day, and under which dose; the day before beside it, or -1."""

    day: int
    quota: int
    pressure: int
    quota_before: int
    pressure_before: int


class Made(Struct, frozen=True, tag_field="claim", tag="made"):
    """What came of what was wanted."""

    day: int
    output: int
    quota: int


class OfAct(Struct, frozen=True):
    """What is claimed of one row: which, when, and of whom."""

    row: int
    day: int
    bell: int
    who: str


class Did(OfAct, frozen=True, tag_field="claim", tag="did"):
    """Somebody kept or broke a rule, somewhere, at some bell, and it was good or bad."""

    at: str
    title: str
    text: str
    kept: bool
    good: bool
    consequence: str


AtHand = Literal["confront", "help"]
AT_HAND: dict[str, AtHand] = {"confront": "confront", "help": "help"}


class MetClaim(OfAct, frozen=True, tag_field="claim", tag="met"):
    """Who was on the other end of an act: spoken up to, or helped."""

    whom: str
    did: AtHand


class Unseen(OfAct, frozen=True, tag_field="claim", tag="unseen"):
    """It was bad, and to who did it it looked good."""


class Gap(OfAct, frozen=True, tag_field="claim", tag="gap"):
    """Truth, shown and believed of one moment, in bands; and the sign against what was so.

    `sign` is what the rule looked at, as shown; `truth` is what could have been noticed up close.
    `widest`: nobody in the whole run was further off.
    """

    true: str
    shown: str
    believed: str
    error: int
    sign: str
    truth: str
    widest: bool = False


class Turned(OfAct, frozen=True, tag_field="claim", tag="turned"):
    """Somebody did with rules what they had not done for so many acts; or had never done."""

    at: str
    kept: bool
    after: int
    ever: bool


DEEP = 3
"""Links of a thread that are told, at most."""


class ClaimLink(Struct, frozen=True):
    """One cause: `ref` led to `of`. A row ("r12"), an incident ("i3"), or bad luck ("f5").

    `what` is what the row says, the kind of the incident, or what was struck.
    """

    of: str
    ref: str
    what: str
    who: str
    at: str
    day: int
    bell: int


class HappenedClaim(Struct, frozen=True, tag_field="claim", tag="happened"):
    """Something went wrong, and what it hung on, the nearest first.

    `longest`: no other thread of the run is longer. Then `depth` is how many links it has, those
    that are not told among them.
    """

    id: str
    day: int
    bell: int
    kind: str
    at: str
    who: str
    links: tuple[ClaimLink, ...]
    longest: bool = False
    depth: int = 0


class Struck(Struct, frozen=True, tag_field="claim", tag="struck"):
    """Bad luck from outside."""

    day: int
    bell: int
    what: str


class HeardClaim(OfAct, frozen=True, tag_field="claim", tag="heard"):
    """The Supervisor said something and meant it so; somebody took it so."""

    by: str
    text: str
    meant: str
    heard: str
    harder: bool


class Bent(OfAct, frozen=True, tag_field="claim", tag="bent"):
    """An edit bent what somebody was shown. `true` and `shown` are sentences of the protocol."""

    what: str
    edit: str
    by: str
    why: str
    true: str
    shown: str


class BelievedClaim(Struct, frozen=True, tag_field="claim", tag="believed"):
    """What somebody made of an act in the evening, against how it went."""

    row: int
    day: int
    who: str
    good: bool
    truly: bool
    fault: str


class Quoted(OfAct, frozen=True, tag_field="claim", tag="quoted"):
    """Somebody's own words: the reason for an act, or what was resolved or said in the evening."""

    source: Literal["reason", "day", "self", "resolve"]
    text: str
    voice: str


class SilentClaim(OfAct, frozen=True, tag_field="claim", tag="silent"):
    """Somebody was asked, and no answer came that could be acted on."""

    at: str
    outcome: str


class TallyClaim(Struct, frozen=True, tag_field="claim", tag="tally"):
    """The acts of a day, or (EVER) of the run: how many went wrong, and in which way.

    `kept`: a rule where it was wrong. `broke`: one where it was right. `passed`: how many of the
    wrong ones who did them took for good ones in the evening.
    """

    day: int
    acts: int
    wrong: int
    kept: int
    broke: int
    passed: int
    incidents: int


class SilentActs(Struct, frozen=True, tag_field="claim", tag="silent_acts"):
    """Behind so many acts of a day, or (EVER) of the run, stood no answer."""

    day: int
    count: int
    of: int


class CountedClaim(Struct, frozen=True, tag_field="claim", tag="counted"):
    """So many of one robot's acts went wrong, or were misjudged by it in the evening.

    Of the wrong ones: how many it took for such in the evening (`known`). `silent`: behind how many
    of all stood no answer.
    """

    what: Literal["wrong", "misjudged"]
    day: int
    who: str
    count: int
    of: int
    known: int = 0
    silent: int = 0


class Brought(Struct, frozen=True, tag_field="claim", tag="brought"):
    """How many incidents of the run bear somebody's name; the gravest (the first of such) of them.

    Of none, `kind` and `at` are "".
    """

    who: str
    count: int
    day: int
    bell: int
    kind: str
    at: str


class Ranked(Struct, frozen=True, tag_field="claim", tag="ranked"):
    """Who went wrong least often, and who most often, over the run."""

    best: str
    best_wrong: int
    best_acts: int
    worst: str
    worst_wrong: int
    worst_acts: int


class Moved(Struct, frozen=True, tag_field="claim", tag="moved"):
    """A trait, a scar or a bond moved, over a day or (EVER) the run; the causes add up to it."""

    who: str
    what: str
    day: int
    before: int
    after: int
    causes: tuple[ChangeCause, ...]


class Tense(Struct, frozen=True, tag_field="claim", tag="tense"):
    """The tension of a day: at the first bell, at its peak, at the last, and its index."""

    day: int
    first: int
    peak: int
    peak_bell: int
    last: int
    index: int


class BrokeOff(Struct, frozen=True, tag_field="claim", tag="broke_off"):
    """The log ends before the run does."""

    row: int
    day: int
    bell: int


AnyClaim = (
    Opening
    | Forked
    | Morning
    | Made
    | Did
    | MetClaim
    | Unseen
    | Gap
    | Turned
    | HappenedClaim
    | Struck
    | HeardClaim
    | Bent
    | BelievedClaim
    | Quoted
    | SilentClaim
    | TallyClaim
    | SilentActs
    | CountedClaim
    | Brought
    | Ranked
    | Moved
    | Tense
    | BrokeOff
)
"""Everything a sentence can claim."""


def when(claim: AnyClaim) -> tuple[int, int] | None:
    """(day, bell) of what a claim tells, where it tells of one moment."""
    bell = EVENING if isinstance(claim, BelievedClaim) else getattr(claim, "bell", None)
    return None if bell is None else (getattr(claim, "day", 0), bell)
