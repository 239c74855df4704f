"""A Python of this environment as a process of its own, and what it said."""

import subprocess
import sys
from pathlib import Path
from typing import Any


def run_python(
    *words: str | Path, check: bool = False, **more: Any
) -> subprocess.CompletedProcess[str]:
    """How it ended that was started with these words; the rest is what `subprocess.run` takes."""
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=check, **more
    )
