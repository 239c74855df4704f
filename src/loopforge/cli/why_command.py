"""loopforge why EVENT_ID: the flight record of a line."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from loopforge.cli import settings


def command(
    context: typer.Context,
    event: Annotated[str, typer.Argument(help="Id of a line, or of any event of a turn.")],
) -> None:
    """Why a line was said: its whole flight record."""
    from loopforge.app import open_ledger_of
    from loopforge.chat.why.record_text import why

    async def run() -> str:
        async with open_ledger_of(settings(context)) as ledger:
            return await why(ledger, event)

    typer.echo(asyncio.run(run()))
