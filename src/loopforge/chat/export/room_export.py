"""A room to be taken along: as Markdown, as JSON, or both in a zip with its pictures and files.

It holds what one person may see of the room, as it stands now: an edited line says that it was,
a deleted one that it is gone, and of forgotten words nothing is left. It ends with the line that
was the last when it was asked for, and says what is not in it.

Read page by page; how long a room is does not matter to memory.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.file_intake import data_of, is_erased, plain_name
from loopforge.chat.export.markdown_quoting import markdown_blockquote, markdown_label
from loopforge.chat.export.zip_stream import ZipEntry, stream_zip
from loopforge.chat.room.event_wording import event_sentence, line_asides
from loopforge.chat.room.member_visibility import MemberSight
from loopforge.chat.room.room_snapshot import RoomSnapshot
from loopforge.chat.rooms_api import RoomsApi, changed_line
from loopforge.core.edited_lines import Revised
from loopforge.core.events import Event
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.core.room_vocabulary import File, Heard, Said, Told
from loopforge.core.text.erasable_text import replace_lone_surrogates
from loopforge.errors import ArtifactError, Unknown

FORMS = {"md": "text/markdown", "json": "application/json", "zip": "application/zip"}
"""The ways in which a room is taken along, by the ending of the file, with their media types."""
PAGE = 200
"""Lines that are read, and written, at a time."""
RECALLED = 5_000
"""Lines back that an answer may name; of what it answers before, only the number is missing."""
NOT_HERE = (
    "what was said while whoever takes it along was not here",
    "what was deleted, and what was forgotten",
    "what lines said before they were edited",
    "what mates thought and were shown, which Why? tells",
    "keys, passwords and sign-ins",
)
"""What is not in it, in words."""

Row = dict[str, Any]


class RoomExport:
    """One room as `sight` has it; `at` is when it was asked for, `zone` is of Markdown's times."""

    def __init__(
        self,
        front: RoomsApi,
        artifacts: Artifacts,
        scene: RoomSnapshot,
        sight: MemberSight,
        at: datetime,
        zone: ZoneInfo,
    ) -> None:
        self._front, self._artifacts = front, artifacts
        self._scene, self._sight, self._at, self._zone = scene, sight, at, zone

    def stream(self, form: str) -> AsyncIterator[bytes]:
        """The bytes of the file in one of FORMS. Raises Unknown for another."""
        match form:
            case "md":
                return as_bytes(self._markdown())
            case "json":
                return as_bytes(self._json())
            case "zip":
                return stream_zip(self._parts())
            case _:
                raise Unknown(f"A room is taken along as {', '.join(FORMS)}; {form!r} is none.")

    async def _parts(self) -> AsyncIterator[ZipEntry]:
        yield ZipEntry(f"{self._scene.room}.md", as_bytes(self._markdown()))
        yield ZipEntry(f"{self._scene.room}.json", as_bytes(self._json()))
        async for page in self._pages():
            for event in page:
                for path, file in files_of(event):
                    yield ZipEntry(path, exported_file_bytes(self._artifacts, file))

    async def _pages(self) -> AsyncIterator[Sequence[Event]]:
        """The events that may be seen, in order, until what was the last one at the beginning."""
        room = self._scene.room
        end = (await self._front.rooms.state(room)).seq + 1
        after = self._sight.stays[0].since - 1 if self._sight.stays else 0
        while page := await self._front.history(
            room, after=after or -1, before=end, limit=PAGE, sight=self._sight
        ):
            yield page
            after = page[-1].seq

    # ------------------------------------------------------------ JSON

    async def _json(self) -> AsyncIterator[str]:
        head = {
            "room": self._scene.room,
            "title": self._scene.title,
            "exported": self._at.isoformat(timespec="seconds"),
            "not_in_it": NOT_HERE,
        }
        yield json.dumps(replace_lone_surrogates(head), ensure_ascii=False)[:-1] + ', "lines": ['
        between = "\n"
        async for page in self._pages():
            told = await asyncio.to_thread(self._told, page, between)
            if told:
                yield told
                between = ",\n"
        yield "\n]}\n"

    def _told(self, page: Sequence[Event], between: str) -> str:
        rows = [row for event in page if (row := self._row(event)) is not None]
        told = ",\n".join(
            json.dumps(replace_lone_surrogates(row), ensure_ascii=False) for row in rows
        )
        return between + told if told else ""

    def _row(self, event: Event) -> Row | None:
        """One event for programs; None for one that people read nothing of."""
        row: Row = {"id": event.id, "line": event.seq, "at": event.at.isoformat()}
        body = event.body
        if not isinstance(body, Heard | Said):
            told = self._sentence(event)
            if told is None:
                return None
            about = {"about": line} if (line := changed_line(event)) else {}
            return row | {"kind": "event", "text": told} | about
        row |= {"kind": "line", "by": self._speaker(body), "text": body.text.text}
        if isinstance(event, Revised) and event.revision.deleted:
            row["deleted"] = True
        elif body.text.text is None:
            row["forgotten"] = True
        if beside := line_asides(event):
            row["remarks"] = beside
        if body.reply_to:
            row["answers"] = body.reply_to
        if body.files:
            row["files"] = [file_row(file, path) for path, file in files_with_paths(event, body)]
        return row

    def _speaker(self, body: Heard | Said) -> dict[str, str]:
        if isinstance(body, Said):
            return {"mate": body.mate, "name": self._scene.mate(body.mate).name}
        return {"person": body.person, "name": self._scene.person(body.person)}

    def _sentence(self, event: Event) -> str | None:
        match event.body:
            case Told(text=text):
                return str(text)
            case _:
                return event_sentence(event.body, self._scene)

    # ------------------------------------------------------------ Markdown

    async def _markdown(self) -> AsyncIterator[str]:
        scene, at = self._scene, self._at.astimezone(self._zone)
        yield (
            f"# {markdown_label(scene.called)}\n\n"
            f"The room {markdown_label(scene.room)} as it stood on {at:%d %B %Y at %H:%M} "
            f"({markdown_label(str(self._zone))}). What somebody said stands in a quote under "
            "their name; "
            f"of what is outside of quotes only names were chosen by them.\n\n"
            f"Not in it: {'; '.join(NOT_HERE)}.\n"
        )
        written = _Written(self._zone)
        async for page in self._pages():
            yield await asyncio.to_thread(self._lines, page, written)

    def _lines(self, page: Sequence[Event], written: _Written) -> str:
        told: list[str] = []
        for event in page:
            body = event.body
            if isinstance(body, Heard | Said):
                told += written.day(event)
                told.append(self._line(event, body, written))
            elif (sentence := self._sentence(event)) is not None:
                told += written.day(event)
                told.append(f"\n*{written.time(event)}* {markdown_label(sentence)}\n")
        return "".join(told)

    def _line(self, event: Event, body: Heard | Said, written: _Written) -> str:
        """What somebody said. Their name, which they chose, comes last in its line."""
        kind = "mate" if isinstance(body, Said) else "person"
        name = markdown_label(self._speaker(body)["name"])
        written.remember(event, name)
        told = line_asides(event)
        if body.reply_to:
            told.append(f"answers {written.recalled(body.reply_to)}")
        if isinstance(event, Revised) and event.revision.deleted:
            words = (
                "*Deleted by "
                f"{markdown_label(self._scene.author(event.revision.by) or 'Somebody')}.*"
            )
        else:
            words = (
                "*Forgotten.*" if body.text.text is None else markdown_blockquote(body.text.text)
            )
        remarks = f"*{'; '.join(told)}*\n\n" if told else ""
        files = "".join(
            f"\n- a file: {markdown_label(str(file.name))} ({file.size:,} bytes, in a zip {path})"
            if path
            else "\n- a file that was forgotten"
            for path, file in files_with_paths(event, body)
        )
        heading = f"### {event.seq} · {written.time(event)} · {kind} · {name}"
        return f"\n{heading}\n\n{remarks}{words}\n" + (f"{files}\n" if files else "")


class _Written:
    """What was written of a room so far, as far as what follows needs it."""

    def __init__(self, zone: ZoneInfo) -> None:
        self._zone, self._day = zone, ""
        self._lines: BoundedMapping[str, str] = BoundedMapping(RECALLED)

    def day(self, event: Event) -> list[str]:
        """The heading of a day, where a new one begins."""
        day = f"{event.at.astimezone(self._zone):%A, %d %B %Y}"
        if day == self._day:
            return []
        self._day = day
        return [f"\n## {day}\n"]

    def time(self, event: Event) -> str:
        """When something was, that day."""
        return f"{event.at.astimezone(self._zone):%H:%M}"

    def remember(self, event: Event, name: str) -> None:
        """A line that others may answer."""
        self._lines[event.id] = f"{event.seq}, of {name}"

    def recalled(self, line: str) -> str:
        """What an answer says of the line that it answers."""
        return self._lines.get(line, "a line that is not above")


# ---------------------------------------------------------------- files


def files_of(event: Event, folder: str = "files") -> list[tuple[str, File]]:
    """The files of a line that are still there, each with its path in a zip."""
    body = event.body
    if not isinstance(body, Heard | Said):
        return []
    return [(path, file) for path, file in files_with_paths(event, body, folder) if path]


def files_with_paths(
    event: Event, body: Heard | Said, folder: str = "files"
) -> list[tuple[str, File]]:
    """All files of a line; one that was forgotten has no path."""
    return [
        ("" if is_erased(file) else f"{folder}/{event.seq}-{nth}-{_safe(str(file.name))}", file)
        for nth, file in enumerate(body.files, 1)
    ]


def _safe(name: str) -> str:
    """A name that every system can write, and in which Markdown reads no mark."""
    plain = plain_name(name)
    return "".join(sign if sign.isalnum() or sign in " .-_" else "_" for sign in plain)


def file_row(file: File, path: str) -> Row:
    """A file for programs, without what is in it."""
    if not path:
        return {"forgotten": True}
    return {"name": str(file.name), "size": file.size, "media": file.media, "path": path}


async def exported_file_bytes(artifacts: Artifacts, file: File) -> AsyncIterator[bytes]:
    """The bytes of a file; of one that is gone, or damaged, what became of it."""
    try:
        yield await data_of(artifacts, file)
    except (Unknown, ArtifactError) as error:
        yield f"This file could not be taken along: {error}\n".encode()


async def as_bytes(chunks: AsyncIterator[str]) -> AsyncIterator[bytes]:
    """The same as UTF-8."""
    async for chunk in chunks:
        yield chunk.encode("utf-8", "replace")
