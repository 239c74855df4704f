"""Whether confidence deserves its name, as a figure: the Brier score, and a reliability curve.

Drawn as the charts of the Factory's reports are; what it says stands beside it in words.
"""

from collections.abc import Sequence

from msgspec import Struct

from loopforge.core.work.task_confidence import ReliabilityBin
from loopforge.lab.charts.bar_charts import percent
from loopforge.lab.charts.line_charts import CurveLine, curves


class CalibrationFigure(Struct, frozen=True, kw_only=True):
    """The score (0 is perfect), of how many tasks, its bins, and the drawing."""

    brier: float
    tasks: int
    bins: tuple[ReliabilityBin, ...]
    drawing: str


def figure_of(brier: float | None, bins: Sequence[ReliabilityBin]) -> CalibrationFigure | None:
    """The figure; None where no task is over."""
    if brier is None:
        return None
    points = tuple((round(one.thought, 2), (one.came,) * 3) for one in bins)
    said = "; ".join(
        f"thought {one.thought:.0%}, came {one.came:.0%}, of {one.tasks}" for one in bins
    )
    even = CurveLine(
        label="as foretold",
        role="quiet",
        nth=2,
        points=((0.0, (0.0,) * 3), (1.0, (1.0,) * 3)),
    )
    came = CurveLine(label="as it came", role="ink", points=points)
    drawing = curves(
        "calibration",
        "How often results were taken, by the confidence at the end",
        said,
        [even, came],
        percent,
        along="confidence at the end (1 is certain)",
        whole=True,
    )
    return CalibrationFigure(
        brier=brier, tasks=sum(one.tasks for one in bins), bins=tuple(bins), drawing=drawing
    )
