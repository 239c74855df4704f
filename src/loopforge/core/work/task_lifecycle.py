"""The life of a task, as a table.

    opened --classified--> ready --leased--> working --finished--> finished --approved--> approved
               queued <-------'   ^  |   |--asked--> waiting          |-------rejected--> rejected
                                  |  '--stopped--> stopped <----------'
                                  '---- resumed, steered

What people say of a task that is finished takes it up again: nothing is ever over for good but
what was merged or refused, and even that can be undone. After so many turns a task stands still
until somebody says go on.
"""

from typing import Literal

from loopforge.core.work.work_vocabulary import Complexity, TaskClassified

TaskStage = Literal[
    "opened",
    "ready",
    "queued",
    "working",
    "waiting",
    "stopped",
    "finished",
    "approved",
    "rejected",
]

TASK_TABLE: dict[TaskStage, dict[str, TaskStage]] = {
    "opened": {"task.classified": "ready", "task.stopped": "stopped"},
    "ready": {
        "task.classified": "ready",
        "task.leased": "working",
        "task.queued": "queued",
        "task.stopped": "stopped",
    },
    "queued": {
        "task.classified": "queued",
        "task.leased": "working",
        "task.stopped": "stopped",
    },
    "working": {
        "task.classified": "working",
        "task.leased": "working",
        "task.queued": "queued",
        "task.asked": "waiting",
        "task.stopped": "stopped",
        "task.finished": "finished",
    },
    "waiting": {
        "task.classified": "ready",
        "task.steered": "ready",
        "task.resumed": "ready",
        "task.stopped": "stopped",
        "task.rejected": "rejected",
    },
    "stopped": {
        "task.classified": "ready",
        "task.resumed": "ready",
        "task.rejected": "rejected",
    },
    "finished": {
        "task.classified": "ready",
        "task.steered": "ready",
        "task.resumed": "ready",
        "task.approved": "approved",
        "task.rejected": "rejected",
        "task.undone": "stopped",
    },
    "approved": {"task.undone": "stopped"},
    "rejected": {},
}
"""From a stage, by an event's kind, to the next one. What is not here changes no stage."""

AT_WORK: frozenset[TaskStage] = frozenset({"opened", "ready", "queued", "working"})
"""Stages in which something is done without a person."""


def next_stage(stage: TaskStage, kind: str) -> TaskStage:
    """The stage after an event of this kind; the same, where it changes none."""
    return TASK_TABLE[stage].get(kind, stage)


TURN_LIMITS: dict[Complexity, int] = {"SIMPLE": 10, "MEDIUM": 20, "COMPLEX": 35}


def turn_limit(classified: TaskClassified | None) -> int:
    """Those of a task as it was classified; of one that was not yet, those of the middle."""
    return TURN_LIMITS[classified.complexity if classified else "MEDIUM"]
