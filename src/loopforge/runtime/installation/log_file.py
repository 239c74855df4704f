"""The log on disk, data/logs/loopforge.log: opened when there is a home, moved aside when full.

As JSON, where that is set (log_settings.py), it has an object a line, each with the room or task
that it is about:

    {"at": RFC 3339, "level": "warning", "logger": "loopforge.work", "message": ..., "process": 1,
     "stream": "task:ID", "task": "ID" (or "room"), "error": a traceback, where there is one}

Whatever runs for a stream (a lane and what it starts) says so once (`set_log_stream`); its lines
bear it from then on, also those of libraries. A line that no lane wrote names a stream where its
text does.
"""

import json
import logging
import os
import re
import sys
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path

from loopforge.runtime.installation.log_settings import LogSettings

LOG = "loopforge.log"
LOG_LINE = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"
LOG_BYTES = 5_000_000
"""Bytes after which a log file moves aside, however long the process that writes it has run."""


def keep_log(data: Path, level: str, wanted: LogSettings) -> None:
    """Write what happens behind the scenes into data/logs, or where else, from this level on.

    Of other libraries only warnings. A full file moves aside, over the one that did so before, so
    there are never more than two; who writes beside goes on in the new one. As long as there is no
    home, nothing is kept. A line that cannot be written (no file left to open, a full disk) is
    counted, and that is said with the next one that can.
    """
    path = data / "logs" / LOG

    def moved(opened: int) -> bool:
        """Whether an open file is no longer the log's; one that is full moves aside now."""
        here = os.fstat(opened)
        if not path.exists() or not os.path.samestat(here, path.stat()):
            return True
        full = here.st_size > LOG_BYTES
        if full:
            path.replace(path.with_suffix(".log.1"))
        return full

    class Log(logging.FileHandler):
        """Opens its file as soon as there is a home, and disturbs nobody who says something."""

        missed = 0

        def open(self) -> None:
            if (stream := self.stream) is not None and moved(stream.fileno()):
                self.stream = None
                with suppress(OSError):
                    stream.close()
            if self.stream is None and data.is_dir():
                path.parent.mkdir(exist_ok=True)
                self.stream = self._open()

        def emit(self, record: logging.LogRecord) -> None:
            try:
                self.open()
            except OSError:
                self.missed += 1
            if self.stream is None:
                return
            if lost := self.missed:
                self.missed = 0
                told = {"msg": f"{lost} lines could not be written here", "levelname": "WARNING"}
                super().emit(logging.makeLogRecord({"name": __name__, **told}))
                if self.missed:  # nor could this one
                    self.missed = lost + 1
                    return
            super().emit(record)

        def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
            if isinstance(sys.exc_info()[1], OSError):
                self.missed += 1
            else:
                super().handleError(record)

    handler: logging.Handler = logging.StreamHandler()
    if wanted.to == "file":
        kept = Log(path, encoding="utf-8", errors="backslashreplace", delay=True)
        with suppress(OSError):
            kept.open()
        handler = kept
    handler.setFormatter(
        JsonFormatter() if wanted.format == "json" else logging.Formatter(LOG_LINE)
    )
    handler.name = LOG if wanted.to == "file" else "stderr"
    root = logging.getLogger()
    for old in [each for each in root.handlers if each.name in (LOG, "stderr")]:
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    logging.captureWarnings(True)  # else Python writes a library's over the screen
    logging.getLogger("loopforge").setLevel(level.upper())


def open_log() -> None:
    """Open the log, if one is kept, while there are files left to open."""
    for each in logging.getLogger().handlers:
        if each.name == LOG:
            with suppress(OSError):
                each.open()  # type: ignore[attr-defined]


# ---------------------------------------------------------------- structured log


STREAM: ContextVar[str] = ContextVar("stream", default="")
NAMED = re.compile(r"\b((?:room|task):[\w-]+)")


def set_log_stream(stream: str) -> None:
    """What this task of the loop does from now on, and what it starts, is about that stream."""
    STREAM.set(stream)


class JsonFormatter(logging.Formatter):
    """Writes a record as an object."""

    def format(self, record: logging.LogRecord) -> str:
        """The object, in a line."""
        message = record.getMessage()
        fields: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": message,
            "process": record.process,
        }
        found = NAMED.search(STREAM.get()) or NAMED.search(message)
        if found is not None:
            kind, _, name = found[1].partition(":")
            fields |= {"stream": found[1], kind: name}
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return json.dumps(fields)
