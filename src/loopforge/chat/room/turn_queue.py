"""Turns of a room, as far as events say: which are due, in which order, and which have begun.

    Weighed(speak, ask) --> due --Perceived--> open --TurnEnded--> over
                             |                  |
                             |                  +-- done, and the guard allowed Continue: the
                             |                  |   next step is due, before all others
                             |                  +-- a tool of it ended that it was not told of: so,
                             |                  |   too; later ones, when they end
                             |                  +-- diverged before it had any effect: due again
                             |                  +-- somebody came in who may not know what it was
                             |                  |   reminded of: due again, or its next step
                             +--TurnDropped, Stopped, MateLeft--> over

A mate has at most one turn due: when it is called again before it took it, the one turn answers
all the lines. So nothing is answered twice, and after a crash what is due is found again.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from loopforge.core.effect_states import EffectProposed
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.room_vocabulary import AnswerWanted, StoodIn, Weight
from loopforge.core.turn_events import Judged, Perceived, Returned, TurnEnded

CALLED = ("mention", "reply", "name", "default", "alone")
"""How a line calls a mate: "alone" in a private chat, "default" in one with several mates, or by an
account that is there for several."""
RANK = (*CALLED, "continue", "conversation")
"""Summons by strength: of two calls that are answered by one turn, the stronger is named."""

GREETING = "greeting"
"""The summons of a mate that is to greet somebody who came in."""
UNCALLED = ("silence", "hour")
"""The summons of a mate that is woken by time alone."""
TITLE, TRANSCRIPT = "title", "transcript"
"""The summonses of the room's own mind: to name the talk, and to write down a voice note."""
ANEW, MORE = "again", "more"
"""The summons of a mate that is to say its last line anew, or to go on from it."""
SOME = 50
AGAIN = ("continue", "use_tool")
"""Acts that make another step follow, where the guard allows them; the second is of before there
were effects."""


REMINDING = (
    "recall",
    "room_history",
    "list_files",
    "read_result",
    "search_files",
    "skim_file",
)
"""Tools whose results are for those alone who were present when they were used."""


class DueTurn(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A turn that a mate is to take: one answer to all of `lines`; the one that calls is last.

    `also` are those of the others that called it as well.
    `step` counts from 0; a step that follows another one's Continue, or the end of a tool it
    had used, is `continue`. `after` is what the newest end of a tool in it makes due: the event's
    sequence number, lines and step. `by` is who pays for it, where that is not whom it answers.
    """

    mate: str
    lines: tuple[str, ...]
    summons: str
    verdict: Literal["speak", "ask"] = "speak"
    score: int = 0
    step: int = 0
    after: tuple[int, tuple[str, ...], int] = (0, (), 0)
    by: Charge | None = None
    also: tuple[str, ...] = ()

    @property
    def callers(self) -> tuple[str, ...]:
        """All lines that called it."""
        return (*self.also, *((self.line,) if self.summons in CALLED else ()))

    @property
    def line(self) -> str:
        """The line that calls: of several, the newest with the strongest summons."""
        return self.lines[-1]


class OpenTurn(Struct, kw_only=True, omit_defaults=True):
    """A turn that has begun and not ended.

    `again`: the guard allowed another step. `effects`: something of it is in the room already;
    `spoke`: it said something. `halted`: a person said stop, the lines it answers were deleted, or
    its mate was sent out; it must be closed as stopped, also after a crash. `reminded`: what was
    recalled for it, by a tool or before it began, is for those who were present; `overtaken`:
    somebody came in since, so that it must end, and begin anew. `relayed` is how many lines of
    mates led to it, as in `AwaitedEffect`.
    """

    id: str
    mate: str
    line: str
    summons: str
    step: int
    due: DueTurn | None = None
    again: bool = False
    effects: bool = False
    spoke: bool = False
    halted: bool = False
    reminded: bool = False
    overtaken: bool = False
    relayed: int = 0

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that it answers."""
        return self.due.lines if self.due else (self.line,)


class AwaitedEffect(Struct, kw_only=True, omit_defaults=True):
    """A use of a tool, by request `nth` of a turn about `lines`, whose end its mate is to be told.

    `over`: it ended, while its turn went on. `asks`: the number of the question to people whether
    it may be, until one of them has answered. `within`: a program wants it, and is told
    its end in its mate's place. `reminding`: it tells what those present may know.
    """

    turn: str
    nth: int
    mate: str
    tool: str
    step: int
    lines: tuple[str, ...] = ()
    over: bool = False
    asks: int = 0
    within: str = ""
    reminding: bool = False
    relayed: int = 0


class TurnQueue(Struct, kw_only=True, omit_defaults=True):
    """The turns of one room: `due` in order, `open` by id, and by id the `effects` of turns.

    `asked` counts the questions to people whether a mate may use a tool. `joined` is the sequence
    number of the last event by which somebody came in, `parted` of the last after which a mate had
    no longer before its eyes what a tool had recalled. `listened`: the last lines whose voice notes
    were given to a model, whatever came of it.
    """

    due: list[DueTurn] = []
    open: dict[str, OpenTurn] = {}
    effects: dict[str, AwaitedEffect] = {}
    asked: int = 0
    joined: int = 0
    parted: int = 0
    listened: list[str] = []

    def lines(self) -> set[str]:
        """The lines that turns are about."""
        about: list[DueTurn | OpenTurn | AwaitedEffect] = [*self.due, *self.open.values()]
        about += self.effects.values()
        return {line for one in about for line in one.lines}

    def answered(self, turn: str, effect: str) -> tuple[str, tuple[str, ...], int]:
        """The line that what a turn says answers, all lines that the turn does, and how deep it is.

        That is how many lines of mates lead to what it says. A tool of it may say it when the turn
        is over.
        """
        if begun := self.open.get(turn):
            return begun.line, begun.lines, begun.relayed + 1
        used = self.effects.get(effect)
        if used is None or not used.lines:
            return "", (), 1
        return used.lines[-1], used.lines, used.relayed + 1

    @property
    def hearing(self) -> str:
        """The line whose voice note is being written down at this moment; "" for none."""
        heard = (one for one in self.open.values() if one.summons == TRANSCRIPT and not one.halted)
        return next((one.line for one in heard), "")

    def call(self, weight: Weight) -> None:
        """A mate was found to have cause to speak (or to be asked)."""
        if weight.verdict == "pass":
            return
        new = DueTurn(
            mate=weight.mate,
            lines=(weight.caller,),
            summons=weight.summons,
            verdict=weight.verdict,
            score=weight.score,
        )
        for place, old in enumerate(self.due):
            if old.mate == new.mate:
                self.due[place] = _merge_calls(old, new)
                return
        self.due.append(new)

    def want(self, body: AnswerWanted) -> None:
        """A person wants a mate's last line said anew, or that it goes on."""
        who, owner = body.person, body.owner
        by = Charge(person=who, surface=body.surface, guest=body.guest, owner=owner)
        if not any(due.mate == body.mate for due in self.due):
            self.due.append(DueTurn(mate=body.mate, lines=(body.line,), summons=body.how, by=by))

    def take(self, mate: str, line: str) -> DueTurn | None:
        """The due turn of a mate that answers this line is due no longer."""
        for place, due in enumerate(self.due):
            if due.mate == mate and line in due.lines:
                return self.due.pop(place)
        return None

    def begin(
        self, id: str, body: Perceived, *, bound: bool = False, off: bool = False
    ) -> OpenTurn:
        """A turn begins. One that begins anew takes the place of the one before.

        `bound`: its mate sees what a tool recalled in an earlier turn. `off`: somebody said stop,
        its line is deleted or its mate sent out; if it is no longer due by that, it is halted.
        """
        own = body.summons in (TITLE, TRANSCRIPT)
        due = None if own else self.take(body.mate, body.line)
        if due is not None and 0 < body.upto < due.after[0]:  # it ended while the turn was prepared
            _, lines, step = due.after
            self._put_first(
                DueTurn(mate=due.mate, lines=lines, summons="continue", step=step, after=due.after)
            )
        for turn in list(self.open.values()):
            same = (turn.mate, turn.line, turn.summons, turn.step)
            if same == (body.mate, body.line, body.summons, body.step):
                due = self.open.pop(turn.id).due or due
        bound = bound or 0 < body.upto < self.parted
        reminded = bound or any(not one.left for one in body.recalled)
        begun = self.open[id] = OpenTurn(
            id=id,
            mate=body.mate,
            line=body.line,
            summons=body.summons,
            step=body.step,
            due=due,
            halted=off and due is None and not own,
            reminded=reminded,
            overtaken=reminded and 0 < body.upto < self.joined,
        )
        return begun

    def came_in(self, seq: int, *, bound: bool = False) -> None:
        """Somebody came in: what was recalled for turns under way was not for them.

        `bound`: nor is what some mate saw that a tool had recalled.
        """
        self.joined = seq
        self.parted = seq if bound else self.parted
        for turn in self.open.values():
            turn.overtaken = turn.overtaken or turn.reminded

    def hand_over(self, body: StoodIn) -> None:
        """A mate cannot take its turn about a line: another one takes it in its place."""
        due = self.take(body.mate, body.line) or DueTurn(
            mate=body.mate, lines=(body.line,), summons="name"
        )
        self._put_first(replace(due, mate=body.by, verdict="speak", step=0))

    def judged(self, body: Judged) -> None:
        """The guard has spoken."""
        if turn := self.open.get(body.turn):
            turn.again = any(v.allowed and v.act in AGAIN for v in body.verdicts)

    def affected(self, id: str, *, spoke: bool = False) -> None:
        """Something of a turn is in the room."""
        if turn := self.open.get(id):
            turn.effects = True
            turn.spoke = turn.spoke or spoke

    def end(self, body: TurnEnded, *, onward: bool) -> OpenTurn | None:
        """A turn is over. `onward`: the room would let its mate take a next step."""
        turn = self.open.pop(body.turn, None)
        for id in [id for id, one in self.effects.items() if one.over and one.turn == body.turn]:
            self._show_result(id)
        if turn is not None and turn.summons == TRANSCRIPT and body.outcome != "diverged":
            self.listened = [*self.listened[-SOME:], turn.line]
        if turn is None or turn.halted or turn.summons in (TITLE, TRANSCRIPT) or not onward:
            return turn
        if body.outcome == "done" and turn.again:
            self._queue_next_step(
                turn.mate, turn.lines, turn.step, by=turn.due.by if turn.due else None
            )
        elif body.outcome == "diverged" and not turn.effects and turn.due:
            self._put_first(turn.due)
        elif body.outcome == "diverged" and turn.overtaken and not self._awaits_tool(turn.id):
            self._queue_next_step(
                turn.mate, turn.lines, turn.step, by=turn.due.by if turn.due else None
            )
        return turn

    def _awaits_tool(self, turn: str) -> bool:
        """Whether a tool of a turn is at work, whose end makes its mate's next step due."""
        return any(one.turn == turn and not one.over for one in self.effects.values())

    def deleted(self, line: str) -> None:
        """A line is gone: nobody answers it any more, and a turn about it alone is halted."""
        self.due = [
            _keep_lines(due, left)
            for due in self.due
            if (left := tuple(each for each in due.lines if each != line))
        ]
        for turn in self.open.values():
            if turn.due is None or line not in turn.due.lines:
                continue
            left = tuple(each for each in turn.due.lines if each != line)
            turn.due = _keep_lines(turn.due, left) if left else None
            turn.halted = turn.halted or not left
        for effect in self.effects.values():
            effect.lines = tuple(each for each in effect.lines if each != line)

    def halt(self) -> None:
        """A person said stop: nothing is due, and what is open goes no further."""
        self.due = []
        for turn in self.open.values():
            turn.halted = True
        for effect in self.effects.values():
            effect.lines = ()

    def leave(self, mate: str) -> None:
        """A mate is here no longer."""
        self.due = [due for due in self.due if due.mate != mate]
        for turn in self.open.values():
            turn.halted = turn.halted or turn.mate == mate
        for effect in self.effects.values():
            effect.lines = effect.lines if effect.mate != mate else ()

    # ------------------------------------------------------------ effects

    def proposed(self, id: str, body: EffectProposed) -> None:
        """A turn wants a tool used."""
        self.asked += body.asks
        if body.within:
            self._proposed_within(id, body)
        elif turn := self.open.get(body.turn):
            self.effects[id] = AwaitedEffect(
                turn=turn.id,
                nth=body.nth,
                mate=turn.mate,
                tool=body.tool,
                step=turn.step,
                lines=turn.lines,
                asks=self.asked if body.asks else 0,
                reminding=body.tool in REMINDING,
                relayed=turn.relayed,
            )
            turn.reminded = turn.reminded or body.tool in REMINDING

    def _proposed_within(self, id: str, body: EffectProposed) -> None:
        """A program wants a tool used, for whom its mate has it used."""
        if program := self.effects.get(body.within):
            program.reminding = program.reminding or body.tool in REMINDING
            if (turn := self.open.get(program.turn)) and program.reminding:
                turn.reminded = True
            self.effects[id] = AwaitedEffect(
                turn=program.turn,
                nth=0,
                mate=program.mate,
                tool=body.tool,
                step=program.step,
                lines=program.lines,
                asks=self.asked if body.asks else 0,
                within=body.within,
                relayed=program.relayed,
            )

    def numbered(self, id: str, number: int) -> None:
        """People were told the number of its question."""
        if (effect := self.effects.get(id)) and effect.asks:
            effect.asks, self.asked = number, max(self.asked, number)

    def question(self, number: int) -> tuple[str, AwaitedEffect] | None:
        """The use of a tool that this question to people is about, and its id."""
        return next(((id, one) for id, one in self.effects.items() if one.asks == number), None)

    def approved(self, id: str) -> None:
        """It is to happen."""
        if effect := self.effects.get(id):
            effect.asks = 0
            self.affected(effect.turn)

    def told(self, body: Returned) -> None:
        """A mind was told what became of its request, if not that it goes on."""
        if body.outcome in ("deferred", "cancelled"):
            return
        self.effects = {
            id: one
            for id, one in self.effects.items()
            if (one.turn, one.nth) != (body.turn, body.nth)
        }

    def ended(self, id: str, seq: int) -> AwaitedEffect | None:
        """An effect is over; its mate takes a step to see that, now or when its turn is over."""
        effect = self.effects.get(id)
        if effect is None:
            return None
        effect.over, effect.asks = True, 0
        if effect.within:
            del self.effects[id]
            return None
        if effect.turn not in self.open:
            self._show_result(id, seq)
        return effect

    def _show_result(self, id: str, seq: int = 0) -> None:
        effect = self.effects.pop(id)
        if effect.lines:
            self._queue_next_step(effect.mate, effect.lines, effect.step, seq)

    def _queue_next_step(
        self,
        mate: str,
        lines: tuple[str, ...],
        step: int,
        seq: int = 0,
        *,
        by: Charge | None = None,
    ) -> None:
        step += 1
        after = (seq, lines, step) if seq else (0, (), 0)
        self._put_first(
            DueTurn(mate=mate, lines=lines, summons="continue", step=step, after=after, by=by)
        )

    def _put_first(self, due: DueTurn) -> None:
        for place, old in enumerate(self.due):
            if old.mate == due.mate:
                due = _merge_calls(due, self.due.pop(place))
                break
        self.due.insert(0, due)


def _merge_calls(first: DueTurn, second: DueTurn) -> DueTurn:
    """One turn for two calls: all lines, the stronger summons, the surer verdict.

    Whoever wished for one of them pays, unless the other is a call that goes back to a person.
    """
    weak, strong = (
        (second, first) if _summons_rank(first) < _summons_rank(second) else (first, second)
    )
    return DueTurn(
        mate=first.mate,
        lines=(*(line for line in weak.lines if line not in strong.lines), *strong.lines),
        summons=strong.summons,
        verdict="speak" if "speak" in (first.verdict, second.verdict) else "ask",
        score=max(first.score, second.score),
        step=min(first.step, second.step),  # a new line begins a new chain of steps
        after=max(first.after, second.after),
        by=strong.by or (None if strong.summons in RANK else weak.by),
        also=(*(line for line in weak.callers if line not in strong.lines), *strong.also),
    )


def _keep_lines(due: DueTurn, lines: tuple[str, ...]) -> DueTurn:
    """The same of these lines alone."""
    return replace(due, lines=lines, also=tuple(each for each in due.also if each in lines[:-1]))


def _summons_rank(due: DueTurn) -> int:
    return RANK.index(due.summons) if due.summons in RANK else len(RANK)
