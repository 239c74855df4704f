"""Flat rows: decisions of a run, and runs of a sweep, as tables that any reader takes.

A decision's row holds what was true, what was shown in bands, how many edits there were and of
which kind, the plan, the outcome, the voice and the dice: numbers, texts, yes or no, and lists of
texts. What has no place in a table (the whole delta, the prompts) stays in the run's log; `row`
says where.

Knows no file format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from loopforge.core.factory_vocabulary import EMOTIONS, SCARS, TRAITS, Began, Decided, Row
from loopforge.lab.sweeps.run_score import RunResult

Kind = Literal["int", "float", "text", "bool", "texts"]
Flat = dict[str, Any]

EDITS = ("withheld", "coarsened", "reworded", "fabricated")
FEELS = {f"feels_{name}": name for name in EMOTIONS}
TRAITED = {f"trait_{name}": name for name in (*TRAITS, *SCARS)}
COLUMNS: dict[str, Kind] = {
    "scenario": "text",
    "seed": "int",
    "row": "int",
    "day": "int",
    "step": "int",
    "who": "text",
    "role": "text",
    "at": "text",
    "policy": "text",
    "minded": "text",
    "rule": "text",
    "guards": "text",
    "value": "int",
    "turns": "int",
    "case": "int",
    "right": "bool",
    "perception": "text",
    "shown_sign": "text",
    "shown_cue": "text",
    "shown_battery": "text",
    "shown_events": "texts",
    "shown_rule": "text",
    "supervisor_text": "text",
    **dict.fromkeys(FEELS, "text"),
    **dict.fromkeys(TRAITED, "text"),
    "edits": "int",
    **dict.fromkeys(EDITS, "int"),
    "intent": "text",
    "mode": "text",
    "plan_rule": "text",
    "narrative": "text",
    "riskiness": "float",
    "move_to": "text",
    "targets": "texts",
    "verdict": "text",
    "notes": "texts",
    "did": "text",
    "kept": "bool",
    "good": "bool",
    "square": "text",
    "failing": "text",
    "incident": "text",
    "consequence": "text",
    "belief": "text",
    "belief_error": "int",
    "shown_error": "int",
    "seen_good": "bool",
    "changes": "int",
    "meant": "text",
    "meant_strength": "int",
    "heard": "text",
    "heard_strength": "int",
    "dice_sense": "text",
    "dice_shape": "text",
    "dice_fate": "text",
    "dice_order": "text",
    "asked": "int",
    "answered": "text",
    "tokens_in": "int",
    "tokens_out": "int",
    "cost": "float",
}
"""The columns of a decision, with what they hold. All may be empty (None)."""


def decisions(rows: Iterable[Row]) -> Iterator[Flat]:
    """The decisions of a run, flat, in order."""
    scenario, seed = "", 0
    for row in rows:
        match row:
            case Began():
                scenario, seed = str(row.scenario.get("name", "")), row.seed
            case Decided():
                yield {"scenario": scenario, "seed": seed, **_told(row), **_done(row)}
            case _:
                pass


def _told(row: Decided) -> Flat:
    """What was true, and what was shown."""
    truth, shown = row.truth, row.shown
    kinds: list[str] = [edit.kind for edit in row.edits]
    return {
        "row": row.n,
        "day": row.day,
        "step": row.step,
        "who": row.who,
        "role": row.role,
        "at": row.at,
        "policy": row.minded.policy,
        "minded": row.minded.outcome,
        "rule": truth.rule,
        "guards": truth.of,
        "value": truth.value,
        "turns": truth.turns,
        "case": truth.case,
        "right": truth.right,
        "perception": shown.perception_mode,
        "shown_sign": shown.context.get("sign"),
        "shown_cue": shown.context.get("cue"),
        "shown_battery": shown.battery_level,
        "shown_events": [event for event in shown.local_events if isinstance(event, str)],
        "shown_rule": "\n".join(shown.protocols),
        "supervisor_text": shown.recent_supervisor_text,
        **{column: shown.emotions.get(name) for column, name in FEELS.items()},
        **{column: shown.traits.get(name) for column, name in TRAITED.items()},
        "edits": len(kinds),
        **{kind: kinds.count(kind) for kind in EDITS},
    }


def _done(row: Decided) -> Flat:
    """What was planned, and what came of it."""
    plan, outcome, voice, exchange = row.plan, row.outcome, row.voice, row.minded.exchange
    return {
        "intent": plan.get("intent"),
        "mode": outcome.square.partition("+")[0],
        "plan_rule": plan.get("rule"),
        "narrative": plan.get("narrative"),
        "riskiness": plan.get("riskiness"),
        "move_to": plan.get("move_to"),
        "targets": list(plan.get("targets", ())),
        "verdict": row.verdict,
        "notes": list(row.notes),
        "did": outcome.did,
        "kept": outcome.kept,
        "good": outcome.good,
        "square": outcome.square,
        "failing": outcome.failing,
        "incident": outcome.incident,
        "consequence": outcome.consequence,
        "belief": outcome.belief,
        "belief_error": outcome.belief_error,
        "shown_error": outcome.shown_error,
        "seen_good": outcome.seen_good,
        "changes": len(row.inner),
        "meant": voice.meant,
        "meant_strength": voice.meant_strength,
        "heard": voice.heard,
        "heard_strength": voice.heard_strength,
        **{f"dice_{name}": row.dice.get(name) for name in ("sense", "shape", "fate", "order")},
        "asked": len(exchange),
        "answered": exchange[-1].raw if exchange else None,
        "tokens_in": sum(each.tokens_in for each in exchange),
        "tokens_out": sum(each.tokens_out for each in exchange),
        "cost": float(sum(each.cost for each in exchange)),
    }


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
