"""What a program in the sandbox may use: time, memory, processes, open files, disk, output.

Process limits bound each process alone. There are cgroups for the sum, but not for everybody, so it
is counted here, from outside, some twenty times a second. Memory is what is a process' own, and
what it shares under no name (counted in full, touched or not: it can be held without being seen),
its page tables, and what the kernel holds for each file in /tmp and /dev/shm, an empty one too.
Of the disk it is what lies in the workspace, and how much is left on the whole: a file that was
deleted while it is open lies nowhere. Not counted: buffers of pipes and sockets, which the limits
of open files and processes bound.
"""

import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from loopforge.core.mates.sandbox_profile import SandboxProfile

Limit = Literal["", "time", "memory", "disk", "files", "output", "room"]
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
        "room": "the disk of this machine has room for. Where that is not filled by what you made, "
        "do not take files away: a person has to make room",
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


# ---------------------------------------------------------------- what is used in sum

PAGE = os.sysconf("SC_PAGE_SIZE")
DEEPEST = 64
MANY = 16
INODE = 1024
"""Bytes that the kernel holds for a file, about."""
SCRATCH = ("tmp", "dev/shm")
NAMELESS = ("/dev/zero (deleted)", "/memfd:", "/SYSV")


def memory_used(child: int, limit: int) -> int:
    """Bytes of all processes that the sandbox's first process sees; an end raises nothing."""
    try:
        place = f"/proc/{child}/root"
        inside = os.open(f"{place}/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return 0  # it ended
    try:
        if os.fstat(inside).st_dev == os.stat("/proc").st_dev:  # noqa: PTH116
            return 0  # bubblewrap still sees the machine's own: the program has not begun
        seen = Path(f"/proc/self/fd/{inside}")
        processes = [seen / name for name in os.listdir(inside) if name.isdigit()]  # noqa: PTH208
        return _summed(processes, limit) + sum(_files_in(f"{place}/{each}") for each in SCRATCH)
    except OSError:
        return 0
    finally:
        os.close(inside)


def _files_in(folder: str) -> int:
    """Bytes that the kernel holds for the files of a file system in memory, but what is in them."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return 0  # it ended
    return (found.f_files - found.f_ffree) * INODE


def _summed(processes: list[Path], limit: int) -> int:
    own = mapped = 0
    for each in processes:
        try:
            size, resident, shared = map(int, (each / "statm").read_text().split()[:3])
        except (OSError, ValueError):
            continue  # it ended
        mapped += size * PAGE
        own += (resident - shared) * PAGE
    if mapped <= limit or own > limit:  # else there is no room to hide any
        return own
    return own + sum(_nameless(processes).values()) + sum(map(_page_tables, processes))


def _page_tables(process: Path) -> int:
    """Bytes of what only says where its memory is: of addresses without number that is much."""
    try:
        told = (process / "status").read_text("utf-8", "replace")
    except OSError:
        return 0  # it ended
    found = re.search(r"^VmPTE:\s*(\d+) kB$", told, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _nameless(processes: list[Path]) -> dict[str, int]:
    """Shared memory that is no file's: its pages, mapped once or often, by what it is."""
    found: dict[str, int] = {}
    for each in processes:
        try:
            lines = (each / "maps").read_text("utf-8", "replace").split("\n")  # all else a path has
        except OSError:
            continue
        for line in lines:
            if not any(name in line for name in NAMELESS):
                continue
            span, _, offset, _, inode, _ = line.split(maxsplit=5)
            start, end = (int(each, 16) for each in span.split("-"))
            what = f"{inode}:{offset}"
            found[what] = max(found.get(what, 0), end - start)
    return found


def exceeded_disk_limit(workspace: Path, limits: SandboxLimits) -> Limit:
    """Which limit of the disk is met in this folder; "" for none."""
    free = os.statvfs(workspace)
    if free.f_bavail * free.f_frsize < limits.reserve:
        return "room"
    held, files = _lying(workspace, limits)
    return "disk" if held > limits.disk else "files" if files > limits.files else ""


def widen_disk_limits(workspace: Path, limits: SandboxLimits) -> SandboxLimits:
    """The limits of who begins here: where more lies than may, it may be taken away, not added to.

    So no workspace stays too full for good. Of what is many times too much it is not so.
    """
    most = replace(limits, disk=limits.disk * MANY, files=limits.files * MANY)
    held, files = _lying(workspace, most)
    return replace(limits, disk=max(limits.disk, held), files=max(limits.files, files))


def _lying(workspace: Path, limits: SandboxLimits) -> tuple[int, int]:
    """Bytes and files in a folder, counted until one is more than may be."""
    held = files = 0
    walk = [
        _Level(None, str(workspace), limits.files)
    ]  # one descriptor a level, however wide it is
    try:
        while walk:
            if not walk[-1].waiting:
                walk.pop().close()
                continue
            level, name = walk[-1], walk[-1].waiting.pop()
            try:
                seen = os.stat(name, dir_fd=level.fd, follow_symlinks=False)
            except OSError:
                continue  # it is gone
            files, held = files + 1, held + seen.st_blocks * 512 // max(1, seen.st_nlink)
            if held > limits.disk:
                return held, files
            if files + len(level.waiting) > limits.files or len(walk) > DEEPEST:
                return held, limits.files + 1
            if stat.S_ISDIR(seen.st_mode):
                with suppress(OSError):
                    walk.append(_Level(level.fd, name, limits.files))
    finally:
        for level in walk:
            level.close()
    return held, files


class _Level:
    """A folder that is being walked; what is in it is read once, and no more than `most` of it."""

    def __init__(self, above: int | None, name: str, most: int) -> None:
        path = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        held = os.open(name, path, dir_fd=above)
        try:
            own = f"/proc/self/fd/{held}"
            if os.geteuid() and not os.access(own, os.R_OK | os.X_OK):
                os.chmod(own, 0o700)  # noqa: PTH101  what it hides is counted as well
            self.fd = os.open(own, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        finally:
            os.close(held)
        try:
            with os.scandir(self.fd) as entries:
                self.waiting = [entry.name for entry in islice(entries, most + 1)]
        except OSError:  # it was taken away just now
            self.close()
            raise

    def close(self) -> None:
        os.close(self.fd)
