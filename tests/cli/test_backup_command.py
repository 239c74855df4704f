"""loopforge backup and loopforge restore, as somebody types them; what the doctor says of backups."""

import asyncio
import io
import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from loopforge.backup.make_backup import LAST
from loopforge.cli import main
from loopforge.home import make_home
from loopforge.settings import load_settings
from tests.backup.test_backup import flip, talk
from tests.rooms.conftest import living

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `loopforge` for a home where somebody said a line: exit code, output, errors."""
    path = tmp_path / "home"
    make_home(path)

    async def talk() -> None:
        async with living(path) as home:
            await home.hears("ana", "@maya hello")

    asyncio.run(talk())

    def typed(*arguments: str, home: Path = path) -> tuple[int, str, str]:
        code = main(["--home", str(home), *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return typed


def test_there_and_back(run: Run, tmp_path: Path) -> None:
    """Made, listed, checked, restored; a folder that is not empty is left as it is."""
    kept, new = str(tmp_path / "kept"), tmp_path / "new"
    code, out, _ = run("backup", kept)
    assert (code, out.partition(":")[0]) == (0, "Made and checked")
    code, listed, _ = run("backup", kept, "--list", home=new)
    assert out.endswith(listed)
    code, out, _ = run("backup", kept, "--check", "newest", home=new)
    assert (code, out.partition(":")[0]) == (0, "All of it is as it was written")

    code, out, _ = run("restore", kept, home=new)
    assert (code, "is what it was in" in out) == (0, True)
    code, out, _ = run("ledger", "verify", home=new)
    assert (code, "All of it is as it was written." in out) == (0, True)
    code, _, err = run("restore", kept, home=new)
    assert (code, "is not empty" in err) == (2, True)


@pytest.mark.parametrize("noted", [True, False], ids=["noted", "read-only"])
def test_what_a_check_finds_damaged_the_next_backup_brings_anew(
    run: Run, tmp_path: Path, noted: bool
) -> None:
    """A picture that rotted where backups lie, its size the same; who may only look is told more."""
    kept = tmp_path / "kept"

    async def give() -> str:
        async with living(tmp_path / "home", seed=9) as home:
            return await talk(home)

    hash = asyncio.run(give())
    run("backup", str(kept))
    flip(kept / "files" / hash[:2] / hash)
    if not noted:
        (kept / "damaged").write_text("no folder can be made here")
    code, out, err = run("backup", str(kept), "--check", "newest", home=tmp_path / "new")
    assert (code, out) == (1, f"damaged or gone: {kept}/files/{hash[:2]}/{hash}\n")
    assert ("brings anew what the home has" if noted else "Delete what is damaged there") in err
    if not noted:
        return
    run("backup", str(kept))
    code, out, _ = run("backup", str(kept), "--check", "newest", home=tmp_path / "new")
    assert (code, out.partition(":")[0]) == (0, "All of it is as it was written")
    assert [*(kept / "damaged").iterdir()] == [], "it is written anew once"


@pytest.mark.sqlite
@pytest.mark.parametrize("how", ["example", "written", "variable"])
def test_a_home_that_is_restored_to_another_database_starts_there(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Its settings named the old home's, which two homes would have written; a variable is told of."""
    kept, new = str(tmp_path / "kept"), tmp_path / "new"
    old = f"sqlite:///{tmp_path / 'home' / 'data' / 'loopforge.db'}"
    ledger = f"sqlite:///{tmp_path / 'another.db'}"
    if how == "variable":
        monkeypatch.setenv("LOOPFORGE_DATABASE_URL", old)
    else:
        file = tmp_path / "home" / "loopforge.toml"
        written = f'  database_url="{old}" # ours\n' if how == "written" else ""
        file.write_text(f"{written}{file.read_text()}")
    run("backup", kept)
    code, out, _ = run("restore", kept, "--ledger", ledger, home=new)
    told = "Set `database_url`" in out and "LOOPFORGE_DATABASE_URL names another" in out
    assert (code, told) == (0, how == "variable")
    assert load_settings(new, environ={}).database_url == ledger
    line = f'database_url = "{ledger}"'
    assert (new / "loopforge.toml").read_text().splitlines().count(line) == 1


def test_what_a_backup_says_of_itself_stands_in_one_row(run: Run, tmp_path: Path) -> None:
    """A stranger's could write a row of its own, or steer the screen."""
    place = tmp_path / "kept" / "20260101T000000Z"
    place.mkdir(parents=True)
    told = {"format": 1, "program": "0\n\x1b[2JAll is well", "schema": "0001", "home": "x"}
    told |= {"at": "2026-01-01T00:00:00Z", "parts": {}, "heads": {}, "files": []}
    (place / "backup.json").write_text(json.dumps(told))
    _, out, _ = run("backup", str(tmp_path / "kept"), "--list")
    assert out == f"{place.name}  0 events, 0 files, by Loopforge 0\\n\\x1b[2JAll is well\n"


def test_nowhere(run: Run, tmp_path: Path) -> None:
    """No place named, none there, no such backup: each says what to do, and makes nothing."""
    code, _, err = run("backup")
    assert (code, "`backup_to`" in err) == (2, True)
    away = tmp_path / "away"
    for command in (["backup", str(away), "--list"], ["restore", str(away)]):
        code, _, err = run(*command, home=tmp_path / "new")
        assert (code, err) == (
            1,
            f"loopforge: There is no folder {away}, where backups could lie.\n",
        )
    (tmp_path / "file").write_text("no folder")
    for place in (str(tmp_path / "file/kept"), "elsewhere://kept"):
        code, _, err = run("backup", place)
        assert (code, err.count("\n"), "cannot be reached" in err) == (1, 1, True)
    run("backup", str(away))
    code, _, err = run("restore", str(away), "--name", "yesterday", home=tmp_path / "new")
    assert (code, "There is no backup 'yesterday'" in err) == (2, True)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("word", ["list", "LS", "verify", "prune"])
def test_a_word_that_is_no_folder_makes_no_backup(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """Who types a subcommand that is not there is told what there is; ./list is a folder yet."""
    monkeypatch.chdir(tmp_path)
    code, out, err = run("backup", word)
    assert (code, out) == (2, "")
    for told in ("--list", "--check", "loopforge restore", f"./{word}"):
        assert told in err
    assert not (tmp_path / word).exists()
    code, out, _ = run("backup", f"./{word}")
    assert (code, out.partition(":")[0]) == (0, "Made and checked")


@pytest.mark.sqlite
def test_a_ledger_that_is_taken_leaves_no_half_home(run: Run, tmp_path: Path) -> None:
    """Where the ledger cannot go, the folder is not left as if it were a home."""
    kept = str(tmp_path / "kept")
    run("backup", kept)
    taken = f"sqlite:///{tmp_path / 'home' / 'data' / 'loopforge.db'}"
    code, _, err = run("restore", kept, "--ledger", taken, home=tmp_path / "new")
    assert (code, "There is a ledger already" in err) == (2, True)
    assert not (tmp_path / "new").exists()


def test_the_doctor_tells_of_backups(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None yet, a fresh one, an old one; an old one is wrong where the home should make them."""

    def said() -> str:
        _, out, _ = run("doctor", "--offline")
        return next(line for line in out.splitlines() if "backups:" in line)

    assert said().startswith("note ")
    run("backup", str(tmp_path / "kept"))
    assert said().startswith("ok ")
    last = tmp_path / "home/data" / LAST
    last.write_text(json.dumps(json.loads(last.read_text()) | {"at": "2020-01-01T00:00:00Z"}))
    assert said().startswith("note ")
    monkeypatch.setenv("LOOPFORGE_BACKUP_TO", str(tmp_path / "kept"))
    assert said().startswith("WRONG")


def test_keys_go_along_only_on_a_wish_and_sealed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it no backup holds them; with it the passphrase alone opens them, also for `age`."""
    kept, new, key = tmp_path / "kept", tmp_path / "new", "sk-planted-0123456789"

    def typed(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{text}\n"))

    typed(key)
    run("settings", "key", "OPENAI_API_KEY")
    run("backup", str(kept))
    typed("short")
    code, _, err = run("backup", str(kept), "--with-keys")
    assert (code, "12 characters" in err) == (2, True)
    code, _, err = run("restore", str(kept), "--with-keys", home=new)
    assert code == 2
    typed("a pass phrase")
    code, _, err = run("restore", str(kept), "--with-keys", home=new)
    assert (code, "There are no keys in this backup" in err, new.exists()) == (2, True, False)

    typed("a pass phrase")
    code, _, err = run("backup", str(kept), "--with-keys")
    assert (code, err) == (0, "")
    sealed = next(kept.glob("*/keys.age"))
    assert sealed.read_bytes().startswith(b"age-encryption.org/v1\n-> scrypt ")
    for part in kept.rglob("*"):
        assert not part.is_file() or key.encode() not in part.read_bytes()
    typed("another phrase")
    code, _, err = run("restore", str(kept), "--with-keys", home=new)
    assert (code, "cannot be opened by this passphrase" in err) == (1, True)
    typed("a pass phrase")
    code, _, err = run("restore", str(kept), "--with-keys", home=new)
    assert (code, err) == (0, "")
    assert load_settings(new, environ={}).keys == {"OPENAI_API_KEY": key}
    assert stat.S_IMODE((new / "data/keys.json").stat().st_mode) == 0o600
