"""Paths, variables and names that lead out of the Factory, and where each of them ends."""

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from loopforge.errors import BadScenario
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import simulate
from loopforge.lab.sweeps.experiment_file import open_experiment
from loopforge.lab.world.scenario_file import open_scenario
from tests.lab.city import city, read, toml


def _link(folder: Path, to: str) -> str:
    (folder / "cursed.toml").symlink_to(to)
    return "cursed"


def _pipe(folder: Path) -> str:
    os.mkfifo(folder / "cursed.toml")
    return "cursed"


def _folder(folder: Path) -> str:
    (folder / "cursed.toml").mkdir()
    return "cursed"


def _bytes(content: bytes) -> Callable[[Path], str]:
    def write(folder: Path) -> str:
        (folder / "cursed.toml").write_bytes(content)
        return "cursed"

    return write


def _outside(folder: Path) -> str:
    (folder.parent / "secret.toml").write_text(toml(city()))
    return "../secret"


PATHS: Mapping[str, tuple[Callable[[Path], str], str]] = {
    "up the tree": (lambda _: "../../etc/passwd", "no scenario"),
    "from the root": (lambda _: "/etc/passwd", "no scenario"),
    "a neighbour folder's file": (_outside, "no scenario"),
    "a device": (lambda _: "/dev/zero", "no scenario"),
    "a device by its path": (lambda _: "/dev/zero.toml", "no file"),
    "a link out": (lambda f: _link(f, "/etc/passwd"), "leads out"),
    "a link to a device": (lambda f: _link(f, "/dev/zero"), "leads out"),
    "a link to the environment": (lambda f: _link(f, "/proc/self/environ"), "leads out"),
    "a link to nothing": (lambda f: _link(f, "nothing.toml"), "no scenario"),
    "a link to itself": (lambda f: _link(f, "cursed.toml"), "no scenario"),
    "a pipe": (_pipe, "no file"),
    "a folder": (_folder, "no file"),
    "a folder by its path": (lambda f: f"{f}/{_folder(f)}.toml", "no file"),
    "a link by its path to a device": (lambda f: f"{f}/{_link(f, '/dev/zero')}.toml", "no file"),
    "not text": (_bytes(b"\xff\xfe\x00" * 99), "UTF-8"),
    "ten million bytes": (_bytes(b"#" * 10**7), "larger"),
    "no name": (lambda _: "", "no scenario"),
    "a name with nought in it": (lambda _: "a\0b.toml", "cursed|no file|cannot be read"),
    "a name without end": (lambda _: "a" * 5000 + ".toml", "cannot be read|no file"),
    "a name that spoils the terminal": (lambda _: "\x1b[2J\u202e", "no scenario"),
}


@pytest.mark.parametrize("kind", ["scenario", "experiment"])
@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_is_no_file_of_its_kind_is_refused(
    path: str, kind: str, tmp_path: Path
) -> None:
    """Nothing outside is read, nothing waits for ever, and the error is one printable line."""
    folder = tmp_path / "files"
    folder.mkdir()
    make, says = PATHS[path]
    opens: Callable[..., object] = open_scenario if kind == "scenario" else open_experiment
    with pytest.raises(BadScenario, match=says.replace("scenario", kind)) as caught:
        opens(make(folder), folder)
    assert str(caught.value).isprintable()
    assert "root:" not in str(caught.value)


def test_a_home_may_call_its_scenario_as_it_likes(tmp_path: Path) -> None:
    """Any plain file name will do, with spaces and dots, and a link that stays in the folder."""
    (tmp_path / "my first. one.toml").write_text(toml(city()))
    (tmp_path / "other.toml").symlink_to("my first. one.toml")
    for name in ("my first. one", "other"):
        assert open_scenario(name, tmp_path) == read()
    assert open_scenario(str(tmp_path / "other.toml")) == read()


def test_a_run_stays_in_the_folder_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a folder given, a run makes its own under runs/, named after the scenario."""
    monkeypatch.chdir(tmp_path)
    made = asyncio.run(simulate(read()))
    again = asyncio.run(simulate(read()))
    assert made.folder.parent == again.folder.parent == Path("runs")
    assert made.folder != again.folder
    assert made.head == again.head


@pytest.mark.parametrize("name", ["stub", "llm", "chain", "overseer", "mate:Ada"])
def test_a_policy_of_ones_own_cannot_take_a_shipped_name(name: str) -> None:
    """What the log calls stub is stub."""
    minds = Minds(own={name: lambda seen: None})  # type: ignore[dict-item]
    with pytest.raises(BadScenario, match="cannot be called"):
        minds.check()
