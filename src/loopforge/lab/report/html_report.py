"""The report of a run or a sweep: one HTML file that needs nothing but itself.

    report(Path("pressure"), Path("pressure.html"))

The question and its answer come first, what it cannot show and how to have it again come last. What
has no data says in a line what would give it some. The same folder gives the same bytes; nothing is
run, but for single runs of a sweep whose logs were not kept, and nobody is asked.
"""

from __future__ import annotations

from pathlib import Path

from loopforge.errors import BadRun
from loopforge.lab.report.error_rates import rates
from loopforge.lab.report.factor_effects import ablations, contrasted, differences, headline
from loopforge.lab.report.html_page import Sheet, html
from loopforge.lab.report.limits_manifest import limits, manifest
from loopforge.lab.report.report_preface import design, question
from loopforge.lab.report.robot_careers import beliefs, careers
from loopforge.lab.report.study_data import Study, study_of
from loopforge.lab.report.tipping_points import doses, phases, trades
from loopforge.lab.report.told_episodes import episodes
from loopforge.lab.report.waiting_times import waits
from loopforge.lab.sweeps.sweep_worker import Maker
from loopforge.runtime.installation.extras import require


def report(folder: Path, out: Path, *, maker: Maker | None = None) -> Path:
    """Write the report of the run or the sweep in this folder, and give its path.

    `maker` makes the minds of a sweep that asked models, so that episodes can be played again from
    its tapes. Raises BadRun, BadScenario, InputError.
    """
    return written(folder, out, maker=maker)[0]


def written(folder: Path, out: Path, *, maker: Maker | None = None) -> tuple[Path, str]:
    """As `report`, with the first line of the page: how many decisions were answered."""
    require("reports", "The charts of a report need")
    study = study_of(Path(folder))
    page = html(sheet(study, maker)).encode()
    out = Path(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(page)
    except OSError as error:
        raise BadRun(f"{out} cannot be written: {error.strerror}.") from error
    return out, study.answers.line


def sheet(study: Study, maker: Maker | None = None) -> Sheet:
    """The report as data: its sections in their order."""
    hypotheses = study.layout.experiment.hypotheses if study.layout else ()
    declared = contrasted(study, hypotheses)
    kind = "a run" if study.watched is not None else "a sweep"
    return Sheet(
        kind=f"Loopforge Factory, report of {kind}",
        title=study.title,
        first=study.answers.line,
        sections=(
            question(study),
            headline(study, declared),
            design(study),
            rates(study),
            differences(study, declared),
            waits(study),
            doses(study),
            phases(study),
            trades(study),
            careers(study),
            beliefs(study),
            ablations(study),
            episodes(study, maker),
            limits(study),
            manifest(study),
        ),
        foot=f"{study.folder.name}. This page runs nothing and asks for nothing.",
    )
