"""The design as tables: factors, cells left out, what was declared; of a run its cast."""

from loopforge.lab.report.html_page import Table
from loopforge.lab.report.study_data import CALLED, Study, named, spelled
from loopforge.lab.sweeps.experiment_file import Hypothesis

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
