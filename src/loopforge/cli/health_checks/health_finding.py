"""A finding of the doctor: right, wrong, or a note; and what to do about it."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "wrong"]
STATES: dict[str, State] = {"ok": "ok", "warn": "note", "bad": "wrong"}
"""Of findings about accounts."""


@dataclass(frozen=True)
class DoctorFinding:
    """One thing that was looked at. `mend` says what to do about it."""

    check: str
    state: State
    said: str
    mend: str = ""


def ok(check: str, said: str) -> DoctorFinding:
    """All is well with it."""
    return DoctorFinding(check, "ok", said)


def note(check: str, said: str, mend: str = "") -> DoctorFinding:
    """Something to know."""
    return DoctorFinding(check, "note", said, mend)


def wrong(check: str, said: str, mend: str) -> DoctorFinding:
    """Something to mend."""
    return DoctorFinding(check, "wrong", said, mend)
