"""Trees and files of a repository as git has them: no filter, no checkout, no program of anybody's.

For a task's shelf and for people's repositories alike.
"""

from collections.abc import Collection

from loopforge.errors import RepositoryError
from loopforge.work.git.change_review import PathChange, read_changes
from loopforge.work.git.host_git import HostGit


async def tree_changes(git: HostGit, before: str, after: str) -> list[PathChange]:
    """Which paths differ between two commits or trees."""
    parts = await git.parts(
        *("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", before, after)
    )
    return read_changes(parts)


async def file_contents(git: HostGit, objects: Collection[str]) -> dict[str, bytes]:
    """The bytes of files, by their objects. Raises RepositoryError for one that is not there."""
    if not objects:
        return {}
    asked = "\n".join([*objects, ""]).encode()
    told = (await git.run("cat-file", "--batch", stdin=asked)).output
    found, at = dict[str, bytes](), 0
    while at < len(told):
        end = told.index(b"\n", at)
        name, kind, *size = told[at:end].decode().split(" ")
        if not size:  # such as of a clone that left it out
            raise RepositoryError(f"Git has no whole copy here: object {name} is {kind}.")
        found[name] = told[end + 1 : end + 1 + int(size[0])]
        at = end + 2 + int(size[0])
    return found
