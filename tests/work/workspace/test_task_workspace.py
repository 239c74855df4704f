"""The workspace of a task: what comes in, what runs there, what goes out, and how it is put back."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from loopforge.errors import ArtifactError, InputError, Unknown
from loopforge.runtime.ports import ToolFile
from loopforge.runtime.system_clock import SystemClock
from loopforge.tools.sandbox.call_workspace import forget_workspaces, workspace_in
from loopforge.tools.sandbox.sandbox_limits import SandboxLimits
from loopforge.work.workspace.task_workspace import (
    TaskWorkspace,
    Workspaces,
    folder_name,
    upload_name,
)
from loopforge.work.workspace.workspace_checkpoints import CheckpointArchive, WorkspaceCheckpoint


async def does(place: TaskWorkspace, command: str) -> str:
    """Run it there."""
    ended = await place.run(command)
    assert ended.code == 0, ended
    return ended.output.decode()


async def test_uploads_come_in_and_are_there_for_programs(workspaces: Workspaces) -> None:
    """Under in/, by a name that is one, whatever it was called."""
    place = workspaces.of("thread-1")
    given = [ToolFile(name="data.csv", data=b"1\n"), ToolFile(name="../../.bashrc", data=b"x")]
    assert await place.take_in(given) == ["in/data.csv", "in/_.._.bashrc"]
    assert await does(place, "cat in/data.csv; echo out > made.txt; pwd") == "1\n/workspace\n"
    assert place.files.read("made.txt", 10) == b"out\n"
    assert (place.place).name == "thread-1"
    photos = [ToolFile(name="photo.jpg", data=data) for data in (b"one", b"two")]
    assert await place.take_in(photos) == ["in/photo.jpg", "in/photo-2.jpg"]
    assert await does(place, "cat in/photo.jpg in/photo-2.jpg") == "onetwo"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("a.txt", "a.txt"),
        ("a/b", "a_b"),
        (".git", "git"),
        ("..", "file"),
        ("-rf", "rf"),
        ("", "file"),
        ("a\nb", "a_b"),
        ("ä" * 300, "ä" * 100),
    ],
)
def test_an_upload_has_a_plain_name(name: str, kept: str) -> None:
    """Nothing hidden, no folder, no option of a program, no break."""
    assert upload_name(name) == kept


def test_a_task_has_a_folder_of_its_own() -> None:
    """Plain ids are names of folders; others become one, each another, and none is scratch."""
    odd = ["../x", "A", "a", "a/b", "a-b", "", "x" * 100, "room:1", "0" * 24, "é", "e"]
    names = [folder_name(each) for each in odd]
    assert len(set(names)) == len(odd)
    assert all(name.strip(".") == name and "/" not in name and len(name) < 65 for name in names)
    assert folder_name("0" * 24) != "0" * 24
    assert not folder_name("mcp-odd").startswith("mcp-")


async def test_named_files_go_along_and_none_from_outside(workspaces: Workspaces) -> None:
    """What is in the workspace goes; what only seems to be there is refused, and said."""
    place = workspaces.of("t")
    await does(place, "mkdir out; echo 1 > out/a.csv; ln -s /etc/passwd way; ln -s out in2")
    answer = (
        "Here: <<out/a.csv>>, <</workspace/out/a.csv>>, <<way>>, <<../t/out/a.csv>>, "
        "<</etc/passwd>>, <<in2/a.csv>>, <<out>>, <<gone>>"
    )
    sent = await place.sent(answer)
    assert [(file.name, file.data) for file in sent.files] == [("a.csv", b"1\n")] * 2
    assert sent.text.startswith("Here: a.csv, a.csv, way, ../t/out/a.csv")
    assert set(sent.refused) == {
        "way",
        "../t/out/a.csv",
        "/etc/passwd",
        "in2/a.csv",
        "out",
        "gone",
    }


async def test_a_workspace_is_put_back_as_it_was(workspaces: Workspaces) -> None:
    """Files, programs, links and empty folders; what came after is gone, and kept itself."""
    place = workspaces.of("t")
    await does(
        place, "echo 1 > a; mkdir -p d/empty; echo '#!/bin/sh' > d/run; chmod +x d/run; ln -s a l"
    )
    first = await place.checkpoint("turn 1")
    assert await place.checkpoint("again") == first
    await does(place, "echo 2 > a; rm -r d l; echo new > n")
    change = await place.restore(first.number)
    assert change.told() == "new: d/run, l; changed: a; gone: n"
    assert change == (("d/run", "l"), ("a",), ("n",))
    assert (
        await does(place, "cat a; test -x d/run -a -d d/empty; readlink l; ls") == "1\na\na\nd\nl\n"
    )
    lost = await place.restore(2)
    assert lost.added == ("n",)
    assert await does(place, "cat a n") == "2\nnew\n"


async def test_the_last_change_of_files_is_taken_back_and_the_one_before(
    workspaces: Workspaces,
) -> None:
    """Also one of which no checkpoint was made; work goes on from there, and can be undone again."""
    place = workspaces.of("t")
    await place.checkpoint("begin")
    for n in (1, 2):
        await does(place, f"echo {n} > a")
        await place.checkpoint(f"turn {n}")
    await does(place, "echo 3 > a; echo x > b")
    seen = []
    for _ in range(2):
        await place.undo()
        seen.append(await does(place, "cat a; ls"))
    assert seen == ["2\na\n", "1\na\n"]
    await does(place, "echo 4 > a")
    await place.undo()
    assert await does(place, "cat a") == "1\n"
    await place.undo()
    assert await does(place, "ls") == ""
    with pytest.raises(Unknown, match="nothing to take back"):
        await place.undo()


class BrokenOff(CheckpointArchive):
    """Comes to its end, once, where it is to keep that a workspace was put back."""

    left = 1

    async def save(
        self, task: str, made: WorkspaceCheckpoint, read: Callable[[str], bytes]
    ) -> None:
        """Keep it, or come to an end."""
        if made.again and self.left:
            self.left -= 1
            raise ArtifactError("The program ends here.")
        await super().save(task, made, read)


async def test_an_undo_that_was_broken_off_is_no_change_to_be_taken_back(open_place: Path) -> None:
    """Asked for again, it takes back what it was to take back; the files do not go forward."""
    archive = BrokenOff(open_place / "checkpoints")
    place = Workspaces(open_place, archive, SystemClock(), SandboxLimits(), keep=20).of("t")
    for n in (1, 2):
        await does(place, f"echo {n} > a")
        await place.checkpoint(f"turn {n}")
    with pytest.raises(ArtifactError):
        await place.undo()
    await place.undo()
    assert await does(place, "cat a") == "1\n"


async def test_old_checkpoints_go_with_the_files_they_alone_needed(open_place: Path) -> None:
    """So many stay as are to be kept, and the oldest of them can be put back."""
    archive = CheckpointArchive(open_place / "checkpoints")
    place = Workspaces(open_place, archive, SystemClock(), SandboxLimits(), keep=5).of("t")
    for n in range(8):
        place.files.write("a", f"{n}\n".encode())
        await place.checkpoint()
    assert await place.checkpoints() == [4, 5, 6, 7, 8]
    assert len(await archive.hashes("t")) == 5
    await place.restore(4)
    assert place.files.read("a", 9) == b"3\n"


async def test_what_no_checkpoint_can_hold_is_not_lost_by_going_back(
    workspaces: Workspaces,
) -> None:
    """A file whose name is no text; it is named. A pipe, in which nothing is kept, holds nothing up."""
    place = workspaces.of("t")
    await does(place, "echo 1 > a")
    os.mkfifo(place.place / "pipe")
    first = await place.checkpoint()
    await does(place, r"echo 2 > a; echo x > $'caf\351.txt'")
    with pytest.raises(InputError, match=r"would be lost: caf.*\.txt\. Have it renamed"):
        await place.restore(first.number)
    assert await does(place, r"cat a $'caf\351.txt'; mv caf* cafe.txt") == "2\nx\n"
    assert (await place.restore(first.number)).removed == ("cafe.txt",)


async def test_what_was_broken_off_is_taken_up_at_the_next_start(
    workspaces: Workspaces, open_place: Path
) -> None:
    """Between the two renames of a restore the older folder is the workspace again.

    One that is lost comes from its checkpoint.
    """
    place = workspaces.of("t")
    await does(place, "echo 1 > a")
    await place.checkpoint()
    place.place.rename(place.place.with_name(".t.old"))
    assert workspaces.known("t").files.read("a", 9) == b"1\n"
    place.files.remove()
    with pytest.raises(Unknown):
        workspaces.known("t")
    assert (await workspaces.recovered("t")).files.read("a", 9) == b"1\n"


async def test_a_forgotten_task_leaves_nothing(workspaces: Workspaces, open_place: Path) -> None:
    """Neither folder nor checkpoint; another task's stay, and scratch goes by its own rule."""
    for task in ("t", "other"):
        await does(workspaces.of(task), "echo 1 > a; mkdir -p x/y; chmod 0 x/y")
        await workspaces.of(task).checkpoint()
    workspace_in(open_place, "0" * 24)
    forget_workspaces(open_place)
    await workspaces.forget("t")
    await workspaces.forget("t")
    assert [each.name for each in (open_place / "workspaces").iterdir()] == ["other"]
    assert [each.name for each in (open_place / "checkpoints").iterdir()] == ["other"]
    assert await CheckpointArchive(open_place / "checkpoints").tasks() == ["other"]


async def test_a_damaged_checkpoint_is_not_put_back(
    workspaces: Workspaces, open_place: Path
) -> None:
    """The workspace stays as it is, and it is said which file it was."""
    place = workspaces.of("t")
    await does(place, "echo 1 > a")
    first = await place.checkpoint()
    await does(place, "echo 2 > a")
    held = next((open_place / "checkpoints/t/files").glob("*/*"))
    held.write_bytes(b"other")
    with pytest.raises(ArtifactError, match="damaged"):
        await place.restore(first.number)
    for told in (open_place / "checkpoints/t").rglob("*.json"):
        told.write_bytes(told.read_bytes().replace(b'"a"', b'"\xb0"'))
    with pytest.raises(ArtifactError, match="damaged"):
        await place.restore(first.number)
    assert await does(place, "cat a") == "2\n"


async def test_a_key_of_the_home_neither_comes_in_nor_goes_out(open_place: Path) -> None:
    """As it is or in another form; and of several files that come, none does."""
    archive, key = CheckpointArchive(open_place / "checkpoints"), "zinc-harbour-4711"
    place = Workspaces(
        open_place, archive, SystemClock(), SandboxLimits(), secrets=lambda: frozenset({key})
    ).of("t")
    held = {"plain": key.encode(), "turned": key[::-1].encode(), "binary": b"\0" + key.encode()}
    for name, data in held.items():
        files = [ToolFile(name="fine", data=b"fine"), ToolFile(name=name, data=data)]
        with pytest.raises(InputError, match=f"{name} holds a key or password"):
            await place.take_in(files)
        assert place.files.listing() == []
    for name, data in held.items():
        place.files.write(name, data)
        sent = await place.sent(f"<<{name}>>")
        assert sent.files == ()
        assert "holds a key or password" in sent.refused[name]
        place.files.remove()
        place.place.mkdir()
