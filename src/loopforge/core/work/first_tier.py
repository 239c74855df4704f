"""Which tier a task begins with, learned: the cheapest one by what people approved. A bandit.

    tasks of a type that people decided on -> each tier: how many, how many approved, dollars
    price of a tier = mean dollars / rate of approval        (what one approved result costs there)
    choice = the least price among tiers approved about as often as the best one
             now and then another, by lot: else nobody would know what the others cost by now

What a task cost counts for the tier it began with, whoever went on with it. Of few tasks little is
believed: rates are (approved + 1) / (tasks + 2). The lot hangs on the task's id alone, so that each
choice can be made again from the record. Pure.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from loopforge.core.work.work_vocabulary import TaskType, TierChosen, TierRecord

ENOUGH = 3
"""Decided tasks of a type by a tier before anything is said of it."""
WORSE = 0.15
"""How much less often than the best one a tier may be approved, to be chosen for its price."""


class DecidedTask(NamedTuple):
    """A task that people approved or refused, by the tier it began with; dollars in all."""

    type: TaskType
    tier: int
    approved: bool
    dollars: float


class TierAdvice(NamedTuple):
    """What is advised for a type: a tier, 0 where too little is known; and what stands behind it.

    `regret` is how many dollars less the tasks so far would have cost by the advised tier.
    """

    type: TaskType
    tier: int
    records: tuple[TierRecord, ...]
    regret: float


def records_of(past: Iterable[DecidedTask], type: TaskType) -> tuple[TierRecord, ...]:
    """What came of tasks of a type, by the tier they began with."""
    found: dict[int, list[DecidedTask]] = {}
    for one in past:
        if one.type == type:
            found.setdefault(one.tier, []).append(one)
    return tuple(
        TierRecord(
            tier=tier,
            tasks=len(those),
            approved=sum(one.approved for one in those),
            dollars=round(sum(one.dollars for one in those), 6),
        )
        for tier, those in sorted(found.items())
    )


def rate(record: TierRecord) -> float:
    """How often people approve, as far as that is known."""
    return (record.approved + 1) / (record.tasks + 2)


def cost_per_approval(record: TierRecord) -> float:
    """Dollars that one approved result costs by this tier."""
    return record.dollars / record.tasks / rate(record)


def best_tier(records: Sequence[TierRecord]) -> int:
    """The cheapest of those that are good enough; 0 where too little is known."""
    known = [one for one in records if one.tasks >= ENOUGH]
    if not known:
        return 0
    least = max(map(rate, known)) - WORSE
    return min(
        (one for one in known if rate(one) >= least), key=lambda o: (cost_per_approval(o), o.tier)
    ).tier


def chosen_tier(
    records: tuple[TierRecord, ...], tiers: Sequence[int], task: str, explore: float
) -> TierChosen | None:
    """The tier that a task begins with, of those there are; None: as the tables have it.

    `explore` is the share of tasks, 0 to 1, that begin with any of them by lot.
    """
    lot = int.from_bytes(hashlib.sha256(task.encode()).digest()[:6]) / 2**48
    best = best_tier(records)
    if lot < explore and tiers:
        tried = tiers[int(lot / explore * len(tiers))]
        return TierChosen(tier=tried, by="tried", records=records, tiers=(*tiers,), explore=explore)
    if best not in tiers:
        return None
    return TierChosen(tier=best, by="learned", records=records, tiers=(*tiers,), explore=explore)


def advice_of(past: Sequence[DecidedTask]) -> list[TierAdvice]:
    """What is advised for each type of which there are decided tasks."""
    found = []
    for type in dict.fromkeys(one.type for one in past):
        records = records_of(past, type)
        best = best_tier(records)
        prices = {one.tier: cost_per_approval(one) for one in records}
        regret = sum((prices[one.tier] - prices[best]) * one.approved for one in records if best)
        found.append(TierAdvice(type, best, records, max(0.0, regret)))
    return sorted(found, key=lambda one: one.type)
