"""Prompts: the shipped ones, and a home's own in their place. Read again when a file changes."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path

from loopforge.runtime.installation.home_files import text_of
from loopforge.runtime.ports import Clock
from loopforge.runtime.ttl_cache import TtlCache

LONGEST = 16_000
"""Characters of a prompt; one that is longer is taken for a mistake and left out."""


@cache
def _shipped() -> Mapping[str, str]:
    folder = files("loopforge.policies") / "prompts"
    return {
        entry.name.removesuffix(".md"): entry.read_text("utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".md") and entry.name != "README.md"
    }


class PromptFiles(Mapping[str, str]):
    """Prompt texts by name. `own` is the home's folder of prompts; a file there wins."""

    def __init__(self, own: Path | None = None, clock: Clock | None = None) -> None:
        self._folder = own
        self._shipped = _shipped()
        self._read: dict[Path, tuple[int, str]] = {}
        self._own = TtlCache(self._look, clock)

    def _look(self) -> dict[str, str]:
        """The prompts of the home's own that can be read and are no mistake."""
        found: dict[str, str] = {}
        for path in self._folder.glob("*.md") if self._folder is not None else ():
            with suppress(OSError, UnicodeDecodeError):
                changed = path.stat().st_mtime_ns
                if path not in self._read or self._read[path][0] != changed:
                    self._read[path] = (changed, text_of(path))
                if len(text := self._read[path][1]) <= LONGEST:
                    found[path.stem] = text
        return found

    def __getitem__(self, name: str) -> str:
        shipped = self._shipped[name]
        return self._own.get().get(name, shipped)

    def __iter__(self) -> Iterator[str]:
        return iter(self._shipped)

    def __len__(self) -> int:
        return len(self._shipped)
