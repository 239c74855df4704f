"""Pinned: one model answers a run, the one it names, or nobody does.

In a room another model may step in; in an experiment that would be another experiment. So each
question goes to the first model of its route alone: its limits are waited out, and where it does
not answer, that is an outcome of the run. What a route names and cannot be asked is an error before
anything is run. Where somebody has to mend something before it can answer anything, or its limits
were waited out in vain, or `OUTAGE` questions in a row came to nothing, that is no outcome of a
mind: the run stops there, and can be taken up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from loopforge.core.model_trouble import MENDED_BY_OWNER, OWNER
from loopforge.errors import ModelLost, Unknown
from loopforge.runtime.ports import ModelFacts, ModelReply, Question, Route

if TYPE_CHECKING:
    from loopforge.models.model_router import TieredModels

LASTING = MENDED_BY_OWNER - {"rejected"} | {"busy"}
"""Causes that stop a run at once; a question that is rejected may be the only one."""
OUTAGE = 20
"""Questions in a row that were not answered, whatever the cause, after which a run stops."""


class PinnedModel:
    """The `Models` port over `TieredModels`, without its ladder."""

    def __init__(self, models: TieredModels) -> None:
        self._models = models
        self._silent: Counter[str] = Counter()

    def named(self, route: Route) -> str:
        """The model that this route asks. Raises Unknown for one that cannot be asked."""
        tiers = self._models.tiers
        name = route.model or tiers.wanted[min(max(route.tier, 1), len(tiers.wanted)) - 1]
        if name and (objection := tiers.objection(name)):
            known = ", ".join(sorted(tiers.models)) or "none"
            raise Unknown(
                f"{objection[0].upper()}{objection[1:]}. Models that can be asked: {known}."
            )
        specs = tiers.choose(route)
        if not specs:
            raise Unknown("There is no model that can be asked; docs/adding-models.md adds one.")
        return specs[0].name

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """The answer of the one model. Raises ModelLost where it will answer nothing more."""
        await self._models.learn()
        name = self.named(question.route)
        reply = await self._models.sound(name, question, patient=True)
        self._missed(name, reply)
        hear(reply.text)
        return reply

    def _missed(self, name: str, reply: ModelReply) -> None:
        """Count what was not answered. Raises ModelLost."""
        if reply.outcome not in ("failed", "timed_out"):
            self._silent[name] = 0
            return
        self._silent[name] += 1
        cause = reply.attempts[-1].cause
        why = OWNER.get(cause, "{model} does not answer").format(model=name)
        if cause in LASTING:
            raise ModelLost(f"It stops here, since {why}.")
        if self._silent[name] >= OUTAGE:
            raise ModelLost(f"{OUTAGE} times in a row no answer came, so it stops here: {why}.")

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        return await self._models.count(replace(route, model=self.named(route)), texts)

    def facts(self, route: Route) -> ModelFacts:
        """What is known of the one model."""
        return self._models.facts(replace(route, model=self.named(route)))

    async def close(self) -> None:
        """Let go of the models."""
        await self._models.close()
