"""Compile Loopforge and its tests beforehand, on all cores: else each of pytest's workers does.

What pytest makes of a test (asserts that explain themselves) is kept where pytest looks for it.
"""

import compileall
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from _pytest.assertion import rewrite

TESTS = ("test_*.py", "conftest.py")


def rewritten(test: Path) -> None:
    """Compile one test, unless that was done since it was changed."""
    kept = rewrite.get_cache_dir(test) / f"{test.stem}{rewrite.PYC_TAIL}"
    if rewrite._read_pyc(test, kept) is None:
        kept.parent.mkdir(exist_ok=True)
        stat, code = rewrite._rewrite_test(test, None)  # type: ignore[arg-type]
        rewrite._write_pyc(None, code, stat, kept)  # type: ignore[arg-type]


def main() -> None:
    """Everything, from the repository's root."""
    compileall.compile_dir("src", quiet=1, workers=os.cpu_count() or 1)
    tests = [path.resolve() for name in TESTS for path in Path("tests").rglob(name)]
    with ProcessPoolExecutor() as processes:
        list(processes.map(rewritten, sorted(tests), chunksize=20))


if __name__ == "__main__":
    main()
