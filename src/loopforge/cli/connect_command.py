"""loopforge mate connect and disconnect: bots of platforms by which mates talk.

A token is read from its variable, from standard input, or asked for without showing it; never from
the command line, where others could read it. mate_command.py offers these commands among its own.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import settings_from_context
from loopforge.cli.doctor import print_finding
from loopforge.cli.health_checks.health_finding import STATES
from loopforge.errors import InputError

if TYPE_CHECKING:
    from loopforge.core.mates.mate_file import Mate
    from loopforge.io.platforms.bot_tokens import BotAccount
    from loopforge.io.platforms.surface_plugin import ConnectReport
    from loopforge.setting_defaults import Settings


Name = Annotated[str, typer.Argument(help="The mate's handle, such as maya; or all.")]


def connect(
    context: typer.Context,
    name: Name,
    to: Annotated[
        str,
        typer.Option("--to", help="Where it is to talk: the platform's name, in small letters."),
    ],
    shared: Annotated[
        bool, typer.Option("--shared", help="Several mates speak by this bot, each by its name.")
    ] = False,
    stdin: Annotated[
        bool, typer.Option("--token-from-stdin", help="Read the token from standard input.")
    ] = False,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Leave the bot's own name and picture as they are.")
    ] = False,
    take_over: Annotated[
        bool,
        typer.Option("--take-over", help="Take away another program's webhook, if one is there."),
    ] = False,
) -> None:
    """Let a mate talk on a platform, by a bot whose token you have.

    The token is taken from PLATFORM_TOKEN_NAME (for `all` without the name) if that is set, else
    asked for. It is checked, the bot is given the mate's name and face, and
    the token is kept in the home, readable by you alone. Exit code 1 if mates cannot talk by it
    yet.
    """
    from loopforge.home import make_home
    from loopforge.io import bot_connecting as connecting
    from loopforge.io.platforms.bot_tokens import BotTokens
    from loopforge.io.platforms.surface_plugin import surfaces_of
    from loopforge.mates.mate_roster import MateRoster

    there = settings_from_context(context)
    if not there.file.exists():
        raise InputError(f"{there.home} is no home yet; `loopforge up` makes it.")
    make_home(there.home)
    mates = MateRoster(there.home / "mates").mates()
    surfaces = surfaces_of(there)
    surface = connecting.surface_called(to, surfaces)
    mate = connecting.found(name, mates)
    token = _token(there, mate, to, stdin=stdin)
    tokens = BotTokens(there.data, there.tokens)

    async def connected() -> tuple[BotAccount, ConnectReport]:
        from loopforge.app import open_aside

        async with open_aside(there) as app:
            return await connecting.connect(
                tokens,
                mates,
                name,
                to,
                token,
                surfaces,
                shared=shared,
                as_is=as_is,
                take_over=take_over,
                portraits=app.portraits,
            )

    account, report = asyncio.run(connected())
    conclude(account, surface.plugin.title, mates, report)


def conclude(
    account: BotAccount, title: str, mates: dict[str, Mate], report: ConnectReport
) -> None:
    """Say how a visit went; what keeps people from talking comes last, and exits with 1."""
    for finding in report.findings:
        print_finding(STATES[finding.state], finding.said, finding.mend)
    typer.echo()
    for what, address in report.ways:
        typer.echo(f"{what}: {address}")
    typer.echo(_kept(account, title, mates, well=report.well))
    if not report.well:
        typer.echo("\nNobody can talk by it yet. Mend this, then run the command again:")
        for finding in report.findings:
            if finding.state == "bad":
                print_finding("wrong", finding.said, finding.mend)
        raise typer.Exit(1)


def _token(there: Settings, mate: Mate | None, platform: str, *, stdin: bool) -> str:
    """The token, from where there is one. Raises InputError where nobody can be asked."""
    if stdin:
        return sys.stdin.read().strip()
    ending = f"_{mate.handle.upper().replace('-', '_')}" if mate else ""
    variable = f"{platform.upper()}_TOKEN{ending}"
    if given := there.tokens.get(variable, ""):
        typer.echo(f"The token is taken from {variable}.", err=True)
        return given
    if not sys.stdin.isatty():
        raise InputError(
            f"There is no terminal to ask for the token at. Set {variable}, or give it to standard "
            "input with --token-from-stdin."
        )
    return str(typer.prompt("Token (it is not shown)", hide_input=True))


def _kept(account: BotAccount, title: str, mates: dict[str, Mate], *, well: bool) -> str:
    from loopforge.core.text.spoken_lists import join_as_prose
    from loopforge.io.platforms.bot_tokens import EVERYBODY, FILE

    kept = f"The token is kept in data/{FILE}, which you alone can read."
    if not well:
        return kept
    who = "All mates are"
    if EVERYBODY not in account.mates:
        names = [mates[each].name if each in mates else each for each in account.mates]
        who = f"{join_as_prose(names, 4)} {'is' if len(names) == 1 else 'are'}"
    return (
        f"{who} connected to {title}.\n"
        f"{kept}\n"
        "A home that runs takes it up within seconds; else start it: `loopforge up`."
    )


def disconnect(
    context: typer.Context,
    name: Name,
    platform: Annotated[str, typer.Option("--from", help="Where it is to talk no longer.")],
) -> None:
    """Let a mate no longer talk on a platform, and forget the bot's token."""
    from loopforge.core.mates.mate_file import find_mate
    from loopforge.io import bot_connecting as connecting
    from loopforge.io.platforms.bot_tokens import BotTokens
    from loopforge.io.platforms.surface_plugin import surfaces_of
    from loopforge.mates.mate_roster import MateRoster

    there = settings_from_context(context)
    mates = MateRoster(there.home / "mates").mates()
    if mate := find_mate(name, mates.values()):
        name = mate.handle
    tokens = BotTokens(there.data, there.tokens)
    gone, title = connecting.disconnect(tokens, mates, name, platform, surfaces_of(there))
    others = [mate for mate in gone.mates if mate != name.casefold()]
    typer.echo(f"{name} is no longer connected to {title}.")
    if others and len(gone.mates) > 1:
        typer.echo(f"Its bot goes on for {', '.join(others)}.")
    else:
        typer.echo("The token is forgotten here. The bot itself is still where it was invited.")
