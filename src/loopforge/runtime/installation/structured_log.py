"""Logs as objects of JSON, one a line, each with the room or task that it is about.

    {"at": RFC 3339, "level": "warning", "logger": "loopforge.work", "message": ..., "process": 1,
     "stream": "task:ID", "task": "ID" (or "room"), "error": a traceback, where there is one}

Whatever runs for a stream (a lane and what it starts) says so once (`set_log_stream`); its lines
bear it from then on, also those of libraries. A line that no lane wrote names a stream where its
text does.
"""

import json
import logging
import re
from contextvars import ContextVar
from datetime import UTC, datetime

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
