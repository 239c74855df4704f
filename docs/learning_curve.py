"""The curve of docs/learning.md, run anew: `.venv/bin/python docs/learning_curve.py`, a minute.

Forty plants, four attempts at each, in three homes: nothing is given, what the plant's own attempts
taught, what those of others taught. Which plants ran is kept in `learning_curve.json`; `make docs`
draws the picture and the table from it.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from loopforge.tools.sandbox.workspace_files import WorkspaceFiles  # noqa: E402
from tests.work.test_learning_shown import ROLE, Plants, round_of  # noqa: E402

FIGURES = ROOT / "docs" / "learning_curve.json"
PLANTS, ATTEMPTS = 40, 4
ARMS = {"off": "off", "on": "unused", "shuffled": "unused"}
"""How each arm's first attempts are set: looked back on where that is used later, given nothing."""


def home() -> Path:
    """A folder for a home that programs can come to which do not run as root."""
    place = Path(tempfile.mkdtemp(prefix="curve-"))
    place.chmod(0o755)
    (place / "roles").mkdir()
    (place / "roles" / "python-coder.md").write_text(ROLE)
    return place


async def ran(arm: str) -> list[str]:
    """For each attempt which plants ran, in order: 1 or 0."""
    place, plants = home(), Plants()
    try:
        for nth in range(1, ATTEMPTS + 1):
            await round_of(place, plants, str(nth), ARMS[arm] if nth == 1 else arm, PLANTS)
    finally:
        WorkspaceFiles(place).remove()
    return ["".join(str(int(one[plant])) for plant in range(PLANTS)) for one in plants.ran.values()]


async def main() -> None:
    """Run all three, and keep what came of it."""
    found = {arm: await ran(arm) for arm in ARMS}
    FIGURES.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(FIGURES.read_text("utf-8"))


if __name__ == "__main__":
    asyncio.run(main())
