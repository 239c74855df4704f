"""A process of one's own, which tells what it does over a pipe, and ends with whoever started it.

Spawned, not forked, it holds nothing of its parent but the pipe. Where the parent is gone it is
gone in the same moment: nothing goes on unseen, or goes on asking models that somebody pays.

Who starts one from a script needs `if __name__ == "__main__":` around what that does, as with
everything that spawns.
"""

import logging
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from msgspec import Struct

from loopforge.errors import LoopforgeError

log = logging.getLogger(__name__)
PATIENCE = 10.0
"""Seconds that it has to end by itself."""


class ChildProcess:
    """Calls `target(pipe, *given)` there; what that sends into its pipe is heard here, in order."""

    def __init__(self, target: Callable[..., None], *given: object, name: str) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process: SpawnProcess = context.Process(
            target=_live, args=(theirs, target, *given), name=name, daemon=True
        )
        self._process.start()
        theirs.close()

    def heard(self) -> Any:
        """What it tells next. Raises EOFError: it has ended; or an error of ours, as it is."""
        try:
            told = self.pipe.recv()
        except OSError:
            raise EOFError from None
        match told:
            case LoopforgeError():
                raise told
            case _Broke():
                log.error("a process broke: %s", told.text)
                raise EOFError
            case _:
                return told

    def code(self) -> int | None:
        """Its exit code, once it has ended; None if it will not."""
        self._process.join(PATIENCE)
        return self._process.exitcode

    def close(self, *, at_once: bool) -> None:
        """Let it go: at once, or as soon as it has closed what it holds."""
        if at_once:
            self._process.kill()
        self.pipe.close()
        if self.code() is None:
            self._process.kill()
            self._process.join()
        self._process.close()


class _Broke(Struct, frozen=True):
    """What went wrong there that nobody expects."""

    text: str


def _live(pipe: Connection, target: Callable[..., None], *given: object) -> None:
    """All of its life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to hear
    threading.Thread(target=_watch, daemon=True).start()
    try:
        target(pipe, *given)
    except LoopforgeError as error:
        _tell(pipe, type(error)(str(error)))
    except Exception:
        _tell(pipe, _Broke(traceback.format_exc()))
        sys.exit(1)


def _tell(pipe: Connection, what: object) -> None:
    """Send this, where anybody listens: whose parent has let it go has nobody to tell."""
    with suppress(OSError):
        pipe.send(what)


def _watch() -> None:
    """End this process with its parent, however that ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
