"""The workshop: mates made and changed from where people talk, by who may.

A new mate gets the file that `loopforge mate new` makes; an edit gives a mate another character
(the text under the front matter of its file), as a new version on record. Does not know who may.
"""

from __future__ import annotations

from loopforge.core.mates import yaml_header
from loopforge.core.mates.mate_file import Mate
from loopforge.errors import InputError, Unknown
from loopforge.mates.mate_roster import Roster
from loopforge.mates.new_mate import sketch
from loopforge.mates.version_history import Chronicle, print_of


class Workshop:
    """Makes and changes mates of one home."""

    def __init__(self, chronicle: Chronicle, roster: Roster) -> None:
        self._chronicle, self._roster = chronicle, roster

    async def new(self, name: str, role: str, by: str) -> Mate:
        """A new mate. Raises InputError where its name is taken or can be none."""
        return await self._chronicle.new(sketch(name, role), by)

    def character(self, handle: str) -> str:
        """What stands under the front matter of a mate's file. Raises Unknown."""
        return self._roster.get(handle).prompt

    async def edit(self, handle: str, character: str, by: str) -> Mate:
        """Give a mate another character. Raises Unknown, InputError, Changed."""
        path = self._roster.path(self._roster.get(handle).handle)
        text = self._chronicle.text(path.name)
        if text is None:
            raise Unknown(f"There is no file {path.name}.")
        if not character.strip():
            raise InputError("Say what it is to be, such as /mate edit maya You are Maya. ...")
        head = text.splitlines(keepends=True)[: yaml_header.read(text).body_line - 1]
        new = f"{''.join(head).rstrip()}\n{character.strip()}\n"
        return await self._chronicle.write(handle, new, by, file=path.name, base=print_of(text))
