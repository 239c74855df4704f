"""loopforge up, with a terminal, without one, and with one that goes away."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from loopforge.host_lock import home_holder_pid

HOME = "debounce_seconds = 0\nweb = false\n[tiers]\n" + "".join(
    f'{n} = ["scripted"]\n' for n in range(1, 5)
)
GUARD = 120
"""Seconds after which a test that hangs is given up; nothing rests on them."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose mates answer at once."""
    (tmp_path / "loopforge.toml").write_text(HOME)
    return tmp_path


def command(home: Path, *words: str) -> list[str]:
    """A command of Loopforge for this home."""
    return [sys.executable, "-m", "loopforge", "--home", str(home), *words]


def run(home: Path, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """What a command says, and how it ends."""
    return subprocess.run(
        command(home, *words), input=typed, capture_output=True, text=True, timeout=GUARD
    )


@contextmanager
def served(home: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A host that runs until the block ends, without a terminal; SIGTERM ends it well."""
    process = subprocess.Popen(
        command(home, "up", *words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()  # the notice: all is open
        yield process
        process.send_signal(signal.SIGTERM)
        assert process.wait(GUARD) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.sample(1)
@pytest.mark.parametrize("words", [("--headless",), ()], ids=["headless", "/dev/null"])
def test_a_home_without_a_terminal_lets_terminals_in(home: Path, words: tuple[str, ...]) -> None:
    """Beside `up --headless` a line through `chat` is answered, and the doctor finds all well.

    So too where nobody can type, as with `make run` in a container, and that is said.
    """
    with served(home, *words) as host:
        assert host.stderr is not None
        assert words or "until SIGTERM or ctrl+c" in host.stderr.readline()
        said = run(home, "chat", "--mate", "maya", typed="hello\n")
        assert (said.returncode, said.stderr) == (0, "")
        assert said.stdout.startswith("maya: ")
        doctor = run(home, "doctor", "--json", "--offline")
        (found,) = [each for each in json.loads(doctor.stdout) if each["check"] == "host"]
        assert (found["state"], doctor.returncode) == ("ok", 0), doctor.stdout
        assert f"process {host.pid} runs" in found["said"]


def test_a_host_whose_database_was_moved_away_ends_by_itself(home: Path) -> None:
    """With exit code 1 and a sentence, soon; once the file is back, the home goes on with it."""
    file, aside = home / "data/loopforge.db", home / "aside.db"
    with subprocess.Popen(
        command(home, "up", "--headless"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as host:
        try:
            assert host.stdout is not None
            host.stdout.readline()  # it is open
            file.rename(aside)
            _, said = host.communicate(timeout=GUARD)
        finally:
            host.kill()
    assert host.returncode == 1, said
    assert f"The file of the ledger, {file}, was deleted, moved or replaced" in said
    assert "Traceback" not in said
    aside.rename(file)
    again = run(home, "chat", "--mate", "maya", typed="hello\n")
    assert "maya" in again.stdout.lower(), again.stderr


def test_input_that_ends_at_once_says_how_a_home_stays(home: Path) -> None:
    """An empty pipe closes the home again, and says what would have kept it open."""
    done = run(home, "up")
    assert done.returncode == 0
    assert "`loopforge up --headless` keeps it open" in done.stderr
    assert "--headless" not in run(home, "up", typed="hello\n").stderr


def test_closed_input_ends_a_talk_well(home: Path) -> None:
    """A terminal whose input is closed from the start has nothing to say, and that is no error."""
    line = ["sh", "-c", 'exec "$@" <&-', "sh", *command(home, "chat", "--mate", "maya")]
    done = subprocess.run(line, capture_output=True, text=True, timeout=GUARD)
    assert done.returncode == 0, done.stderr


@pytest.mark.sample(1)
@pytest.mark.parametrize("form", [(), ("--plain",)], ids=["screen", "plain"])
def test_closing_its_window_ends_it(home: Path, form: tuple[str, ...]) -> None:
    """Under a program that keeps the hang-up to itself, as make does, the home ends all the same."""
    leader, window = pty.fork()
    if not leader:
        keeps = ["env", "TERM=xterm-256color", "bash", "-c", 'trap : HUP; "$@"; :', "bash"]
        os.execvp("env", [*keeps, *command(home, "up", *form)])
    with os.fdopen(window, "rb", buffering=0) as screen:
        while not (home / "data" / "host.sock").exists():
            if select.select([screen], [], [], 0.1)[0]:
                assert screen.read(1 << 16)
        host = home_holder_pid(home)
        assert host
        watched = os.pidfd_open(host)
    ended, _, _ = select.select([watched], [], [], GUARD)
    os.close(watched)
    if not ended:
        os.kill(host, signal.SIGKILL)
    os.waitpid(leader, 0)
    assert ended, "it lives on"
