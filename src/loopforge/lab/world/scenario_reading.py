"""Files that strangers wrote, read within bounds: plain text of few kilobytes, and the TOML in it.

A file that is none, is too large, leads out of its folder or would take the reader for ever is an
error in one line. What the tables say is for scenario_file.py and experiment_file.py to check.
"""

from collections.abc import Iterable, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from loopforge.core.limits.toml_reading import toml_of
from loopforge.errors import BadScenario
from loopforge.lab.world.protocols import printable_excerpt

LONGEST_LINE = 2000
"""Characters."""


def parse_bounded_toml(text: str, source: str, biggest: int) -> dict[str, Any]:
    """The tables of a TOML text of at most `biggest` bytes. Raises BadScenario."""
    if len(text.encode("utf-8", "replace")) > biggest:
        raise BadScenario(f"{source} has more than {biggest // 1024} kB; it should be a page.")
    if any(len(line) > LONGEST_LINE for line in text.split("\n")):
        raise BadScenario(
            f"{source} has a line of more than {LONGEST_LINE} characters; "
            "write long lists on several lines."
        )
    try:
        return toml_of(text)
    except ValueError as error:
        raise BadScenario(printable_excerpt(f"{source} is no TOML: {error}.")) from error


def refuse_misplaced_keys(table: Mapping[str, Any], head: str, keys: Iterable[str]) -> None:
    """Raises BadScenario for a line of the whole file (`keys`) below the head of this table."""
    if low := next((key for key in keys if key in table), ""):
        raise BadScenario(
            f"`{low}` stands below {head}: lines of the whole file come before its first table."
        )


def text_of(path: Path, biggest: int) -> str:
    """What a file of at most `biggest` bytes says. Raises BadScenario."""
    shown = printable_excerpt(path.name[-80:])
    try:
        if not path.is_file():
            raise BadScenario(f"{shown} is no file; give a text file that ends in .toml.")
        with path.open("rb") as file:
            found = file.read(biggest + 1)
        if len(found) > biggest:
            raise BadScenario(f"{shown} is larger than {biggest // 1024} kB; it should be a page.")
        return found.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise BadScenario(f"{shown} is no text in UTF-8: {error.reason}.") from error
    except OSError as error:
        raise BadScenario(f"{shown} cannot be read: {error.strerror}.") from error


def held(name: str, folder: Path | None) -> Path | None:
    """The file of this name in a folder, or None where it has none.

    It stays in that folder, whatever the name is. Raises BadScenario for a link that leads out.
    """
    if folder is None or Path(name).name != name or "\0" in name or len(name) > 100:
        return None
    path = folder / f"{name}.toml"
    if not path.exists():
        return None
    if not path.resolve().is_relative_to(folder.resolve()):
        raise BadScenario(
            f"{printable_excerpt(path.name)} leads out of {folder}; put the file itself there."
        )
    return path


def shipped_names(kind: str) -> tuple[str, ...]:
    """Names of the files of this kind that ship with the Factory: "scenario" or "experiment"."""
    names = (each.name for each in _shipped(kind).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def _shipped(kind: str) -> Traversable:
    return resources.files("loopforge.lab").joinpath(f"shipped/{kind}s")


def find_toml_text(kind: str, name: str, folder: Path | None, biggest: int) -> tuple[str, str]:
    """What such a file says, by its path, its name in `folder` or its shipped name; and its source.

    A name in a folder stays in that folder, whatever it is and wherever a link there leads. Raises
    BadScenario: there is none, or it is no text within bounds.
    """
    if name.endswith(".toml"):
        return text_of(Path(name), biggest), Path(name).name
    if own := held(name, folder):
        return text_of(own, biggest), own.name
    known = shipped_names(kind)
    if name in known:
        return _shipped(kind).joinpath(f"{name}.toml").read_text("utf-8"), name
    raise BadScenario(
        f"There is no {kind} {printable_excerpt(name[:80])!r}. Shipped are {', '.join(known)}; "
        "or name a "
        ".toml file."
    )
