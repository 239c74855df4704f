"""What past tasks say about the tier a task should begin with, read from their streams.

Tasks that people approved or refused count; those put straight to a model by its name do not. Does
not know what follows from it (core/work/first_tier.py).
"""

from collections.abc import Callable

from loopforge.core.work.first_tier import DecidedTask, chosen_tier, records_of
from loopforge.core.work.work_vocabulary import TierChosen
from loopforge.work.model_choice import ModelChoice
from loopforge.work.task_state import TaskState
from loopforge.work.task_store import TaskStore
from loopforge.work.work_settings import WorkSettings


class TierHistory:
    """Of the tasks of a home."""

    def __init__(
        self, store: TaskStore, choice: ModelChoice, settings: Callable[[], WorkSettings]
    ) -> None:
        self._store, self._choice, self._settings = store, choice, settings

    async def first(self, state: TaskState) -> TierChosen | None:
        """The tier that a task begins with, where that is learned; None: as the tables have it."""
        known, now = state.classified, self._settings()
        if now.first_tier != "learned" or known is None or known.flow == "breakglass":
            return None
        if state.tier or state.turns or state.escalated:
            return None
        records = records_of(await decided_tasks(self._store), known.task_type)
        return chosen_tier(records, self._choice.tiers(), state.id, now.explore)


async def decided_tasks(store: TaskStore) -> list[DecidedTask]:
    """The tasks that people approved or refused, the oldest first."""
    found = []
    for state in await store.states(await store.streams()):
        known = state.classified
        if known and known.flow != "breakglass" and state.stage in ("approved", "rejected"):
            tier, approved = state.tier or known.tier, state.stage == "approved"
            found.append(DecidedTask(known.task_type, tier, approved, float(state.dollars)))
    return found
