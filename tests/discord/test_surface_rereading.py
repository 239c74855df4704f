"""A call that broke off after it was carried out: its line is found again, however it stands there."""

from pathlib import Path

import pytest

from loopforge.io.discord.connection.gateway_client import own_permissions
from tests.discord.faults import Gate
from tests.discord.lodging import HOOK, SEND, Lodging, lodged
from tests.discord.twin import Twin
from tests.discord.words import Place

OWL = "look <:owl:123456789012345678> and <a:hoot:1>"


async def sees(home: Lodging, place: Place, *, hooks: bool) -> None:
    """Wait until the bot knows whether it may have webhooks there."""
    (client,) = home.surface._crowd.clients()
    async for _ in home.looks("the bot knows what it may"):
        if own_permissions(client.get_channel(place.id)).manage_webhooks == hooks:  # type: ignore[arg-type]
            return


async def test_emojis_that_discord_wrote_otherwise(city: Twin, tmp_path: Path) -> None:
    """A webhook may not use those of other servers: their names stand there, and are known again."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {house: "*"}, lambda _: OWL) as home:
        city.faults.lose(HOOK, carried=True)
        await city.say(ben, plaza, "maya, what is there?")
        await city.until(lambda: len(city.lines(plaza)) == 2)
        await home.rests(plaza)
        await home.ask(ben, plaza, "maya, where?")
    assert city.faults.left == []
    assert [line.text for line in city.lines(plaza)[1::2]] == ["look :owl: and :hoot:"] * 2


@pytest.mark.parametrize("before", [True, False], ids=["webhooks before", "webhooks since"])
async def test_webhooks_that_are_allowed_or_forbidden_meanwhile(
    city: Twin, tmp_path: Path, *, before: bool
) -> None:
    """What stands there by the other way to speak is the line: it is not said a second time."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    if not before:
        await city.forbid(house, plaza, "manage_webhooks")
    async with lodged(city, tmp_path, {house: ("maya", "merlin")}, lambda _: "rye") as home:
        await home.tell(ben, plaza, "good morning")
        lost = city.faults.lose(HOOK if before else SEND, carried=True)
        lost.gate = gate = Gate()
        await city.say(ben, plaza, "maya, what is there?")
        await gate.reached.wait()
        await (city.forbid(house, plaza, "manage_webhooks") if before else city.allow(house, plaza))
        await sees(home, plaza, hooks=not before)
        gate.release()
        await home.rests(plaza)
        await home.ask(ben, plaza, "maya, and now?")
    first, second = city.lines(plaza)[-3], city.lines(plaza)[-1]
    hooked, quoted = ("Maya", "rye"), ("House", "**Maya:** rye")
    wanted = [hooked, quoted] if before else [quoted, hooked]
    assert [(line.by, line.text) for line in (first, second)] == wanted
    assert len(city.lines(plaza)) == 5
