"""loopforge web: the way into the web room."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import run_with_app, settings_from_context
from loopforge.errors import Unknown

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.web.server.link_reach import LinkReach

app = typer.Typer(no_args_is_help=True)


@app.command()
def link(context: typer.Context) -> None:
    """Print a link that signs you in as the owner, once, within the hour.

    Links that were printed earlier and not used stop working.
    """
    from loopforge.host import owner_link

    typer.echo(asyncio.run(owner_link(settings_from_context(context))))


@app.command()
def password(context: typer.Context) -> None:
    """Print a link by which you, the owner, set a new password; for when you have lost yours.

    It works once, within a day. Your other sessions end when it is used.
    """
    from loopforge.host import owner_link

    typer.echo(asyncio.run(owner_link(settings_from_context(context), password=True)))


@app.command()
def invite(
    context: typer.Context,
    room: Annotated[
        str, typer.Argument(help="A room that you, the owner, are in; none: into the home alone.")
    ] = "",
    past: Annotated[
        bool, typer.Option("--past", help="They may see what was said there before they came.")
    ] = False,
    days: Annotated[int, typer.Option("--days", help="For how many days it is valid.")] = 7,
) -> None:
    """Print an invite: a link that lets one person in, once; in a terminal with a QR code.

    It says who can open it. Send it yourself: it is shown only now. Where the setting
    who_may_invite or the room forbids inviting, no link is made.
    """
    from loopforge.host import open_reach

    reach = open_reach(settings_from_context(context))

    async def made(app: App) -> str:
        owner = app.accounts.decisions.book.owner()
        if not owner:
            raise Unknown("Nobody owns this home yet; `loopforge web link` lets you in first.")
        _, token = await app.front.inviting.invite(owner, room, past=past, days=days, owner=True)
        return token

    link = f"{reach.base}/join/{run_with_app(context, made)}"
    typer.echo(link)
    _tell_reach(reach, link)


def _tell_reach(reach: LinkReach, link: str) -> None:
    """Say, on standard error, who can open a link, and draw it where it may be seen."""
    from loopforge.web.server.link_reach import OPENED, OPENING
    from loopforge.web.server.qr_code import qr_text

    if reach.scope != "machine" and sys.stdout.isatty():
        typer.echo(qr_text(link))
    told = [reach.who, reach.risk, reach.firewall.replace("`", ""), reach.answers]
    if reach.others:
        told.append(f"Other addresses of this machine: {', '.join(reach.others)}")
    if reach.scope == "machine":
        near = f" Links then begin with {reach.near}." if reach.near else ""
        told.append(f"To open it to this network: {OPENING}, and start again.{near}\n{OPENED}")
    for each in filter(None, told):
        typer.echo(each, err=True)
