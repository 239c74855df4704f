"""A drill: one home, two terminals, and hosts that are killed one after the other in one phase.

    hearing      a line is sent and not acknowledged
    asking       the turn has begun and its question is recorded; no word of the answer yet
    streaming    drafts arrive; the answer is not recorded
    appending    inside a transaction that writes events, or right after it, before anybody is told
    delivering   a mate's line is in the ledger; it is not shown, or not acknowledged
    posting      the same for a pushed surface: around the sending, the asking back, the recording
    calling      a tool is in use: one that changes something, then one that only looks, then two
                 that only look, side by side
    programs     the same in a program that a mate wrote

A blow either names a point at which the host kills itself (fate.py), or a moment that the terminal
sees (`wire`, `thinking`, `draft`, `shown`), at which it is killed from outside. A kill counts only
if the host was where the blow says.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import TypeVar

import msgspec

from loopforge.core.room_vocabulary import Said
from loopforge.io.socket.socket_client import Update
from loopforge.ledger.database.database_engine import create_engines, parse_database_url
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Thinking
from loopforge.settings import load_settings
from tests.crash import board
from tests.crash.button import USED
from tests.crash.child import Options
from tests.crash.fate import STAGES
from tests.crash.host import PATIENCE, Host, hosting
from tests.crash.tally import Finder, Record, Tally, by_mark, count, read
from tests.crash.terminal import Terminal, drafting, joined, said, sitting
from tests.seeded_dice import SeededDice

T = TypeVar("T")
MATE = "---\nname: {name}\nrole: {role}\n{more}---\nYou are {name}.\n"
MATES = ("maya", "merlin")
"""They answer when they are addressed. A third one, zuzu, is asked now and then, and is silent."""

FACTS = ("room.heard", "room.weighed", "turn.asked", "turn.answered", "room.said")
"""The transactions that are broken off, by a kind of event in them."""

PHASES: dict[str, tuple[str, ...]] = {
    "hearing": ("hear.before", "wire", "append.begin", "hear.after"),
    "asking": ("ask.begin", "thinking", "ask.first"),
    "streaming": ("ask.piece", "draft", "ask.end"),
    "appending": tuple(
        f"append.{stage} {kind}"
        for stage in STAGES
        for kind in FACTS
        if (stage, kind) != ("texts", "room.weighed")  # it has none
    ),
    "delivering": ("said", "shown", "seen.before", "append.commit delivery.accepted"),
    "posting": (
        "send.before",
        "send.after",
        "append.committed delivery.attempting",
        "append.commit delivery.accepted",
        "send.looked",
    ),
    "calling": (
        "append.commit effect.running",
        "append.committed effect.running",
        "tool.before",
        "tool.after",
        "append.commit effect.returned",
        "append.committed effect.returned",
        "append.commit turn.returned",
        "look.begin",
    ),
    "programs": (
        "append.commit effect.proposed",
        "append.committed effect.proposed",
        "append.committed effect.running",
        "tool.before",
        "tool.after",
        "append.commit effect.returned",
        "append.committed effect.returned",
        "look.begin",
    ),
}
IN_PROGRAMS = 4
"""Uses of tools that a program comes to, itself included."""
OUTSIDE = ("wire", "thinking", "draft", "shown")


SHORT = """You tell in one sentence why you gave an answer in a chat.

> {to}: Hello everyone!
> Merlin: Ah, goodbye! Or is it hello?
{"narrative": "I greeted {to} because I live backwards.", "rule": "none", "mode": "context"}
"""
"""A prompt of the home's own: a real model reads the shipped one for seconds, again and again."""


def furnish(home: Path, *, real: bool = False, tools: bool = False, database: str = "") -> None:
    """Make a home whose mates can be told apart; for a real model, one that costs it little."""
    more = "triggers: [mention]\n" + f"tools: [{', '.join(USED)}, python]\n" * tools
    (home / "mates").mkdir(parents=True)
    (home / "data").mkdir()
    if database:
        (home / "loopforge.toml").write_text(f'database_url = "{database}"\n')
    for name in MATES:
        text = MATE.format(name=name.capitalize(), role="mate", more=more)
        (home / "mates" / f"{name}.md").write_text(text)
    if real:
        (home / "prompts").mkdir()
        (home / "prompts" / "account-small.md").write_text(SHORT)
    else:
        text = MATE.format(name="Zuzu", role="cat", more="interests: [mice]\n")
        (home / "mates" / "zuzu.md").write_text(text)


class Rolls:
    """Rolls of seeded dice: the same seed, the same blows."""

    def __init__(self, seed: int) -> None:
        self._dice = SeededDice(seed)

    def below(self, count: int) -> int:
        """A number from 0 to count - 1."""
        return int.from_bytes(self._dice.bytes(4), "big") % count

    def share(self) -> float:
        """A number from 0 up to 1."""
        return self.below(1000) / 1000

    def choice(self, things: Sequence[T]) -> T:
        """One of these."""
        return things[self.below(len(things))]

    def shuffled(self, things: Sequence[T]) -> list[T]:
        """These in another order."""
        return sorted(things, key=lambda _: self.below(1 << 30))


@dataclass
class Drill:
    """One phase, drilled. `at_once`: several lines may wait for an answer at the same time.

    `database` is the URL of the ledger, where it is not the home's own file.
    `from_birth`: the share of hosts that are armed before they open anything, so that they may die
    while they take up what the one before them left.
    """

    home: Path
    phase: str
    dice: Rolls
    options: Options
    find: Finder = by_mark
    at_once: bool = True
    from_birth: float = 0.3
    database: str = ""
    questions: Iterator[str] = field(default_factory=lambda: cycle(("how are you?",)))
    kills: int = 0
    lives: int = 0
    marks: int = 0
    terminals: list[Terminal] = field(default_factory=list)

    async def run(self, kills: int) -> Tally:
        """Kill so many hosts, let the last one live until all is quiet, and count."""
        real, tools = self.options.embedded, self.options.tools
        furnish(self.home, real=real, tools=tools, database=self.database)
        async with AsyncExitStack() as stack:
            for name in ("ana", "bo") if self.at_once else ("ana",):
                self.terminals.append(await stack.enter_async_context(sitting(self.home, name)))
            for blow in cycle(self.dice.shuffled(PHASES[self.phase])):
                if self.kills >= kills:
                    break
                assert self.lives < 4 * max(kills, 3), (
                    f"{self.phase}: {blow} is hardly ever reached"
                )
                self.lives += 1
                self.kills += await self._life(blow)
            await self._last_life()
        return count(await self.record(), self.find)

    async def frozen(self, point: str, meanwhile: Callable[[], Awaitable[None]]) -> Tally:
        """Freeze one host at a point, let something happen, wake it, and count."""
        furnish(self.home, tools=self.options.tools, database=self.database)
        async with sitting(self.home, "ana") as terminal, hosting(self.options) as host:
            self.terminals.append(terminal)
            assert await host.ready()
            await self._in()
            await self._quiet()
            assert await host.arm(point, halts=True)
            answer = terminal.sees(said)
            self._say()
            assert await host.halted()
            await meanwhile()
            host.resume()
            async with asyncio.timeout(PATIENCE):
                await answer
            await self._quiet()
            await self._delivered()
        return count(await self.record(), self.find)

    async def record(self) -> Record:
        """Everything that is to be counted; no host may be alive."""
        return await read(
            self.home,
            [line for terminal in self.terminals for line in terminal.lines],
            {terminal.name: terminal.shown for terminal in self.terminals},
            board.posts(self.home / "data" / "board.jsonl"),
            repeats=self.options.embedded,
        )

    # ------------------------------------------------------------ lives

    async def _life(self, blow: str) -> bool:
        """One host, from its start to its death; whether it died where it should."""
        most = self.options.pieces if blow == "ask.piece" else 1
        if self.options.programs and blow.startswith("append."):
            most = IN_PROGRAMS
        after = 1 + self.dice.below(most)
        armed = msgspec.structs.replace(self.options, point=blow, after=after)
        if blow not in OUTSIDE and self.dice.share() < self.from_birth:
            return await self._doomed(armed)  # it may die while it takes up what was left
        if self.at_once and self.dice.share() < 0.3:
            self._say()  # to nobody, as yet
        async with hosting(self.options) as host:
            assert await host.ready()
            await self._in()
            if not self.at_once or self.dice.share() < 0.5:
                await self._quiet()
            if blow in OUTSIDE:
                return await self._struck(host, blow)
            await host.arm(blow, after)
            return await self._dies(host, blow)

    async def _doomed(self, armed: Options) -> bool:
        """A host that is armed before it opens anything."""
        async with hosting(armed) as host:
            if not self.at_once and not await self._quiet_before(host):
                return host.died == armed.point
            return await self._dies(host, armed.point)

    async def _dies(self, host: Host, blow: str) -> bool:
        """Say something, or two things; whether the host died of it."""
        self._say()
        if self.at_once and self.dice.share() < 0.3:
            self._say()
        await host.dies(PATIENCE if self.options.embedded else 30)
        return host.died == blow

    async def _struck(self, host: Host, blow: str) -> bool:
        """Say something, and kill the host at a moment that the terminal sees."""
        terminal = self.terminals[0]
        moments = {"thinking": _thinking, "draft": drafting, "shown": said}
        moment = terminal.sees(moments[blow]) if blow in moments else None
        line = self._say(terminal)
        if moment is not None:
            async with asyncio.timeout(PATIENCE):
                await moment
        await asyncio.sleep(self.dice.share() * (0.03 if moment else 0.005))  # a line is soon taken
        drafts, answers = len(terminal.drafts), _answers(terminal)
        taken = line in terminal.taken
        await host.kill()
        match blow:
            case "wire":
                return not taken
            case "thinking":
                return not drafts or terminal.drafts[-1].turn != _turn(moment)
            case "draft":
                return _turn(moment) not in answers
            case _:
                return True

    async def _in(self) -> None:
        """Until all terminals have a host."""
        for terminal in self.terminals:
            if not terminal.here:
                async with asyncio.timeout(PATIENCE):
                    await terminal.sees(joined)

    async def _quiet(self) -> None:
        async with asyncio.timeout(PATIENCE):
            for terminal in self.terminals:
                await terminal.link.settled()
                await terminal.link.shown()

    async def _quiet_before(self, host: Host) -> bool:
        """Whether all is quiet before the host dies."""
        tasks = BackgroundTasks()
        quiet, death = tasks.spawn(self._quiet(), "quiet"), tasks.spawn(host.dies(), "death")
        await asyncio.wait((quiet, death), return_when=asyncio.FIRST_COMPLETED)
        await tasks.close()
        return not host.dead

    async def _last_life(self) -> None:
        """A host that nobody kills until everything is said, shown and accepted."""
        async with hosting(msgspec.structs.replace(self.options, deaf=0)) as host:
            assert await host.ready()
            if not self.marks:  # the others died before a word was said
                self._say()
            await self._quiet()
            await self._delivered()

    async def _delivered(self) -> None:
        url = parse_database_url(load_settings(self.home, environ={}).database_url)
        with closing(create_engines(url)) as store, store.reader.connect() as found:
            async with asyncio.timeout(PATIENCE):
                while found.exec_driver_sql("SELECT count(*) FROM deliveries").scalar_one():
                    found.rollback()
                    await asyncio.sleep(0.05)

    # ------------------------------------------------------------ lines

    def _say(self, terminal: Terminal | None = None) -> str:
        """Somebody addresses a mate; the source of the line."""
        terminal = terminal or self.dice.choice(self.terminals)
        mate = self.dice.choice(MATES)
        self.marks += 1
        mark = f"[k{self.marks}]"
        return terminal.say(f"@{mate} {mark} {next(self.questions)}", mark, mate).source


def _thinking(update: Update) -> bool:
    return isinstance(update, Thinking)


def _turn(moment: asyncio.Future[Update] | None) -> str:
    """The turn of a breath that was seen."""
    return str(getattr(moment.result(), "turn", "")) if moment is not None else ""


def _answers(terminal: Terminal) -> set[str]:
    return {event.body.turn for event in terminal.shown if isinstance(event.body, Said)}
