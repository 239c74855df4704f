"""Metrics for Prometheus: what models were asked and cost, uses of tools, and how budgets stand.

The text exposition format, written by hand: six families of samples. Served at /metrics to whoever
brings the token of the setting `metrics_token`; without one there is no such page.
"""

import hmac
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from litestar import MediaType, Response, get

from loopforge.budgets.model_usage import UsageRow
from loopforge.core.limits.budget_limits import LimitStanding
from loopforge.core.limits.money_amounts import dollars_from_picos
from loopforge.errors import Unknown
from loopforge.web.server.page_context import Asked, PageContext

TYPE = "text/plain; version=0.0.4; charset=utf-8"
Samples = Iterable[tuple[Mapping[str, str], str | int]]


def family(name: str, kind: str, help: str, samples: Samples) -> list[str]:
    """One family of samples, each with its labels and its value."""
    rows = [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]
    for labels, value in samples:
        told = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        rows.append(f"{name}{{{told}}} {value}" if told else f"{name} {value}")
    return rows


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def models_told(rows: Sequence[UsageRow]) -> list[str]:
    """What models were asked, by mate and model, since the ledger began."""
    named = [({"mate": row.mate, "model": row.model}, row) for row in rows]
    tokens = [
        ({**labels, "kind": kind}, count)
        for labels, row in named
        for kind, count in (
            ("read", row.read - row.cached),
            ("cached", row.cached),
            ("written", row.written),
        )
    ]
    sums: tuple[tuple[str, str, Samples], ...] = (
        ("calls_total", "Tries at models.", [(labels, row.calls) for labels, row in named]),
        ("failed_total", "Tries without an answer.", [(x, row.failed) for x, row in named]),
        ("tokens_total", "Tokens, by how they were used.", tokens),
        ("dollars_total", "US dollars of what has a price.", [(x, row.cost) for x, row in named]),
        ("unpriced_total", "Answers without a known price.", [(x, r.unpriced) for x, r in named]),
    )
    return [
        line
        for name, help, samples in sums
        for line in family(f"loopforge_model_{name}", "counter", help, samples)
    ]


def budgets_told(standings: Sequence[LimitStanding], refused: Mapping[str, int]) -> list[str]:
    """How budgets stand, and how often each refused since the program began."""
    named = [(_labels(one), one) for one in standings if one.limit.meter]

    def amount(one: LimitStanding, value: int) -> str | int:
        return dollars_from_picos(value) if one.limit.budget.unit == "dollars" else value

    most = [(labels, amount(one, one.limit.budget.amount)) for labels, one in named]
    left = [(labels, amount(one, one.left)) for labels, one in named]
    times = [({"budget": name}, count) for name, count in sorted(refused.items())]
    return [
        *family("loopforge_budget_amount", "gauge", "What a budget allows.", most),
        *family("loopforge_budget_left", "gauge", "What is left of a budget now.", left),
        *family("loopforge_budget_refused_total", "counter", "What it refused.", times),
    ]


def _labels(one: LimitStanding) -> dict[str, str]:
    budget = one.limit.budget
    by = "keepers" if budget.keepers else "owner"
    return {"meter": one.limit.meter, "unit": budget.unit, "period": budget.period, "by": by}


@get("/metrics")
async def metrics(request: Asked, site: PageContext) -> Response[str]:
    """The numbers, for who brings the token."""
    token = site.metrics_token()
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    if not token:
        raise Unknown("There is no such page.")
    if not hmac.compare_digest(token.encode(), given.encode("latin-1", "replace")):
        return Response("The token is wrong.\n", media_type=MediaType.TEXT, status_code=401)
    uses: dict[str, int] = {}
    for meter, _, amounts in await site.budgets.spent_since(date.min):
        if meter.startswith("tool:"):
            uses[meter] = uses.get(meter, 0) + amounts.uses
    tools = [
        ({"tool": meter.removeprefix("tool:")}, count) for meter, count in sorted(uses.items())
    ]
    lines = [
        *models_told(await site.usage.by(("mate", "model"))),
        *family("loopforge_tool_uses_total", "counter", "Uses of tools.", tools),
        *budgets_told(await site.budgets.listing(), site.budgets.refused),
    ]
    return Response("\n".join(lines) + "\n", media_type=TYPE)
