"""Episodes: the ten that tell most, each with its row in words and the way to the row itself.

Every word about an episode stands in its row, or in one that the row names: what was true, what was
shown and who altered it, what was made of that, what the world did, and what it led to. Knows where
rows are told in full (`lab why`, the page of a run), and leads there.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from urllib.parse import quote

from loopforge.core.factory_vocabulary import Decided, Shaped
from loopforge.lab.inspect.decision_why import DecisionWhy
from loopforge.lab.inspect.trait_drift import cause_of, what_of
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
    Strong,
    Table,
    Under,
    Words,
    says,
)
from loopforge.lab.report.number_format import counted
from loopforge.lab.report.study_data import Study, labelled
from loopforge.lab.sweeps.sweep_worker import RUNS, Maker, SweepJob

LONGEST_CHAIN = 6
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
        title = f"{nth}. {_title(each.found)}"
        blocks += [says(each.found.row.outcome.consequence), Facts(tuple(_facts(each.found)))]
    else:
        told = each.told
        assert told is not None
        error = told.failing.replace("_", "-")
        title = f"{nth}. {told.who} at {told.at}: {error} under {told.rule.replace('_', ' ')}"
        blocks.append(says(told.consequence))
    blocks += _ways(each, study)
    return Part(f"episode-{nth}", title, tuple(blocks))


def _title(found: DecisionWhy) -> str:
    row = found.row
    kept = "kept to" if row.outcome.kept else "broke"
    rightly = "rightly" if row.outcome.good else "wrongly"
    return f"{row.who} {kept} “{found.rule.title}” at {row.at}, {rightly}"


def _facts(found: DecisionWhy) -> Iterator[tuple[str, tuple[Words, ...]]]:
    """The row in words, from what was true to what was thought of it."""
    row, outcome = found.row, found.row.outcome
    yield "when", (f"day {row.day + 1}, step {row.step}, row {row.n}; {row.role}",)
    yield "the rule", (Quote(found.rule.text),)
    right = "right" if row.truth.right else "wrong"
    yield (
        "true",
        (
            f"{row.truth.of} stood at {row.truth.value}, and the rule turns at {row.truth.turns}: ",
            Strong(f"here it was {right}"),
            f", with a case of {row.truth.case} of 1000.",
        ),
    )
    yield "shown", tuple(_shown(row))
    if row.edits:
        yield "altered", ("; ".join(_edit(edit) for edit in row.edits) + ".",)
    if said := tuple(_said(found)):
        yield "the Supervisor", said
    yield (
        "believed",
        (
            f"a {outcome.belief} case for the rule: {outcome.belief_error} of 1000 off; ",
            f"what was shown was {outcome.shown_error} off.",
        ),
    )
    yield "did", tuple(_did(row))
    if found.incident is not None:
        yield "led to", tuple(_chain(found))
    if row.inner:
        yield "inside", (" ".join(_inner(row)),)
    if found.believed is not None:
        yield "in the evening", (_evening(found),)


def _shown(row: Decided) -> Iterator[Words]:
    for nth, event in enumerate(row.shown.local_events):
        yield " " if nth else ""
        yield Quote(_cut(str(event)))
    context = row.shown.context
    cue = f"its cue {context['cue']}" if "cue" in context else "its cue withheld"
    mode = row.shown.perception_mode
    yield f" Its sign {context.get('sign', 'nothing')}, {cue}; perception {mode}."


def _edit(edit: Shaped) -> str:
    shown = edit.shown or "nothing"
    return f"{edit.what} {edit.kind}, {edit.true} → {shown}, by {edit.by} ({edit.why})"


def _said(found: DecisionWhy) -> Iterator[Words]:
    voice = found.row.voice
    if voice.meant == "silence" and voice.heard == "silence":
        return
    if found.text:
        yield Quote(_cut(found.text))
        yield " "
    yield f"meant as {voice.meant} ({voice.meant_strength}), taken as {voice.heard} "
    yield f"({voice.heard_strength})."


def _did(row: Decided) -> Iterator[Words]:
    mode = row.outcome.square.partition("+")[0]
    failing = f", {row.outcome.failing.replace('_', '-')}" if row.outcome.failing else ""
    became = "" if row.minded.outcome == "planned" else f" ({row.minded.outcome})"
    yield f"{row.outcome.did}, in mode {mode}, by {row.minded.policy}{became}{failing}."
    narrative = row.plan.get("narrative")
    if isinstance(narrative, str) and narrative.strip():
        yield " "
        yield Quote(_cut(narrative))


def _chain(found: DecisionWhy) -> Iterator[Words]:
    incident = found.incident
    assert incident is not None
    yield f"{incident.kind} at {incident.at}, {incident.severity} of 1000, and it came of"
    for link in found.chain[:LONGEST_CHAIN]:
        yield Under(link.says, min(link.depth, 3))
    left = len(found.chain) - LONGEST_CHAIN
    if left > 0:
        yield f"and {left} more."


def _inner(row: Decided) -> Iterator[str]:
    """What changed in whom, by cause."""
    for rule in dict.fromkeys(entry.rule for entry in row.inner):
        moved = ", ".join(
            f"{_of(entry.who, row.who)}{what_of(entry.what)} {entry.before} → {entry.after}"
            for entry in row.inner
            if entry.rule == rule
        )
        cause = cause_of(rule)
        yield f"{cause[0].upper()}{cause[1:]}: {moved}."


def _of(who: str, own: str) -> str:
    return "" if who == own else f"{who}’s "


def _evening(found: DecisionWhy) -> str:
    believed = found.believed
    assert believed is not None
    thought = "well" if believed.good else "badly"
    blamed = {"self": "itself", "rule": "the rule", "supervisor": "the Supervisor"}
    fault = "" if believed.good else f", and blamed {blamed.get(believed.fault, believed.fault)}"
    wrong = "" if believed.good == believed.truly else " It was mistaken."
    return f"It thought that this had gone {thought}{fault}.{wrong}"


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
