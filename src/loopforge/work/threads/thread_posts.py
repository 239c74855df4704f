"""What happens to a task, said in its room: one message that is edited as it goes, and what counts.

    as what it is taken          -> "Starting work", with the progress under it, edited in place
    a question, a use that asks,
    another model, its result,
    stop with a summary          -> lines of their own
    a line that steers           -> a sign on that line

A line that asks for something says so no longer when that is over. Edits are gathered: PAUSE lies
between two, and while one has not arrived on a platform no other follows. Each line is said once
for the event it tells of, so that a new start says nothing twice.
What people do there, such as stop, is thread_events.py's.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from loopforge.core.effect_states import (
    EffectApproved,
    EffectDenied,
    EffectExpired,
    EffectProposed,
)
from loopforge.core.egress.hidden_signs import spelled_out
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import File, Heard
from loopforge.core.text.spoken_lists import hours_in_words
from loopforge.core.work.work_vocabulary import (
    ChangeUndone,
    ResultApproved,
    ResultOffered,
    ResultRejected,
    TaskAsked,
    TaskClassified,
    TaskDelayed,
    TaskEscalated,
    TaskFinished,
    TaskProgressed,
    TaskQueued,
    TaskResumed,
    TaskSteered,
    TaskStopped,
    TaskSummarized,
    WorkspaceRecovered,
)
from loopforge.errors import LoopforgeError, Unknown
from loopforge.runtime.background_tasks import BackgroundTasks, is_passing
from loopforge.runtime.ports import EffectFiles, Ledger, RoomVoice
from loopforge.runtime.system_clock import Stamp
from loopforge.work.task_service import PAID, SAID_NO, TaskService
from loopforge.work.task_state import PREFIX, TaskState
from loopforge.work.task_transcript import progress_line
from loopforge.work.threads.task_buttons import still_offered
from loopforge.work.threads.thread_events import HALT, ROOM, ThreadEvents
from loopforge.work.threads.thread_routing import SEEN
from loopforge.work.work_place import why_of

log = logging.getLogger(__name__)
PAUSE = 4.0
"""Seconds between two edits of one message: the strictest platform takes twenty things a minute."""
LATER = timedelta(days=1)
"""Tasks to which something happened so lately are looked at after a start."""
HINT = (
    "Say what you like to steer it, *no, just answer* to have it otherwise; *stop*, /stop or "
    "{halt} on this message halts it."
)
ASKING = EffectProposed | ResultOffered
"""What asks for an answer, and does so no longer when it has one."""
ANSWERED = "It waits for no answer any more."
DIFF, NOTES, ORDER = 3000, 10, 300
"""Characters of a change that are shown, notes on it, and characters of what is to be done."""


class _Post:
    """What a task has said in its room so far: how far it was told, and its message of progress.

    `asking` are lines that say something else once it is over, with what they tell of; `answers`
    are who answered them and by what; `order` is who gave the task and what is to be done, where no
    line of the room says so; `texts` is what lines say that may be edited, as far as this process
    knows.
    """

    def __init__(self) -> None:
        self.seq = 0
        self.line = ""
        self.order = ""
        self.head = ""
        self.foot = ""
        self.asking: dict[str, Event] = {}
        self.answers: dict[str, tuple[str, Event]] = {}
        self.texts: dict[str, str] = {}
        self.edited = 0.0
        self.due = False
        self.erasures = 0
        self.editing = asyncio.Lock()

    def stale(self, state: TaskState, page: str) -> list[tuple[str, str]]:
        """The lines that are to be edited, and what each is to say."""
        answers = {use: told_answer(who, event) for use, (who, event) in self.answers.items()}
        now = {line: told_of(event, state, answers) for line, event in self.asking.items()}
        if self.line:
            now[self.line] = self.order + shown_progress(state, self.head, self.foot, page)
        return [(line, text) for line, text in now.items() if text != self.texts.get(line)]


class ThreadPosts:
    """Tells rooms of their tasks. `follow` begins it."""

    def __init__(
        self,
        ledger: Ledger,
        tasks: TaskService,
        voice: RoomVoice,
        files: EffectFiles,
        stamp: Stamp,
        background: BackgroundTasks,
    ) -> None:
        self._ledger, self._tasks, self._voice = ledger, tasks, voice
        self._files, self._stamp, self._background = files, stamp, background
        self._events = ThreadEvents(ledger, tasks, voice, self._spawn)
        self._posts: dict[str, _Post] = {}
        self._busy, self._more = set[str](), set[str]()
        self._telling = set[asyncio.Task[None]]()
        self._began, self._erasures = stamp.clock.now(), 0

    async def follow(self) -> None:
        """Tell of what happens from now on, and of what happened while nothing ran."""
        self._ledger.subscribe(self._wake_teller, streams=PREFIX)
        self._events.follow()
        self._ledger.subscribe(self._count_erasures, kinds=["ledger.erased"])
        since = self._stamp.clock.now() - LATER
        for state in await self._tasks.tasks():
            if state.thread.startswith(ROOM):
                await self._events.stop_if_missed(state)
                if state.last is not None and state.last > since:
                    self._wake_teller(state.stream, ())

    async def settled(self) -> None:
        """Return when rooms were told of all that happened until now, but for edits to come."""
        while self._telling:
            await asyncio.gather(*self._telling, return_exceptions=True)

    def _spawn(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        task = self._background.insist(work, name, self._stamp.clock)
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    def _count_erasures(self, _stream: str, _events: Sequence[Event]) -> None:
        self._erasures += 1

    # ------------------------------------------------------------ what happens to the task

    def _wake_teller(self, stream: str, _events: Sequence[Event]) -> None:
        self._more.add(stream)
        if stream not in self._busy:
            self._busy.add(stream)
            self._spawn(partial(self._keep_telling, stream), f"what is said of {stream}")

    async def _keep_telling(self, stream: str) -> None:
        again = False
        try:
            while stream in self._more:
                self._more.discard(stream)
                await self._tell_news(stream)
        except LoopforgeError as error:
            if again := is_passing(error):
                self._more.add(stream)
                raise
            log.warning("a room was not told of %s: %s", stream, error)
        finally:
            if not again:
                self._busy.discard(stream)

    async def _tell_news(self, stream: str) -> None:
        state = await self._tasks.store.state(stream)
        if state.opened is None or not state.thread.startswith(ROOM):
            return
        post = self._posts.setdefault(stream, _Post())
        for event in await self._ledger.read(stream, after=post.seq):
            await self._post_event(state, post, event)
            post.seq = event.seq
        await self._read_anew(post, state)
        if post.stale(state, self._tasks.page_of(state)):
            await (self._edit_soon(post, stream) if state.at_work else self._edit_now(post, stream))

    async def _read_anew(self, post: _Post, state: TaskState) -> None:
        """After an erasure: else its lines would say again, when edited, what is to be no more."""
        if post.erasures == self._erasures:
            return
        post.erasures = self._erasures
        for line, event in tuple(post.asking.items()):
            post.asking[line] = await self._ledger.event(event.id)
        for use, (who, event) in tuple(post.answers.items()):
            post.answers[use] = who, await self._ledger.event(event.id)
        post.order = await self._order_text(state) if post.order else ""
        post.head = _classification_line(state.classified) if state.classified and post.head else ""
        post.foot = progress_line(state.progress[-1]) if state.progress and post.foot else ""
        post.texts.clear()

    async def _post_event(self, state: TaskState, post: _Post, event: Event) -> None:
        match event.body:
            case TaskClassified() as body if not post.line:
                post.head, post.order = _classification_line(body), await self._order_text(state)
                text = shown_progress(state, post.head, "", self._tasks.page_of(state))
                text = post.order + text
                post.line = await self._say_in_thread(state, text, event)
                if event.at >= self._began:  # else it may say what was so before
                    post.texts[post.line] = text
                post.edited = self._stamp.clock.ticks()
            case TaskClassified() as body:
                post.head = _classification_line(body)
                await self._say_in_thread(state, f"Taken otherwise from now on: {post.head}", event)
            case TaskProgressed() as body:
                post.foot = progress_line(body)
            case TaskDelayed(why=why) if post.line:
                post.foot = f"{post.foot}\nIt waits: {why}."
            case TaskSteered(source=source) if source:
                await self._voice.react(
                    state.thread, self._mate_of(state), source, SEEN, cause=event.id
                )
            case TaskFinished() as body:
                await self._post_result(state, body, event)
            case EffectApproved() | EffectDenied() | EffectExpired() as body:
                if any(asked.id == body.effect for asked in post.asking.values()):
                    post.answers[body.effect] = await self._actor_name(state, event), event
            case ResultApproved() | ResultRejected() as body:
                who = await self._actor_name(state, event)
                await self._say_in_thread(state, told_decision(who, body), event)
            case _:
                if text := told_of(event, state):
                    line = await self._say_in_thread(state, text, event)
                    if line and isinstance(event.body, ASKING):
                        post.asking[line] = event
                        if event.at >= self._began:
                            post.texts[line] = text

    async def _actor_name(self, state: TaskState, event: Event) -> str:
        return await self._voice.called(state.thread, event.actor.removeprefix("person:"))

    async def _order_text(self, state: TaskState) -> str:
        """Who gave it, and what is to be done; "" where a line of the room says so, or none may."""
        text = " ".join(str(state.task.text).split())
        if state.forgotten or state.opened is None:
            return ""
        try:
            if isinstance((await self._ledger.event(state.id)).body, Heard):
                return ""
        except Unknown:
            pass
        who = await self._voice.called(state.thread, state.task.person)
        return f"{who} wants: {text[:ORDER]}{'…' if len(text) > ORDER else ''}\n\n"

    async def _post_result(self, state: TaskState, body: TaskFinished, event: Event) -> None:
        """The result, with the files that it names."""
        text, files = str(body.result), list[File]()
        try:
            place = await self._tasks.places.workspaces.recovered(state.stream)
            sent = await place.sent(text)
            text = sent.text
            files = [await self._files.keep(file) for file in sent.files]
            for path, why in sent.refused.items():
                text += f"\n\n[{path} is not sent: {why}]"
        except (LoopforgeError, OSError) as error:
            text += f"\n\n[Its files could not be sent: {why_of(error)}]"
        await self._say_in_thread(state, text, event, files)

    async def _say_in_thread(
        self, state: TaskState, text: str, event: Event, files: Sequence[File] = ()
    ) -> str:
        return await self._voice.say(
            state.thread, self._mate_of(state), text, cause=event.id, files=files
        )

    def _mate_of(self, state: TaskState) -> str:
        return state.task.mate

    # ------------------------------------------------------------ the message that is edited

    async def _edit_soon(self, post: _Post, stream: str) -> None:
        if not post.due:
            post.due = True
            later = partial(self._edit_later, post, stream)
            self._background.insist(later, "how a task goes", self._stamp.clock)

    async def _edit_later(self, post: _Post, stream: str) -> None:
        clock = self._stamp.clock
        try:
            while post.due:
                await clock.sleep(max(0.0, post.edited + PAUSE - clock.ticks()))
                post.due = not await self._edit_post(post, stream)
        except Exception as error:
            post.due = is_passing(error)
            raise

    async def _edit_now(self, post: _Post, stream: str) -> None:
        if not await self._edit_post(post, stream):
            await self._edit_soon(post, stream)

    async def _edit_post(self, post: _Post, stream: str) -> bool:
        """Let a line say what it is to say now; whether all of them do."""
        async with post.editing:  # else what it said before could come last
            state = await self._tasks.store.state(stream)
            await self._read_anew(post, state)
            page = self._tasks.page_of(state)
            for line, text in post.stale(state, page):
                post.edited = self._stamp.clock.ticks()
                if not await self._voice.edit(state.thread, self._mate_of(state), line, text):
                    return False
                post.texts[line] = text
            return not post.stale(await self._tasks.store.state(stream), page)


def shown_progress(state: TaskState, head: str, foot: str, page: str) -> str:
    """The message of progress: as what it is taken, how to steer it, its page, how far it is."""
    rows = [f"Starting work. {head}"]
    if state.at_work or state.stage == "waiting":
        rows.append(HINT.format(halt=HALT[0]))
    if page:
        rows.append(page)
    return "\n".join(rows) + (f"\n\n{foot}" if foot else "")


def _classification_line(body: TaskClassified) -> str:
    return (
        f"Taken as {body.task_type}, {body.complexity}, by {body.flow} ({body.role}). {body.reason}"
    )


def told_answer(who: str, event: Event) -> str:
    """What became of a use of a tool that asked: by whom, and for what reason not."""
    match event.body:
        case EffectApproved():
            return f"{who} said yes."
        case EffectDenied(value=value) | EffectExpired(value=value) if value.text is not None:
            return value.text.replace(SAID_NO, f"{who} said no", 1)
        case _:
            return ANSWERED


def told_decision(who: str, body: ResultApproved | ResultRejected) -> str:
    """What a room is told of a yes or a no to a result."""
    if isinstance(body, ResultRejected):
        return f"{who} rejected it: {body.why}" if body.why.text != "" else f"{who} rejected it."
    merged = f"; merged as {body.merged[:12]}" if body.merged else ""
    return f"{who} approved it{merged}."


def told_of(event: Event, state: TaskState, answers: Mapping[str, str] = {}) -> str:
    """What a room is told of an event in a line of its own; "" for nothing.

    `answers` say what became of uses of tools that asked.
    """
    match event.body:
        case EffectProposed(tool=tool, arguments=arguments, within="", asks=True, hours=hours):
            open = event.id in state.allowing
            until = f"after {hours_in_words(hours)} without an answer it is not done"
            then = f"/approve lets it run exactly so, /deny does not; {until}." if open else ""
            then = then or answers.get(event.id, ANSWERED)
            return f"I want to use {tool}:\n{in_fence(spelled_out(str(arguments)))}\n{then}"
        case TaskQueued():
            return "Other work goes on here; this waits until that is over."
        case TaskAsked(question=question):
            return f"{question}\n\nI wait for an answer: say it here."
        case TaskEscalated(why=text) | WorkspaceRecovered(what=text):
            return str(text)
        case TaskDelayed(why=why):
            return f"It waits: {why}."
        case TaskStopped(kind="person"):
            return ""
        case TaskStopped(why=why):
            return f"It stands still: {why}. {_how_to_go_on(state)}"
        case TaskResumed():
            return "It goes on."
        case TaskSummarized(text=text):
            stopped = state.stage == "stopped"
            return f"{text}\n{_how_to_go_on(state)}" if stopped else ""
        case ResultOffered(commit="", message=message):
            return f"There is nothing to merge: {message}"
        case ResultOffered() as body:
            diff = str(body.diff)
            more = "\n[…]" if len(diff) > DIFF else ""
            then = f"/approve merges exactly {body.commit[:12]}, /reject deletes its branch."
            if not still_offered(state, body):
                then = f"{body.commit[:12]} waits for no answer any more."
            notes = "".join(f"\nLook twice: {note}" for note in body.notes[:NOTES])
            if (left := len(body.notes) - NOTES) > 0:
                notes += f"\n… and {left} more, which the page of the task names."
            return f"{body.message}{notes}\n{in_fence(diff[:DIFF] + more, 'diff')}\n{then}"
        case ChangeUndone(checkpoint=""):
            return "The merge was taken back, by a commit of its own."
        case ChangeUndone(nth=nth):
            return f"Taken back: it is as it was after turn {nth}."
        case _:
            return ""


def in_fence(text: str, language: str = "") -> str:
    """A text as a block of code, which no fence in it ends: what follows would pass for the mate's.

    Its own is longer; and for platforms that know none but of three, signs that show nothing stand
    between the backticks within.
    """
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    inner = text.replace("```", "`\u200b`\u200b`")
    return f"{fence}{language}\n{inner}\n{fence}"


def _how_to_go_on(state: TaskState) -> str:
    """What lets a task go on that stands still."""
    spent = state.halted is not None and state.halted.kind == "money"
    return PAID.format(id=state.id[-8:]) if spent else "/resume lets it go on."
