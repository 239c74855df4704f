"""Strangers in private, on both databases: shown a code, let in by the owner, or told to go."""

import asyncio

import pytest
from sqlalchemy import text

from loopforge.errors import InputError, NotLetIn, Unknown
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.people.stranger_pairing import (
    CLOSED,
    CROWD,
    Knock,
    Strangers,
)
from tests.people.house import House, code_in, opened

ANA, BO = "814273645120389120", "99112233"


async def knocked(house: House, account: str = ANA, name: str = "Ana") -> Knock:
    """Somebody writes on Discord."""
    return await house.pairing.knock("discord", account, name, f"discord:9{account}")


async def code_of(house: House, account: str = ANA, name: str = "Ana") -> str:
    """The code a stranger is shown."""
    answer = await knocked(house, account, name)
    return code_in(answer)


async def test_a_stranger_is_let_in_by_code(house: House) -> None:
    """Shown a code, told nothing more, let in by the owner: then who they are is known."""
    owner, _ = await house.owner()
    answer = await knocked(house)
    code = code_in(answer)
    assert await knocked(house) == ""
    (stranger,) = await house.pairing.waiting()
    assert (stranger.surface, stranger.account, stranger.name) == ("discord", ANA, "Ana")
    admitted = await house.pairing.admit(code.lower(), owner.person)
    assert admitted == stranger
    assert [one.id for one in await house.people.everybody()] == [owner.person], "nobody yet"
    assert await house.pairing.waiting() == []
    welcome = await knocked(house)
    assert welcome is None
    await house.people.meet("discord", ANA)
    assert (await house.kinds())[-3:] == ["knocked", "admitted", "met"]


async def test_another_process_decides(ledger_url: str) -> None:
    """A knock, its code and what is decided hold in every process, and after a restart."""
    async with opened(ledger_url, 1) as one, opened(ledger_url, 2) as two:
        code = await code_of(one)
        assert await knocked(two) == ""
        await two.pairing.admit(code, "")
        assert await knocked(one) is None
    async with opened(ledger_url, 3) as again:
        assert await knocked(again) is None
        assert (await again.ledger.verify()).sound


async def test_a_code_is_shown_again_after_a_day(house: House) -> None:
    """At most once a day, a new one each time; the earlier ones are good no longer."""
    first = await code_of(house)
    await house.hours(23.9)
    assert await knocked(house) == ""
    await house.hours(0.2)
    with pytest.raises(Unknown, match="its day is over"):
        await house.pairing.admit(first, "")
    second = await code_of(house)
    assert len(await house.pairing.waiting()) == 1
    await house.pairing.admit(second, "")
    with pytest.raises(Unknown):
        await house.pairing.admit(second, "")


async def test_two_lines_at_once_are_one_knock(house: House) -> None:
    """A stranger who writes two lines in one moment is shown one code."""
    answers = await asyncio.gather(knocked(house), knocked(house))
    silent, shown = sorted(answers, key=str)
    assert (silent, bool(code_in(shown))) == ("", True)
    assert await house.kinds() == ["knocked"]


async def test_no_code_is_kept(house: House) -> None:
    """A code stands nowhere but as a digest, which goes once it was used."""
    code = await code_of(house)
    tables = [text(f"SELECT * FROM {table}") for table in ("events", "texts", "invites")]
    for stood in await house.ledger.look(
        lambda found: [str(found.execute(each).all()) for each in tables]
    ):
        assert code not in stood
        assert code.replace("-", "") not in stood
    await house.pairing.admit(f"discord:{ANA}", "")
    count = text("SELECT count(*) FROM invites")
    assert await house.ledger.look(lambda found: found.scalar(count)) == 0


async def test_the_owner_names_an_account(house: House) -> None:
    """Whoever is named by surface and id is let in before they ever wrote."""
    added = await house.pairing.admit(f" Discord: {ANA}", "")
    assert (added.account, added.name) == (ANA, "")
    assert await knocked(house) is None
    await house.pairing.admit(f"discord:{ANA}", "")
    assert (await house.kinds()).count("admitted") == 1, "said once is said"


@pytest.mark.parametrize(
    "which", ["web:Ana", "discord:ana", "telegram:", ":", "irc:5", "discord:٣"]
)
async def test_what_is_no_account(house: House, which: str) -> None:
    """Only the ids of platforms can be let in."""
    with pytest.raises(InputError, match="discord:123456789"):
        await house.pairing.admit(which, "")


@pytest.mark.parametrize("which", ["", "K7QF", "2222-2222"])
async def test_what_is_no_code(house: House, which: str) -> None:
    """A code of no knock lets nobody in."""
    await knocked(house)
    with pytest.raises(Unknown, match="Nobody who waits"):
        await house.pairing.admit(which, "")


async def test_a_name_lets_in_whoever_alone_bears_it(house: House) -> None:
    """The name shown is enough where one alone who waits bears it; else accounts are named."""
    await knocked(house)
    await knocked(house, BO, "Bo")
    assert (await house.pairing.admit("bo", "")).account == BO
    await knocked(house, "5", "ana")
    with pytest.raises(InputError, match=f"Several who wait.*discord:5.*discord:{ANA}"):
        await house.pairing.admit("Ana", "")
    await house.pairing.refuse("discord:5", "")
    assert (await house.pairing.admit("Ana", "")).account == ANA


async def test_a_linking_code_lets_nobody_in(house: House) -> None:
    """A code of the one kind is no code of the other."""
    ana = await house.people.meet("telegram", BO, "Ana")
    with pytest.raises(Unknown):
        await house.pairing.admit(await house.linking.offer_code(ana.id), "")
    with pytest.raises(NotLetIn):
        await house.linking.claim(await code_of(house), "telegram", "5")


async def test_the_owner_alone_decides(house: House) -> None:
    """Neither a member nor the stranger lets anybody in; the owner does, also from Discord."""
    owner, _ = await house.owner()
    member, _ = await house.member("Mo", owner.person)
    code = await code_of(house)
    for by in (member.person, "p0"):
        with pytest.raises(NotLetIn, match="owner"):
            await house.pairing.admit(code, by)
        with pytest.raises(NotLetIn, match="owner"):
            await house.pairing.refuse(code, by)
    was = await house.people.meet("discord", BO, "Ana on Discord")
    await house.linking.claim_as(await house.linking.offer_code(was.id), owner.person)
    await house.pairing.admit(code, was.id)
    assert await knocked(house) is None


async def test_the_refused_are_not_answered(house: House) -> None:
    """Refused is silent for good, under every policy, until the owner admits after all."""
    await house.pairing.refuse(await code_of(house), "")
    assert await house.pairing.waiting() == []
    await house.hours(48)
    for policy in ("pairing", "open", "allowlist"):
        house.pairing.strangers["discord"] = Strangers(policy)
        assert await knocked(house) == ""
    await house.pairing.admit(f"discord:{ANA}", "")
    assert await knocked(house) is None
    await house.pairing.refuse(f"discord:{ANA}", "")
    assert await knocked(house) == ""


async def test_nobody_but_the_owner_brings_a_refused_account_in(house: House) -> None:
    """No member's code makes a refused account theirs, by whichever side it is typed."""
    owner, _ = await house.owner()
    member, _ = await house.member("Mo", owner.person)
    await house.pairing.refuse(await code_of(house), owner.person)
    code = await house.linking.offer_code(member.person)
    with pytest.raises(InputError, match="owner of this home has refused"):
        await house.linking.claim(code, "discord", ANA)
    refused = await house.people.meet("discord", ANA)
    with pytest.raises(InputError, match="owner of this home has refused"):
        await house.linking.claim(code, "discord", ANA)
    with pytest.raises(InputError, match="owner of this home has refused"):
        await house.linking.claim_as(await house.linking.offer_code(refused.id), member.person)
    assert await knocked(house) == ""
    await house.linking.claim(await house.linking.offer_code(owner.person), "discord", ANA)
    assert await knocked(house) is None


async def test_an_open_door(house: House) -> None:
    """Where the surface is open, whoever writes is welcome; other surfaces are as before."""
    house.pairing.strangers["discord"] = Strangers("open")
    assert await knocked(house) is None
    assert code_in(await house.pairing.knock("telegram", BO, "Bo"))


async def test_an_allowlist(house: House) -> None:
    """Where there is a list, a stranger is told once; who is on it is welcome."""
    house.pairing.strangers["discord"] = Strangers("allowlist")
    assert await knocked(house) == CLOSED
    await house.hours(100)
    assert await knocked(house) == ""
    assert [one.account for one in await house.pairing.waiting()] == [ANA]
    await house.pairing.admit(f"discord:{BO}", "")
    assert await knocked(house, BO, "Bo") is None
    house.pairing.strangers["discord"] = Strangers("pairing")
    assert code_in(await knocked(house)), "the first code is no repetition"


async def test_linked_accounts_are_let_in(house: House) -> None:
    """The owner's, a member's and an admitted person's other selves need no code."""
    owner, _ = await house.owner()
    member, _ = await house.member("Mo", owner.person)
    await house.pairing.admit(f"discord:{ANA}", owner.person)
    assert await knocked(house) is None
    admitted = await house.people.meet("discord", ANA)
    for account, person in (
        ("1", owner.person),
        ("2", member.person),
        ("3", admitted.id),
    ):
        await house.linking.claim(await house.linking.offer_code(person), "telegram", account)
        assert await house.pairing.knock("telegram", account, "somebody") is None
        assert (await house.people.meet("telegram", account)).id == person
    with pytest.raises(InputError, match="let in by another"):
        await house.pairing.refuse("telegram:2", owner.person)
    await house.signing.close(member.person, owner.person)
    assert code_in(await house.pairing.knock("telegram", "2", "somebody"))


async def test_two_strangers_do_not_let_each_other_in(house: House) -> None:
    """An account linked to somebody of an open surface is no less a stranger elsewhere."""
    house.pairing.strangers["discord"] = Strangers("open")
    assert await knocked(house) is None
    code = await house.linking.offer_code((await house.people.meet("discord", ANA)).id)
    await house.linking.claim(code, "telegram", BO)
    assert code_in(await house.pairing.knock("telegram", BO, "Ana"))


async def test_a_crowd_is_not_answered(house: House) -> None:
    """So many strangers in a day are shown codes; more write nothing into the ledger."""
    for number in range(CROWD):
        assert code_in(await knocked(house, str(number), "x"))
    assert await knocked(house, "999", "x") == ""
    assert len(await house.kinds()) == CROWD
    assert code_in(await house.pairing.knock("telegram", "1", "x"))
    await house.hours(25)
    assert code_in(await knocked(house, "999", "x"))


async def test_who_waited_long_is_listed_no_more(house: House) -> None:
    """The list holds a month, the latest first; an older account can still be named."""
    await knocked(house)
    await house.hours(24 * 15)
    await knocked(house, BO, "Bo")
    assert [one.account for one in await house.pairing.waiting()] == [BO, ANA]
    await house.hours(24 * 16)
    assert [one.account for one in await house.pairing.waiting()] == [BO]
    assert (await house.pairing.admit(f"discord:{ANA}", "")).name == "Ana"


async def test_the_forgotten_never_knocked(ledger_url: str) -> None:
    """Whose person is forgotten is a stranger again, and no fact tells that they were here."""
    async with opened(ledger_url, 1) as house:
        await house.pairing.admit(await code_of(house, name="Lovelace"), "")
        assert await knocked(house, name="Lovelace") is None
        welcome = await house.people.meet("discord", ANA, "Lovelace")
        await knocked(house, BO, "Bo")
        await house.ledger.erase(ErasureRequest(person=welcome.id))
        query = text("SELECT text FROM texts")
        left = await house.ledger.look(lambda found: found.execute(query).scalars().all())
        assert sorted(one for one in left if one.strip()) == sorted([BO, "Bo", f"discord:9{BO}"])
        async with opened(ledger_url, 2) as again:
            for one in (house, again):
                assert [each.account for each in await one.pairing.waiting()] == [BO]
            assert code_in(await knocked(again))
