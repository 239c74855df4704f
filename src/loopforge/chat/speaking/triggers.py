"""Triggers: how much cause each mate has to speak after a line, as a sum of named points.

A mate that is addressed (mention, reply, name) speaks. For the others a cheap score from 0 to 100
decides: high enough, it speaks; low, it passes; in between its own mind is asked. The points stand
in the tables below and nowhere else, and a Weight's score is exactly the sum of its reasons.

Pure: no model, no clock. Texts are read here; the fold never reads them, it takes the verdicts.
Mentions, replies and names work in every language; questions and general calls know a few words
of English beside the question marks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from loopforge.chat.room.participants import Member
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.turn_queue import RANK
from loopforge.chat.speaking.addressee_detection import NameCall, find_name_calls
from loopforge.chat.speaking.line_kinds import is_acknowledgement, is_continue_request
from loopforge.chat.speaking.name_mentions import is_general, is_question, strip_quotes_and_code
from loopforge.core.context_window import ContextEntry
from loopforge.core.room_vocabulary import Weight
from loopforge.core.text.topics import count_interests_touched, text_topics

__all__ = [
    "REASONS",
    "TriggerListener",
    "TriggerPoints",
    "TriggerThresholds",
    "batches",
    "weigh_triggers",
]

# ---------------------------------------------------------------- the tables of points


class TriggerPoints(NamedTuple):
    """Points of a reason after a person's line and after a mate's line, and what it means."""

    person: int
    mate: int
    meaning: str


REASONS: dict[str, TriggerPoints] = {
    "mention": TriggerPoints(100, 80, "its handle or name stands there with an @"),
    "reply": TriggerPoints(100, 75, "the line replies to one of its own"),
    "name": TriggerPoints(95, 60, "it is called by its name"),
    "talked about": TriggerPoints(30, 25, "its name stands there, but the line is not said to it"),
    "nearly its name": TriggerPoints(
        20, 15, "a word is like its name, and the line may not be said to it"
    ),
    "follow-up": TriggerPoints(45, 0, "the line goes on with what it just said"),
    "takes note": TriggerPoints(
        -30, 0, "the line says no more than that it was heard: ok, thanks, haha"
    ),
    "not meant": TriggerPoints(-100, -100, "the line says that it is not meant"),
    "default": TriggerPoints(100, 0, "it answers lines here that name no mate"),
    "alone": TriggerPoints(100, 0, "it is the only mate with the only person"),
    "line": TriggerPoints(20, 0, "somebody said something"),
    "one person": TriggerPoints(50, 0, "the only person here talks to nobody if not to mates"),
    "general call": TriggerPoints(45, 25, "anyone, everybody, you all"),
    "question": TriggerPoints(15, 10, "a question mark, or a question word at the start"),
    "interest": TriggerPoints(15, 10, "each of its interests that the line touches, at most two"),
    "quiet so far": TriggerPoints(5, 10, "it has not spoken here yet, or not for ten minutes"),
    "in conversation": TriggerPoints(5, 0, "the last mate to speak was this one"),
    "spoke just before": TriggerPoints(0, -15, "it spoke right before this line"),
    "energy": TriggerPoints(0, 10, "how full the room's energy is: +10 when full, -20 when empty"),
    "to another": TriggerPoints(-70, -50, "another mate was addressed, not this one"),
    "to a person": TriggerPoints(-60, -30, "a person was addressed"),
    "answered by another": TriggerPoints(-25, -25, "each other mate that answered it already"),
    "behind another": TriggerPoints(-25, -25, "each other unaddressed mate with more cause"),
    "had nothing to say": TriggerPoints(
        -8, -8, "each time in a row it was asked and stayed silent, at most 3"
    ),
    "unprompted": TriggerPoints(0, -15, "each line it said since a person spoke"),
}
"""Every reason there is, with its points and its meaning."""

BOUND = "bound"
"""The reason that keeps a score between 0 and 100."""
LEFT = "left to it"
"""The reason that keeps a score where a mate that is only spoken of chooses whether to speak."""
ENOUGH = "another speaks"
"""The reason that keeps a score below the speaking threshold when the only person is answered."""
CROWD = "enough others"
"""The reason that keeps a score below the asking threshold when enough others will speak."""

EMPTY_ENERGY = -20
QUIET = timedelta(minutes=10)
CALLS = ("mention", "reply", "name", "conversation")
"""What may be switched on and off for a mate."""


class TriggerListener(Protocol):
    """What must be known of a mate: its name, what it cares for, what may call it."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def interests(self) -> Collection[str]:
        """Words that wake its attention."""

    @property
    def triggers(self) -> Collection[str]:
        """What may call it."""


class AbsentMate:
    """A mate that cannot run, as it is weighed: only a call is for it."""

    interests: Sequence[str] = ()
    triggers: Sequence[str] = ("mention", "reply", "name")

    def __init__(self, handle: str) -> None:
        self.name = handle.capitalize()


class TriggerThresholds(Struct, frozen=True, kw_only=True):
    """From which score on a mate speaks, or is asked; how many unaddressed ones a line may wake."""

    speak: int = 70
    ask: int = 30
    speakers: int = 2
    speakers_after_mate: int = 1


USUAL = TriggerThresholds()
SMALL = TriggerThresholds(ask=55, speakers=1)
"""A small model says yes whenever it is asked whether it has something to say, so it is asked only
where the score alone nearly decides."""


# ---------------------------------------------------------------- weighing


def batches(pending: Iterable[ContextEntry]) -> list[list[ContextEntry]]:
    """Lines gathered to be weighed as one: those of one person in a row; a mate's each alone."""
    gathered: list[list[ContextEntry]] = []
    for entry in pending:
        last = gathered[-1][-1] if gathered else None
        if last and entry.kind == last.kind == "heard" and entry.who == last.who:
            gathered[-1].append(entry)
        else:
            gathered.append([entry])
    return gathered


def weigh_triggers(
    state: RoomState,
    batch: Sequence[ContextEntry],
    mates: Mapping[str, TriggerListener],
    now: datetime,
    thresholds: TriggerThresholds = USUAL,
) -> list[Weight]:
    """Weigh one speaker's lines (one, or several in a row) for every other mate of the room.

    Mates that were addressed come first, in the order in which they were named; the others by
    score. Mates of the room that `mates` does not know are left out.
    """
    if not batch:
        return []
    scene = _Scene(state, batch, mates, now)
    weights = [scene.weight(mate) for mate in scene.listeners]
    if state.stopped:
        why = {"stopped": 0}
        return [replace(each, score=0, reasons=why, verdict="pass") for each in weights]
    addressed = [weight for weight in weights if weight.mate in scene.called]
    addressed.sort(key=lambda weight: scene.called[weight.mate].place)
    others = sorted(
        (weight for weight in weights if weight.mate not in scene.called),
        key=lambda weight: (-_sum_of_reasons(weight), state.mates[weight.mate].spoke_seq),
    )
    most = thresholds.speakers if scene.from_person else thresholds.speakers_after_mate
    others = _rank_unaddressed(others, scene, most, thresholds)
    return [_with_verdict(weight, thresholds) for weight in [*addressed, *others]]


def _with_verdict(weight: Weight, thresholds: TriggerThresholds) -> Weight:
    if weight.score >= thresholds.speak:
        return replace(weight, verdict="speak")
    return replace(weight, verdict="ask" if weight.score >= thresholds.ask else "pass")


def _rank_unaddressed(
    others: list[Weight], scene: _Scene, most: int, thresholds: TriggerThresholds
) -> list[Weight]:
    """Each of the unaddressed stands behind those with more cause; beyond `most` none is asked.

    The only person is answered by somebody, if not by a mate that is merely spoken of.
    """
    ranked, rank = [], 0
    for place, weight in enumerate(others):
        if weight.score and not weight.reasons.keys() & {"alone", "default"}:
            points = scene.points("behind another") * rank
            weight = _with_score(weight, {**weight.reasons, "behind another": points})
        left = weight.mate in scene.left
        if left:
            at_least = scene.from_person and not scene.to_person
            weight = _weight_if_asked(weight, thresholds, at_least=at_least)
        elif rank and weight.score >= thresholds.speak and scene.only_person and not scene.general:
            excess = thresholds.speak - 1 - _sum_of_reasons(weight)
            weight = _with_score(weight, {**weight.reasons, ENOUGH: excess})
        if place >= most and weight.score >= thresholds.ask:
            excess = thresholds.ask - 1 - _sum_of_reasons(weight)
            weight = _with_score(weight, {**weight.reasons, CROWD: excess})
        rank += not (left and scene.only_person)
        ranked.append(weight)
    return ranked


def _weight_if_asked(weight: Weight, thresholds: TriggerThresholds, *, at_least: bool) -> Weight:
    """The weight where its mate is asked; after a mate's line perhaps too little for that."""
    least = thresholds.ask if at_least else 0
    kept = max(least, min(weight.score, thresholds.speak - 1))
    if kept == weight.score:
        return weight
    return _with_score(weight, {**weight.reasons, LEFT: kept - _sum_of_reasons(weight)})


def _sum_of_reasons(weight: Weight) -> int:
    """The points before they are kept between 0 and 100."""
    return weight.score - weight.reasons.get(BOUND, 0)


def _with_score(weight: Weight, reasons: dict[str, int]) -> Weight:
    """The weight with these reasons, as its score exactly their sum, within 0 and 100."""
    reasons = {name: points for name, points in reasons.items() if points and name != BOUND}
    total = sum(reasons.values())
    score = min(100, max(0, total))
    if score != total:
        reasons[BOUND] = score - total
    return replace(weight, score=score, reasons=reasons)


class _Called(NamedTuple):
    """How a mate was addressed, where in the text (a reply comes before all places), by which line.

    Of several lines that address it, the newest with the strongest summons.
    """

    summons: str
    place: int
    line: str


class _Scene:
    """Everything about the lines that does not depend on which mate is weighed."""

    def __init__(
        self,
        state: RoomState,
        batch: Sequence[ContextEntry],
        mates: Mapping[str, TriggerListener],
        now: datetime,
    ) -> None:
        self.state, self.batch, self.mates, self.now = state, batch, mates, now
        last = batch[-1]
        self.line, self.speaker = last.id, last.who
        self.from_person = last.kind == "heard" and not last.bot
        self.listeners = [
            mate
            for mate in state.mates
            if mate in mates and (self.from_person or mate != self.speaker)
        ]
        self.text = "\n".join(
            strip_quotes_and_code(str(entry.text), surface=entry.surface) for entry in batch
        )
        self.subject, self.general = text_topics(self.text), is_general(self.text)
        self.only_person = self.from_person and len(state.people) == 1
        self.about, self.unmeant = set[str](), set[str]()
        self.nearly = set[str]()
        self.called = self._calls_in(batch)
        self.apart = len({call.line for call in self.called.values()}) > 1
        self.unmeant -= self.called.keys()
        self.about -= self.called.keys() | self.unmeant
        self.left = self.about if self.only_person else self.about | self.nearly
        self.default = "" if self.called else self._default_mate()
        self.addressed = bool(self.called or self.default)
        self.before = self._previous_speaker()
        self.answerers = self._mates_that_answered()
        self.to_person = self._to_person()
        self.noting = is_acknowledgement(self.text) and not self.only_person
        self.followed = self._followed_mate()

    def points(self, reason: str) -> int:
        """The points of a reason after this kind of line."""
        points = REASONS[reason]
        return points.person if self.from_person else points.mate

    def weight(self, mate: str) -> Weight:
        """The weight of one mate before it is ranked among the others."""
        member = self.state.mates[mate]
        blank = Weight(mate=mate, line=self.line, score=0)
        fresh = [entry for entry in self.batch if entry.id not in member.took_in]
        if not fresh or mate in self.answerers:
            self.called.pop(mate, None)
            return replace(blank, reasons={"answered already": 0})
        if len(fresh) < len(self.batch) and mate in self.called:
            again = self._calls_in(fresh).get(mate)
            if again is None:
                del self.called[mate]
            else:
                self.called[mate] = self.called[mate]._replace(line=again.line)
        if mate in self.called:
            summons, line = self.called[mate].summons, self.called[mate].line
            called_by = line if self.apart and line != self.line else ""
            reasons = {summons: self.points(summons)} | self._unprompted_points(member)
            return _with_score(replace(blank, summons=summons, called_by=called_by), reasons)
        if mate == self.default:
            return _with_score(
                replace(blank, summons="default"), {"default": self.points("default")}
            )
        if self._is_alone(mate):
            return _with_score(replace(blank, summons="alone"), {"alone": self.points("alone")})
        if "conversation" not in self._triggers_of(mate) and mate not in self.about:
            return blank
        return _with_score(blank, self._reasons_of(mate, member))

    # ------------------------------------------------------------ reasons

    def _reasons_of(self, mate: str, member: Member) -> dict[str, int]:
        """Every reason of a mate that was not addressed."""
        holds: dict[str, int] = {
            "line": 1,
            "one person": len(self.state.people) == 1,
            "talked about": mate in self.about,
            "nearly its name": mate in self.nearly,
            "not meant": mate in self.unmeant,
            "general call": self.general,
            "question": is_question(self.text),
            "interest": min(2, count_interests_touched(self.subject, self.mates[mate].interests)),
            "quiet so far": self._is_quiet(member),
            "in conversation": self.before == mate,
            "follow-up": self.followed == mate,
            "takes note": self.noting,
            "spoke just before": self.before == mate,
            "to another": self.addressed,
            "to a person": self.to_person,
            "answered by another": len(self.answerers - {mate}),
        }
        reasons = {name: times * self.points(name) for name, times in holds.items() if times}
        if not self.from_person:
            reasons["energy"] = self._energy_points()
        elif len(self.state.people) != 1:
            reasons["had nothing to say"] = self.points("had nothing to say") * min(
                3, member.declined
            )
        return reasons | self._unprompted_points(member)

    def _unprompted_points(self, member: Member) -> dict[str, int]:
        points = self.points("unprompted") * member.streak
        return {"unprompted": points} if points else {}

    def _energy_points(self) -> int:
        energy = self.state.energy
        share = energy.left / energy.capacity if energy.capacity else 0
        return round((self.points("energy") - EMPTY_ENERGY) * share) + EMPTY_ENERGY

    def _is_quiet(self, member: Member) -> bool:
        if member.spoke_at is None or member.spoke_seq < self.state.began:
            return True
        return self.now - member.spoke_at >= QUIET

    def _is_alone(self, mate: str) -> bool:
        here = self.state
        return (
            self.from_person
            and not here.quiet
            and len(here.people) <= 1
            and set(here.mates) == {mate}
        )

    def _default_mate(self) -> str:
        """The mate that answers since no other was named; "" where nobody in particular does.

        That is what speaks to mates as such, and every line of who is alone with several of them.
        """
        if not self.from_person:
            return ""
        chosen = self.state.default_mate
        if chosen not in self.listeners:
            chosen = ""
        if any(entry.called for entry in self.batch):
            able = [m for m in self.listeners if not isinstance(self.mates[m], AbsentMate)]
            return chosen or next(iter(able or self.listeners), "")
        place = self.state.places.get(self.batch[-1].surface)
        alone = (place is not None and place.kind == "private") or (
            self.only_person and not self.state.quiet
        )
        return chosen if alone and len(self.listeners) > 1 else ""

    def _triggers_of(self, mate: str) -> Collection[str]:
        chosen = self.state.triggers.get(mate)
        calls = self.mates[mate].triggers if chosen is None else chosen
        return [call for call in calls if call != "conversation"] if self.state.quiet else calls

    # ------------------------------------------------------------ who was addressed, who spoke

    def _calls_in(self, batch: Sequence[ContextEntry]) -> dict[str, _Called]:
        """The mates addressed in these lines, each by its strongest call."""
        strongest: dict[str, _Called] = {}
        offset = 0
        for entry in batch:
            text = strip_quotes_and_code(str(entry.text), surface=entry.surface)
            names = {mate: self.mates[mate].name for mate in self.listeners}
            named = find_name_calls(text, names, self._other_people())
            if any(one.corrects for one in named):
                self.unmeant |= strongest.keys()
                strongest.clear()
            for mate, call in self._called_in(entry, named, offset):
                if mate in self.listeners and call.summons in self._triggers_of(mate):
                    known = strongest.get(mate, call)
                    best = min(call, known, key=lambda one: RANK.index(one.summons))
                    strongest[mate] = best._replace(place=min(known.place, call.place))
            offset += len(text) + 1
        return strongest

    def _called_in(
        self, entry: ContextEntry, named: Sequence[NameCall], offset: int
    ) -> list[tuple[str, _Called]]:
        """Whom one line calls, and how; who is named in it in another sense is noted."""
        author = self.state.authors.get(entry.reply_to, "")
        found = [(author.removeprefix("mate:"), _Called("reply", offset - 1, entry.id))]
        for who, address, sense, _ in named:
            if sense == "nearly":
                self.nearly.add(who)
            elif sense == "called":
                found.append((who, _Called(address.summons, offset + address.place, entry.id)))
            elif sense == "not":
                self.unmeant.add(who)
                found = [one for one in found if one[0] != who]
            elif "name" in self._triggers_of(who) and (sense == "about" or self.only_person):
                self.about.add(who)
        return found

    def _previous_speaker(self) -> str:
        """The mate that spoke last before these lines."""
        first = self.batch[0].seq
        for entry in reversed(self.state.lines.values()):
            if entry.seq < first and entry.kind == "said":
                return entry.who
        return ""

    def _followed_mate(self) -> str:
        """The mate that said the line before, where this one goes on from there; or ""."""
        if not self.from_person or self.addressed or self.to_person or self.noting:
            return ""
        before = [entry for entry in self.state.recent(9) if entry.seq < self.batch[0].seq]
        last = before[-1] if before else None
        if last is None or last.kind != "said" or self.now - last.at >= QUIET:
            return ""
        asked = self.state.lines.get(last.answers or last.reply_to)
        same = asked is not None and asked.who == self.speaker
        wants = is_continue_request(self.text) or is_question(strip_quotes_and_code(str(last.text)))
        return last.who if is_question(self.text) or (same and wants) else ""

    def _mates_that_answered(self) -> set[str]:
        """The mates that have answered these lines already."""
        ids = {entry.id for entry in self.batch}
        return {
            entry.who
            for entry in self.state.page.since(self.batch[0].seq)
            if entry.kind == "said" and (entry.reply_to in ids or entry.answers in ids)
        }

    def _to_person(self) -> bool:
        """Whether another person is addressed: by a reply, or by name with an @."""
        authors = {self.state.authors.get(entry.reply_to, "") for entry in self.batch}
        replied = any(a.startswith("person:") and a != f"person:{self.speaker}" for a in authors)
        return replied or any(
            one.sense == "called" for one in find_name_calls(self.text, self._other_people())
        )

    def _other_people(self) -> dict[str, str]:
        """The names of the people here but the speaker, by id."""
        return {
            id: str(person.name)
            for id, person in self.state.people.items()
            if id != self.speaker and person.name.text
        }
