"""loopforge people: who is known here, who knocks, and which accounts are one person's.

A running host takes everything up by itself. Whoever runs these commands on the machine decides as
its owner does.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopforge.cli import Json, Output, Yes, in_home, is_confirmed, print_rows, write_new
from loopforge.errors import InputError, Unknown

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.ledger.erasure.text_erasure import Erasure
    from loopforge.people.identity.access_requests import Stranger
    from loopforge.people.identity.person_registry import Person, PersonRegistry

app = typer.Typer(
    no_args_is_help=True,
    help="Who is known here, who asks to come in, whose accounts are one person's.",
)
Which = Annotated[
    str,
    typer.Argument(
        help="The code they were shown, their account (platform:123456789), or their name where "
        "nobody else who waits is called so."
    ),
]
Name = Annotated[str, typer.Argument(help="The person's name, or id where several are called so.")]


async def person_called(people: PersonRegistry, name: str, *, forgotten: bool = False) -> Person:
    """The one person of that name or id; who was forgotten is known by id alone, if at all.

    Raises Unknown for none, InputError for several.
    """
    known = people.person(people.same(name))
    if known is not None and (forgotten or known.name.text is not None):
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
@in_home
async def list_people(home: App, as_json: Json = False) -> None:
    """List who is known here: id, name, what they may do, and the accounts that are theirs."""
    rows = [_row(home, person) for person in await home.people.everybody()]

    def line(row: dict[str, Any]) -> str:
        accounts = ", ".join(f"{one['surface']}:{one['account']}" for one in row["accounts"])
        return f"{row['id']}\t{row['name']}\t{row['right'] or '-'}\t{accounts}"

    print_rows(rows, as_json, line, "Nobody is known here yet.")


def _row(home: App, person: Person) -> dict[str, Any]:
    entry = home.accounts.decisions.book.account(person.id)
    right = entry.right if entry is not None else "bot" if person.bot else ""
    selves = home.people.selves(person.id)
    accounts = [
        {"surface": one.surface, "account": one.account, "linked": one.linked} for one in selves
    ]
    return {"id": person.id, "name": str(person.name), "right": right, "accounts": accounts}


@app.command()
@in_home
async def export(home: App, name: Name, output: Output = None) -> None:
    """Save everything about one person, to give it to them: a zip with text and JSON.

    What they said and did, their names and accounts, where they are signed in, the files they
    gave, what mates remember of them, and how much was answered to their lines and what that
    cost. Nothing that others said.
    """
    from loopforge.chat.export.person_export import PersonExport

    await home.people.refresh()
    person = await person_called(home.people, name, forgotten=True)
    export = PersonExport(
        home.ledger,
        home.accounts,
        home.artifacts,
        person.id,
        home.stamp.clock.now(),
        home.live.zone,
        home.memory.memories,
    )
    await write_new(output or Path(f"{person.id}.zip"), export.stream())


@app.command()
@in_home
async def forget(
    home: App,
    name: Name,
    yes: Yes = False,
    exactly: Annotated[
        bool, typer.Option("--exactly", help="Only that; leave what quotes it.")
    ] = False,
) -> str:
    """Forget everything of one person for good: what they said, their names, what mates remember.

    Texts that quote them are forgotten, too. Their account in the web room, if they have one,
    is closed.
    """
    from loopforge.core.memory.memory_vocabulary import MACHINE
    from loopforge.ledger.erasure.text_erasure import ErasureRequest
    from loopforge.sinks.sink_plugin import beyond_recall

    await home.people.refresh()
    person = await person_called(home.people, name, forgotten=True)
    wish = ErasureRequest(
        person=person.id, exactly=exactly, derived="all", by=MACHINE, why="on their wish"
    )
    would = await home.ledger.erase(wish, pretend=True)
    question = f"Forget {person.name}? {_figures(would)} would be forgotten. This cannot be undone."
    if not is_confirmed(question, yes):
        return "Nothing was forgotten."
    entry = home.accounts.decisions.book.account(person.id)
    if entry is not None and not entry.closed:
        await home.accounts.signing.close(person.id, "")
    done = await home.ledger.erase(wish)
    rest = "" if done.clean else " Somebody was reading; ask once more to clean the files too."
    if places := beyond_recall(home.settings):
        rest += f" Not called back, if it went there: {', '.join(places)}."
    return f"Forgotten: {_figures(done)}.{done.unlooked}{rest}"


def _figures(erasure: Erasure) -> str:
    return (
        f"{erasure.named:,} texts of theirs, {erasure.quoting:,} that quote them and "
        f"{erasure.resting:,} of memories"
    )


# ---------------------------------------------------------------- strangers


@app.command()
@in_home
async def knocks(home: App, as_json: Json = False) -> None:
    """List the strangers who wrote to a mate in private and wait to be let in, the latest first.

    Each with the account and the name to let them in by. The code they were shown is not
    listed: only they know it, so ask them for it where you doubt who it is.
    """
    waiting = await home.pairing.waiting()
    rows = [
        {
            "surface": one.surface,
            "account": one.account,
            "name": one.name,
            "at": one.at.isoformat(timespec="seconds"),
        }
        for one in waiting
    ]

    def line(row: dict[str, str]) -> str:
        at = row["at"][:16].replace("T", " ")
        return f"{row['surface']}:{row['account']}\t{row['name']}\t{at}"

    print_rows(rows, as_json, line, "Nobody waits to be let in.")
    if rows and not as_json:
        by = f"`loopforge people admit {waiting[0].surface}:{waiting[0].account}`"
        typer.echo(f"\nTo let one in: {by}, or by the code that they were shown.", err=True)


@app.command()
@in_home
async def admit(home: App, which: Which) -> str:
    """Let somebody talk to mates in private from now on."""
    return f"{_called(await home.pairing.admit(which, ''))} is let in."


@app.command()
@in_home
async def refuse(home: App, which: Which) -> str:
    """Let mates answer somebody in private no more, also somebody who was let in before."""
    return f"{_called(await home.pairing.refuse(which, ''))} is not answered any more."


def _called(stranger: Stranger) -> str:
    account = f"{stranger.surface}:{stranger.account}"
    return f"{stranger.name} ({account})" if stranger.name else account


# ---------------------------------------------------------------- selves


@app.command()
@in_home
async def code(home: App, name: Name) -> str:
    """Print a code by which another account becomes this person's, once, for 15 minutes.

    Type it where the other account is, or on the page "You" of the web room. Show it to nobody:
    whoever types it is one person with this one from then on.
    """
    person = await person_called(home.people, name)
    return await home.linking.offer_code(person.id)


@app.command()
@in_home
async def link(
    home: App,
    name: Name,
    code: Annotated[str, typer.Argument(help="The code that their other self was given.")],
) -> str:
    """Make one person of somebody known here and whoever was given this code."""
    person = await person_called(home.people, name)
    became = await home.linking.claim_as(code, person.id)
    selves = home.people.selves(became.id)
    accounts = ", ".join(f"{one.surface}:{one.account}" for one in selves)
    return f"{became.name} is one person now: {accounts}."


@app.command()
@in_home
async def unlink(
    home: App,
    name: Name,
    account: Annotated[str, typer.Argument(help="The account, such as platform:123456789.")],
) -> str:
    """Part a linked account from a person again: it is a person of its own from then on."""
    person = await person_called(home.people, name)
    surface, _, id = account.partition(":")
    await home.linking.unlink(person.id, surface, id)
    return f"{account} is not {person.name} any more."
