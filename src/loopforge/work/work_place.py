"""Where a task works: its workspace, and the repository whose clone lies there.

What can go wrong with files or git is told in words and never ends a task by itself.
"""

import logging
from collections.abc import Sequence

from loopforge.core.events import Fact
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.spoken_lists import join_as_prose
from loopforge.core.work.command_results import exit_of_tests
from loopforge.core.work.work_vocabulary import ChangeUndone, ResultOffered, WorkspaceRecovered
from loopforge.errors import LoopforgeError, Unknown
from loopforge.runtime.system_clock import Stamp
from loopforge.work.git.merge_proposals import MergeResult, Proposal, ResultNote
from loopforge.work.git.task_repositories import NAMED, TaskRepositories
from loopforge.work.task_state import TaskState, paths_of, tool_use_argument
from loopforge.work.workspace.file_markers import without_marks
from loopforge.work.workspace.task_workspace import Workspaces
from loopforge.work.workspace.workspace_tools import CLONE

GONE = "The workspace was gone from the disk."
EARLIER = " (failed, before the last change)"

log = logging.getLogger(__name__)


class WorkPlaces:
    """The workspaces and repositories of the tasks of a home."""

    def __init__(
        self, workspaces: Workspaces, repositories: TaskRepositories, stamp: Stamp
    ) -> None:
        self.workspaces, self.repositories, self._stamp = workspaces, repositories, stamp

    async def ready(self, state: TaskState) -> str:
        """Make the workspace ready, with the clone of its repository; why not, in words."""
        try:
            await self.workspaces.recovered(state.stream)
            if state.task.repo:
                title, lost = str(state.task.text)[:80], state.stream in self.workspaces.put_back
                await self.repositories.begin(state.stream, state.task.repo, title, lost=lost)
        except (LoopforgeError, OSError) as error:
            return why_of(error)
        return ""

    def put_back(self, state: TaskState) -> list[Fact]:
        """That its workspace was gone, and what it is now: once, to be told."""
        place = self.workspaces.put_back.pop(state.stream, None)
        if place is None or not (state.turns or state.checkpoints):
            return []
        nth = _turn_at(state, place)
        what = Words(_told_back(state, nth) if place else _told_empty(state))
        body = WorkspaceRecovered(nth=nth, checkpoint=str(place or ""), what=what)
        return [self._stamp.fact(body, actor="runtime", cause=state.id)]

    async def save(self, state: TaskState) -> tuple[str, str]:
        """Keep the workspace as it stands: the name of the copy, or why there is none."""
        try:
            place = await self.workspaces.recovered(state.stream)
            made = await place.checkpoint(f"turn {state.turns}")
        except (LoopforgeError, OSError) as error:
            return "", why_of(error)
        return str(made.number), ""

    async def offer(self, state: TaskState) -> list[Fact]:
        """What the task changed in its repository, to be shown; what stands in the way of it."""
        assert state.finished is not None
        tests = _tests(state)
        result = without_marks(str(state.finished.result), {})
        note = ResultNote(result[:600], tests[-3:], state.task.mate)
        try:
            found = await self.repositories.propose(state.stream, note, state.task.only)
        except (LoopforgeError, OSError) as error:
            why = Words(f"{why_of(error)}{_beside(state)}")
            body = ResultOffered(commit="", branch=Words(""), base="", message=why, diff=Words(""))
            return [self._stamp.fact(body, actor="runtime", cause=state.id)]
        offered = _offered(found, _doubts(state))
        return [self._stamp.fact(offered, actor="runtime", cause=state.id)]

    async def approve(self, state: TaskState, commit: str) -> MergeResult:
        """Merge exactly this commit. Raises what `TaskRepositories.approve` does."""
        return await self.repositories.approve(state.stream, commit)

    async def reject(self, state: TaskState) -> str | None:
        """Delete the task's branch; why it stays, or "". None where it has come to none yet."""
        try:
            return await self.repositories.reject(state.stream)
        except Unknown as error:
            return str(error) if state.offered is not None and state.offered.commit else None

    async def undo(self, state: TaskState) -> ChangeUndone:
        """Take back the last change of files, or the merge. Raises LoopforgeError.

        One that was broken off before it was written down is that one: it goes no further back.
        """
        if state.stage == "approved" and state.task.repo:
            if self.repositories.proposal(state.stream).state != "taken back":
                await self.repositories.take_back(state.stream)
            return ChangeUndone(by="", nth=state.turns)
        place = await self.workspaces.recovered(state.stream)
        there = await place.checkpoint("before undo")
        if not there.undoes or str(there.undoes) in state.undone:
            await place.undo()
        latest = await place.latest()
        back, undoes = (latest.place, latest.undoes) if latest else (0, 0)
        nth = _turn_at(state, back)
        return ChangeUndone(by="", nth=nth, checkpoint=str(undoes or there.number))


def _turn_at(state: TaskState, place: int) -> int:
    """After which turn the workspace was as in the checkpoint that stands there; 0: before them."""
    known = (one for one in reversed(state.checkpoints) if one.checkpoint.isdigit())
    return next((one.nth for one in known if int(one.checkpoint) <= place), 0)


def _told_back(state: TaskState, nth: int) -> str:
    """What people and the mate are told of a workspace that is back."""
    when = f"after turn {nth}" if nth else "before the first turn"
    told = f"{GONE} It is put back as it was {when}"
    if state.turns <= nth:
        return f"{told}; nothing of its turns is lost."
    since = f"turn {nth + 1}" if state.turns == nth + 1 else f"turns {nth + 1} to {state.turns}"
    return f"{told}; what {since} changed in files is lost."


def _told_empty(state: TaskState) -> str:
    """The same, where there is no copy of it."""
    clone = f" but for a new clone of {state.task.repo}" if state.task.repo else ""
    return f"{GONE} No copy of it is left, so it is empty{clone}; what was done in files is lost."


def why_of(error: LoopforgeError | OSError) -> str:
    """Why something could not be done there, without where the home lies: the log says that."""
    if not isinstance(error, OSError):
        return str(error)
    log.warning("a workspace cannot be used as it should be: %s", error)
    return f"{error.strerror or 'the disk cannot be used'} (the log says where)"


def _tests(state: TaskState) -> list[str]:
    """The tests that were run, each as it was run last, and those that failed, and when."""
    ends = dict[str, str]()
    for use in state.uses:
        command = tool_use_argument(use, "command")
        if use.outcome == "returned" and use.tool != "work_read" and paths_of(use):
            ends = {ran: how and EARLIER for ran, how in ends.items()}
        if (code := exit_of_tests(command, use.value)) is not None:
            ends.pop(command, None)
            ends[command] = " (failed)" if code else ""
    return [f"{command}{how}" for command, how in ends.items()]


def _beside(state: TaskState) -> str:
    """Where what was written lies, if none of it is in the clone."""
    if not state.written or any(path.startswith(f"{CLONE}/") for path in state.written):
        return ""
    return (
        f" {join_as_prose(tuple(state.written)[-NAMED:])}: beside the clone, {CLONE}/, not in it."
    )


def _doubts(state: TaskState) -> list[str]:
    """What should be looked at twice for how it came about."""
    failing = state.failing
    failed = [f"The tests that were run last failed: `{failing[:120]}`."] if failing else []
    cut = [use for use in state.uses if use.began and use.outcome in ("unknown", "cancelled")]
    half = "what it wrote until then may be in this, half done"
    ran = [
        f"`{tool_use_argument(use, 'command')[:120] or use.tool}` was cut off: {half}."
        for use in cut
    ]
    return [*failed, *dict.fromkeys(ran[-NAMED:])]


def _offered(found: Proposal, doubts: Sequence[str]) -> ResultOffered:
    """As it is shown."""
    return ResultOffered(
        commit=found.commit,
        branch=Words(found.branch),
        base=found.before,
        message=Words(found.message if found.commit else found.way_on or found.message),
        diff=Words(found.diff),
        files=tuple(Words(one.path) for one in found.files),
        notes=tuple(map(Words, [*doubts, *found.notes])) if found.commit else (),
    )
