"""What the room makes of a plan: each act that the guard allowed becomes facts.

Pure but for the ids and times that the stamp gives. Does not append.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import assert_never

import msgspec
from msgspec import Struct

from loopforge.artifacts.file_intake import plain_name
from loopforge.artifacts.media_types import TEXT
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.turns import room_titles
from loopforge.chat.turns.memory_evidence import MemoryEvidence
from loopforge.core.action_plan import Act, AgentActionPlan
from loopforge.core.delivery_states import Queued, What
from loopforge.core.effect_states import EffectApproved, EffectDenied
from loopforge.core.egress.egress_filter import EgressFilter
from loopforge.core.events import Body, Fact
from loopforge.core.room_vocabulary import (
    Continue,
    Entitle,
    File,
    Forget,
    LineEdited,
    Mark,
    Marked,
    Note,
    Noted,
    Paper,
    React,
    Reacted,
    Remember,
    RoomAct,
    Said,
    Say,
    Schedule,
    StaySilent,
    Titled,
    Told,
    Transcribe,
)
from loopforge.core.schedule.reminder_events import ReminderSet
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.turn_events import Verdict
from loopforge.runtime.system_clock import Stamp

EGRESS = "egress"
"""What stands for a rule where the filter took something out of an act, or let none of it go."""
SPOKEN = 40
"""Lines of mates that are looked at with a new one, for a secret that goes out piece by piece."""


GOES_OUT: dict[type[Struct], What] = {
    Told: "line",
    LineEdited: "edit",
    EffectApproved: "approval",
    EffectDenied: "approval",
}
"""As what a person's decision goes to the places of a room."""


@dataclass
class ActsOutcome:
    """What an allowed plan comes to: facts, and the wish to go on."""

    facts: list[Fact] = field(default_factory=list)
    again: bool = False
    spoke: bool = False


def delivery_facts(
    fact: Fact, surfaces: Iterable[str], stamp: Stamp, what: What = "line"
) -> tuple[Fact, ...]:
    """The facts that this one is to go out to these surfaces and places."""
    return tuple(
        stamp.fact(Queued(surface=each, of=fact.id, what=what), actor="runtime", cause=fact.id)
        for each in surfaces
    )


def decision_delivery_facts(
    facts: Sequence[Fact], places: Iterable[str], stamp: Stamp
) -> list[Fact]:
    """The facts that of these, which a person decided, all that places show is to go there."""
    return [
        one
        for fact in facts
        if (what := GOES_OUT.get(type(fact.body)))
        for one in delivery_facts(fact, places, stamp, what)
    ]


def safe_plan(
    plan: AgentActionPlan, egress: EgressFilter, title: str = ""
) -> tuple[AgentActionPlan, tuple[tuple[str, ...], ...]]:
    """The plan with everything that people would see made fit to be seen.

    And the kinds of what was taken out of each act. `title` stands in for one of which nothing
    usable is left.
    """
    made = [_safe(act, egress, title) for act in plan.acts]
    acts = tuple(act for act, _ in made)
    return msgspec.structs.replace(plan, acts=acts), tuple(taken for _, taken in made)


def _safe(act: Act, egress: EgressFilter, title: str) -> tuple[Act, tuple[str, ...]]:
    match act:
        case Say(text=text, files=files):
            said, taken = egress.finish(text)
            given = [_safe_file(file, egress) for file in files]
            act = msgspec.structs.replace(act, text=said, files=tuple(file for file, _ in given))
            return act, tuple(dict.fromkeys(chain(taken, *(kinds for _, kinds in given))))
        case Schedule(what=what):
            told, taken = egress.finish(what)
            return msgspec.structs.replace(act, what=told), taken
        case Entitle(title=wanted):
            return Entitle(title=room_titles.clean(egress.finish(wanted)[0]) or title), ()
        case _:
            return act, ()


def _safe_file(file: Paper, egress: EgressFilter) -> tuple[Paper, tuple[str, ...]]:
    name, _ = egress.finish_file(file.name)
    text, taken = egress.finish_file(file.text)
    return Paper(name=plain_name(name), text=text), taken


def refuse_hidden_secrets(
    plan: AgentActionPlan, verdicts: Sequence[Verdict], egress: EgressFilter, before: Sequence[str]
) -> tuple[Verdict, ...]:
    """The verdicts, and a no to each act that would tell a secret in a hidden way.

    `before` is what mates said here, newest first.
    """
    judged = []
    for act, verdict in zip(plan.acts, verdicts, strict=True):
        match act:
            case Say(text=text, files=files):
                out = [text, *(part for file in files for part in (file.name, file.text))]
            case Entitle(title=text) | React(emoji=text) | Schedule(what=text):
                out = [text]
            case _:
                out = []
        if verdict.allowed and out and (way := egress.leak(out, before)):
            why = f"It held a secret of this home, {way}."
            verdict = msgspec.structs.replace(verdict, allowed=False, rule=EGRESS, why=why)
        judged.append(verdict)
    return tuple(judged)


def spoken_here(state: RoomState) -> list[str]:
    """What mates said here last, newest first, in characters as they stand."""
    said = (entry for entry in reversed(state.lines.values()) if entry.kind == "said")
    return [str(entry.text) for entry in islice(said, SPOKEN)]


def mark_filtered_verdicts(
    verdicts: Sequence[Verdict], taken: Sequence[tuple[str, ...]]
) -> tuple[Verdict, ...]:
    """The verdicts, and with those that allow an act what the egress filter took out of it."""
    return tuple(
        msgspec.structs.replace(
            verdict, rule=EGRESS, why=f"Taken out before it was said: {', '.join(kinds)}."
        )
        if verdict.allowed and kinds
        else verdict
        for verdict, kinds in zip(verdicts, taken, strict=True)
    )


def reword_line(
    plan: AgentActionPlan,
    verdicts: Sequence[Verdict],
    stamp: Stamp,
    turn: str,
    mate: str,
    line: str,
    places: Iterable[str],
) -> ActsOutcome:
    """A line's other words, as far as the guard allows them."""
    judged = zip(plan.acts, verdicts, strict=True)
    words = [act.text for act, verdict in judged if verdict.allowed and isinstance(act, Say)]
    if not words:
        return ActsOutcome()
    body = LineEdited(
        line=line,
        text=Words("\n\n".join(words)),
        by=f"mate:{mate}",
        turn=turn,
        mode=plan.mode,
        rule=Words(plan.rule) if plan.rule else public_words(""),
        narrative=Words(plan.narrative),
    )
    fact = stamp.fact(body, actor=f"mate:{mate}", cause=turn)
    return ActsOutcome(facts=[fact, *delivery_facts(fact, places, stamp, "edit")], spoke=True)


def _given(file: Paper) -> File:
    """The file as the room has it. Its text is all there is of it, so forgetting takes it whole."""
    size = len(file.text.encode("utf-8", "replace"))
    return File(name=Words(file.name), size=size, text=Words(file.text), media=TEXT)


def carry_out(
    plan: AgentActionPlan,
    verdicts: Sequence[Verdict],
    *,
    stamp: Stamp,
    turn: str,
    mate: str,
    surfaces: Sequence[str],
    attached: Mapping[str, File | str] = {},
    grounds: Callable[[], MemoryEvidence] = MemoryEvidence,
    waking: Callable[[Schedule, int], Body] | None = None,
) -> ActsOutcome:
    """The facts of every act that its verdict allows, in the plan's order.

    `attached` are kept files by the handles that acts name; one that is not there stays. `grounds`
    gives what it may keep something of, `waking` what an act comes to that has it woken later,
    with how many of this plan stand before it.
    """
    done = ActsOutcome()

    def add(body: Body) -> Fact:
        done.facts.append(stamp.fact(body, actor=f"mate:{mate}", cause=turn))
        return done.facts[-1]

    for act, verdict in zip(plan.acts, verdicts, strict=True):
        if not verdict.allowed or not isinstance(act, RoomAct):
            continue
        match act:
            case Say(text=text, reply_to=reply_to, files=files, attach=attach):
                kept = (attached.get(handle) for handle in dict.fromkeys(attach))
                said = add(
                    Said(
                        turn=turn,
                        mate=mate,
                        text=Words(text),
                        mode=plan.mode,
                        rule=Words(plan.rule) if plan.rule else public_words(""),
                        narrative=Words(plan.narrative),
                        reply_to=reply_to,
                        files=(
                            *map(_given, files),
                            *(file for file in kept if isinstance(file, File)),
                        ),
                    )
                )
                done.spoke = True
                done.facts += delivery_facts(said, surfaces, stamp)
            case React(to=to, emoji=emoji):
                reacted = add(Reacted(turn=turn, mate=mate, to=to, emoji=emoji))
                done.facts += delivery_facts(reacted, surfaces, stamp, "reaction")
            case Note(text=text):
                add(Noted(turn=turn, mate=mate, text=Words(text)))
            case Mark(line=line, mark=mark):
                add(Marked(line=line, mark=mark, by=f"mate:{mate}"))
            case Entitle(title=title):
                add(Titled(title=Words(title), by="room"))
            case Continue():
                done.again = True
            case Remember(text=text):
                add(grounds().asked("keep", text, turn, mate))
            case Forget(what=text):
                add(grounds().asked("forget", text, turn, mate))
            case Schedule() if waking is not None:
                before = sum(fact.body.__class__ is ReminderSet for fact in done.facts)
                add(waking(act, before))
            case StaySilent() | Schedule() | Transcribe():
                pass
            case _:
                assert_never(act)
    return done
