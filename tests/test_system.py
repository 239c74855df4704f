"""What `make test` asks of Debian: the script that finds what is missing, with commands of our own."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOUND = ("python3", "initdb", "bwrap", "chromium")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder of commands: what the script itself needs, and everything it looks for."""
    for name in ("bash", "env", "mktemp", "rm", "tail"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    for name in FOUND:
        put(tmp_path, name, "exit 0")
    put(tmp_path, "id", "echo 1000")
    put(tmp_path, "mkdir", "exit 1")
    return tmp_path


def put(folder: Path, name: str, does: str) -> None:
    """A command that does this."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)


def run(machine: Path) -> str:
    """What the script prints on this machine; it never fails."""
    done = subprocess.run(
        [ROOT / ".ci" / "system"],
        env={"PATH": str(machine)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_a_machine_that_has_all_is_told_nothing(machine: Path) -> None:
    """Nothing is printed and nothing is installed."""
    put(machine, "apt-get", f"echo called >{machine}/log")
    assert run(machine) == ""
    assert not (machine / "log").exists()


def test_without_a_browser_a_person_is_told(machine: Path) -> None:
    """Who is not root is told by name what is missing, and nothing is installed."""
    (machine / "chromium").unlink()
    put(machine, "apt-get", f"echo called >{machine}/log")
    assert run(machine) == "!!! not on this machine: chromium\n"
    assert not (machine / "log").exists()


def test_root_installs_the_browser(machine: Path) -> None:
    """Root installs what is missing, that alone, and is told nothing when it is there then."""
    (machine / "chromium").unlink()
    put(machine, "id", "echo 0")
    there = f"printf '#!/bin/sh\\n' >{machine}/chromium; /bin/chmod +x {machine}/chromium"
    put(machine, "apt-get", f'echo "$@" >>{machine}/log; {there}')
    assert run(machine) == "Installing from Debian: chromium\n"
    asked = (machine / "log").read_text().splitlines()
    assert asked[-1].startswith("install ")
    assert asked[-1].endswith(" chromium")


def test_root_installs_the_lighter_browser_where_it_is_offered(machine: Path) -> None:
    """What tests can do without is installed where Debian offers it, and nowhere else missed."""
    put(machine, "id", "echo 0")
    put(machine, "apt-get", f'echo "$@" >>{machine}/log')
    assert run(machine) == ""
    put(machine, "apt-cache", 'test "$*" = "show chromium-headless-shell"')
    assert run(machine) == "Installing from Debian: chromium-headless-shell\n"
    asked = (machine / "log").read_text().splitlines()
    assert [each.split()[0] for each in asked] == ["update", "install"]
    assert asked[-1].endswith(" chromium-headless-shell")
    put(machine, "chromium-headless-shell", "exit 0")
    assert run(machine) == ""


def test_an_installation_that_fails_is_told(machine: Path) -> None:
    """Where Debian cannot be reached, the end of its words is shown, and what is still missing."""
    (machine / "chromium").unlink()
    put(machine, "id", "echo 0")
    put(machine, "apt-get", "echo E: no network; exit 100")
    told = run(machine)
    assert "!!! apt-get failed" in told
    assert "E: no network" in told
    assert told.endswith("!!! not on this machine: chromium\n")


@pytest.mark.parametrize(
    ("given", "used"), [("C", "C.UTF-8"), ("POSIX", "C.UTF-8"), ("de_DE", "de_DE")]
)
def test_a_locale_that_knows_no_letters_is_not_what_make_works_by(given: str, used: str) -> None:
    """By LC_ALL=C Python could not read the path of a clone with other letters than ASCII in it."""
    line = ["make", "-s", "--eval", "said:\n\t@echo $$LC_ALL", "said"]
    environ = {"PATH": "/usr/bin:/bin", "LC_ALL": given}
    done = subprocess.run(line, cwd=ROOT, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == f"{used}\n"
