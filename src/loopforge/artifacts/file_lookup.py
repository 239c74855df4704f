"""The kept files of a room, as tools take them: by handle or name, as far as a call may see them.

A file that somebody gave to the room, or that a mate attached to a line, is there where everybody
present could see that line. What a tool gave is its mate's, likewise, and only while it answers
nobody else than then: it may hold what others must not know. A call that waited for a yes takes
what people were asked about: neither a newer file of the same name, nor one that is called like
another's handle, can come between.
"""

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from math import inf

from sqlalchemy import select
from sqlalchemy.engine import Connection

from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.document_process import read_document
from loopforge.artifacts.file_intake import store_file
from loopforge.artifacts.file_retention import kept
from loopforge.artifacts.media_types import read_text
from loopforge.core.context_window import UNREAD
from loopforge.core.effect_states import EffectProposed, EffectReturned
from loopforge.core.room_vocabulary import File, Heard, Said
from loopforge.core.text.document_kinds import DOCUMENTS, HTML
from loopforge.errors import InputError, Unknown
from loopforge.ledger.table_access import ReadableLedger
from loopforge.runtime.effects.tool_results import HANDLE
from loopforge.runtime.ports import ToolCall, ToolFile

NEWEST = 200
"""Lines and results whose files are looked at."""
MOST_WORDS = 1_000_000
"""Bytes of text that are taken out of a document or a page."""
LONGEST = 20_000_000
"""Bytes of a text that is read on in."""


UsableSpans = Callable[[Connection, ToolCall], Sequence[tuple[int, int]] | None]
"""From which events to which a use may be told files of its stream; None: there is no bound."""


class KeptRoomFiles:
    """See `RoomFiles`. What is `usable` is for others to say."""

    def __init__(self, ledger: ReadableLedger, artifacts: Artifacts, usable: UsableSpans) -> None:
        self._ledger, self._artifacts, self._usable = ledger, artifacts, usable

    async def keep(self, file: ToolFile) -> File:
        """Keep what a tool gave. Raises ArtifactError."""
        return await store_file(self._artifacts, file.name, file.data)

    async def read(self, hash: str) -> bytes:
        """What was kept, by its hash. Raises ArtifactError."""
        return await self._artifacts.get(hash)

    async def known(self, call: ToolCall) -> Sequence[File]:
        """All of them, each once, the newest first."""
        found = dict[str, File]()
        async for file, _ in self._seen(call):
            found.setdefault(str(file.hash), file)
        return [*found.values()]

    async def text(self, call: ToolCall, which: str) -> tuple[File, str]:
        """A file by its handle or name, and what can be read of it. Raises Unknown, InputError."""
        file = await self.file(call, which)
        text = str(file.text)
        if not text and file.hash:
            data = await self._artifacts.get(str(file.hash))
            if file.media in DOCUMENTS:  # a tool gave it: what people give is read when it comes
                async with self._artifacts.reading:
                    text = await extracted(
                        ToolFile(name=str(file.name), data=data, media=file.media)
                    )
            else:
                text = read_text(data, LONGEST) or ""
        if not text:
            raise InputError(f"There is no text in {file.name} ({file.media}).")
        return file, text

    async def data(self, call: ToolCall, which: str) -> ToolFile:
        """A file by its handle or name, with its bytes. Raises Unknown, ArtifactError."""
        file = await self.file(call, which)
        data = await self._artifacts.get(str(file.hash))
        return ToolFile(name=str(file.name), data=data, media=file.media)

    async def givers(self, call: ToolCall, which: str) -> Collection[str]:
        """The tools that gave a file, to this mate for those whom it answers. Raises Unknown."""
        wanted = str((await self.file(call, which)).hash)
        return {tool async for file, tool in self._seen(call) if tool and str(file.hash) == wanted}

    async def extract(self, file: ToolFile) -> str:
        """What a document or a page says. Raises InputError."""
        return await extracted(file)

    async def file(self, call: ToolCall, which: str) -> File:
        """A file by its handle or name. Raises Unknown."""
        wanted, named = which.strip().removeprefix("file ").strip(), None
        async for file, _ in self._seen(call):
            if len(wanted) >= HANDLE and str(file.hash).startswith(wanted.lower()):
                return file
            named = named or (file if str(file.name) == wanted else None)
        if named is not None:
            return named
        raise Unknown(f"No file {wanted[:60]!r} is here. Use list_files to see those there are.")

    async def _seen(self, call: ToolCall) -> AsyncIterator[tuple[File, str]]:
        """Each file that may be seen, with the tool that gave it; "" for what people gave."""
        query = select(kept.c.event).where(kept.c.stream == call.stream).distinct()
        until = await self._asked(call)
        newest = query.order_by(kept.c.event.desc()).limit(NEWEST)
        spans = await self._ledger.look(lambda table: self._usable(table, call))
        for id in await self._ledger.look(lambda table: list(table.execute(newest).scalars())):
            event = await self._ledger.event(id)
            body, tool = event.body, ""
            if event.seq > until:
                continue
            if spans is not None and not any(one <= event.seq <= last for one, last in spans):
                continue
            if isinstance(body, EffectReturned):
                tool = await self._own(call, body.effect)
                if not tool:
                    continue
            for file in body.files if isinstance(body, Heard | Said | EffectReturned) else ():
                if file.hash.text and file.name.text is not None:
                    yield file, tool

    async def _asked(self, call: ToolCall) -> float:
        """Where in its stream it was wanted; a use by hand is wanted now."""
        try:
            return (await self._ledger.event(call.id)).seq if call.id else inf
        except Unknown:
            return inf

    async def _own(self, call: ToolCall, effect: str) -> str:
        """The tool that was used; "" unless it was by this mate, for all whom it answers now."""
        proposed = await self._ledger.event(effect)
        body = proposed.body
        mine = proposed.actor == f"mate:{call.mate}"
        if mine and isinstance(body, EffectProposed) and {*call.people} <= {*body.people}:
            return body.tool
        return ""


async def extracted(file: ToolFile) -> str:
    """What a document or a page says, read within limits. Raises InputError."""
    before = f"{file.name}\n".encode() if file.media == HTML else b""
    reading = await read_document(file.media, before + file.data, MOST_WORDS)
    if reading.unread == "scanned" and file.media == HTML:
        raise InputError(
            f"{file.name} shows no words until its scripts run, which is not done here"
        )
    if reading.unread:
        raise InputError(f"{file.name}: {UNREAD[reading.unread]}")
    return reading.text
