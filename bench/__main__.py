"""`make bench`: run every benchmark of this folder, or those named: `python -m bench start`.

A benchmark is a module here with a function `main()` that prints what it found.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path


def main(wanted: list[str]) -> int:
    """Run them one after another; a name that does not exist ends it with 2."""
    here = Path(__file__).parent
    known = sorted(path.stem for path in here.glob("*.py") if not path.stem.startswith("_"))
    if strange := [name for name in wanted if name not in known]:
        print(f"There is no benchmark {strange[0]}; there are {', '.join(known)}.")
        return 2
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    for name in wanted or known:
        module = importlib.import_module(f"bench.{name}")
        print(f"\n== {name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
        module.main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
