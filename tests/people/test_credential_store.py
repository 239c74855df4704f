"""The tables beside the ledger: how a database comes by them, and facts and secrets as one."""

import pytest
from sqlalchemy import inspect
from sqlalchemy.engine import Connection

from loopforge.core.people_events import AccountOpened, PersonMet
from loopforge.core.text.erasable_text import Words
from loopforge.errors import Conflict, LedgerBehind
from loopforge.ledger import schema_migration
from loopforge.people.accounts.credential_store import CredentialStore, combine_work, store_password
from loopforge.people.identity.person_registry import STREAM
from tests.ledger.saying import ROOM, Scribbler, opened
from tests.ledger.test_schema_migration import connected
from tests.people import house

TABLES = {"accounts", "sessions", "invites", "reads"}


async def test_an_older_home_comes_by_the_tables(ledger_url: str) -> None:
    """A ledger from before accounts is migrated, keeps its facts and chain, and has accounts."""
    async with opened(ledger_url) as ledger:
        before = await ledger.append(ROOM, [Scribbler().heard("hello"), Scribbler().heard("you")])
    with connected(ledger_url) as connection:
        for table in sorted(
            {*TABLES, "budget_spent", "budget_holds", "budget_told", "sink_cursors"}
        ):
            connection.exec_driver_sql(f"DROP TABLE {table}")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(LedgerBehind, match="schema is 0001"):
        async with opened(ledger_url):
            pass
    assert schema_migration.migrate_schema(ledger_url) == "behind"
    with connected(ledger_url) as connection:
        assert set(inspect(connection).get_table_names()) >= TABLES
    async with house.opened(ledger_url) as home:
        assert await home.ledger.read(ROOM) == list(before)
        owner, session = await home.owner()
        assert await home.visitor(session) == owner
        assert (await home.ledger.verify()).sound


def opening(person: str) -> AccountOpened:
    """A fact."""
    return AccountOpened(person=person, right="member")


async def test_facts_and_secrets_are_written_together(ledger_url: str) -> None:
    """Both stand there when it went well, and followers are told; neither when it did not."""
    async with opened(ledger_url) as ledger:
        vault, heard = CredentialStore(ledger), list[str]()
        ledger.subscribe(lambda stream, events: heard.extend(event.id for event in events))
        met = PersonMet(person="p1", name=Words("Ana"), surface="web", account=Words("ana"))
        facts = [Scribbler().fact(met), Scribbler().fact(opening("p1"))]

        def fail(change: Connection) -> None:
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            await ledger.append_with(STREAM, facts, combine_work(store_password("p1", "x"), fail))
        assert await ledger.read(STREAM) == []
        assert await vault.password("p1") == ""
        assert heard == []
        events = await ledger.append_with(STREAM, facts, store_password("p1", "x"))
        assert await vault.password("p1") == "x"
        assert await ledger.read(STREAM) == list(events)
        assert heard == [event.id for event in events]
        assert (await ledger.verify()).sound


async def test_a_stream_that_moved_on_keeps_secrets_out(ledger_url: str) -> None:
    """A Conflict writes no secret either, and appends go on as before."""
    async with opened(ledger_url) as ledger:
        await ledger.append(STREAM, [Scribbler().fact(opening("p1"))])
        with pytest.raises(Conflict):
            await ledger.append_with(
                STREAM, [Scribbler().fact(opening("p2"))], store_password("p2", "x"), expect=0
            )
        assert await CredentialStore(ledger).password("p2") == ""
        await ledger.append_with(
            STREAM, [Scribbler().fact(opening("p2"))], store_password("p2", "x"), expect=1
        )
        assert await CredentialStore(ledger).password("p2") == "x"
        assert len(await ledger.read(STREAM)) == 2
