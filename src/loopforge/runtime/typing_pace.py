"""A mate that types at a pace of its own: a line is said no sooner than it could have typed it.

Knows no room; what was heard meanwhile still counts, for a plan is judged after this.
"""

import asyncio

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.room_vocabulary import Say
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock

MOST_TYPING = 15.0
"""Seconds that people are let wait for a line, at most."""


async def wait_for_typing(
    tasks: BackgroundTasks,
    clock: Clock,
    plan: AgentActionPlan | None,
    pace: float,
    since: float,
    hurry: asyncio.Event,
) -> None:
    """Wait until what a plan says could be typed since then; not if there is a `hurry`.

    `pace` is in characters a second (0: at once), `since` in ticks of the clock.
    """
    words = sum(len(act.text) for act in plan.acts if isinstance(act, Say)) if plan else 0
    left = min(words / pace, MOST_TYPING) - (clock.ticks() - since) if pace else 0
    if left <= 0 or hurry.is_set():
        return
    waits = [tasks.spawn(clock.sleep(left), "typing"), tasks.spawn(hurry.wait(), "typing")]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waits:
            each.cancel()
