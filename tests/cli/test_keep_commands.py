"""loopforge lab rename and delete, as they are typed: many runs are kept in order."""

import asyncio
import io
from pathlib import Path

import pytest

from loopforge.core import factory_vocabulary as factory
from loopforge.lab.run.run_deletion import delete_run
from loopforge.lab.run.run_log import head_of
from loopforge.lab.sweeps.sweep_results import lock_folder
from loopforge.runtime.system_clock import SystemClock
from tests.cli.conftest import SMALL, Lab
from tests.cli.test_lab_command import noted


def test_a_run_is_named_anew_and_deleted(
    lab: Lab, scripted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what it is called changes; of a deleted one every command says so, and the ledger knows."""
    assert lab("run", *SMALL)[0] == 0
    folder = scripted / "data" / "runs" / "first_shift-stub-7"
    head = head_of(folder)
    called = lab("rename", folder.name, "base  line")
    assert called == (0, "first_shift-stub-7 is called base line.\n", "")
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    code, out, _ = lab("delete", folder.name)
    assert (code, "Delete first_shift-stub-7? actions.jsonl, " in out) == (0, True)
    assert lab("verify", folder.name)[0] == 0
    assert lab("delete", folder.name, "--yes")[:2] == (0, "Deleted.\n")
    for command in (("story",), ("diff", folder.name), ("delete",), ("rename",)):
        code, _, err = lab(*command, folder.name)
        assert (code, "first_shift-stub-7 was deleted on " in err) == (2, True)
    assert noted(scripted, folder.name)[-1].body == factory.RunDeleted(head)
    assert lab("run", *SMALL)[0] == 0
    assert (folder.parent / "first_shift-stub-7-2").exists()


def test_a_label_that_cannot_be_written_is_told(lab: Lab, scripted: Path) -> None:
    """Where the disk refuses the label, the command says which file, and the run stays as it was."""
    assert lab("run", *SMALL)[0] == 0
    folder = scripted / "data" / "runs" / "first_shift-stub-7"
    (folder / "label.json.new").mkdir()
    for command in (("rename", folder.name, "other"), ("delete", folder.name, "--yes")):
        code, _, err = lab(*command)
        assert (code, "label.json cannot be written: Is a directory." in err) == (2, True)
    assert lab("verify", folder.name)[0] == 0


TINY = """
name = "tiny"
question = "Who is quicker?"
scenarios = ["first_shift"]
seeds = 2
[factors]
policy = ["stub", "guardrail"]
days = [1]
steps_per_day = [2]
"""


def test_a_sweep_is_named_anew_and_deleted(lab: Lab, scripted: Path) -> None:
    """By the commands of a run: not while it is swept, nor a run of it alone; its name is not given again."""
    (scripted / "tiny.toml").write_text(TINY)
    tiny = str(scripted / "tiny.toml")
    assert lab("sweep", tiny, "--keep-logs")[0] == 0
    folder = scripted / "data" / "sweeps" / "tiny"
    assert lab("rename", "tiny", "the first")[:2] == (0, "tiny is called the first.\n")
    one = str(next((folder / "runs").iterdir()))
    assert "is one of the runs of a sweep" in lab("delete", one, "--yes")[2]
    Path(one, "actions.jsonl").write_bytes(b"")
    assert "is one of the runs of a sweep" in lab("run", "--resume", "--out", one)[2]
    assert Path(one, "actions.jsonl").exists()
    with lock_folder(folder):
        assert (
            "tiny is being played, or will be; stop it first." in lab("delete", "tiny", "--yes")[2]
        )
    assert lab("delete", "tiny", "--yes")[:2] == (0, "Deleted.\n")
    assert [each.name for each in folder.iterdir()] == ["label.json"]
    assert noted(scripted, "tiny")[-1].body == factory.RunDeleted("")
    for command in (("report", "tiny"), ("export", "tiny"), ("sweep", tiny), ("delete", "tiny")):
        code, _, err = lab(*command)
        assert (code, "tiny was deleted on " in err) == (2, True), command


def test_what_lies_elsewhere_is_deleted_without_what_is_not_of_the_lab(
    lab: Lab, scripted: Path
) -> None:
    """Of a folder that somebody named by --out the run or the sweep goes, and the folder if it is empty."""
    alone, beside = scripted / "alone", scripted / "beside"
    for folder in (alone, beside):
        assert lab("run", *SMALL, "--out", str(folder))[0] == 0
    (beside / "thesis.txt").write_text("mine")
    assert lab("rename", str(alone), "once")[0] == 0
    assert lab("delete", str(alone), "--yes")[:2] == (0, "Deleted.\n")
    assert not alone.exists()
    assert noted(scripted, "alone")[-1].kind == "lab.deleted"
    told = f"Deleted. Other files in {beside} stay.\n"
    assert lab("delete", str(beside), "--yes")[:2] == (0, told)
    assert [each.name for each in beside.iterdir()] == ["thesis.txt"]
    (scripted / "tiny.toml").write_text(TINY)
    swept = str(scripted / "swept")
    assert lab("sweep", str(scripted / "tiny.toml"), "--keep-logs", "--out", swept)[0] == 0
    assert lab("delete", swept, "--yes")[0] == 0
    assert not Path(swept).exists()


def test_a_deletion_that_was_cut_off_is_done_again(lab: Lab, scripted: Path) -> None:
    """Between the ledger's fact and the last file the run is there still; one more deletion adds no second fact."""
    assert lab("run", *SMALL)[0] == 0
    folder = scripted / "data" / "runs" / "first_shift-stub-7"
    kept = (folder / "actions.jsonl").read_bytes()

    async def cut_off(_head: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(delete_run(folder, SystemClock().now(), cut_off))
    assert (folder / "actions.jsonl").read_bytes() == kept
    assert lab("verify", folder.name)[0] == 0
    for _ in range(2):
        assert lab("delete", folder.name, "--yes")[0] == 0
        (folder / "actions.jsonl").write_bytes(kept)
    assert [event.kind for event in noted(scripted, folder.name)].count("lab.deleted") == 1
