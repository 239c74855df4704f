"""loopforge mate history, diff, undo, fork, traits, story and merge, as a person types them."""

import asyncio
import json
from pathlib import Path

import pytest

from loopforge.app import open_aside
from loopforge.settings import load_settings
from tests.cli.conftest import Run

NOUN = "mate"


async def ask(home: Path, *arguments: str) -> str:
    """Let a mate ask to be changed."""
    async with open_aside(load_settings(home)) as app:
        await app.chronicle.look()
        return await app.growth.traits.propose(*arguments)


def look(home: Path) -> None:
    """Put on record what stands in the files, as a running home does."""

    async def work() -> None:
        async with open_aside(load_settings(home)) as app:
            await app.chronicle.look()

    asyncio.run(work())


@pytest.fixture
def zuzu(home: Path) -> Path:
    """The file of a mate that is on record in two versions."""
    file = home / "mates" / "zuzu.md"
    look(home)
    file.write_text(file.read_text("utf-8") + "\nYou never hurry.\n", "utf-8")
    look(home)
    return file


def test_changes_are_compared_and_taken_back(run: Run, zuzu: Path) -> None:
    """diff shows what the newest change did; undo takes it back, undo again does it again."""
    code, out, _ = run("diff", "zuzu")
    assert code == 0
    assert "--- zuzu 1" in out
    assert "+You never hurry." in out
    assert json.loads(run("diff", "zuzu", "2", "1", "--json")[1])["after"] in out + zuzu.read_text()
    assert run("undo", "zuzu") == (
        0,
        "Change 2 (the file was changed) is taken back; it stays on record.\n",
        "",
    )
    assert "never hurry" not in zuzu.read_text()
    newest = run("history", "zuzu")[1].splitlines()[0].split("\t")
    assert (newest[0], newest[3], newest[4]) == ("3", "at the machine", "a change was undone")
    assert run("diff", "zuzu", "3", "1")[1] == "Nothing is different.\n"
    run("undo", "zuzu")
    assert "never hurry" in zuzu.read_text()
    for none in ("0", "9"):
        refused = f"loopforge: @zuzu has no change {none}; there are 1 to 4.\n"
        assert run("diff", "zuzu", none) == (2, "", refused)


def test_a_mate_is_forked_and_merged(run: Run, zuzu: Path) -> None:
    """A fork runs at once; merging shows what is in conflict, and takes what is decided."""
    assert run("fork", "zuzu", "Zuzu Two", "--handle", "zz")[1] == (
        "Zuzu Two (@zz) is made, as a fork of @zuzu. It runs at once.\n"
    )
    fork = zuzu.with_name("zz.md")
    assert "zz\tZuzu Two" in run("list")[1]
    assert run("merge", "zuzu", "zz")[2] == (
        "loopforge: @zz has nothing that @zuzu has not; nothing was merged.\n"
    )
    fork.write_text(fork.read_text().replace("You never hurry.", "You hardly hurry."))
    zuzu.write_text(zuzu.read_text().replace("You never hurry.", "You always hurry."))
    plan = json.loads(run("merge", "zuzu", "zz", "--json")[1])
    (conflict,) = plan["conflicts"]
    assert (plan["common_origin"], conflict["about"]) == (True, "character")
    code, _, err = run("merge", "zuzu", "zz")
    assert code == 2
    assert "You hardly hurry." in err
    assert "nothing was merged" in err
    assert run("merge", "zuzu", "zz", "--take", "maybe")[0] == 2
    assert run("merge", "zuzu", "zz", "--take", "role=a")[0] == 2
    assert "You always hurry." in zuzu.read_text()
    code, out, err = run("merge", "zuzu", "zz", "--take", "character=b")
    assert (code, err) == (0, "")
    assert "decided: character" in out
    assert "You hardly hurry." in zuzu.read_text()
    assert "You are Zuzu Two" not in zuzu.read_text()
    run("undo", "zuzu")
    assert "You always hurry." in zuzu.read_text()


def test_what_a_mate_asks_is_decided(run: Run, home: Path, zuzu: Path) -> None:
    """Proposals are listed with why; a yes is written into the file, a no is not."""
    first = asyncio.run(ask(home, "zuzu", "calm", "very high", "They were tired."))
    second = asyncio.run(ask(home, "zuzu", "zeal", "low", "They were tired."))
    assert [row["id"] for row in json.loads(run("traits", "--json")[1])] == [first, second]
    assert "calm: (none) -> very high\tThey were tired." in run("traits", "zuzu")[1]
    assert run("traits", "--yes", first[-6:])[1] == "zuzu: calm is very high from now on.\n"
    assert run("traits", "--no", second)[1] == "zuzu: zeal stays as it is.\n"
    assert "calm: very high" in zuzu.read_text()
    assert "zeal" not in zuzu.read_text()
    assert run("traits")[1] == "Nobody asks to be changed.\n"
    story = run("story", "zuzu")[1]
    assert "It asked to have its calm very high" in story
    assert "Somebody at the machine said yes to that." in story
    rows = json.loads(run("story", "zuzu", "--json")[1])
    assert all(row["events"] for row in rows)


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    "arguments",
    [
        ("history", "nobody"),
        ("diff", "nobody"),
        ("diff", "zuzu", "9"),
        ("undo", "nobody"),
        ("undo", "zuzu", "9"),
        ("undo", "zuzu", "1"),
        ("fork", "nobody", "Else"),
        ("fork", "zuzu", "Else", "--at", "0"),
        ("fork", "zuzu", "Maya"),
        ("fork", "zuzu", "a:b"),
        ("fork", "zuzu", "Else", "--at", "9"),
        ("merge", "zuzu", "zuzu"),
        ("merge", "zuzu", "nobody"),
        ("merge", "nobody", "zuzu"),
        ("traits", "nobody"),
        ("traits", "--yes", "nothing"),
        ("traits", "--yes", "a", "--no", "a"),
        ("story", "nobody"),
    ],
)
@pytest.mark.usefixtures("zuzu")
def test_what_cannot_be_done_is_one_line(run: Run, arguments: tuple[str, ...]) -> None:
    """An unknown mate, number, proposal or name that will not do: one line, and exit code 2."""
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("loopforge: ")
