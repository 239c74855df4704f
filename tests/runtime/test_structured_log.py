"""The log as JSON: one object a line, with the room or task that it is about."""

import asyncio
import json
import logging
import subprocess
import sys
from typing import Any

from loopforge.runtime.installation.structured_log import JsonFormatter
from loopforge.runtime.local.stream_lanes import LocalLanes
from loopforge.runtime.system_clock import SystemClock
from tests.runtime.test_log_file import KEEP


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
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    (line,) = run.stderr.splitlines()
    assert json.loads(line)["room"] == "lab"
    assert not (tmp_path / "data" / "logs" / "loopforge.log").exists()
