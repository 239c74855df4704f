"""Events as the CloudEvents standard has them (1.0, in JSON), for whatever is no file. Pure.

    {"specversion": "1.0", "id": that of the event, "source": "loopforge", "type": what happened,
     "subject": the stream, "time": RFC 3339, "sequence": the place in its stream, so wide that
     texts compare as numbers do, "datacontenttype": "application/json",
     "data": a line as `loopforge ledger export` writes it}

What happens to tasks has names of its own there (TYPES), which stay as they are; everything else is
called by its kind. One that is longer than a place takes goes in parts (`split_cloud_event`), each
an event of the type PART, which put together in order are the first one.
"""

import json
from collections.abc import Iterator
from typing import Any

from loopforge.core.events import Event
from loopforge.ledger.jsonl_export import as_json_line

TYPES = {
    "task.opened": "task.started",
    "task.progressed": "task.turn_completed",
    "task.escalated": "task.escalated",
    "task.workspace_saved": "task.checkpointed",
    "task.asked": "task.asked",
    "task.approved": "task.approved",
    "task.rejected": "task.rejected",
    "task.finished": "task.finished",
    "task.stopped": "task.aborted",
    "task.resumed": "task.resumed",
}
"""What is told of a task, by the kind of the event."""
TOLD = ", ".join(TYPES)
PREFIX, PART = "loopforge.", "loopforge.part"
SOURCE = "loopforge"
ENVELOPE = 700
"""Bytes that stand around a part, at most."""


def cloud_event(event: Event, *, texts: bool) -> str:
    """One event as JSON; with its private texts in plain, or without."""
    return _head(
        event,
        type=PREFIX + TYPES.get(event.kind, event.kind),
        data=json.loads(as_json_line(event, texts=texts)),
    )


def split_cloud_event(event: Event, whole: str, most: int) -> Iterator[tuple[str, str]]:
    """What `cloud_event` made, in pieces of at most `most` bytes, each with an id of its own."""
    if len(whole) <= most:
        yield event.id, whole
        return
    piece = (most - ENVELOPE) // 2  # a quote or a backslash takes two
    pieces = [whole[start : start + piece] for start in range(0, len(whole), piece)]
    for nth, text in enumerate(pieces, 1):
        id = f"{event.id}.{nth}"
        place = {"part": nth, "parts": len(pieces), "partof": event.id}
        yield id, _head(event, id=id, type=PART, **place, data=text)


def _head(event: Event, **more: Any) -> str:
    fields = {
        "specversion": "1.0",
        "id": event.id,
        "source": SOURCE,
        "subject": event.stream,
        "time": event.at.isoformat(timespec="microseconds"),
        "sequence": f"{event.seq:012}",
        "datacontenttype": "application/json",
    }
    return json.dumps(fields | more)
