"""The log on disk: what is kept of it, and that it disturbs nobody."""

import asyncio
import json
import logging
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from loopforge.home import make_home
from loopforge.runtime.installation.log_file import JsonFormatter
from loopforge.runtime.local.stream_lanes import LocalLanes
from loopforge.runtime.system_clock import SystemClock
from tests.child_process import run_python

KEEP = (
    "import logging, os, resource, warnings; from pathlib import Path\n"
    "from loopforge.runtime.installation.log_file import LOG, keep_log\n"
    "from loopforge.runtime.installation.log_settings import LogSettings\n"
    "from loopforge.home import make_home\n"
    "from loopforge.settings import load_settings\n"
    "def keep(found): keep_log(found.data, found.log_level, found.of('log', LogSettings))\n"
)
"""The beginning of a program that keeps a log."""


def keeping(home: Path, program: str) -> str:
    """A program in whose home the log is kept from its first line on."""
    make_home(home)
    return f"{KEEP}keep(load_settings(Path({str(home)!r}), environ={{}}))\n{program}"


def test_a_warning_of_a_library_disturbs_no_screen(tmp_path: Path) -> None:
    """What Python would print on standard error goes to the log of the home."""
    out = run_python("-c", keeping(tmp_path, "warnings.warn('this count is odd')"), check=True)
    assert out.stderr == ""
    log = tmp_path / "data" / "logs" / "loopforge.log"
    assert "UserWarning: this count is odd" in log.read_text()


def test_the_log_is_kept_in_the_home(tmp_path: Path) -> None:
    """Warnings of everybody and more of Loopforge go to data/logs; a full file moves aside."""
    code = keeping(
        tmp_path,
        "logging.getLogger('loopforge.x').info('a fact'); logging.getLogger('y').info('noise')\n"
        "logging.getLogger('loopforge.x').debug('detail'); logging.getLogger('y').warning('beware')",
    )
    log = tmp_path / "data" / "logs" / "loopforge.log"
    for _ in range(2):
        out = run_python("-c", code, check=True)
        assert out.stderr == ""
    assert [line.split(": ")[1] for line in log.read_text().splitlines()] == [
        "a fact",
        "beware",
    ] * 2
    log.write_text("x" * 5_000_001)
    subprocess.run([sys.executable, "-c", code], check=True)
    assert log.with_suffix(".log.1").stat().st_size == 5_000_001
    assert len(log.read_text().splitlines()) == 2


def test_a_process_that_runs_for_long_keeps_two_files_at_most(tmp_path: Path) -> None:
    """A full file moves aside while it is written, and so it does for a process beside that one."""
    code = keeping(
        tmp_path,
        "log = logging.getLogger('loopforge')\n"
        "for line in iter(input, ''): log.info(line * 1_000_000); print()",
    )
    logs = tmp_path / "data" / "logs"
    with ExitStack() as stack:
        command, pipe = [sys.executable, "-c", code], subprocess.PIPE
        one, other = (
            stack.enter_context(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True))
            for _ in range(2)
        )
        for letter, process in zip("aabbccddeeffg", [one, other] * 6 + [one], strict=True):
            assert process.stdin
            assert process.stdout
            process.stdin.write(f"{letter}\n")
            process.stdin.flush()
            process.stdout.readline()
        for process in (one, other):
            process.communicate("\n")
    kept = {path.name: path.read_text() for path in logs.iterdir()}
    letters = {name: [line[-1] for line in text.splitlines()] for name, text in kept.items()}
    assert letters == {"loopforge.log.1": [*"cddee"], "loopforge.log": [*"ffg"]}


def test_a_log_that_cannot_be_written_disturbs_nobody(tmp_path: Path) -> None:
    """Without a file left to open, or with a full disk, nothing is raised or printed; it is counted."""
    make_home(tmp_path)
    code = (
        f"{KEEP}"
        f"home = Path({str(tmp_path)!r})\n"
        "def fill():\n"
        "    taken = []\n"
        "    while True:\n"
        "        try: taken.append(os.open('/dev/null', os.O_RDONLY))\n"
        "        except OSError: return taken\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); log = logging.getLogger('loopforge')\n"
        "settings = load_settings(home, environ={}); taken = fill(); keep(settings)\n"
        "log.info('lost'); log.info('lost too'); [os.close(one) for one in taken]\n"
        "log.info('there'); taken = fill(); log.info('open'); [os.close(one) for one in taken]\n"
        "path = home / 'data/logs' / LOG; path.rename(home / 'whole'); path.symlink_to('/dev/full')\n"
        "log.info('full'); log.info('full'); (home / 'whole').rename(path); log.info('again')"
    )
    out = run_python("-c", code, check=True)
    assert out.stderr == ""
    log = tmp_path / "data" / "logs" / "loopforge.log"
    assert [line.split(": ")[1] for line in log.read_text().splitlines()] == [
        "2 lines could not be written here",
        "there",
        "open",
        "2 lines could not be written here",
        "again",
    ]


def test_no_log_is_kept_without_a_home(tmp_path: Path) -> None:
    """Looking at a folder that is no home leaves nothing in it; once it is one, the log begins."""
    code = (
        f"{KEEP}"
        f"settings = load_settings(Path({str(tmp_path / 'none')!r}), environ={{}})\n"
        "keep(settings); log = logging.getLogger('loopforge'); log.info('early')\n"
        "print(settings.home.exists()); make_home(settings.home); log.info('late')"
    )
    out = run_python("-c", code, check=True)
    assert (out.stdout, out.stderr) == ("False\n", "")
    assert (tmp_path / "none/data/logs/loopforge.log").read_text().endswith(": late\n")


# ---------------------------------------------------------------- test structured log


def written(message: str, *, error: Exception | None = None) -> dict[str, Any]:
    """A record as it is written."""
    raised = (type(error), error, None) if error is not None else None
    record = logging.LogRecord("x", logging.WARNING, "x.py", 1, message, (), raised)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    found: dict[str, Any] = json.loads(line)
    return found


def test_a_line_is_an_object() -> None:
    """Level, logger, message, a traceback with its lines; a stream where the text names one."""
    found = written("lane task:01ab waits:\nlong", error=ValueError("what"))
    assert (found["level"], found["logger"]) == ("warning", "x")
    assert found["message"] == "lane task:01ab waits:\nlong"
    assert (found["stream"], found["task"]) == ("task:01ab", "01ab")
    assert "ValueError: what" in found["error"]
    assert "stream" not in written("of nothing in particular")


async def test_what_runs_in_a_lane_is_about_its_stream() -> None:
    """Also what the lane starts; two lanes side by side keep theirs apart."""
    found = dict[str, dict[str, Any]]()

    async def handler(stream: str) -> None:
        await asyncio.sleep(0)
        found[stream] = await asyncio.to_thread(written, "a library says something")

    lanes = LocalLanes(handler, SystemClock())
    for stream in ("room:commons", "task:9f"):
        lanes.wake(stream)
    for stream in ("room:commons", "task:9f"):
        await lanes.settled(stream)
    assert found["room:commons"]["room"] == "commons"
    assert found["task:9f"]["task"] == "9f"
    assert "stream" not in written("outside")


def test_it_is_written_where_containers_look(tmp_path: Any) -> None:
    """With log_format and log_to, lines are JSON on standard error, and no file is made."""
    environ = {"LOOPFORGE_LOG_FORMAT": "json", "LOOPFORGE_LOG_TO": "stderr"}
    code = (
        "import logging; from pathlib import Path\n"
        f"{KEEP}"
        f"make_home(Path({str(tmp_path)!r}))\n"
        f"keep(load_settings(Path({str(tmp_path)!r}), environ={environ}))\n"
        "logging.getLogger('loopforge.x').info('in room:lab')"
    )
    run = run_python("-c", code, check=True)
    (line,) = run.stderr.splitlines()
    assert json.loads(line)["room"] == "lab"
    assert not (tmp_path / "data" / "logs" / "loopforge.log").exists()
