"""The growth of mates: their changes in one numbered list, compared, and taken back.

    changes(maya) -> 1 written, 2 a trait approved, 3 merged, 4 a core memory was kept ...
    undo(maya, 2) -> the file without what change 2 did, as a new change; change 2 stays on record

A change that is not the last is taken back line by line (core/mates/file_merge.py): what came
after it stays. Where both touched the same lines, nothing is written and a sentence says so. What
it did to memory is taken back by events. Does not know who may.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from loopforge.core.events import Event
from loopforge.core.growth.growth_events import GrowthUndone
from loopforge.core.mates.file_merge import LineConflict, merge3
from loopforge.core.mates.mate_changes import MateChange, mate_changes
from loopforge.core.memory.memory_vocabulary import PREFIX
from loopforge.core.text.erasable_text import FORGOTTEN
from loopforge.errors import InputError, Unknown
from loopforge.mates import retired_mates
from loopforge.mates.growth_story import GrowthSentence, StoryReader, cited_lines, growth_sentences
from loopforge.mates.mate_roster import MateRoster
from loopforge.mates.version_history import STREAM, VersionHistory, version_hash
from loopforge.runtime.ports import Ledger, MateMemory

MACHINE = "home:terminal"
"""Who changes memories at the machine itself."""


class MateDiff(NamedTuple):
    """What a mate's file was after one change and after another; "" where there was no file."""

    before: str
    after: str


class GrowthService:
    """What became of the mates of a home, and taking it back."""

    def __init__(
        self, ledger: Ledger, chronicle: VersionHistory, roster: MateRoster, memory: MateMemory
    ) -> None:
        self._ledger, self._chronicle, self._roster = ledger, chronicle, roster
        self._memory = memory

    async def events(self, handle: str) -> list[Event]:
        """All that is on record of mates' files, and of the memory of this one, in its order."""
        files, kept = await self._ledger.read(STREAM), await self._ledger.read(PREFIX + handle)
        return sorted((*files, *kept), key=lambda event: event.id)

    async def forks(self) -> list[Event]:
        """Every fork of the home, the oldest first."""
        return await self._ledger.read(STREAM, kinds=("mates.forked",))

    async def newest(self, handle: str, kind: str) -> Event:
        """The last event of a kind in which a mate grew. Raises Unknown."""
        for event in (await self._ledger.read(STREAM, kinds=(kind,)))[::-1]:
            if getattr(event.body, "mate", "") == handle:
                return event
        raise Unknown(f"Nothing of that kind is on record of @{handle}.")

    async def changes(self, handle: str) -> list[MateChange]:
        """Every change of a mate, the oldest first. Raises Unknown where there was never one."""
        found = mate_changes(handle, await self.events(handle))
        if not found:
            self._roster.get(handle)
        return found

    async def story(
        self, handle: str, reader: Callable[[Sequence[str]], Awaitable[StoryReader]]
    ) -> list[GrowthSentence]:
        """How a mate grew, told to somebody: `reader` says who, given all lines that led to it.

        Raises Unknown where there was never such a mate.
        """
        await self.changes(handle)
        events = await self.events(handle)
        return growth_sentences(handle, events, await reader(cited_lines(handle, events)))

    async def change(self, handle: str, number: int) -> MateChange:
        """One change by its number. Raises Unknown."""
        changes = await self.changes(handle)
        if not 1 <= number <= len(changes):
            raise Unknown(f"@{handle} has no change {number}; {_numbers(changes)}")
        return changes[number - 1]

    async def diff(self, handle: str, first: int, second: int) -> MateDiff:
        """The file after two changes; 0 is before the first one. Raises Unknown, InputError."""
        texts = []
        for number in (first, second):
            hash = (await self.change(handle, number)).hash if number else ""
            texts.append(await self.text(handle, hash))
        return MateDiff(*texts)

    async def text(self, handle: str, hash: str) -> str:
        """A version's text, "" for none. Raises InputError where its words were forgotten."""
        text = await self._chronicle.version(handle, hash) if hash else ""
        if text == FORGOTTEN:
            raise InputError(f"The words of the version {hash} of @{handle} were forgotten.")
        return text

    # ------------------------------------------------------------ taking back

    async def undo(self, handle: str, number: int = 0, by: str = "") -> MateChange:
        """Take a change back, the newest by default; an undo taken back is done again.

        Returns the change that was taken back. Raises Unknown, InputError.
        """
        await self._chronicle.look()
        changes = await self.changes(handle)
        if not changes:
            raise Unknown(f"Nothing is on record of @{handle} yet; it is when the home runs.")
        change = await self.change(handle, number or len(changes))
        if change.kind == "gone":
            await self._bring_back(handle, change, changes, by)
        elif change.hash == change.before:
            retired_mates.find_running_mate(self._roster, handle)
            await self._chronicle.tell(_undone(handle, change, "", by), by)
        elif not change.before:
            how = "was forked from another" if change.kind == "forked" else "came to be"
            raise InputError(
                f"With change {change.number} @{handle} {how}; archive it instead, on its page."
            )
        else:
            await self._without(handle, change, by)
        back = await self.newest(handle, "mates.change_undone")
        await self._memory.take_back(handle, change.events, cause=back.id, by=by or MACHINE)
        return change

    async def _without(self, handle: str, change: MateChange, by: str) -> None:
        """Write the file without what a change did."""
        retired_mates.find_running_mate(self._roster, handle)
        path = self._roster.path(handle)
        now = self._chronicle.text(path.name) or ""
        old, new = await self.text(handle, change.before), await self.text(handle, change.hash)
        lines = merge3(*(text.splitlines() for text in (new, now, old)))
        if any(isinstance(line, LineConflict) for line in lines):
            raise InputError(
                f"What change {change.number} did was changed again since, so it cannot be taken "
                f"back by itself. `loopforge mate diff {handle} {change.number}` shows it."
            )
        text = "".join(f"{line}\n" for line in lines)
        if text.splitlines() == now.splitlines():
            raise InputError(f"Nothing of change {change.number} is left to be taken back.")
        await self._chronicle.write(
            handle,
            text,
            by,
            file=path.name,
            base=version_hash(now),
            growth=lambda own: _undone(handle, change, own, by),
        )

    async def _bring_back(
        self, handle: str, change: MateChange, changes: list[MateChange], by: str
    ) -> None:
        """Let a mate run again whose file went away: off the shelf, or as it was."""
        if changes[-1].hash:
            raise InputError(f"@{handle} is back already.")
        shelf = retired_mates.list_retired_mates(self._roster)
        file = next((one.file for one in shelf if one.mate and one.mate.hash == change.before), "")
        if file:
            await self._chronicle.bring_back(file, by, lambda own: _undone(handle, change, own, by))
            return
        text = await self.text(handle, change.before)
        await self._chronicle.write(
            handle, text, by, growth=lambda own: _undone(handle, change, own, by)
        )


def _undone(handle: str, change: MateChange, hash: str, by: str) -> GrowthUndone:
    return GrowthUndone(mate=handle, change=change.id, hash=hash, by=by)


def _numbers(changes: list[MateChange]) -> str:
    if not changes:
        return "nothing is on record of it yet."
    return "there is 1 alone." if len(changes) == 1 else f"there are 1 to {len(changes)}."
