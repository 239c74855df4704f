"""loopforge room delete: with a host and without, asked and unasked."""

import asyncio
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from loopforge.app import App, open_app
from loopforge.artifacts.file_intake import FileLimits, ingest_file
from loopforge.cli import main
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.host_lock import lock_home
from loopforge.models.scripted_model import ScriptedModels
from loopforge.settings import load_settings
from tests.cli.conftest import Run, written

SECRET = "my locker opens with rhubarb on Tuesdays only"
NOUN = "room"


async def fill(app: App) -> None:
    """A home with a secret and a picture in the room `commons`, and the secret in `cellar` too."""
    picture = b"\x89PNG\r\n\x1a\nrhubarb"
    file = await ingest_file(app.artifacts, "a.png", picture, FileLimits(1000, 1000))
    said = (("commons", SECRET, (file,), "maya"), ("cellar", f"I said {SECRET}", (), "merlin"))
    for room, text, files, mate in said:
        you = (await app.front.rooms.enter(room, "ana", "terminal", (mate,))).you
        line = Heard(person=you, text=Words(text), surface="terminal", source=room, files=files)
        await app.front.rooms.hear(room, line)
    for room, *_ in said:
        await app.front.rooms.settled(room)


def holding(home: Path, room: str) -> list[str]:
    """Which of a room's lines still have their text."""
    events = written(home, lambda ledger: ledger.read(f"room:{room}", kinds=["room.heard"]))
    texts = [event.body.text.text for event in events if isinstance(event.body, Heard)]
    return [text for text in texts if text is not None]


def in_files(home: Path, word: bytes) -> list[str]:
    """The files of the home's data that hold a word."""
    files = (path for path in (home / "data").glob("**/*") if path.is_file())
    return [path.name for path in files if word in path.read_bytes()]


@contextmanager
def hosting(home: Path) -> Iterator[None]:
    """The home is run meanwhile, on a thread of its own."""
    up, down = threading.Event(), threading.Event()

    async def host() -> None:
        models = ScriptedModels()
        with lock_home(home):
            async with open_app(load_settings(home, environ={}), models=models, follow=0.05):
                up.set()
                await asyncio.to_thread(down.wait)

    thread = threading.Thread(target=asyncio.run, args=(host(),))
    thread.start()
    try:
        assert up.wait(120)
        yield
    finally:
        down.set()
        thread.join()


def test_a_room_is_deleted(run: Run, home: Path) -> None:
    """Without a host the command forgets the room, its files, and what quotes it elsewhere."""
    code, out, _ = run("delete", "commons", "--yes")
    assert code == 0
    assert "Deleted." in out
    assert "1 elsewhere that quote it are forgotten." in out
    assert holding(home, "commons") == holding(home, "cellar") == []
    assert in_files(home, b"rhubarb") == []
    assert "commons" not in run("list")[1]
    code, out, err = run("delete", "commons")
    assert (code, out) == (2, ""), "it is refused before anything is asked"
    assert "There is no room called 'commons'." in err


def test_a_room_that_is_not_there_is_told_with_what_to_do(run: Run, home: Path) -> None:
    """The home's own room opens when somebody enters it; of others those there are can be listed."""
    (home / "loopforge.toml").write_text('room = "parlour"\n')
    code, _, err = run("energy", "parlour", "3")
    assert code == 2
    assert "'parlour' yet: it opens when somebody enters it, in the browser or by" in err
    assert "'nope'. `loopforge room list` names those there are." in run("stop", "nope")[2]


def test_quotes_can_be_kept(run: Run, home: Path) -> None:
    """With --keep-quotes other rooms keep what they said."""
    assert run("delete", "commons", "--yes", "--keep-quotes")[0] == 0
    assert holding(home, "commons") == []
    assert holding(home, "cellar") == [f"I said {SECRET}"]


def test_it_asks_first(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says how much would be forgotten; whoever says no keeps everything."""
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    code, out, _ = run("delete", "commons")
    assert "1 elsewhere that quote it would be forgotten. This cannot be undone." in out
    assert (code, "Nothing was deleted." in out) == (0, True)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    code, _, err = run("delete", "commons")
    assert (code, "add --yes" in err) == (2, True)
    assert holding(home, "commons") == [SECRET]


def test_a_running_home_deletes_it(run: Run, home: Path) -> None:
    """While a host runs, the command says so to it, and comes back when the host has forgotten."""
    with hosting(home):
        code, out, _ = run("delete", "commons", "--yes")
        assert code == 0
        assert "Deleted." in out
        assert holding(home, "commons") == holding(home, "cellar") == []
        assert list((home / "data" / "artifacts").glob("??/*")) == []
    assert in_files(home, b"rhubarb") == []


def test_forgetting_a_line_by_command_takes_its_files_along(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`loopforge ledger erase` deletes files that nothing holds any more, where no host runs."""
    (line,) = written(home, lambda ledger: ledger.read("room:commons", kinds=["room.heard"]))
    assert main(["--home", str(home), "ledger", "erase", "--yes", line.id]) == 0
    assert "Kept files that went with it: 1." in capsys.readouterr().out
    assert list((home / "data" / "artifacts").glob("??/*")) == []
