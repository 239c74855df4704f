"""What a sandbox uses in sum, looked at from outside: memory of all its processes, and the disk.

    memory_used(pid, limit)      bytes
    disk_over(folder, limits)    "files", "disk", or "" while all is well

Process limits bound each process alone. There are cgroups for the sum, but not for everybody, so it
is counted here, some twenty times a second. Memory is what is a process' own, and what it shares
under no name (counted in full, touched or not: it can be held without being seen). Of the disk it
is what lies in the workspace, and how much is left on the whole: a file that was deleted while it
is open lies nowhere. Not counted: buffers of pipes and sockets, which the limits of open files and
processes bound.
"""

import os
import stat
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from loopforge.tools.sandbox.sandbox_limits import Limit, SandboxLimits

PAGE = os.sysconf("SC_PAGE_SIZE")
DEEPEST = 64
MANY = 16
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
        return _summed([seen / name for name in os.listdir(inside) if name.isdigit()], limit)  # noqa: PTH208
    except OSError:
        return 0
    finally:
        os.close(inside)


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
    return own + sum(_nameless(processes).values())


def _nameless(processes: list[Path]) -> dict[str, int]:
    """Shared memory that is no file's: its pages, mapped once or often, by what it is."""
    found: dict[str, int] = {}
    for each in processes:
        try:
            lines = (each / "maps").read_text("utf-8", "replace").splitlines()
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
        return "disk"
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
        with os.scandir(self.fd) as entries:
            self.waiting = [entry.name for entry in islice(entries, most + 1)]

    def close(self) -> None:
        os.close(self.fd)
