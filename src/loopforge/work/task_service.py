"""Tasks as a service: what surfaces, pages and commands may have done with them.

    open -> say, rate -> stop, resume -> approve, reject, undo

Every method decides on the task as it stands and appends facts; the world does the rest, in this
process or in the one that runs the home. What cannot be done is said in a sentence.
"""

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from functools import partial
from typing import Literal, TypeVar

from loopforge.core.effect_states import EffectApproved, EffectDenied
from loopforge.core.events import Body, Event, Fact
from loopforge.core.text.erasable_text import Words
from loopforge.core.work import task_confidence
from loopforge.core.work.model_escalation import CORRECTIONS, EscalationCause
from loopforge.core.work.task_classifier import (
    TaskClass,
    correction_of,
    says_wrong,
    shell_command,
    wants_again,
)
from loopforge.core.work.task_confidence import ReliabilityBin
from loopforge.core.work.work_vocabulary import (
    ANY_TOOL,
    ResultApproved,
    ResultOffered,
    ResultRejected,
    TaskAsked,
    TaskOpened,
    TaskRated,
    TaskResumed,
    TaskSteered,
    TaskStopped,
)
from loopforge.errors import BadLine, Changed, NotLetIn, Unknown
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp
from loopforge.work.task_state import PREFIX, TaskStanding, TaskState
from loopforge.work.task_store import TaskStore
from loopforge.work.task_world import TaskWorld
from loopforge.work.work_place import WorkPlaces

T = TypeVar("T")
Calibration = tuple[float | None, tuple[ReliabilityBin, ...]]
LONGEST = 20_000
"""Characters of a task, or of a line said during one."""
PAID = (
    "With more money it goes on: say how much on its page, or by "
    "`loopforge work resume {id} --budget 1`."
)
SAID_NO = "A person said no to it"
SAID_STOP = "a person said stop"
TAKEN_BACK = "a person took back its last change"
LONGEST_REASON = 500
"""Characters of a reason that goes with a no."""
APPROVED = "It is approved already; nothing was done again."


class TaskService:
    """What may be done with the tasks of a home. `address` is where browsers elsewhere reach it."""

    def __init__(
        self,
        ledger: Ledger,
        stamp: Stamp,
        store: TaskStore,
        places: WorkPlaces,
        world: TaskWorld,
        halt: Callable[[str, str], None],
        address: Callable[[], str] = str,
    ) -> None:
        self._ledger, self._stamp, self.store = ledger, stamp, store
        self.places, self.world, self._halt = places, world, halt
        self._address = address

    async def open(
        self,
        text: str,
        person: str,
        *,
        mate: str = "",
        thread: str = "",
        repo: str = "",
        budget: float = 0.0,
        surface: str = "terminal",
        owner: bool = False,
        line: str = "",
        only: Literal["", "docstrings"] = "",
        tools: Collection[str] = (ANY_TOOL,),
    ) -> str:
        """Give a task; its id. Raises BadLine, and Unknown for a repository that is not one.

        `line` is what it was given by, an event of its own stream: of one line comes one task.
        `only` is all that it may change, `tools` are those that this person may have used.
        """
        text = self.world.calls.without_keys(checked_text(text))
        if self.world.names_nothing_else(text):
            raise BadLine(f"Say behind {text} what is to be done.")
        if mate and not self.world.calls.roles.is_mate(mate):
            raise Unknown(f"There is no mate {mate!r}; `loopforge mate list` shows them.")
        if repo:
            repo = self.places.repositories.registered.find(repo).name
        id = line or self._stamp.id()
        body = TaskOpened(
            text=Words(text),
            person=person,
            mate=mate,
            thread=thread,
            repo=repo,
            budget=checked_budget(budget),
            surface=surface,
            owner=owner,
            only=only,
            tools=tuple(sorted(tools)),
        )
        fact = self._stamp.fact(body, actor=f"person:{person}", cause=line)
        if not (line and PREFIX + id in await self.store.streams()):
            await self._ledger.append(PREFIX + id, [fact], expect=0)
        return id

    def new_id(self) -> str:
        """An id for a task that is about to be given."""
        return self._stamp.id()

    async def say(
        self,
        task: str,
        person: str,
        text: str,
        source: str = "",
        tools: Collection[str] = (ANY_TOOL,),
    ) -> str:
        """Say something during a task: it steers the next turn, answers a question, corrects.

        From then on it uses none but these `tools`, which this person may have used. What is told
        of it, in a sentence. Raises BadLine, Unknown, Changed.
        """
        text, flow = self.world.calls.without_keys(checked_text(text)), correction_of(text)

        async def attempt(state: TaskState, seq: int) -> str:
            if state.stage in ("approved", "rejected"):
                raise Changed("This task is over; give a new one.")
            was, asked = state.classified, state.stage == "waiting"
            corrects, onward = flow is not None or says_wrong(text, asked=asked), flow
            again = shell_command(text) or wants_again(text, asked=asked)
            if was and was.flow == "shell" and (asked or state.stage == "finished") and not again:
                onward = flow or "sequential-thinking"  # who runs commands alone answers nothing
            bodies: list[Body] = [
                TaskSteered(
                    person=person,
                    text=Words(text),
                    corrects=corrects,
                    source=source,
                    tools=tuple(sorted(tools)),
                )
            ]
            told = "It is put before the mate in its next turn."
            if onward is not None and was is not None and was.flow != onward:
                reason = f'A person said "{text[:80]}".'
                found = TaskClass(was.task_type, was.role, was.complexity, onward, reason)
                bodies.append(self.world.outcomes.classified(found, "person"))
                told = f"It is taken otherwise from now on: {onward}."
            elif state.stage in ("waiting", "finished"):
                told = "The task goes on with that."
            elif state.stage == "stopped":
                told = "It is kept for when the task goes on; `resume` says so."
            if corrects and state.corrections + 1 - state.corrected >= CORRECTIONS:
                why = f"people corrected it {CORRECTIONS} times"
                bodies += self._next_model(state, EscalationCause("corrections", why))
            await self._append_facts(state, bodies, person, seq)
            return told

        return await self._decide_on(task, attempt)

    async def stop(
        self,
        task: str,
        person: str,
        why: str = SAID_STOP,
        tools: Collection[str] = (ANY_TOOL,),
    ) -> str:
        """Have it stand still, wherever it stands, forgotten or not. What is told of it.

        `person` is "" where nobody stopped it, but `why` did. From then on it uses `tools` alone,
        also where it stood still already.
        """

        async def attempt(state: TaskState, seq: int) -> str:
            over = state.stage in ("stopped", "finished", "approved", "rejected")
            less = state.stage == "stopped" and state.tools_among(tools) != state.tools
            if over and not (state.looks_back or less):
                return f"It is {state.stage} already."
            self._halt(state.stream, why)
            if over and not less:
                return f"It is {state.stage} already. Looking back on it was broken off."
            left = tuple(sorted(tools))
            body = TaskStopped(kind="person", why=Words(why), by=person, tools=left)
            await self._append_facts(state, [body], person, seq)
            return "Stopped. `resume` goes on from here."

        return await self._decide_on(task, attempt, forgotten=True)

    async def resume(self, task: str, person: str, budget: float = 0.0) -> str:
        """Have it go on from where it stands; `budget` adds US dollars. Raises Changed, BadLine.

        Also where all of its money is spent and no more is given: it would stand still at once. One
        that waits for its model asks it now; what is done is not done again.
        """
        more = checked_budget(budget)

        async def attempt(state: TaskState, seq: int) -> str:
            if state.at_work and state.delayed is None:
                return "It is at work already."
            if state.stage in ("approved", "rejected"):
                raise Changed(f"This task is {state.stage}; give a new one.")
            if state.stage == "finished":
                return "It is done: say what is to be done besides, and it goes on with that."
            most = self.world.calls.budget_of(state)
            if most and float(state.dollars) >= most + more:
                raise Changed(f"It cost its ${most:g}. {PAID.format(id=state.id[-8:])}")
            await self._append_facts(state, [TaskResumed(by=person, budget=more)], person, seq)
            return "It goes on."

        return await self._decide_on(task, attempt)

    async def rate(self, task: str, person: str, *, up: bool, line: str = "") -> float:
        """A thumb on a line of the mate; the confidence after it. Down: the next model goes on.

        Raises Changed where it counts for nothing: before the first turn, and of what is decided.
        """

        async def attempt(state: TaskState, seq: int) -> float:
            if state.stage in ("approved", "rejected"):
                raise Changed(f"This task is {state.stage}; thumbs count until then.")
            if not state.turns:
                raise Changed("There is nothing to rate yet: its first turn is not over.")
            after = task_confidence.rated(state.confidence, up=up)
            bodies: list[Body] = [TaskRated(person=person, up=up, confidence=after, line=line)]
            if not up and state.classified:
                cause = EscalationCause("thumb", "a person's thumb went down")
                bodies += self._next_model(state, cause)
            await self._append_facts(state, bodies, person, seq)
            return after

        return await self._decide_on(task, attempt)

    def _next_model(self, state: TaskState, cause: EscalationCause) -> list[Body]:
        """That the next model goes on, where there is one: who said so is asked nothing."""
        onward = self.world.outcomes.onward(state, state.open, cause)
        return [] if isinstance(onward, TaskAsked) else [onward]

    async def allow(
        self,
        task: str,
        person: str,
        *,
        owner: bool,
        yes: bool = True,
        use: str = "",
        tools: Collection[str] = (ANY_TOOL,),
        reason: str = "",
    ) -> str:
        """Let a use of a tool that waits for a yes run, exactly as it was asked for; or not.

        That `use`, else the oldest that waits. Of a no the mate is told the `reason`. Raises
        Changed where it does not wait (any more), NotLetIn where only the owner may, and where it
        is none of the `tools` that they may have.
        """
        because = self._reason(reason)

        async def attempt(state: TaskState, seq: int) -> str:
            effect = use or next(iter(state.allowing), "")
            if (found := state.allowing.get(effect)) is None:
                raise Changed(await self._answer_to(state, effect))
            if not owner and self.world.only_owner(found.tool):
                raise NotLetIn(f"Only the owner of this home may allow {found.tool}.")
            if not (owner or self.world.calls.may_use(tools, found.tool)):
                raise NotLetIn(f"You may not have {found.tool} used in the room of this task.")
            if yes and (why := self.world.calls.lapse(state, found.tool)):
                raise Changed(f"Nobody can say yes to that any more: {why}. A no ends it.")
            body: Body = EffectApproved(effect=effect, by=f"person:{person}")
            if not yes:
                why = f": {because}" if because else "."
                body = EffectDenied(effect=effect, rule="asked", value=Words(SAID_NO + why))
            await self._append_facts(state, [body], person, seq)
            return f"{found.tool} {'runs' if yes else 'does not run'}: {str(found.arguments)[:200]}"

        return await self._decide_on(task, attempt)

    def _reason(self, given: str) -> str:
        """Why a person says no, as far as a mate is told; "" for nothing."""
        return self.world.calls.without_keys(given.strip())[:LONGEST_REASON]

    async def _answer_to(self, state: TaskState, effect: str) -> str:
        """Why a use of a tool waits for no yes: somebody was first, or it never did."""
        kinds = ["effect.approved", "effect.denied"]
        for event in await self._ledger.read(state.stream, kinds=kinds):
            if (
                isinstance(event.body, EffectApproved | EffectDenied)
                and event.body.effect == effect
            ):
                said = "yes" if isinstance(event.body, EffectApproved) else "no"
                return f"It was answered already: somebody said {said} to it."
        if state.allowing:
            return "That is not what waits for a yes any more."
        return "Nothing of this task waits for a yes."

    # ------------------------------------------------------------ its result

    async def approve(self, task: str, person: str, commit: str = "") -> str:
        """Take the result: exactly the commit that was shown is merged, once.

        Raises Changed, RepositoryError; then nothing was merged.
        """

        async def attempt(state: TaskState, seq: int) -> str:
            if state.stage == "approved":
                return APPROVED
            if state.stage != "finished":
                raise Changed(f"There is nothing to approve: the task is {state.stage}.")
            merged, offered = "", state.offered
            if state.task.repo:
                if offered is None or not offered.commit:
                    why = str(offered.message) if offered else "nothing was shown yet"
                    raise Changed(f"There is nothing to merge: {why}")
                _check_same_commit(offered, commit)
                merged = (await self.places.approve(state, offered.commit)).commit
            elif commit:
                raise Changed("It works on no repository, so there is no commit to take.")
            body = ResultApproved(
                by=person, commit=offered.commit if offered else "", merged=merged
            )
            # What is merged is, whoever else wrote meanwhile.
            await self._append_facts(state, [body], person, None if merged else seq)
            return f"Merged as {merged[:12]}." if merged else "Approved."

        return await self._decide_on(task, attempt)

    async def reject(self, task: str, person: str, commit: str = "", reason: str = "") -> str:
        """Do not take the result: its branch goes, its workspace stays. Raises Changed.

        The `reason` stands on record, before whoever looks back on the attempt, too.
        """
        why = self._reason(reason)

        async def attempt(state: TaskState, seq: int) -> str:
            _check_rejectable(state)  # also anew: somebody may have had it go on meanwhile
            gone, stays = "", None
            if state.task.repo:
                if state.offered is not None and state.offered.commit:
                    _check_same_commit(state.offered, commit)
                stays = await self.places.reject(state)
                gone = "the branch is gone, " if stays == "" else ""
            await self._append_facts(
                state, [ResultRejected(by=person, why=Words(why))], person, seq
            )
            told = f"Rejected; {gone}the workspace is still there."
            return f"{told} Its branch was not deleted: {stays}" if stays else told

        return await self._decide_on(task, attempt)

    async def undo(self, task: str, person: str, seen: TaskStanding | None = None) -> str:
        """Take back the last change of files, and the conversation with it; or the merge.

        `seen` is how the task stood for whoever wants that: what somebody else took back meanwhile
        is not followed by one step more. Whoever decides on it meanwhile waits: nothing goes on in
        a workspace that is put back.
        """

        async def attempt(state: TaskState, _seq: int) -> str:
            if state.at_work:
                raise Changed("It is at work; stop it first.")
            if state.stage == "rejected":
                raise Changed("This task is rejected; give a new one.")
            if seen not in (None, state.standing):
                raise Changed("It has moved on meanwhile; nothing was taken back just now.")
            was, undone = state.stage, await self.places.undo(state)
            bodies: list[Body] = [
                type(undone)(by=person, nth=undone.nth, checkpoint=undone.checkpoint)
            ]
            if was == "waiting":  # what it asked is gone with the conversation
                bodies.append(TaskStopped(kind="person", why=Words(TAKEN_BACK), by=person))
            await self._append_facts(state, bodies, person, None)  # what is put back is
            if was == "approved" and state.task.repo:
                return "The merge was taken back by a commit of its own."
            return f"Files and conversation are as they were after turn {undone.nth}."

        return await self._decide_on(task, attempt)

    # ------------------------------------------------------------ looking

    def page_of(self, state: TaskState) -> str:
        """The address of a task's page; "" where the home has none that others can reach."""
        address = self._address().rstrip("/")
        return f"{address}/work/{state.id}" if address else ""

    async def tasks(self, most: int = 0) -> list[TaskState]:
        """The tasks, the newest first: all of them, or so many at most."""
        streams = (await self.store.streams())[-most:]
        return await self.store.states(reversed(streams))

    async def calibration(self) -> Calibration:
        """How well confidence foretold what came, of all tasks."""
        return calibration_of(await self.tasks())

    async def export(self, task: str) -> AsyncIterator[Event]:
        """Everything of a task, as it stands on record."""
        state = await self.store.named(task)
        for event in await self._ledger.read(state.stream):
            yield event

    # ------------------------------------------------------------ deciding

    async def _open_task(self, which: str) -> TaskState:
        """A task with which something can still be done. Raises Unknown, Changed."""
        state = await self.store.named(which)
        if state.forgotten:
            raise Changed("This task was forgotten; give a new one.")
        return state

    async def _decide_on(
        self,
        task: str,
        attempt: Callable[[TaskState, int], Awaitable[T]],
        *,
        forgotten: bool = False,
    ) -> T:
        state = await (self.store.named(task) if forgotten else self._open_task(task))
        head = partial(self.store.head, state.stream)

        async def once(seq: int) -> T:
            if forgotten:
                return await attempt(await self.store.state(state.stream), seq)
            async with self.places.repositories.deciding(state.stream):
                await head(seq)  # what is done to a repository is not taken back by a Conflict
                return await attempt(await self.store.state(state.stream), seq)

        return await self._ledger.decide(state.stream, head, once)

    async def _append_facts(
        self, state: TaskState, bodies: list[Body], person: str, seq: int | None
    ) -> None:
        assert state.opened is not None
        cause, actor = state.opened.id, f"person:{person}" if person else "runtime"
        facts: list[Fact] = []
        for body in bodies:
            facts.append(self._stamp.fact(body, actor=actor, cause=cause))
            cause = facts[0].id
        await self._ledger.append(state.stream, facts, expect=seq)


def _check_rejectable(state: TaskState) -> None:
    """Raise Changed where there is nothing to reject as it stands."""
    if state.stage not in ("finished", "stopped", "waiting"):
        raise Changed(f"There is nothing to reject: the task is {state.stage}.")


def _check_same_commit(offered: ResultOffered, commit: str) -> None:
    """Raise Changed where another commit is offered than the one that was shown."""
    if not offered.commit.startswith(commit):
        raise Changed("Something else is offered by now; look at that, then decide on it.")


def calibration_of(tasks: Iterable[TaskState]) -> Calibration:
    """How well confidence foretold what came: Brier score, and a reliability curve.

    Of tasks that are over: what a person took came out well, what they refused did not.
    """
    past = [
        (state.confidence, state.stage == "approved")
        for state in tasks
        if state.stage in ("approved", "rejected")
    ]
    return task_confidence.brier(past), task_confidence.reliability(past)


def checked_budget(budget: float) -> float:
    """US dollars as they are kept. Raises BadLine for what no body of an event can hold."""
    if not 0 <= budget < math.inf:
        raise BadLine("A budget is a number of US dollars, such as 0.50.")
    return float(budget)


def checked_text(text: str) -> str:
    """What was said, if it is something. Raises BadLine."""
    text = text.strip()
    if not text:
        raise BadLine("There is nothing in it; say what is to be done.")
    if len(text) > LONGEST:
        raise BadLine(f"It has {len(text):,} characters; {LONGEST:,} are taken.")
    return text
