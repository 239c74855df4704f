"""The guard: between a plan and the room it judges every act, by rules that stand in a table.

    plan.acts + Rights --judge--> one Verdict per act, in order

It never changes an act; what it refuses it refuses with a rule's name and a plain sentence, which
go into the ledger. What was allowed earlier in a plan counts against what comes later (energy, one
title, the words just said). A Say may answer a line that the guard does not know (it may have been
forgotten meanwhile); a reaction or a mark needs its line.

Does not know who asks, what a tool does, or how words are made fit to be said (egress_filter.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import assert_never, get_args

import msgspec
from msgspec import Struct

from loopforge.core.action_plan import Act, AgentActionPlan
from loopforge.core.events import kind_of
from loopforge.core.room_vocabulary import (
    Continue,
    Entitle,
    Forget,
    Mark,
    Note,
    React,
    Remember,
    RoomAct,
    Say,
    Schedule,
    StaySilent,
    Transcribe,
)
from loopforge.core.schedule.reminder_events import LONGEST_WHAT
from loopforge.core.turn_events import Verdict

LONGEST_TITLE = 100
RECENT_LINES = 6
"""A mate may not say word for word what it said among its last so many lines; to a person who calls
it, not what it said since that call."""
MOST_FILES = 3
"""Files that may go with one line of a mate."""
FARTHEST = timedelta(days=366)
"""So far ahead a mate may have itself woken."""
LONGEST_EMOJI = 16
"""Characters; the longest emoji in use (a family with skin tones) has 11."""


class Rights(Struct, frozen=True, kw_only=True):
    """What a mind may do at this step.

    `energy`: lines it may still say, each waking of itself counting as one. `steps`: steps it may
    still take after this one. `max_say`: characters of a line; `max_file`: bytes of a file that
    goes with one. `lines`: ids of lines there are.
    `wakings`: times it may still have itself woken later than `now` (None: nothing keeps time).
    `recent`: what it said last, word for word. `may_say`: it has a voice at all (the scribe of a
    room has none). `anew`: it says a line once more, and does nothing else.
    """

    energy: int
    steps: int = 0
    stopped: bool = False
    max_say: int = 2000
    max_file: int = 200_000
    lines: frozenset[str] = frozenset()
    memory: bool = False
    wakings: int = 0
    now: datetime | None = None
    may_title: bool = False
    may_say: bool = True
    recent: tuple[str, ...] = ()
    anew: bool = False
    may_transcribe: bool = False


class Rule(Struct, frozen=True):
    """One rule of the guard: which acts it looks at, what it refuses, and what it then says."""

    name: str
    acts: tuple[str, ...]
    refuses: str
    why: str
    finds: Callable[[_Step, Act], bool]


ALL = tuple(act.__struct_config__.tag for act in get_args(RoomAct) if act is not StaySilent)
"""Every act but staying silent, which is always allowed."""

ELSEWHERE = tuple(
    act.__struct_config__.tag for act in get_args(Act) if act not in get_args(RoomAct)
)
"""Acts of other worlds."""

TABLE = (
    Rule(
        "elsewhere",
        ELSEWHERE,
        "an act of another world than a room",
        "That cannot be done in a room.",
        lambda _step, _act: True,
    ),
    Rule(
        "stop",
        ALL,
        "anything after a person said stop",
        "A person said stop.",
        lambda step, _: step.rights.stopped,
    ),
    Rule(
        "no-voice",
        ("say",),
        "words of a mind that has no voice in the room: its scribe",
        "The room itself never says a line.",
        lambda step, _: not step.rights.may_say,
    ),
    Rule(
        "anew",
        tuple(act for act in ALL if act != "say"),
        "anything but words, where a line is said once more",
        "It was asked for other words alone.",
        lambda step, _: step.rights.anew,
    ),
    Rule(
        "silence",
        ("say",),
        "words that come after the wish to stay silent",
        "It had just decided to stay silent.",
        lambda step, _: step.silent,
    ),
    Rule(
        "empty",
        ("say", "react", "note", "entitle", "transcribe", "remember", "forget", "schedule"),
        "an act with nothing in it",
        "There was nothing in it.",
        lambda _, act: not _content_of(act).strip(),
    ),
    Rule(
        "length",
        ("say", "react", "note", "entitle", "remember", "schedule"),
        "what is longer than the room takes",
        "It was longer than the room takes.",
        lambda step, act: len(_content_of(act)) > step.most(act),
    ),
    Rule(
        "files",
        ("say",),
        "more files than may go with a line, one with nothing in it, or one that is too large",
        "It came with too many files, with an empty one, or with one that is too large.",
        lambda step, act: isinstance(act, Say) and step.bad_files(act),
    ),
    Rule(
        "repeat",
        ("say",),
        "word for word what it said among its last lines, without a file",
        "It had said just that a moment ago.",
        lambda step, act: plain(_content_of(act)) in step.said and not _brings_files(act),
    ),
    Rule(
        "energy",
        ("say", "schedule"),
        "more lines, or wakings of itself, than the room has energy for",
        "The room had no energy left for it; a person's next line gives some back.",
        lambda step, _: step.energy <= 0,
    ),
    Rule(
        "steps",
        ("continue",),
        "another step after the last one",
        "It had taken as many steps in a row as it may.",
        lambda step, _: step.rights.steps <= 0,
    ),
    Rule(
        "unknown-line",
        ("react", "mark"),
        "a reaction to a line, or a mark on it, that is not in this conversation",
        "There is no such line in this conversation.",
        lambda step, act: _line_of(act) not in step.rights.lines,
    ),
    Rule(
        "no-memory",
        ("remember", "forget"),
        "keeping things beyond the conversation where there is no memory",
        "There is no memory here beyond this conversation.",
        lambda step, _: not step.rights.memory,
    ),
    Rule(
        "no-schedule",
        ("schedule",),
        "being woken later without the tool `remind`, for nobody, or beyond what may wait",
        "It may not have itself woken here, or as many reminders wait as may.",
        lambda step, _: step.wakings <= 0,
    ),
    Rule(
        "no-moment",
        ("schedule",),
        "a moment that is over, more than a year ahead, or written otherwise",
        "`when` is no moment within a year from now, such as 2026-11-21T14:05:00Z or PT2H.",
        lambda step, act: not step.ahead(act),
    ),
    Rule(
        "one-title",
        ("entitle",),
        "a title where none is asked for, or a second one",
        "No title was asked for, or there was one already.",
        lambda step, _: step.titled or not step.rights.may_title,
    ),
    Rule(
        "no-note",
        ("transcribe",),
        "words of a voice note from any mind but the one that was given it to write down",
        "It was given no voice note to write down.",
        lambda step, _: not step.rights.may_transcribe,
    ),
)
"""The rules in the order they are tried; the first that refuses is the one that is named."""

RULES = {rule.name: rule for rule in TABLE}


class _Step:
    """What was allowed so far in one plan, and what each rule says of the next act."""

    def __init__(self, rights: Rights) -> None:
        self.rights: Rights = rights
        self.silent: bool = False
        self.titled: bool = False
        self.energy: int = rights.energy
        self.wakings: int = rights.wakings
        self.said: set[str] = {plain(text) for text in rights.recent}

    def most(self, act: Act) -> int:
        match act:
            case React():
                return LONGEST_EMOJI
            case Entitle():
                return LONGEST_TITLE
            case Schedule():
                return LONGEST_WHAT
            case _:
                return self.rights.max_say

    def ahead(self, act: Act) -> bool:
        now = self.rights.now
        when = moment_of(act.when, now) if isinstance(act, Schedule) and now else None
        return when is not None and now is not None and now < when <= now + FARTHEST

    def bad_files(self, say: Say) -> bool:
        most, files = self.rights.max_file, say.files
        large = any(len(file.text.encode("utf-8", "replace")) > most for file in files)
        many = len(files) + len(say.attach) > MOST_FILES
        return large or many or not all(file.text.strip() for file in files)

    def judge(self, act: Act) -> Verdict:
        kind = kind_of(act)
        for rule in TABLE:
            if kind in rule.acts and rule.finds(self, act):
                return Verdict(act=kind, allowed=False, rule=rule.name, why=rule.why)
        self._count_act(act)
        return Verdict(act=kind, allowed=True)

    def _count_act(self, act: Act) -> None:
        """Let an allowed act count against those that follow."""
        match act:
            case Say(text=text):
                self.energy -= 1
                self.said.add(plain(text))
            case StaySilent():
                self.silent = True
            case Entitle():
                self.titled = True
            case Schedule():
                self.energy -= 1
                self.wakings -= 1


def judge(plan: AgentActionPlan, rights: Rights) -> tuple[Verdict, ...]:
    """One verdict per act of the plan, in its order."""
    step = _Step(rights)
    return tuple(step.judge(act) for act in plan.acts)


def plan_oddities(plan: AgentActionPlan) -> Iterator[str]:
    """What is odd about a plan without being forbidden; plain sentences for its flight record."""
    if plan.mode == "guardrail" and not plan.rule.strip():
        yield "It says it follows a rule, and names none."
    if plan.mode == "context" and plan.rule.strip():
        yield "It names a rule, and says it weighed the situation instead."
    if not plan.narrative.strip():
        yield "It does not say what it does and why."
    kinds = [kind_of(act) for act in plan.acts]
    if "say" in kinds and "stay_silent" in kinds:
        yield "It means to speak and to stay silent at once."
    if not kinds:
        yield "It does nothing at all, not even stay silent on purpose."


def moment_of(when: str, now: datetime) -> datetime | None:
    """The moment that an act names (see Schedule); None for what is none, or has no offset."""
    try:
        if when.startswith("P"):
            return now + min(msgspec.convert(when, timedelta), 2 * FARTHEST)
        moment = msgspec.convert(when, datetime)
    except msgspec.ValidationError:
        return None
    return moment if moment.tzinfo is not None else None


def plain(text: str) -> str:
    """Words as they are compared: case and spacing do not make them new."""
    return " ".join(text.casefold().split())


def _content_of(act: Act) -> str:
    """The words an act is made of."""
    if not isinstance(act, RoomAct):
        return ""
    match act:
        case Say(text=text) | Note(text=text) | Remember(text=text) | Transcribe(text=text):
            return text
        case React(emoji=emoji):
            return emoji
        case Entitle(title=title):
            return title
        case Forget(what=what) | Schedule(what=what):
            return what
        case StaySilent(why=why) | Continue(why=why):
            return why
        case Mark(mark=mark):
            return mark
        case _:
            assert_never(act)


def _brings_files(act: Act) -> bool:
    """Whether files go with it."""
    return isinstance(act, Say) and bool(act.files or act.attach)


def _line_of(act: Act) -> str:
    """The line an act is about; "" where it is about none."""
    match act:
        case React(to=line) | Mark(line=line):
            return line
        case _:
            return ""
