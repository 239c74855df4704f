"""A turn's surroundings: a real SQLite ledger, a scripted model, seeded dice, simulated time."""

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.events import Event, Fact
from loopforge.core.mates.sandbox_profile import SandboxProfile
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import Call
from loopforge.core.room_vocabulary import File
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import LineRun, Perceived
from loopforge.errors import Unknown
from loopforge.ledger.sql_ledger import SqlLedger, open_ledger
from loopforge.models.scripted_model import Script, ScriptedModels, in_character
from loopforge.runtime import time_limit
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.effects.effect_worker import Effects
from loopforge.runtime.effects.nested_calls import InnerSites
from loopforge.runtime.local.room_pubsub import LocalSignals, SignalListener
from loopforge.runtime.ports import (
    CallPermission,
    EffectSite,
    InnerPermission,
    Route,
    Tool,
    ToolCall,
    ToolFile,
)
from loopforge.runtime.system_clock import Stamp
from loopforge.runtime.turn_driver import Turn, TurnPorts, TurnSeat
from loopforge.runtime.turn_record import Recorder, shown_of
from loopforge.tools.tool_registry import ToolRegistry
from tests.playbook import heard, shown
from tests.seeded_dice import SeededDice
from tests.sim_clock import SimClock
from tests.still import still

STREAM = "room:test"
START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


class NoFiles:
    """Nothing is kept here."""

    async def keep(self, file: ToolFile) -> File:
        """It has no place."""
        raise Unknown(f"{file.name} has no place here")

    async def read(self, hash: str) -> bytes:
        """There is nothing."""
        raise Unknown(f"{hash} has no place here")


class OneRoom:
    """Ana is there, and no place of a platform is part of it."""

    async def present(self, _stream: str) -> tuple[str, ...]:
        """Ana."""
        return ("ana",)

    async def places(self, _stream: str) -> tuple[str, ...]:
        """None."""
        return ()


class NoPrograms:
    """No program uses a tool here."""

    async def offered(self, _program: Event) -> tuple[Tool, ...]:
        """None."""
        return ()

    async def permission(
        self, _program: Event, _call: Call, _gave: Sequence[tuple[str, str]]
    ) -> InnerPermission:
        """It may not."""
        return InnerPermission(CallPermission(), lambda _: ())

    async def lapsed(self, _effect: Event) -> str:
        """What was allowed still is."""
        return ""

    async def granted(self, _effect: Event) -> frozenset[str]:
        """Nothing besides."""
        return frozenset()

    async def sandbox(self, _stream: str, _mate: str) -> SandboxProfile:
        """As the home has it."""
        return SandboxProfile()


SITE = EffectSite(NoFiles(), OneRoom(), InnerSites(NoPrograms()), LocalSignals())


def permitting(granted: Collection[str]) -> Callable[[Call], CallPermission]:
    """These tools run, and no others."""

    def permit(call: Call) -> CallPermission:
        return CallPermission("runs" if call.tool in granted else "refused", granted=granted)

    return permit


@dataclass
class Stage:
    """Where turns are tried: everything real but the model and the time."""

    ledger: SqlLedger
    clock: SimClock
    stamp: Stamp
    signals: LocalSignals
    ear: SignalListener
    tools: ToolRegistry
    effects: Effects
    tasks: BackgroundTasks
    recorder: Recorder = field(default_factory=Recorder)
    models: ScriptedModels = field(default_factory=ScriptedModels)

    def script(self, script: Script = in_character, **more: Any) -> None:
        """Let the model answer by this script."""
        self.models = ScriptedModels(script, clock=self.clock, **more)

    @property
    def ports(self) -> TurnPorts:
        """The ports of a turn."""
        return TurnPorts(
            self.ledger,
            self.models,
            self.tools,
            self.effects,
            self.signals,
            self.stamp,
            self.recorder,
            self.tasks,
        )

    def turn(self, perception: AgentPerception, **seat: Any) -> Turn:
        """A turn of maya's that opens with what she is shown."""
        fact = self.opening(perception)
        may = seat.pop("granted", frozenset())
        seated = TurnSeat(STREAM, "maya", fact.id, Route(), permit=permitting(may), **seat)
        return Turn(self.ports, seated, [fact])

    def opening(self, perception: AgentPerception) -> Fact:
        """The Perceived of a turn."""
        id = self.stamp.id()
        lines: LineRun = self.recorder.lines((STREAM, "maya"), id, perception.local_events)
        body = Perceived(
            mate="maya",
            policy="talk/1",
            mind="0",
            line="",
            summons="mention",
            step=0,
            shown=shown_of(perception),
            lines=lines,
            character=Words(perception.context.get("character", "")),
        )
        return Fact(id=id, at=self.clock.now(), actor="mate:maya", body=body)

    async def events(self) -> list[Event]:
        """Everything in the stream."""
        return await self.ledger.read(STREAM)

    async def kinds(self) -> list[str]:
        """The kinds of everything in the stream."""
        return [event.kind.removeprefix("turn.") for event in await self.events()]


@pytest.fixture(autouse=True)
def looked_after_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Minds that compute for ever do so no longer than their time: half a second went by before a look."""
    monkeypatch.setattr(time_limit, "FIRST", 0.02)
    monkeypatch.setattr(time_limit, "LOOK", 0.02)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """A fresh stage; its tool `lamp` counts how often it was switched."""
    clock = SimClock(START)
    dice = SeededDice(7)
    ledger = await open_ledger(f"sqlite:///{tmp_path}/ledger.db", clock, dice)
    still(clock, ledger)
    signals = LocalSignals()
    tools = ToolRegistry()
    switched: list[str] = []

    async def lamp(call: ToolCall) -> str:
        switched.append(str(call.arguments.get("to", "on")))
        return f"The lamp is {switched[-1]}; switched {len(switched)} times."

    async def fuse(_: ToolCall) -> str:
        raise RuntimeError("it blew")

    tools.add(Tool(name="lamp", summary="Switches the lamp."), lamp)
    tools.add(Tool(name="fuse", summary="Blows.", idempotent=True), fuse)
    tasks = BackgroundTasks()
    stamp = Stamp(clock, dice)
    effects = Effects(ledger, tools, stamp, SITE._replace(signals=signals))
    await effects.start(ledger)
    yield Stage(ledger, clock, stamp, signals, signals.listen(STREAM), tools, effects, tasks)
    await effects.close()
    await tasks.close()
    await ledger.close()


@pytest.fixture
def seen() -> AgentPerception:
    """What maya is shown: ana greets her."""
    return shown(heard("ana", "@maya hello"), model="small")
