"""Everything of one person, to be taken along by them: as Markdown and as JSON in one zip.

What is theirs is what an erasure of them would name (ledger/erasure/person_identities.py):
everything that they said and did in rooms and at the door, under each of their selves, and their
names and accounts. With it goes where they are signed in, what they may do, how many answers their
lines got and what those cost, the files that they gave, and what mates keep of them, with its
evidence.

Read page by page. Says what is not in it; never has a secret, for none stands in an event.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.engine import Connection

from loopforge.artifacts.artifact_store import Artifacts
from loopforge.chat.export.markdown_quoting import markdown_blockquote, markdown_label
from loopforge.chat.export.room_export import (
    PAGE,
    Row,
    as_bytes,
    exported_file_bytes,
    file_row,
    files_of,
    files_with_paths,
)
from loopforge.chat.export.zip_stream import ZipEntry, stream_zip
from loopforge.chat.memories.belief_wording import belief_row
from loopforge.chat.memories.memory_service import MemoryReader, MemoryService
from loopforge.chat.room.room_store import PREFIX
from loopforge.core.edited_lines import Revised
from loopforge.core.events import Event
from loopforge.core.limits.money_amounts import dollars_from_picos, picos_from_dollars
from loopforge.core.people_events import PictureSet
from loopforge.core.room_vocabulary import File, Heard, LineEdited
from loopforge.core.text.erasable_text import (
    Words,
    encode_plain,
    public_words,
    replace_lone_surrogates,
)
from loopforge.core.turn_events import Usage
from loopforge.ledger.database.table_schema import events
from loopforge.ledger.erasure.person_identities import PersonIdentities, event_ids_of_people
from loopforge.ledger.storage.revised_lines import apply_revisions, events_by_id
from loopforge.ledger.table_access import Tables
from loopforge.people.accounts.account_service import Accounts

OWN = ("room.", "people.")
"""Kinds of what somebody says and does themselves."""
UNTOLD = frozenset({"type", "session", "invite", "text", "files", "source"})
"""Fields that tell a person nothing, or that are written in their own way."""
PLAIN = ("name", "surface", "account")
"""What of a fact about names people read."""
NOT_HERE = (
    "what others said and mates answered (but what memories rest on): take each room along for it",
    "what mates noted and were shown, which Why? tells in each room",
    "what was forgotten, and the words of deleted lines",
    "mates' files and settings that you changed, which belong to the home",
    "your password, links, codes and cookies, of which nothing is kept that could be read",
    "backups, logs and copies on other platforms",
)
"""What is not in it, in words for the person."""


class AnswerTotals(Struct):
    """What came of somebody's lines: answers, and what models read and wrote for them."""

    answers: int = 0
    tokens_read: int = 0
    tokens_written: int = 0
    picos: int = 0
    unpriced: int = 0

    def row(self) -> Row:
        """For programs; the cost in dollars, of what has a price."""
        row: Row = msgspec.to_builtins(self)
        row["cost_usd"] = dollars_from_picos(row.pop("picos"))
        return row


class PersonExport:
    """Everything of one person; `at` is when it was asked for, `zone` that of Markdown's times."""

    def __init__(
        self,
        tables: Tables,
        accounts: Accounts,
        artifacts: Artifacts,
        person: str,
        at: datetime,
        zone: ZoneInfo,
        beliefs: MemoryService,
    ) -> None:
        self._beliefs = beliefs
        self._tables, self._accounts, self._artifacts = tables, accounts, artifacts
        self._person, self._at, self._zone = person, at, zone

    async def stream(self) -> AsyncIterator[bytes]:
        """The bytes of the zip. Raises nothing for somebody of whom nothing is left."""
        selves, names = await self._tables.look(partial(_named_in, person=self._person))
        done = await self._tables.look(partial(event_ids_of_people, people=selves))
        profile = await self._profile_row(selves, names)
        beliefs = await self._beliefs.beliefs(MemoryReader(self._person))
        profile["kept_of_you"] = [belief_row(one) for one in beliefs]

        async def parts() -> AsyncIterator[ZipEntry]:
            yield ZipEntry("me.json", as_bytes(self._json_pieces(done, profile)))
            yield ZipEntry("me.md", as_bytes(self._markdown_pieces(done, profile)))
            async for page in self._event_pages(done):
                for event in page:
                    for path, file in files_of(event, _file_folder(event)):
                        yield ZipEntry(path, exported_file_bytes(self._artifacts, file))
                    if isinstance(event.body, PictureSet) and event.body.picture.text:
                        nothing = public_words("")
                        file = File(name=nothing, size=0, text=nothing, hash=event.body.picture)
                        yield ZipEntry(
                            f"pictures/{event.seq}.webp", exported_file_bytes(self._artifacts, file)
                        )

        async for chunk in stream_zip(parts()):
            yield chunk

    async def _event_pages(self, done: Sequence[str]) -> AsyncIterator[Sequence[Event]]:
        """These events, page by page; each line as it stands now."""
        for start in range(0, len(done), PAGE):
            yield await self._tables.look(partial(_own_events, ids=done[start : start + PAGE]))

    # ------------------------------------------------------------ who they are

    async def _profile_row(self, selves: Collection[str], names: Sequence[Row]) -> Row:
        book, signing = self._accounts.decisions.book, self._accounts.signing
        account = book.account(self._person)
        sessions = [
            {"browser": one.agent, "since": _time_text(one.since), "seen": _time_text(one.seen)}
            for one in await signing.sessions(self._person)
        ]
        return {
            "exported": _time_text(self._at),
            "id": self._person,
            "name": book.name(self._person),
            "also_known_as": sorted(set(selves) - {self._person}),
            "right": account.right if account is not None else "",
            "has_password": await signing.has_password(self._person),
            "signed_in": sessions,
            "names_and_accounts": names,
            "answers": await self._answers_by_room(selves),
            "not_in_it": NOT_HERE,
        }

    async def _answers_by_room(self, selves: Collection[str]) -> dict[str, Row]:
        """What came of their lines, by room."""
        found: dict[str, Row] = {}
        actors = [f"person:{one}" for one in selves]
        for stream in await self._tables.look(partial(_spoken_rooms, actors=actors)):
            tally, after = _Tally(frozenset(actors)), 0
            while after >= 0:
                after = await self._tables.look(partial(tally.count, stream=stream, after=after))
            found[stream.removeprefix(PREFIX)] = tally.sums.row()
        return found

    # ------------------------------------------------------------ JSON

    async def _json_pieces(self, done: Sequence[str], profile: Row) -> AsyncIterator[str]:
        yield (
            json.dumps(replace_lone_surrogates(profile), ensure_ascii=False, indent=1)[:-2]
            + ',\n "done": ['
        )
        between = "\n"
        async for page in self._event_pages(done):
            if told := await asyncio.to_thread(self._json_rows, page):
                yield between + told
                between = ",\n"
        yield "\n]}\n"

    def _json_rows(self, page: Sequence[Event]) -> str:
        rows = (_row_of(event) for event in page)
        return ",\n".join(
            json.dumps(replace_lone_surrogates(row), ensure_ascii=False) for row in rows
        )

    # ------------------------------------------------------------ Markdown

    async def _markdown_pieces(self, done: Sequence[str], profile: Row) -> AsyncIterator[str]:
        at = self._at.astimezone(self._zone)
        yield (
            f"# Everything of {markdown_label(profile['name'])}\n\n"
            f"As it stood on {at:%d %B %Y at %H:%M} ({markdown_label(str(self._zone))}). "
            f"Not in it: {'; '.join(NOT_HERE)}.\n\n## Who you are\n\n"
        )
        yield f"- known here as {markdown_label(profile['id'])}\n"
        if profile["right"]:
            yield f"- signs in to the web room as {profile['right']}\n"
        for one in profile["signed_in"]:
            yield f"- signed in: {markdown_label(one['browser'])}, since {one['since']}\n"
        for name in profile["names_and_accounts"]:
            told = ", ".join(
                f"{key} {markdown_label(str(name[key]))}" for key in PLAIN if key in name
            )
            yield f"- since {name['at'][:10]}: {told}\n"
        yield "\n## What your lines were answered\n\n"
        for room, sums in profile["answers"].items():
            yield (
                f"- in {markdown_label(room)}: answers: {sums['answers']:,}; tokens: "
                f"{sums['tokens_read']:,} read, {sums['tokens_written']:,} written; cost: "
                f"${sums['cost_usd']}{', and what has no price' if sums['unpriced'] else ''}\n"
            )
        yield self._kept_of_them(profile["kept_of_you"])
        yield "\n## What you said and did\n"
        async for page in self._event_pages(done):
            yield await asyncio.to_thread(self._entries_text, page)

    def _kept_of_them(self, rows: Sequence[Row]) -> str:
        """What mates keep of them, each item with the lines that it rests on."""
        told = ["\n## What mates keep of you\n"]
        for one in rows:
            state = "" if one["state"] == "held" else f", {one['state']}"
            told.append(
                f"\n### {markdown_label(one['mate'])} {one['number']} · {one['at'][:10]}{state}\n"
            )
            told.append(f"\n{markdown_blockquote(one['text'])}\n")
            for line in one["evidence"]:
                where = f"{line['at'][:16].replace('T', ' ')} in {markdown_label(line['room'])}"
                told.append(
                    f"\n- {where}, {markdown_label(line['who'])}: {markdown_label(line['text'])}"
                )
            told.append("\n" if one["evidence"] else "")
        return "".join(told) if rows else f"{told[0]}\nNothing.\n"

    def _entries_text(self, page: Sequence[Event]) -> str:
        return "".join(self._entry_text(event) for event in page)

    def _entry_text(self, event: Event) -> str:
        row, at = _row_of(event), f"{event.at.astimezone(self._zone):%Y-%m-%d %H:%M}"
        kind = event.kind.partition(".")[2].replace("_", " ")
        did = "said" if isinstance(event.body, Heard) else kind
        where = f" · {markdown_label(row['room'])}" if "room" in row else ""
        heading = f"\n### {at} · {did}{where}\n"
        said = row.get("text")
        words = f"\n{markdown_blockquote(said)}\n" if isinstance(said, str) else ""
        if isinstance(event.body, Heard | LineEdited) and said is None:
            words = "\n*Deleted or forgotten.*\n"
        told = "".join(
            f"\n- {key}: {markdown_label(value if isinstance(value, str) else json.dumps(value))}"
            for key, value in row.get("with", {}).items()
            if key != "person" and not (key == "surface" and isinstance(event.body, Heard))
        )
        files = "".join(f"\n- a file: {each.get('path', 'forgotten')}" for each in row["files"])
        return heading + words + (f"{told}{files}\n" if told or files else "")


# ---------------------------------------------------------------- rows


def _named_in(connection: Connection, person: str) -> tuple[set[str], list[Row]]:
    """The ids of a person, and every name and account of theirs that stands in the ledger."""
    kin = PersonIdentities(connection)
    selves = kin.selves(person)
    return selves, [
        {"at": _time_text(event.at), "in": event.kind} | _fields_of(event)
        for event, _ in kin.words(selves)
    ]


def _own_events(connection: Connection, ids: Sequence[str]) -> list[Event]:
    """Of these events, what somebody said and did themselves."""
    found = apply_revisions(connection, events_by_id(connection, ids))
    return [event for event in found if event.kind.startswith(OWN)]


def _row_of(event: Event) -> Row:
    """Something a person did, for programs: when, where, what, and its words."""
    row: Row = {"id": event.id, "at": _time_text(event.at), "did": event.kind, "files": []}
    if event.stream.startswith(PREFIX):
        row["room"] = event.stream.removeprefix(PREFIX)
    body = event.body
    if isinstance(text := getattr(body, "text", None), Words):
        row["text"] = text.text
    if isinstance(event, Revised):
        row["deleted" if event.revision.deleted else "edited"] = True
    if isinstance(body, Heard):
        row["files"] = [
            file_row(file, path)
            for path, file in files_with_paths(event, body, _file_folder(event))
        ]
    if more := _fields_of(event):
        row["with"] = more
    return row


def _fields_of(event: Event) -> Row:
    fields: dict[str, Any] = msgspec.to_builtins(event.body, enc_hook=encode_plain)
    return {key: value for key, value in fields.items() if key not in UNTOLD}


def _file_folder(event: Event) -> str:
    """The folder of a line's files: several rooms may have a line of the same number."""
    return f"files/{event.stream.removeprefix(PREFIX)}"


def _time_text(at: datetime) -> str:
    return at.isoformat(timespec="seconds")


# ---------------------------------------------------------------- answers and costs


def _spoken_rooms(connection: Connection, actors: Sequence[str]) -> list[str]:
    """The streams in which one of these said something."""
    mine = (events.c.kind == "room.heard") & events.c.actor.in_(actors)
    query = select(events.c.stream).where(mine).distinct().order_by(events.c.stream)
    return list(connection.execute(query).scalars())


class _Part(Struct):
    """What is needed of a turn: which line called it, and what was used in it."""

    turn: str = ""
    line: str = ""
    usage: Usage = Usage()


class _Tally:
    """Counts what came of the lines of these actors, in one stream; bodies alone, no texts."""

    def __init__(self, actors: Collection[str]) -> None:
        self.sums = AnswerTotals()
        self._actors, self._theirs = actors, set[str]()

    def count(self, connection: Connection, stream: str, after: int) -> int:
        """Take in one page; the number it ends with, -1 after the last."""
        wanted = events.c.kind.in_(("room.heard", "turn.perceived", "turn.answered", "room.said"))
        columns = (events.c.seq, events.c.id, events.c.kind, events.c.actor, events.c.body)
        query = select(*columns).where(events.c.stream == stream, events.c.seq > after, wanted)
        rows = connection.execute(query.order_by(events.c.seq).limit(PAGE)).all()
        for row in rows:
            self._take_event(row.id, row.kind, row.actor, row.body)
        return rows[-1].seq if rows else -1

    def _take_event(self, id: str, kind: str, actor: str, body: str) -> None:
        if kind == "room.heard":
            if actor in self._actors:
                self._theirs.add(id)
            return
        part = msgspec.json.decode(body, type=_Part)
        if kind == "turn.perceived" and part.line in self._theirs:
            self._theirs.add(id)
        elif part.turn not in self._theirs:
            return
        elif kind == "room.said":
            self.sums.answers += 1
            self._theirs.add(id)
        elif kind == "turn.answered":
            use = part.usage
            cost = picos_from_dollars(use.cost) if use.cost else None
            self.sums.tokens_read += use.read
            self.sums.tokens_written += use.written
            self.sums.picos += cost or 0
            self.sums.unpriced += int(cost is None and bool(use.read or use.written))
