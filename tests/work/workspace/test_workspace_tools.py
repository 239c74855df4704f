"""The tools of a task's workspace, called as the registry calls them."""

import dataclasses
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopforge.errors import InputError, Unknown
from loopforge.runtime.ports import ToolCall, ToolResult
from loopforge.settings import load_settings
from loopforge.work.workspace import workspace_tools as tools
from loopforge.work.workspace.workspace_settings import workspaces_of
from tests import documents
from tests.tools.conftest import tool_home

KINDS = (
    tools.work_list,
    tools.work_read,
    tools.work_search,
    tools.work_write,
    tools.work_edit,
    tools.work_run,
)


class Bench:
    """A home with one task, whose tools are used."""

    def __init__(self, home: Path) -> None:
        plain = tool_home(datetime(2026, 5, 4, tzinfo=UTC))
        self.home = dataclasses.replace(plain, settings=load_settings(home, environ={}))
        self.place = workspaces_of(self.home.settings, self.home.clock).of("thread-1")
        self.works = {kind.tool.name: kind.make(self.home) for kind in KINDS}

    async def use(self, tool: str, stream: str = "thread-1", **given: object) -> str:
        """What it gives."""
        found = await self.works[tool](ToolCall(arguments=given, stream=stream))
        return found.text if isinstance(found, ToolResult) else found


@pytest.fixture
def bench(open_place: Path) -> Bench:
    """One in a home."""
    return Bench(open_place)


async def test_a_document_is_read_by_what_it_says(bench: Bench) -> None:
    """A PDF or an office document that people gave is no riddle of bytes; a broken one says why."""
    for name, data in (("a.pdf", documents.saying("Hello hostas")), ("b.DOCX", documents.letter())):
        bench.place.files.write(f"in/{name}", data)
        told = await bench.use("work_read", path=f"/workspace/in/{name}")
        assert told.startswith(f"in/{name}, lines 1 to ")
        assert {"a.pdf": "Hello hostas", "b.DOCX": "Rhubarb"}[name] in told
    bench.place.files.write("in/c.xlsx", b"no sheet")
    with pytest.raises(InputError, match=r"c\.xlsx: "):
        await bench.use("work_read", path="in/c.xlsx")


async def test_paths_of_the_clone_are_found_as_commands_name_them(bench: Bench) -> None:
    """What tests and git print begins in the clone; what is new beside it is said to lie there."""
    bench.place.files.write("repo/src/a.py", b"x = 1\n")
    assert await bench.use("work_list", path="src") == "repo/src/a.py (6 bytes)"
    assert (await bench.use("work_read", path="src/a.py")).startswith("repo/src/a.py, lines 1")
    assert await bench.use("work_search", pattern="x", path="src") == "repo/src/a.py:1:x = 1"
    assert await bench.use("work_edit", path="src/a.py", old="1", new="2") == (
        "repo/src/a.py is edited in 1 place."
    )
    assert await bench.use("work_write", path="src/a.py", text="x = 3\n") == (
        "repo/src/a.py is written: 1 line."
    )
    assert (await bench.use("work_run", command="ls", folder="src")).endswith("\na.py")
    assert await bench.use("work_write", path="b.py", text="y\n") == (
        "b.py is written: 1 line. It lies beside the clone: only what is in repo/ is offered to be "
        "merged."
    )
    assert (await bench.use("work_read", path="b.py")).startswith("b.py, lines 1")
    with pytest.raises(Unknown, match=r"'c\.py' cannot be used"):
        await bench.use("work_read", path="c.py")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("cd repo && ls", True),
        ("python3 repo/a.py", True),
        ("mkdir repo && touch repo/b.py", True),
        ("ls; exit 1", False),
        ("cat ../repo/a.py", False),
        ("echo repo", False),
    ],
)
async def test_a_command_that_names_the_clone_is_told_that_it_began_there(
    bench: Bench, command: str, told: bool
) -> None:
    """The other tools call its files repo/...: a command that does so finds none, or makes others."""
    await bench.use("work_write", path="repo/a.py", text="print(1)\n")
    assert (tools.BEGAN in await bench.use("work_run", command=command)) == told


async def test_a_file_is_written_found_read_edited_and_run(bench: Bench) -> None:
    """The whole way, with what each tool says."""
    assert await bench.use("work_write", path="src/a.py", text="x = 1\nprint(x)\n") == (
        "src/a.py is written: 2 lines."
    )
    assert await bench.use("work_list") == "src/a.py (15 bytes)"
    assert await bench.use("work_search", pattern="pr.nt") == "src/a.py:2:print(x)"
    assert await bench.use("work_search", pattern="pr.nt", words=True) == (
        "That stands in no file there."
    )
    assert await bench.use("work_edit", path="/workspace/src/a.py", old="x = 1", new="x = 2") == (
        "src/a.py is edited in 1 place."
    )
    assert await bench.use("work_read", path="src/a.py", line=2) == (
        "src/a.py, lines 2 to 2 of 2, its end:\nprint(x)\n"
    )
    ran = await bench.use("work_run", command="python3 a.py; exit 3", folder="src")
    assert ran.startswith("[exit code 3, ")
    assert ran.endswith("\n2")


async def test_a_file_that_is_written_anew_keeps_its_line_ends(bench: Bench) -> None:
    """As on Windows where all of them were so: a diff would change every line, and show none."""
    for before, ends in ((b"a\r\nb\r\n", b"\r\n"), (b"a\r\nb\n", b"\n"), (b"a", b"\n")):
        bench.place.files.write("a.bat", before, 99)
        told = await bench.use("work_write", path="a.bat", text="a\nc\n")
        assert bench.place.files.read("a.bat", 99) == ends.join((b"a", b"c", b""))
        assert told.endswith(r"end in \r\n, as they did before.") == (ends == b"\r\n")


async def test_a_patch_is_applied_whole_or_not_at_all(bench: Bench) -> None:
    """Line counts in its heads may be wrong; one that does not fit changes nothing."""
    await bench.use("work_write", path="a.txt", text="one\ntwo\nthree\n")
    good = "--- a/a.txt\n+++ b/a.txt\n@@ -1,9 +1,9 @@\n one\n-two\n+zwei\n three\n"
    new = "--- /dev/null\n+++ b/n/b.txt\n@@ -0,0 +1 @@\n+new\n"
    assert (await bench.use("work_edit", patch=good + new)).startswith("The patch is applied.")
    assert bench.place.files.read("a.txt", 99) == b"one\nzwei\nthree\n"
    assert bench.place.files.read("n/b.txt", 99) == b"new\n"
    more = good.replace("-two", "-zwei").replace("+zwei", "+deux")
    bad = more + "--- a/n/b.txt\n+++ b/n/b.txt\n@@ -1 +1 @@\n-old\n+x\n"
    with pytest.raises(InputError, match="nothing was changed"):
        await bench.use("work_edit", patch=bad)
    assert bench.place.files.read("a.txt", 99) == b"one\nzwei\nthree\n"


async def test_a_patch_fits_a_file_whose_lines_end_as_on_windows(bench: Bench) -> None:
    """What it changes ends so, too; beside it a file of plain ends, a new one and a last line."""
    bench.place.files.write("a.bat", b"one\r\n\r\ntwo\r\nend", 99)
    bench.place.files.write("b.txt", b"one\ntwo\n", 99)
    patch = (
        "--- a/a.bat\n+++ b/a.bat\n@@ -1,4 +1,5 @@\n one\n\n-two\n+zwei\n+drei\n"
        "-end\n\\ No newline at end of file\n+ende\n\\ No newline at end of file\n"
        "--- a/b.txt\t2026-11-30\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n"
        "--- /dev/null\n+++ b/c.txt\n@@ -0,0 +1 @@\n+new\n"
    )
    assert (await bench.use("work_edit", patch=patch)).startswith("The patch is applied.")
    assert bench.place.files.read("a.bat", 99) == b"one\r\n\r\nzwei\r\ndrei\r\nende"
    assert bench.place.files.read("b.txt", 99) == b"one\nzwei\n"
    assert bench.place.files.read("c.txt", 99) == b"new\n"


async def test_a_patch_fits_a_file_of_mixed_line_ends(bench: Bench) -> None:
    """Each line keeps the end that it has there, a new one has that of the line before it."""
    bench.place.files.write("a.txt", b"a\nb\nc\r\n\r\nd\r\ne\nend", 99)
    patch = (
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
        "@@ -3,5 +3,7 @@\n\n-d\n+D\n+DD\n e\n+ee\n-end\n\\ No newline at end of file\n+ende\n"
    )
    assert (await bench.use("work_edit", patch=patch)).startswith("The patch is applied.")
    now = b"a\nB\nc\r\n\r\nD\r\nDD\r\ne\nee\nende\n"
    assert bench.place.files.read("a.txt", 99) == now
    before = "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,2 @@\n+first\n a\n"
    assert (await bench.use("work_edit", patch=before)).startswith("The patch is applied.")
    assert bench.place.files.read("a.txt", 99) == b"first\n" + now


async def test_a_patch_of_lines_that_stand_there_twice_is_not_guessed_at(bench: Bench) -> None:
    """Where the ends of two places differ the one that is given exactly is meant, or none."""
    bench.place.files.write("a.txt", b"x\r\ny\r\nx\ny\n", 99)
    patch = "--- a/a.txt\n+++ b/a.txt\n@@ -3,2 +3,2 @@\n x\n-y\n+z\n"
    assert (await bench.use("work_edit", patch=patch)).startswith("The patch is applied.")
    assert bench.place.files.read("a.txt", 99) == b"x\r\ny\r\nx\nz\n"
    twice = b"x\r\ny\nx\ny\r\n"
    bench.place.files.write("a.txt", twice, 99)
    with pytest.raises(InputError, match="does not fit"):
        await bench.use("work_edit", patch=patch)
    assert bench.place.files.read("a.txt", 99) == twice


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "way/x", "way", "a/../../x", "", "a//b"])
async def test_no_tool_reaches_out(bench: Bench, open_place: Path, path: str) -> None:
    """By no path, and by no link that lies there; nothing outside is read or written."""
    (open_place / "outside").mkdir()
    (open_place / "outside" / "x").write_text("outside")
    (open_place / "outside").chmod(0o777)
    await bench.use("work_run", command=f"ln -s {open_place}/outside way")
    for tool, given in (
        ("work_read", {}),
        ("work_write", {"text": "WON"}),
        ("work_edit", {"old": "outside", "new": "WON"}),
    ):
        if tool == "work_write" and path == "way":
            continue  # the link itself is replaced by a file
        with pytest.raises(InputError):
            await bench.use(tool, path=path, **given)
    patch = f"--- /dev/null\n+++ b/{path or 'way'}/y\n@@ -0,0 +1 @@\n+WON\n"
    with suppress(InputError):  # some of them git takes for a path within
        await bench.use("work_edit", patch=patch)
    assert [each.name for each in (open_place / "outside").iterdir()] == ["x"]
    assert (open_place / "outside" / "x").read_text() == "outside"


async def test_where_no_task_is_there_is_nothing_to_use(bench: Bench) -> None:
    """In another stream every tool says so, and makes nothing."""
    for tool, given in (
        ("work_list", {}),
        ("work_write", {"path": "a", "text": "x"}),
        ("work_run", {"command": "true"}),
    ):
        with pytest.raises(Unknown, match="no task"):
            await bench.use(tool, stream="elsewhere", **given)


async def test_a_long_output_is_told_by_its_ends(bench: Bench) -> None:
    """How tests ended stands at the end; the whole is a file."""
    call = ToolCall(arguments={"command": "seq 1 5000; echo 3 failed"}, stream="thread-1")
    found = await bench.works["work_run"](call)
    assert isinstance(found, ToolResult)
    assert len(found.text) < 4_000
    assert found.text.endswith("5000\n3 failed")
    assert found.files[0].data.count(b"\n") > 5_000


async def test_a_program_stays_one_when_it_is_edited(bench: Bench) -> None:
    """Written and edited alike."""
    await bench.use("work_run", command="printf '#!/bin/sh\\necho 1\\n' > r; chmod +x r")
    await bench.use("work_edit", path="r", old="echo 1", new="echo 2")
    assert (await bench.use("work_run", command="./r")).endswith("\n2")


async def test_no_variable_of_the_home_is_seen_in_a_command(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is in the environment of Loopforge, no process within shows it."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-zinc-harbour-4711")
    ran = await bench.use("work_run", command="env; cat /proc/*/environ; ls /proc/1/root/data")
    assert "zinc" not in ran


def test_what_they_are_is_declared() -> None:
    """Reading reads, what can be done twice may be begun anew, and nothing of them is trusted."""
    declared = {kind.tool.name: kind.tool for kind in KINDS}
    assert {name for name, tool in declared.items() if tool.reads} == {
        "work_list",
        "work_read",
        "work_search",
    }
    assert {name for name, tool in declared.items() if not tool.idempotent} == {
        "work_edit",
        "work_run",
    }
    assert not any(tool.trusted or tool.harmless for tool in declared.values())
