"""The report of a run or a sweep: one HTML file that needs nothing but itself.

    report(Path("pressure"), Path("pressure.html"))

The question and its answer come first, what it cannot show and how to have it again come last. What
has no data says in a line what would give it some. The same folder gives the same bytes; nothing is
run, but for single runs of a sweep whose logs were not kept, and nobody is asked.
"""

from functools import partial
from pathlib import Path

from loopforge.core.text.spoken_lists import pluralize
from loopforge.errors import BadRun
from loopforge.lab.inspect.decision_why import why_sections
from loopforge.lab.inspect.trait_drift import how_often
from loopforge.lab.report.error_rates import (
    alike_cells,
    error_rate_exhibit,
    overall_rate,
    unanswered_table,
    unseen_error_bounds,
)
from loopforge.lab.report.factor_effects import (
    ablation_hypotheses,
    contrast_exhibit,
    exploratory_hypotheses,
    few_seeds_warning,
    levels_passed_over,
    paired_contrasts,
)
from loopforge.lab.report.html_page import Table, render_report
from loopforge.lab.report.limits_manifest import detectable_differences, study_limits_manifest
from loopforge.lab.report.number_format import format_rate, p_value_phrase
from loopforge.lab.report.robot_careers import belief_error_exhibit, career_exhibits
from loopforge.lab.report.study_data import (
    CALLED,
    Study,
    factor_label,
    level_phrase,
    pooled_count,
    study_of,
)
from loopforge.lab.report.tipping_points import dose_exhibits, tradeoff_exhibit
from loopforge.lab.report.told_episodes import select_episodes
from loopforge.lab.report.waiting_times import waiting_time_exhibit
from loopforge.lab.run.run_log import LOG, refuse_log_name
from loopforge.lab.sweeps.experiment_file import Hypothesis
from loopforge.lab.sweeps.sweep_results import SWEPT
from loopforge.lab.sweeps.sweep_worker import MindsMaker
from loopforge.runtime.installation.extras import require_extra

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


def write_report(folder: Path, out: Path, *, maker: MindsMaker | None = None) -> tuple[Path, str]:
    """Write the report of the run or the sweep in this folder; its path, and the page's first line.

    `maker` makes the minds of a sweep that asked models, so that episodes can be played again from
    its tapes. Raises BadRun, BadScenario, InputError.
    """
    require_extra("reports", "The statistics of a report need")
    out = Path(out)
    refuse_log_name(out, LOG, *SWEPT)
    study = study_of(Path(folder))
    page = render_report(**_data(study, maker)).encode()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(page)
    except OSError as error:
        raise BadRun(f"{out} cannot be written: {error.strerror}.") from error
    return out, study.answers.line


def _data(study: Study, maker: MindsMaker | None) -> dict[str, object]:
    """What the templates ask for: the study, what each section shows, and how words are put."""
    declared = paired_contrasts(study, study.layout.experiment.hypotheses if study.layout else ())
    looked = paired_contrasts(study, exploratory_hypotheses(study))
    return {
        "sections": SECTIONS,
        "study": study,
        "declared": declared,
        "looked": looked,
        "passed_over": levels_passed_over(study.varied),
        "ablated": paired_contrasts(study, ablation_hypotheses(study)),
        "too_few": few_seeds_warning(declared),
        "looked_at_few": few_seeds_warning(looked, "difference", "differences"),
        "design": design_tables(study),
        "unanswered": unanswered_table(study),
        "rates": error_rate_exhibit(study),
        "waits": waiting_time_exhibit(study),
        "doses": dose_exhibits(study),
        "trade": tradeoff_exhibit(study),
        "careers": career_exhibits(study),
        "beliefs": belief_error_exhibit(study),
        "episodes": select_episodes(study, maker),
        "detectable": detectable_differences(study),
        "bounds": unseen_error_bounds(study),
        "alike": alike_cells(study),
        "manifest": study_limits_manifest(study),
        "family": contrast_exhibit,
        "parts_of": why_sections,
        "counted": pluralize,
        "p_is": p_value_phrase,
        "shared": format_rate,
        "times": how_often,
        "total": pooled_count,
        "rated": partial(overall_rate, study),
    }


WAYS = {"greater": "more than", "less": "less than"}


def design_tables(study: Study) -> list[Table]:
    """Of a sweep its factors, the cells left out, its hypotheses; of a run its cast."""
    if study.watched is not None:
        began, robots = study.watched.began, study.watched.scenario.robots
        cast = tuple((each.name, each.role, began.policies.get(each.name, "")) for each in robots)
        head = ("robot", "role", "decided by")
        return [Table("The cast", head, cast, words=(0, 1, 2), folded=False)]
    assert study.layout is not None
    experiment = study.layout.experiment
    levels = tuple(
        (factor_label(name), ", ".join(map(str, each)))
        for name, each in experiment.all_factors.items()
    )
    out = tuple(
        (
            str(cell.cell),
            ", ".join(f"{factor_label(n)} {level}" for n, level in cell.levels.items()),
        )
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
    arms = (level_phrase(each.factor, level) for level in (each.b, each.a))
    way = f" {WAYS.get(each.direction, 'other than')} ".join(arms)
    where = "".join(f", {level_phrase(name, level)}" for name, level in each.where.items())
    return f"{CALLED[each.measure]}: {way}{where}"
