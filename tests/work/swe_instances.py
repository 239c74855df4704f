"""Six instances in SWE-bench's format, made of packages from PyPI as they are installed here.

Each is a package in which one line is another than it was, and a test that tells. The history goes
on past the base commit to the line as it was: whoever could see it would have the solution.
"""

import json
from collections.abc import Sequence
from importlib.metadata import files
from pathlib import Path
from typing import NamedTuple

from tests.work.test_task_results import git

RUN = "python3 -B -m unittest"
TEST = """\
import unittest


class Case(unittest.TestCase):
    def test_it(t):
        {body}

    def test_import(t):
        import {package}
"""


class PlantedBug(NamedTuple):
    """In which file of a package, the line as it was and as it is, and what a test says."""

    package: str
    file: str
    whole: str
    bug: str
    problem: str
    body: str

    @property
    def edit(self) -> dict[str, str]:
        """What a tool for edits is given by whoever knows it."""
        return {"path": f"repo/{self.package}/{self.file}", "old": self.bug, "new": self.whole}


BUGS = (
    PlantedBug(
        "aiosqlite",
        "cursor.py",
        "args = (size,)",
        "args = (size + 1,)",
        "Fix fetchmany in this Python package: a cursor of aiosqlite gives one row too many.",
        "import asyncio, aiosqlite\n"
        "        async def rows():\n"
        "            async with aiosqlite.connect(':memory:') as db:\n"
        "                found = await db.execute('select 1 union select 2 union select 3')\n"
        "                return len(list(await found.fetchmany(2)))\n"
        "        t.assertEqual(asyncio.run(rows()), 2)",
    ),
    PlantedBug(
        "h11",
        "_receivebuffer.py",
        "return self._data[0] < 0x21",
        "return self._data[0] < 0x20",
        "Fix this Python package: h11 takes a line that begins with a blank for a request line.",
        "from h11._receivebuffer import ReceiveBuffer\n"
        "        got = ReceiveBuffer()\n"
        "        got += b' GET / HTTP/1.1'\n"
        "        t.assertTrue(got.is_next_line_obviously_invalid_request_line())",
    ),
    PlantedBug(
        "idna",
        "intranges.py",
        "if left <= int_ < right:",
        "if left <= int_ <= right:",
        "Fix this Python package: idna says of the number after a range that it lies in it.",
        "from idna.intranges import intranges_contain, intranges_from_list\n"
        "        t.assertFalse(intranges_contain(4, intranges_from_list([1, 2, 3])))",
    ),
    PlantedBug(
        "iniconfig",
        "_parse.py",
        'COMMENTCHARS = "#;"',
        'COMMENTCHARS = "#"',
        "Fix this Python package: iniconfig takes lines that begin with a semicolon for values.",
        "from iniconfig import IniConfig\n"
        "        read = IniConfig('x', data='[a]\\n;b = 1\\nc = 2\\n')\n"
        "        t.assertEqual(list(read['a']), ['c'])",
    ),
    PlantedBug(
        "mdurl",
        "_decode.py",
        'DECODE_DEFAULT_CHARS = ";/?:@&=+$,#"',
        'DECODE_DEFAULT_CHARS = ";/?:@&=+$#"',
        "Fix decode in this Python package: mdurl decodes a comma, which is reserved.",
        "from mdurl import decode\n        t.assertEqual(decode('a%2Cb%20c'), 'a%2Cb c')",
    ),
    PlantedBug(
        "wcwidth",
        "bisearch.py",
        "ucs > table[ubound][1]:",
        "ucs >= table[ubound][1]:",
        "Fix bisearch in this Python package: wcwidth misses the last sign of a table.",
        "from wcwidth.bisearch import bisearch\n"
        "        t.assertEqual(bisearch(9, ((1, 2), (5, 9))), 1)",
    ),
)


def make_instances(folder: Path, bugs: Sequence[PlantedBug] = BUGS) -> Path:
    """The folder of instances, with their repositories."""
    for one in bugs:
        repo = folder / "repos" / f"pypi__{one.package}"
        for each in files(one.package) or ():
            if each.parts[0] == one.package and each.suffix == ".py":
                copy = repo / each
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(each.read_binary())
        broken = repo / one.package / one.file
        text = broken.read_text()
        assert text.count(one.whole) == 1, one.package
        broken.write_text(text.replace(one.whole, one.bug))
        git(repo, "init", "-q", "-b", "main")
        git(repo, "add", ".")
        git(repo, "commit", "-q", "-m", "As it is on PyPI, but for a line")
        base = git(repo, "rev-parse", "HEAD")
        broken.write_text(text)
        git(repo, "commit", "-q", "-am", "As it is on PyPI")
        (folder / f"{one.package}.json").write_text(json.dumps(written(one, base)))
    return folder


def written(one: PlantedBug, base: str) -> dict[str, object]:
    """An instance as datasets have it; lists are texts there."""
    lines = TEST.format(body=one.body, package=one.package).splitlines()
    added = "".join(f"+{line}\n" for line in lines)
    return {
        "instance_id": f"pypi__{one.package}-1",
        "repo": f"pypi/{one.package}",
        "base_commit": base,
        "problem_statement": one.problem,
        "test_patch": "diff --git a/test_planted.py b/test_planted.py\nnew file mode 100644\n"
        f"--- /dev/null\n+++ b/test_planted.py\n@@ -0,0 +1,{len(lines)} @@\n{added}",
        "patch": f"-{one.bug}\n+{one.whole}\n",
        "FAIL_TO_PASS": json.dumps(["test_planted.Case.test_it"]),
        "PASS_TO_PASS": json.dumps(["test_planted.Case.test_import"]),
        "test_cmd": RUN,
    }
