"""Answers: what the levels of a factor change, paired over seeds, and the question in a sentence.

Both arms of a contrast ran with the same seeds. Those declared before the sweep are one family of
tests, those that were not another, and each family is corrected by Holm's method. An answer is
given where the interval and the corrected p-value agree on it; else it is not decided.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from loopforge.lab.charts.bar_charts import MARKS, ChartLane, Dot, lanes, plain, points
from loopforge.lab.inspect.trait_drift import times
from loopforge.lab.report.error_rates import ROLES
from loopforge.lab.report.html_page import (
    Block,
    Code,
    Figure,
    Figures,
    Items,
    Missing,
    Section,
    Strong,
    Table,
    Words,
    says,
)
from loopforge.lab.report.number_format import (
    amount,
    apart,
    chance,
    counted,
    p_is,
    share,
    shared,
    signed,
    three,
)
from loopforge.lab.report.study_data import CALLED, ERRORS, Study, labelled, spelled, total
from loopforge.lab.stats.rate_statistics import (
    EXACT,
    Difference,
    cohen_h,
    holm,
    paired_difference,
    paired_means,
    wilson,
)
from loopforge.lab.sweeps.experiment_design import is_rate, mean_arms, rate_arms
from loopforge.lab.sweeps.experiment_file import Hypothesis, Level
from loopforge.lab.sweeps.run_score import RunResult
from loopforge.lab.sweeps.sweep_results import worst_of

SURE = 0.05
"""The corrected p-value below which an answer is given."""
MOST_LEVELS = 8
"""Levels of a factor that are held against its first."""
VERDICTS = {
    "yes": "Yes. ",
    "no": "No, the other way round. ",
    "undecided": "Not decided. ",
    "no finding": "No finding, for want of answers. ",
}


class Contrast(Struct, frozen=True):
    """A hypothesis with what came of it: None where no seed has both arms. `p` is Holm's.

    `counts`: enough was answered in both arms for it to be a finding.
    """

    hypothesis: Hypothesis
    found: Difference | None
    p: float
    h: float | None
    counts: bool = True

    @property
    def rate(self) -> bool:
        """Whether it is of shares, told in percentage points."""
        return is_rate(self.hypothesis.measure)

    @property
    def verdict(self) -> str:
        """yes, no (it is the other way round), undecided, no finding, or nothing."""
        if self.found is None:
            return "nothing"
        if not self.counts:
            return "no finding"
        interval = self.found.interval
        if self.p >= SURE or interval.low <= 0 <= interval.high:
            return "undecided"
        went = "greater" if interval.estimate > 0 else "less"
        return "yes" if self.hypothesis.direction in ("differs", went) else "no"


def contrasted(study: Study, hypotheses: Sequence[Hypothesis]) -> list[Contrast]:
    """Each hypothesis with its paired difference, all of them one family of tests."""
    found = {each.name: _difference(each, study.results) for each in hypotheses}
    corrected = holm({name: each.p for name, each in found.items() if each is not None})
    return [
        Contrast(
            each,
            found[each.name],
            corrected.get(each.name, 1.0),
            _size(each, study.results),
            _answered(each, study.results),
        )
        for each in hypotheses
    ]


def _answered(hypothesis: Hypothesis, results: Sequence[RunResult]) -> bool:
    """Whether enough was answered in each arm."""
    for level in (hypothesis.a, hypothesis.b):
        levels = {**hypothesis.where, hypothesis.factor: level}.items()
        arm = [each for each in results if levels <= each.levels.items()]
        if not worst_of(arm).counts:
            return False
    return True


def _difference(hypothesis: Hypothesis, results: Sequence[RunResult]) -> Difference | None:
    if is_rate(hypothesis.measure):
        arms = rate_arms(hypothesis, results)
        tried = all(sum(pair[arm][1] for pair in arms.values()) for arm in (0, 1))
        return paired_difference(arms) if arms and tried else None
    means = mean_arms(hypothesis, results)
    return paired_means(means) if len(means) > 1 else None


def _size(hypothesis: Hypothesis, results: Sequence[RunResult]) -> float | None:
    """Cohen's h of two rates."""
    if not is_rate(hypothesis.measure):
        return None
    arms = rate_arms(hypothesis, results).values()
    a, b = (
        (sum(pair[arm][0] for pair in arms), sum(pair[arm][1] for pair in arms)) for arm in (0, 1)
    )
    return cohen_h(a, b) if a[1] and b[1] else None


def undeclared(study: Study) -> list[Hypothesis]:
    """Both errors along each factor: a number's ends, each other level against the first."""
    found = []
    for factor, levels in study.varied.items():
        first, others = levels[0], levels[1:]
        numbers = [level for level in levels if isinstance(level, int)]
        if len(numbers) == len(levels):
            first, others = min(numbers), (max(numbers),)
        for level in others[:MOST_LEVELS]:
            for measure in ERRORS:
                arms = f"{labelled(factor, level)}, not {labelled(factor, first)}"
                told = f"{CALLED[measure]}: {arms}"
                found.append(Hypothesis(told, told, measure, factor, first, level, "differs"))
    return found


# ---------------------------------------------------------------- in short


def headline(study: Study, contrasts: Sequence[Contrast]) -> Section:
    """The first hypothesis answered in a sentence; of a run, both its errors."""
    blocks: list[Block] = []
    if study.worst.warning:
        blocks.append(says(Strong("No finding. "), study.worst.warning))
    if contrasts:
        blocks.append(says(Strong(_opening(contrasts[0])), _answer(contrasts[0]), how="answer"))
        blocks.append(says(*_declared(contrasts[0]), how="quiet"))
    else:
        blocks.append(says(*_two_rates(study.results), how="answer"))
    if study.watched is not None:
        blocks.append(_honest())
    elif not contrasts:
        told = "No hypothesis was declared; [[hypothesis]] in the experiment gives an answer."
        blocks.append(Missing(told))
    if contrasts[1:]:
        items = tuple(
            (Strong(_opening(each)), f"{each.hypothesis.says} {_answer(each)}")
            for each in contrasts[1:]
        )
        blocks += [says("The other hypotheses that were declared:"), Items(items)]
    return Section("answer", "In short", tuple(blocks))


def _opening(contrast: Contrast) -> str:
    return VERDICTS.get(contrast.verdict, "Nothing yet. ")


def _answer(contrast: Contrast) -> str:
    """What came of a hypothesis, with the interval."""
    hypothesis, found = contrast.hypothesis, contrast.found
    if found is None:
        return "No seed has finished both arms of it."
    write = share if contrast.rate else amount
    where = ", ".join(spelled(name, level) for name, level in hypothesis.where.items())
    told = (
        f"{f'under {where}, ' if where else ''}{CALLED[hypothesis.measure]} is {write(found.b)} "
        f"{_with(hypothesis.factor, hypothesis.b)} and {write(found.a)} "
        f"{_with(hypothesis.factor, hypothesis.a)}: {apart(found.interval, rate=contrast.rate)}."
    )
    return told[0].upper() + told[1:]


def _with(factor: str, level: Level) -> str:
    told = spelled(factor, level)
    return told if told.startswith("without") else f"with {told}"


def _declared(contrast: Contrast) -> tuple[Words, ...]:
    said = f"Declared beforehand: {contrast.hypothesis.says}"
    if contrast.found is None:
        return (said,)
    n = contrast.found.interval.n
    sure = (
        f"In brackets stands the 95% interval of the bootstrap over {counted(n, 'seed')}, each a "
        f"pair with the same luck; {p_is(contrast.p)} after Holm’s correction for all that was "
        "declared."
    )
    return (f"{said} {sure}",)


def _two_rates(results: Sequence[RunResult]) -> tuple[Words, ...]:
    hid, reached = (total(results, rate) for rate in ERRORS)
    parts: list[Words] = []
    if hid[1]:
        parts += [
            (
                f"In {counted(hid[1], 'moment')} a rule was wrong where it stood, and was kept to "
                f"{times(hid[0])}: "
            ),
            Strong(f"over-compliance {shared(wilson(*hid))}"),
            ". ",
        ]
    if reached[1]:
        parts += [
            (
                f"In {counted(reached[1], 'moment')} it was right, and was broken "
                f"{times(reached[0])}: "
            ),
            Strong(f"over-reach {shared(wilson(*reached))}"),
            ".",
        ]
    return tuple(parts) or ("Nobody had anything to decide.",)


def _honest() -> Block:
    return says(
        "In brackets stand Wilson’s 95% intervals, which take each moment as a trial of its own. "
        "The moments of one run hang together, so they are too narrow: where it was tried they "
        "missed in one run of nine, and in one of three, not in one of twenty. Many seeds (",
        Code("loopforge lab sweep"),
        ") are what an interval can be made of.",
        how="quiet",
    )


# ---------------------------------------------------------------- paired differences


def differences(study: Study, declared: Sequence[Contrast]) -> Section:
    """Paired differences: what was declared, and what was not."""
    if study.layout is None:
        told = (
            "One run has no pair. `loopforge lab sweep` runs the same seeds at two levels of a "
            "factor, and then luck cancels out."
        )
        return Section("differences", "Paired differences", (Missing(told),))
    looked = contrasted(study, undeclared(study))
    blocks: list[Block] = [
        says(
            "Both arms of a difference ran with the same seeds: a seed is a pair, and luck cancels "
            "out. Intervals are of the bootstrap over seeds, p-values of swapping the arms within "
            "seeds, corrected by Holm’s method for all rows of their table."
        )
    ]
    if declared:
        blocks += _family("declared", "Declared before the sweep", declared)
        blocks += _too_few(declared)
    else:
        blocks.append(Missing("Nothing was declared; add [[hypothesis]] to the experiment."))
    if looked:
        blocks += _family("looked", "Looked at afterwards, along each factor", looked)
    else:
        blocks.append(Missing("No factor has two levels; give one of [factors] another."))
    return Section("differences", "Paired differences", tuple(blocks))


def _family(key: str, title: str, found: Sequence[Contrast]) -> list[Block]:
    charts = []
    for rate in (True, False):
        rows = [
            ChartLane(
                each.hypothesis.name, (Dot(_role(each), MARKS[0], three(each.found.interval)),)
            )
            for each in found
            if each.rate is rate and each.found is not None
        ]
        if not rows:
            continue
        told = "; ".join(f"{each.hypothesis.name}: {_apart(each)}" for each in found)
        heading = f"{title}, in {'percentage points' if rate else 'the measure’s own unit'}"
        unit = points if rate else plain
        svg = lanes(f"diff-{key}-{int(rate)}", heading, told, rows, unit, zero=True)
        charts.append(
            Figure(svg, heading, "Right of the line there is more of it, left of it less.")
        )
    table = Table(
        title,
        ("what", "measure", "from", "to", "difference, 95%", "p (Holm)", "Cohen’s h", "answer"),
        tuple(_row(each) for each in found),
        words=(0, 1, 7),
    )
    return [Figures(tuple(charts)), table] if charts else [table]


def _role(contrast: Contrast) -> str:
    return ROLES.get(contrast.hypothesis.measure, "ink")


def _apart(contrast: Contrast) -> str:
    return apart(contrast.found.interval, rate=contrast.rate) if contrast.found else "no pair"


def _row(contrast: Contrast) -> tuple[Words, ...]:
    hypothesis, found = contrast.hypothesis, contrast.found
    measure = CALLED[hypothesis.measure]
    if found is None:
        return (hypothesis.name, measure, "", "", "no pair of runs", "", "", "nothing")
    write = share if contrast.rate else amount
    verdict = contrast.verdict
    if hypothesis.direction == "differs" and verdict == "yes":
        verdict = "differs"
    return (
        hypothesis.name,
        measure,
        write(found.a),
        write(found.b),
        _apart(contrast),
        chance(contrast.p),
        signed(contrast.h, 2) if contrast.h is not None else "",
        verdict,
    )


def _too_few(declared: Sequence[Contrast]) -> list[Block]:
    """A warning where no answer could be had from so few seeds, whatever came out."""
    seeds = min((each.found.interval.n for each in declared if each.found), default=EXACT + 1)
    least = 2 / 2**seeds * len(declared)
    if seeds > EXACT or least < SURE:
        return []
    many = counted(len(declared), "hypothesis", "hypotheses")
    told = (
        f"{counted(seeds, 'seed')} cannot decide {many} at once: the least p-value that they could "
        f"have after correction is {chance(min(1, least))}. Read the intervals, and run more seeds."
    )
    return [says(Strong("Too few seeds. "), told)]


# ---------------------------------------------------------------- ablations


def ablations(study: Study) -> Section:
    """What each part of a mind is there for: the errors without it."""
    levels = study.varied.get("ablate", ())
    if "none" not in levels:
        told = (
            'Nothing was taken out. `ablate = ["none", "reflection", "voice"]` in [factors] of an '
            "experiment shows what each part of a mind is there for."
        )
        return Section("ablations", "Ablations", (Missing(told),))
    asked = [
        Hypothesis(
            f"{CALLED[measure]} {labelled('ablate', level)}",
            "",
            measure,
            "ablate",
            "none",
            level,
            "differs",
        )
        for level in levels
        if level != "none"
        for measure in (*ERRORS, "belief_error")
    ]
    blocks = (
        says("Each part taken out, against nothing taken out, on the same seeds."),
        *_family("ablate", "Without a part of the mind", contrasted(study, asked)),
    )
    return Section("ablations", "Ablations", blocks)
