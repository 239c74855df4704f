"""What a task proposes to merge, as it is shown to people, and what became of it.

Values alone; git is asked elsewhere.
"""

from datetime import datetime
from typing import Literal

from msgspec import Struct

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
