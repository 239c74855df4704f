"""Forks: two mates from one, each going on from there.

The new one has the file of the other as it is now, or as it was after one of its changes, under a
name of its own: where the text said the old name it says the new one. A colour that was written
down is left out, so that people tell the two apart. It remembers what the other does, or did then
and was not let go since. Does not know who may.
"""

import re

from loopforge.core.events import Event
from loopforge.core.growth.growth_events import MateForked
from loopforge.core.mates import yaml_reader
from loopforge.core.mates.header_edit import with_body, with_entry
from loopforge.core.mates.mate_file import Mate, parse_mate, slug
from loopforge.core.memory.memory_vocabulary import PREFIX
from loopforge.errors import InputError
from loopforge.mates.growth_service import GrowthService
from loopforge.mates.mate_roster import MateRoster
from loopforge.mates.new_mate import quote_yaml
from loopforge.mates.retired_mates import find_running_mate
from loopforge.mates.version_history import VersionHistory, normalize_line_endings, version_hash
from loopforge.runtime.ports import MateMemory


class MateForking:
    """Makes two mates of one."""

    def __init__(
        self,
        chronicle: VersionHistory,
        roster: MateRoster,
        changes: GrowthService,
        memory: MateMemory,
    ) -> None:
        self._chronicle, self._roster, self._changes = chronicle, roster, changes
        self._memory = memory

    async def fork(
        self,
        handle: str,
        name: str,
        by: str = "",
        *,
        new_handle: str = "",
        number: int | None = None,
    ) -> Mate:
        """A new mate of that name, from another as it is, or was after its change `number`.

        Raises Unknown; InputError where the name or the handle is taken or will not do.
        """
        source = find_running_mate(self._roster, handle)
        name = " ".join(name.split())
        self._free(name)
        await self._chronicle.look()
        new = new_handle or slug(name)
        if await self._chronicle.history(new) or await self._memory.head(new):
            self._refuse(new)
        until = ""
        if number is not None:
            change = await self._changes.change(handle, number)
            text, until = await self._changes.text(handle, change.hash), change.events[-1].id
            if not text:
                raise InputError(f"After change {number} there was no @{handle} to be forked.")
        else:
            text = self._chronicle.text(self._roster.path(handle).name) or ""
        text = normalize_line_endings(text)
        old = parse_mate(text, f"{handle}.md").name
        of = version_hash(text)
        upto = await self._remembered(source.handle, until)
        made = await self._chronicle.new(
            with_new_name(text, old, name, new_handle),
            by,
            lambda own: MateForked(
                mate=new, source=source.handle, of=of, hash=own, upto=upto, by=by
            ),
        )
        await self._take_along(await self._changes.newest(made.handle, "mates.forked"))
        return made

    async def _remembered(self, handle: str, until: str) -> int:
        """The number of the last event in a mate's memory, as it was after the event `until`."""
        if not until:
            return await self._memory.head(handle)
        events = await self._changes.events(handle)
        mine = [e.seq for e in events if e.stream == PREFIX + handle and e.id <= until]
        return max(mine, default=0)

    async def _take_along(self, event: Event) -> None:
        """Let a fork keep what the other did."""
        fork = event.body
        assert isinstance(fork, MateForked)
        if not fork.upto:
            return
        events = await self._changes.events(fork.source)
        place = PREFIX + fork.source, fork.upto
        until = next(one.id for one in events if (one.stream, one.seq) == place)
        await self._memory.copy(
            fork.source, fork.mate, cause=event.id, actor=event.actor, until=until
        )

    async def resume(self) -> None:
        """Finish forks that were broken off before their memories had come along."""
        for event in await self._changes.forks():
            body = event.body
            if not isinstance(body, MateForked) or not body.upto:
                continue
            if not await self._memory.head(body.mate):
                await self._take_along(event)

    def _refuse(self, new: str) -> None:
        path = self._roster.path(new)
        if new in self._roster.mates() or path.exists():
            raise InputError(
                f"@{new} is taken, by {path.name}. Choose another name, or another handle."
            )
        raise InputError(
            f"There was a mate @{new} here before, and what it was stays on record. Choose another "
            "name, or another handle."
        )

    def _free(self, name: str) -> None:
        for mate in self._roster.mates().values():
            if mate.name.casefold() == name.casefold():
                raise InputError(
                    f"There is a mate called {mate.name} already, @{mate.handle}. Give the new one "
                    "a name of its own."
                )


def with_new_name(text: str, old: str, name: str, handle: str = "") -> str:
    """A mate's file for one of another name, with a handle of its own."""
    body = yaml_reader.read(text).body
    text = with_entry(text, "name", f"name: {quote_yaml(name)}\n")
    own = handle and handle != slug(name)
    text = with_entry(text, "handle", f"handle: {handle}\n" if own else "")
    text = with_entry(text, "colour", "")
    mate = parse_mate(text, "the file")
    for key, value in (("role", mate.role), ("voice", mate.voice), ("greeting", mate.greeting)):
        if (said := _said(value, old, name)) != value:
            text = with_entry(text, key, f"{key}: {quote_yaml(said)}\n")
    return with_body(text, _said(body, old, name))


def _said(text: str, old: str, name: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: name, text)
