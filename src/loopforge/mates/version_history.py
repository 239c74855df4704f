"""The history: every version of every mate's file, in the ledger, under the hash it ran by.

    a file is changed, here or on disk --> look --> MateWritten
    a file goes away -------------------> look --> MateGone

Flight records name the hash of the file a mate ran on; here its text is found. What changed while
nobody ran is noticed at the first look. A broken file is no version: nobody ran on it. Texts stay
in the ledger, only hashes and times are held here. Does not know web pages, nor people by name.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple, TypeVar

from msgspec import Struct

from loopforge.core.events import Event, Fact
from loopforge.core.growth.growth_events import GrowthEvent
from loopforge.core.mates.mate_file import Mate, parse_mate
from loopforge.core.people_events import MateGone, MateWritten
from loopforge.core.text.erasable_text import Words
from loopforge.errors import Changed, InputError, Unknown
from loopforge.mates import retired_mates
from loopforge.mates.mate_roster import MateRoster, RosterNews
from loopforge.runtime.installation.home_files import bytes_of
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp

T = TypeVar("T")
STREAM = "mates"
Growth = Callable[[str], GrowthEvent]
"""What a version comes of, given its hash: a fork, a merge, a trait, something undone."""


class MateVersion(Struct, frozen=True, kw_only=True):
    """A version of a mate's file. `by` is the person who wrote it, "" if it changed on disk.

    `hash` is "" where the file went away instead (`VersionHistory.history` alone tells of those).
    """

    hash: str
    at: datetime
    by: str
    seq: int


class _Pending(NamedTuple):
    """News that may have to be written: by whom, and how far we had read when it came."""

    news: RosterNews
    by: str
    since: int


class VersionHistory:
    """The versions of a home's mates, folded from the ledger and kept up with the roster."""

    def __init__(self, ledger: Ledger, roster: MateRoster, stamp: Stamp) -> None:
        self._ledger, self._roster, self._stamp = ledger, roster, stamp
        self._told: dict[str, list[MateVersion]] = {}
        self._seq = 0
        self._pending: list[_Pending] = []
        self._authors: dict[tuple[str, str], str] = {}
        self._growing: dict[tuple[str, str], GrowthEvent] = {}
        self._absent: set[str] | None = None
        self._looking, self._writing = asyncio.Lock(), asyncio.Lock()
        ledger.subscribe(self._follow, streams=STREAM)

    # ------------------------------------------------------------ following

    async def refresh(self) -> None:
        """Read what was added since."""
        for event in await self._ledger.read(STREAM, after=self._seq):
            self._apply(event)

    def _follow(self, _stream: str, events: Sequence[Event]) -> None:
        for event in events:
            if event.seq == self._seq + 1:
                self._apply(event)

    def _apply(self, event: Event) -> None:
        if event.seq <= self._seq:
            return
        self._seq, body = event.seq, event.body
        if isinstance(body, MateWritten | MateGone):
            by = event.actor.removeprefix("person:") if event.actor != "runtime" else ""
            hash = body.hash if isinstance(body, MateWritten) else ""
            version = MateVersion(hash=hash, at=event.at, by=by, seq=event.seq)
            self._told.setdefault(body.mate, []).append(version)

    # ------------------------------------------------------------ looking

    async def look(self, by: str = "") -> None:
        """Append what changed on file since the last look; `by` is who changed it, if known.

        Costs one `stat` a file when nothing did. May be called as often as one likes, by several
        processes: each change is appended once.
        """
        async with self._looking:
            if self._absent is None:
                await self.refresh()
            self._gather(by)
            if self._pending:
                await self._ledger.decide(STREAM, self._head, partial(self._append, by))
                self._pending.clear()

    def _gather(self, by: str) -> None:
        """Ask the roster what is new, beside what is pending."""
        news = [*self._roster.news(), *map(RosterNews, self._departed())]
        self._pending += [
            _Pending(one, self._authors.get((one.handle, one.hash), by), self._seq) for one in news
        ]

    async def _head(self, _: int) -> int:
        await self.refresh()
        return self._seq

    async def _append(self, by: str, seq: int) -> None:
        """Write what is pending on top of what others wrote, having seen files as new as theirs."""
        self._gather(by)
        if facts := self._facts():
            for event in await self._ledger.append(STREAM, facts, expect=seq):
                self._apply(event)

    def _facts(self) -> list[Fact]:
        """What is pending and was not told by somebody else meanwhile."""
        facts = []
        newest = {handle: versions[-1].hash for handle, versions in self._told.items()}
        last = {one.news.handle: one for one in self._pending}
        for one in self._pending:
            handle, hash, text = one.news
            passing = last[handle] is not one and self._told_since(one)
            if passing or newest.get(handle, "") == hash:
                continue
            newest[handle] = hash
            written = MateWritten(mate=handle, hash=hash, text=Words(text), by=one.by)
            body = written if hash else MateGone(mate=handle)
            actor, cause = actor_of(one.by), ""
            if grown := self._growing.get((handle, hash)):
                facts.append(self._stamp.fact(grown, actor=actor))
                cause = facts[-1].id
            facts.append(self._stamp.fact(body, actor=actor, cause=cause))
        return facts

    def _told_since(self, one: _Pending) -> bool:
        told = self._told.get(one.news.handle, [])
        return any(each.hash == one.news.hash and each.seq > one.since for each in told)

    def _departed(self) -> list[str]:
        """Mates that ran when we last knew and whose file went away while nobody looked.

        A file that is broken or cannot be read may hold its mate still; that one is waited for.
        """
        if self._absent == set():
            return []
        running = self._roster.mates()
        if self._absent is None:
            self._absent = {each for each, told in self._told.items() if told[-1].hash}
        self._absent -= running.keys()
        doubted = {bad.source for bad in self._roster.problems()}
        if str(self._roster.folder) in doubted:
            return []
        departed = [each for each in sorted(self._absent) if f"{each}.md" not in doubted]
        self._absent.difference_update(departed)
        return departed

    # ------------------------------------------------------------ writing

    async def write(
        self,
        handle: str,
        text: str,
        by: str = "",
        *,
        file: str = "",
        base: str | None = None,
        growth: Growth | None = None,
    ) -> Mate:
        """Put a mate's file in place and append it as a version, with what it comes of if given.

        `file` as in `MateRoster.write`. `base` is what `version_hash` gave when the text was
        opened: if the file is another one by now, Changed is raised. Raises BadMate for what is
        wrong.
        """
        text = normalize_line_endings(text)
        async with self._writing:
            path = self._roster.folder / file if file else self._roster.path(handle)
            if base is not None and version_hash(self.text(path.name)) != base:
                raise Changed(
                    f"{path.name} was changed after you opened it. Nothing was written; "
                    "compare the two, then save again."
                )
            return await self._write(handle, text, by, file, growth)

    async def new(self, text: str, by: str = "", growth: Growth | None = None) -> Mate:
        """Put the file of a new mate into the home, named by its handle.

        Raises BadMate for what is wrong, InputError if its handle is taken.
        """
        text = normalize_line_endings(text)
        mate = parse_mate(text, "the new file")
        async with self._writing:
            path = self._roster.path(mate.handle)
            if mate.handle in self._roster.mates() or path.exists():
                raise InputError(
                    f"@{mate.handle} is taken, by {path.name}. Choose another name, or give this "
                    f"one a handle of its own, such as `handle: {mate.handle}-two`."
                )
            return await self._write(mate.handle, text, by, "", growth)

    async def _write(
        self, handle: str, text: str, by: str, file: str, growth: Growth | None
    ) -> Mate:
        write = partial(asyncio.to_thread, self._roster.write, handle, text, file)
        return await self._put((handle, version_hash(text)), by, growth, write)

    async def _put(
        self,
        author: tuple[str, str],
        by: str,
        growth: Growth | None,
        write: Callable[[], Awaitable[T]],
    ) -> T:
        """Change files, and append that with whose change it is and what it comes of."""
        self._authors[author] = by
        if growth is not None:
            self._growing[author] = growth(author[1])
        seen = self._seq
        try:
            done = await write()
            await self.look()
        finally:
            del self._authors[author]
            grown = self._growing.pop(author, None)
        if grown is not None and not await self._is_told(grown, seen):
            await self.tell(grown, by)
        return done

    async def _is_told(self, grown: GrowthEvent, seen: int) -> bool:
        """Whether it was appended; where another process saw the file first, it was not."""
        return any(event.body == grown for event in await self._ledger.read(STREAM, after=seen))

    async def tell(self, grown: GrowthEvent, by: str = "") -> Event:
        """Append how a mate grew where no version of its file tells of it."""

        async def attempt(seq: int) -> Event:
            fact = self._stamp.fact(grown, actor=actor_of(by))
            (event,) = await self._ledger.append(STREAM, [fact], expect=seq)
            self._apply(event)
            return event

        return await self._ledger.decide(STREAM, self._head, attempt)

    async def retire(self, file: str, by: str = "") -> str:
        """Lay a mate's file aside (see retired_mates.py), and say so; its name on the shelf."""
        async with self._writing:
            standings = [one for one in self._roster.standings() if one.file == file]
            author = next((one.handle for one in standings), ""), ""

            async def move() -> str:
                return retired_mates.retire(self._roster, file)

            return await self._put(author, by, None, move)

    async def bring_back(
        self, file: str, by: str = "", growth: Growth | None = None
    ) -> Mate | None:
        """Take a mate's file off the shelf (see retired_mates.py), and say so."""
        async with self._writing:
            shelf = retired_mates.list_retired_mates(self._roster)
            mate = next((one.mate for one in shelf if one.file == file), None)
            author = (mate.handle, mate.hash) if mate else ("", "")

            async def move() -> Mate | None:
                return retired_mates.bring_back(self._roster, file)

            return await self._put(author, by, growth if mate else None, move)

    def text(self, file: str) -> str | None:
        """A file of the folder as it is now, broken or not; None if there is none to be read.

        Signs that are not UTF-8 are shown as such.
        """
        try:
            return bytes_of(self._roster.folder / file).decode("utf-8", "replace")
        except OSError:
            return None

    # ------------------------------------------------------------ asking

    async def history(self, handle: str) -> list[MateVersion]:
        """Every version of a mate and every time its file went away, newest first."""
        await self.refresh()
        return self._told.get(handle, [])[::-1]

    async def versions(self, handle: str) -> list[MateVersion]:
        """Every version of a mate, newest first; a text that came back is a new version."""
        return [one for one in await self.history(handle) if one.hash]

    async def version(self, handle: str, hash: str) -> str:
        """The text of a version, "[forgotten]" if it was erased. Raises Unknown."""
        found = next((one for one in await self.versions(handle) if one.hash == hash), None)
        if found is None:
            raise Unknown(f"No version {hash!r} of the mate {handle!r} is on record.")
        for event in await self._ledger.read(STREAM, after=found.seq - 1, before=found.seq + 1):
            if isinstance(event.body, MateWritten):
                return str(event.body.text)
        raise Unknown(f"The version {hash!r} of {handle!r} cannot be read back.")


def actor_of(by: str) -> str:
    """The actor of what a person decided; "" is whoever sits at the machine."""
    return f"person:{by}" if by else "runtime"


def normalize_line_endings(text: str) -> str:
    """A text as a file holds it: each line ends with one line feed (browsers send two signs)."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.endswith("\n") else text + "\n"


def version_hash(text: str | None) -> str:
    """What names a text: as `Mate.hash` if it is a mate's; "" if there is none."""
    if text is None:
        return ""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
