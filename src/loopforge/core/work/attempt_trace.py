"""The attempts at a task, folded from its facts: where each begins and ends, what is due of it.

    first turn -> ... -> finished | stood still at a limit | a question at the top | another model
                           '-> to be scored -> to be looked back on -> to be kept -> next attempt

What people decide later (a yes, a no, a thumb, a taken back change) has the last attempt scored
anew; a no or a thumb down has it looked back on anew, since there is news. Who says stop, and what
money or a missing model ends, ends no attempt: it goes on with `resume`. Pure.
"""

from msgspec import Struct, field

from loopforge.core.work.work_vocabulary import (
    AttemptScored,
    ChangeUndone,
    HaltKind,
    ResultApproved,
    ResultOffered,
    ResultRejected,
    TaskAsked,
    TaskEscalated,
    TaskFinished,
    TaskLearned,
    TaskRated,
    TaskReflected,
    TaskStopped,
    WorkEvent,
)

ENDING: frozenset[HaltKind] = frozenset({"turns", "time", "lost", "top"})
"""What an attempt is ended by, of all that makes a task stand still."""


class ReflectionMade(Struct, frozen=True):
    """A look back as it stands on record: its event's id and number."""

    id: str
    seq: int
    body: TaskReflected


class AttemptTrace(Struct, kw_only=True):
    """Where a task stands with its attempts.

    Attempt `nth` began after turn `since` (`turn` is the last one that is over), and was given
    `used`. `over`: it has ended; `unscored`: it is to be scored, as things are now; `news`: what it
    is to be looked back on for happened since the last look back.
    """

    nth: int = 1
    since: int = 0
    turn: int = 0
    used: tuple[str, ...] = ()
    begun: bool = False
    over: bool = False
    unscored: bool = False
    news: bool = False
    scores: dict[int, AttemptScored] = field(default_factory=dict)
    reflections: list[ReflectionMade] = field(default_factory=list)
    learned: list[TaskLearned] = field(default_factory=list)

    @property
    def score(self) -> AttemptScored | None:
        """The score of the attempt that is under way, or was the last."""
        return self.scores.get(self.nth)

    @property
    def unreflected(self) -> bool:
        """Whether it is to be looked back on now."""
        return self.score is not None and not self.unscored and self.score.reflects and self.news

    @property
    def unkept(self) -> ReflectionMade | None:
        """The look back of which it is still to be decided what is kept."""
        last = self.reflections[-1] if self.reflections else None
        known = {one.reflection for one in self.learned}
        if last is None or last.body.trouble or last.id in known:
            return None
        return last

    @property
    def unsettled(self) -> bool:
        """Whether something is still to be learned of what there was."""
        return self.unscored or self.unreflected or self.unkept is not None

    def begin(self, used: tuple[str, ...]) -> None:
        """A turn of work began, with these insights before the mind."""
        if self.over:
            self.nth, self.since, self.over = self.nth + 1, self.turn, False
            self.unscored = self.news = self.begun = False
        if not self.begun:
            self.begun, self.used = True, used

    def take(self, body: WorkEvent, turns: int, id: str = "", seq: int = 0) -> None:
        """Take in a fact of the task, which has taken so many turns."""
        self.turn = turns
        match body:
            case TaskFinished() | TaskEscalated():
                self._end()
            case TaskAsked(top=True):
                self._end()
            case TaskStopped(kind=kind) if kind in ENDING:
                self._end()
            case TaskStopped() if self.begun and not self.over:
                self.unscored = True
            case ResultOffered() | ResultApproved() | ChangeUndone() if self.over:
                self.unscored = True
            case ResultRejected():
                self.unscored = self.news = self.begun
            case TaskRated(up=up) if self.over:
                self.unscored, self.news = True, self.news or not up
            case AttemptScored():
                self.scores[body.attempt] = body
                self.unscored = False
                self.news = self.news and body.reflects
            case TaskReflected():
                self.reflections.append(ReflectionMade(id, seq, body))
                self.news = False
            case TaskLearned():
                self.learned.append(body)

    def _end(self) -> None:
        """It is over; nothing was done in one that had no turn."""
        if self.begun:
            self.over = self.unscored = self.news = True
