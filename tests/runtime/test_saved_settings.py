"""What is saved in a home while several processes save: nothing of it is lost."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.home_events import SettingChanged
from loopforge.errors import LedgerBusy
from loopforge.runtime.installation.settings_file import read_saved
from tests.rooms.conftest import living

SAVING = """
import sys
from pathlib import Path
from loopforge.runtime.installation.settings_file import save_setting
for n in range(100):
    save_setting(Path(sys.argv[1]), f"{sys.argv[2]}{n}", n)
"""


def test_of_two_who_save_at_once_both_are_kept(tmp_path: Path) -> None:
    """Each reads what is there and writes it anew, and none takes away what another one wrote."""
    path = tmp_path / "data" / "settings.json"
    saving = [subprocess.Popen([sys.executable, "-c", SAVING, path, who]) for who in "abc"]
    assert [each.wait() for each in saving] == [0, 0, 0]
    assert len(read_saved(path)) == 300


async def test_what_could_not_be_told_takes_effect_when_it_is_saved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the database is locked nothing is changed; the second time everything is."""
    async with living(tmp_path) as home:
        live, append, refused = home.app.live, home.app.ledger.append, list[str]()

        async def busy(stream: str, facts: Any, **more: Any) -> Any:
            if not refused:
                refused.append(stream)
                raise LedgerBusy("The database stayed locked; nothing was written.")
            return await append(stream, facts, **more)

        monkeypatch.setattr(home.app.ledger, "append", busy)
        with pytest.raises(LedgerBusy):
            await live.change("answers_per_place_a_day", "77", "person:owner")
        assert read_saved(tmp_path / "data" / "settings.json") == {}
        await live.change("answers_per_place_a_day", "77", "person:owner")
        assert live.now.answers_per_place_a_day == 77
        (event,) = await live.changes()
        assert isinstance(event.body, SettingChanged)
        assert str(event.body.after) == '"77"'
