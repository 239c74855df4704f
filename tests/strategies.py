"""Histories of rooms for property tests: everything that may happen, in an order in which it can.

`Chronicle` writes one history, event by event, and keeps its own plain account of who is called
(`called`), against which the fold can be held. `histories()` is a strategy of them.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from loopforge.core.events import Body, Erased, Event
from loopforge.core.limits.turn_bounds import TurnBounds
from loopforge.core.room_vocabulary import (
    BoundsSet,
    ConversationBegan,
    ConversationEnded,
    EnergySet,
    File,
    Heard,
    Marked,
    MateJoined,
    MateLeft,
    Noted,
    PersonJoined,
    PersonLeft,
    PolicyChosen,
    Purged,
    Reacted,
    RoomOpened,
    Said,
    Stopped,
    Titled,
    Told,
    ToolUsed,
    TriggersSet,
    TurnDropped,
    Weighed,
    Weight,
)
from loopforge.core.text.erasable_text import Words, public_words, salted_digest
from loopforge.core.turn_events import Judged, LineRun, Perceived, TurnEnded, Verdict

DAWN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
PEOPLE = ("p-ada", "p-bo", "p-cy")
MATES = ("maya", "merlin", "zoe", "otto", "pip")


@dataclass(frozen=True)
class Listening:
    """A mate as far as triggers know it."""

    name: str
    interests: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ("mention", "reply", "name", "conversation")


class Chronicle:
    """One room's history as it is written. `called` maps mates, in order, to lines to answer."""

    def __init__(self, *, people: int = 1, mates: int = 3, began: bool = True) -> None:
        self.events: list[Event] = []
        self.now = DAWN
        self.salt = 0
        self.people: list[str] = []
        self.mates: list[str] = []
        self.lines: list[str] = []
        self.unweighed: list[str] = []
        self.called: dict[str, list[str]] = {}
        self.going_on: set[str] = set()
        self.turn: tuple[str, str, str, int] | None = None
        self.answering: list[str] = []
        self.again = self.halted = self.effects = self.went_on = False
        self.stopped = False
        self.add(RoomOpened(name="commons"))
        for person in PEOPLE[:people]:
            self.join(person)
        for mate in MATES[:mates]:
            self.join_mate(mate)
        if began:
            self.add(ConversationBegan(why="first"))

    # ------------------------------------------------------------ writing

    def words(self, text: str) -> Words:
        """A private text as the ledger returns it: with a ref of its own."""
        self.salt += 1
        return Words(text, salted_digest(text, self.salt.to_bytes(4, "big")))

    def add(self, body: Body, *, after: float = 1.0) -> Event:
        """The next event, `after` seconds later."""
        self.now += timedelta(seconds=after)
        seq = len(self.events) + 1
        event = Event(
            stream="room:commons",
            seq=seq,
            id=f"{seq:08x}",
            at=self.now,
            actor="room",
            cause="",
            body=body,
        )
        self.events.append(event)
        return event

    def join(self, person: str) -> None:
        """A person comes in, by the name in its id."""
        name = self.words(person.removeprefix("p-").title())
        self.add(PersonJoined(person=person, name=name, surface="terminal"))
        if person not in self.people:
            self.people.append(person)

    def join_mate(self, mate: str) -> None:
        """A mate becomes a member."""
        self.add(MateJoined(mate=mate))
        if mate not in self.mates:
            self.mates.append(mate)

    def leave_mate(self, mate: str) -> None:
        """A mate is a member no longer, and nothing is due to it."""
        self.add(MateLeft(mate=mate))
        self.mates.remove(mate)
        self.called.pop(mate, None)
        self.going_on.discard(mate)

    def hear(
        self,
        text: str,
        person: str = PEOPLE[0],
        *,
        reply_to: str = "",
        source: str = "",
        files: tuple[File, ...] = (),
        surface: str = "terminal",
        after: float = 1.0,
    ) -> Event:
        """A person says a line."""
        body = Heard(
            person=person,
            text=self.words(text),
            surface=surface,
            source=source,
            reply_to=reply_to,
            files=files,
        )
        self.stopped = False
        return self._line(self.add(body, after=after))

    def stop(self, person: str = PEOPLE[0]) -> None:
        """A person says stop: the line and the fact, as one append."""
        self.hear("stop", person)
        self.add(Stopped(person=person, surface="terminal"), after=0)
        self.stopped = self.halted = True
        self.called.clear()
        self.going_on.clear()
        self.unweighed.clear()

    def weigh(self, *verdicts: tuple[str, str, str]) -> Event:
        """Everything unweighed is weighed; each verdict is (mate, line, speak | ask | pass)."""
        weights = tuple(
            Weight(mate=mate, line=line, score=50, verdict=verdict)  # type: ignore[arg-type]
            for mate, line, verdict in verdicts
        )
        for mate, line, verdict in verdicts:
            if verdict != "pass" and mate in self.mates and not self.stopped:
                lines = self.called.setdefault(mate, [])
                if mate in self.going_on:  # the step before called more strongly
                    self.called[mate] = lines if line in lines else [line, *lines]
                else:
                    self.called[mate] = [*(old for old in lines if old != line), line]
        self.unweighed.clear()
        return self.add(Weighed(upto=len(self.events), weights=weights))

    def perceive(self, mate: str, *, step: int = 0, summons: str = "name") -> Event:
        """A called mate begins its turn."""
        self.answering = self.called.pop(mate)
        self.went_on = mate in self.going_on
        self.going_on.discard(mate)
        line = self.answering[-1]
        event = self.add(
            Perceived(
                mate=mate,
                policy="talk/1",
                mind="0" * 16,
                line=line,
                summons=summons,
                step=step,
                shown=self.words("{}"),
                lines=LineRun(more=()),
            )
        )
        self.turn = (event.id, mate, line, step)
        self.again = self.halted = self.effects = False
        return event

    def judge(self, *acts: tuple[str, bool]) -> None:
        """The guard speaks on each act of the plan."""
        assert self.turn
        verdicts = tuple(Verdict(act=act, allowed=allowed) for act, allowed in acts)
        self.add(Judged(turn=self.turn[0], verdicts=verdicts))
        self.again = any(allowed and act in ("continue", "use_tool") for act, allowed in acts)

    def say(self, text: str, *, reply_to: str = "", mate: str = "") -> Event:
        """The mate whose turn it is (or `mate`, out of turn) says a line."""
        id, whose = self.turn[:2] if self.turn else ("", MATES[0])
        self.effects = True
        body = Said(
            turn=id,
            mate=mate or whose,
            text=self.words(text),
            mode="context",
            narrative=self.words(f"I thought I would say {text}"),
            reply_to=reply_to,
        )
        return self._line(self.add(body))

    def note(self, text: str) -> Event:
        """The mate whose turn it is writes a note to itself."""
        assert self.turn
        self.effects = True
        event = self.add(Noted(turn=self.turn[0], mate=self.turn[1], text=self.words(text)))
        self.lines.append(event.id)
        return event

    def use(self, tool: str, value: str, outcome: str = "returned") -> Event:
        """A tool gives its result to the mate whose turn it is."""
        assert self.turn
        self.effects = True
        body = ToolUsed(
            turn=self.turn[0],
            mate=self.turn[1],
            tool=tool,
            outcome=outcome,
            value=self.words(value),
        )
        event = self.add(body)
        self.lines.append(event.id)
        return event

    def end(self, outcome: str = "done", *, took_in: tuple[str, ...] = ()) -> None:
        """The turn is over."""
        assert self.turn
        id, mate, _, _ = self.turn
        self.add(TurnEnded(turn=id, outcome=outcome, took_in=took_in))  # type: ignore[arg-type]
        onward = not self.halted and not self.stopped and mate in self.mates
        anew = outcome == "diverged" and not self.effects
        again = outcome == "done" and self.again
        if onward and (again or anew):
            later = self.called.pop(mate, [])
            if again or self.went_on:
                self.going_on.add(mate)
                lines = [line for line in later if line not in self.answering] + self.answering
            else:
                lines = [line for line in self.answering if line not in later] + later
            self.called = {mate: lines, **self.called}
        self.turn = None

    def _line(self, event: Event) -> Event:
        self.lines.append(event.id)
        self.unweighed.append(event.id)
        return event


# ---------------------------------------------------------------- strategies

TEXTS = st.one_of(
    st.sampled_from(
        [
            "hi",
            "maya, what time is it?",
            "@merlin look at this",
            "does anyone like old maps?",
            "stop by the shop",
            "`maya` is a variable",
            "玛雅你好",
            "ok",
        ]
    ),
    st.text(max_size=20),
)
VERDICTS = st.sampled_from(["speak", "ask", "pass"])
ACTS = st.lists(
    st.tuples(st.sampled_from(["say", "note", "continue", "use_tool"]), st.booleans()), max_size=3
)


@st.composite
def histories(draw: st.DrawFn, *, most: int = 40) -> Chronicle:
    """A valid history of a room, of at most about `most` moves."""
    story = Chronicle(
        people=draw(st.integers(0, 2)), mates=draw(st.integers(0, 4)), began=draw(st.booleans())
    )
    for _ in range(draw(st.integers(0, most))):
        draw(st.sampled_from(_MOVES))(story, draw)
    return story


def _company(story: Chronicle, draw: st.DrawFn) -> None:
    person, mate = draw(st.sampled_from(PEOPLE)), draw(st.sampled_from(MATES))
    if draw(st.booleans()):
        if person in story.people and draw(st.booleans()):
            story.add(PersonLeft(person=person))
            story.people.remove(person)
        else:
            story.join(person)
    elif mate in story.mates and draw(st.booleans()):
        story.leave_mate(mate)
    else:
        story.join_mate(mate)


def _heard(story: Chronicle, draw: st.DrawFn) -> None:
    person = draw(st.sampled_from(story.people)) if story.people else PEOPLE[0]
    text = draw(TEXTS)
    name = File(name=story.words("a.txt"), size=len(text), text=story.words(text))
    story.hear(
        text,
        person,
        reply_to=draw(st.sampled_from(["", *story.lines[-5:]])),
        source=draw(st.sampled_from(["", f"s{len(story.events)}"])),
        files=draw(st.sampled_from([(), (), (name,)])),
        after=draw(st.sampled_from([0.0, 0.3, 5.0, 4000.0])),
    )


def _stopped(story: Chronicle, draw: st.DrawFn) -> None:
    story.stop(draw(st.sampled_from(PEOPLE)))


def _weighed(story: Chronicle, draw: st.DrawFn) -> None:
    if story.unweighed:
        lines = st.sampled_from(story.unweighed)
        mates = draw(st.permutations(story.mates))
        story.weigh(*((mate, draw(lines), draw(VERDICTS)) for mate in mates))


def _turned(story: Chronicle, draw: st.DrawFn) -> None:
    """The next thing in the life of a turn."""
    if story.turn is None:
        if story.called:
            mate = next(iter(story.called))
            if draw(st.integers(0, 4)):
                story.perceive(mate)
            else:
                story.add(TurnDropped(mate=mate, line=story.called.pop(mate)[-1], why="tired"))
                story.going_on.discard(mate)
        return
    match draw(st.sampled_from(["judge", "say", "note", "use", "react", "end", "fail"])):
        case "judge":
            story.judge(*draw(ACTS))
        case "say":
            story.say(draw(TEXTS))
        case "note":
            story.note(draw(TEXTS))
        case "use":
            story.use("clock", draw(TEXTS), draw(st.sampled_from(["returned", "failed"])))
        case "react" if story.lines:
            id, mate = story.turn[:2]
            story.add(Reacted(turn=id, mate=mate, to=story.lines[-1], emoji="🙂"))
            story.effects = True
        case "end":
            story.end(took_in=tuple(story.unweighed[:1]))
        case _:
            story.end(draw(st.sampled_from(["stopped", "diverged", "failed"])))


def _context(story: Chronicle, draw: st.DrawFn) -> None:
    if not story.lines:
        return
    if draw(st.booleans()):
        line = draw(st.sampled_from(story.lines[-8:]))
        story.add(draw(st.builds(Marked, line=st.just(line), by=st.just(PEOPLE[0]))))
    elif story.mates:
        lines = tuple(draw(st.lists(st.sampled_from(story.lines), unique=True)))
        story.add(
            Purged(mate=draw(st.sampled_from(story.mates)), lines=lines, before=900, after=400)
        )


def _settled(story: Chronicle, draw: st.DrawFn) -> None:
    mate = draw(st.sampled_from(["", *MATES]))
    number = draw(st.integers(0, 9))
    triggers = tuple(draw(st.sets(st.sampled_from(["mention", "reply", "name"]))))
    titles = [Titled(title=story.words("Tea"), by=by) for by in ("room", PEOPLE[0])]
    bodies: list[Body] = [
        EnergySet(capacity=number, refill=number // 2),
        PolicyChosen(policy="stub", mate=mate),
        BoundsSet(bounds=TurnBounds(calls=number, money=number / 10)),
        TriggersSet(mate=mate or MATES[0], triggers=tuple(sorted(triggers))),
        Told(text=public_words("The model is slow today.")),
        *titles,
    ]
    body = draw(st.sampled_from(bodies))
    event = story.add(body)
    if isinstance(body, Told):
        story.lines.append(event.id)


def _conversed(story: Chronicle, draw: st.DrawFn) -> None:
    if draw(st.booleans()):
        story.add(ConversationEnded(why="asked"))
    story.add(ConversationBegan(why=draw(st.sampled_from(["asked", "idle"]))))


def _erased(story: Chronicle, draw: st.DrawFn) -> None:
    refs = [
        event.body.text.ref
        for event in story.events
        if isinstance(event.body, Heard | Said) and event.body.text.ref
    ]
    if refs:
        story.add(Erased(refs=(draw(st.sampled_from(refs)),), by=PEOPLE[0]))


_MOVES = (
    _company,
    *(_heard,) * 4,
    _stopped,
    *(_weighed,) * 3,
    *(_turned,) * 8,
    *(_context,) * 2,
    _settled,
    _conversed,
    _erased,
)
