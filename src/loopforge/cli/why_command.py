"""loopforge why EVENT: the flight record of a line or a turn, by id or place; else the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import event_id, in_home

if TYPE_CHECKING:
    from loopforge.app import App


@in_home
async def command(
    app: App,
    event: Annotated[
        str,
        typer.Argument(
            help="A line, or any event of a turn: its id, or its place, such as commons#74; a turn "
            "of a task, such as 92a6819f#3; or `last`, the last line of a mate."
        ),
    ] = "last",
) -> str:
    """Why a line was said: all that is on record of it."""
    return await app.front.why(await event_id(app, event))
