"""Run as a process: load one model's file and end; exit code 0 where that went well."""

import asyncio
import sys
from pathlib import Path

from loopforge.errors import ModelError
from loopforge.models.embedded.embedded_model import EmbeddedModel
from loopforge.runtime.system_clock import SystemDice


async def load(path: Path) -> str:
    """What was wrong with it; "" where nothing was."""
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
