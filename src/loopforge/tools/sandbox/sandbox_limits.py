"""What a program in the sandbox may use: time, memory, processes, open files, disk, output."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from loopforge.core.mates.sandbox_profile import SandboxProfile

Limit = Literal["", "time", "memory", "disk", "files", "output"]
"""Which limit ended a program; "" where it ended by itself."""
MIB = 1024 * 1024
COMPLAINTS = 8_000
"""Bytes of a server's complaints that are kept."""
LONGEST_OUTPUT_LINE = 4 * MIB
"""Bytes that are read ahead, and of one line, of what a server writes."""


@dataclass(frozen=True)
class SandboxLimits:
    """What a program and all it starts may use; where one is met, everything of it is ended.

    Seconds by the clock on the wall (None: a server's, until it is stopped). Bytes: memory in sum
    and of one process' addresses, one file, the workspace in all, /tmp and /dev/shm each, output.
    `reserve`: bytes of the disk that stay free for everybody else.
    """

    seconds: float | None = 60.0
    memory: int = 512 * MIB
    address_space: int | None = 2048 * MIB
    processes: int = 64
    open_files: int = 256
    file_size: int = 64 * MIB
    disk: int = 256 * MIB
    files: int = 10_000
    reserve: int = 256 * MIB
    scratch: int = 64 * MIB
    output: int = 64_000


def narrow_limits(limits: SandboxLimits, profile: SandboxProfile) -> SandboxLimits:
    """The limits of a home, with those that a mate's file sets besides: of both the smaller."""
    seconds = [one for one in (limits.seconds, profile.seconds) if one is not None]
    return replace(
        limits,
        seconds=min(seconds, default=None),
        memory=min(limits.memory, (profile.memory or limits.memory) * MIB),
        processes=min(limits.processes, profile.processes or limits.processes),
    )


def exceeded_limit_text(limits: SandboxLimits, met: Limit) -> str:
    """What a program used more of than it may, in words."""
    most = {
        "time": f"{limits.seconds:g} seconds",
        "memory": f"{limits.memory // MIB} MiB of memory",
        "disk": f"{limits.disk // MIB} MiB of disk; take files away",
        "files": f"{limits.files} files; take some away",
        "output": f"{limits.output} bytes of output",
    }
    return most[met]


def with_process_limits(limits: SandboxLimits, command: Sequence[str]) -> list[str]:
    """The command under the limits of one process; hard ones, which nothing inside can raise."""
    most = {
        "nproc": limits.processes,
        "as": limits.address_space,
        "fsize": limits.file_size,
        "nofile": limits.open_files,
        "cpu": None if limits.seconds is None else int(limits.seconds) + 1,
        "core": 0,
        "rtprio": 0,
        "memlock": 65536,
        "msgqueue": 0,
        "sigpending": 256,
    }
    bounds = [f"--{name}={number}" for name, number in most.items() if number is not None]
    return ["/usr/bin/nice", "-n", "10", "/usr/bin/prlimit", *bounds, "--", *command]
