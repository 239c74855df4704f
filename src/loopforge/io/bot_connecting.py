"""Connect: a bot account becomes a mate's, or that of several; and is looked at again later.

    a token --> does it look like one? --> what does the platform say? --> kept in the home
                                           commands, name and face told

A running home takes up what is kept here by itself (platform_runner.py). Does not know where a
token comes from, nor how a finding is shown. The libraries of a platform are loaded when it is
visited.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from loopforge.core.mates.mate_file import Mate
from loopforge.errors import InputError, Unknown
from loopforge.io.platforms.account_findings import AccountFinding
from loopforge.io.platforms.bot_tokens import EVERYBODY, FILE, BotAccount, BotTokens, Platform
from loopforge.io.platforms.secret_scrubbing import scrub_logs

ALL = "all"
"""How people call all mates of the home; no mate has this handle."""
TITLES: dict[Platform, str] = {"discord": "Discord", "telegram": "Telegram"}
SHAPES: dict[Platform, re.Pattern[str]] = {
    "discord": re.compile(r"[\w-]{18,}\.[\w-]{4,}\.[\w-]{20,}"),
    "telegram": re.compile(r"[0-9]{5,}:[\w-]{20,}"),
}


class Roads(Struct, frozen=True):
    """Other ways to the platforms than their own: see Manners in platform_runner.py."""

    servers: Mapping[str, str] = {}
    connector: Callable[[], Any] | None = None


class ConnectReport(Struct, frozen=True):
    """What was found, and the addresses by which people come to the bot, each with what it does."""

    findings: tuple[AccountFinding, ...] = ()
    ways: tuple[tuple[str, str], ...] = ()

    @property
    def well(self) -> bool:
        """Whether mates can talk by it."""
        return all(finding.state != "bad" for finding in self.findings)


def clean(token: str, platform: Platform) -> str:
    """The token as it is meant. Raises InputError for what is no token of this platform."""
    token = token.strip().strip("\"'").removeprefix("Bot ").strip()
    title = TITLES[platform]
    if SHAPES[platform].fullmatch(token):
        return token
    for other, shape in SHAPES.items():
        if shape.fullmatch(token):
            raise InputError(f"This is a token of {TITLES[other]}, not of {title}.")
    if not token:
        raise InputError(f"No token was given. {_where(platform)}")
    raise InputError(f"This is no token of a bot of {title}. {_where(platform)}")


def _where(platform: Platform) -> str:
    if platform == "discord":
        return (
            "It stands on the page Bot of your application (Reset Token), and has three parts with "
            "dots between; the public key and the client secret are something else: "
            "https://discord.com/developers/applications"
        )
    return (
        "@BotFather gives it to you when you make a bot (/newbot), as a number, a colon and "
        "letters: https://t.me/BotFather"
    )


def found(name: str, mates: Mapping[str, Mate]) -> Mate | None:
    """The mate of this handle or name; None for all of them. Raises Unknown."""
    if name.casefold() == ALL:
        return None
    for mate in mates.values():
        if name.casefold() in (mate.handle, mate.name.casefold()):
            return mate
    known = ", ".join(mates) or "none yet; `loopforge mate new NAME` makes one"
    raise Unknown(f"There is no mate {name!r}. Known: {known}. `all` is for all of them.")


def planned(
    tokens: BotTokens, mate: Mate | None, platform: Platform, token: str, *, shared: bool
) -> BotAccount:
    """The account as it is to be kept. Raises InputError where its bot is somebody else's."""
    handle = mate.handle if mate else EVERYBODY
    for each in tokens.accounts(platform):
        if each.token != token or each.mates == (handle,):
            continue
        if EVERYBODY in each.mates:
            raise InputError(
                "By this bot all mates speak already. `loopforge mate disconnect all "
                f"--from {platform}` gives it free."
            )
        theirs = ", ".join(each.mates)
        if handle == EVERYBODY:
            raise InputError(
                f"This bot is {theirs}'s. Disconnect that first, or take another bot for all."
            )
        if each.source != FILE:
            raise InputError(
                f"This bot is {theirs}'s by {each.source}. Unset that, and connect {theirs} anew."
            )
        if not shared:
            raise InputError(
                f"This bot is {theirs}'s already. Make another one for {handle}; or say --shared, "
                "and both speak by it."
            )
        mates = tuple(dict.fromkeys((*each.mates, handle)))
        return BotAccount(platform=platform, token=token, mates=mates)
    return BotAccount(platform=platform, token=token, mates=(handle,))


def keep(tokens: BotTokens, account: BotAccount) -> None:
    """Keep the account in the home's file, in place of others that its mates had there."""
    for mate in account.mates:
        while any(mate in each.mates for each in tokens.kept(account.platform)):
            tokens.drop(account.platform, mate)
    tokens.keep(account)


async def connect(
    tokens: BotTokens,
    mates: Mapping[str, Mate],
    name: str,
    platform: Platform,
    token: str,
    *,
    shared: bool = False,
    as_is: bool = False,
    take_over: bool = False,
    roads: Roads | None = None,
) -> tuple[BotAccount, ConnectReport]:
    """Make the bot of this token a mate's (`all`: everybody's), and keep it in the home.

    With `as_is` the bot keeps its name and face, as one of several mates does anyway; `take_over`
    takes away the webhook by which another program gets what a bot of Telegram is told. Raises
    InputError for what cannot be, NotLetIn where the platform does not know the token, and
    Unreachable: then nothing is kept.
    """
    if take_over and platform != "telegram":
        raise InputError("--take-over is for Telegram alone: it takes another program's webhook.")
    mate = found(name, mates)
    account = planned(tokens, mate, platform, clean(token, platform), shared=shared)
    several = shared or account.shared
    face = None if several or as_is else mate
    report = await visit(
        account, shared=several, told=True, face=face, take_over=take_over, roads=roads
    )
    keep(tokens, account)
    return account, report


def disconnect(
    tokens: BotTokens, mates: Mapping[str, Mate], name: str, platform: Platform
) -> BotAccount:
    """Forget the bot of this mate (`all`: the one of everybody), also of one that is no more.

    Raises Unknown.
    """
    handle = EVERYBODY if name.casefold() == ALL else name.casefold()
    if not any(handle in each.mates for each in tokens.accounts(platform)):
        title = TITLES[platform]
        if handle == EVERYBODY:
            raise Unknown(f"No bot is there for all mates on {title}.")
        found(name, mates)
        if any(each.speaks_for(handle) for each in tokens.accounts(platform)):
            raise Unknown(f"{name} speaks by the bot that is there for all; disconnect `all`.")
        raise Unknown(f"{name} is not connected to {title}.")
    return tokens.drop(platform, handle)


async def visit(
    account: BotAccount,
    *,
    shared: bool | None = None,
    told: bool = False,
    face: Mate | None = None,
    take_over: bool = False,
    roads: Roads | None = None,
) -> ConnectReport:
    """How it stands with an account. Raises NotLetIn, Unreachable.

    `told`: the platform is told the commands; `face`: and the name and face of this mate.
    `take_over`: a webhook of another program is taken away first.
    """
    roads = roads or Roads()
    scrub_logs([account.token])
    shared = account.shared if shared is None else shared
    if account.platform == "discord":
        return await _discord(account, shared=shared, told=told, face=face, roads=roads)
    return await _telegram(account, told=told, face=face, take_over=take_over, roads=roads)


async def _discord(
    account: BotAccount, *, shared: bool, told: bool, face: Mate | None, roads: Roads
) -> ConnectReport:
    from loopforge.io.discord.account_visit import visiting
    from loopforge.io.discord.connection import account_checks as checks
    from loopforge.io.discord.connection.bot_invite import invite

    async with visiting(account, roads.connector) as there:
        standing = await there.standing()
        findings = checks.findings(standing, shared=shared)
        findings += [await there.register()] if told else []
        findings += await there.present(face) if face else []
    address = invite(standing.application, shared=shared)
    return ConnectReport(tuple(findings), (("Bring it into a server", address),))


async def _telegram(
    account: BotAccount, *, told: bool, face: Mate | None, take_over: bool, roads: Roads
) -> ConnectReport:
    from loopforge.io.telegram.account_visit import visiting
    from loopforge.io.telegram.connection import account_checks as checks

    async with visiting(account.token, roads.servers.get("telegram", "")) as there:
        taken = await there.take_over() if take_over else []
        standing = await there.standing()
        findings = taken + checks.findings(standing)
        findings += [await there.register()] if told else []
        findings += await there.present(face) if face else []
    ways = (
        ("Talk to it in private", checks.private(standing.username)),
        ("Bring it into a group", checks.invite(standing.username)),
    )
    return ConnectReport(tuple(findings), ways)
