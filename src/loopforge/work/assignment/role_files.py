"""Roles as mate files: the shipped ones, and a home's own in `roles/`, which win.

Where a task names a mate of the home, it is that mate in the role: its character, and the role's
prompt and tools beside it.
"""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from msgspec.structs import replace

from loopforge.core.mates.mate_file import Mate, parse_mate
from loopforge.core.mates.sandbox_profile import narrowest_profile
from loopforge.errors import BadMate
from loopforge.runtime.installation.home_files import bytes_of

FOLDER = "roles"


class RoleFiles:
    """The mates of roles. `mates` are those of the home, by handle."""

    def __init__(self, mates: Mapping[str, Mate], home: Path) -> None:
        self._mates, self._own = mates, home / FOLDER
        self._read: dict[str, tuple[int, Mate]] = {}

    def is_mate(self, handle: str) -> bool:
        """Whether there is a mate of that handle in this home."""
        return handle in self._mates

    def mate_for(self, name: str, role: str) -> Mate:
        """Who does a task of this role, where that mate was named ("": the role's own)."""
        own = self.role(role)
        mate = self._mates.get(name) if name else None
        if mate is None:
            return own
        tools = tuple(dict.fromkeys((*own.tools, *mate.tools)))
        sandbox = narrowest_profile(own.sandbox, mate.sandbox)
        prompt = f"{mate.prompt}\n\nIn this task you are the {own.role}. {own.prompt}"
        wanted = {"prompt": prompt, "tools": tools, "sandbox": sandbox}
        return replace(mate, tier=own.tier, model="", **wanted)

    def role(self, handle: str) -> Mate:
        """The mate of a role; where the home's own file of it is broken, the shipped one."""
        path = self._own / f"{handle}.md"
        try:
            changed = path.stat().st_mtime_ns
            known = self._read.get(handle)
            if known is None or known[0] != changed:
                known = self._read[handle] = changed, parse_mate(bytes_of(path), path.name)
            return known[1]
        except (OSError, BadMate):
            return self._shipped(handle)

    def flaw(self, handle: str) -> str:
        """What is wrong with the home's own file of a role, as a sentence; "" for nothing."""
        path = self._own / f"{handle}.md"
        try:
            parse_mate(bytes_of(path), f"{FOLDER}/{path.name}")
        except BadMate as error:
            return str(error)
        except OSError:
            pass
        return ""

    def _shipped(self, handle: str) -> Mate:
        known = self._read.get(f"/{handle}")
        if known is None:
            text = (files("loopforge.work") / "roles" / f"{handle}.md").read_bytes()
            known = self._read[f"/{handle}"] = 0, parse_mate(text, handle)
        return known[1]
