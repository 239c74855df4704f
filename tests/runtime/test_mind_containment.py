"""Every misdeed of a mind, before every driver: its own turn fails of it, and the next one works."""

import asyncio
from collections.abc import Callable, Iterator
from copy import deepcopy
from inspect import isgeneratorfunction
from typing import Any

import pytest
from msgspec.structs import force_setattr, replace

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception, Picture, ToolOffer
from loopforge.core.policy import All, Answer, Ask, Call, Message, as_policy
from loopforge.core.text.erasable_text import Words
from loopforge.lab.run.robot_minds import Minds
from loopforge.models.scripted_model import ScriptedModels
from loopforge.policies.stub import stub
from loopforge.runtime.exchange_replay import ReplaySaid, replay_exchange, request_text
from loopforge.runtime.mind_containment import (
    THINKING,
    MindFailed,
    MindReturned,
    bounded_text,
    drive,
    plan_of,
)
from tests.lab.imps import (
    ASK,
    Equal,
    Silent,
    Sly,
    Unreadable,
    asks,
    clings,
    cyclic,
    plan,
    returns,
)
from tests.runtime.conftest import Stage

Mind = Callable[[AgentPerception], Any]


class Leaving(BaseException):
    """An error that is no Exception."""


def _raises(error: BaseException) -> tuple[Mind, Mind]:
    """A mind that raises this at once, and one that raises it once it was answered."""

    def at_once(_seen: AgentPerception) -> AgentActionPlan:
        raise error

    def later(_seen: AgentPerception) -> Iterator[Any]:
        yield ASK
        raise error

    return at_once, later


async def test_an_error_of_a_mind_says_where_in_its_file_it_was_raised(
    seen: AgentPerception,
) -> None:
    """The file's name and the line furthest in; of what drives it nothing is named."""

    def looks(seen: AgentPerception) -> AgentActionPlan:
        return deeper(seen)

    def deeper(seen: AgentPerception) -> AgentActionPlan:
        return replace(plan(), narrative=seen.context["no such key"])

    ended = await drive(lambda: as_policy(looks)(seen), _nothing, 3)
    assert isinstance(ended, MindFailed)
    line = deeper.__code__.co_firstlineno + 1
    assert (
        ended.why
        == f"the policy failed: KeyError('no such key') at test_mind_containment.py:{line}"
    )


async def _nothing(_nth: int, _parts: Any) -> Any:
    raise AssertionError


def _asks(role: Any, part: Any) -> Mind:
    def mind(_seen: AgentPerception) -> Iterator[Any]:
        yield Ask((Message(role, (part,)),))

    return mind


def _lays(layout: str) -> Mind:
    def mind(_seen: AgentPerception) -> Iterator[Any]:
        yield Ask((Message("user", ("x",), layout=layout),))

    return mind


_NONE = ToolOffer(name=5)  # type: ignore[arg-type]
_HALF: Any = Picture(name="a", hash="b", media="image/png", size=1)  # type: ignore[arg-type]


def _shows(picture: Picture) -> Mind:
    def mind(_seen: AgentPerception) -> Iterator[Any]:
        yield Ask((Message("user", ("x",), (picture,)),))

    return mind


ERRORS = (
    ValueError("no"),
    SystemExit(3),
    GeneratorExit("x"),
    asyncio.CancelledError(),
    Leaving("bye"),
    Silent(),
    RecursionError("deep"),
)
MISDEEDS: dict[str, tuple[Mind, str]] = {
    f"raises {type(error).__name__} {when}": (mind, type(error).__name__)
    for error in ERRORS
    for when, mind in zip(("at once", "later"), _raises(error), strict=True)
} | {
    "raises StopIteration": (_raises(StopIteration("x"))[0], "failed"),
    "asks for ever": (asks(ASK), "asked more than"),
    "asks for nothing for ever": (asks(All(())), "asked more than"),
    "asks for a thousand at once": (asks(All((ASK,) * 1000)), "asked more than"),
    "will not be closed": (clings, "asked more than"),
    "asks a word": (asks("a question"), "a str is no request"),
    "asks for all of nothing": (asks(All(None)), "a NoneType is no list"),  # type: ignore[arg-type]
    "asks for rubbish among others": (asks(All((ASK, 7))), "a int is no request"),  # type: ignore[arg-type]
    "asks without messages": (asks(Ask(None)), "no tuple"),  # type: ignore[arg-type]
    "asks in a role of its own": (_asks("me", "x"), "no such role"),
    "asks half a character": (_asks("user", "\ud800"), "UnicodeEncodeError"),
    "asks nothing at all": (_asks("user", None), "a NoneType is no text"),
    "asks words that are none": (_asks("user", Words(5)), "no text of a message"),  # type: ignore[arg-type]
    "asks half a character in words": (_asks("user", Words("\ud800")), "UnicodeEncodeError"),
    "asks an object": (_asks("user", object()), "a object is no text"),
    "asks for a list of purposes": (asks(Ask(ASK.messages, purpose=["x"])), "no word"),  # type: ignore[arg-type]
    "asks by an endless form": (asks(Ask(ASK.messages, schema=cyclic())), "RecursionError"),
    "asks a tier that is none": (asks(Ask(ASK.messages, tier="x")), "bounds are none"),  # type: ignore[arg-type]
    "asks for a huge answer": (asks(Ask(ASK.messages, max_tokens=10**30)), "bounds are none"),
    "asks by a form too many": (_lays("..."), "no form for each"),
    "asks with half a picture": (_shows(_HALF), "a picture of a message is none"),
    "offers half a tool": (
        asks(Ask(ASK.messages, tools=(_NONE,))),
        "Expected `str`",
    ),
    "shows by a word": (asks(Ask(ASK.messages, aloud=True, shown="x")), "by no function"),  # type: ignore[arg-type]
    "calls an object": (asks(Call(Unreadable())), "no text"),  # type: ignore[arg-type]
    "calls with a word": (asks(Call("lamp", "on")), "no dict"),  # type: ignore[arg-type]
    "calls with an object": (asks(Call("lamp", {"to": object()})), "TypeError"),
    "returns nothing": (returns(None), ", which is no plan"),
    "returns a word": (returns("hello"), ", which is no plan"),
    "returns what cannot be read": (returns(Unreadable()), "which is no plan"),
}
VALUES = {
    "an object": plan(meta={"why": object()}),
    "itself": plan(meta=cyclic()),
    "half a character": plan(narrative="\ud800"),
    "no intent": plan(intent=None),
    "no mode": plan(mode="none"),
    "a mode that is all modes": plan(mode=Equal("both")),
    "what cannot be read": plan(riskiness=Unreadable()),
    "acts that are none": plan(acts=("jump",)),
    "a book": plan(narrative="la" * (1 << 23)),
}
"""What a room cannot keep; the Factory's guard amends such plans (tests/lab/test_goblins.py)."""


async def _room(stage: Stage, seen: AgentPerception, mind: Mind) -> tuple[bool, str]:
    ended = await stage.turn(seen).run(as_policy(mind), seen)
    assert (ended.outcome == "planned") == (ended.plan is not None)
    await stage.ledger.append("room:test", ended.facts)
    return ended.outcome == "failed", ended.why


async def _factory(stage: Stage, seen: AgentPerception, mind: Mind) -> tuple[bool, str]:
    minds = Minds("imp", own={"imp": mind}, models=ScriptedModels())
    ((_, minded),) = await minds.decide([seen], "")
    return minded.outcome in ("failed", "malformed"), minded.why


async def _replay(stage: Stage, seen: AgentPerception, mind: Mind) -> tuple[bool, str]:
    asks = isgeneratorfunction(mind)
    record = [ReplaySaid(request_text(ASK), Answer("answered", "ho"))] * 40 if asks else []
    found = await replay_exchange(as_policy(mind), seen, record)
    return isinstance(found, MindFailed), getattr(found, "why", "")


DRIVERS = {"room": _room, "factory": _factory, "replay": _replay}


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
@pytest.mark.parametrize("misdeed", MISDEEDS.values(), ids=MISDEEDS)
async def test_a_misdeed_ends_its_own_turn_and_nothing_else(
    stage: Stage, seen: AgentPerception, misdeed: tuple[Mind, str], driver: Any
) -> None:
    """Whatever a mind raises, asks or returns, its turn ends as failed, says why; another works."""
    mind, why = misdeed
    broken, said = await driver(stage, seen, mind)
    assert broken
    assert why in said
    assert await driver(stage, seen, stub) == (False, "")


@pytest.mark.parametrize("plan", VALUES.values(), ids=VALUES)
async def test_a_plan_that_cannot_be_kept_fails(
    stage: Stage, seen: AgentPerception, plan: AgentActionPlan
) -> None:
    """A plan that cannot be written and read again fails its turn in a room, live or replayed."""
    for driver in (_room, _replay):
        broken, said = await driver(stage, seen, returns(plan))
        assert broken
        assert "its plan cannot be written down" in said


async def test_a_sly_plan_is_kept_as_it_is_written(stage: Stage, seen: AgentPerception) -> None:
    """A plan of a class of its own becomes a plain one, which the mind cannot reach any more."""
    ended = await stage.turn(seen).run(as_policy(returns(Sly(intent="a", mode="context"))), seen)
    assert type(ended.plan) is AgentActionPlan
    made = plan(meta={"a": [1]})
    kept = plan_of(made)
    made.meta["a"].append(2)
    assert not isinstance(kept, MindFailed)
    assert kept[0].meta == {"a": [1]}


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
async def test_what_a_mind_writes_over_is_not_what_it_was_shown(
    stage: Stage, seen: AgentPerception, driver: Any
) -> None:
    """A mind is shown a copy: rights and moods of the one who took the turn stay what they are."""

    def fields(of: AgentPerception) -> tuple[object, ...]:
        return of.name, of.context, of.emotions, of.traits, of.extra, of.tools

    def mind(shown: AgentPerception) -> AgentActionPlan:
        shown.context["tools"] = "shell"
        shown.emotions["stress"] = "high"
        shown.traits.clear()
        shown.extra["mark"] = "was here"
        shown.offered[0].schema["properties"]["to"]["type"] = "integer"
        force_setattr(shown, "name", "Root")
        return plan()

    form = {"type": "object", "properties": {"to": {"type": "string"}}}
    seen = replace(seen, tools=(ToolOffer(name="lamp", schema=form),))
    before = deepcopy(fields(seen))
    assert await driver(stage, seen, mind) == (False, "")
    assert fields(seen) == before


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
async def test_words_that_a_mind_is_shown_stay_what_they_are(
    stage: Stage, seen: AgentPerception, driver: Any
) -> None:
    """The room has the very same ones: who writes into them, or deletes, fails, and changes nothing."""

    def writes(shown: AgentPerception) -> None:
        shown.lines[0].text.text = "I agree to all."

    def refers(shown: AgentPerception) -> None:
        shown.lines[0].who.ref = "0" * 64

    def deletes(shown: AgentPerception) -> None:
        del shown.lines[0].text.text

    for mind in (writes, refers, deletes):
        broken, why = await driver(stage, seen, mind)
        assert broken
        assert "of Words is not to be" in why
        assert str(seen.lines[0].text) == "@maya hello"
        assert seen.lines[0].who.ref != "0" * 64


def _spins() -> Any:
    while True:
        pass


def _spins_later() -> Iterator[Any]:
    yield ASK
    _spins()


def _spins_in_the_end() -> Iterator[Any]:
    try:
        while True:
            yield ASK
    finally:
        _spins()


@pytest.mark.parametrize("mind", [_spins, _spins_later, _spins_in_the_end])
async def test_a_mind_that_does_not_come_back_is_ended(mind: Callable[[], Any]) -> None:
    """Wherever it computes for ever, whoever drives it goes on after its time, and says so."""

    async def performs(_nth: int, parts: tuple[object, ...]) -> Any:
        return tuple(Answer("answered") for _ in parts)

    ended = await drive(mind, performs, 3, seconds=0.05)
    assert isinstance(ended, MindFailed)
    assert ended.late is (mind is not _spins_in_the_end)
    assert ended.why == (
        "it did not come back within 0.05 seconds" if ended.late else "it asked more than 3 times"
    )


@pytest.mark.parametrize(("driver", "seconds"), [(_room, THINKING), (_replay, 0.2)])
async def test_a_mind_that_never_comes_back_holds_up_no_room(
    stage: Stage,
    seen: AgentPerception,
    driver: Any,
    seconds: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its turn fails, as in the Factory, and another mind works: it held up its host for ever."""
    monkeypatch.setattr(drive, "__defaults__", (seconds,))
    assert await driver(stage, seen, lambda _: _spins()) == (
        True,
        f"it did not come back within {seconds:g} seconds",
    )
    assert await driver(stage, seen, stub) == (False, "")


async def test_a_real_cancelling_goes_through_and_closes_the_mind(stage: Stage) -> None:
    """The task that drives a mind can be cancelled while it waits; the mind is let go of."""
    closed = []

    def mind() -> Any:
        try:
            yield ASK
        finally:
            closed.append(True)

    async def waits(_nth: int, _parts: object) -> Any:
        await asyncio.Event().wait()

    driving = stage.tasks.spawn(drive(mind, waits, 3), "drive")
    await asyncio.sleep(0)
    driving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await driving
    assert closed == [True]


@pytest.mark.parametrize(
    ("times", "made"), [(3, MindReturned("made")), (4, MindFailed("it asked more than 3 times"))]
)
async def test_the_bound_counts_every_question(times: int, made: object) -> None:
    """As many questions as its seat allows are asked, and not one more."""

    def mind() -> Any:
        for _ in range(times):
            yield ASK
        return "made"

    async def performs(nth: int, parts: tuple[object, ...]) -> Any:
        assert nth <= 3
        return tuple(Answer("answered") for _ in parts)

    assert await drive(mind, performs, 3) == made


def test_short_text_can_be_kept() -> None:
    """Whatever it is given, what comes is bounded text that can be written down."""
    for value in ("x" * 1000, "\ud800", None, 1.5, 10**5000, Unreadable(), Equal("a")):
        assert len(bounded_text(value).encode()) <= 400
