"""Effects: uses of tools, worked off outside the lanes, on record step by step."""

import asyncio
import math
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest

from loopforge.core.effect_states import EffectApproved, EffectProposed, EffectRunning
from loopforge.core.events import Event
from loopforge.core.policy import Call
from loopforge.core.room_vocabulary import RoomClosed, Stopped
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import TurnEnded
from loopforge.ledger.sql_ledger import open_ledger
from loopforge.runtime.effects.effect_worker import DIED, GOES_ON, EffectOutcome, Effects
from loopforge.runtime.effects.nested_calls import PROGRAM_OVER
from loopforge.runtime.ports import CallPermission, EffectPlace, Tool, ToolCall, ToolProgress
from loopforge.runtime.system_clock import Stamp
from tests.runtime.conftest import SITE, STREAM, Stage, permitting
from tests.seeded_dice import SeededDice

STUBBORN = Tool(name="stubborn", summary="Never ends.", patience=5, limit=1000)


@pytest.fixture
async def began(stage: Stage) -> AsyncIterator[list[str]]:
    """What was begun by a tool that never ends, whoever tells it to, but for this test's end."""
    began: list[str] = []
    over = asyncio.Event()

    async def stubborn(call: ToolCall) -> str:
        began.append(str(call.arguments))
        while not over.is_set():
            try:
                await over.wait()
            except asyncio.CancelledError:
                began.append("cancelled")
        return "at last"

    stage.tools.add(STUBBORN, stubborn)
    yield began
    over.set()


async def propose(stage: Stage, tool: str, **arguments: object) -> str:
    """A mind wants a tool used that it was granted, or any other; the effect's id."""
    granted = {known.name for known in stage.tools.known()} - {"fuse"}
    call = Call(tool, arguments)
    facts = stage.effects.proposal(
        call, EffectPlace(STREAM, "t1", 1), "mate:maya", permitting(granted)(call)
    )
    return (await stage.ledger.append(STREAM, facts))[0].id


async def steps(stage: Stage) -> list[str]:
    """What happened to effects, in order."""
    kinds = [event.kind for event in await stage.events()]
    return [kind.removeprefix("effect.") for kind in kinds if kind.startswith("effect.")]


async def outcome(stage: Stage, effect: str) -> tuple[str, str]:
    """What a turn that waits for it is told."""
    end = await stage.clock.until(asyncio.ensure_future(stage.effects.outcome(effect)))  # noqa: TID251
    return end.outcome, end.value


async def test_each_step_is_on_record(stage: Stage) -> None:
    """Proposed, approved, running before the tool is touched, and its end with what it gave."""
    effect = await propose(stage, "lamp", to="red")
    assert await outcome(stage, effect) == ("returned", "The lamp is red; switched 1 times.")
    assert await steps(stage) == ["proposed", "approved", "running", "returned"]
    assert await stage.ledger.open_effects() == []


async def test_what_was_not_granted_is_denied(stage: Stage) -> None:
    """It is on record with the reason, and no tool is touched."""
    effect = await propose(stage, "fuse")
    told = "There is no tool 'fuse' that you may use. Nearest are: lamp."
    assert await outcome(stage, effect) == ("refused", told)
    assert await steps(stage) == ["proposed", "denied"]


async def test_who_names_no_tool_is_told_the_nearest(stage: Stage) -> None:
    """Of many those alone that are like it, and none that it may not use."""

    async def nothing(_: ToolCall) -> str:
        return ""

    for name in ("lamp_dim", "lamp_switch", *(f"x{at}" for at in range(20))):
        stage.tools.add(Tool(name=name, summary=""), nothing)
    effect = await propose(stage, "switch_lamp")
    told = (await outcome(stage, effect))[1]
    assert told.endswith(
        "'switch_lamp' that you may use. Nearest are: lamp_switch, lamp, lamp_dim."
    )
    effect = await propose(stage, "ß∂ƒ©")
    assert (await outcome(stage, effect))[1] == "There is no tool 'ß∂ƒ©' that you may use."


async def test_a_tool_that_fails_fails_with_a_sentence(stage: Stage) -> None:
    """Whatever it raises: the host goes on."""

    async def broken(_: ToolCall) -> str:
        raise SystemExit(3)

    stage.tools.add(Tool(name="lamp", summary=""), broken)
    assert await outcome(stage, await propose(stage, "lamp")) == ("failed", "lamp failed: 3")

    async def quitting(_: ToolCall) -> str:
        raise asyncio.CancelledError

    stage.tools.add(Tool(name="lamp", summary=""), quitting)
    assert await outcome(stage, await propose(stage, "lamp")) == ("failed", "lamp broke off.")


async def test_a_turn_waits_for_a_while_and_the_effect_goes_on(
    stage: Stage, began: list[str]
) -> None:
    """After the tool's patience the turn is told that it goes on; after its limit it expires."""
    effect = await propose(stage, "stubborn")
    assert await outcome(stage, effect) == ("deferred", GOES_ON)
    assert stage.clock.ticks() == 5
    await stage.clock.advance(1000)
    assert await steps(stage) == ["proposed", "approved", "running", "expired"]
    assert await outcome(stage, effect) == ("timed_out", "stubborn took longer than 17 minutes.")
    assert began == ["{}", "cancelled"]


async def test_who_watches_sees_how_far_it_is(stage: Stage) -> None:
    """That it began, a line now and then however much it tells, nonsense aside, that it is over."""

    async def knit(call: ToolCall) -> str:
        call.tell("row one\x1b[2J\nof ten", 0.1)
        call.tell("too soon", 0.15)
        for part in (None, 7.0, math.nan):
            await stage.clock.sleep(1)
            call.tell("y" * 500, part)
        return "A sock."

    stage.tools.add(Tool(name="knit", summary="Knits.", patience=9), knit)
    ear = stage.signals.listen(STREAM)
    effect = await propose(stage, "knit")
    assert await outcome(stage, effect) == ("returned", "A sock.")
    ear.close()
    told = [what async for what in ear if isinstance(what, ToolProgress)]
    assert [(each.text, each.part, each.over) for each in told] == [
        ("", None, False),
        ("row one [2J of ten", 0.1, False),
        ("y" * 80, None, False),
        ("y" * 80, 1.0, False),
        ("y" * 80, None, False),
        ("", None, True),
    ]
    assert {(each.effect, each.turn, each.mate, each.tool) for each in told} == {
        (effect, "t1", "maya", "knit")
    }


@pytest.mark.parametrize("how", ["turn", "stream", "stopped", "closed"])
async def test_stop_ends_what_runs_at_once(stage: Stage, began: list[str], how: str) -> None:
    """Also a tool that does not obey; whether the turn, the room or a person stops it."""
    effect = await propose(stage, "stubborn")
    waiting = asyncio.ensure_future(stage.effects.outcome(effect))  # noqa: TID251
    await stage.clock.advance(1)
    match how:
        case "turn":
            stage.effects.stop(STREAM, "a person said stop", "another turn")
            stage.effects.stop(STREAM, "a person said stop", "t1")
        case "stream":
            stage.effects.stop(STREAM, "a person said stop")
        case "stopped":
            await stage.ledger.append(STREAM, [stage.stamp.fact(Stopped(person="p"), actor="p")])
        case "closed":
            closed = stage.stamp.fact(RoomClosed(person="p"), actor="p")
            await stage.ledger.append(STREAM, [closed])
    assert (await stage.clock.until(waiting))[0] == "cancelled"
    assert stage.clock.ticks() == 1
    assert await steps(stage) == ["proposed", "approved", "running", "stopped"]
    assert began == ["{}", "cancelled"]


async def test_a_stop_in_another_stream_stops_nothing_here(stage: Stage, began: list[str]) -> None:
    """Effects go side by side, and each belongs to its stream."""
    await propose(stage, "stubborn")
    effect = await propose(stage, "lamp")
    assert (await outcome(stage, effect))[0] == "returned"
    await stage.ledger.append("room:other", [stage.stamp.fact(Stopped(person="p"), actor="p")])
    await stage.clock.advance(1)
    assert [found.state for found in await stage.ledger.open_effects()] == ["running"]


# ---------------------------------------------------------------- after a crash


async def died(stage: Stage, tool: str, state: str) -> Event:
    """The process died while an effect stood so."""
    await stage.effects.close()
    idempotent = any(one.name == tool and one.idempotent for one in stage.tools.known())
    proposed = EffectProposed(
        turn="t1", nth=1, tool=tool, arguments=Words('{"to":"red"}'), idempotent=idempotent
    )
    fact = stage.stamp.fact(proposed, actor="mate:maya")
    approved = EffectApproved(effect=fact.id, by="rights")
    facts = [
        fact,
        *(stage.stamp.fact(b, actor="runtime") for b in (approved, EffectRunning(effect=fact.id))),
    ]
    count = ("proposed", "approved", "running").index(state) + 1
    return (await stage.ledger.append(STREAM, facts[:count]))[0]


async def again(stage: Stage, *, stopped: str = "") -> None:
    """The next process takes up what is open, and then its turn, or finds that it was stopped."""
    stage.effects = Effects(stage.ledger, stage.tools, stage.stamp, SITE)
    await stage.effects.start(stage.ledger)
    await stage.clock.advance(1)
    if stopped:
        stage.effects.stop(STREAM, stopped, "t1")
    stage.effects.go_on("t1")
    await stage.clock.advance(1)
    await stage.effects.close()


async def switched(stage: Stage) -> int:
    """How often the lamp was switched."""
    worked, said = await stage.tools.call("lamp", ToolCall(arguments={"to": "off"}))
    assert worked
    return int(said.text.split()[-2]) - 1


@pytest.mark.parametrize(
    ("tool", "stood", "then", "times"),
    [
        ("lamp", ["proposed"], [], 0),
        ("lamp", ["proposed", "approved"], ["running", "returned"], 1),
        ("lamp", ["proposed", "approved", "running"], ["unknown"], 0),
        ("fuse", ["proposed", "approved", "running"], ["running", "failed"], 0),
    ],
    ids=["nobody allowed it", "not begun", "it may have happened", "twice is once"],
)
async def test_what_was_open_goes_on_as_far_as_that_is_safe(
    stage: Stage, tool: str, stood: list[str], then: list[str], times: int
) -> None:
    """Only what cannot have happened yet, or may happen twice, is done, and once."""
    await died(stage, tool, stood[-1])
    await again(stage)
    await again(stage)
    assert await steps(stage) == stood + then
    assert await switched(stage) == times


async def test_who_asks_after_the_unknown_is_told_so(stage: Stage) -> None:
    """What was under way may have happened or not, and that is what a turn hears."""
    event = await died(stage, "lamp", "running")
    await again(stage)
    assert await stage.effects.outcome(event.id) == EffectOutcome("unknown", DIED)


@pytest.mark.parametrize("state", ["proposed", "approved", "running"])
async def test_a_stop_before_the_crash_holds_after_it(stage: Stage, state: str) -> None:
    """A person said stop, and the process died before that was written of the effect."""
    await died(stage, "lamp", state)
    await stage.ledger.append(STREAM, [stage.stamp.fact(Stopped(person="p"), actor="p")])
    await again(stage)
    assert (await steps(stage))[-1] == "stopped"
    assert "running" not in (await steps(stage))[2:-1] or state == "running"
    assert await switched(stage) == 0


@pytest.mark.parametrize("state", ["approved", "running"])
async def test_what_was_wanted_in_the_moment_of_a_stop_is_not_done(
    stage: Stage, state: str
) -> None:
    """It came behind the stop, and waits until its turn is taken up, which knows of that."""
    await stage.ledger.append(STREAM, [stage.stamp.fact(Stopped(person="p"), actor="p")])
    event = await died(stage, "lamp", state)
    await again(stage, stopped="a person said stop")
    assert await stage.effects.outcome(event.id) == EffectOutcome("cancelled", "a person said stop")
    assert await switched(stage) == 0


@pytest.mark.parametrize(
    ("outcome", "then", "times"), [("stopped", "stopped", 0), ("done", "returned", 1)]
)
async def test_what_goes_on_behind_its_turn_goes_by_how_that_ended(
    stage: Stage, outcome: Literal["stopped", "done"], then: str, times: int
) -> None:
    """The turn was stopped, or over, before the crash: nothing of it is taken up any more."""
    await died(stage, "lamp", "approved")
    ended = TurnEnded(turn="t1", outcome=outcome, why=Words("its line was deleted"))
    await stage.ledger.append(STREAM, [stage.stamp.fact(ended, actor="mate:maya")])
    stage.effects = Effects(stage.ledger, stage.tools, stage.stamp, SITE)
    await stage.effects.start(stage.ledger)
    await stage.clock.advance(1)
    await stage.effects.close()
    assert (await steps(stage))[-1] == then
    assert await switched(stage) == times


async def test_what_a_program_wants_that_is_to_end_is_not_done(stage: Stage) -> None:
    """It was written behind the stop that ends the program, before that is written."""
    program = await died(stage, "lamp", "running")
    await stage.ledger.append(STREAM, [stage.stamp.fact(Stopped(person="p"), actor="p")])
    wanted = EffectProposed(turn="t1", nth=1, tool="lamp", arguments=Words("{}"), within=program.id)
    inner = stage.stamp.fact(wanted, actor="mate:maya", cause=program.id)
    approved = stage.stamp.fact(EffectApproved(effect=inner.id, by="rights"), actor="runtime")
    await stage.ledger.append(STREAM, [inner, approved])
    await again(stage)
    assert await stage.effects.outcome(inner.id) == EffectOutcome("cancelled", PROGRAM_OVER)
    assert await switched(stage) == 0


async def test_forgotten_arguments_are_used_for_nothing(stage: Stage) -> None:
    """What it was to be used with is gone, so it fails and says so."""
    from loopforge.ledger.erasure.text_erasure import ErasureRequest

    event = await died(stage, "lamp", "approved")
    await stage.ledger.erase(ErasureRequest(stream=STREAM, by="p", why="asked"))
    await again(stage)
    assert await stage.effects.outcome(event.id) == EffectOutcome(
        "failed",
        "What it was to be used with has been forgotten.",
    )


async def test_who_ended_it_first_is_believed(stage: Stage, began: list[str]) -> None:
    """Two processes that both hold it write one end."""
    await stage.effects.close()
    others = [Effects(stage.ledger, stage.tools, stage.stamp, SITE) for _ in range(2)]
    for each in others:
        await each.start(stage.ledger)
    stage.tools.add(Tool(name="slow", summary="", patience=5), lambda _: stage.clock.sleep(3))  # type: ignore[arg-type,return-value]
    await propose(stage, "slow")
    await stage.clock.advance(4)
    assert (await steps(stage)).count("returned") == 1
    for each in others:
        await each.close()


async def test_a_yes_in_the_last_moment_counts(stage: Stage, tmp_path: Path) -> None:
    """Another process wrote it down before it lapsed here: it runs, once, and is not forgotten."""
    ran: list[str] = []

    async def send(call: ToolCall) -> str:
        ran.append(call.id)
        return "sent"

    stage.tools.add(Tool(name="send", summary="Sends.", asks=True), send)
    asks = CallPermission("asks", granted=frozenset({"send"}))
    place = EffectPlace(STREAM, "t1", 1)
    facts = stage.effects.proposal(Call("send", {}), place, "mate:maya", asks)
    effect = (await stage.ledger.append(STREAM, facts))[0].id
    await stage.clock.advance(24 * 3600 - 1)
    dice = SeededDice(9)
    other = await open_ledger(f"sqlite:///{tmp_path}/ledger.db", stage.clock, dice)
    yes = EffectApproved(effect=effect, by="person:ana")
    fact = Stamp(stage.clock, dice).fact(yes, actor="person:ana", cause=effect)
    await other.append(STREAM, [fact])
    await other.close()
    await stage.clock.advance(2)
    await stage.ledger.follow()
    await stage.effects.settled(STREAM)
    assert ran == [effect]
    assert await steps(stage) == ["proposed", "approved", "running", "returned"]
