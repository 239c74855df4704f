"""The label of a run or a sweep, a file in its folder: what people call it, and that it is deleted.

A run's name is that of its folder, which never changes: addresses, other runs and the ledger know
it by that. What people call it is only shown. Of a deleted run the label alone stays, so that its
name is not given again and whatever cites it can say what became of it.
"""

from datetime import datetime
from pathlib import Path

import msgspec

from loopforge.errors import InputError
from loopforge.lab.run.run_paths import replace_file

LABEL = "label.json"
LONGEST = 80
"""Characters of what a run is called."""


class RunLabel(msgspec.Struct, frozen=True, omit_defaults=True):
    """`title` is what people call a run, or ""; `deleted` when it was, and `head` its last hash."""

    title: str = ""
    deleted: datetime | None = None
    head: str = ""

    def said(self, name: str) -> str:
        """A sentence on a deleted run or sweep of this name; "" of one that is there."""
        if self.deleted is None:
            return ""
        return f"{name} was deleted on {self.deleted.day} {self.deleted:%B %Y}."


def label_of(folder: Path) -> RunLabel:
    """The label of a run's folder; an empty one where there is none that can be read."""
    try:
        return msgspec.json.decode((folder / LABEL).read_bytes(), type=RunLabel)
    except (OSError, msgspec.MsgspecError):
        return RunLabel()


def write_label(folder: Path, label: RunLabel) -> None:
    """Write the label of a folder that is there. Raises BadRun."""
    replace_file(folder / LABEL, [msgspec.json.encode(label)])


def entitle(folder: Path, title: str) -> None:
    """Say what people call a run; "" takes it back. Raises InputError, BadRun."""
    plain = " ".join(title.split())
    if len(plain) > LONGEST or not plain.isprintable():
        raise InputError(f"A run is called by at most {LONGEST} letters and signs in one line.")
    write_label(folder, msgspec.structs.replace(label_of(folder), title=plain))
