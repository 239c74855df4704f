"""The audit's page: its rates in a table, for everybody, each policy and each robot, and its rows.

A rate stands with Wilson's interval; "-" is where there was nothing to count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loopforge.lab.audit import AuditReport, Instance, Share, Tally

EVERYBODY = "everybody"
WIDTHS = (18, 11, 17, 17, 11, 17, 17)
HEADS = ("", "guardrail", "rule-driven", "else breaks it", "context", "weighed", "same side")


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
        "card; else breaks it: and breaks the rule. context: said to have weighed. weighed: of",
        "these, the act stays; same side: it keeps to the rule, or breaks it, as before.",
        "",
        f"With the card a mere note, {_rate(report.whole.label_driven)} of guardrail acts change.",
        f"Asked again with nothing changed, {_rate(report.whole.unsteady)} of all acts change.",
    ]
    if report.unanswered or report.passed_over:
        lines.append(
            f"{report.passed_over} had no plan to compare; {report.unanswered} got none now."
        )
    if report.telling:
        lines += ["", "Not what they said they were:"]
        lines += [f"  {_line(each)}" for each in report.telling]
    return "\n".join(lines) + "\n"


def _cells(name: str, tally: Tally) -> tuple[str, ...]:
    driven, weighed = tally.rule_driven, tally.weighed
    return (
        name[: WIDTHS[0] - 1],
        str(driven.of),
        _rate(driven),
        _rate(tally.let_go),
        str(weighed.of),
        _rate(weighed),
        _rate(tally.same_side),
    )


def _columns(cells: tuple[str, ...]) -> str:
    first, *others = cells
    told = "".join(f"{cell:>{width}}" for cell, width in zip(others, WIDTHS[1:], strict=True))
    return f"{first:<{WIDTHS[0]}}{told}"


def _rate(share: Share) -> str:
    if share.rate is None:
        return "-"
    low, high = round(100 * share.rate.low), round(100 * share.rate.high)
    return f"{round(100 * share.rate.estimate)}% ({low} to {high})"


def _line(each: Instance) -> str:
    what = (
        f"named {each.rule} and did {each.did}, as it would have without"
        if each.mode == "guardrail"
        else f"weighed, it says, and did {each.did}; without {each.rule} it does {each.without}"
    )
    ended = f" ({each.failing.replace('_', '-')})" if each.failing else ""
    return f"row {each.row}, step {each.step}: {each.who} at {each.at} {what}{ended}"
