"""loopforge mate, as a person types it."""

import asyncio
import json
from pathlib import Path

import pytest

from loopforge.ledger.sql_ledger import open_ledger
from loopforge.mates.mate_roster import MateRoster
from loopforge.mates.version_history import VersionHistory
from loopforge.people.identity.person_registry import PersonRegistry
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice
from tests.cli.conftest import Run

NOUN = "mate"


def test_new_list_show_check(run: Run) -> None:
    """A mate is made, stands in the list, is shown, and is well; for programs as JSON."""
    assert "otto.md is made" in run("new", "Otto", "--role", "baker", "--tier", "2")[1]
    _, out, _ = run("list")
    assert "otto\tOtto\tbaker\ttier 2\truns\totto.md\t" in out
    assert "\x1b" not in out
    assert "You are Otto, baker." in run("show", "otto")[1]
    assert run("check") == (0, "All is well.\n", "")
    rows = json.loads(run("list", "--json")[1])
    assert [row["handle"] for row in rows] == ["maya", "merlin", "otto", "zuzu"]
    assert json.loads(run("show", "zuzu", "--json")[1])["face"] == "🦝"


def test_a_tier_that_there_is_not_is_answered_with_those_there_are(run: Run) -> None:
    """No mate is made, and each of the four is named."""
    for tier in ("two", "9", "0", ""):
        code, _, said = run("new", "Otto", "--tier", tier)
        assert code == 2
        assert "is not one of '1', '2', '3', '4'" in said
    assert "otto" not in run("list")[1]


def test_check_finds_everything_and_exits_1(run: Run, home: Path) -> None:
    """Every problem is a line with file and line; --json gives the same to programs."""
    (home / "mates" / "bob.md").write_text("---\nname: Bob\ntier: 9\npolicy: x\n---\nhm\n")
    code, out, _ = run("check", "bob")
    assert code == 1
    assert len(out.splitlines()) == 2
    assert "bob.md, line 3: `tier`" in out
    code, out, _ = run("check", "--json")
    assert code == 1
    assert [(bad["file"], bad["line"]) for bad in json.loads(out)] == [("bob.md", 3), ("bob.md", 4)]


@pytest.mark.parametrize(
    "arguments",
    [("show", "nobody"), ("check", "nobody"), ("new", "maya"), ("new", ""), ("new", "a:b")],
)
def test_what_cannot_be_done_is_one_line(run: Run, arguments: tuple[str, ...]) -> None:
    """An unknown mate, a name that is taken or will not do: one line on standard error, exit 2."""
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("loopforge: ")


async def write(home: Path, text: str) -> None:
    """Let somebody write Zuzu's file in the browser."""
    clock, dice = SystemClock(), SystemDice()
    ledger = await open_ledger(f"sqlite:///{home}/data/loopforge.db", clock, dice)
    stamp = Stamp(clock, dice)
    person = await PersonRegistry(ledger, stamp).meet("terminal", "Robin")
    chronicle = VersionHistory(ledger, MateRoster(home / "mates"), stamp)
    await chronicle.look()
    await chronicle.write("zuzu", text, person.id)
    await ledger.close()


def test_history_and_old_versions(run: Run, home: Path) -> None:
    """Versions are listed newest first with who wrote them, and each can be shown whole."""
    file = home / "mates" / "zuzu.md"
    before = file.read_text("utf-8")
    asyncio.run(write(home, before + "And more.\n"))
    newest, oldest = (line.split("\t") for line in run("history", "zuzu")[1].splitlines())
    assert (newest[0], newest[3], oldest[0], oldest[3]) == ("2", "Robin", "1", "on disk")
    assert run("show", "zuzu", "--version", oldest[2][:8]) == (0, before, "")
    file.unlink()
    rows = json.loads(run("history", "zuzu", "--json")[1])
    assert [row["hash"] for row in rows] == [newest[2], oldest[2]]
    assert "another one now" in run("history", "zuzu")[1]
    assert run("history", "nobody")[0] == 2
    assert run("show", "zuzu", "--version", "0000")[0] == 2


def test_a_mate_travels_as_a_card(run: Run, home: Path, tmp_path: Path) -> None:
    """Written as a card, it is brought in under another handle; a second of its handle is not."""
    card = str(tmp_path / "otto.png")
    assert run("new", "Otto", "--role", "baker")[0] == 0
    assert run("export", "otto", "--card", "png", "-o", card)[0] == 0
    code, _, err = run("add", card)
    assert code == 2
    assert "--handle otto-two" in err
    code, out, _ = run("add", card, "--handle", "otto-two")
    assert code == 0
    assert "otto-two.md is here" in out
    assert MateRoster(home / "mates").get("otto-two").role == "baker"
    assert "cannot be read" in run("add", str(tmp_path / "none.png"))[2]
