"""Accounts on both databases: how they end, in several processes, and where no secret stands."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.engine import Connection

from loopforge.errors import BadAccount, InputError, NotLetIn, Unknown
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from tests.people.house import MOBILE, SECRET, House, opened

WRONG = "do not belong together"


# ---------------------------------------------------------------- ends


async def test_an_account_is_closed(house: House) -> None:
    """The owner closes an account: its sessions end, its password is gone, its name stays its."""
    owner, _ = await house.owner()
    bo, token = await house.member("Bo", owner.person)
    cy, _ = await house.member("Cy", owner.person)
    with pytest.raises(Unknown, match="no such account"):
        await house.signing.close(bo.person, cy.person)
    await house.signing.close(bo.person, owner.person)
    assert await house.visitor(token) is None
    assert house.ended == [bo.session]
    assert not await house.signing.has_password(bo.person)
    with pytest.raises(NotLetIn, match=WRONG):
        await house.signing.sign_in("Bo", SECRET, MOBILE)
    with pytest.raises(Unknown):
        await house.signing.close(bo.person, owner.person)
    with pytest.raises(BadAccount, match="called bo already"):
        await house.member("bo", owner.person)
    shown = [
        (one.name, one.right, one.closed, one.sessions) for one in await house.signing.accounts()
    ]
    assert shown == [
        ("Ana", "owner", False, 1),
        ("Bo", "member", True, 0),
        ("Cy", "member", False, 1),
    ]


async def test_somebody_closes_their_own_account(house: House) -> None:
    """A member may go by themselves; the last owner may not."""
    owner, token = await house.owner()
    bo, _ = await house.member("Bo", owner.person)
    await house.signing.close(bo.person, bo.person)
    with pytest.raises(InputError, match="only owner"):
        await house.signing.close(owner.person, owner.person)
    assert await house.visitor(token) == owner


async def test_who_is_forgotten_is_out(house: House) -> None:
    """A person whose name was erased is out at once, with every secret, and their name is free."""
    owner, _ = await house.owner()
    bo, token = await house.member("Bo", owner.person)
    await house.decisions.vault.read_upto(bo.person, "room:garden", 3)
    assert await house.visitor(token) == bo
    await house.ledger.erase(ErasureRequest(person=bo.person, by=owner.person))
    assert house.ended == [bo.session]
    assert await house.visitor(token) is None
    with pytest.raises(NotLetIn, match=WRONG):
        await house.signing.sign_in("Bo", SECRET, MOBILE)
    tables = ("accounts", "sessions", "reads")
    left = " UNION ".join(f"SELECT person FROM {table}" for table in tables)
    rows = await house.ledger.look(lambda found: found.execute(text(left)).all())
    assert {row.person for row in rows} == {owner.person}
    gone = (await house.signing.accounts())[1]
    assert (gone.name, gone.closed, gone.sessions) == ("[forgotten]", True, 0)
    again, _ = await house.member("Bo", owner.person)
    assert again.person != bo.person


async def test_an_owner_who_is_forgotten(house: House) -> None:
    """A home whose owner was erased waits for an owner again."""
    owner, token = await house.owner("Ana")
    await house.ledger.erase(ErasureRequest(person=owner.person))
    assert not house.decisions.book.owner()
    assert await house.visitor(token) is None
    new, _ = await house.owner("Ana")
    assert new.person != owner.person
    assert (new.name, new.right) == ("Ana", "owner")


# ---------------------------------------------------------------- two processes


async def test_two_processes_agree(ledger_url: str) -> None:
    """What one process does, another knows after `refresh`: links, accounts, ends."""
    async with opened(ledger_url, 1) as host, opened(ledger_url, 2) as command:
        link = await command.links.offer()
        owner, session = await host.links.enter(link, "Ana", MOBILE)
        assert await command.visitor(session) == owner
        _, token = await command.links.invite(owner.person)
        bo, bo_session, _ = await host.links.take(token, "Bo", SECRET, MOBILE)
        assert await command.links.invited(token) is None
        assert (await command.signing.sign_in("bo", SECRET, MOBILE))[0].person == bo.person
        assert await host.signing.accounts() == await command.signing.accounts()
        assert await host.links.every() == await command.links.every()
        await command.signing.close(bo.person, "")
        assert host.ended == []
        await host.decisions.refresh()
        assert bo.session in host.ended
        assert await host.visitor(bo_session) is None
        await command.ledger.erase(ErasureRequest(person=owner.person))
        await host.decisions.refresh()
        assert await host.visitor(session) is None
        assert not host.decisions.book.owner()


async def test_two_processes_let_in_once(ledger_url: str) -> None:
    """An invite that another process gives away at the last moment opens no second account."""
    async with opened(ledger_url, 1) as one, opened(ledger_url, 2) as two:
        owner, _ = await one.owner()
        _, token = await one.links.invite(owner.person)
        two.gate.writing.clear()
        late = asyncio.ensure_future(two.links.take(token, "Cy", SECRET, MOBILE))  # noqa: TID251
        await two.gate.reached.wait()
        bo, _, _ = await one.links.take(token, "Bo", SECRET, MOBILE)
        two.gate.writing.set()
        with pytest.raises(NotLetIn, match="taken or withdrawn"):
            await late
        assert await two.links.every() == await one.links.every()
        assert [each.person for each in await two.signing.accounts()] == [
            owner.person,
            bo.person,
        ]
        assert (await two.signing.sessions(bo.person))[0].session == bo.session


async def test_a_session_that_ends_while_it_is_looked_up(house: House) -> None:
    """A request that read the session's row just before the session ended is not let in later."""
    owner, token = await house.owner()
    house.gate.reading.clear()
    asked = asyncio.ensure_future(house.visitor(token))  # noqa: TID251
    await house.gate.reached.wait()
    await house.signing.end(owner.session, owner.person)
    house.gate.reading.set()
    assert await asked is None
    assert await house.visitor(token) is None


# ---------------------------------------------------------------- reading, and secrets


async def test_how_far_somebody_read(house: House) -> None:
    """Reading goes on and never back, for each person and stream."""
    assert await house.decisions.vault.reads("p1") == {}
    for seq in (4, 9, 2):
        await house.decisions.vault.read_upto("p1", "room:garden", seq)
    await house.decisions.vault.read_upto("p1", "room:cellar", 1)
    await house.decisions.vault.read_upto("p2", "room:garden", 5)
    assert await house.decisions.vault.reads("p1") == {"room:garden": 9, "room:cellar": 1}
    assert await house.decisions.vault.reads("p2") == {"room:garden": 5}


async def secrets(house: House) -> list[str]:
    """A busy day, and everything that must stand nowhere."""
    owner, session = await house.owner()
    first = await house.links.offer()
    second = await house.links.offer()
    _, invite = await house.links.invite(owner.person, "garden")
    _, other = await house.member("Bo", owner.person)
    _, again = await house.signing.sign_in("Bo", SECRET, MOBILE)
    with pytest.raises(NotLetIn):
        await house.signing.sign_in("Bo", "a wrong secret guess", MOBILE)
    await house.signing.set_password(owner.person, "", "my very own words")
    return [
        *(session, first, second, invite, other, again),
        *(SECRET, "a wrong secret guess", "my very own words"),
    ]


async def test_no_secret_stands_in_a_fact(house: House) -> None:
    """No password, token, digest or hash stands in an event or a text, on either database."""
    hidden = await secrets(house)

    def written(found: Connection) -> str:
        events = found.execute(text("SELECT body, actor, cause, id FROM events")).all()
        texts = found.execute(text("SELECT text FROM texts")).all()
        return repr((events, texts))

    def kept(found: Connection) -> list[str]:
        queries = ("digest FROM sessions", "digest FROM invites", "password FROM accounts")
        return [str(row[0]) for each in queries for row in found.execute(text(f"SELECT {each}"))]

    facts = await house.ledger.look(written)
    beside = await house.ledger.look(kept)
    assert len(beside) == 2 + 3 + 2
    assert "Bo" in facts
    assert [one for one in (*hidden, *beside) if one in facts] == []
    assert (await house.ledger.verify()).sound


def stored(folder: Path) -> bytes:
    """Everything in the files of a folder."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_no_secret_stands_in_the_file(tmp_path: Path) -> None:
    """The files of a SQLite database hold no password and no token, not even in their log."""
    async with opened(f"sqlite:///{tmp_path / 'ledger.db'}") as house:
        hidden = await secrets(house)
        during = stored(tmp_path)
    after = stored(tmp_path)
    for data in (during, after):
        assert b"argon2id" in data
        assert [one for one in hidden if one.encode() in data] == []


async def test_tokens_are_long_and_fit_an_address(house: House) -> None:
    """A link's token is 16 bytes of the dice, in letters that need no escape in an address."""
    tokens = {await house.links.offer() for _ in range(20)}
    assert len(tokens) == 20
    assert all(len(one) == 22 and one.replace("-", "").replace("_", "").isalnum() for one in tokens)
