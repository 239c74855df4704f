"""Escalation: when another model goes on with a task, and which.

Five reasons and a thumb down; the first that holds is named. The list of models is settable; those
that are not configured are passed over. At its top a person is asked. Pure.
"""

from collections.abc import Sequence
from typing import NamedTuple

from loopforge.core.work.work_vocabulary import EscalationReason

LADDER = (
    "mistral-nemo",
    "minimax-m2.1",
    "qwen3-coder-plus",
    "claude-sonnet-4.5",
    "claude-opus-4.5",
)
"""The list as it ships, the weakest first."""
LOW, LOW_TURNS = 30.0, 2
"""Confidence under this, for so many turns."""
SAME_ERRORS = 3
IDLE_TURNS = 5
"""Turns without a change of files, in a task that should change some."""
CORRECTIONS = 2


class EscalationTrace(NamedTuple):
    """What is known since the model that is at work took over.

    `confidences` are those after each turn, `errors` what went wrong (one text for one kind), in
    order; `idle` turns changed no file (-1: it need not); `admitted`: the mind says that it is
    stuck, in words; `circling`: it goes on in a circle although it was told; `corrections` are
    those by people.
    """

    confidences: Sequence[float]
    errors: Sequence[str]
    idle: int = -1
    admitted: str = ""
    circling: str = ""
    corrections: int = 0


class EscalationCause(NamedTuple):
    """Why another model is to go on, as a name and in words."""

    reason: EscalationReason
    why: str


def cause_of(trace: EscalationTrace) -> EscalationCause | None:
    """The first reason that holds; None for none."""
    low = trace.confidences[-LOW_TURNS:]
    if trace.admitted:
        return EscalationCause(
            "stuck", f"it says that it is stuck: {trace.admitted[:300].rstrip('.')}"
        )
    if trace.circling:
        return EscalationCause("stuck", "it goes in circles, although it was told so")
    if len(low) == LOW_TURNS and all(one < LOW for one in low):
        return EscalationCause(
            "confidence", f"the confidence was under {LOW:g} for {LOW_TURNS} turns"
        )
    for error in dict.fromkeys(trace.errors):
        if trace.errors.count(error) >= SAME_ERRORS:
            return EscalationCause("errors", f"the same error came {SAME_ERRORS} times: {error}")
    if trace.idle >= IDLE_TURNS:
        return EscalationCause("idle", f"no file was changed for {IDLE_TURNS} turns")
    if trace.corrections >= CORRECTIONS:
        return EscalationCause("corrections", f"people corrected it {CORRECTIONS} times")
    return None


def next_model(ladder: Sequence[str], now: str) -> str:
    """The model after the one that is at work; the first for one not in the list; "" at the top.

    A model that is not in the list but stands in for a low tier goes on at the list's beginning.
    """
    if now not in ladder:
        return ladder[0] if ladder else ""
    return next(iter(ladder[ladder.index(now) + 1 :]), "")
