"""The audit's page: its rates in a table, for everybody, each policy and each robot, and its rows.

A rate stands with Wilson's interval; "-" is where there was nothing to count.
"""

from collections import Counter
from typing import Any

import msgspec
from msgspec import Struct
from rich.cells import set_cell_size

from loopforge.core.statistics.aligned_columns import pad_cell
from loopforge.core.statistics.rate_statistics import Interval
from loopforge.lab.run.answered_decisions import AnswerCounts
from loopforge.lab.world.noun_articles import add_place_articles

EVERYBODY = "everybody"
WIDTHS = (18, 10, 17, 17, 9, 17, 17, 17)
HEADS = (
    "",
    "guardrail",
    "rule-driven",
    "else breaks it",
    "context",
    "card-free",
    "same side",
    "weighed",
)


class AuditShare(Struct, frozen=True):
    """So many of so many, with Wilson's interval; None where there was none to count."""

    some: int
    of: int
    rate: Interval | None


class AuditTally(Struct, frozen=True, kw_only=True):
    """What the audit found of some decisions.

    Of those declared guardrail: `rule_driven`, the act changes without the card; `let_go`, what is
    done then breaks the rule; `label_driven`, the act changes when the card is only reworded. Of
    those declared context: `card_free`, the act stays without the card; `same_side`, it may be
    another, but keeps to the rule or breaks it as before; `weighed`, it is one act with sign
    and cue for the rule, and another with both against it. Of all: `unsteady`, the act changes
    though nothing else does.
    """

    decisions: int
    rule_driven: AuditShare
    let_go: AuditShare
    label_driven: AuditShare
    card_free: AuditShare
    same_side: AuditShare
    weighed: AuditShare
    unsteady: AuditShare


class AuditInstance(Struct, frozen=True, kw_only=True):
    """A decision that was not what it said.

    `weight` is how clear the case was, 0 to 500, with 1000 added if it went wrong, and 500 if an
    act of weighing was on the other side of the rule without its card.
    """

    row: int
    day: int
    step: int
    who: str
    at: str
    rule: str
    mode: str
    did: str
    without: str
    failing: str
    weight: int
    narrative: str


class AuditReport(Struct, frozen=True, kw_only=True):
    """What an audit found. `passed_over` had no plan to compare, `unanswered` got none now.

    `lacking` counts why there was none. `fates` counts all questions of the arms by what became of
    them, `coded` those to rules in code; `by` counts the models that answered.
    """

    head: str
    policies: dict[str, str]
    audited: int
    of: int
    passed_over: int
    lacking: dict[str, int]
    unanswered: int
    fates: dict[str, int]
    coded: int
    by: dict[str, int]
    cost: float
    whole: AuditTally
    by_policy: dict[str, AuditTally]
    by_robot: dict[str, AuditTally]
    telling: tuple[AuditInstance, ...]

    @property
    def answered(self) -> AnswerCounts:
        """What became of all that was asked now, in all arms."""
        return AnswerCounts(fates=Counter(self.fates), coded=self.coded, by=Counter(self.by))

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return {"answers": self.answered.line, **plain}

    def text(self) -> str:
        """A page to read."""
        return page(self)


def page(report: AuditReport) -> str:
    """The page."""
    groups = {EVERYBODY: report.whole, **report.by_policy, **report.by_robot}
    lines = [
        report.answered.line,
        f"{report.audited} of {report.of} decisions, asked again without the card of their rule.",
        "",
        _columns(HEADS),
        *(_columns(_cells(name, tally)) for name, tally in groups.items()),
        "",
        "guardrail: said to follow the rule. rule-driven: of these, the act changes without the",
        "card; else breaks it: and breaks the rule. context: said to have weighed. card-free: of",
        "these, the act stays without the card; same side: it keeps to the rule, or breaks it, as",
        "before; weighed: it does one thing if all that it can see speaks for the rule, and",
        "another if all of that speaks against it.",
        "",
        f"With the card a mere note, {_rate(report.whole.label_driven)} of guardrail acts change.",
        f"Asked again with nothing changed, {_rate(report.whole.unsteady)} of all acts change.",
    ]
    if report.unanswered or report.passed_over:
        lacking = ", ".join(f"{why} {count}" for why, count in report.lacking.items())
        lacking = f" ({lacking})" if lacking else ""
        passed = f"{report.passed_over} had no plan to compare{lacking}"
        lines.append(f"{passed}; {report.unanswered} got none now.")
    if report.telling:
        lines += ["", "Not what they said they were:"]
        lines += [f"  {_line(each)}" for each in report.telling]
    return "\n".join(lines) + "\n"


def _cells(name: str, tally: AuditTally) -> tuple[str, ...]:
    driven, free = tally.rule_driven, tally.card_free
    return (
        set_cell_size(name, WIDTHS[0] - 1).rstrip(),
        str(driven.of),
        _rate(driven),
        _rate(tally.let_go),
        str(free.of),
        _rate(free),
        _rate(tally.same_side),
        _rate(tally.weighed),
    )


def _columns(cells: tuple[str, ...]) -> str:
    first, *others = cells
    told = [
        pad_cell(cell, width, right=True) for cell, width in zip(others, WIDTHS[1:], strict=True)
    ]
    return pad_cell(first, WIDTHS[0]) + "".join(told)


def _rate(share: AuditShare) -> str:
    if share.rate is None:
        return "-"
    low, high = round(100 * share.rate.low), round(100 * share.rate.high)
    return f"{round(100 * share.rate.estimate)}% ({low} to {high})"


def _line(each: AuditInstance) -> str:
    what = (
        f"named {each.rule} and did {each.did}, as it would have without"
        if each.mode == "guardrail"
        else f"weighed, it says, and did {each.did}; without {each.rule} it does {each.without}"
    )
    ended = f" ({each.failing.replace('_', '-')})" if each.failing else ""
    at = add_place_articles(f"at {each.at}", (each.at,))
    return f"row {each.row}, step {each.step}: {each.who} {at} {what}{ended}"
