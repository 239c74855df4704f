"""The root of the command line: help without imports, and errors as one line."""

import os
import pty
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from loopforge.cli import COMMANDS, main
from loopforge.ledger.sql_ledger import SqlLedger
from tests.child_process import run_python
from tests.cli.conftest import written

COMMAND = (sys.executable, "-m", "loopforge")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `loopforge` as a person would."""
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def test_no_list_of_commands_ends_in_the_middle_of_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the help of a group each command says its first sentence whole, over lines if it must."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in COMMANDS:
        main([name, "--help"])
    rows = capsys.readouterr().out.splitlines()
    assert "  verify     Check a run: its chain, twelve questions to every row, and the" in rows
    assert not [row for row in rows if row.endswith("...") and "[ARGS]" not in row]


def test_help_names_every_command_and_imports_none() -> None:
    """--help costs no import of a command, of a database or of a model's client."""
    code = (
        "import sys; from loopforge.cli import main; main(['--help'])\n"
        "heavy = ['pydantic', 'sqlalchemy', 'textual', 'asyncio', 'httpx', 'loopforge.settings']\n"
        "print([name for name in sys.modules if name in heavy or name.startswith('loopforge.cli.')])"
    )
    out = run_python("-c", code, check=True)
    assert out.stdout.endswith("[]\n")
    for name, (_, line) in COMMANDS.items():
        assert name in out.stdout
        assert line in out.stdout


def test_an_unknown_command_is_an_input_error() -> None:
    """A command that does not exist ends with exit code 2 and says so."""
    out = run("sing")
    assert out.returncode == 2
    assert "sing" in out.stderr


@pytest.mark.parametrize(
    ("typed", "meant"), [("mates", "mate"), ("dokter", "doctor"), ("memry", "memory")]
)
def test_a_mistyped_command_is_guessed_at(typed: str, meant: str) -> None:
    """Which one may be meant is said, of the nouns as of what stands under them."""
    assert f"Did you mean '{meant}'?" in run(typed).stderr


def test_tasks_are_found_by_the_name_of_their_page(capsys: pytest.CaptureFixture[str]) -> None:
    """`loopforge task` is `loopforge work`: the page of the browser is called *Tasks*."""
    main(["task", "--help"])
    helped = capsys.readouterr().out
    main(["work", "--help"])
    assert helped.splitlines()[3:] == capsys.readouterr().out.splitlines()[3:]


def test_an_error_is_one_line_on_standard_error(tmp_path: Path) -> None:
    """Wrong settings end with exit code 2 and one clear line, without a traceback."""
    (tmp_path / "loopforge.toml").write_text("max_stps = 3\n")
    out = run("--home", str(tmp_path), "ledger", "tail")
    assert out.returncode == 2
    assert out.stdout == ""
    assert out.stderr == (
        f"loopforge: {tmp_path}/loopforge.toml, line 1: there is no setting `max_stps`. "
        "Did you mean `max_steps`?\n"
    )


@pytest.mark.sqlite
def test_bytes_that_are_no_text_are_called_so(home: Path) -> None:
    """A word with a byte that is no UTF-8, and a path that no system takes, end in one sentence."""
    written(home, SqlLedger.heads)
    out = run("--home", str(home), "room", "export", "\udcff")
    assert (out.returncode, out.stderr) == (
        2,
        "loopforge: What was typed is no UTF-8; nothing was done.\n",
    )
    out = run("--home", str(home), "lab", "verify", "x" * 3000)
    assert out.returncode == 1
    assert out.stderr.endswith("xxx: File name too long.\n")


def test_a_terminal_that_cannot_show_it_is_told_so() -> None:
    """What the machine's encoding has no signs for is no fault of what was typed."""
    code = "import sys; from loopforge.cli import main; print(main(['--help']), file=sys.stderr)"
    odd = f"import loopforge.cli; loopforge.cli.COMMANDS['x'] = ('x', '\u2192'); {code}"
    out = run_python("-c", odd, env={"PYTHONIOENCODING": "latin-1"})
    assert "cannot be written as latin-1; set PYTHONUTF8=1." in out.stderr
    assert out.stderr.endswith("\n1\n")


@pytest.mark.parametrize("words", ["docs tour", "doctor --offline"])
def test_a_closed_output_is_no_fault(words: str, home: Path) -> None:
    """Where nobody reads what is told, it is told to nobody: no traceback, and errors not there."""
    command = f"{sys.executable} -m loopforge --home {home} {words}"
    out = subprocess.run(["sh", "-c", f"{command} >&-"], capture_output=True, text=True)
    assert (out.returncode, out.stdout, out.stderr) == (0, "", "")
    out = subprocess.run(["sh", "-c", f"{command} --none 2>&-"], capture_output=True, text=True)
    assert (out.returncode, out.stdout) == (2, "")


def test_an_output_that_nobody_reads_any_more_ends_as_every_pipe_does() -> None:
    """Behind `| head` it ends with 141, as programs do that a pipe ends, and says nothing."""
    reading, writing = os.pipe()
    os.close(reading)
    out = subprocess.run([*COMMAND, "docs", "tour"], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (out.returncode, out.stderr) == (141, b"")


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """--version prints the version and ends well."""
    from loopforge import __version__

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"loopforge {__version__}\n"


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "words",
    [
        *(
            f"ledger {each}"
            for each in ("tail", "verify", "status", "export", "rebuild", "migrate")
        ),
        *("room places", "room list", "room delete commons --yes"),
        *("people list", "usage", "mate history zuzu"),
    ],
)
def test_no_ledger_is_made_by_looking(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no home was started yet it is said how that is done, and nothing is made."""
    assert main(["--home", str(tmp_path / "none"), *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "There is no ledger at" in err
    assert "`loopforge up` makes it." in err
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("page", ["settings", "work"])
def test_a_document_fits_a_terminal_of_80_columns(page: str) -> None:
    """Tables are folded into 80 columns with every word of them, and headings are seen as such."""
    leader, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 80))
    with subprocess.Popen([*COMMAND, "docs", page], stdin=subprocess.DEVNULL, stdout=terminal):
        os.close(terminal)
        shown = b""
        with suppress(OSError), os.fdopen(leader, "rb", buffering=0) as screen:  # EIO is its end
            while piece := screen.read(65_536):
                shown += piece
    rows = shown.decode().splitlines()
    assert max(map(len, rows)) <= 80
    assert any(row.startswith("## ") for row in rows)
    told = " ".join(" ".join(rows).split())
    assert "`loopforge doctor`" in told or "`loopforge why TASK#3`" in told
    assert "…" not in told
