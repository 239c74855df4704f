"""loopforge people: who is known here, who knocks, and which accounts are one person's.

A running host takes everything up by itself. Whoever runs these commands on the machine decides as
its owner does.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from loopforge.cli import existing, settings
from loopforge.errors import InputError, Unknown

if TYPE_CHECKING:
    from loopforge.people.account_linking import AccountLinking
    from loopforge.people.accounts.account_decisions import AccountDesk
    from loopforge.people.identity.access_requests import Stranger
    from loopforge.people.identity.person_registry import Person, Registry
    from loopforge.people.stranger_pairing import Pairing
    from loopforge.settings import Settings

app = typer.Typer(no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]
Which = Annotated[
    str,
    typer.Argument(
        help="The code they were shown, their account (platform:123456789), or their name where "
        "nobody else who waits is called so."
    ),
]
Name = Annotated[str, typer.Argument(help="The person's name, or id where several are called so.")]


@app.callback()
def _people() -> None:
    """Who is known here, who knocks, and which accounts are one person's."""


class Doors(NamedTuple):
    """What these commands use of a home."""

    desk: AccountDesk
    people: Registry
    linking: AccountLinking
    pairing: Pairing


@asynccontextmanager
async def _opened(there: Settings) -> AsyncIterator[Doors]:
    from loopforge.app import open_ledger_of, strangers_of
    from loopforge.people.account_linking import AccountLinking
    from loopforge.people.accounts.account_decisions import AccountDesk
    from loopforge.people.identity.person_registry import Registry
    from loopforge.people.stranger_pairing import Pairing
    from loopforge.runtime.background_tasks import Tasks
    from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice

    existing(there)
    async with open_ledger_of(there) as ledger, Tasks() as tasks:
        stamp = Stamp(SystemClock(), SystemDice())
        desk, people = AccountDesk(ledger, stamp, tasks), Registry(ledger, stamp)
        await desk.refresh()
        await people.refresh()
        pairing = Pairing(desk, people, strangers_of(there))
        yield Doors(desk, people, AccountLinking(desk, people, stamp.clock), pairing)


def _run(context: typer.Context, work: Callable[[Doors], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        async with _opened(settings(context)) as doors:
            await work(doors)

    asyncio.run(run())


async def _person(people: Registry, name: str) -> Person:
    """The one person of that name or id. Raises Unknown for none, InputError for several."""
    if (known := people.person(people.same(name))) is not None and known.name.text is not None:
        return known
    found = await people.named(name)
    if not found:
        raise Unknown(
            f"Nobody called {name!r} is known here. `loopforge people list` shows who is; whoever "
            "says something for the first time is known from then on."
        )
    if len(found) > 1:
        ids = ", ".join(f"{each.id} ({each.surface})" for each in found)
        raise InputError(f"Several people are called {name!r}; choose one by id: {ids}.")
    return found[0]


@app.command("list")
def list_people(context: typer.Context, as_json: Json = False) -> None:
    """List who is known here: id, name, what they may do, and the accounts that are theirs."""

    async def work(doors: Doors) -> None:
        rows = [_row(doors, person) for person in await doors.people.everybody()]
        if as_json:
            typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
            return
        for row in rows:
            accounts = ", ".join(f"{one['surface']}:{one['account']}" for one in row["accounts"])
            typer.echo(f"{row['id']}\t{row['name']}\t{row['right'] or '-'}\t{accounts}")
        if not rows:
            typer.echo("Nobody is known here yet.")

    _run(context, work)


def _row(doors: Doors, person: Person) -> dict[str, Any]:
    entry = doors.desk.book.account(person.id)
    right = entry.right if entry is not None else "bot" if person.bot else ""
    selves = doors.people.selves(person.id)
    accounts = [
        {"surface": one.surface, "account": one.account, "linked": one.linked} for one in selves
    ]
    return {"id": person.id, "name": str(person.name), "right": right, "accounts": accounts}


# ---------------------------------------------------------------- strangers


@app.command()
def knocks(context: typer.Context, as_json: Json = False) -> None:
    """List the strangers who wrote to a mate in private and wait to be let in, the latest first.

    Each with the account and the name to let them in by. The code that they were shown is theirs
    to tell: of it only a digest is kept.
    """

    async def work(doors: Doors) -> None:
        waiting = await doors.pairing.waiting()
        if as_json:
            rows = [
                {
                    "surface": one.surface,
                    "account": one.account,
                    "name": one.name,
                    "at": one.at.isoformat(timespec="seconds"),
                }
                for one in waiting
            ]
            typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
            return
        for one in waiting:
            at = one.at.isoformat(" ", "minutes")
            typer.echo(f"{one.surface}:{one.account}\t{one.name}\t{at}")
        if not waiting:
            typer.echo("Nobody knocks.")
            return
        first = waiting[0]
        by = f"`loopforge people admit {first.surface}:{first.account}`"
        typer.echo(f"\nTo let one in: {by}, or by the code that they were shown.", err=True)

    _run(context, work)


@app.command()
def admit(context: typer.Context, which: Which) -> None:
    """Let somebody talk to mates in private from now on."""

    async def work(doors: Doors) -> None:
        typer.echo(f"{_called(await doors.pairing.admit(which, ''))} is let in.")

    _run(context, work)


@app.command()
def refuse(context: typer.Context, which: Which) -> None:
    """Answer somebody no more in private; also somebody who was let in."""

    async def work(doors: Doors) -> None:
        typer.echo(f"{_called(await doors.pairing.refuse(which, ''))} is not answered any more.")

    _run(context, work)


def _called(stranger: Stranger) -> str:
    account = f"{stranger.surface}:{stranger.account}"
    return f"{stranger.name} ({account})" if stranger.name else account


# ---------------------------------------------------------------- selves


@app.command()
def code(context: typer.Context, name: Name) -> None:
    """Print a code by which another account becomes this person's, once, for 15 minutes.

    Type it where the other account is, or on the page "You" of the web room. Show it to nobody:
    whoever types it is one person with this one from then on.
    """

    async def work(doors: Doors) -> None:
        person = await _person(doors.people, name)
        typer.echo(await doors.linking.offer_code(person.id))

    _run(context, work)


@app.command()
def link(
    context: typer.Context,
    name: Name,
    code: Annotated[str, typer.Argument(help="The code that their other self was given.")],
) -> None:
    """Make one person of somebody known here and whoever was given this code."""

    async def work(doors: Doors) -> None:
        person = await _person(doors.people, name)
        became = await doors.linking.claim_as(code, person.id)
        selves = doors.people.selves(became.id)
        accounts = ", ".join(f"{one.surface}:{one.account}" for one in selves)
        typer.echo(f"{became.name} is one person now: {accounts}.")

    _run(context, work)


@app.command()
def unlink(
    context: typer.Context,
    name: Name,
    account: Annotated[str, typer.Argument(help="The account, such as platform:123456789.")],
) -> None:
    """Let an account that was linked to somebody be a person of its own again."""

    async def work(doors: Doors) -> None:
        person = await _person(doors.people, name)
        surface, _, id = account.partition(":")
        await doors.linking.unlink(person.id, surface, id)
        typer.echo(f"{account} is not {person.name} any more.")

    _run(context, work)
