"""Taking along by commands: a room, a mate, a person; and a mate comes in again."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from loopforge.app import App
from loopforge.artifacts.file_intake import FileLimits, ingest_file
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.home import make_home
from tests.cli.conftest import Run, typing

PICTURE = b"\x89PNG\r\n\x1a\nrhubarb"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `loopforge ...`."""
    return typing(capsys)


async def fill(app: App) -> None:
    """A home in which ana said something, with a picture, and ben something else."""
    file = await ingest_file(app.artifacts, "a.png", PICTURE, FileLimits(1000, 1000))
    for name, text, files in (("ana", "I like rhubarb", (file,)), ("ben", "I do not", ())):
        you = (await app.front.rooms.enter("commons", name, "terminal", ("maya",))).you
        line = Heard(person=you, text=Words(text), surface="terminal", source=name, files=files)
        await app.front.rooms.hear("commons", line)
    await app.front.rooms.settled("commons")


def test_a_room_is_taken_along(run: Run, home: Path, tmp_path: Path) -> None:
    """One command writes all of a room into a new file that only its owner may read."""
    path = tmp_path / "along.zip"
    code, out, _ = run("--home", str(home), "room", "export", "commons", "-o", str(path))
    assert (code, out) == (0, f"Written: {path}\n")
    assert path.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(path) as archive:
        text = archive.read("commons.md").decode()
        (picture,) = [name for name in archive.namelist() if name.startswith("files/")]
        assert archive.read(picture) == PICTURE
    assert text.index("> I like rhubarb") < text.index("> I do not")


def test_a_file_that_is_there_is_left_alone(run: Run, home: Path, tmp_path: Path) -> None:
    """Nothing is written over, and of what fails nothing is left."""
    path = tmp_path / "commons.md"
    path.write_text("mine")
    words = ("--home", str(home), "room", "export", "commons", "--format", "md", "-o", str(path))
    code, _, err = run(*words)
    assert code == 2
    assert "is there already" in err
    assert path.read_text() == "mine"
    code, _, err = run("--home", str(home), "room", "export", "nowhere", "-o", f"{path}.2")
    assert code == 2
    assert "nowhere" in err
    assert not Path(f"{path}.2").exists()


def test_a_person_is_taken_along(run: Run, home: Path, tmp_path: Path) -> None:
    """Everything about one person, to be given to them, without what others said."""
    path = tmp_path / "ana.zip"
    code, out, _ = run("--home", str(home), "people", "export", "ana", "-o", str(path))
    assert (code, out) == (0, f"Written: {path}\n")
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        me = json.loads(archive.read("me.json"))
        text = archive.read("me.md").decode()
    assert [row["text"] for row in me["done"] if row["did"] == "room.heard"] == ["I like rhubarb"]
    assert "> I like rhubarb" in text
    assert "I do not" not in text


def test_a_mate_moves(run: Run, home: Path, tmp_path: Path) -> None:
    """What one home exports another adds, byte for byte; a handle that is taken stays as it is."""
    path, other = tmp_path / "moved.md", tmp_path / "other"
    was = (home / "mates" / "maya.md").read_bytes()
    assert run("--home", str(home), "mate", "export", "maya", "-o", str(path))[0] == 0
    assert path.read_bytes() == was
    make_home(other)
    code, _, err = run("--home", str(other), "mate", "add", str(path))
    assert code == 2
    assert "@maya is taken" in err
    (other / "mates" / "maya.md").unlink()
    code, out, _ = run("--home", str(other), "mate", "add", str(path))
    assert code == 0
    assert "is here" in out
    assert (other / "mates" / "maya.md").read_bytes() == was


def test_what_is_no_mate_does_not_come_in(run: Run, home: Path, tmp_path: Path) -> None:
    """A file that holds no mate is refused, with what is wrong; nothing is written."""
    path = tmp_path / "picture.md"
    path.write_bytes(b"\xff\xd8\xff")
    before = sorted((home / "mates").iterdir())
    for content in (b"\xff\xd8\xff", b"just words\n"):
        path.write_bytes(content)
        code, _, err = run("--home", str(home), "mate", "add", str(path))
        assert code == 2
        assert "picture.md" in err
    assert sorted((home / "mates").iterdir()) == before
