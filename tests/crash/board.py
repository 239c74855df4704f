"""A pushed surface: a board that keeps whatever is posted on it, in a file, as a platform would.

It has no sense of doubles: what is posted twice stands there twice. It remembers each post's delivery,
so that it can be asked whether something is there. A `deaf` board takes every n-th post and then
says that it failed, as a network does that loses the answer.
"""

import json
import os
from pathlib import Path
from typing import Any

from loopforge.core.room_vocabulary import Said
from loopforge.errors import SendFailed
from loopforge.runtime.ports import Outgoing
from tests.crash.fate import Fate

NAME = "board"


class Board:
    """The surface `board` of one host; the file outlives it."""

    name = NAME

    def __init__(self, path: Path, fate: Fate, deaf: int = 0) -> None:
        self._path, self._fate, self._deaf = path, fate, deaf
        self._sent = 0

    async def send(self, out: Outgoing) -> str:
        """Post it."""
        self._fate.at("send.before")
        body = out.event.body
        text = str(body.text) if isinstance(body, Said) else out.what
        post = {"delivery": out.delivery, "of": out.event.id, "text": text}
        write(self._path, post)
        self._fate.at("send.after")
        self._sent += 1
        if self._deaf and self._sent % self._deaf == 0:
            raise SendFailed("the answer was lost on the way")
        return f"post-{out.delivery}"

    async def sent(self, out: Outgoing) -> str | None:
        """Whether it stands there."""
        there = any(post["delivery"] == out.delivery for post in posts(self._path))
        self._fate.at("send.looked")
        return f"post-{out.delivery}" if there else None


def write(path: Path, post: dict[str, Any]) -> None:
    """Put a post on the board, whole or not at all."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(file, json.dumps(post).encode() + b"\n")
    finally:
        os.close(file)


def posts(path: Path) -> list[dict[str, Any]]:
    """Everything on the board, oldest first."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]
