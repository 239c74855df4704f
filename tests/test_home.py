"""The home: what is made, what is never overwritten, and who holds it."""

import fcntl
import os
import re
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import pytest

from loopforge.errors import HostTaken, LoopforgeError
from loopforge.home import example, make_home, shipped_mates
from loopforge.host_lock import home_holder_pid, lock_home
from loopforge.ledger_opening import open_ledger_of
from loopforge.models.model_tiers import shipped_ladder
from loopforge.settings import load_settings, settings_rows


def test_a_home_is_made_in_an_empty_folder(tmp_path: Path) -> None:
    """Settings, folders and the shipped mates are there, and the settings are the defaults."""
    home = tmp_path / "deep" / "home"
    made = make_home(home)
    assert made[0] == home
    assert {path.name for path in home.iterdir()} == {
        "loopforge.toml", "mates", "prompts", "scenarios", "data",
    }  # fmt: skip
    assert {path.name for path in (home / "mates").iterdir()} == set(shipped_mates())
    assert set(load_settings(home, environ={}).sources.values()) == {"default"}


def test_making_a_home_again_changes_nothing(tmp_path: Path) -> None:
    """What a person wrote stays, and what a person deleted stays away."""
    make_home(tmp_path)
    (tmp_path / "loopforge.toml").write_text("max_steps = 2\n")
    gone = next((tmp_path / "mates").iterdir())
    gone.unlink()
    assert make_home(tmp_path) == []
    assert (tmp_path / "loopforge.toml").read_text() == "max_steps = 2\n"
    assert not gone.exists()


async def test_what_is_private_is_so_at_every_start(tmp_path: Path) -> None:
    """A folder that a volume or a backup made readable for all is closed off, files with it."""
    home = tmp_path / "home"
    for name in ("data/logs", "mates"):
        (home / name).mkdir(0o755, parents=True)
    private = [home / name for name in ("data", "mates", "loopforge.toml", "data/loopforge.db")]
    settings = load_settings(home, environ={})
    umask = os.umask(0o022)
    try:
        for _ in range(2):
            make_home(home)
            async with open_ledger_of(settings):
                assert [path.stat().st_mode & 0o077 for path in private] == [0] * 4
                for path in (home / "data").glob("*.db*"):
                    assert path.stat().st_mode & 0o077 == 0, path
            for path in private:
                path.chmod(0o755)
    finally:
        os.umask(umask)


def test_what_cannot_be_closed_off_keeps_no_home_from_starting(tmp_path: Path) -> None:
    """A link in its logs that leads nowhere is passed over."""
    make_home(tmp_path)
    (tmp_path / "data" / "logs").mkdir(exist_ok=True)
    (tmp_path / "data" / "logs" / "old.log").symlink_to(tmp_path / "gone")
    assert make_home(tmp_path) == []


def test_a_home_that_cannot_be_made_is_a_plain_error(tmp_path: Path) -> None:
    """A file in the way is named in a sentence."""
    (tmp_path / "file").touch()
    with pytest.raises(LoopforgeError, match="cannot be made"):
        make_home(tmp_path / "file" / "home")


def test_the_example_file_states_every_default(tmp_path: Path) -> None:
    """With every # taken away, the file says exactly what holds without it."""
    live = re.sub(r"^#(?=[^ \n])", "", example(), flags=re.MULTILINE)
    written = tomllib.loads(live)
    assert written.pop("tiers") == shipped_ladder()["tiers"]
    assert written.pop("models") == shipped_ladder()["models"]
    assert written == {row.name: row.default for row in settings_rows()}
    (tmp_path / "loopforge.toml").write_text(live)
    plain = load_settings(tmp_path / "elsewhere", environ={})
    loaded = load_settings(tmp_path, environ={})
    assert [getattr(loaded, r.name) for r in settings_rows() if not r.told] == [
        getattr(plain, r.name) for r in settings_rows() if not r.told
    ]


def test_one_process_holds_a_home(tmp_path: Path) -> None:
    """A second holder is refused and told who the first is; afterwards the home is free."""
    make_home(tmp_path)
    assert home_holder_pid(tmp_path) is None
    code = (
        "import sys; from pathlib import Path; from loopforge.host_lock import lock_home\n"
        f"with lock_home(Path({str(tmp_path)!r})):\n    print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert home_holder_pid(tmp_path) == other.pid
        with (
            pytest.raises(HostTaken, match=f"Process {other.pid} runs the home"),
            lock_home(tmp_path),
        ):
            pass
        other.kill()
    with lock_home(tmp_path):
        pass
    assert home_holder_pid(tmp_path) is None


def test_who_only_asks_holds_no_home(tmp_path: Path) -> None:
    """A home that somebody has for a moment is had after it; two who ask at once find nobody."""
    make_home(tmp_path)
    with lock_home(tmp_path):
        pass
    with (tmp_path / "data" / "host.lock").open() as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        assert home_holder_pid(tmp_path) is None
        with pytest.raises(HostTaken), lock_home(tmp_path, wait=False):
            pass
        letting_go = threading.Timer(0.05, fcntl.flock, (other, fcntl.LOCK_UN))
        letting_go.start()
        with lock_home(tmp_path):
            pass
        letting_go.join()


def test_a_home_that_may_only_be_read_can_still_be_looked_at(tmp_path: Path) -> None:
    """That nobody runs it is found out; to run it is refused in a sentence that says what to do."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "host.lock").symlink_to(sys.executable)  # busy: nobody may write to it
    assert home_holder_pid(tmp_path) is None
    with pytest.raises(LoopforgeError, match=r"cannot be written.*Make its disk writable"):
        lock_home(tmp_path).__enter__()
