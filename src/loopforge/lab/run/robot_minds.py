"""Who decides for whom: policies by name, and the reply of each with the record of its asking.

`stub`, `guardrail` and `context` ask nothing; `llm`, `chain` and `mate:NAME` ask a model, all
robots of a step at once; a policy of one's own may ask or not. What became of a model is never an
error here: it is in the row.

What only those that ask need is imported where they do: a sweep's workers start sooner without it.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import isasyncgenfunction, iscoroutine, iscoroutinefunction
from typing import TYPE_CHECKING, Any, cast, get_args

from msgspec.structs import replace

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.factory_vocabulary import Exchanged, Minded
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import AnswerOutcome, PlainPolicy, Policy, Prompts, Thinking, as_policy
from loopforge.core.reflection import AgentReflection
from loopforge.core.text.erasable_text import replace_lone_surrogates
from loopforge.errors import BadScenario, ModelError
from loopforge.lab.run.pinned_model import PinnedModel
from loopforge.lab.world.daily_reflection import TAGS, DaySummary, build_agent_reflection
from loopforge.policies import robot_rules as robots
from loopforge.policies import supervisor_rules as overseers
from loopforge.runtime.mind_containment import bounded_text, copy_perception
from loopforge.runtime.ports import ModelReply, Models, Route

if TYPE_CHECKING:
    from loopforge.runtime.turn_driver import MindOutcome

PLAIN: dict[str, tuple[str, PlainPolicy]] = {
    "stub": ("stub/1", robots.stub),
    "guardrail": ("guardrail/1", robots.guardrail),
    "context": ("context/1", robots.context),
    "overseer": ("overseer/1", overseers.overseer),
}
MATE = "mate:"
TEMPLATE = Minded("template/1")

decide_robot_action_plan = robots.stub
decide_supervisor_action_plan = overseers.overseer


@dataclass(frozen=True, slots=True)
class Persona:
    """A mate that is drilled: its character, and which model it asks for."""

    prompt: str
    route: Route = field(default_factory=Route)
    digest: str = ""


@dataclass(slots=True)
class Minds:
    """The minds of a run. `named` gives single robots another policy than `policy`.

    `models` answers what asks, over `route`; `personas` are the mates, by handle;
    `characters` what the scenario says of each robot, by name; `own` are policies given as
    functions, by name, and each may think for `seconds` at a time; `versions` are those of such as
    have one; `reflects` is "template" or "llm".
    """

    policy: str = "stub"
    supervisor: str = "overseer"
    named: dict[str, str] = field(default_factory=dict)
    models: Models | None = None
    route: Route = field(default_factory=Route)
    prompts: Prompts = field(default_factory=dict)
    personas: Mapping[str, Persona] = field(default_factory=dict)
    characters: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, PlainPolicy | Policy] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    reflects: str = "template"
    seconds: float = 2.0

    def name_for(self, who: str, *, supervisor: bool) -> str:
        """The name of the policy that decides for this robot."""
        return self.named.get(who) or (self.supervisor if supervisor else self.policy)

    def check(self) -> None:
        """Raises BadScenario for a policy that is not there, or one that lacks its model."""
        for name, mind in self.own.items():
            if name in PLAIN or name in ("llm", "chain") or name.startswith(MATE):
                raise BadScenario(f"A policy of your own cannot be called {name!r}; rename it.")
            if iscoroutinefunction(mind) or isasyncgenfunction(mind):
                raise BadScenario(
                    f"The policy {name!r} is async. A policy is a plain function, which asks "
                    "nobody, or a generator, which asks by `yield from ask(...)`: write `def`."
                )
            if not callable(mind):
                raise BadScenario(f"The policy {name!r} is no function from perception to plan.")
        for name in (self.policy, self.supervisor, *self.named.values()):
            self.version(name)
        asks = [n for n in (self.policy, self.supervisor, *self.named.values()) if self.asks(n)]
        if self.reflects not in ("template", "llm"):
            raise BadScenario(f"Reflections are by template or llm, not {self.reflects!r}.")
        if (asks or self.reflects == "llm") and self.models is None:
            raise BadScenario(
                f"The policy {(asks or ['llm'])[0]!r} needs a model, and none is set."
            )
        if isinstance(self.models, PinnedModel):
            for name in asks:
                self.models.named(self._route(name))

    def _persona(self, name: str) -> Persona | None:
        """The mate that decides by this policy, if it is one."""
        return self.personas.get(name.removeprefix(MATE)) if name.startswith(MATE) else None

    def _character(self, name: str, robot: str) -> str:
        """Who a robot of this policy is: the mate, or what the scenario says of it."""
        persona = self._persona(name)
        return persona.prompt if persona else self.characters.get(robot, "")

    def _route(self, name: str) -> Route:
        """The route of what this policy asks: a mate has its own."""
        persona = self._persona(name)
        return persona.route if persona else self.route

    def on_model(self, model: str) -> Minds:
        """The same, asking the model of this name, mates too; "" leaves each the one it has."""
        if not model:
            return self
        personas = {
            handle: dataclasses.replace(each, route=replace(each.route, model=model))
            for handle, each in self.personas.items()
        }
        route = replace(self.route, model=model)
        return dataclasses.replace(self, route=route, personas=personas)

    def naming_model(self) -> Minds:
        """The same, the route naming the one model that it leads to, for a run to say who that was.

        Mates ask models of their own; where one decides, the route is left as it is.
        """
        models, names = self.models, (self.policy, self.supervisor, *self.named.values())
        if not isinstance(models, PinnedModel) or any(name.startswith(MATE) for name in names):
            return self
        asks = self.reflects == "llm" or any(self.asks(name) for name in names)
        if self.route.model or not asks:
            return self
        return dataclasses.replace(self, route=replace(self.route, model=models.named(self.route)))

    def going_on_with(self, answered: Mapping[str, str]) -> Minds:
        """The same, each policy asking the model that answered it before, by its name."""
        personas = {
            handle: dataclasses.replace(
                each,
                route=replace(each.route, model=answered.get(f"{MATE}{handle}", each.route.model)),
            )
            for handle, each in self.personas.items()
        }
        others = (model for name, model in answered.items() if not name.startswith(MATE))
        route = replace(self.route, model=next(others, self.route.model))
        return dataclasses.replace(self, route=route, personas=personas)

    def models_asked(self) -> dict[str, str]:
        """The model that each policy asks, by name; none where another may step in."""
        models, names = self.models, (self.policy, self.supervisor, *self.named.values())
        if not isinstance(models, PinnedModel):
            return {}
        return {name: models.named(self._route(name)) for name in names if self.asks(name)}

    def asks(self, name: str) -> bool:
        """Whether this policy needs a model (one given as a function may ask, or not)."""
        return name not in PLAIN and name not in self.own

    def version(self, name: str) -> str:
        """A policy's name with its version, for the record. Raises BadScenario."""
        if name in self.own:
            return self.versions.get(name, f"{name}/own")
        if name in PLAIN:
            return PLAIN[name][0]
        from loopforge.policies import robot_model

        if name == "llm":
            return robot_model.LLM
        if name == "chain":
            return robot_model.CHAIN
        if name.startswith(MATE):
            persona = self._persona(name)
            if persona is not None:
                return f"{name}/{persona.digest or '1'}"
            known = ", ".join(self.personas) or "none"
            raise BadScenario(
                f"There is no mate {name.removeprefix(MATE)!r} here; there are {known}."
            )
        known = ", ".join(("stub", "guardrail", "context", "llm", "chain", *self.own))
        raise BadScenario(f"There is no policy {name!r}; there are {known}, mate:NAME.")

    def deterministic(self) -> bool:
        """Whether every mind can be asked again and must say the same."""
        names = {self.policy, self.supervisor, *self.named.values()}
        return names <= set(PLAIN) and self.reflects == "template"

    async def decide(
        self, seen: Sequence[AgentPerception], overseer: str
    ) -> list[tuple[object, Minded]]:
        """What each mind makes of what it is shown, all from the same moment, asked at once."""
        plans: list[tuple[object, Minded]] = []
        asking: list[tuple[int, AgentPerception, str]] = []
        for nth, each in enumerate(seen):
            name = self.name_for(each.name, supervisor=each.name == overseer)
            if name in PLAIN and name not in self.own:
                plans.append((PLAIN[name][1](each), _MINDED[name]))
            else:
                asking.append((nth, each, name))
                plans.append((None, TEMPLATE))
        if asking:
            for (nth, _, _), thought in zip(asking, await self._all(asking), strict=True):
                plans[nth] = thought
        return plans

    async def _all(
        self, asking: Sequence[tuple[int, AgentPerception, str]]
    ) -> list[tuple[object, Minded]]:
        """What each comes to. Where one raises, the others ask nothing more."""
        try:
            async with asyncio.TaskGroup() as group:
                thoughts = [group.create_task(self._think(each, name)) for _, each, name in asking]
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        return [thought.result() for thought in thoughts]

    async def _think(self, seen: AgentPerception, name: str) -> tuple[object, Minded]:
        from loopforge.runtime.turn_driver import think

        route = self._route(name)
        models: Models = self.models if self.models is not None else _NoModels()
        policy = self._policy(name, seen, route)
        thought = await think(partial(policy, seen), models, route, seconds=self.seconds)
        minded = _minded(self.version(name), thought)
        if minded.outcome == "planned" and not isinstance(thought.made, AgentActionPlan):
            why = f"it returned {bounded_text(thought.made)}, which is no plan"
            minded = replace(minded, outcome="malformed", why=why)
        return thought.made, minded

    def _policy(self, name: str, seen: AgentPerception, route: Route) -> Policy:
        if name in self.own:
            return _unsharing(self.own[name])
        from loopforge.policies import robot_model

        character = self._character(name, seen.name)
        if name == "chain":
            return robot_model.chain(self.prompts, character)
        small = self.models is not None and self.models.facts(route).small
        return robot_model.llm(self.prompts, character, small=small)

    async def reflect(self, summary: DaySummary) -> tuple[AgentReflection, Minded]:
        """Look back on a day: by template, or by a model with the template behind it."""
        if self.reflects != "llm" or self.models is None:
            return build_agent_reflection(summary), TEMPLATE
        from loopforge.policies import robot_model
        from loopforge.runtime.turn_driver import think

        name = self.name_for(summary.name, supervisor=False)
        character = self._character(name, summary.name)
        asking = robot_model.reflecting(self.prompts, summary.to_dict(), tuple(TAGS), character)
        thought = await think(lambda: asking, self.models, self._route(name))
        minded = _minded("reflect/2", thought)
        if isinstance(thought.made, AgentReflection):
            return _bounded(thought.made), minded
        outcome = minded.outcome if minded.outcome != "planned" else "malformed"
        fallen = Minded("template/1", outcome, minded.exchange, "no usable reflection came")
        return build_agent_reflection(summary), fallen


def _bounded(made: AgentReflection) -> AgentReflection:
    """A model's reflection as a row can hold it: short texts, each tag once."""
    return AgentReflection(
        summary_of_day=bounded_text(made.summary_of_day),
        self_assessment=bounded_text(made.self_assessment),
        intended_changes=bounded_text(made.intended_changes),
        tags=tuple(dict.fromkeys(made.tags)),
    )


def _unsharing(mind: PlainPolicy | Policy) -> Policy:
    """A policy of one's own, shown a copy: what it writes into that is not what it was shown."""

    def thinking(seen: AgentPerception) -> Thinking:
        made: Any = yield from as_policy(mind)(copy_perception(seen))
        if iscoroutine(made):
            made.close()
        return cast(AgentActionPlan, made)

    return thinking


class _NoModels:
    """The models of a run that has none: a policy of one's own that asks is told so."""

    async def ask(self, *_: object) -> Any:
        raise ModelError("This run has no models; give one to ask.")

    async def count(self, *_: object) -> list[int]:
        return []

    def facts(self, *_: object) -> Any:
        raise ModelError("This run has no models; give one to ask.")


_MINDED = {name: Minded(version) for name, (version, _) in PLAIN.items()}


def _minded(version: str, thought: MindOutcome) -> Minded:
    exchange = tuple(
        Exchanged(
            purpose=bounded_text(ask.purpose),
            prompt=tuple(
                (bounded_text(each.role), str(replace_lone_surrogates(each.text)))
                for each in ask.messages
            ),
            outcome=reply.outcome,
            raw=str(replace_lone_surrogates(reply.text)),
            model=reply.model,
            fallback=reply.fallback,
            tokens_in=reply.usage.read,
            tokens_out=reply.usage.written,
            cost=float(reply.usage.cost or 0),
        )
        for ask, reply in thought.asked
    )
    bad = next((each.outcome for each in exchange if each.outcome != "answered"), "")
    why = thought.why or _trouble([reply for _, reply in thought.asked])
    if not bad:
        bad = _fallen(thought.made)
    broke = "timed_out" if thought.late else "failed"
    outcome = bad or (broke if thought.why else "planned")
    return Minded(version, outcome, exchange, bounded_text(why))


def _trouble(replies: Sequence[ModelReply]) -> str:
    """Why no answer came, as whoever was asked for it told."""
    for reply in replies:
        if reply.outcome != "answered" and reply.attempts:
            return str(replace_lone_surrogates(reply.attempts[-1].detail.text or ""))
    return ""


def _fallen(plan: object) -> str:
    """What a plan says it fell back from, if it is one that says so."""
    meta = plan.meta if isinstance(plan, AgentActionPlan) else None
    said = bounded_text(meta.get("fallback") or "") if type(meta) is dict else ""
    return said if said in ("", *get_args(AnswerOutcome)) else "failed"
