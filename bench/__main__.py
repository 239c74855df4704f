"""`make bench`: every benchmark of this folder, or those named (`make bench ONLY="ledger turns"`).

A benchmark is a module here with `figures()`, which yields Figures as it comes to them. All of them
are printed as one table. Nothing asserts anything; it ends with 0 when everything could be
measured, with 2 for a name that does not exist. `make bench SMALL=1` runs everything through with
small numbers, on a slow machine or to see that it runs.
"""

import importlib
import os
import sys
import time

from bench import figures

ORDER = ("start", "ledger", "lab", "turns", "web", "people", "cache", "million", "pgvector")
"""The quick ones first."""
AS_SMALL = ", small numbers: the figures mean little" if figures.SMALL else ""


def main(wanted: list[str]) -> int:
    """Run them one after another."""
    wanted = [name for name in wanted if name != "--small"]
    if strange := [name for name in wanted if name not in ORDER]:
        print(f"There is no benchmark {strange[0]!r}; there are {', '.join(ORDER)}.")
        return 2
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores{AS_SMALL}\n\n{figures.head()}")
    began = time.perf_counter()
    for name in wanted or ORDER:
        module = importlib.import_module(f"bench.{name}")
        print(f"\n{name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
        for figure in module.figures():
            print(figures.row(figure), flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s in all. How to read this: bench/README.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
