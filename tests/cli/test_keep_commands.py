"""loopforge lab rename and delete, as they are typed: many runs are kept in order."""

import io
from pathlib import Path

import pytest

from loopforge.core import factory_vocabulary as factory
from loopforge.lab.run.run_log import head_of
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
        assert (code, "The run first_shift-stub-7 was deleted on " in err) == (2, True)
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
