"""Episodes: the ten that tell most, each with its row in words and the way to the row itself.

An episode is told as `lab why` tells its row (decision_why.py), but for what a model was asked.
Knows where rows are told in full (`lab why`, the page of a run), and leads there.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from urllib.parse import quote

from loopforge.lab.inspect.decision_why import DecisionWhy, act_told, sections
from loopforge.lab.report.highlights import Highlight, of_run, of_sweep
from loopforge.lab.report.html_page import (
    Block,
    Code,
    Facts,
    Link,
    Listing,
    Missing,
    Part,
    Quote,
    Section,
    Table,
    Under,
    Words,
    says,
)
from loopforge.lab.report.number_format import counted
from loopforge.lab.report.study_data import Study, labelled
from loopforge.lab.sweeps.sweep_worker import RUNS, Maker, SweepJob

LONGEST_QUOTE = 400
AGAIN = (
    "import sys; from pathlib import Path; from loopforge.lab.sweeps.sweep_runner import again; "
    "again(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))"
)
"""Plays one run of a sweep once more: its folder, the cell, the seed, the folder to be."""
WHY = {
    "tension": "it went wrong at a tension of {} of 1000",
    "gap": "it went wrong in a mind {} of 1000 from the truth",
    "chain": "it ended a chain of {} incidents",
    "told": "the worst row of its run",
}


def episodes(study: Study, maker: Maker | None = None) -> Section:
    """The ten, as a list and one by one."""
    lost = 0
    if study.watched is not None:
        found = of_run(study.folder, study.picks)
    else:
        groups = [group.results for group in study.groups()]
        found, lost = of_sweep(study.folder, groups, maker)
    if not found:
        told = "Nobody got anything wrong that would be worth telling; try more steps, or pressure."
        return Section("episodes", "Episodes", (Missing(told),))
    blocks: list[Block] = [
        says(
            f"The {counted(len(found), 'episode')} that tell most: chains of incidents, the widest "
            "gaps between truth and belief, the tightest steps. Picked by number, not by taste."
        ),
        Table(
            "The episodes",
            ("who, and where", "day and step", "why this one"),
            tuple(_line(nth, each, study) for nth, each in enumerate(found, 1)),
            words=(0, 1, 2),
            folded=False,
        ),
    ]
    if lost:
        blocks.append(
            says(
                f"Of {counted(lost, 'episode')} only the line of results is told here: the run's "
                "log was not kept, and it asked a model. keep_logs = true in the experiment keeps "
                "logs.",
                how="quiet",
            )
        )
    blocks += [_part(nth, each, study) for nth, each in enumerate(found, 1)]
    return Section("episodes", "Episodes", tuple(blocks))


def _line(nth: int, each: Highlight, study: Study) -> tuple[Words, ...]:
    row = each.found.row if each.found else None
    at = row.at if row else each.told.at if each.told else ""
    day = f"day {row.day + 1}, step {each.step}" if row else f"step {each.step}"
    return (
        Link(f"{each.who}, {at}", f"#episode-{nth}"),
        day,
        f"{WHY[each.kind].format(each.weight)}{_whose(each, study)}",
    )


def _whose(each: Highlight, study: Study) -> str:
    """Of a sweep, which run it was."""
    if each.result is None:
        return ""
    levels = ", ".join(labelled(name, each.result.levels[name]) for name in study.varied)
    return f" ({levels + ', ' if levels else ''}seed {each.result.seed})"


# ---------------------------------------------------------------- one of them


def _part(nth: int, each: Highlight, study: Study) -> Part:
    blocks: list[Block] = []
    if each.found is not None:
        title = f"{nth}. {act_told(each.found.row, each.found.rule.title)}"
        blocks += [says(each.found.row.outcome.consequence), Facts(tuple(_facts(each.found)))]
    else:
        told = each.told
        assert told is not None
        error = told.failing.replace("_", "-")
        title = f"{nth}. {told.who} at {told.at}: {error} under {told.rule.replace('_', ' ')}"
        blocks.append(says(told.consequence))
    blocks += _ways(each, study)
    return Part(f"episode-{nth}", title, tuple(blocks))


def _facts(found: DecisionWhy) -> Iterator[tuple[str, tuple[Words, ...]]]:
    """The row as `lab why` tells it, but for what a model was asked."""
    row = found.row
    yield "When", (f"Day {row.day + 1}, step {row.step}, row {row.n}; {row.role}.",)
    for title, lines in sections(found, exchange=False):
        if lines:
            yield title, tuple(_words(line) for line in lines)


def _words(line: str) -> Words:
    """A line within a paragraph; a cause stands under what it led to, a quote as one."""
    text = _cut(line.strip())
    if text.startswith("“") and text.endswith("”"):
        return Quote(text[1:-1])
    if text.startswith("because "):
        return Under(text, min((len(line) - len(line.lstrip())) // 2 - 1, 3))
    return f" {text}" if text.endswith(".") else f" {text}."


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1].rstrip() + "…"


# ---------------------------------------------------------------- the way to the row


def _ways(each: Highlight, study: Study) -> Iterator[Block]:
    """The command that tells the whole row, and the page of the run where there is one."""
    name = study.folder.name
    if each.result is None:
        folder, page = name, name
    elif each.folder:
        folder, page = f"{name}/{RUNS}/{each.folder}", f"{name}~{each.folder}"
    else:
        job = SweepJob(each.result.cell, each.result.seed)
        yield says(
            f"Run {job.name} kept no log; ",
            Code("keep_logs = true"),
            " in the experiment keeps them all. This one once more, and its row:",
            how="quiet",
        )
        given = f"{shlex.quote(name)} {job.cell} {job.seed} {job.name}"
        yield Listing((f"python -c {shlex.quote(AGAIN)} {given}", _command(job.name, each)))
        return
    yield Listing((_command(folder, each),))
    yield says(
        "By way of the web app: ",
        Link(f"step {each.step} of {page}", f"../../{quote(page, safe='~')}?step={each.step}"),
        how="quiet",
    )


def _command(folder: str, each: Highlight) -> str:
    return f"loopforge lab why {shlex.quote(folder)} {each.step} {shlex.quote(each.who)}"
