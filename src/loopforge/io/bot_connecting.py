"""Connect: a bot account becomes a mate's, or that of several; and is looked at again later.

    a token --> does it look like one? --> what does the platform say? --> kept in the home
                                           commands, name and face told

A running home takes up what is kept here by itself (platform_runner.py). Does not know where a
token comes from, nor how a finding is shown. The libraries of a platform are loaded when it is
visited.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from loopforge.core.mates.mate_file import Mate, find_mate
from loopforge.core.text.spoken_lists import join_as_prose
from loopforge.errors import InputError, Unknown
from loopforge.io.platforms.bot_tokens import EVERYBODY, FILE, BotAccount, BotTokens
from loopforge.io.platforms.secret_scrubbing import scrub_logs
from loopforge.io.platforms.surface_plugin import (
    AccountVisit,
    BotRules,
    ConnectReport,
    InstalledSurface,
    Surfaces,
)

if TYPE_CHECKING:
    from loopforge.mates.cards.avatar_image import Portraits

ALL = "all"
"""How people call all mates of the home; no mate has this handle."""


def rules_of(surface: InstalledSurface) -> BotRules:
    """What holds for bots there. Raises InputError for a surface that knows none."""
    if surface.plugin.bots is None:
        raise InputError(f"Mates are on {surface.plugin.title} without bots: there is no token.")
    return surface.plugin.bots


def surface_called(name: str, surfaces: Surfaces) -> InstalledSurface:
    """The surface of this name. Raises Unknown."""
    if name not in surfaces:
        known = ", ".join(each.name for each in surfaces.values() if each.plugin.bots)
        raise Unknown(f"No surface {name!r} is installed. Bots can be connected to: {known}.")
    return surfaces[name]


def clean(token: str, surface: InstalledSurface, surfaces: Surfaces) -> str:
    """The token as it is meant. Raises InputError for what is no token of this surface."""
    token = token.strip().strip("\"'").removeprefix("Bot ").strip()
    rules, title = rules_of(surface), surface.plugin.title
    if re.fullmatch(rules.shape, token):
        return token
    for other in surfaces.values():
        if other.plugin.bots is not None and re.fullmatch(other.plugin.bots.shape, token):
            raise InputError(f"This is a token of {other.plugin.title}, not of {title}.")
    if not token:
        raise InputError(f"No token was given. {rules.where}")
    raise InputError(f"This is no token of a bot of {title}. {rules.where}")


def found(name: str, mates: Mapping[str, Mate]) -> Mate | None:
    """The mate of this handle or name; None for all of them. Raises Unknown."""
    if name.casefold() == ALL:
        return None
    if mate := find_mate(name, mates.values()):
        return mate
    known = ", ".join(mates) or "none yet; `loopforge mate new NAME` makes one"
    raise Unknown(f"There is no mate {name!r}. Known: {known}. `all` is for all of them.")


def planned(
    tokens: BotTokens, mate: Mate | None, platform: str, token: str, *, shared: bool
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


async def connect(
    tokens: BotTokens,
    mates: Mapping[str, Mate],
    name: str,
    platform: str,
    token: str,
    surfaces: Surfaces,
    *,
    shared: bool = False,
    as_is: bool = False,
    take_over: bool = False,
    portraits: Portraits | None = None,
) -> tuple[BotAccount, ConnectReport]:
    """Make the bot of this token a mate's (`all`: everybody's), and keep it in the home.

    With `as_is` the bot keeps its name and face, as one of several mates does anyway; `take_over`
    takes away the webhook by which another program gets what the bot is told. Raises
    InputError for what cannot be, NotLetIn where the platform does not know the token, and
    Unreachable: then nothing is kept.
    """
    surface = surface_called(platform, surfaces)
    if take_over and not rules_of(surface).takes_over:
        with_them = [each for each in surfaces.values() if each.plugin.bots]
        where = [each.plugin.title for each in with_them if rules_of(each).takes_over]
        raise InputError(
            f"--take-over is for {join_as_prose(where)} alone: it takes another program's webhook."
        )
    mate = found(name, mates)
    account = planned(tokens, mate, platform, clean(token, surface, surfaces), shared=shared)
    several = shared or account.shared
    face = None if several or as_is else mate
    order = AccountVisit(
        account=account,
        options=surface.options,
        shared=several,
        told=True,
        face=face,
        portraits=portraits,
        take_over=take_over,
    )
    scrub_logs([account.token])
    report = await rules_of(surface).visit(order)
    tokens.keep(account)
    return account, report


def disconnect(
    tokens: BotTokens, mates: Mapping[str, Mate], name: str, platform: str, surfaces: Surfaces
) -> tuple[BotAccount, str]:
    """Forget the bot of this mate (`all`: the one of everybody), also of one that is no more.

    With what its platform is called; one whose package is gone too. Raises Unknown.
    """
    if platform in surfaces or not tokens.accounts(platform):
        title = surface_called(platform, surfaces).plugin.title
    else:
        title = platform
    handle = EVERYBODY if name.casefold() == ALL else name.casefold()
    if not any(handle in each.mates for each in tokens.accounts(platform)):
        if handle == EVERYBODY:
            raise Unknown(f"No bot is there for all mates on {title}.")
        found(name, mates)
        if any(each.speaks_for(handle) for each in tokens.accounts(platform)):
            raise Unknown(f"{name} speaks by the bot that is there for all; disconnect `all`.")
        raise Unknown(f"{name} is not connected to {title}.")
    return tokens.drop(platform, handle), title


async def check_bot_account(account: BotAccount, surface: InstalledSurface) -> ConnectReport:
    """How it stands with an account that is kept. Raises NotLetIn, Unreachable."""
    scrub_logs([account.token])
    order = AccountVisit(account=account, options=surface.options, shared=account.shared)
    return await rules_of(surface).visit(order)
