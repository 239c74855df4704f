"""Holds every call and frame to Discord's own schemas; what deviates is kept, once each.

The schemas are made from npm packages that others write (see schemas/README.md). Known deviations
stand in allowed.py, each with its reason; all others are in `deviations`.
"""

from __future__ import annotations

from typing import Any


class Judge:
    """Collects deviations."""

    def __init__(self) -> None:
        self.deviations: list[str] = []

    def event(self, event: str, body: Any) -> None:
        """A dispatch that the twin sends."""

    def frame(self, frame: dict[str, Any]) -> None:
        """A frame that a client sends."""

    def request(self, method: str, path: str, body: Any) -> None:
        """A request's body."""

    def response(self, method: str, path: str, status: int, body: Any) -> None:
        """A response's body."""

    def note(self, where: str, what: str) -> None:
        """A deviation that no schema tells."""
        text = f"{where}: {what}"
        if text not in self.deviations:
            self.deviations.append(text)
