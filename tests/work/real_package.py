"""A real, small package from PyPI with its own tests, as it is installed here, and a bug in it."""

from importlib.metadata import files
from pathlib import Path

from tests.work.conftest import Step, says, uses
from tests.work.test_task_results import git

PACKAGE = "aiosqlite"
WHOLE, BUG = "            args = (size,)\n", "            args = (size + 1,)\n"
TASK = "Fix fetchmany in this Python package: it gives one row too many"
ALL, ONE = f"python3 -B -m unittest {PACKAGE}.tests", "-k fetchmany"
FIRST = "    async def test_connection_context(self):\n"
TEST = """\
    async def test_fetchmany(self):
        async with aiosqlite.connect(":memory:") as db:
            cursor = await db.execute("select 1 union select 2 union select 3")
            self.assertEqual(len(list(await cursor.fetchmany(2))), 2)

"""
PATCH = f"""\
--- a/{PACKAGE}/cursor.py
+++ b/{PACKAGE}/cursor.py
@@ -63,4 +63,4 @@
         if size is not None:
-{BUG}+{WHOLE}         return await self._execute(self._cursor.fetchmany, *args)
"""


def planted(place: Path) -> Path:
    """A repository of that package, in which a bug was committed."""
    folder = place / "package"
    for each in files(PACKAGE) or ():
        if each.parts[0] == PACKAGE and each.suffix == ".py":
            copy = folder / each
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(each.read_binary())
    broken = folder / PACKAGE / "cursor.py"
    text = broken.read_text()
    assert text.count(WHOLE) == 1
    broken.write_text(text.replace(WHOLE, BUG))
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "As it is on PyPI, but for a bug")
    return folder


def mending(tests: str) -> list[Step]:
    """What the mate does: a test among the package's own that fails, a patch, all of them pass."""
    cases = f"repo/{PACKAGE}/tests/smoke.py"
    return [
        uses("work_search", pattern="fetchmany", path="repo"),
        uses("work_edit", path=cases, old=FIRST, new=f"{TEST}{FIRST}"),
        uses("work_run", command=tests),
        uses("work_edit", patch=PATCH),
        uses("work_run", command=tests),
        says("done", "fetchmany gives as many rows as are wanted.", evidence="All tests pass."),
    ]
