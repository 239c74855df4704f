"""The attacker in a sandbox that lacks one of its defences: python lacking.py FOLDER DEFENCE."""

# ruff: noqa: TID251
import asyncio
import json
import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from loopforge.tools.sandbox import confined_process
from loopforge.tools.sandbox.bubblewrap import Sandbox, bubblewrap_options
from tests.tools.sandbox.drills import Ground, within

LONE = ("user", "ipc", "net", "uts", "cgroup")


def weakened(defence: str, given: list[str]) -> list[str]:
    """bubblewrap's options without this defence."""
    match defence:
        case "seccomp":
            at = given.index("--seccomp")
            return given[:at] + given[at + 2 :]
        case "network":
            return ["--unshare-all", "--share-net", *given[1:]]
        case "processes":
            at = given.index("--proc")
            seen = ["--ro-bind", "/proc", "/proc"]
            return [f"--unshare-{each}" for each in LONE] + given[1:at] + seen + given[at + 2 :]
        case "read-only":
            keep = [each.replace("--ro-bind", "--bind") for each in given]
            while "--remount-ro" in keep:
                at = keep.index("--remount-ro")
                keep = keep[:at] + keep[at + 2 :]
            return keep
    return given


def main(base: Path, defence: str) -> None:
    """Take the defence away in this process alone, and print what came of it."""

    def lesser(sandbox: Sandbox, status: int, rules: int) -> bytes:
        given = bubblewrap_options(sandbox, status, rules).decode().split("\0")[:-1]
        return "".join(each + "\0" for each in weakened(defence, given)).encode()

    start = asyncio.create_subprocess_exec

    async def with_environment(*command: str, **how: Any) -> asyncio.subprocess.Process:
        return await start(*command, **how | {"env": dict(os.environ)})

    confined_process.bubblewrap_options = lesser  # type: ignore[attr-defined]
    if defence == "environment":
        asyncio.create_subprocess_exec = with_environment  # type: ignore[assignment]
    with ExitStack() as opened:
        ground = Ground(base, opened)
        if defence == "hidden":
            ground.sandbox = replace(ground.sandbox, hidden=())
        if defence == "processes":  # else the whole machine's are counted
            limits = replace(ground.sandbox.limits, memory=1 << 50)
            ground.sandbox = replace(ground.sandbox, limits=limits)
        json.dump(asyncio.run(within(ground)), sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
