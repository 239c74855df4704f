"""How many turns a task may take before it stands still, until somebody says go on. Pure."""

from loopforge.core.work.work_vocabulary import Complexity, TaskClassified

TURN_LIMITS: dict[Complexity, int] = {"SIMPLE": 10, "MEDIUM": 20, "COMPLEX": 35}


def turn_limit(classified: TaskClassified | None) -> int:
    """Those of a task as it was classified; of one that was not yet, those of the middle."""
    return TURN_LIMITS[classified.complexity if classified else "MEDIUM"]
