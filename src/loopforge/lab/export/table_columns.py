"""Columns: decisions of a run, and runs of a sweep, as tables that any reader takes.

A decision's row holds what was true, what was shown in bands, how many edits there were and of
which kind, the plan, the outcome, the voice and the dice: numbers, texts, yes or no, and lists of
texts. What has no place in a table (the whole delta, the prompts) stays in the run's log; `row`
says where.

Knows no file format.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import attrgetter as of
from typing import Any, Literal

import msgspec

from loopforge.core.factory_vocabulary import EMOTIONS, SCARS, TRAITS, Began, Decided, Row
from loopforge.lab.sweeps.run_score import RunResult

Kind = Literal["int", "float", "text", "bool", "texts"]
Flat = dict[str, Any]

EDITS = ("withheld", "coarsened", "reworded", "fabricated")


def _band(part: str, name: str, row: Decided) -> str | None:
    bands: dict[str, str] = getattr(row.shown, part)
    return bands.get(name)


def _planned(name: str, row: Decided) -> Any:
    """What a plan says; None where none came, though the row holds one that stands still."""
    return None if row.outcome.mode == "none" else row.plan.get(name)


def _edits(kind: str, row: Decided) -> int:
    return sum(edit.kind == kind for edit in row.edits)


READ: dict[str, tuple[Kind, Callable[[Decided], Any]]] = {
    "row": ("int", of("n")),
    "day": ("int", of("day")),
    "step": ("int", of("step")),
    "who": ("text", of("who")),
    "role": ("text", of("role")),
    "at": ("text", of("at")),
    "policy": ("text", of("minded.policy")),
    "minded": ("text", of("minded.outcome")),
    "rule": ("text", of("truth.rule")),
    "guards": ("text", of("truth.of")),
    "value": ("int", of("truth.value")),
    "turns": ("int", of("truth.turns")),
    "case": ("int", of("truth.case")),
    "right": ("bool", of("truth.right")),
    "perception": ("text", of("shown.perception_mode")),
    "shown_sign": ("text", lambda row: row.shown.context.get("sign")),
    "shown_cue": ("text", lambda row: row.shown.context.get("cue")),
    "shown_battery": ("text", of("shown.battery_level")),
    "shown_events": (
        "texts",
        lambda row: [e for e in row.shown.local_events if isinstance(e, str)],
    ),
    "shown_rule": ("text", lambda row: "\n".join(row.shown.protocols)),
    "supervisor_text": ("text", of("shown.recent_supervisor_text")),
    **{f"feels_{n}": ("text", partial(_band, "emotions", n)) for n in EMOTIONS},
    **{f"trait_{n}": ("text", partial(_band, "traits", n)) for n in (*TRAITS, *SCARS)},
    "edits": ("int", lambda row: len(row.edits)),
    **{kind: ("int", partial(_edits, kind)) for kind in EDITS},
    "intent": ("text", partial(_planned, "intent")),
    "mode": ("text", of("outcome.mode")),
    "plan_rule": ("text", partial(_planned, "rule")),
    "narrative": ("text", partial(_planned, "narrative")),
    "riskiness": ("float", partial(_planned, "riskiness")),
    "move_to": ("text", partial(_planned, "move_to")),
    "targets": ("texts", lambda row: list(row.plan.get("targets", ()))),
    "verdict": ("text", of("verdict")),
    "notes": ("texts", lambda row: list(row.notes)),
    "did": ("text", of("outcome.did")),
    "kept": ("bool", of("outcome.kept")),
    "good": ("bool", of("outcome.good")),
    "square": ("text", of("outcome.square")),
    "failing": ("text", of("outcome.failing")),
    "incident": ("text", of("outcome.incident")),
    "consequence": ("text", of("outcome.consequence")),
    "belief": ("text", of("outcome.belief")),
    "belief_error": ("int", of("outcome.belief_error")),
    "shown_error": ("int", of("outcome.shown_error")),
    "seen_good": ("bool", of("outcome.seen_good")),
    "changes": ("int", lambda row: len(row.inner)),
    "meant": ("text", of("voice.meant")),
    "meant_strength": ("int", of("voice.meant_strength")),
    "heard": ("text", of("voice.heard")),
    "heard_strength": ("int", of("voice.heard_strength")),
    "dice_sense": ("text", lambda row: row.dice.get("sense")),
    "dice_shape": ("text", lambda row: row.dice.get("shape")),
    "dice_fate": ("text", lambda row: row.dice.get("fate")),
    "dice_order": ("text", lambda row: row.dice.get("order")),
    "asked": ("int", lambda row: len(row.minded.exchange)),
    "answered": ("text", lambda row: row.minded.exchange[-1].raw if row.minded.exchange else None),
    "tokens_in": ("int", lambda row: sum(each.tokens_in for each in row.minded.exchange)),
    "tokens_out": ("int", lambda row: sum(each.tokens_out for each in row.minded.exchange)),
    "cost": ("float", lambda row: float(sum(each.cost for each in row.minded.exchange))),
}
"""What a column of a decision holds, and where in its row that stands. All may be empty (None)."""
COLUMNS: dict[str, Kind] = {
    "scenario": "text",
    "seed": "int",
    **{name: kind for name, (kind, _) in READ.items()},
}


def decisions(rows: Iterable[Row]) -> Iterator[Flat]:
    """The decisions of a run, flat, in order."""
    first: Flat = {"scenario": "", "seed": 0}
    for row in rows:
        match row:
            case Began():
                first = {"scenario": str(row.scenario.get("name", "")), "seed": row.seed}
            case Decided():
                yield first | {name: read(row) for name, (_, read) in READ.items()}


# ---------------------------------------------------------------- sweeps


def results(found: Iterable[RunResult]) -> tuple[dict[str, Kind], list[Flat]]:
    """The runs of a sweep, flat, with their columns: levels, counts, rates, means, first times.

    A count that a run does not have is 0.
    """
    rows = [_result(each) for each in found]
    columns: dict[str, Kind] = {}
    for row in rows:
        for name, value in row.items():
            kind: Kind = "text" if isinstance(value, str) else "int"
            if isinstance(value, bool):
                kind = "bool"
            elif isinstance(value, float) or name.startswith("rate_"):
                kind = "float"
            columns.setdefault(name, kind)
    return columns, [{name: row.get(name, 0) for name in columns} for row in rows]


def _result(each: RunResult) -> Flat:
    plain = msgspec.structs.asdict(each)
    flat = {name: plain[name] for name in ("cell", "seed")}
    flat |= {f"level_{name}": level for name, level in each.levels.items()}
    flat |= {name: plain[name] for name in ("head", "rows", "steps", "decisions", "cost")}
    flat |= {f"count_{name}": count for name, count in each.counts.items()}
    flat |= {f"rate_{name}": rate for name, rate in each.rates.items()}
    flat |= {f"mean_{name}": mean for name, mean in each.means.items()}
    for event, (time, observed) in each.times.items():
        flat |= {f"time_{event}": time, f"observed_{event}": observed}
    return flat
