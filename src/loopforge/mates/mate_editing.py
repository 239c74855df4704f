"""Editing: mates made and changed from where people talk, by who may.

A new mate gets the file that `loopforge mate new` makes; an edit gives a mate another character
(the text under the front matter of its file) or other tools, as a new version on record. Does not
know who may. `MateGrowth` holds the parts that make mates grow, as one value.
"""

import fnmatch
import json
from collections.abc import Sequence, Set
from typing import NamedTuple

from loopforge.core.mates import lorebook, yaml_reader
from loopforge.core.mates.header_edit import with_body, with_entry
from loopforge.core.mates.mate_file import Mate
from loopforge.errors import InputError, Unknown
from loopforge.mates.growth_service import GrowthService
from loopforge.mates.mate_forking import MateForking
from loopforge.mates.mate_merging import MateMerging
from loopforge.mates.mate_roster import MateRoster
from loopforge.mates.new_mate import draft_mate_file
from loopforge.mates.trait_proposals import TraitProposals
from loopforge.mates.version_history import VersionHistory, version_hash
from loopforge.runtime.ports import Ledger, MateMemory
from loopforge.runtime.system_clock import Stamp


class MateGrowth(NamedTuple):
    """How the mates of a home grow."""

    chronicle: VersionHistory
    roster: MateRoster
    changes: GrowthService
    forking: MateForking
    merging: MateMerging
    traits: TraitProposals


def growth_of(ledger: Ledger, roster: MateRoster, stamp: Stamp, memory: MateMemory) -> MateGrowth:
    """The growth of the mates of one home."""
    chronicle = VersionHistory(ledger, roster, stamp)
    changes = GrowthService(ledger, chronicle, roster, memory)
    return MateGrowth(
        chronicle,
        roster,
        changes,
        MateForking(chronicle, roster, changes, memory),
        MateMerging(ledger, chronicle, roster, changes, memory),
        TraitProposals(ledger, chronicle, roster, stamp),
    )


class MateEditing:
    """Makes and changes mates of one home."""

    def __init__(self, growth: MateGrowth) -> None:
        self._chronicle, self._roster = growth.chronicle, growth.roster
        self._forking = growth.forking

    async def new(self, name: str, role: str, by: str) -> Mate:
        """A new mate. Raises InputError where its name is taken or can be none."""
        return await self._chronicle.new(draft_mate_file(name, role), by)

    async def fork(self, handle: str, name: str, by: str) -> Mate:
        """Two mates of one. Raises Unknown; InputError where the name is taken or can be none."""
        return await self._forking.fork(handle, name, by)

    def character(self, handle: str) -> str:
        """What stands under the front matter of a mate's file. Raises Unknown."""
        return self._roster.get(handle).prompt

    async def edit(self, handle: str, character: str, by: str) -> Mate:
        """Give a mate another character. Raises Unknown, InputError, Changed."""
        file, text = self._file(handle)
        if not character.strip():
            raise InputError("Say what it is to be, such as /mate edit maya You are Maya. ...")
        lore = lorebook.split(yaml_reader.read(text).body)[1]
        new = with_body(text, f"{character.strip()}\n\n{lore}")
        return await self._chronicle.write(handle, new, by, file=file, base=version_hash(text))

    async def give_tools(self, handle: str, tools: Sequence[str], by: str, base: str) -> Mate:
        """Have its file name these tools; `base` is what its text came to when they were chosen.

        Raises Unknown, InputError, Changed.
        """
        file, text = self._file(handle)
        new = with_tools(text, tools)
        return await self._chronicle.write(handle, new, by, file=file, base=base)

    def _file(self, handle: str) -> tuple[str, str]:
        """The name of a mate's file, and what it says. Raises Unknown."""
        name = self._roster.path(self._roster.get(handle).handle).name
        text = self._chronicle.text(name)
        if text is None:
            raise Unknown(f"There is no file {name}.")
        return name, text


def select_tool_entries(
    entries: Sequence[str], known: Sequence[str], wanted: Set[str]
) -> list[str]:
    """What a file says of tools so that of the `known` ones just those `wanted` are the mate's.

    A pattern stays while all that it fits are wanted; what fits none that is known here stays.
    """
    kept: list[str] = []
    for entry in entries:
        fits = fnmatch.filter(known, entry)
        kept += [entry] if wanted >= set(fits) else [name for name in fits if name in wanted]
    there = {name for entry in kept for name in fnmatch.filter(known, entry)}
    return list(dict.fromkeys([*kept, *(name for name in known if name in wanted - there)]))


def with_tools(text: str, tools: Sequence[str]) -> str:
    """A mate's file with these tools in its front matter, and all else as it was."""
    names = ", ".join(one if one.isidentifier() else json.dumps(one) for one in tools)
    return with_entry(text, "tools", f"tools: [{names}]\n" if tools else "")
