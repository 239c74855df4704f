"""Marks on lines whose answers are late, lost, on their way to several places, or from before."""

from pathlib import Path

import pytest
from aiohttp import TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult

from loopforge.core.delivery_states import Failed, PutOff
from loopforge.core.room_vocabulary import PersonReacted, Told
from loopforge.runtime.ports import Question
from loopforge.runtime.system_clock import SystemClock
from tests.discord.lodging import MARKS, SEND, lodged
from tests.discord.twin import Twin
from tests.sim_clock import SimClock


async def test_a_line_whose_answer_waits_says_so(city: Twin, tmp_path: Path) -> None:
    """While Discord does not take an answer its line bears an hourglass, then that of arrival."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    city.faults.fail(SEND, 503)
    gate = city.faults.hold(SEND)
    async with lodged(city, tmp_path, {maya: "maya"}, manners=MARKS):
        line = await city.say(ben, plaza, "maya, hello")
        await city.until(lambda: city.line(line).reactions == {"⏳": ("Maya",)})
        gate.release()
        await city.until(lambda: city.line(line).reactions == {"✅": ("Maya",)})
    marks = [(deed.kind, deed.text) for deed in city.deeds("react", "unreact")]
    assert marks == [
        ("react", "👀"),
        ("react", "⏳"),
        ("unreact", "👀"),
        ("react", "✅"),
        ("unreact", "⏳"),
    ]


async def test_of_two_who_call_at_once_both_are_answered(city: Twin, tmp_path: Path) -> None:
    """One turn answers both: the mind is told who else waits, and both lines bear their marks."""
    maya, plaza = city.bot("Maya"), city.channel("plaza")
    ben, cleo = city.person("ben"), city.person("cleo")
    prompts: list[str] = []

    def script(question: Question) -> str:
        prompts.append(question.messages[-1][1])
        return "Both of you: slugs."

    bots = {maya: "maya"}
    async with lodged(city, tmp_path, bots, script, manners=MARKS, debounce_seconds=1.0) as home:
        lines = [await city.say(each, plaza, "maya, what is new?") for each in (ben, cleo)]
        done = {"✅": ("Maya",)}
        await city.until(lambda: [city.line(each).reactions for each in lines] == [done, done])
        assert await home.said(plaza) == ["maya"]
    assert "“ben” called you before that" in prompts[0]


async def test_a_line_from_before_a_restart_is_marked(city: Twin, tmp_path: Path) -> None:
    """What was said before the home ended, and arrives after it began anew, marks its line."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    city.faults.fail(SEND, 503, times=1000)
    async with lodged(city, tmp_path, {maya: "maya"}, manners=MARKS):
        line = await city.say(ben, plaza, "maya, hello")
        await city.until(lambda: city.line(line).reactions == {"⏳": ("Maya",)})
    assert len(city.lines(plaza)) == 1
    city.faults.clear()
    async with lodged(city, tmp_path, {maya: "maya"}, manners=MARKS):
        await city.until(lambda: city.line(line).reactions == {"✅": ("Maya",)})
    assert len(city.lines(plaza)) == 2


class Nowhere(AbstractResolver):
    """Every name is an address where nobody listens."""

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        """Where this name is."""
        there = {"hostname": host, "host": "127.0.0.1", "port": 1, "proto": 0, "flags": 0}
        return [ResolveResult(**there, family=2)]  # type: ignore[typeddict-item]

    async def close(self) -> None:
        """Nothing is kept."""


async def test_an_account_that_stays_away(city: Twin, tmp_path: Path) -> None:
    """What waits for an account that does not come back is given up by its age, and that is told."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    city.faults.fail(SEND, 503, times=1000)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "maya, hello")
        await home.eventually(plaza, PutOff)
    time, away = SimClock(SystemClock().now()), lambda: TCPConnector(resolver=Nowhere())
    async with lodged(
        city,
        tmp_path,
        {maya: "maya"},
        sim=time,
        connector=away,
        wait=False,
        platform_patience_hours=0.5,
    ) as home:
        await time.advance(1200)
        assert not [e for e in await home.events(plaza) if isinstance(e.body, Failed)]
        await time.advance(1200)
        bodies = [event.body for event in await home.events(plaza)]
    why = "the bot of Maya was not connected to Discord."
    assert why in {str(body.why) for body in bodies if isinstance(body, PutOff)}
    end = "It was tried for 0.5 hours. Ask again for what you still need."
    told = [str(body.text) for body in bodies if isinstance(body, Told)]
    assert told == [f"What Maya said did not reach #plaza: {why} {end}"]


async def test_a_thumb_on_a_line_of_a_room_before(
    city: Twin, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where its channel is part of another room by now, the line bears it in its own."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        line = await home.tell(ben, mall, "it rains")
        before = await home.room(mall)
        await home.join(plaza, mall)
        await city.react(ben, line, "\U0001f44d")

        async def reacted(room: str) -> bool:
            events = await home.app.ledger.read(f"room:{room}")
            return any(isinstance(event.body, PersonReacted) for event in events)

        while not await reacted(before):
            await home.app.stamp.clock.sleep(0.02)
        assert not await reacted(await home.room(mall))
    assert "not heard" not in caplog.text
