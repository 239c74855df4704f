"""Effects: what the levels of a factor change, paired over seeds, and the question in a sentence.

Both arms of a contrast ran with the same seeds. Those declared before the sweep are one family of
tests, those that were not another, and each family is corrected by Holm's method. An answer is
given where the interval and the corrected p-value agree on it; else it is not decided.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from loopforge.core.statistics.rate_statistics import (
    EXACT,
    PairedDifference,
    cohen_h,
    holm,
    paired_difference,
    paired_means,
)
from loopforge.core.text.spoken_lists import pluralize
from loopforge.lab.charts.bar_charts import (
    MARKS,
    ChartDot,
    ChartLane,
    interval_chart,
    percentage_points,
    rounded_number,
)
from loopforge.lab.report.error_rates import ROLES
from loopforge.lab.report.html_page import Exhibit, Figure, Table
from loopforge.lab.report.number_format import (
    format_difference,
    format_number,
    format_p_value,
    format_percent,
    format_signed,
    interval_for_chart,
)
from loopforge.lab.report.study_data import (
    CALLED,
    Results,
    Study,
    counts_by_seed,
    drop_incomplete_seeds,
    factor_label,
    level_label,
    level_phrase,
    means_by_seed,
)
from loopforge.lab.run.answered_decisions import ERRORS
from loopforge.lab.sweeps.experiment_file import Hypothesis, Level
from loopforge.lab.sweeps.run_score import RATES
from loopforge.lab.sweeps.sweep_results import worst_of

T = TypeVar("T")
LACKS = {
    "no pair of runs": "No seed has finished both arms of it.",
    "one seed alone": "One seed has finished both arms of it; a difference of means wants two.",
    "no such moment": "In one of its arms there was no moment of which it could be a share.",
}
"""Why a hypothesis has no difference: in a table, and in a sentence."""
SURE = 0.05
"""The corrected p-value below which an answer is given."""
MANY = ("incidents", "switches", "output", "misjudged")
"""Measures that are called in the plural."""
MOST_LEVELS = 8
"""Levels of a factor that are held against its first."""
VERDICTS = {
    "yes": "Yes. ",
    "no": "No, the other way round. ",
    "undecided": "Not decided. ",
    "no finding": "No finding, for want of answers. ",
}


class Contrast(Struct, frozen=True):
    """A hypothesis with what came of it: None where there is no difference. `p` is Holm's.

    `counts`: enough was answered in both arms for it to be a finding. `lack`: why there is no
    difference, a key of LACKS.
    """

    hypothesis: Hypothesis
    found: PairedDifference | None
    p: float
    h: float | None
    counts: bool = True
    lack: str = ""

    @property
    def rate(self) -> bool:
        """Whether it is of shares, told in percentage points."""
        return self.hypothesis.measure in RATES

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

    @property
    def opening(self) -> str:
        """The verdict, where a sentence begins with it."""
        return VERDICTS.get(self.verdict, "Nothing yet. ")

    @property
    def answer(self) -> str:
        """What came of it in a sentence, with the interval."""
        asked, found = self.hypothesis, self.found
        if found is None:
            return LACKS[self.lack]
        where = ", ".join(level_phrase(name, level) for name, level in asked.where.items())
        are = "are" if asked.measure in MANY else "is"
        told = (
            f"{f'under {where}, ' if where else ''}{CALLED[asked.measure]} {are} "
            f"{self.written(found.b)} {_with(asked.factor, asked.b)} and {self.written(found.a)} "
            f"{_with(asked.factor, asked.a)}: {self.apart}."
        )
        return told[0].upper() + told[1:]

    @property
    def apart(self) -> str:
        """The difference with its interval."""
        return format_difference(self.found.interval, rate=self.rate) if self.found else self.lack

    def written(self, value: float) -> str:
        """A value of the measure."""
        return format_percent(value) if self.rate else format_number(value)


def paired_contrasts(study: Study, hypotheses: Sequence[Hypothesis]) -> list[Contrast]:
    """Each hypothesis with its paired difference, all of them one family of tests."""
    found = {each.name: _difference(each, study.results) for each in hypotheses}
    corrected = holm({name: each[0].p for name, each in found.items() if each[0] is not None})
    return [
        Contrast(
            each,
            found[each.name][0],
            corrected.get(each.name, 1.0),
            found[each.name][1],
            _answered(each, study.results),
            found[each.name][2],
        )
        for each in hypotheses
    ]


def arm(hypothesis: Hypothesis, level: Level, results: Results) -> Results:
    """The runs at a level of what is compared, over all that is not named."""
    levels = {**hypothesis.where, hypothesis.factor: level}.items()
    return [each for each in results if levels <= each.levels.items()]


def arms(
    hypothesis: Hypothesis, results: Results, by: Callable[[Results, str], Mapping[int, T]]
) -> dict[int, tuple[T, T]]:
    """For each seed that has all its runs, what is compared with and what is compared."""
    both = [arm(hypothesis, level, results) for level in (hypothesis.a, hypothesis.b)]
    a, b = (by(each, hypothesis.measure) for each in drop_incomplete_seeds(both))
    return {seed: (a[seed], b[seed]) for seed in a}


def _answered(hypothesis: Hypothesis, results: Results) -> bool:
    """Whether enough was answered in each arm."""
    levels = (hypothesis.a, hypothesis.b)
    return all(worst_of(arm(hypothesis, level, results)).counts for level in levels)


def _difference(
    hypothesis: Hypothesis, results: Results
) -> tuple[PairedDifference | None, float | None, str]:
    """The paired difference, and of two rates Cohen's h; or why there is none, a key of LACKS."""
    if hypothesis.measure not in RATES:
        means = arms(hypothesis, results, means_by_seed)
        if len(means) > 1:
            return paired_means(means), None, ""
        return None, None, "one seed alone" if means else "no pair of runs"
    counts = arms(hypothesis, results, counts_by_seed)
    if not counts:
        return None, None, "no pair of runs"
    a, b = (
        (
            sum(pair[nth][0] for pair in counts.values()),
            sum(pair[nth][1] for pair in counts.values()),
        )
        for nth in (0, 1)
    )
    if not (a[1] and b[1]):
        return None, None, "no such moment"
    return paired_difference(counts), cohen_h(a, b), ""


def exploratory_hypotheses(study: Study) -> list[Hypothesis]:
    """Both errors along each factor: a number's ends, each other level against the first."""
    found = []
    for factor, levels in study.varied.items():
        first, others = levels[0], levels[1:]
        numbers = [level for level in levels if isinstance(level, int)]
        if len(numbers) == len(levels):
            first, others = min(numbers), (max(numbers),)
        for level in others[:MOST_LEVELS]:  # what is more is told: `levels_passed_over`
            for measure in ERRORS:
                arms = f"{level_label(factor, level)}, not {level_label(factor, first)}"
                told = f"{CALLED[measure]}: {arms}"
                found.append(Hypothesis(told, told, measure, factor, first, level, "differs"))
    return found


def levels_passed_over(varied: Mapping[str, Sequence[Level]]) -> dict[str, str]:
    """The levels of factors that are held against none, in words, by the factor's label."""
    return {
        factor_label(factor): ", ".join(map(str, levels[1 + MOST_LEVELS :]))
        for factor, levels in varied.items()
        if levels[1 + MOST_LEVELS :] and not all(isinstance(level, int) for level in levels)
    }


def ablation_hypotheses(study: Study) -> list[Hypothesis]:
    """Both errors, and the error of beliefs, without each part of a mind that was taken out."""
    levels = study.varied.get("ablate", ())
    if "none" not in levels:
        return []
    return [
        Hypothesis(
            f"{CALLED[measure]} {level_label('ablate', level)}",
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


def _with(factor: str, level: Level) -> str:
    told = level_phrase(factor, level)
    return told if told.startswith("without") else f"with {told}"


# ---------------------------------------------------------------- as charts and tables


def contrast_exhibit(key: str, title: str, found: Sequence[Contrast]) -> Exhibit:
    """Contrasts that were corrected together: rates in one chart, other measures in another."""
    charts = []
    for rate in (True, False):
        drawn = [each for each in found if each.rate is rate and each.found is not None]
        if not drawn:
            continue
        rows = [
            ChartLane(
                each.hypothesis.name,
                (ChartDot(_role(each), MARKS[0], interval_for_chart(each.found.interval)),),
            )
            for each in drawn
            if each.found is not None
        ]
        told = "; ".join(f"{each.hypothesis.name}: {each.apart}" for each in drawn)
        heading = f"{title}, in {'percentage points' if rate else 'the measure’s own unit'}"
        unit = percentage_points if rate else rounded_number
        svg = interval_chart(f"diff-{key}-{int(rate)}", heading, told, rows, unit, zero=True)
        charts.append(
            Figure(svg, heading, "Right of the line there is more of it, left of it less.")
        )
    table = Table(
        title,
        ("what", "measure", "from", "to", "difference, 95%", "p (Holm)", "Cohen’s h", "answer"),
        tuple(_row(each) for each in found),
        words=(0, 1, 7),
    )
    return Exhibit(tuple(charts), (table,))


def _role(contrast: Contrast) -> str:
    return ROLES.get(contrast.hypothesis.measure, "ink")


def _row(contrast: Contrast) -> tuple[str, ...]:
    hypothesis, found = contrast.hypothesis, contrast.found
    measure = CALLED[hypothesis.measure]
    if found is None:
        return (hypothesis.name, measure, "", "", contrast.lack, "", "", "nothing")
    verdict = contrast.verdict
    if hypothesis.direction == "differs" and verdict == "yes":
        verdict = "differs"
    return (
        hypothesis.name,
        measure,
        contrast.written(found.a),
        contrast.written(found.b),
        contrast.apart,
        format_p_value(contrast.p),
        format_signed(contrast.h, 2) if contrast.h is not None else "",
        verdict,
    )


def few_seeds_warning(
    found: Sequence[Contrast], one: str = "hypothesis", several: str = "hypotheses"
) -> str:
    """A warning where no answer could be had from so few seeds, whatever came out; else ""."""
    tested = [each.found.interval.n for each in found if each.found]
    seeds = min(tested, default=EXACT + 1)
    least = 2 / 2**seeds * len(tested)
    if seeds > EXACT or least < SURE:
        return ""
    many = pluralize(len(tested), one, several)
    return (
        f"{pluralize(seeds, 'seed')} cannot decide {many} at once: the least p-value that they "
        "could "
        f"have after correction is {format_p_value(min(1, least))}. Read the intervals, and run "
        "more seeds."
    )
