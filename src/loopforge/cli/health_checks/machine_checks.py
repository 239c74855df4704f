"""The machine: the interpreter, the folder and its disk, the sandbox, the terminal."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loopforge.cli.health_checks.health_finding import DoctorFinding, note, ok, wrong

if TYPE_CHECKING:
    from loopforge.setting_defaults import Settings


SCARCE = 200 * 1024 * 1024
"""Bytes of free disk below which a home is in danger."""
NARROW, SHORT = 60, 12
"""Columns and rows a terminal should have for the room."""


def check_python() -> Iterator[DoctorFinding]:
    """The interpreter, and the packages Loopforge needs."""
    from importlib.metadata import PackageNotFoundError, requires, version

    from loopforge.runtime.installation.extras import EXTRAS, getting, missing_libraries

    yield ok("python", platform.python_version())
    missing = []
    for need in requires("loopforge-city") or ():
        if "extra ==" in need:
            continue
        name = re.split(r"[\[<>=!~; ]", need)[0]
        try:
            version(name)
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        yield wrong("packages", f"missing: {', '.join(missing)}.", f"Run {getting()}.")
    if absent := [extra for extra in EXTRAS if missing_libraries(extra)]:
        yield ok("extras", f"left out: {', '.join(absent)}. {getting('all')} gets them.")


def check_home_folder(settings: Settings) -> Iterator[DoctorFinding]:
    """The home and whether it can be written."""
    home = settings.home
    if not settings.file.exists():
        yield wrong(
            "home",
            f"{home} is no home yet: it has no {settings.file.name}.",
            "`loopforge up` makes it; or name another with --home or LOOPFORGE_HOME.",
        )
        return
    for path in (home, settings.data):
        if path.exists() and not os.access(path, os.W_OK | os.X_OK):
            yield wrong("home", f"{path} cannot be written.", f"chown or chmod it: {path}")
            return
    yield ok("home", str(home))


def check_disk(settings: Settings) -> Iterator[DoctorFinding]:
    """Room on the disk that holds the home."""
    there = next(path for path in (settings.data, *settings.data.parents) if path.exists())
    free = shutil.disk_usage(there).free
    said = f"{free / 2**30:.1f} GiB free."
    if free < SCARCE:
        yield wrong("disk", said, f"Make room on the disk that holds {there}.")
    else:
        yield ok("disk", said)


def check_sandbox(_: Settings) -> Iterator[DoctorFinding]:
    """Whether programs can be confined on this machine: one that does nothing is run."""
    from tempfile import TemporaryDirectory

    from loopforge.tools.sandbox.bubblewrap import Sandbox, find_bubblewrap, make_workspace
    from loopforge.tools.sandbox.confined_process import why_unconfined

    with TemporaryDirectory() as place:
        why = asyncio.run(why_unconfined(Sandbox(make_workspace(Path(place)))))
    if why:
        yield note("sandbox", why, "Until then no tool runs a program; all else works.")
    else:
        yield ok("sandbox", f"programs can be confined, by {find_bubblewrap()}.")


def check_terminal() -> Iterator[DoctorFinding]:
    """Size and encoding of the terminal; without one, the plain form is used."""
    if not sys.stdout.isatty():
        yield note("terminal", "none here; `loopforge chat` takes its plain form.")
        return
    columns, lines = shutil.get_terminal_size()
    said = f"{columns} x {lines}, {sys.stdout.encoding}."
    if columns < NARROW or lines < SHORT:
        mend = f"Make it at least {NARROW} x {SHORT}."
        yield wrong("terminal", said, mend)
    elif sys.stdout.encoding.lower().replace("-", "") != "utf8":
        yield wrong("terminal", said, "Use a UTF-8 locale, such as LANG=C.UTF-8.")
    else:
        yield ok("terminal", said)
