"""Pinned: one model answers a run, the one it names, or nobody does.

In a room another model may step in; in an experiment that would be another experiment. So each
question goes to the first model of its route alone: its limits are waited out, and where it does
not answer, that is an outcome of the run. What a route names and cannot be asked is an error before
anything is run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from loopforge.errors import Unknown
from loopforge.runtime.ports import ModelFacts, ModelReply, Question, Route

if TYPE_CHECKING:
    from loopforge.models.model_router import TieredModels


class Pinned:
    """The `Models` port over `TieredModels`, without its ladder."""

    def __init__(self, models: TieredModels) -> None:
        self._models = models

    def named(self, route: Route) -> str:
        """The model that this route asks. Raises Unknown for one that cannot be asked."""
        tiers = self._models.tiers
        if route.model and (objection := tiers.objection(route.model)):
            known = ", ".join(sorted(tiers.models)) or "none"
            raise Unknown(
                f"{objection[0].upper()}{objection[1:]}. Models that can be asked: {known}."
            )
        specs = tiers.choose(route)
        if not specs:
            raise Unknown("There is no model that can be asked; docs/adding-models.md adds one.")
        return specs[0].name

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """The answer of the one model."""
        await self._models.learn()
        reply = await self._models.sound(self.named(question.route), question, patient=True)
        hear(reply.text)
        return reply

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        return await self._models.count(replace(route, model=self.named(route)), texts)

    def facts(self, route: Route) -> ModelFacts:
        """What is known of the one model."""
        return self._models.facts(replace(route, model=self.named(route)))

    async def close(self) -> None:
        """Let go of the models."""
        await self._models.close()
