"""loopforge settings: see them, change them beside a home that runs, and take changes back.

A key is asked for without showing it, or read from standard input; never from the command line,
where others could read it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import Json, in_home, print_rows, run_with_app
from loopforge.errors import InputError

if TYPE_CHECKING:
    from loopforge.app import App

app = typer.Typer(no_args_is_help=True)
BY = "terminal"
"""Whose change it is on record: whoever sits at the machine."""
Name = Annotated[str, typer.Argument(help="The setting's name, such as idle_minutes.")]


@app.command("list")
@in_home
async def list_settings(
    home: App,
    every: Annotated[bool, typer.Option("--all", help="Those at their defaults too.")] = False,
    as_json: Json = False,
) -> None:
    """List the settings that were changed in this home, and where each comes from."""
    rows = [
        {"name": each.row.name, "value": each.value, "source": each.source}
        for each in home.live.states()
        if every or each.source != "default"
    ]

    def line(row: dict[str, str]) -> str:
        return f"{row['name']} = {row['value'] or '(not set)'}  ({row['source']})"

    print_rows(rows, as_json, line, "Everything stands at its default.")


@app.command("set")
@in_home
async def set_setting(
    home: App,
    name: Name,
    value: Annotated[str, typer.Argument(help='Its new value; "" for as if it were not set here.')],
) -> str:
    """Save a setting in this home.

    It holds at once where it can. An environment variable wins over it; it wins over
    loopforge.toml.
    """
    await home.live.change(name, value or None, BY)
    return _told(home, name)


@app.command()
@in_home
async def undo(home: App, name: Name) -> str:
    """Take back the last change of a setting; a second undo makes the change again."""
    await home.live.undo(name, BY)
    return _told(home, name)


@app.command()
def key(
    context: typer.Context,
    variable: Annotated[str, typer.Argument(help="Such as OPENAI_API_KEY or OPENAI_BASE_URL.")],
    remove: Annotated[bool, typer.Option("--remove", help="Forget it.")] = False,
) -> None:
    """Save the key or address of a model service in this home, readable by you alone.

    It is asked for without showing it, or read from standard input. An environment variable
    wins over it.
    """
    value = "" if remove else _asked(variable).strip()
    if not (value or remove):
        raise InputError(f"Nothing was given for {variable}; --remove forgets what is saved.")
    run_with_app(context, lambda app: app.live.keep_key(variable, value, BY))
    typer.echo(f"{variable} is {'saved' if value else 'removed'}.")


def _asked(variable: str) -> str:
    if sys.stdin.isatty():
        return str(typer.prompt(f"{variable} (it is not shown)", hide_input=True))
    return sys.stdin.readline()


def _told(app: App, name: str) -> str:
    """What the setting is now, and whether it holds yet."""
    each = next((each for each in app.live.states() if each.row.name == name), None)
    if each is None:
        return f"{name} are as before."
    if each.fixed:
        return f"{name} is {each.value}: {each.row.variable} comes before what is saved."
    if each.next:
        return f"{name} is {each.next} from the next start on."
    return f"{name} is {each.value or 'not set'}."
