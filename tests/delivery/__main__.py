"""`make bench-delivery`: the long drill of every platform, and the table.

Two thousand lines through each platform, side by side, with twenty kills and a hundred and twenty
troubles. Ends with 1 if anything was lost, doubled, out of order or in the wrong place, or if a
loss and a double that are planted are not noticed. Folders of homes stay where something was wrong.
"""

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from tests.delivery.discord import discord
from tests.delivery.drill import Driver, Outcome, Plan
from tests.delivery.tally import planted, table
from tests.delivery.telegram import telegram

LONG = Plan(lines=2000, places=36, kills=20, troubles=120)
DRIVERS: dict[str, Driver] = {"discord": discord, "telegram": telegram}


async def run(folder: Path) -> dict[str, Outcome]:
    """Every platform's drill, at the same time."""
    for name in DRIVERS:
        (folder / name).mkdir()
    found = await asyncio.gather(*(each(folder / name, LONG) for name, each in DRIVERS.items()))
    return dict(zip(DRIVERS, found, strict=True))


def main() -> int:
    """Run, print, and say by a number whether all is well."""
    folder = Path(tempfile.mkdtemp(prefix="loopforge-delivery-"))
    found = asyncio.run(run(folder))
    wrong = [f"{name}: {each}" for name, one in found.items() for each in one.score.troubles]
    caught = all(planted(one.said, one.stands) for one in found.values())
    verdict = "both caught" if caught else "NOT CAUGHT"
    words = [
        table({name: one.score for name, one in found.items()}),
        f"planted: one loss, one double: {verdict}",
        *wrong,
    ]
    sys.stdout.write("\n".join(words) + "\n")
    if wrong or not caught:
        sys.stdout.write(f"the homes stand in {folder}\n")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
