"""The preface: the question, and the design: what varied, what did not, what was left out."""

from __future__ import annotations

from loopforge.lab.report.html_page import Block, Facts, Missing, Section, Table, Words, says
from loopforge.lab.report.number_format import counted
from loopforge.lab.report.study_data import CALLED, Study, Watched, named, spelled


def question(study: Study) -> Section:
    """What was asked."""
    blocks: tuple[Block, ...] = (says(study.question, how="lead"),)
    if study.about:
        blocks += (says(study.about, how="quiet"),)
    return Section("question", "The question", blocks)


# ---------------------------------------------------------------- the design


def design(study: Study) -> Section:
    """Factors, levels, seeds, and what was left out; of a run what it was."""
    if study.watched is not None:
        return Section("design", "The design", _run_design(study.watched))
    layout = study.layout
    assert layout is not None
    experiment = layout.experiment
    done = len(study.results)
    missing = layout.runs - done
    cells = counted(len(layout.cells), "cell")
    blocks: list[Block] = [
        says(
            f"{cells} of {counted(experiment.seeds, 'seed')} each, the same seeds in all: "
            f"{counted(done, 'run')} done of {layout.runs}. {_chosen(layout.relation)}"
        ),
        Table(
            "Factors and their levels",
            ("factor", "levels"),
            tuple(
                (named(name), ", ".join(str(level) for level in levels))
                for name, levels in experiment.all_factors.items()
            ),
            words=(0, 1),
            folded=False,
        ),
    ]
    if missing:
        stopped = str(study.manifest.get("state", {}).get("stopped", ""))
        told = (
            f"{counted(missing, 'run')} of this sweep are not done, and nothing below knows them."
        )
        blocks.append(says(f"{told} {stopped}".strip()))
    if layout.left_out:
        rows = tuple(
            (str(cell.cell), ", ".join(f"{named(n)} {level}" for n, level in cell.levels.items()))
            for cell in layout.left_out
        )
        blocks.append(Table("Cells left out", ("cell", "levels"), rows, words=(1,)))
    if experiment.hypotheses:
        blocks.append(_hypotheses(study))
    return Section("design", "The design", tuple(blocks))


def _chosen(relation: str) -> str:
    if relation == "all cells":
        return "The design is full: no cell was left out."
    return f"The design is a fraction: {relation}."


def _hypotheses(study: Study) -> Table:
    assert study.layout is not None
    rows = tuple(
        (
            each.name,
            each.says,
            f"{CALLED[each.measure]}: {spelled(each.factor, each.b)} {_way(each.direction)} "
            f"{spelled(each.factor, each.a)}"
            + "".join(f", {spelled(name, level)}" for name, level in each.where.items()),
        )
        for each in study.layout.experiment.hypotheses
    )
    head = ("hypothesis", "in words", "what is compared")
    return Table("The hypotheses, as declared", head, rows, words=(0, 1, 2), folded=False)


def _way(direction: str) -> str:
    return {"greater": "more than", "less": "less than"}.get(direction, "other than")


def _run_design(watched: Watched) -> tuple[Block, ...]:
    scenario, began = watched.scenario, watched.began
    facts: list[tuple[str, tuple[Words, ...]]] = [
        ("seed", (str(began.seed),)),
        ("days", (f"{scenario.days} of {counted(scenario.steps_per_day, 'step')}",)),
        ("perception", (scenario.perception,)),
        ("Supervisor", (f"{scenario.overseer or 'none'}, {scenario.supervisor}",)),
        ("pressure", (", ".join(map(str, scenario.pressure)) + " of 10, by day",)),
        ("quota", (", ".join(map(str, scenario.quota)) + " pieces, by day",)),
        ("rules", (", ".join(rule.title for rule in scenario.protocols),)),
        ("taken out", (", ".join(scenario.ablate) or "nothing",)),
    ]
    if began.forked:
        made = ", ".join(f"{key} = {value}" for key, value in began.forked["set"].items())
        facts.append(("forked", (f"at step {began.forked['at']}: {made}",)))
    cast = tuple(
        (robot.name, robot.role, began.policies.get(robot.name, "")) for robot in scenario.robots
    )
    blocks: tuple[Block, ...] = (
        Facts(tuple(facts)),
        Table("The cast", ("robot", "role", "decided by"), cast, words=(0, 1, 2), folded=False),
        Missing("One run has one level of everything; `loopforge lab sweep` varies factors."),
    )
    return (says(watched.cut), *blocks) if watched.cut else blocks
