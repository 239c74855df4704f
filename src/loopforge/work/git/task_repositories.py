"""The repository of a task, from its clone to the merge: the one door to it for the house.

    git = TaskRepositories(home, workspaces, clock, secrets)
    repository = await git.registered.register(Path("project"))        # the owner, once
    branch = await git.begin(task, "project", title="fix the parser")  # a clone in the workspace
    ...                                                                # the task works there
    shown = await git.propose(task, ResultNote("Fix the parser", tests))
    merged = await git.approve(task, shown.commit)   # that very commit, once; or
    await git.reject(task)                           # its branch is deleted
    await git.take_back(task)                        # a merge is undone by a commit of its own

What stands of a task is kept in data/work/NAME, out of its reach. Caller must: hold the task's
lease, and ask who may do what. Does not cover: repositories within repositories, large-file
storage, histories that are shallow or in sha256.
"""

import asyncio
import hashlib
import shutil
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from loopforge.core.mates.mate_file import slug
from loopforge.core.text.spoken_lists import join_as_prose
from loopforge.errors import BadSettings, Changed, InputError, RepositoryError, Unknown
from loopforge.runtime.installation.folder_lock import lock_folder
from loopforge.runtime.installation.home_files import replace_whole
from loopforge.runtime.plugins.setting_declarations import PluginSettings
from loopforge.runtime.ports import Clock
from loopforge.work.docstrings.docstring_process import FilePair, only_docstrings
from loopforge.work.git.bare_repository import BareRepository
from loopforge.work.git.change_review import FILE, PROGRAM, shown_path
from loopforge.work.git.commit_messages import branch_name
from loopforge.work.git.host_git import checked_commit
from loopforge.work.git.merge_proposals import (
    MOST_TOLD,
    MergeResult,
    MergeState,
    Proposal,
    ResultNote,
    TaskBranch,
    make_proposal,
)
from loopforge.work.git.person_repository import NOBODY, PersonRepository
from loopforge.work.git.registered_repositories import RegisteredRepositories
from loopforge.work.git.task_clone import REF, TaskClone
from loopforge.work.workspace.task_workspace import Workspaces, folder_name
from loopforge.work.workspace.workspace_settings import workspaces_of

FOLDER = "data/work"
RECORDS = f"{FOLDER}/*/repository.json"
"""In a home, what stands of each of its tasks in their repositories."""
RECORD, SHELF = "repository.json", "shelf.git"
NOTHING_KEPT = (
    "This task works on no repository; or what this home kept of that is gone. What it showed then "
    "stands on its branch in your repository (`git branch --list 'task/*'`), to be merged or "
    "deleted by hand."
)
STAYS = "it is checked out in a folder or was moved."
NAMED = 8
"""Files that are named."""
TITLE = 40
"""Signs of a title that go into a branch's name."""
AGAIN = "Say `refresh` to the task: it is proposed again, for you to look at."


class _TaskRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What stands of one task. `made`: its clone is whole."""

    branch: TaskBranch
    made: bool = False
    proposal: Proposal | None = None


class TaskRepositories:
    """Those of all tasks of a home. `secrets` are values that must not come into a repository."""

    def __init__(
        self,
        home: Path,
        workspaces: Workspaces,
        clock: Clock,
        secrets: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        self.registered = RegisteredRepositories(home)
        self._folder, self._workspaces = home / FOLDER, workspaces
        self._clock, self._secrets = clock, secrets

    # ------------------------------------------------------------ working

    async def begin(
        self, task: str, repository: str, title: str = "", *, lost: bool = False
    ) -> TaskBranch:
        """Clone a registered repository for a task, onto a branch named after it.

        Where that was done before, nothing is done, unless its workspace was `lost` and came back
        without it, now or when the repository could not be had. Raises Unknown, RepositoryError.
        """
        found = self.registered.find(repository)
        record = self._known_record(task)
        if record is not None and record.made:
            if record.branch.repository != found.name:
                raise InputError(f"This task works on {record.branch.repository} already.")
            if await self._has_clone(task, record.branch):
                return record.branch
            if not (lost or await self._is_empty(task)):
                return record.branch
        person = PersonRepository(Path(found.path))
        base = await person.head(found.branch)
        words = slug(title)[:TITLE].strip("-")
        short = hashlib.sha256(task.encode()).hexdigest()[:6]
        branch = TaskBranch(
            repository=found.name,
            target=found.branch,
            branch=branch_name(words, short),
            base=base,
        )
        history = await person.history(found.branch)
        kept = _TaskRecord(branch=branch, proposal=record.proposal if record else None)
        shelf = await self._shelf_of(task, kept if record else None)
        await shelf.add_history(history, base)
        if await shelf.holds(self._secrets()):
            await asyncio.to_thread(shutil.rmtree, self._place_of(task), ignore_errors=True)
            raise RepositoryError(
                f"{found.name} holds a key or password of this home in its history, so no task is "
                "given it. Make that key invalid and set another."
            )
        await self._keep_record(task, kept)
        await TaskClone(self._workspaces.of(task), branch).make(history)
        await self._keep_record(task, replace(kept, made=True))
        return branch

    async def _has_clone(self, task: str, branch: TaskBranch) -> bool:
        """Whether something stands where its clone is to be."""
        try:
            await asyncio.to_thread(self._workspaces.of(task).files.entry, branch.folder)
        except Unknown:
            return False
        return True

    async def _is_empty(self, task: str) -> bool:
        place = self._workspaces.of(task).place
        return not await asyncio.to_thread(lambda: any(place.iterdir()))

    async def uncommitted(self, repository: str) -> str:
        """What of a person's work tasks would not see, in words; "" for nothing. Raises Unknown."""
        found = self.registered.find(repository)
        left = await PersonRepository(Path(found.path)).uncommitted(found.branch)
        shown = join_as_prose(map(shown_path, left), NAMED)
        return f"Not committed, so that the task does not see it: {shown}." if left else ""

    def branch(self, task: str) -> TaskBranch:
        """Where a task works. Raises Unknown where it works on no repository."""
        return self._record_of(task).branch

    async def refresh(self, task: str) -> str:
        """Give the clone the target as it is now, as origin/TARGET; the commit it is at."""
        record = self._record_of(task)
        person = self._persons_repository(record.branch)
        shelf = await self._shelf_of(task, record)
        head = await self._target_commit(person, shelf, record.branch.target)
        history = await person.history(record.branch.target)
        await TaskClone(self._workspaces.of(task), record.branch).refresh(history)
        return head

    async def commit(self, task: str, message: str) -> None:
        """Commit in the clone what is there; it goes no further by that."""
        branch = self._record_of(task).branch
        await TaskClone(self._workspaces.of(task), branch).commit(message)

    # ------------------------------------------------------------ showing

    async def propose(
        self, task: str, note: ResultNote, only: Literal["", "docstrings"] = ""
    ) -> Proposal:
        """Take over what the clone holds, reviewed, and put it onto the task's branch.

        The person's own branches stay as they are. Raises RepositoryError for what is not taken
        over, such as a change of something else than it was to change `only`; then nothing was.
        """
        record = self._record_of(task)
        branch, shelf = record.branch, await self._shelf_of(task, record)
        person = self._persons_repository(branch)
        clone = TaskClone(self._workspaces.of(task), branch)
        await clone.commit(note.summary)
        result = await shelf.add_result(await clone.bundle(), REF)
        head = await self._target_commit(person, shelf, branch.target)
        if only:
            await self._only_docstrings(shelf, result, head)
        made = await make_proposal(
            shelf, branch, result, head, note, self._secrets(), self._clock.now()
        )
        before = await person.find(branch.branch) or NOBODY
        if before not in (NOBODY, *await shelf.shown()):
            raise Changed(
                f"Somebody else moved the branch {branch.branch}, so it is not touched. Rename or "
                "delete it, and have the work proposed again."
            )
        wanted = [made.tip, *([made.commit] if made.commit else [])]
        await person.take(await shelf.packed(wanted, [head]))
        await person.set_branch(branch.branch, made.tip, before)
        await self._keep_record(task, replace(record, proposal=made))
        return made

    async def _only_docstrings(self, shelf: BareRepository, result: str, head: str) -> None:
        """Raise where a result changes anything else than docstrings of Python code."""
        base = await shelf.common(result, head)
        changes = await shelf.changes(base, result) if base else []
        wrong = [one for one in changes if one.was != one.mode or one.mode not in (FILE, PROGRAM)]
        files = [one for one in changes if one not in wrong]
        held = await shelf.contents({each for one in files for each in (one.old, one.new)})
        pairs = [FilePair(shown_path(one.path), held[one.old], held[one.new]) for one in files]
        why = [f"{shown_path(one.path)}: it is new, gone, or of another kind" for one in wrong]
        why += await only_docstrings(pairs)
        if why:
            told = "; ".join(why[:MOST_TOLD])
            raise RepositoryError(f"Nothing but docstrings was to be changed. {told}.")

    def proposal(self, task: str) -> Proposal:
        """What was proposed last, and what became of it. Raises Unknown."""
        found = self._record_of(task).proposal
        if found is None:
            raise Unknown("This task has proposed nothing yet.")
        return found

    async def _target_commit(
        self, person: PersonRepository, shelf: BareRepository, target: str
    ) -> str:
        """Where the target stands, its history on the shelf."""
        head, known = await person.head(target), await shelf.given()
        if head not in known:
            try:
                history = await person.history(target, known)
            except RepositoryError:  # it is one of those before: there is nothing new
                history = await person.history(target)
            await shelf.add_history(history, head)
        return head

    # ------------------------------------------------------------ deciding

    @asynccontextmanager
    async def deciding(self, task: str) -> AsyncIterator[None]:
        """No other Loopforge decides on this task meanwhile, whichever process it is."""
        place = self._place_of(task)
        try:
            place.mkdir(0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise RepositoryError(f"Nothing of this task can be kept: {error.strerror}.") from error
        async with lock_folder(place):
            yield

    async def approve(self, task: str, commit: str) -> MergeResult:
        """Merge the commit that was shown, and no other. Done before, nothing is done again.

        Raises Changed where another is proposed or the target has moved on since, RepositoryError
        where the person's folder cannot come along; then nothing was merged.
        """
        record, proposal = self._record_of(task), self.proposal(task)
        if not proposal.commit:
            raise RepositoryError(proposal.way_on)
        if checked_commit(commit) != proposal.commit:
            raise Changed("Something else is proposed by now; look at that, then approve it.")
        if proposal.state in ("rejected", "taken back"):
            raise Changed(f"This was {proposal.state} already; have the work proposed again.")
        if proposal.state == "open" and proposal.target != record.branch.target:
            raise Changed(
                f"This was shown for {proposal.target}, and goes to {record.branch.target} by now. "
                f"{AGAIN}"
            )
        person = self._persons_repository(record.branch)
        if proposal.state == "merged" or await person.contains(proposal.target, commit):
            await self._settle_proposal(task, "merged")
            return MergeResult(commit=commit, again=True)
        try:
            if await person.find(proposal.target) == proposal.before:  # git may have swept it away
                shelf = await self._shelf_of(task, record)
                if commit not in await shelf.shown():
                    raise Changed("What was shown is in no repository any more.")
                await person.take(await shelf.packed([commit], [proposal.before]))
            folder = await person.advance(proposal.target, commit, proposal.before)
        except Changed as error:
            if await person.contains(proposal.target, commit):
                await self._settle_proposal(task, "merged")
                return MergeResult(commit=commit, again=True)
            raise Changed(f"{error} {AGAIN}") from error
        await self._settle_proposal(task, "merged")
        await person.drop_branch(proposal.branch, proposal.tip)
        return MergeResult(commit=commit, checkout=str(folder or ""))

    async def reject(self, task: str) -> str:
        """Delete the task's branch; the clone stays. Why that branch stays; "" where it is gone.

        A no needs no repository: one that is gone holds it up no longer. Raises Changed where it
        was merged.
        """
        record, proposal = self._record_of(task), self.proposal(task)
        if proposal.state == "merged" or await self._is_merged(record.branch, proposal):
            raise Changed("This is merged already. Approve it; then it can be taken back.")
        stays = await self._drop_branch(record.branch, proposal.tip)
        await self._settle_proposal(task, "rejected")
        return stays

    async def take_back(self, task: str) -> MergeResult:
        """Undo a merge by a commit that takes its changes back, on top of what there is now.

        Asked for again after it was broken off, it makes no second one. Raises RepositoryError
        where later commits changed the same places, or the target has that merge no more, and
        Changed where nothing was merged.
        """
        record, proposal = self._record_of(task), self.proposal(task)
        if proposal.state != "merged":
            raise Changed("This was not merged, so there is nothing to take back.")
        person = self._persons_repository(record.branch)
        shelf = await self._shelf_of(task, record)
        there = await person.find(proposal.target)
        target = proposal.target if there else record.branch.target
        head = await self._target_commit(person, shelf, target)
        if not await person.contains(target, proposal.commit):
            raise RepositoryError(
                f"{target} was rewritten and no longer has {proposal.commit[:12]}, so that is not "
                "taken back by itself. Where its change is there still, `git revert` takes it back."
            )
        message = f"Take back: {proposal.message}"
        back = await shelf.commit(
            await shelf.tree(proposal.before), [proposal.commit], message, self._clock.now()
        )
        if head != proposal.commit:
            dry = await shelf.merged(head, back)
            if dry.conflicts:
                raise RepositoryError(
                    "It cannot be taken back by itself: later commits changed the same places in "
                    f"{', '.join(dry.conflicts[:10])}. `git revert` does it by hand."
                )
            if dry.tree == await shelf.tree(head):
                await self._settle_proposal(task, "taken back")
                return MergeResult(commit=head, again=True)
            back = await shelf.commit(dry.tree, [head], message, self._clock.now())
        await person.take(await shelf.packed([back], [head]))
        folder = await person.advance(target, back, head)
        await self._settle_proposal(task, "taken back")
        return MergeResult(commit=back, checkout=str(folder or ""))

    async def push(
        self,
        task: str,
        remote: str,
        what: Literal["branch", "target"],
        environ: Mapping[str, str],
    ) -> str:
        """Push what was proposed, or the target that it was merged into, to a configured remote.

        `environ` are variables of Loopforge's own process, for the person's keys and helpers.
        """
        proposal = self.proposal(task)
        if (proposal.state == "merged") != (what == "target"):
            told = (
                "merged, so its target"
                if proposal.state == "merged"
                else f"{proposal.state}, so its branch"
            )
            raise InputError(f"What this task proposed is {told} is what can be pushed.")
        if proposal.state not in ("open", "merged"):
            raise InputError(f"What this task proposed was {proposal.state}; nothing is pushed.")
        commit = proposal.commit if what == "target" else proposal.tip
        branch = proposal.target if what == "target" else proposal.branch
        person = self._persons_repository(self._record_of(task).branch)
        await person.push(remote, commit, branch, environ)
        return f"{commit[:12]} is pushed to {remote}, branch {branch}."

    async def forget(self, task: str) -> None:
        """Let go of a task whole: its branch unless it was merged, its shelf, and its workspace.

        Quiet where there is nothing; broken off, it can be called again.
        """
        record = self._known_record(task)
        if record is not None and record.proposal is not None:
            await self._drop_branch(record.branch, record.proposal.tip)
        await self._workspaces.forget(task)
        await asyncio.to_thread(shutil.rmtree, self._place_of(task), ignore_errors=True)

    async def _is_merged(self, branch: TaskBranch, proposal: Proposal) -> bool:
        """Whether an approval came so far before it broke off, as far as that can be seen."""
        if proposal.state != "open" or not proposal.commit:
            return False
        try:
            return await self._persons_repository(branch).contains(proposal.target, proposal.commit)
        except (Unknown, BadSettings, RepositoryError):
            return False

    async def _drop_branch(self, branch: TaskBranch, tip: str) -> str:
        """Delete a task's branch where it stands at its tip; why it stays, "" where it is gone."""
        try:
            person = self._persons_repository(branch)
            await person.drop_branch(branch.branch, tip)
            return STAYS if await person.find(branch.branch) else ""
        except (Unknown, BadSettings, RepositoryError) as error:
            return str(error)

    async def _settle_proposal(self, task: str, state: MergeState) -> None:
        record, proposal = self._record_of(task), self.proposal(task)
        await self._keep_record(task, replace(record, proposal=replace(proposal, state=state)))

    # ------------------------------------------------------------ the record

    def _place_of(self, task: str) -> Path:
        return self._folder / folder_name(task)

    async def _shelf_of(self, task: str, record: _TaskRecord | None) -> BareRepository:
        """Its shelf. No backup holds one: it is filled anew from the person's repository."""
        shelf = BareRepository(self._place_of(task) / SHELF)
        await shelf.make()
        if record is None or await shelf.given():
            return shelf
        person, shown = self._persons_repository(record.branch), record.proposal
        for made in filter(None, (shown.tip, shown.commit) if shown else ()):
            if await person.has(made):
                await shelf.add_shown(await person.packed(made), made)
        target = record.branch.target
        head = await person.head(target)
        await shelf.add_history(await person.history(target), head)
        return shelf

    def _persons_repository(self, branch: TaskBranch) -> PersonRepository:
        return PersonRepository(Path(self.registered.find(branch.repository).path))

    def _known_record(self, task: str) -> _TaskRecord | None:
        try:
            data = (self._place_of(task) / RECORD).read_bytes()
        except FileNotFoundError:
            return None
        try:
            return msgspec.json.decode(data, type=_TaskRecord)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RepositoryError(f"What is kept of this task is damaged: {error}.") from error

    def _record_of(self, task: str) -> _TaskRecord:
        """What stands of it; its target is the one that the owner of the home writes by now."""
        found = self._known_record(task)
        if found is None or not found.made:
            raise Unknown(NOTHING_KEPT)
        with suppress(Unknown, BadSettings):  # who looks for its folder is told
            target = self.registered.find(found.branch.repository).branch
            return replace(found, branch=replace(found.branch, target=target))
        return found

    async def _keep_record(self, task: str, record: _TaskRecord) -> None:
        def write() -> None:
            place = self._place_of(task)
            place.mkdir(0o700, parents=True, exist_ok=True)
            replace_whole(place / RECORD, msgspec.json.encode(record))

        try:
            await asyncio.to_thread(write)
        except OSError as error:
            raise RepositoryError(
                f"How it stands cannot be noted: {error.strerror}. Mend that, then try again."
            ) from error


def forget_record(home: Path, task: str) -> None:
    """Let go of what a home keeps of a task; its branch, if any, stays."""
    shutil.rmtree(home / FOLDER / folder_name(task), ignore_errors=True)


def repositories_of(settings: PluginSettings, clock: Clock) -> TaskRepositories:
    """Those of a home, as it is set now."""
    return TaskRepositories(settings.home, workspaces_of(settings, clock), clock)
