"""Connecting a mate's bot to Telegram: what is looked at, told and kept, against the twin."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from loopforge.chat.commands.command_catalogue import COMMANDS
from loopforge.cli.health_checks.platform_checks import check_accounts
from loopforge.core.mates.mate_file import Mate
from loopforge.errors import InputError, NotLetIn, Unreachable
from loopforge.io.bot_connecting import check_bot_account, connect
from loopforge.io.platforms.bot_tokens import BotAccount, BotTokens
from loopforge.io.platforms.surface_plugin import ConnectReport
from loopforge.io.telegram.connection import account_checks
from loopforge.mates.cards.avatar_image import draw_avatar
from loopforge.runtime.system_clock import SystemClock
from loopforge.settings import load_settings
from telegram import User
from tests.elsewhere import elsewhere
from tests.telegram.city import City
from tests.telegram.twin import Twin, serving

MAYA = Mate(
    name="Maya", handle="maya", prompt="You are.", hash="0" * 16, role="field scientist of failures"
)


@pytest.fixture
async def twin() -> AsyncIterator[Twin]:
    """The server, by the machine's clock, as the command that visits it goes by that."""
    async with serving(SystemClock()) as server:
        yield server
        assert await server.city.deviations() == []


def warned(report: ConnectReport) -> str:
    """What is worth knowing, as one text."""
    found = [finding for finding in report.findings if finding.state == "warn"]
    return "\n".join(f"{finding.said} {finding.mend}" for finding in found)


async def joined(
    twin: Twin, path: Path, token: str, name: str = "maya", **more: Any
) -> ConnectReport:
    """Connect Maya by a bot of the city."""
    tokens, there = BotTokens(path / "data", {}), elsewhere(telegram=twin.base)
    _, report = await connect(tokens, {"maya": MAYA}, name, "telegram", token, there, **more)
    return report


async def test_a_bot_becomes_a_mate(tmp_path: Path, twin: Twin, city: City) -> None:
    """A good token is kept; the bot has the mate's name, role, face and the rooms' commands."""
    bot = await city.bot("Some Bot", "maya_bot", reads_all=True)
    report = await joined(twin, tmp_path, bot.token)
    assert report.well
    assert warned(report) == ""
    (account,) = BotTokens(tmp_path / "data", {}).accounts()
    assert (account.token, account.mates) == (bot.token, ("maya",))
    profile = twin.town.accounts[bot.id].profile
    assert profile["name"] == "Maya"
    assert profile["description"] == profile["short_description"] == MAYA.role
    assert profile["photo"] == hashlib.sha256(draw_avatar("maya", MAYA.colour, "jpeg")).hexdigest()
    told = {command["command"] for command in profile["commands"]}
    assert told == {command.name for command in COMMANDS}
    assert report.ways == (
        ("Talk to it in private", "https://t.me/maya_bot"),
        ("Bring it into a group", "https://t.me/maya_bot?startgroup=true"),
    )


class Behind(SystemClock):
    """Thirteen hours behind the machine's."""

    def now(self) -> datetime:
        """UTC, aware."""
        return super().now() - timedelta(hours=13)


async def test_a_clock_that_is_wrong(tmp_path: Path) -> None:
    """Whoever connects a bot, or asks the doctor, is told that the machine's clock is wrong."""
    async with serving(Behind()) as twin:
        bot = await twin.city.bot("Some Bot", "maya_bot", reads_all=True)
        report = await joined(twin, tmp_path, bot.token)
    told = "this machine's clock is 13 hours ahead of Telegram's, so that reminders ring at a wrong"
    assert warned(report).startswith(told)
    assert "timedatectl" in warned(report)


async def test_privacy_mode(tmp_path: Path, twin: Twin, city: City) -> None:
    """A bot that hears only what is for it in groups is told how to hear all; that is no failure."""
    bot = await city.bot("Maya", "maya_bot")
    report = await joined(twin, tmp_path, bot.token)
    assert report.well
    assert "privacy mode is on" in warned(report)
    assert "/setprivacy to https://t.me/BotFather, choose @maya_bot, then Disable" in warned(report)


async def test_a_token_that_telegram_does_not_know(tmp_path: Path, twin: Twin, city: City) -> None:
    """A wrong token is said with what to do, and is not kept."""
    token = f"123456:{'A' * 35}"
    with pytest.raises(NotLetIn, match="does not know this token") as refused:
        await joined(twin, tmp_path, token)
    assert token not in str(refused.value)
    assert BotTokens(tmp_path / "data", {}).accounts() == []


async def test_telegram_that_has_trouble(tmp_path: Path, twin: Twin, city: City) -> None:
    """Where Telegram cannot be asked, that is said and nothing is kept."""
    bot = await city.bot("Maya", "maya_bot")
    await city.fault("getMe", "before", times=9)
    with pytest.raises(Unreachable, match="Telegram"):
        await joined(twin, tmp_path, bot.token)
    assert BotTokens(tmp_path / "data", {}).accounts() == []


async def test_a_name_that_is_refused(tmp_path: Path, twin: Twin, city: City) -> None:
    """Telegram lets names be changed a few times a day: that it refuses is said, and no failure."""
    bot = await city.bot("Some Bot", "maya_bot", reads_all=True)
    await city.fault("setMyName", "flood", retry_after=3600)
    report = await joined(twin, tmp_path, bot.token)
    assert report.well
    assert "its name stays: Telegram asks for 60 minutes of patience." in warned(report)
    assert "photo" in twin.town.accounts[bot.id].profile


async def test_a_bot_of_all_keeps_its_face(tmp_path: Path, twin: Twin, city: City) -> None:
    """A bot for all mates keeps its name and picture; so does one that is to stay as it is."""
    house = await city.bot("House", "house_bot", reads_all=True)
    await joined(twin, tmp_path, house.token, "all")
    own = await city.bot("Mine", "mine_bot", reads_all=True)
    await joined(twin, tmp_path, own.token, as_is=True)
    for bot in (house, own):
        assert set(twin.town.accounts[bot.id].profile) == {"commands"}
    assert [each.mates for each in BotTokens(tmp_path / "data", {}).accounts()] == [
        ("*",),
        ("maya",),
    ]


async def test_a_webhook_is_taken_over(tmp_path: Path, twin: Twin, city: City) -> None:
    """Another program's webhook stays until somebody says --take-over; then the bot is ours."""
    bot = await city.bot("Maya", "maya_bot", reads_all=True)
    profile = twin.town.accounts[bot.id].profile
    profile["webhook"] = "https://bots.example.org/hook"
    report = await joined(twin, tmp_path, bot.token)
    assert not report.well
    assert "--take-over" in next(each.mend for each in report.findings if each.state == "bad")
    assert profile["webhook"]
    report = await joined(twin, tmp_path, bot.token, take_over=True)
    assert report.well
    assert report.findings[0].said.startswith("its messages went to bots.example.org")
    assert "webhook" not in profile
    with pytest.raises(InputError, match="Telegram alone"):
        await connect(
            BotTokens(tmp_path, {}),
            {"maya": MAYA},
            "maya",
            "discord",
            "x",
            elsewhere(),
            take_over=True,
        )


async def test_looking_changes_nothing(city: City) -> None:
    """Looking at a bot again asks, and tells Telegram nothing; nor does it take messages away."""
    bot = await city.bot("Maya", "maya_bot")
    account = BotAccount(platform="telegram", token=bot.token, mates=("maya",))
    report = await check_bot_account(account, elsewhere(telegram=city.base)["telegram"])
    assert report.well
    assert {call.method for call in await city.calls()} == {"getMe", "getWebhookInfo"}


async def test_the_doctor_asks_again(tmp_path: Path, city: City) -> None:
    """The doctor says how a bot stands now; that Telegram cannot be reached is no fault of ours."""
    bot = await city.bot("Maya", "maya_bot")
    tokens = BotTokens(tmp_path / "data", {})
    tokens.keep(BotAccount(platform="telegram", token=bot.token, mates=("maya",)))
    settings = load_settings(tmp_path, environ={})

    async def doctor() -> list[tuple[str, str]]:
        there = elsewhere(telegram=city.base)
        found = await asyncio.to_thread(lambda: list(check_accounts(settings, surfaces=there)))
        assert {finding.check for finding in found} == {"Telegram (maya)"}
        return [(finding.state, finding.said) for finding in found]

    (_, first, privacy) = await doctor()
    assert first == ("ok", "the token is good: this is @maya_bot.")
    assert privacy[0] == "note"
    await city.fault("getMe", "before", times=9)
    (_, (state, said)) = await doctor()
    assert state == "note"
    assert said.endswith(") cannot be reached, or does not answer. Try again.")


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("", "No token was given"),
        ("maya", "is no token of a bot of Telegram"),
        (f"{'A' * 24}.Twin-A.{'b' * 30}", "is a token of Discord"),
    ],
)
async def test_what_is_no_token(tmp_path: Path, token: str, said: str) -> None:
    """What does not look like a token is said before anybody is asked."""
    with pytest.raises(InputError, match=said):
        await connect(
            BotTokens(tmp_path, {}), {"maya": MAYA}, "maya", "telegram", token, elsewhere()
        )


def test_a_webhook_and_no_groups() -> None:
    """A bot whose messages go elsewhere cannot talk; one that may not join groups is told how."""
    me = User(7, "Maya", True, can_join_groups=False, can_read_all_group_messages=True)
    first, webhook, joins, _ = account_checks.bot_findings(me, "bots.example.org")
    assert first.state == "ok"
    assert webhook.state == "bad"
    assert "bots.example.org" in webhook.said
    assert joins.state == "warn"
    assert "/setjoingroups" in joins.mend
