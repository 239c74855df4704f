"""Prompts: the shipped ones, and a home's own in their place. Read again when a file changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

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


class PromptBook(Mapping[str, str]):
    """Prompt texts by name. `own` is the home's folder of prompts; a file there wins."""

    def __init__(self, own: Path | None = None) -> None:
        self._own = own
        self._shipped = _shipped()
        self._read: dict[str, tuple[int, str]] = {}

    def __getitem__(self, name: str) -> str:
        shipped = self._shipped[name]
        if self._own is None:
            return shipped
        path = self._own / f"{name}.md"
        try:
            changed = path.stat().st_mtime_ns
            known = self._read.get(name)
            if known is None or known[0] != changed:
                text = path.read_text("utf-8")
                known = self._read[name] = (changed, text if len(text) <= LONGEST else shipped)
        except (OSError, UnicodeDecodeError):
            return shipped
        return known[1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._shipped)

    def __len__(self) -> int:
        return len(self._shipped)
