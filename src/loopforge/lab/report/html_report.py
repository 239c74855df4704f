"""The report of a run or a sweep: one HTML file that needs nothing but itself.

    report(Path("pressure"), Path("pressure.html"))

The question and its answer come first, what it cannot show and how to have it again come last. What
has no data says in a line what would give it some. The same folder gives the same bytes; nothing is
run, but for single runs of a sweep whose logs were not kept, and nobody is asked.
"""

from pathlib import Path

from loopforge.core.statistics.rate_statistics import wilson
from loopforge.core.text.spoken_lists import counted
from loopforge.errors import BadRun
from loopforge.lab.inspect.decision_why import sections
from loopforge.lab.inspect.trait_drift import times
from loopforge.lab.report.error_rates import bounds, rates, unanswered
from loopforge.lab.report.factor_effects import ablations, contrasted, family, too_few, undeclared
from loopforge.lab.report.html_page import Table, html
from loopforge.lab.report.limits_manifest import detectable, manifest
from loopforge.lab.report.number_format import p_is, shared
from loopforge.lab.report.robot_careers import beliefs, careers
from loopforge.lab.report.study_data import CALLED, Study, named, spelled, study_of, total
from loopforge.lab.report.tipping_points import doses, trades
from loopforge.lab.report.told_episodes import episodes
from loopforge.lab.report.waiting_times import waits
from loopforge.lab.run.run_log import LOG, no_log
from loopforge.lab.sweeps.experiment_file import Hypothesis
from loopforge.lab.sweeps.sweep_results import SWEPT
from loopforge.lab.sweeps.sweep_worker import MindsMaker
from loopforge.runtime.installation.extras import require

SECTIONS = {
    "question": "The question",
    "answer": "In short",
    "design": "The design",
    "rates": "Rates",
    "differences": "Paired differences",
    "waits": "How long it holds",
    "doses": "Dose and response",
    "trade": "The trade-off",
    "careers": "What became of them",
    "beliefs": "Truth, shown, believed",
    "ablations": "Ablations",
    "episodes": "Episodes",
    "limits": "Limits",
    "manifest": "Manifest",
}
"""Each section with its heading; its template in shipped/report/ has its name."""


def report(folder: Path, out: Path, *, maker: MindsMaker | None = None) -> tuple[Path, str]:
    """Write the report of the run or the sweep in this folder; its path, and the page's first line.

    `maker` makes the minds of a sweep that asked models, so that episodes can be played again from
    its tapes. Raises BadRun, BadScenario, InputError.
    """
    require("reports", "The statistics of a report need")
    out = Path(out)
    no_log(out, LOG, *SWEPT)
    study = study_of(Path(folder))
    page = html(**_data(study, maker)).encode()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(page)
    except OSError as error:
        raise BadRun(f"{out} cannot be written: {error.strerror}.") from error
    return out, study.answers.line


def _data(study: Study, maker: MindsMaker | None) -> dict[str, object]:
    """What the templates ask for: the study, what each section shows, and how words are put."""
    declared = contrasted(study, study.layout.experiment.hypotheses if study.layout else ())
    looked = contrasted(study, undeclared(study))
    return {
        "sections": SECTIONS,
        "study": study,
        "declared": declared,
        "looked": looked,
        "ablated": contrasted(study, ablations(study)),
        "too_few": too_few(declared),
        "looked_at_few": too_few(looked, "difference", "differences"),
        "design": design(study),
        "unanswered": unanswered(study),
        "rates": rates(study),
        "waits": waits(study),
        "doses": doses(study),
        "trade": trades(study),
        "careers": careers(study),
        "beliefs": beliefs(study),
        "episodes": episodes(study, maker),
        "detectable": detectable(study),
        "bounds": bounds(study),
        "manifest": manifest(study),
        "family": family,
        "parts_of": sections,
        "counted": counted,
        "p_is": p_is,
        "shared": shared,
        "times": times,
        "total": total,
        "wilson": wilson,
    }


WAYS = {"greater": "more than", "less": "less than"}


def design(study: Study) -> list[Table]:
    """Of a sweep its factors, the cells left out, its hypotheses; of a run its cast."""
    if study.watched is not None:
        began, robots = study.watched.began, study.watched.scenario.robots
        cast = tuple((each.name, each.role, began.policies.get(each.name, "")) for each in robots)
        head = ("robot", "role", "decided by")
        return [Table("The cast", head, cast, words=(0, 1, 2), folded=False)]
    assert study.layout is not None
    experiment = study.layout.experiment
    levels = tuple(
        (named(name), ", ".join(map(str, each))) for name, each in experiment.all_factors.items()
    )
    out = tuple(
        (str(cell.cell), ", ".join(f"{named(n)} {level}" for n, level in cell.levels.items()))
        for cell in study.layout.left_out
    )
    declared = tuple((each.name, each.says, _compared(each)) for each in experiment.hypotheses)
    head = ("hypothesis", "in words", "what is compared")
    tables = [
        Table("Factors and their levels", ("factor", "levels"), levels, (0, 1), folded=False),
        Table("Cells left out", ("cell", "levels"), out, words=(1,)),
        Table("The hypotheses, as declared", head, declared, words=(0, 1, 2), folded=False),
    ]
    return [table for table in tables if table.rows]


def _compared(each: Hypothesis) -> str:
    arms = (spelled(each.factor, level) for level in (each.b, each.a))
    way = f" {WAYS.get(each.direction, 'other than')} ".join(arms)
    where = "".join(f", {spelled(name, level)}" for name, level in each.where.items())
    return f"{CALLED[each.measure]}: {way}{where}"
