"""loopforge web: the way into the web room."""

from __future__ import annotations

import asyncio

import typer

from loopforge.cli import settings

app = typer.Typer(no_args_is_help=True)


@app.command()
def link(context: typer.Context) -> None:
    """Print a link by which you come in as the owner, once, within the hour.

    Links printed earlier and not used are void then.
    """
    from loopforge.host import owner_link

    typer.echo(asyncio.run(owner_link(settings(context))))


@app.command()
def password(context: typer.Context) -> None:
    """Print a link by which you, the owner, set a new password; for when you have lost yours.

    It works once, within a day. Your other sessions end when it is used.
    """
    from loopforge.host import owner_link

    typer.echo(asyncio.run(owner_link(settings(context), password=True)))
