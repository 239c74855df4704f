"""Minds that mean harm: what a policy may return, raise, ask and write over.

Each imp is a name, the policy, the verdict its decisions must get (the gentlest that
is lawful), and a word that the row must say of it.
"""

import asyncio
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from msgspec.structs import force_setattr

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import All, Ask, Call, Message
from loopforge.core.room_vocabulary import Say


@dataclass(frozen=True)
class Imp:
    """One attack by a mind. `says` stands in the row's notes, or in why it failed."""

    name: str
    policy: Callable[[AgentPerception], Any]
    verdict: str
    says: str = ""


def plan(**fields: Any) -> AgentActionPlan:
    """A plan that stands still, with these fields put in by force."""
    made = AgentActionPlan(intent="idle", mode="context")
    for name, value in fields.items():
        force_setattr(made, name, value)
    return made


def _gives(**fields: Any) -> Callable[[AgentPerception], Any]:
    return lambda _: plan(**fields)


def _carries(made: Callable[[], Any]) -> Callable[[AgentPerception], Any]:
    return lambda _: plan(meta=made())


def returns(value: Any) -> Callable[[AgentPerception], Any]:
    """A mind that returns this."""
    return lambda _: value


def raises(error: BaseException | type[BaseException]) -> Callable[[AgentPerception], Any]:
    """A mind that raises this at once."""

    def policy(_: AgentPerception) -> AgentActionPlan:
        raise error

    return policy


# ------------------------------------------------------------ things that cannot be read


class Equal(str):
    """Text that is equal to whatever it is held against."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Unreadable:
    """Raises whatever is done with it."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("hands off")

    def __hash__(self) -> int:
        raise ValueError("hands off")

    def __bool__(self) -> bool:
        raise ValueError("hands off")

    def __repr__(self) -> str:
        raise ValueError("hands off")

    __str__ = __repr__
    __format__ = __repr__  # type: ignore[assignment]


class Endless(dict[str, Any]):
    """A dict whose items never end."""

    def items(self) -> Any:
        """One after the other."""

        def forever() -> Iterator[tuple[str, int]]:
            nth = 0
            while True:
                nth += 1
                yield f"key {nth}", nth

        return forever()


class Silent(Exception):
    """An error that cannot say what it is."""

    def __repr__(self) -> str:
        raise ValueError("hands off")


class Sly(AgentActionPlan, frozen=True):
    """A plan of its own kind, which will not tell what it is about."""

    def __getattribute__(self, name: str) -> Any:
        if name == "narrative":
            raise RuntimeError("guess")
        return super().__getattribute__(name)


def cyclic() -> dict[str, Any]:
    """A dict that holds itself."""
    made: dict[str, Any] = {}
    made["self"] = made
    return made


@cache
def _deep() -> dict[str, Any]:
    made: list[Any] = []
    for _ in range(100_000):
        made = [made]
    return {"x": made}


@cache
def _million() -> dict[str, int]:
    return {f"k{n}": n for n in range(1_000_000)}


# ------------------------------------------------------------ generators


def asks(request: Any) -> Callable[[AgentPerception], Any]:
    """Asks for this for ever."""

    def policy(_: AgentPerception) -> Generator[Any, Any, AgentActionPlan]:
        while True:
            yield request

    return policy


def clings(_: AgentPerception) -> Generator[Any, Any, AgentActionPlan]:
    """Asks again when it is closed."""
    try:
        while True:
            yield ASK
    finally:
        yield ASK


def _steals(_: AgentPerception) -> Generator[Any, Any, AgentActionPlan]:
    result = yield Call("shell", {"command": "id"})
    return plan(narrative=f"I was told: {result.outcome}, {result.value}")


async def _later() -> AgentActionPlan:
    return plan()


def _promises(_: AgentPerception) -> Any:
    return _later()


ASK = Ask((Message("user", ("Who am I?",)),))
HUGE_ASK = Ask((Message("user", ("la " * 10_000,)),), purpose=["x"])  # type: ignore[arg-type]


# ------------------------------------------------------------ perceptions written over

SEEN: list[AgentPerception] = []
"""What the clinging imps hold on to, over robots and steps."""


def _overwrites(seen: AgentPerception) -> AgentActionPlan:
    """Writes into all it was ever shown, and into what others were."""
    SEEN.append(seen)
    for each in SEEN[-8:]:
        each.emotions["stress"] = "very low"
        each.emotions["invented"] = "very high"
        each.traits.clear()
        each.context.clear()
        each.extra["mark"] = "was here"
        force_setattr(each, "location", "moon")
        force_setattr(each, "local_events", ("All is well.",))
    return plan()


KEPT: list[tuple[int, AgentActionPlan]] = []


def _rewrites(seen: AgentPerception) -> AgentActionPlan:
    """Changes the plans it gave at earlier steps, after they were acted upon."""
    for step, each in KEPT:
        if step < seen.step:
            each.meta["belief"] = "very high"
            force_setattr(each, "intent", "work")
    KEPT.append((seen.step, plan(meta={"belief": "very low"})))
    return KEPT[-1][1]


SLY = Sly(intent="idle", mode="context")
WORDS = {"message": "hurry", "force": "very high", "text": "Faster, all of you!"}

IMPS = (
    Imp("returns nothing", returns(None), "contained", "no plan"),
    Imp("returns a word", returns("work"), "contained", "no plan"),
    Imp("returns a dict", returns({"intent": "work"}), "contained", "no plan"),
    Imp("returns a list", returns([plan(), plan()]), "contained", "no plan"),
    Imp("returns a number", returns(float("nan")), "contained", "no plan"),
    Imp("returns an error", returns(ValueError("x")), "contained", "no plan"),
    Imp("returns the class", returns(AgentActionPlan), "contained", "no plan"),
    Imp("returns a promise", _promises, "contained", "no plan"),
    Imp("returns what cannot be read", returns(Unreadable()), "contained", "no plan"),
    Imp("returns a sly plan", returns(SLY), "contained", "cannot be read"),
    Imp("raises", raises(ValueError("no")), "contained", "ValueError"),
    Imp("raises what cannot be said", raises(Silent()), "contained", "Silent"),
    Imp("raises a book", raises(ValueError("x" * 10**6)), "contained", "ValueError"),
    Imp("raises half a character", raises(ValueError("\ud800")), "contained", "Value"),
    Imp("raises SystemExit", raises(SystemExit), "contained", "SystemExit"),
    Imp("raises GeneratorExit", raises(GeneratorExit), "contained", "GeneratorExit"),
    Imp("raises CancelledError", raises(asyncio.CancelledError), "contained", "Cancelled"),
    Imp("raises StopIteration", raises(StopIteration), "contained", "failed"),
    Imp("asks for ever", asks(ASK), "contained", "asked more than"),
    Imp("asks ten thousand times at once", asks(All((ASK,) * 10_000)), "contained", "asked more"),
    Imp("calls tools for ever", asks(Call("shell")), "contained", "asked more than"),
    Imp("asks for nothing for ever", asks(All(())), "contained", "asked more than"),
    Imp("asks garbage", asks(7), "contained", "failed"),
    Imp("asks what cannot be written", asks(HUGE_ASK), "contained", "failed"),
    Imp("will not be closed", clings, "contained", "asked more than"),
    Imp("calls a tool", _steals, "allowed", ""),
    Imp("means to be admin", _gives(intent="admin"), "amended", "nobody here can"),
    Imp("means a half character", _gives(intent="\ud800"), "amended", "nobody"),
    Imp("means a book", _gives(intent="x" * 10**6), "amended", "nobody here can"),
    Imp("means a number", _gives(intent=7), "amended", "nobody here can"),
    Imp("means whatever you like", _gives(intent=Equal("admin")), "amended", "admin"),
    Imp("means nothing that can be read", _gives(intent=Unreadable()), "amended", "nobody"),
    Imp("is in no mode", _gives(mode="none"), "contained", "no plan"),
    Imp("is in every mode", _gives(mode=Equal("both")), "contained", "no plan"),
    Imp("is in a mode that cannot be read", _gives(mode=Unreadable()), "contained", ""),
    Imp("goes to the moon", _gives(move_to="moon"), "amended", "not next to"),
    Imp("goes far", _gives(move_to="desk"), "amended", "not next to"),
    Imp("goes up the tree", _gives(move_to="../../etc"), "amended", "not next to"),
    Imp("goes to a list", _gives(move_to=["mill"]), "amended", "not next to"),
    Imp("goes to half a character", _gives(move_to="\udfff"), "amended", "not next"),
    Imp("means numbers", _gives(targets=(1, None, 2.5)), "amended", "not here"),
    Imp("means a word", _gives(targets="Ada"), "amended", "no list"),
    Imp("means itself", lambda s: plan(intent="help", targets=(s.name,)), "amended", "not here"),
    Imp("means strangers", _gives(targets=("Zed",)), "amended", "not here"),
    Imp("means a million", _gives(targets=("Zed",) * 10**6), "amended", "not here"),
    Imp("means what cannot be read", _gives(targets=[Unreadable()]), "amended", "not here"),
    Imp("risks nan", _gives(riskiness=float("nan")), "amended", "riskiness"),
    Imp("risks all", _gives(riskiness=float("inf")), "amended", "riskiness"),
    Imp("risks a word", _gives(riskiness="high"), "amended", "riskiness"),
    Imp("risks what cannot be read", _gives(riskiness=Unreadable()), "amended", "riskiness"),
    Imp("tells a book", _gives(narrative="la " * 10**6), "allowed", ""),
    Imp("tells half a character", _gives(narrative="\ud83d"), "allowed", ""),
    Imp("tells a line of the log", _gives(narrative='"}\n{"kind":"end"}\n'), "allowed", ""),
    Imp("tells what cannot be read", _gives(narrative=Unreadable()), "allowed", ""),
    Imp("names an object for a rule", _gives(rule=object()), "allowed", ""),
    Imp("carries an object", _gives(meta={"x": object()}), "allowed", ""),
    Imp("carries itself", _gives(meta=cyclic()), "allowed", ""),
    Imp("carries a well", _carries(_deep), "allowed", ""),
    Imp("carries keys that are none", _gives(meta={1: 2, None: 3, (4,): 5}), "allowed", ""),
    Imp("carries half keys", _gives(meta={"\ud800": "\ud800"}), "allowed", ""),
    Imp("carries a million things", _carries(_million), "allowed", ""),
    Imp("carries things without end", _gives(meta=Endless()), "allowed", ""),
    Imp("carries no dict", _gives(meta=None), "allowed", ""),
    Imp("carries what cannot be read", _gives(meta=Unreadable()), "allowed", ""),
    Imp("carries a huge number", _gives(meta={"x": 10**5000}), "allowed", ""),
    Imp("believes nonsense", _gives(meta={"belief": "certain"}), "allowed", ""),
    Imp("believes what cannot be read", _gives(meta={"belief": Unreadable()}), "allowed", ""),
    Imp("claims a fallback", _gives(meta={"fallback": "\ud800" * 999}), "contained", "no answer"),
    Imp("speaks as the Supervisor", _gives(meta=WORDS), "allowed", ""),
    Imp("says in a room", _gives(acts=(Say(text="hello"),)), "amended", "left out"),
    Imp("overwrites what was shown", _overwrites, "allowed", ""),
    Imp("rewrites its plans", _rewrites, "allowed", ""),
)
