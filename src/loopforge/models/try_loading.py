"""Whether a model's file can be loaded, tried in a process of its own.

llama.cpp ends the process that it cannot go on in. Run as a program it loads one file and ends;
exit code 0 where that went well.
"""

import asyncio
import subprocess
import sys
from pathlib import Path

from loopforge.errors import InputError, ModelError
from loopforge.models.files.gguf_file import check_gguf
from loopforge.runtime.system_clock import SystemDice

LONGEST = 300.0
"""Seconds that loading a file may take."""


def check_loads(path: Path) -> None:
    """Load it once, in a process of its own. Raises InputError where that fails."""
    check_gguf(path)
    command = [sys.executable, "-m", "loopforge.models.try_loading", str(path)]
    try:
        tried = subprocess.run(command, capture_output=True, timeout=LONGEST, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{path} was not loaded within {LONGEST:.0f} seconds.") from error
    if tried.returncode:
        said = tried.stdout.decode(errors="replace").strip()
        why = said.splitlines()[-1] if said else "llama.cpp gave up on it"
        raise InputError(
            f"{path} could not be loaded: {why} The file may be damaged, need more memory than "
            "there is, or be of a kind that this llama.cpp does not know."
        )


async def load(path: Path) -> str:
    """What was wrong with it; "" where nothing was."""
    from loopforge.models.embedded.embedded_model import EmbeddedModel

    embedded = EmbeddedModel(SystemDice(), window=512, path=path)
    try:
        await embedded.address()
    except ModelError as error:
        return str(error)
    finally:
        await embedded.close()
    return ""


if __name__ == "__main__":
    trouble = asyncio.run(load(Path(sys.argv[1])))
    sys.stdout.write(trouble)
    sys.exit(bool(trouble))
