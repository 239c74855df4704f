"""The terminal in a real pseudo-terminal, read by a terminal emulator."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pyte
import pytest

SEAT = """
import asyncio, sys
from pathlib import Path
from loopforge.io.terminal.terminal_app import run_terminal
from tests.io.commons import Temper
from tests.io.test_socket_client import link

home, name = Path(sys.argv[1]), sys.argv[2]
made = link(home, name, Temper(step=0.02), client=name)
sys.exit(asyncio.run(run_terminal(made)))
"""

PATIENCE = 150.0
"""Seconds on a machine that is busy."""


class Tty:
    """A process in a pseudo-terminal, and what its screen shows."""

    def __init__(self, command: list[str], *, term: str, size: tuple[int, int]) -> None:
        columns, rows = size
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        settings = [f"TERM={term}", "COLORTERM=truecolor", "LANG=C.UTF-8"]
        self.child = pexpect.spawn(
            "env",
            [*settings, sys.executable, *command],
            dimensions=(rows, columns),
            timeout=PATIENCE,
        )
        self.raw = b""

    def text(self) -> str:
        """The screen, row by row."""
        return "\n".join(row.rstrip() for row in self._screen.display)

    def until(self, condition: Callable[[], object]) -> None:
        """Read what comes until something is so."""
        end = time.perf_counter() + PATIENCE
        while not condition():
            try:
                data = self.child.read_nonblocking(65536, 0.1)
            except pexpect.TIMEOUT:
                data = b""
            except pexpect.EOF:
                break
            self.raw += data
            self._stream.feed(data)
            assert time.perf_counter() < end, self.text()
        assert condition(), self.text()

    def sees(self, *texts: str) -> None:
        """Wait until all these texts stand on the screen."""
        self.until(lambda: all(text in self.text() for text in texts))

    def ends(self) -> int | None:
        """Read to the end; the exit code."""
        with contextlib.suppress(pexpect.EOF):
            while True:
                self.raw += self.child.read_nonblocking(65536, PATIENCE)
        self.child.close()
        return int(self.child.exitstatus) if self.child.exitstatus is not None else None


@contextlib.contextmanager
def tty(
    home: Path,
    name: str,
    *,
    term: str = "xterm-256color",
    size: tuple[int, int] = (90, 30),
    real: bool = False,
) -> Iterator[Tty]:
    """Somebody's terminal, over scripted rooms, or over the real ones with the real model."""
    command = ["-c", SEAT, str(home), name]
    if real:
        command = ["-m", "loopforge", "--home", str(home), "chat", "--as", name]
    made = Tty(command, term=term, size=size)
    try:
        yield made
    finally:
        made.child.close(force=True)


def test_a_person_talks_in_a_real_terminal(tmp_path: Path) -> None:
    """The first screen, a line and its answer, completion, and a clean farewell."""
    with tty(tmp_path, "ana") as ana:
        ana.sees("You are in commons.", "Say something…", "energy ▮▮▮▮▯▯ 4/6")
        ana.child.send("hello there")
        ana.sees("│ hello there")
        ana.child.send("\r")
        ana.sees("You said: hello there", "#4")
        ana.child.send("/sto")
        ana.sees("stop everything mates do")
        ana.child.send("\t\r")
        ana.sees("■ stopped")
        ana.child.send("\x04")
        assert ana.ends() == 0
        assert ana.raw.rstrip().endswith(b"\x1b[?25h") or b"\x1b[?1049l" in ana.raw
        assert b"Traceback" not in ana.raw


@pytest.mark.parametrize("term", ["dumb", "vt100"])
def test_a_terminal_that_can_do_no_more_gets_the_plain_form(tmp_path: Path, term: str) -> None:
    """Without a cursor to move, or without colours, lines go in and lines come out."""
    with tty(tmp_path, "ana", term=term) as ana:
        ana.until(lambda: b"small embedded model" in ana.raw)
        ana.child.send("hello\n")
        ana.until(lambda: b"maya: You said: hello" in ana.raw)
        ana.child.send("\x04")
        assert ana.ends() == 0
        assert b"\x1b" not in ana.raw


@pytest.mark.patient
@pytest.mark.model
def test_the_embedded_model_answers_in_a_terminal(tmp_path: Path) -> None:
    """`loopforge chat` in an empty folder: three mates, the embedded model's answer, and why."""
    with tty(tmp_path, "Ana", real=True) as ana:
        ana.sees("You are in commons.", "Maya", "Merlin", "Zuzu", "small embedded model")
        ana.child.send("@merlin who are you?\r")
        ana.sees("@merlin who are you?", "Esc stops")
        ana.until(lambda: "Esc stops" not in ana.text())
        ana.sees("🦉 Merlin")
        ana.child.send("/why\r")
        ana.sees("Why? Merlin:", "It asked the language model", "Why it spoke")
        ana.child.send("\x1b")
        ana.until(lambda: "Why? Merlin:" not in ana.text())
        ana.child.send("\x04")
        assert ana.ends() == 0
        assert b"Traceback" not in ana.raw
