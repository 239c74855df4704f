"""loopforge memory and loopforge person, as somebody at the machine types them."""

import json
import zipfile
from pathlib import Path

import pytest

from loopforge.app import App
from loopforge.core.memory.memory_vocabulary import EvidenceLine, MemoryKept
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.home import make_home
from tests.cli.conftest import Run, does_what_the_page_says, hosted, typing

DOCS = Path(__file__).parents[2] / "docs" / "memory.md"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], home: Path) -> Run:
    """Run `loopforge ...` there."""
    return typing(capsys, "--home", str(home))


async def fill(app: App) -> None:
    """A home in which maya keeps something of ana, and something of ben."""
    for name, text in (("ana", "I like zarquon tea"), ("ben", "I do not")):
        you = (await app.front.rooms.enter("commons", name, "terminal", ("maya",))).you
        line = Heard(person=you, text=Words(text), surface="terminal", source=name)
        said = await app.front.rooms.hear("commons", line)
        item = MemoryKept(
            layer="fact",
            text=Words(f"{name} said: {text}"),
            made_by="idle",
            evidence=(EvidenceLine(said.stream, said.seq, said.id),),
            about=(you,),
        )
        await app.memory.store.keep("maya", [item], actor="runtime")


def holding(home: Path, word: bytes) -> list[Path]:
    """The files of the home's data that hold a word."""
    files = [path for path in (home / "data").glob("**/*") if path.is_file()]
    return [path for path in files if word in path.read_bytes()]


def test_what_mates_keep_is_listed_and_changed(run: Run) -> None:
    """By mate and number, with the lines on wish; what was done is taken back."""
    code, out, _ = run("memory", "list", "--person", "ana", "--lines")
    assert code == 0
    assert out.startswith("maya\t1\tana said: I like zarquon tea\ta fact, ")
    assert "ana in commons: I like zarquon tea" in out
    assert "ben" not in out
    assert run("memory", "correct", "maya", "1", "ana likes cocoa")[:2] == (0, "Corrected.\n")
    assert run("memory", "lock", "maya", "1")[:2] == (0, "It stands.\n")
    rows = json.loads(run("memory", "list", "--json")[1])
    assert [(row["number"], row["text"], row["locked"]) for row in rows] == [
        (2, "ben said: I do not", False),
        (1, "ana likes cocoa", True),
    ]
    assert rows[1]["evidence"][0]["room"] == "commons"
    assert run("memory", "undo")[:2] == (0, "Taken back: locked.\n")
    assert run("memory", "undo", "maya")[:2] == (0, "Taken back: corrected.\n")
    assert "zarquon" in run("memory", "list")[1]
    code, out, err = run("ledger", "verify")
    assert (code, err, "All of it is as it was written" in out) == (0, "", True)
    assert run("memory", "drop", "maya", "2")[:2] == (0, "Let go.\n")
    assert run("memory", "audit")[1] == (
        "maya\theld 1, stale 0, unsupported 0, let go 1, forgotten 0\n"
    )
    assert run("memory", "restore", "maya", "2")[:2] == (0, "It holds again.\n")
    code, _, err = run("memory", "lock", "maya", "9")
    assert (code, "number 9" in err) == (2, True)


def test_memories_of_nobody_are_asked_back(run: Run) -> None:
    """A mate that there is not is said to be none, and those who are here are named."""
    for asked in (("list", "--mate", "mya"), ("lock", "mya", "1"), ("correct", "mya", "1", "x")):
        code, _, err = run("memory", *asked)
        assert code == 2
        assert "There is no mate 'mya' here; there are maya" in err
    assert "keeps anything of that" in run("memory", "list", "--mate", "zuzu")[1]
    assert "nothing under the number 9" in run("memory", "lock", "maya", "9")[2]


def test_a_home_in_which_mates_keep_nothing_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A list of nothing is a sentence; for scripts it is an empty list."""

    async def begin(_: App) -> None: ...

    make_home(tmp_path / "new")
    hosted(tmp_path / "new", begin)
    run = typing(capsys, "--home", str(tmp_path / "new"))
    assert run("memory", "list")[:2] == (0, "No mate keeps anything yet.\n")
    assert run("memory", "list", "--json")[:2] == (0, "[]\n")


@pytest.mark.sqlite
def test_an_item_is_forgotten(run: Run, home: Path) -> None:
    """For good, from every file; the line that it rested on is another matter."""
    assert run("memory", "forget", "maya", "1", "--yes")[:2] == (0, "Forgotten: 1 texts.\n")
    assert not holding(home, b"ana said: I like")
    assert holding(home, b"zarquon")
    assert run("memory", "list", "--person", "ana")[1].split("\t")[2] == "[forgotten]"


def test_a_person_is_taken_along_and_forgotten(run: Run, home: Path, tmp_path: Path) -> None:
    """What mates keep of them is in the file, with its lines; then nothing of it is anywhere."""
    path = tmp_path / "ana.zip"
    assert run("person", "export", "ana", "-o", str(path))[0] == 0
    with zipfile.ZipFile(path) as archive:
        me = json.loads(archive.read("me.json"))
        text = archive.read("me.md").decode()
    (kept,) = me["kept_of_you"]
    assert (kept["text"], kept["state"]) == ("ana said: I like zarquon tea", "held")
    assert [line["text"] for line in kept["evidence"]] == ["I like zarquon tea"]
    assert "## What mates keep of you" in text
    assert "ben" not in text
    path.unlink()
    code, out, _ = run("person", "forget", "ana", "--yes")
    assert code == 0
    assert "1 of memories" in out
    assert not holding(home, b"zarquon")
    assert [row["text"] for row in json.loads(run("memory", "list", "--json")[1])] == [
        "ben said: I do not",
        "[forgotten]",
    ]


def test_a_room_goes_with_its_memories(run: Run, home: Path) -> None:
    """What would go along is told; nothing of it is left."""
    code, out, _ = run("room", "delete", "commons", "--yes")
    assert code == 0
    assert "and 2 of memories that rest on it" in out
    assert not holding(home, b"zarquon")


def test_the_page_on_memory_does_what_it_says(run: Run) -> None:
    """Each command of docs/memory.md, one after the other, tells what stands below it."""
    does_what_the_page_says(run, DOCS, 7, "loopforge")
