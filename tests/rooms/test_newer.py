"""A home that a newer program wrote is refused in a sentence that says what to do, and left as it is."""

import json
import sqlite3
import subprocess
from pathlib import Path

import psycopg
import pytest

from loopforge.cli import main
from loopforge.core.events import chain_hash
from loopforge.errors import LedgerBroken
from tests.child_process import run_python
from tests.rooms.conftest import living
from tests.rooms.test_before import TODAY, brought, put, unpacked

NEWER = "newer Loopforge"


def held(home: Path) -> dict[str, bytes]:
    """Every file of the home, byte for byte."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


def refused(home: Path, *words: str) -> str:
    """What a command says that refuses a home, in a process of its own; not a byte is another."""
    before = held(home)
    done = run_python(
        "-m", "loopforge", "--home", str(home), *words, stdin=subprocess.DEVNULL, timeout=120
    )
    assert done.returncode in (1, 2), done.stdout
    assert done.stderr.startswith("loopforge: ")
    assert done.stderr.count("\n") == 1
    assert held(home) == before
    return done.stderr


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home of today's that has run: it has a log."""
    home = unpacked(TODAY, tmp_path / "home")
    (home / "data" / "logs").mkdir()
    (home / "data" / "logs" / "loopforge.log").touch()
    return home


@pytest.mark.sample(1)
@pytest.mark.parametrize("words", ["up --headless", "up --plain", "ledger migrate"])
def test_a_newer_schema(words: str, home: Path) -> None:
    """Neither starting nor migrating touches a ledger whose schema this program does not know."""
    with sqlite3.connect(home / "data" / "loopforge.db") as ledger:
        ledger.execute("UPDATE alembic_version SET version_num = '0999'")
    ledger.close()
    said = refused(home, *words.split())
    assert NEWER in said
    assert "Install the newer Loopforge; nothing was changed." in said


@pytest.mark.postgres
def test_a_newer_schema_on_postgresql(home: Path, postgres_url: str) -> None:
    """The same on PostgreSQL: the database and the folder stay as they are."""
    put(home, postgres_url)
    with psycopg.connect(postgres_url) as ledger:
        ledger.execute("UPDATE alembic_version SET version_num = '0999'")
    said = refused(home, "up", "--headless")
    assert "Install the newer Loopforge; nothing was changed." in said


def test_newer_settings(home: Path) -> None:
    """A setting that only a newer program knows is named, with its line."""
    with (home / "loopforge.toml").open("a") as file:
        file.write("zzz = true\n")
    said = refused(home, "up", "--headless")
    assert "loopforge.toml, line 3: there is no setting `zzz`" in said
    assert NEWER in said


def test_a_newer_backup(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A backup of a later form is refused before a new home begins."""
    (manifest,) = home.glob("backups/*/backup.json")
    told = json.loads(manifest.read_bytes())
    for newer in ({"schema": "0999"}, {"format": 99}, {"format": 99, "parts": "of another form"}):
        manifest.write_text(json.dumps({**told, **newer}))
        new = tmp_path / "new"
        assert main(["--home", str(new), "restore", str(home / "backups")]) == 1
        assert "was made by a newer Loopforge" in capsys.readouterr().err
        assert not new.exists()


async def test_a_newer_event(home: Path) -> None:
    """A room with an event of a kind that this program does not know is not entered; nothing is lost."""
    room = "room:commons"
    brought(home)
    with sqlite3.connect(home / "data" / "loopforge.db") as ledger:
        query = "SELECT seq, hash, at FROM events WHERE stream = ? ORDER BY seq DESC"
        seq, hash, at = ledger.execute(query, (room,)).fetchone()
        said = {"stream": room, "seq": seq + 1, "id": f"{seq + 1:032x}", "at": at, "actor": "maya"}
        body = '{"type":"room.dreamt","of":"rain"}'
        new = chain_hash(hash, **said, cause="", body=body.encode())
        row = (*said.values(), "room.dreamt", "", body, new)
        columns = "stream, seq, id, at, actor, kind, cause, body, hash"
        ledger.execute(f"INSERT INTO events ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        ledger.execute(
            "UPDATE streams SET seq = ?, hash = ? WHERE stream = ?", (seq + 1, new, room)
        )
    ledger.close()
    async with living(home) as there:
        with pytest.raises(LedgerBroken, match=NEWER):
            await there.enter("ana")
        await there.app.front.rooms.enter("attic", "ana", "terminal", ())
    with sqlite3.connect(home / "data" / "loopforge.db") as ledger:
        assert ledger.execute(query, (room,)).fetchone()[:2] == (seq + 1, new)
    ledger.close()
