"""The log on disk, data/logs/loopforge.log: opened when there is a home, moved aside when full.

How a line looks as JSON is structured_log.py's, what can be set of it log_settings.py's.
"""

import logging
import os
import sys
from contextlib import suppress
from pathlib import Path

from loopforge.runtime.installation.log_settings import LogSettings
from loopforge.runtime.installation.structured_log import JsonFormatter

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
