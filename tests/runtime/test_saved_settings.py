"""What is saved in a home while several processes save: nothing of it is lost."""

import subprocess
import sys
from pathlib import Path

from loopforge.runtime.installation.settings_file import read_saved

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
