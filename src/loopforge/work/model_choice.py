"""Which model does a task: by the tables of types and roles, and what past tasks say of tiers.

Asks what is configured by one port; a place in a tier that is not there falls back on its first.
Of past tasks those count that people approved or refused; those put straight to a model by its name
do not. What follows from them is decided in core/work/first_tier.py.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from loopforge.core.work.first_tier import DecidedTask, chosen_tier, records_of
from loopforge.core.work.task_classifier import breakglass_request
from loopforge.core.work.work_roles import ModelPlace, WorkRole, place_for
from loopforge.core.work.work_vocabulary import TaskType, TierChosen
from loopforge.work.task_state import TaskState
from loopforge.work.task_store import TaskStore
from loopforge.work.work_settings import WorkSettings

_MODEL = re.compile(r"tier\b|[0-9:/]", re.IGNORECASE)
"""What a name has that is meant for a model, and not for a mate or a person."""


@runtime_checkable
class ConfiguredModels(Protocol):
    """The models that a home can ask."""

    def of_tier(self, tier: int) -> Sequence[str]:
        """The names of those that serve a tier, in order."""

    def known(self, name: str) -> bool:
        """Whether there is such a model, and it can be used."""


class AllModels:
    """Where nobody knows which models there are: any name may be asked for."""

    def of_tier(self, tier: int) -> Sequence[str]:  # noqa: ARG002
        """None by name."""
        return ()

    def known(self, name: str) -> bool:  # noqa: ARG002
        """All are."""
        return True


class ChosenModel(NamedTuple):
    """A model by its name, or the first of a tier."""

    tier: int
    model: str = ""


class ModelChoice:
    """Chooses models for tasks."""

    def __init__(self, models: object, settings: Callable[[], WorkSettings]) -> None:
        self._models = models if isinstance(models, ConfiguredModels) else AllModels()
        self._settings = settings

    def first(self, type: TaskType, role: WorkRole) -> ChosenModel:
        """The one a task begins with."""
        now = self._settings()
        return self.at(place_for(type, role, now.type_places, now.role_places))

    def tiers(self) -> tuple[int, ...]:
        """The tiers that models serve."""
        return tuple(tier for tier in (1, 2, 3, 4) if self._models.of_tier(tier))

    def role(self, role: WorkRole) -> ChosenModel:
        """The one of a role."""
        return self.at(self._settings().role_places.get(role.handle, role.model))

    def at(self, place: ModelPlace) -> ChosenModel:
        """The one at a place in a tier's list; the tier's first where it is not there."""
        names = self._models.of_tier(place.tier)
        name = names[place.place - 1] if place.place <= len(names) else ""
        return ChosenModel(place.tier, name)

    def planner(self) -> ChosenModel:
        """The one that says as what a task is taken."""
        name = self._settings().planner
        return ChosenModel(1, name if name and self._models.known(name) else "")

    def rungs(self) -> tuple[str, ...]:
        """Those that go on with a task, as far as they are configured."""
        return tuple(one for one in self._settings().rungs if self._models.known(one))

    def past(self, to: str) -> ChosenModel | None:
        """The one that somebody names, as "tier 3" or by name; None where there is none."""
        word = to.lower().replace("-", " ").replace("tier", "tier ").split()
        if word[:1] == ["tier"] and word[1:] in (["1"], ["2"], ["3"], ["4"]):
            return ChosenModel(int(word[1]))
        return ChosenModel(1, to) if self._models.known(to) else None

    def unheeded(self, text: str, *, owner: bool) -> str:
        """Why a task that begins with "@" and a model or tier is not put straight to that."""
        to, _ = breakglass_request(text)
        if to and self.past(to) is not None:
            return "" if owner else f"Only the owner of this home has @{to} asked past all else."
        if not _MODEL.search(to):
            return ""
        return f"@{to} is no model or tier (1 to 4) here: `loopforge model list` tells which are."


# ---------------------------------------------------------------- tier history


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
