"""Plugins: what is installed for a group of entry points, our own parts and a stranger's alike.

Found once for each import path, since looking through all that is installed takes a while. A
plugin's module is imported when its group is asked for, so it is a light one: it imports what it
needs where it is used.
"""

import sys
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any, TypeVar

from loopforge.errors import BadSettings, LoopforgeError

T = TypeVar("T")


def load_plugins(group: str) -> dict[str, Any]:
    """The plugins of a group, by name. Raises BadSettings for one that cannot be loaded.

    And where two packages have one of the same name.
    """
    found, entries = dict[str, Any](), dict[str, EntryPoint]()
    for entry in _found(group, tuple(sys.path)):
        other = entries.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise BadSettings(
                f"{_package(other)} and {_package(entry)} both have a plugin {entry.name!r} of "
                f"{group}. Uninstall one of them."
            )
        try:
            found[entry.name] = entry.load()
        except (Exception, SystemExit) as error:
            said = f"The plugin {entry.name!r} of {_package(entry)} cannot be loaded"
            raise BadSettings(_broken(said, error)) from error
    return found


def make_plugin(group: str, name: str, make: Callable[[], T]) -> T:
    """What a plugin makes. Raises BadSettings where that raises; errors of ours as they are."""
    try:
        return make()
    except LoopforgeError:
        raise
    except (Exception, SystemExit) as error:
        said = f"The plugin {name!r} of {group} fails at the start"
        raise BadSettings(_broken(said, error)) from error


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value


def _broken(said: str, error: BaseException) -> str:
    return f"{said} ({type(error).__name__}: {error}). Mend or uninstall that package."


@lru_cache(maxsize=16)
def _found(group: str, _path: tuple[str, ...]) -> EntryPoints:
    return entry_points(group=group)
