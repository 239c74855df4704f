"""The clone of a repository in a task's workspace: made, committed in, brought up to date, bundled.

All of it is git within the sandbox, on files of the task: whatever that git does there, by hooks,
filters or configuration that the task made, it does there. What comes out is bytes, believed by
nobody.
"""

import shlex

from loopforge.errors import RepositoryError
from loopforge.tools.sandbox.sandbox_limits import exceeded_limit_text
from loopforge.work.git.host_git import COMMITTER_MAIL, COMMITTER_NAME, NO_REPOSITORY
from loopforge.work.git.merge_proposals import TaskBranch
from loopforge.work.workspace.task_workspace import GIT as DOT_GIT
from loopforge.work.workspace.task_workspace import TaskWorkspace
from loopforge.work.workspace.workspace_tools import MADE_BY_TOOLS

GIVEN, RESULT = ".given.bundle", ".result.bundle"
"""Files of the workspace by which history goes in, and the result comes out."""
REF = "refs/loopforge/result"
GIT = "git -c core.hooksPath=/dev/null -c commit.gpgSign=false -c gc.auto=0"
IGNORED = f"""mkdir -p .git/info; for name in {shlex.join(sorted(MADE_BY_TOOLS - {DOT_GIT}))}; do
{GIT} ls-files -- ":(glob)**/$name/**" | grep -q . || echo "$name/" >> .git/info/exclude; done"""
"""Folders of tools are no result, whatever .gitignore says; but for those that the branch has."""
VENVS = r"""git ls-files -oz --exclude-standard -- '*/pyvenv.cfg' | while IFS= read -rd '' path; do
echo '*' > "${path%/*}/.gitignore"; done"""
"""So is a virtual environment of any name: as Python makes them from 3.13 on, it ignores itself."""
SUBMODULES = r"""git ls-files -sz | grep -z ^160000 | while IFS=$'\t' read -rd '' _ path; do
if [ "$(ls -A -- "$path" 2>&1)" ]; then
echo "$path is a submodule, another repository: what lies there is not taken over. Remove it."
exit 1; fi; done"""
"""Fails where files lie in a submodule's folder: a clone has it empty, and git passes them over."""

BARE = (
    "{}/ has lost its .git, so nothing of it can be offered. What was written lies there still. "
    "`undo` goes back to the copy before the last change, with what was lost."
)
"""Git finds no repository there: somebody, or a command, took it away."""


class TaskClone:
    """The clone of one task."""

    def __init__(self, workspace: TaskWorkspace, branch: TaskBranch) -> None:
        self._workspace, self._branch = workspace, branch

    async def make(self, bundle: bytes) -> None:
        """Clone it from a bundle, onto the task's own branch. What was there before goes."""
        folder, target = self._branch.folder, self._branch.target
        await self._given(
            bundle,
            f"rm -rf -- {shlex.quote(folder)}",
            f"{GIT} clone -q --no-tags -b {shlex.quote(target)} {GIVEN} {shlex.quote(folder)}",
            f"cd {shlex.quote(folder)}",
            f"{GIT} switch -q -c {shlex.quote(self._branch.branch)}",
            f"git config user.name {shlex.quote(COMMITTER_NAME)}",
            f"git config user.email {shlex.quote(COMMITTER_MAIL)}",
            "git config remote.origin.url ../given-by-refresh",
            IGNORED,
        )

    async def refresh(self, bundle: bytes) -> None:
        """Give it the person's branch as it is now, as origin/BRANCH; nothing is merged."""
        target = self._branch.target
        what = f"+refs/heads/{target}:refs/remotes/origin/{target}"
        await self._given(
            bundle,
            f"cd {shlex.quote(self._branch.folder)}",
            f"{GIT} fetch -q --no-tags ../{GIVEN} {shlex.quote(what)}",
        )

    async def commit(self, message: str) -> None:
        """Commit whatever is there; quiet where nothing is.

        Raises RepositoryError where files lie in the folder of a submodule.
        """
        await self._run(
            f"cd {shlex.quote(self._branch.folder)}",
            VENVS,
            f"{GIT} add -A",
            SUBMODULES,
            f"{GIT} diff --cached --quiet || {GIT} commit -q --no-verify -F -",
            stdin=message.encode(),
        )

    async def bundle(self) -> bytes:
        """What it stands on, as a bundle whose only ref is REF. Raises RepositoryError."""
        base = shlex.quote(f"^{self._branch.base}")
        await self._run(
            f"rm -rf -- {RESULT}",
            f"cd {shlex.quote(self._branch.folder)}",
            f"{GIT} update-ref {REF} HEAD",
            f"{GIT} bundle create -q ../{RESULT} {REF} {base} --not --remotes=origin",
            empty="Refusing to create empty bundle",
        )
        try:
            most = self._workspace.limits.disk
            return self._workspace.files.read(RESULT, most)
        finally:
            await self._workspace.run(("rm", "-rf", "--", RESULT))

    async def _given(self, bundle: bytes, *lines: str) -> None:
        self._workspace.files.write(GIVEN, bundle, max(len(bundle), 1))
        try:
            await self._run(*lines)
        finally:
            await self._workspace.run(("rm", "-rf", "--", GIVEN))

    async def _run(self, *lines: str, stdin: bytes = b"", empty: str = "") -> None:
        ended = await self._workspace.run("set -e\n" + "\n".join(lines), stdin)
        if ended.code == 0:
            return
        said = ended.output.decode("utf-8", "replace").strip()
        if empty and empty in said:
            raise RepositoryError("Nothing was changed, so there is nothing to propose.")
        if NO_REPOSITORY in said:
            raise RepositoryError(BARE.format(self._branch.folder))
        met = ended.met and f"more than {exceeded_limit_text(self._workspace.limits, ended.met)}"
        how = met or said[-500:]
        raise RepositoryError(f"Git in the clone did not do it: {how or ended.code}")
