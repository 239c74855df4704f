"""Outages of Discord that last: what was missed is read in the end, in order, whatever came over."""

import socket
from pathlib import Path

import aiohttp
import pytest
from aiohttp.abc import ResolveResult
from msgspec.structs import replace

from loopforge.core.delivery_states import PutOff
from loopforge.core.room_vocabulary import Said
from loopforge.io.discord.connection import gateway_client
from loopforge.io.discord.receiving import incoming_events, missed_backfill
from tests.discord.lodging import HOOK, PLAIN, lodged
from tests.discord.loopback import Loopback, client_context
from tests.discord.test_surface_proxy import nowhere
from tests.discord.twin import Twin
from tests.discord.words import Place

READ = "GET /channels/*/messages"


async def test_what_cannot_be_read_for_minutes(
    city: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was missed while Discord could not be asked for minutes is read when it can again.

    Also where the connection resumed meanwhile, which brings what came since, but not that.
    """
    monkeypatch.setattr(missed_backfill, "TRIES", (0.01, 0.01))
    monkeypatch.setattr(incoming_events, "AGAIN", 0.5, raising=False)
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
    await city.say(ben, plaza, "two")
    city.faults.fail(READ, 503, times=4)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.until(lambda: not city.faults.left)
        await city.reconnect(maya)
        await city.until(lambda: city.resumed == ["Maya"])
        await city.say(ben, plaza, "three")
        async for _ in home.looks("what was missed is heard"):
            if set(await home.heard(plaza)) == {"one", "two", "three"}:
                break


async def test_a_ledger_that_cannot_say_what_was_missed(
    city: Twin,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A gap that begins while the ledger fails is read once it answers, in the same session."""
    monkeypatch.setattr(incoming_events, "AGAIN", 0.5)
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
        await home.delivered(plaza)
        gate = city.faults.hold("GET /users/@me", bot="Maya")
        await city.cut(maya, 4004)
        await gate.reached.wait()
        await city.say(ben, plaza, "two")
        ledger = home.app.ledger
        await ledger.change(lambda one: one.exec_driver_sql("ALTER TABLE places RENAME TO away"))
        gate.release()
        async for _ in home.looks("that it cannot be found out is logged"):
            if "what was missed on Discord cannot be found out" in caplog.text:
                break
        await ledger.change(lambda one: one.exec_driver_sql("ALTER TABLE away RENAME TO places"))
        await home.hears(plaza, "one", "two")


async def test_closed_threads_that_cannot_be_listed(
    city: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was missed in a thread that was closed since is read, also once its list can be had."""
    monkeypatch.setattr(missed_backfill, "TRIES", (0.01, 0.01))
    monkeypatch.setattr(incoming_events, "AGAIN", 0.5)
    city.town.clock.advance(-4 * 3600)
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    walk = await city.thread(ben, plaza, "a walk")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, walk, "one")
        await home.delivered(walk)
    await city.say(ben, walk, "two")
    await city.archive(walk)
    city.town.clock.advance(4 * 3600)
    city.faults.fail("GET /channels/*/threads/archived/public", 503, times=8)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.hears(walk, "one", "two")
    assert city.faults.left == []


async def test_a_new_session_while_a_gap_is_read(city: Twin, tmp_path: Path) -> None:
    """What is said in a new session waits for what was missed before it, however an older read ends."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    late = replace(PLAIN, guilds=1.5)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
        await home.tell(ben, mall, "here")
    await city.say(ben, plaza, "two")
    gate = city.faults.hold(READ)
    async with lodged(city, tmp_path, {maya: "maya"}, options=late) as home:
        await gate.reached.wait()
        await city.forget(maya)
        await city.cut(maya)
        await city.say(ben, mall, "there")
        await city.until(lambda: city.identified == ["Maya"] * 3)
        await city.say(ben, mall, "everywhere")
        gate.release()
        await home.hears(plaza, "one", "two")
        await home.hears(mall, "here", "there", "everywhere")


async def test_sessions_that_end_as_they_begin(city: Twin, tmp_path: Path) -> None:
    """Where Discord ends each session, none is begun again at once: 1000 in a day cost the token."""
    maya = city.bot("Maya")
    city.faults.invalidate()
    once = replace(PLAIN, pauses=(1000.0,))
    async with lodged(city, tmp_path, {maya: "maya"}, options=once, wait=False) as home:
        await city.until(lambda: "one session after the other" in home.states()[0])
        assert city.invalidated == ["Maya"] * 3


async def test_connections_that_end_as_they_begin(city: Twin, tmp_path: Path) -> None:
    """Where Discord ends each connection, no more than some are made before there is a pause."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
        city.faults.shake()
        await city.reconnect(maya)
        await city.until(lambda: city.identified == ["Maya"] * 2, timeout=20)
        assert len(city.shaken) < 25
        await city.say(ben, plaza, "two")
        await home.hears(plaza, "one", "two")
    city.faults.clear()


class Closed(Loopback):
    """Discord's hosts, of which the gateway cannot be reached while it is `away`."""

    def __init__(self, port: int, away: list[str]) -> None:
        super().__init__(port)
        self._away = away

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Where that host is."""
        if any(host.endswith(each) for each in self._away):
            raise OSError("Temporary failure in name resolution")
        return await super().resolve(host, port, family)


async def test_a_gateway_that_cannot_be_reached_for_long(
    city: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some tries it is said that it cannot be reached, and what was missed is read later."""
    monkeypatch.setattr(gateway_client, "UNREACHED", 2, raising=False)
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    away: list[str] = []

    def connector() -> aiohttp.TCPConnector:
        resolver, context = Closed(city.port, away), client_context()
        return aiohttp.TCPConnector(limit=0, resolver=resolver, ssl=context, use_dns_cache=False)

    async with lodged(city, tmp_path, {maya: "maya"}, connector=connector) as home:
        await home.tell(ben, plaza, "one")
        away.append("discord.gg")
        await city.cut(maya)
        async for _ in home.looks("it cannot be reached"):
            if "cannot be reached" in home.states()[0]:
                break
        await city.say(ben, plaza, "two")
        away.clear()
        await home.hears(plaza, "one", "two")
        await home.connected()


async def test_a_webhook_that_is_to_wait_for_minutes(city: Twin, tmp_path: Path) -> None:
    """Where a webhook's call is to wait for long, the line is put off, which is known, as by a bot."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {house: "*"}) as home:
        city.faults.rate_limit(HOOK, retry_after=1000)
        await city.say(ben, plaza, "maya, hello")
        await home.eventually(plaza, PutOff)
        put_off = [e.body for e in await home.events(plaza) if isinstance(e.body, PutOff)]
    assert [str(body.why) for body in put_off] == ["Discord asks to wait (rate limit)."]
    assert city.faults.left == []


async def stand(city: Twin, place: Place, word: str, count: int) -> None:
    """Wait until so many messages of a place say this."""
    await city.until(lambda: sum(word in each.text for each in city.lines(place)) == count)


@pytest.mark.parametrize("who", ["maya", "*"])
async def test_two_homes_with_one_token(city: Twin, tmp_path: Path, who: str) -> None:
    """Discord tells neither of the other: who hears more than it said by its bot says so."""
    bot, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    first = lodged(city, tmp_path / "first", {bot: who})
    second = lodged(city, tmp_path / "second", {bot: who})
    async with first as home, second as other:
        for count in range(1, 6):
            await city.say(ben, plaza, f"maya, hello {count}")
            await stand(city, plaza, "hello", 3 * count)
            await home.rests(plaza)
            await other.rests(plaza)
            city.town.clock.advance(61)
        both = [*home.states(), *other.states()]
        assert all(state.startswith("connected as House; another program speaks") for state in both)


async def test_one_home_with_its_token(city: Twin, tmp_path: Path) -> None:
    """What a home says by itself, in answer to commands and by signs too, is nobody else's."""
    bot, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {bot: "*"}) as home:
        for count in range(1, 6):
            line = await city.say(ben, plaza, f"maya, hello {count}")
            await home.eventually(plaza, Said, count)
            await city.react(ben, line, "🛑")
            await city.slash(ben, plaza, bot, "title", {"text": "Tea"})
            await stand(city, plaza, "Stopped.", count)
            await home.rests(plaza)
            city.town.clock.advance(61)
        assert home.states() == ["connected as House"]


async def test_a_home_without_a_network(city: Twin, tmp_path: Path) -> None:
    """How it stands is said in words, while it is tried again; then it connects by itself."""
    bot, away = city.bot("House"), [1]

    def connector() -> aiohttp.TCPConnector:
        return nowhere() if away else city.connector()

    async with lodged(city, tmp_path, {bot: "*"}, connector=connector, wait=False) as home:
        async for _ in home.looks("it cannot be reached"):
            if "cannot be reached" in home.states()[0]:
                break
        said, (state,) = "Discord cannot be reached (Connect call failed", home.states()
        assert state.startswith(said)
        assert state.endswith("; it is tried again by itself")
        away.clear()
        await home.connected()
