"""Plugins: what is installed for a group of entry points, our own parts and a stranger's alike.

Found once for each import path, since looking through all that is installed takes a while. A
plugin's module is imported when its group is asked for, so it is a light one: it imports what it
needs where it is used.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.metadata import EntryPoints, entry_points
from typing import Any

from loopforge.errors import BadSettings


def installed(group: str) -> dict[str, Any]:
    """The plugins of a group, by name. Raises BadSettings for one that cannot be loaded."""
    found = {}
    for entry in _found(group, tuple(sys.path)):
        try:
            found[entry.name] = entry.load()
        except Exception as error:
            package = entry.dist.name if entry.dist is not None else entry.value
            raise BadSettings(
                f"The plugin {entry.name!r} of {package} cannot be loaded "
                f"({type(error).__name__}: {error}). Mend or uninstall that package."
            ) from error
    return found


@lru_cache(maxsize=16)
def _found(group: str, _path: tuple[str, ...]) -> EntryPoints:
    return entry_points(group=group)
