"""Which model does a task: by the tables of types and roles, and the list of those that go on.

Asks what is configured by one port; a place in a tier that is not there falls back on its first.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from loopforge.core.work.task_classifier import breakglass_request
from loopforge.core.work.work_roles import ModelPlace, WorkRole, place_for
from loopforge.core.work.work_vocabulary import TaskType
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
