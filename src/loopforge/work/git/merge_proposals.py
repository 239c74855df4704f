"""What a task proposes to merge: its values, and how a result is made into one.

    result --objections?--> one commit on what both have --> merged with where the branch stands now

Reviewed, put into one commit, and merged dry. Only the files of a result go on. Its own commits
stay behind, with whatever they say of authors and signatures, and with what stood in them only for
a while. Raises RepositoryError for what is not taken over, with the reasons.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from msgspec import Struct

from loopforge.core.egress.egress_filter import SHORTEST, EgressFilter
from loopforge.core.egress.hidden_signs import spelled_out
from loopforge.errors import RepositoryError
from loopforge.work.git.bare_repository import BareRepository
from loopforge.work.git.change_review import (
    LINK,
    NOTHING,
    PathChange,
    change_objections,
    notes_on,
    shown_path,
)
from loopforge.work.git.commit_messages import commit_message

MergeState = Literal["open", "merged", "rejected", "taken back"]


class ReviewedFile(Struct, frozen=True, kw_only=True):
    """A file that a proposal touches."""

    path: str
    change: Literal["added", "changed", "deleted"]


class Proposal(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is asked to be merged. To be approved is `commit`, and nothing else.

    `repository` is its name, `target` the branch it is to go to, which stood at `before`. `branch`
    is the task's own, at `tip`: one commit that Loopforge made of its files. `commit` is what
    `target` becomes, that same one or a merge of it; "" where `conflicts` name files in which both
    sides changed the same: then there is nothing to approve, and `way_on` says what to do. `notes`
    are what people should look at twice, such as files that are run by themselves. `diff` is
    against `before`; where it is not all of it, a note says so.
    """

    repository: str
    target: str
    branch: str
    before: str
    tip: str
    commit: str
    message: str
    at: datetime
    files: tuple[ReviewedFile, ...]
    diff: str
    conflicts: tuple[str, ...] = ()
    way_on: str = ""
    notes: tuple[str, ...] = ()
    state: MergeState = "open"


class MergeResult(Struct, frozen=True, kw_only=True):
    """How a merge ended. `again`: it had been done before, and nothing was done now.

    `checkout`: the folder of the person in which the target is checked out and was brought along;
    "" where there is none.
    """

    commit: str
    checkout: str = ""
    again: bool = False


class TaskBranch(Struct, frozen=True, kw_only=True):
    """Where a task works: the repository's name, its own branch, and what that began from.

    `folder` is where the clone lies in the workspace.
    """

    repository: str
    target: str
    branch: str
    base: str
    folder: str = "repo"


MOST_CHANGED, MOST_NEW = 5_000, 64 << 20
"""Paths that one proposal may touch, and bytes of their files."""
MOST_SHOWN = 200_000
"""Signs of a diff that are shown."""
MOST_TOLD = 10
"""Reasons, and files, that are named."""
TEXT = 1 << 20
"""Bytes of a file that is read as text."""
WAY_ON = (
    "{target} and the task both changed {files}. Nothing was merged, and nothing is lost. Say "
    "`refresh` in the thread: the mate is given {target} as it is now, brings the two together in "
    "its clone, and proposes again. Or merge the branch {branch} by hand."
)


class ResultNote(NamedTuple):
    """What is said of a result: the mate's own words, its tests, and who it is."""

    summary: str
    tests: Sequence[str] = ()
    mate: str = ""


async def make_proposal(
    shelf: BareRepository,
    branch: TaskBranch,
    result: str,
    head: str,
    note: ResultNote,
    secrets: Collection[str],
    at: datetime,
) -> Proposal:
    """Make it of a commit on the shelf, for a branch that stands at `head`, also there."""
    base = await shelf.common(result, head)
    if not base:
        raise RepositoryError("The task's branch shares no history with what it was given.")
    changes = await shelf.changes(base, result)
    if not changes:
        raise RepositoryError("Nothing was changed, so there is nothing to propose.")
    texts = await _reviewed(shelf, changes, result, secrets)
    message = commit_message(note.summary, changes, note.tests, note.mate)
    egress = EgressFilter(secrets)
    if egress.finish_file(message)[1] or egress.leak([message]):
        raise RepositoryError("What is said of the work holds a key or password; say it without.")
    tip = await shelf.commit(await shelf.rebuilt(base, changes), [base], message, at)
    commit, conflicts = tip, tuple[str, ...]()
    if base != head:
        dry = await shelf.merged(head, tip)
        conflicts = tuple(map(shown_path, dry.conflicts))
        if not conflicts and dry.tree == await shelf.tree(head):
            raise RepositoryError(
                f"{branch.target} has all of it already, so there is nothing to propose."
            )
        merge = f"Merge {branch.branch}\n\n{message}"
        commit = "" if conflicts else await shelf.commit(dry.tree, [head, tip], merge, at)
    for made in filter(None, (tip, commit)):
        await shelf.keep(made)
    sides = (head, commit) if commit else (base, tip)
    diff, cut = await _shown(shelf, sides, egress)
    olds = {one.old for one in changes if one.path in texts and one.was != NOTHING}
    before = await shelf.contents(olds)
    notes = await asyncio.to_thread(notes_on, changes, texts, before)
    if cut:
        notes.append(
            f"Only the first {MOST_SHOWN:,} characters of the diff are shown; "
            f"`git diff {sides[0][:12]} {sides[1][:12]}` in the repository shows all of it."
        )
    return Proposal(
        repository=branch.repository,
        target=branch.target,
        branch=branch.branch,
        before=head,
        tip=tip,
        commit=commit,
        message=message,
        at=at,
        files=await _files(shelf, sides),
        diff=diff,
        conflicts=conflicts,
        way_on=_way_on(branch, conflicts),
        notes=tuple(notes),
    )


def _way_on(branch: TaskBranch, conflicts: Sequence[str]) -> str:
    if not conflicts:
        return ""
    named = ", ".join(conflicts[:MOST_TOLD])
    more = len(conflicts) - MOST_TOLD
    files = f"{named} and {more:,} more" if more > 0 else named
    return WAY_ON.format(target=branch.target, files=files, branch=branch.branch)


async def _reviewed(
    shelf: BareRepository, changes: Sequence[PathChange], result: str, secrets: Collection[str]
) -> Mapping[str, str]:
    """The new texts by path. Raises RepositoryError for what is not taken over."""
    if len(changes) > MOST_CHANGED:
        raise RepositoryError(f"It changes more than {MOST_CHANGED:,} files; that is too many.")
    kept = [change for change in changes if not change.goes]
    bad = [change for change in kept if change.mode not in ("100644", "100755", LINK)]
    held = {} if bad else await shelf.contents({change.new for change in kept})
    if sum(map(len, held.values())) > MOST_NEW:
        raise RepositoryError(f"Its files are more than {MOST_NEW >> 20} MiB; that is too much.")
    texts = {change.path: text for change in kept if (text := _text(held, change)) is not None}
    paths = await shelf.paths(result)
    reasons = await asyncio.to_thread(lambda: list(change_objections(changes, paths, texts)))
    if not reasons:
        reasons = await asyncio.to_thread(_secrets_in, kept, held, texts, secrets)
    if reasons:
        more = [f"and {len(reasons) - MOST_TOLD:,} more"] * (len(reasons) > MOST_TOLD)
        told = "; ".join([*reasons[:MOST_TOLD], *more])
        raise RepositoryError(f"What the task made is not taken over. {told}.")
    return texts


def _text(held: Mapping[str, bytes], change: PathChange) -> str | None:
    data = held.get(change.new)
    if data is None or len(data) > TEXT or b"\0" in data[:8000]:
        return None
    return data.decode("utf-8", "replace")


def _secrets_in(
    kept: Sequence[PathChange],
    held: Mapping[str, bytes],
    texts: Mapping[str, str],
    secrets: Collection[str],
) -> list[str]:
    """Which files hold a key of the home, as it is in any file, and in other forms in a text."""
    egress = EgressFilter(secrets)
    raw = [secret.encode() for secret in secrets if len(secret) >= SHORTEST]

    def holds(change: PathChange) -> bool:
        if any(secret in held[change.new] for secret in raw):
            return True
        return bool(raw and egress.leak([change.path, texts.get(change.path, "")]))

    why = "it holds a key or password of this home"
    return [f"{shown_path(change.path)}: {why}" for change in kept if holds(change)]


async def _shown(
    shelf: BareRepository, sides: tuple[str, str], egress: EgressFilter
) -> tuple[str, bool]:
    """The diff as people see it, with what looks like a key taken out; and whether it is cut."""
    whole = await shelf.diff(*sides)
    text = spelled_out(f"{whole[:MOST_SHOWN]}\n")[:-1]  # a line of it may end in \r\n
    if len(whole) > MOST_SHOWN:
        text = text[: text.rfind("\n") + 1]
    shown, _ = await asyncio.to_thread(egress.finish_file, text)
    return shown, len(whole) > MOST_SHOWN


async def _files(shelf: BareRepository, sides: tuple[str, str]) -> tuple[ReviewedFile, ...]:
    files = []
    for change in await shelf.changes(*sides):
        kind: Literal["added", "changed", "deleted"] = "changed"
        if change.goes or change.was == NOTHING:
            kind = "deleted" if change.goes else "added"
        files.append(ReviewedFile(path=shown_path(change.path), change=kind))
    return tuple(files)
