"""The time zone of a home: as it is set, else the machine's.

Does not know where a setting comes from, nor read the environment: it is given.
"""

from collections.abc import Mapping
from pathlib import Path

from loopforge.errors import BadSettings


def zone_of(name: str, environ: Mapping[str, str], source: str = "the setting") -> str:
    """The time zone by its name; unnamed, the machine's, and UTC where that has no name."""
    from zoneinfo import ZoneInfo

    if name:
        try:
            return ZoneInfo(name).key
        except (OSError, ValueError, KeyError) as error:
            raise BadSettings(
                f"`timezone` ({source}) is {name[:80]!r}; it must be a name such as "
                "Europe/Berlin or UTC."
            ) from error
    link = str(Path("/etc/localtime").resolve())
    for candidate in (environ.get("TZ", "").removeprefix(":"), link.partition("zoneinfo/")[2]):
        try:
            if candidate:
                return ZoneInfo(candidate).key
        except (OSError, ValueError, KeyError):
            continue
    return "UTC"
