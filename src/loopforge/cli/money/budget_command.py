"""loopforge budget: how much mates may spend, for whom, in a day or a month.

A running host goes by a change at once. Whoever runs these commands decides as the owner does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopforge.cli import Json, in_home, print_rows
from loopforge.core.limits.budget_limits import (
    LimitStanding,
    Scope,
    check_subject,
    format_amount,
    read_budget,
    read_scope,
)

if TYPE_CHECKING:
    from loopforge.app import App

app = typer.Typer(
    no_args_is_help=True, help="How much mates may spend, for whom, in a day or a month."
)
Whose = Annotated[
    str,
    typer.Argument(
        help="home; room:NAME, mate:HANDLE, person:NAME, surface:NAME, tool:NAME; or places, "
        "people, guests: each of them."
    ),
]
Unit = Annotated[str, typer.Argument(help="dollars, calls (of models), uses (of tools), answers.")]
Period = Annotated[str, typer.Argument(help="day or month.")]
MACHINE = "runtime"
"""Who sets budgets on the machine itself."""


@app.command("list")
@in_home
async def list_budgets(home: App, as_json: Json = False) -> None:
    """List every budget with how much of it is used, the tightest first.

    A budget for each person, guest or place shows no sum here: each has a count of their own.
    """
    rows = [_row(one) for one in await home.budgets.listing()]

    def line(row: dict[str, Any]) -> str:
        used = f"{row['used']} used" if row["used"] else "each"
        return f"{row['whose']}\t{row['at_most']} a {row['period']}\t{used}\t{row['set_by']}"

    print_rows(rows, as_json, line, "No budget is set: mates may spend what they need.")


def _row(one: LimitStanding) -> dict[str, Any]:
    budget = one.limit.budget
    by = "the settings" if budget.default else "keepers" if budget.keepers else "the owner"
    return {
        "whose": f"{budget.scope}:{budget.subject}" if budget.subject else budget.scope,
        "at_most": format_amount(budget.unit, budget.amount),
        "unit": budget.unit,
        "period": budget.period,
        "used": format_amount(budget.unit, one.gone) if one.limit.meter else "",
        "set_by": by,
    }


@app.command("set")
@in_home
async def set_budget(
    home: App,
    whose: Whose,
    amount: Annotated[str, typer.Argument(help="Such as 5, 0.50 or 200.")],
    unit: Unit = "dollars",
    period: Period = "day",
) -> None:
    """Set a budget; it takes the place of an earlier one for the same."""
    from loopforge.io.platforms.surface_plugin import surfaces_of
    from loopforge.runtime.plugins.installed_plugins import load_plugins

    scope, subject = await _named(home, whose)
    rooms = {*await home.rooms.names(), home.settings.room}
    check_subject(scope, subject, home.rooms.mates, rooms, surfaces_of(home.settings))
    budget = read_budget([amount, unit, period], scope, subject, keepers=False)
    await home.budgets.book.put(budget, MACHINE)
    tools = {*load_plugins("loopforge.tools"), *(one.name for one in home.tools.known())}
    most = format_amount(budget.unit, budget.amount)
    typer.echo(f"At most {most} a {budget.period}: {whose}.")
    if scope == "tool" and subject not in tools:
        typer.echo("No tool of that name is installed; one of a server that is away may have it.")


@app.command("remove")
@in_home
async def remove_budget(
    home: App, whose: Whose, unit: Unit = "dollars", period: Period = "day"
) -> str:
    """Take a budget away; where the settings name one for the same, that holds again."""
    scope, subject = await _named(home, whose)
    budget = read_budget(["0", unit, period], scope, subject, keepers=False)
    await home.budgets.book.remove(budget, MACHINE)
    return f"Removed: {whose}, {unit} a {period}."


async def _named(home: App, whose: str) -> tuple[Scope, str]:
    """Whose it is; a person by their id. Raises InputError, Unknown."""
    scope, subject = read_scope(whose)
    if scope == "person":
        from loopforge.cli.people_command import person_called

        subject = (await person_called(home.people, subject)).id
    return scope, subject
