"""Starting: how long until a person can type, and how much memory an idle home takes."""

import fcntl
import os
import selectors
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from bench.figures import Figure, folder, middle, sized

RUNS = sized(7, 1)
PATIENCE = 600.0
"""Seconds after which a program that says nothing is given up."""
SETTLED = 4.0
"""Seconds after which an idle program's memory is looked at; its web room is open by then."""
SCREEN = struct.pack("HHHH", 40, 110, 0, 0)
"""Rows and columns of the terminal that a program is shown."""
KEYS = ("OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE", "LITELLM", "LOOPFORGE")

BARE = ("-c", "pass")
LIBRARY = ("-c", "import sqlalchemy")
IDLE = ("-c", "print('ready', flush=True); import time; time.sleep(600)")
CHAT = ("-m", "loopforge", "chat")
NAMES: dict[tuple[str, ...], str] = {
    BARE: "python -c pass",
    LIBRARY: "python -c 'import sqlalchemy'",
}


class Program:
    """A Python program that was started, and what it has printed so far."""

    def __init__(
        self, *command: str, home: Path, screen: bool = False, embedded: bool = False
    ) -> None:
        environ = {k: v for k, v in os.environ.items() if not k.startswith(KEYS)}
        environ |= {"LOOPFORGE_HOME": str(home), "TERM": "xterm-256color"}
        environ["LOOPFORGE_EMBEDDED_MODEL"] = str(embedded).lower()
        given, taken = os.openpty() if screen else os.pipe()[::-1]
        if screen:
            fcntl.ioctl(taken, termios.TIOCSWINSZ, SCREEN)
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, *command],
            stdin=taken,
            stdout=taken if screen else subprocess.PIPE,
            stderr=taken if screen else subprocess.STDOUT,
            env=environ,
            start_new_session=True,
        )
        os.close(taken)
        self._given = given
        self._out = given if screen else self._opened()
        self._said = b""

    def _opened(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def type(self, line: str) -> None:
        """Give it a line to read."""
        os.write(self._given, line.encode() + b"\n")

    def until(self, *words: str) -> float:
        """Seconds since it was started until it has printed one of these words, or ended."""
        wanted = [word.encode() for word in words]
        with selectors.DefaultSelector() as ready:
            ready.register(self._out, selectors.EVENT_READ)
            while not any(word in self._said for word in wanted):
                if not ready.select(PATIENCE):
                    raise TimeoutError(f"no {words} came: {self._said[-500:]!r}")
                piece = os.read(self._out, 65536)
                if not piece:
                    raise EOFError(f"it ended before {words}: {self._said[-500:]!r}")
                self._said += piece
        return time.perf_counter() - self.began

    def ended(self) -> float:
        """Seconds since it was started until it ends by itself."""
        self._process.wait()
        return time.perf_counter() - self.began

    def memory(self) -> float:
        """Megabytes that it holds once it has come to rest, with its children's."""
        time.sleep(SETTLED)
        one = psutil.Process(self._process.pid)
        all_of_it = [one, *one.children(recursive=True)]
        return float(sum(process.memory_info().rss for process in all_of_it)) / 1e6

    def close(self) -> None:
        """End it, wherever it is."""
        self._process.kill()
        self._process.wait()
        os.close(self._given)
        if self._process.stdout is not None:
            self._process.stdout.close()


def ran(*command: str) -> Callable[[Path], float]:
    """A way to run something to its end."""

    def way(home: Path) -> float:
        program = Program(*command, home=home)
        try:
            return program.ended()
        finally:
            program.close()

    return way


def plain(home: Path, *, embedded: bool = False) -> float:
    """Seconds until the plain form has done what was typed before it was there."""
    program = Program(*CHAT, "--plain", home=home, embedded=embedded)
    program.type("/who")
    try:
        return program.until("Maya")
    finally:
        program.close()


PROMPT = "ay something"
"""Where to type, on the screen; the cursor stands on its first letter, which is drawn apart."""


def drawn(home: Path, *, words: str = PROMPT, embedded: bool = False) -> float:
    """Seconds until the terminal on the whole screen shows where to type, or these words."""
    program = Program(*CHAT, home=home, screen=True, embedded=embedded)
    try:
        return program.until(words)
    finally:
        program.close()


WAYS: dict[str, tuple[Callable[[Path], float], tuple[str, ...], float | None]] = {
    "import loopforge": (ran("-c", "import loopforge"), BARE, None),
    "loopforge --help": (ran("-m", "loopforge", "--help"), BARE, None),
    "loopforge room list": (ran("-m", "loopforge", "room", "list"), LIBRARY, None),
    "to the first prompt, plain": (plain, LIBRARY, 1.5),
    "to the first prompt, on the screen": (drawn, LIBRARY, 1.5),
    "to the room, on the screen": (partial(drawn, words="Maya"), LIBRARY, None),
    "plain, loading the embedded model": (partial(plain, embedded=True), LIBRARY, None),
    "screen, loading the embedded model": (partial(drawn, embedded=True), LIBRARY, None),
}


def times() -> Iterator[Figure]:
    """Seconds until each way has come to its end, in turns with its baseline."""
    bare = {command: ran(*command) for command in NAMES}
    with folder() as home:
        plain(home)  # the home and the compiled files are made once
        taken: dict[object, list[float]] = {key: [] for key in (*WAYS, *bare)}
        for _ in range(RUNS):  # in turns, so that a busy moment does not hit one way alone
            for key, run in bare.items():
                taken[key].append(run(home))
            for name, (way, _, _) in WAYS.items():
                taken[name].append(way(home))
    for name, (_, against, target) in WAYS.items():
        least = middle(taken[against])
        yield Figure(name, middle(taken[name]), "s", NAMES[against], least, target)


def idle(home: Path, *, screen: bool, talking: bool) -> float:
    """Megabytes of an idle home, with its embedded model loaded or none."""
    form = () if screen else ("--plain",)
    program = Program(*CHAT, *form, home=home, screen=screen, embedded=talking)
    try:
        if screen:
            program.until("Maya")
        elif talking:
            program.type("@maya hello, who are you?")
            program.until("maya: ")
        else:
            program.type("/who")
            program.until("Maya")
        return program.memory()
    finally:
        program.close()


def memory() -> Iterator[Figure]:
    """Megabytes, beside an interpreter that does nothing."""
    with folder() as home:
        program = Program(*IDLE, home=home)
        program.until("ready")
        least = program.memory()
        program.close()
        for name, screen, talking, target in (
            ("idle, plain", False, False, 150.0),
            ("idle, on the screen", True, False, 150.0),
            ("idle, plain, embedded model loaded", False, True, 450.0),
        ):
            found = idle(home, screen=screen, talking=talking)
            yield Figure(name, found, "MB", "an idle interpreter", least, target)


def figures() -> Iterator[Figure]:
    """Times, then memory."""
    yield from times()
    yield from memory()
