"""A figure of a benchmark: what was measured, against what, and how both are printed.

Every figure is a ratio to a baseline that was measured in the same run on the same machine; the
absolute figures stand beside it. A target is shown with the figure; nothing depends on it.
"""

import math
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

WIDTHS = (41, 14, 9)
SMALL = "--small" in sys.argv
"""Whether everything is to be run through with small numbers, whose figures mean little."""


def sized(whole: int, small: int) -> int:
    """A number of the benchmark, as a whole or in small."""
    return small if SMALL else whole


@dataclass(frozen=True)
class Figure:
    """One measured value beside the baseline it is compared with.

    `target` is an upper bound where less is better ("ms", "s", "MB"), else a lower one.
    """

    what: str
    value: float
    unit: str
    baseline: str
    base: float
    target: float | None = None

    @property
    def ratio(self) -> float:
        """How many times the baseline it is."""
        return self.value / self.base if self.base else math.inf

    @property
    def held(self) -> bool:
        """Whether the target, if there is one, is reached."""
        if self.target is None:
            return True
        less = self.unit in ("ms", "s", "MB")
        return self.value <= self.target if less else self.value >= self.target


def written(value: float, unit: str) -> str:
    """A value with its unit, in three figures or so."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}"


def head() -> str:
    """The head of the table."""
    what, value, ratio = WIDTHS
    return f"{'what':<{what}}{'figure':>{value}}{'ratio':>{ratio}}   against"


def row(figure: Figure) -> str:
    """One row of the table."""
    what, value, ratio = WIDTHS
    shown = written(figure.value, figure.unit)
    against = f"{figure.baseline}: {written(figure.base, figure.unit)}"
    line = f"{figure.what:<{what}}{shown:>{value}}{figure.ratio:>{ratio - 2}.2f} x   {against}"
    if figure.target is None:
        return line
    verdict = "held" if figure.held else "MISSED"
    return f"{line}; target {written(figure.target, figure.unit)}, {verdict}"


def share(values: Sequence[float], percent: float) -> float:
    """The value that so many percent of the values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def middle(values: Sequence[float]) -> float:
    """The median."""
    return statistics.median(values)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder of its own for one measurement, gone afterwards."""
    made = Path(tempfile.mkdtemp(prefix="loopforge-bench-"))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def run(command: Sequence[str], **environ: str) -> None:
    """Run a program to its end, quietly."""
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environ or None)
