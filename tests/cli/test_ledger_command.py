"""loopforge ledger: what it prints, what it refuses, and what it leaves alone."""

import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loopforge.cli import new_file
from loopforge.core.room_vocabulary import Heard, RoomOpened, Said
from loopforge.core.text.erasable_text import Words
from loopforge.errors import LoopforgeError
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.people.identity.person_registry import PersonRegistry
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice
from tests.cli.conftest import Run, written
from tests.full_disk import full_disk

NOUN, STREAM = "ledger", "room:commons"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose ledger holds a room, a line of a person and a line of a mate."""
    fill(tmp_path)
    return tmp_path


def fill(home: Path, more: int = 0) -> None:
    """A room is opened, somebody says something, and a mate answers; and so many more events."""
    stamp = Stamp(SystemClock(), SystemDice())
    opened = stamp.fact(RoomOpened(name="commons"), actor="room")
    heard = stamp.fact(
        Heard(person="p1", text=Words("a secret\nof mine")), actor="person:p1", cause=opened.id
    )
    said = stamp.fact(
        Said(turn="t1", mate="maya", text=Words("é, I see")), actor="mate:maya", cause=heard.id
    )
    others = [stamp.fact(RoomOpened(name="x" * 200), actor="room") for _ in range(more)]
    (home / "data").mkdir(exist_ok=True)
    written(home, lambda ledger: ledger.append(STREAM, [opened, heard, said, *others]))


def test_tail_shows_the_newest_events_oldest_first(run: Run) -> None:
    """Each event is one line, with its id, place, kind, actor and what it says."""
    code, out, _ = run("tail", "-n", "2")
    lines = out.splitlines()
    assert code == 0
    assert len(lines) == 2
    assert "room:commons#2  room.heard  person:p1  'a secret\\nof mine'" in lines[0]
    assert "room:commons#3  room.said  mate:maya  'é, I see'" in lines[1]


def test_tail_as_json_is_what_export_writes(run: Run, tmp_path: Path) -> None:
    """--json prints the very lines of the export, which goes into a file where that is said."""
    assert run("tail", "--json")[1] == run("export")[1] != ""
    assert run("export", "--format", "jsonl", "-o", str(tmp_path / "out"))[:2] == (0, "")
    assert (tmp_path / "out").read_text("utf-8") == run("export")[1]


@pytest.mark.sqlite
def test_tail_follows(home: Path) -> None:
    """With --follow, an event that is appended later is shown, until it is interrupted."""
    with subprocess.Popen(
        [sys.executable, "-m", "loopforge", "--home", str(home), "ledger", "tail", "-f", "-n", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as following:
        assert following.stdout is not None
        assert following.stderr is not None
        assert "#3" in following.stdout.readline()
        fill(home)
        assert [line.split()[4] for line in (following.stdout.readline() for _ in range(3))] == [
            "room:commons#4",
            "room:commons#5",
            "room:commons#6",
        ]
        following.send_signal(signal.SIGINT)
        assert following.wait() == 130
        assert following.stderr.read() == ""


@pytest.mark.sqlite
def test_a_reader_that_goes_away_is_no_error(home: Path) -> None:
    """`loopforge ledger export | head -n 1` ends quietly."""
    fill(home, more=600)
    line = f"{sys.executable} -m loopforge --home {home} ledger export | head -n 1"
    out = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert out.stderr == ""
    assert out.stdout.count("\n") == 1


def test_more_events_than_can_be_counted_are_refused(run: Run) -> None:
    """In a sentence, by the option's name."""
    code, _, err = run("tail", "-n", "99999999999999999999")
    assert code == 2
    assert "'-n'" in err
    assert run("tail", "-n", str(2**53))[0] == 0


def test_an_export_overwrites_nothing(run: Run, tmp_path: Path) -> None:
    """A file that is there already is refused; an unknown format too."""
    (tmp_path / "there").write_text("mine")
    code, _, err = run("export", "-o", str(tmp_path / "there"))
    assert code == 2
    assert "is there already" in err
    assert (tmp_path / "there").read_text() == "mine"
    assert run("export", "--format", "xml")[0] == 2


def test_an_export_is_whole_or_not_there(run: Run, tmp_path: Path) -> None:
    """A disk that is full leaves no half of it, and what is there is for its owner alone."""
    path = tmp_path / "out"
    refused = pytest.raises(LoopforgeError, match=f"{path} cannot be written")
    with full_disk(), refused, new_file(path) as file:
        file.write(b"half of it")
    assert not path.exists()
    assert run("export", "-o", str(path))[0] == 0
    assert path.stat().st_mode & 0o777 == 0o600


def test_anchors_find_a_ledger_that_was_cut_short(run: Run, home: Path, tmp_path: Path) -> None:
    """Heads noted earlier must still be there; a wrong file of anchors is refused."""
    anchors = tmp_path / "anchors.json"
    code, out, _ = run("verify", "--anchors", str(anchors))
    assert code == 0
    assert out.startswith("3 events and 2 texts read.\nAll of it")
    fill(home)
    assert run("verify", "--anchors", str(anchors))[0] == 0
    noted = json.loads(anchors.read_text())
    assert noted[STREAM][0] == 6
    noted[STREAM] = [9, "0" * 64]
    anchors.write_text(json.dumps(noted))
    code, out, _ = run("verify", "--anchors", str(anchors))
    assert code == 1
    assert "anchor" in out
    anchors.write_text("[1")
    assert run("verify", "--anchors", str(anchors))[0] == 2
    code, out, told = run("verify", "--anchors", str(tmp_path / "away" / "anchors.json"))
    assert (code, out) == (2, "")
    assert "There is no folder" in told


@pytest.mark.parametrize("command", ["verify", "export", "tail"])
def test_a_stream_that_there_is_not_is_told(run: Run, command: str) -> None:
    """Nothing was read, so nothing is said to be well; where the streams are told, stands there."""
    code, out, err = run(command, "--stream", "room:comons")
    assert (code, out) == (2, "")
    assert "'room:comons'; `loopforge ledger status` lists them." in err


def test_one_message_is_forgotten(run: Run, home: Path) -> None:
    """The words are gone from the ledger and its files, and the chain still verifies."""
    heard = json.loads(run("tail", "--json", "-n", "2")[1].splitlines()[0])["id"]
    code, out, _ = run("erase", heard, "--yes")
    assert code == 0
    assert out == "Forgotten: 1 texts and 0 that quote them, in room:commons.\n"
    assert "a secret" not in run("export")[1]
    files = [file for file in (home / "data").rglob("*") if file.is_file()]
    assert not any(b"a secret" in file.read_bytes() for file in files)
    assert run("verify")[0] == 0
    assert run("erase", heard, "--yes")[1] == "Nothing of that is left to forget.\n"


def test_a_person_is_forgotten_by_name(run: Run, home: Path) -> None:
    """Everything that somebody said is gone, and the name with it."""
    meet(home, "Ada")
    code, out, _ = run("erase", "--person", "ada", "--yes")
    assert code == 0, out
    left = run("export")[1]
    assert "Ada" not in left
    assert "hello from ada" not in left
    assert "a secret" in left
    code, _, err = run("erase", "--person", "ada", "--yes")
    assert code == 2
    assert "Nobody called 'ada'" in err


@pytest.mark.parametrize(("typed", "ends"), [("n\n", 0), ("", 2)])
def test_nothing_is_forgotten_without_a_yes(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, typed: str, ends: int
) -> None:
    """Without --yes it asks; whoever says no, or does not answer, keeps everything."""
    meet(home, "Ada")
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    code, out, _ = run("erase", "--person", "Ada")
    assert (code, "This cannot be undone" in out) == (ends, True)
    assert "hello from ada" in run("export")[1]


def test_erasing_nothing_or_nobody_is_refused(run: Run) -> None:
    """It must be said what to forget, and it must be there."""
    assert run("erase", "--yes")[0] == 2
    assert run("erase", "0" * 32, "--yes")[0] == 2


def meet(home: Path, name: str) -> None:
    """Somebody becomes known and says a line."""
    stamp = Stamp(SystemClock(), SystemDice())

    async def say(ledger: SqlLedger) -> None:
        person = await PersonRegistry(ledger, stamp).meet("terminal", name)
        heard = Heard(person=person.id, text=Words("hello from ada"))
        await ledger.append(STREAM, [stamp.fact(heard, actor=f"person:{person.id}")])

    written(home, say)


def test_what_looks_after_a_ledger(run: Run) -> None:
    """rebuild says how often an event went into a view: rooms open, lines bring files, are posts.

    status shows the schema and the streams; migrate has nothing to do.
    """
    assert run("rebuild")[:2] == (0, "Folded 3 events.\n")
    assert run("status")[1] == f"schema: ok\n       3  {STREAM}\n"
    assert run("migrate")[:2] == (0, "It was up to date.\n")
