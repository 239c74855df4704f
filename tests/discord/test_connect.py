"""Connecting a mate's bot to Discord: what is looked at, told and kept, against the twin."""

import asyncio
import stat
from pathlib import Path
from typing import Any

import pytest

import discord
from loopforge.chat.commands.command_catalogue import COMMANDS
from loopforge.cli.health_checks.platform_checks import check_accounts
from loopforge.core.mates.mate_file import Mate
from loopforge.errors import InputError, NotLetIn, Unreachable
from loopforge.io.bot_connecting import check_bot_account, connect, disconnect
from loopforge.io.platforms.bot_tokens import BotAccount, BotTokens
from loopforge.io.platforms.surface_plugin import ConnectReport
from loopforge.mates.cards.avatar_image import draw_avatar
from loopforge.settings import load_settings
from tests.discord.lodging import lodged
from tests.discord.twin import Twin
from tests.discord.words import Bot
from tests.elsewhere import elsewhere

MATES = {
    handle: Mate(name=handle.capitalize(), handle=handle, prompt="You are.", hash="0" * 16)
    for handle in ("maya", "otto")
}


def bad(report: ConnectReport) -> list[str]:
    """What keeps mates from talking."""
    return [finding.said for finding in report.findings if finding.state == "bad"]


def warned(report: ConnectReport) -> str:
    """What is worth knowing, as one text."""
    found = [finding for finding in report.findings if finding.state == "warn"]
    return "\n".join(f"{finding.said} {finding.mend}" for finding in found)


async def joined(
    city: Twin, path: Path, bot: Bot, name: str = "maya", **more: Any
) -> ConnectReport:
    """Connect a mate by a bot of the city."""
    tokens = BotTokens(path / "data", {})
    there = elsewhere(discord=city.connector)
    _, report = await connect(tokens, MATES, name, "discord", bot.token, there, **more)
    return report


async def test_a_clock_that_is_wrong(city: Twin, tmp_path: Path) -> None:
    """Whoever connects a bot, or asks the doctor, is told that the machine's clock is wrong."""
    city.town.clock.advance(13 * 3600)
    city.channel("plaza")
    told = "this machine's clock is 13 hours behind Discord's, so that reminders ring at a wrong"
    assert warned(await joined(city, tmp_path, city.bot("some-bot"))).startswith(told)


async def test_a_bot_becomes_a_mate(city: Twin, tmp_path: Path) -> None:
    """A good token is kept for its owner alone; the bot has the mate's name, face and commands."""
    city.channel("plaza")
    bot = city.bot("some-bot")
    report = await joined(city, tmp_path, bot)
    assert report.well
    assert warned(report) == ""
    (account,) = BotTokens(tmp_path / "data", {}).accounts()
    assert (account.token, account.mates) == (bot.token, ("maya",))
    assert stat.S_IMODE((tmp_path / "data" / "accounts.json").stat().st_mode) == 0o600
    user = city.town.users[bot.id]
    assert user.name == "Maya"
    assert user.avatar is not None
    puts = [call for call in city.calls if call.method == "PUT" and call.path.endswith("/commands")]
    (told,) = puts
    names = {command["name"] for command in told.body}
    assert names == {command.name for command in COMMANDS} | {"Why?", "Talk in a thread"}
    assert bot.token not in str(report)


async def test_the_home_tells_the_same_commands(city: Twin, tmp_path: Path) -> None:
    """What connecting tells Discord is what a running home tells it: neither undoes the other."""
    city.channel("plaza")
    bot = city.bot("Maya")
    await joined(city, tmp_path, bot)

    def told() -> list[object]:
        puts = [each for each in city.calls if each.method == "PUT" and "commands" in each.path]
        return [each.body for each in puts]

    async with lodged(city, tmp_path, {bot: "maya"}):
        await city.until(lambda: len(told()) == 2)
    assert told()[0] == told()[1]


async def test_a_token_that_discord_does_not_know(city: Twin, tmp_path: Path) -> None:
    """A wrong token is said with what to do, and is not kept."""
    stranger = Bot("Eve", f"{'A' * 24}.Twin-A.{'b' * 30}", 1, 2, 0, frozenset())
    with pytest.raises(NotLetIn, match="does not know this token") as refused:
        await joined(city, tmp_path, stranger)
    assert stranger.token not in str(refused.value)
    assert BotTokens(tmp_path / "data", {}).accounts() == []


async def test_discord_that_has_trouble(city: Twin, tmp_path: Path) -> None:
    """Where Discord cannot be asked, that is said and nothing is kept."""
    bot = city.bot("Maya")
    for _ in range(9):
        city.faults.fail("GET /users/@me", 503)
    with pytest.raises(Unreachable, match="Discord"):
        await joined(city, tmp_path, bot)
    assert BotTokens(tmp_path / "data", {}).accounts() == []


async def test_the_intent_is_missing(city: Twin, tmp_path: Path) -> None:
    """Without the Message Content Intent it is said where to switch that on; the token is kept."""
    city.channel("plaza")
    bot = city.bot("Maya", approved=())
    report = await joined(city, tmp_path, bot)
    (intent,) = [finding for finding in report.findings if finding.state == "bad"]
    assert "Message Content Intent is off" in intent.said
    assert f"https://discord.com/developers/applications/{bot.application}/bot" in intent.mend
    assert BotTokens(tmp_path / "data", {}).accounts() != []


async def test_nobody_invited_it(city: Twin, tmp_path: Path) -> None:
    """A bot that is in no server is told how to come into one: the address asks for what it needs."""
    bot = city.bot("Maya", invited=False)
    report = await joined(city, tmp_path, bot)
    assert report.well
    address = f"client_id={bot.application}&scope=bot+applications.commands&permissions="
    assert address in warned(report)
    ((_, way),) = report.ways
    asked = discord.Permissions(int(way.rpartition("=")[2]))
    assert asked == discord.Permissions(
        view_channel=True,
        send_messages=True,
        send_messages_in_threads=True,
        read_message_history=True,
        attach_files=True,
        add_reactions=True,
        create_public_threads=True,
    )


async def test_permissions_that_are_missing(city: Twin, tmp_path: Path) -> None:
    """Which permission is missing in which channel is said; a channel it does not see is none."""
    city.channel("plaza")
    city.channel("quiet")
    city.channel("secret")
    bot = city.bot("Maya")
    await city.forbid(bot, "quiet", "send_messages")
    await city.forbid(bot, "secret", "view_channel", "send_messages")
    report = await joined(city, tmp_path, bot)
    assert "lacks the permission Send Messages in #quiet: it reads there" in warned(report)
    assert warned(report).count("#quiet") == 1
    assert "secret" not in warned(report)
    assert report.well


@pytest.mark.parametrize(
    ("lacks", "said"),
    [
        ("view_channel", "in The City it can see no channel"),
        ("send_messages", "lacks the permission Send Messages: it reads there"),
        ("read_message_history", "lacks the permission Read Message History"),
    ],
)
async def test_what_keeps_mates_from_talking(
    city: Twin, tmp_path: Path, lacks: str, said: str
) -> None:
    """What a mate cannot do without is bad where no channel gives it, and comes with what to do."""
    city.channel("plaza")
    bot = city.bot("Maya")
    await city.forbid(bot, "plaza", lacks)
    report = await joined(city, tmp_path, bot)
    (found,) = [finding for finding in report.findings if finding.state == "bad"]
    assert said in found.said
    assert found.mend


async def test_an_application_that_goes_elsewhere(city: Twin, tmp_path: Path) -> None:
    """A bot that nobody can invite is of no use; of one whose commands go elsewhere it is said."""
    city.channel("plaza")
    city.portal = {
        "bot_require_code_grant": True,
        "interactions_endpoint_url": "https://bread.example/",
    }
    report = await joined(city, tmp_path, city.bot("Maya"))
    assert bad(report) == ["it wants an OAuth2 Code Grant, so that nobody can invite it."]
    assert "its commands go to an address on the web" in warned(report)


async def test_threads_are_welcome_and_no_need(city: Twin, tmp_path: Path) -> None:
    """Where the bot may not open threads, what that means is said, and is nothing to be mended."""
    city.channel("plaza")
    bot = city.bot("Maya")
    await city.forbid(bot, "plaza", "create_public_threads")
    report = await joined(city, tmp_path, bot)
    (said,) = [finding.said for finding in report.findings if "Threads" in finding.said]
    assert "without the permission Create Public Threads in #plaza: mates open no threads" in said
    assert (warned(report), bad(report)) == ("", [])


async def test_a_shared_bot(city: Twin, tmp_path: Path) -> None:
    """A bot for all keeps its name, and is asked to have webhooks for theirs."""
    city.channel("plaza")
    bot = city.bot("House")
    await city.forbid(bot, "plaza", "manage_webhooks")
    report = await joined(city, tmp_path, bot, "all")
    assert city.town.users[bot.id].name == "House"
    assert "Manage Webhooks" in warned(report)
    ((_, way),) = report.ways
    assert discord.Permissions(int(way.rpartition("=")[2])).manage_webhooks
    (account,) = BotTokens(tmp_path / "data", {}).accounts()
    assert account.mates == ("*",)


async def test_two_mates_by_one_bot(city: Twin, tmp_path: Path) -> None:
    """A bot that is one mate's is another's only where that is said; then it is both's."""
    city.channel("plaza")
    bot, tokens = city.bot("House"), BotTokens(tmp_path / "data", {})
    await joined(city, tmp_path, bot, "maya", shared=True)
    assert city.town.users[bot.id].name == "House"
    with pytest.raises(InputError, match="maya's already"):
        await joined(city, tmp_path, bot, "otto")
    await joined(city, tmp_path, bot, "otto", shared=True)
    assert [account.mates for account in tokens.accounts()] == [("maya", "otto")]
    disconnect(tokens, {}, "maya", "discord", elsewhere())
    assert [account.mates for account in tokens.accounts()] == [("otto",)]


async def test_a_name_that_is_refused(city: Twin, tmp_path: Path) -> None:
    """Discord lets a name be changed twice an hour: that it refuses is said, and is no failure."""
    city.channel("plaza")
    bot = city.bot("some-bot")
    refusal = {
        "code": 50035,
        "message": "Invalid Form Body",
        "errors": {"username": {"_errors": [{"code": "X", "message": "You are too fast."}]}},
    }
    city.faults.fail("PATCH /users/@me", 400, body=refusal)
    report = await joined(city, tmp_path, bot)
    assert report.well
    assert "its name stays" in warned(report)
    assert "You are too fast." in warned(report)
    assert city.town.users[bot.id].avatar is not None


async def test_looking_changes_nothing(city: Twin) -> None:
    """Looking at an account again tells Discord nothing."""
    city.channel("plaza")
    bot = city.bot("some-bot")
    account = BotAccount(platform="discord", token=bot.token, mates=("maya",))
    report = await check_bot_account(account, elsewhere(discord=city.connector)["discord"])
    assert report.well
    assert {call.method for call in city.calls} == {"GET"}


async def test_the_doctor_asks_again(city: Twin, tmp_path: Path) -> None:
    """The doctor says of each account how it stands now: a missing intent, a token that is void."""
    city.channel("plaza")
    maya, otto = city.bot("Maya", approved=()), city.bot("Otto")
    tokens, there = BotTokens(tmp_path / "data", {}), elsewhere(discord=city.connector)
    tokens.keep(BotAccount(platform="discord", token=maya.token, mates=("maya",)))
    tokens.keep(BotAccount(platform="discord", token=otto.token, mates=("otto",)))
    otto.token = "another"
    settings = load_settings(tmp_path, environ={})
    found = await asyncio.to_thread(lambda: list(check_accounts(settings, surfaces=there)))
    wrong = [finding for finding in found if finding.state == "wrong"]
    assert [finding.check for finding in wrong] == ["Discord (maya)", "Discord (otto)"]
    assert "Message Content Intent is off" in wrong[0].said
    assert "does not know this token" in wrong[1].said
    assert wrong[1].mend == "Then connect it anew: `loopforge mate connect`."
    assert maya.token not in str(found)


def test_a_face_is_an_image() -> None:
    """A face is a PNG and a JPEG of 256 by 256, the same each time, another for another mate."""
    png = draw_avatar("maya", "#2a9d8f")
    assert png.startswith(b"\x89PNG")
    assert png[16:24] == (256).to_bytes(4, "big") * 2
    assert draw_avatar("maya", "#2a9d8f", "jpeg").startswith(b"\xff\xd8\xff")
    assert png == draw_avatar("maya", "#2a9d8f") != draw_avatar("otto", "#2a9d8f")
