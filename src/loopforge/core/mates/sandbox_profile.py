"""How what a mate runs is confined, as its file says; beside the limits of the home, never past.

    sandbox: {seconds: 60, memory: 256, processes: 32, writable: no}

Pure: how programs are confined is tools/sandbox/'s to know.
"""

from typing import Any

from msgspec import Struct

from loopforge.core.text.spoken_lists import join_as_prose


class SandboxProfile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one command, or one program, may use at most; None sets no limit of its own.

    `seconds` by the clock on the wall, `memory` in MiB, `processes` side by side. Where it is not
    `writable`, what the mate runs changes no file, and no tool that changes files is offered to it.
    """

    seconds: int | None = None
    memory: int | None = None
    processes: int | None = None
    writable: bool = True


UNCONFINED = SandboxProfile()
RANGE: dict[str, tuple[int, int]] = {
    "seconds": (1, 3_600),
    "memory": (16, 65_536),
    "processes": (8, 4_096),
}
"""The least and the most that may be set of each."""


def flaw_of(name: str, value: object) -> str:
    """What is wrong with a value that somebody sets; "" for nothing."""
    if name == "network":
        return "programs that mates run have no network, so there is none to set."
    if name not in SandboxProfile.__struct_fields__:
        known = join_as_prose(SandboxProfile.__struct_fields__)
        return f"There is no {name!r} of a sandbox; there are {known}."
    if name == "writable":
        return "" if isinstance(value, bool) else "writable is yes or no."
    least, most = RANGE[name]
    good = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    return "" if good else f"{name} is a whole number from {least} to {most:,}."


def narrowest_profile(*each: SandboxProfile) -> SandboxProfile:
    """Of every limit the smallest that is set; writable where all of them are."""
    found: dict[str, Any] = {"writable": all(one.writable for one in each)}
    for name in RANGE:
        values = [value for one in each if (value := getattr(one, name)) is not None]
        found[name] = min(values, default=None)
    return SandboxProfile(**found)
