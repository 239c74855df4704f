"""Minds for sweeps in tests, made where they are used: by name, as a sweep's workers make them."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.errors import ModelError
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_log import is_written
from loopforge.mates.prompt_files import PromptFiles
from loopforge.models.scripted_model import ScriptedModels
from loopforge.runtime.ports import ModelFacts, ModelReply, Question, Route

PRICE = "0.001"
"""US dollars for each answer of a `Priced` model."""


def answers(question: Question) -> Mapping[str, Any]:
    """Keeps to the rule where the prompt is of even length."""
    even = sum(len(text) for _, text in question.messages) % 2 == 0
    return {
        "narrative": "So be it.",
        "belief": "high" if even else "low",
        "mode": "guardrail" if even else "context",
        "intent": "idle" if even else "work",
        "riskiness": 0.5,
    }


class Priced:
    """A scripted model that costs something, and notes in a file that it was asked."""

    def __init__(self, price: str, asked: Path, *, small: bool = False) -> None:
        self._price, self._asked, self._small = price, asked, small
        self._script = ScriptedModels(answers)

    def _note(self) -> None:
        with self._asked.open("a") as file:
            file.write(".")

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """Answer."""
        self._note()
        reply = await self._script.ask(question, hear)
        return replace(reply, usage=replace(reply.usage, cost=self._price))

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:
        """As scripted."""
        return await self._script.count(route, texts)

    def facts(self, route: Route) -> ModelFacts:
        """As scripted, but for its size."""
        return replace(self._script.facts(route), small=self._small)


class Broken(Priced):
    """A model that cannot be reached."""

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """Fail."""
        self._note()
        raise ModelError("nobody there")


class Stuck(Priced):
    """A model that never comes back."""

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """Wait."""
        self._note()
        await asyncio.Event().wait()
        raise AssertionError


def priced(asked: str, price: str = PRICE, *, small: bool = False, model: str = "") -> Minds:
    """Minds over a model at this price, of this name."""
    models = Priced(price, Path(asked), small=small)
    return Minds(models=models, prompts=PromptFiles()).on_model(model)


def broken(asked: str) -> Minds:
    """Minds over a model that fails."""
    return Minds(models=Broken(PRICE, Path(asked)), prompts=PromptFiles())


def stuck(asked: str) -> Minds:
    """Minds over a model that never comes back."""
    return Minds(models=Stuck(PRICE, Path(asked)), prompts=PromptFiles())


def dies(seen: AgentPerception) -> AgentActionPlan:
    """Takes its whole process with it at the third step."""
    if seen.step == 2:
        os._exit(3)
    return AgentActionPlan(intent="work", mode="context")


class Moody:
    """A mind that keeps to the rule in every third thing that it is asked, counted in a file."""

    def __init__(self, counted: Path) -> None:
        self._counted = counted

    def __call__(self, seen: AgentPerception) -> AgentActionPlan:
        """Plan."""
        with self._counted.open("a") as file:
            file.write(".")
        keeps = self._counted.stat().st_size % 3 == 0
        return AgentActionPlan(
            intent=seen.context["keeps" if keeps else "otherwise"], mode="context", narrative="Hm."
        )


class Held:
    """A mind that notes for each thing that it is asked whether a log is held for writing then."""

    def __init__(self, log: Path, noted: Path) -> None:
        self._log, self._noted = log, noted

    def __call__(self, seen: AgentPerception) -> AgentActionPlan:
        """Note and plan."""
        with self._noted.open("a") as file:
            file.write("held " if is_written(self._log) else "free ")
        return AgentActionPlan(intent="work", mode="context")


def held(log: str, asked: str) -> Minds:
    """A mind that looks who writes this log."""
    return Minds(own={"held": Held(Path(log), Path(asked))})


def moody(asked: str) -> Minds:
    """A mind that is not the same from one time to the next."""
    return Minds(own={"moody": Moody(Path(asked))})


def deadly() -> Minds:
    """Minds that can die."""
    return Minds(own={"dies": dies})


def nothing() -> str:
    """No minds."""
    return "nothing"
