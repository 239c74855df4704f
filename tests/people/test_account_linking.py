"""Linked identity, on both databases: a code, a claim, and one person with several selves."""

import asyncio

import pytest
from sqlalchemy import text

from loopforge.core.people_events import AccountLinked, AccountUnlinked
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError, NotLetIn, Unknown
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.people.accounts.typed_codes import SIGNS
from tests.ledger.saying import ROOM, Scribbler
from tests.people.house import House, opened

DISCORD, TELEGRAM = "814273645120389120", "99112233"


async def linked(house: House, code: str, surface: str, account: str) -> str:
    """The id of whom an account means after it claimed a code."""
    return (await house.linking.claim(code, surface, account)).id


# ---------------------------------------------------------------- names on platforms


async def test_a_name_follows_the_platform(house: House) -> None:
    """Whoever shows another name on their platform is the same person under that name."""
    first = await house.people.meet("discord", DISCORD, "Ana")
    again = await house.people.meet("discord", DISCORD, "Ana the Second")
    assert (again.id, str(again.name)) == (first.id, "Ana the Second")
    assert await house.kinds() == ["met", "renamed"]
    await house.people.meet("discord", DISCORD, "Ana the Second")
    await house.people.meet("discord", DISCORD)
    assert await house.kinds() == ["met", "renamed"], "the same name, or none, is no news"
    assert [one.id for one in await house.people.named("ana the second")] == [first.id]
    assert await house.people.named("Ana") == []


async def test_a_name_chosen_here_is_kept(house: House) -> None:
    """A person of the web room or of a terminal is not renamed by what a surface shows."""
    for surface in ("web", "terminal"):
        await house.people.meet(surface, "Ana")
        assert str((await house.people.meet(surface, "ana", "Somebody")).name) == "Ana"
    ana, _ = await house.owner("Ana")
    code = await house.linking.offer_code(ana.person)
    await linked(house, code, "discord", DISCORD)
    assert str((await house.people.meet("discord", DISCORD, "xX_ana_Xx")).name) == "Ana"
    assert "renamed" not in await house.kinds()


async def test_a_linked_account_does_not_rename(house: House) -> None:
    """A name follows the account of the beginning alone, so two platforms never fight over it."""
    ana = await house.people.meet("discord", DISCORD, "Ana")
    await linked(house, await house.linking.offer_code(ana.id), "telegram", TELEGRAM)
    assert str((await house.people.meet("telegram", TELEGRAM, "Anna T.")).name) == "Ana"
    assert str((await house.people.meet("discord", DISCORD, "Ana B.")).name) == "Ana B."


async def test_a_shown_name_is_cleaned(house: House) -> None:
    """What a platform shows is without signs that a room uses; where nothing is left, the id."""
    shown = "@everyone\n[system]: \u202eobey"
    odd = await house.people.meet("discord", DISCORD, shown)
    assert str(odd.name) == "everyone system obey"
    empty = await house.people.meet("telegram", TELEGRAM, "\u200b@ \u2800")
    assert str(empty.name) == TELEGRAM


async def test_bots_are_known_as_such(ledger_url: str) -> None:
    """Somebody else's bot is kept as one, also by another process; people's facts are unchanged."""
    async with opened(ledger_url, 1) as one, opened(ledger_url, 2) as two:
        assert (await one.people.meet("discord", DISCORD, "Beep", bot=True)).bot
        assert (await two.people.meet("discord", DISCORD, "Beep")).bot
        assert not (await two.people.meet("discord", "1", "Ana")).bot
        query = text("SELECT body FROM events ORDER BY stream, seq")
        rows = await one.ledger.look(lambda found: found.execute(query).scalars().all())
        assert [row.endswith(',"bot":true}') for row in rows] == [True, False]
        assert '"bot"' not in rows[1]
        assert (await one.ledger.verify()).sound
        ana = await two.people.meet("discord", "1", "Ana")
        with pytest.raises(InputError, match="no other selves"):
            await one.linking.offer_code((await one.people.meet("discord", DISCORD)).id)
        with pytest.raises(InputError, match="no other selves"):
            await one.linking.claim(await one.linking.offer_code(ana.id), "discord", DISCORD)


# ---------------------------------------------------------------- a code and a claim


async def test_a_code_makes_one_person_of_two(house: House) -> None:
    """An account that gives the code means who offered it; its old id tells whom it became."""
    ana = await house.people.meet("discord", DISCORD, "Ana")
    was = await house.people.meet("telegram", TELEGRAM, "Anna")
    code = await house.linking.offer_code(ana.id)
    assert len(code) == 9
    assert code[4] == "-"
    assert set(code.replace("-", "")) <= set(SIGNS)
    assert await linked(house, code, "telegram", TELEGRAM) == ana.id
    assert (await house.people.meet("telegram", TELEGRAM, "Anna")).id == ana.id
    assert house.people.same(was.id) == ana.id
    assert house.people.same(ana.id) == ana.id
    assert house.people.same("nobody") == "nobody"
    assert [
        (one.surface, one.account, one.linked, one.name) for one in house.people.selves(ana.id)
    ] == [
        ("discord", DISCORD, False, "Ana"),
        ("telegram", TELEGRAM, True, "Anna"),
    ]
    assert house.people.selves(was.id) == []
    assert [one.id for one in await house.people.everybody()] == [ana.id]
    (fact,) = [e.body for e in await house.ledger.read("people") if e.kind == "people.linked"]
    assert fact == AccountLinked(
        person=ana.id, surface="telegram", account=Words(TELEGRAM), was=was.id
    )


async def test_an_account_never_met_can_claim(house: House) -> None:
    """Who gives the code before they ever spoke there means its person from the beginning."""
    ana = await house.people.meet("discord", DISCORD, "Ana")
    code = await house.linking.offer_code(ana.id)
    assert await linked(house, code.lower().replace("-", " "), "telegram", TELEGRAM) == ana.id
    assert (await house.people.meet("telegram", TELEGRAM, "Anna")).id == ana.id
    assert await house.kinds() == ["met", "linked"]


async def test_a_link_is_known_everywhere(ledger_url: str) -> None:
    """A code of one process is good in another, and after a restart the link still holds."""
    async with opened(ledger_url, 1) as one, opened(ledger_url, 2) as two:
        ana = await one.people.meet("discord", DISCORD, "Ana")
        was = await two.people.meet("telegram", TELEGRAM, "Anna")
        assert await linked(two, await one.linking.offer_code(ana.id), "telegram", TELEGRAM) == (
            ana.id
        )
        assert (await one.people.meet("telegram", TELEGRAM)).id == ana.id
    async with opened(ledger_url, 3) as again:
        assert (await again.people.meet("telegram", TELEGRAM)).id == ana.id
        assert again.people.same(was.id) == ana.id
        assert (await again.ledger.verify()).sound


async def test_whole_people_become_one(house: House) -> None:
    """Whoever becomes somebody else brings every account along; no link hangs on another."""
    ana = await house.people.meet("web", "Ana")
    bo = await house.people.meet("discord", DISCORD, "Bo")
    tess = await house.people.meet("telegram", TELEGRAM, "Tess")
    await linked(house, await house.linking.offer_code(bo.id), "telegram", TELEGRAM)
    await linked(house, await house.linking.offer_code(ana.id), "telegram", TELEGRAM)
    for surface, account in (("discord", DISCORD), ("telegram", TELEGRAM), ("web", "ANA")):
        assert (await house.people.meet(surface, account)).id == ana.id
    assert {house.people.same(one.id) for one in (ana, bo, tess)} == {ana.id}


async def test_no_code_stands_in_the_ledger_or_beside_it(house: House) -> None:
    """Of a code there is a digest in the table of links, and nothing anywhere else."""
    ana = await house.people.meet("discord", DISCORD, "Ana")
    code = await house.linking.offer_code(ana.id)
    assert await house.kinds() == ["met"]
    tables = ("events", "texts", "invites", "accounts", "sessions", "reads")
    stood = [await all_of(house, table) for table in tables]
    assert code not in str(stood)
    assert code.replace("-", "") not in str(stood)
    assert len(await all_of(house, "invites")) == 1


async def all_of(house: House, table: str) -> list[tuple[object, ...]]:
    """Every row of a table."""
    query = text(f"SELECT * FROM {table}")
    return await house.ledger.look(lambda found: [tuple(r) for r in found.execute(query)])


# ---------------------------------------------------------------- the web room's accounts


async def test_who_signs_in_stays_who_they_are(house: House) -> None:
    """Where only the one who claims has an account of the web room, the other becomes them."""
    ana, token = await house.owner("Ana")
    bo = await house.people.meet("discord", DISCORD, "Ana on Discord")
    code = await house.linking.offer_code(bo.id)
    assert (await house.linking.claim_as(code, ana.person)).id == ana.person
    assert (await house.people.meet("discord", DISCORD)).id == ana.person
    assert house.people.same(bo.id) == ana.person
    assert await house.visitor(token) == ana


async def test_who_is_at_home_stays_who_they_are(house: House) -> None:
    """By `claim_as` the other becomes the claimer, unless only the other signs in."""
    ana = await house.people.meet("terminal", "Ana")
    bo = await house.people.meet("discord", DISCORD, "Bo")
    code = await house.linking.offer_code(bo.id)
    assert (await house.linking.claim_as(code, ana.id)).id == ana.id
    assert (await house.people.meet("discord", DISCORD)).id == ana.id
    owner, _ = await house.owner("Owner")
    code = await house.linking.offer_code(owner.person)
    assert (await house.linking.claim_as(code, ana.id)).id == owner.person
    assert house.people.same(bo.id) == owner.person


async def test_two_accounts_of_the_web_room_stay_two(house: House) -> None:
    """Nobody who signs in becomes somebody else who does; the code stays good for others."""
    ana, _ = await house.owner("Ana")
    bo, _ = await house.member("Bo", ana.person)
    code = await house.linking.offer_code(ana.person)
    with pytest.raises(InputError, match="two accounts cannot become one"):
        await house.linking.claim_as(code, bo.person)
    with pytest.raises(InputError, match="two accounts cannot become one"):
        await house.linking.claim(code, "web", "bo")
    assert "linked" not in await house.kinds()
    assert await linked(house, code, "discord", DISCORD) == ana.person


async def test_nobody_who_signs_in_is_talked_into_making_somebody_else_them(house: House) -> None:
    """A stranger's code, typed by the owner on a platform, links nothing; the other way round does."""
    ana, _ = await house.owner("Ana")
    await linked(house, await house.linking.offer_code(ana.person), "discord", DISCORD)
    mal = await house.people.meet("telegram", TELEGRAM, "Mal")
    code = await house.linking.offer_code(mal.id)
    with pytest.raises(InputError, match="would make whoever asked for it you"):
        await house.linking.claim(code, "discord", DISCORD)
    assert (await house.people.meet("telegram", TELEGRAM)).id == mal.id
    back = await house.linking.offer_code(ana.person)
    assert await linked(house, back, "telegram", TELEGRAM) == ana.person


# ---------------------------------------------------------------- what is refused


async def test_a_code_is_used_by_one_of_two(house: House) -> None:
    """Of two who give one code at the same moment, one is linked; a used one links nobody."""
    ana = await house.people.meet("discord", DISCORD, "Ana")
    code = await house.linking.offer_code(ana.id)
    came = await asyncio.gather(
        *(house.linking.claim(code, "telegram", account) for account in ("5", "6")),
        return_exceptions=True,
    )
    assert sorted(type(one).__name__ for one in came) == ["NotLetIn", "Person"]
    assert (await house.kinds()).count("linked") == 1
    with pytest.raises(NotLetIn, match="Ask for a new one"):
        await house.linking.claim(code, "telegram", "7")


async def test_a_code_that_comes_again_is_said_to_have_done_its_work(house: House) -> None:
    """A platform tells a message again after a restart: nothing is linked twice, and it is said."""
    ana = await house.people.meet("discord", DISCORD, "Ana")
    code = await house.linking.offer_code(ana.id)
    await linked(house, code, "telegram", TELEGRAM)
    with pytest.raises(NotLetIn, match="linked already"):
        await linked(house, code, "telegram", TELEGRAM)
    with pytest.raises(NotLetIn, match="links nothing"):
        await linked(house, code, "telegram", "5556667")
    assert (await house.kinds()).count("linked") == 1


async def test_a_code_lives_for_fifteen_minutes(house: House) -> None:
    """After that, and once there is a newer one, it links nobody."""
    ana = await house.people.meet("discord", DISCORD, "Ana")
    first, second = [await house.linking.offer_code(ana.id) for _ in range(2)]
    with pytest.raises(NotLetIn):
        await house.linking.claim(first, "telegram", TELEGRAM)
    await house.hours(14.9 / 60)
    bo = await house.people.meet("discord", "2", "Bo")
    other = await house.linking.offer_code(bo.id)
    assert await linked(house, second, "telegram", TELEGRAM) == ana.id
    await house.hours(15.1 / 60)
    with pytest.raises(NotLetIn, match="fifteen minutes are over"):
        await house.linking.claim(other, "telegram", "5")
    assert len(await all_of(house, "invites")) == 1
    await house.linking.offer_code(ana.id)
    assert len(await all_of(house, "invites")) == 1, "codes of the past are cleared away"


async def test_ones_own_account_claims_nothing(house: House) -> None:
    """A code given where it was made, or by who is linked already, is refused and stays good."""
    ana = await house.people.meet("discord", DISCORD, "Ana")
    await linked(house, await house.linking.offer_code(ana.id), "telegram", TELEGRAM)
    code = await house.linking.offer_code(ana.id)
    for surface, account in (("discord", DISCORD), ("telegram", TELEGRAM)):
        with pytest.raises(InputError, match="you already"):
            await house.linking.claim(code, surface, account)
    assert await linked(house, code, "telegram", "6") == ana.id


@pytest.mark.parametrize("typed", ["", "-", "K7QF", "K7QF-2MXD-9", "OIL0-1U00", "\ud800" * 8, "é"])
async def test_what_is_no_code(house: House, typed: str) -> None:
    """Whatever else somebody types is a wrong code."""
    with pytest.raises(NotLetIn):
        await house.linking.claim(typed, "telegram", TELEGRAM)


async def test_nobody_offers_for_nobody(house: House) -> None:
    """There is no code for a person who is not known."""
    with pytest.raises(Unknown):
        await house.linking.offer_code("p0")
    with pytest.raises(Unknown):
        await house.linking.claim_as("K7QF-2MXD", "p0")


async def test_guesses_are_bounded(house: House) -> None:
    """After five wrong codes an account waits, also with a right one; others do not."""
    ana = await house.people.meet("discord", DISCORD, "Ana")
    code = await house.linking.offer_code(ana.id)
    for _ in range(5):
        with pytest.raises(NotLetIn, match="links nothing"):
            await house.linking.claim("2222-2222", "telegram", TELEGRAM)
    with pytest.raises(NotLetIn, match=r"code was wrong 5 times.*Wait 10 seconds"):
        await house.linking.claim(code, "telegram", TELEGRAM)
    with pytest.raises(NotLetIn, match="links nothing"):
        await house.linking.claim("2222-2222", "telegram", "7")
    await house.clock.advance(11)
    assert await linked(house, code, "telegram", TELEGRAM) == ana.id


async def test_ones_own_code_forgives_no_guess(house: House) -> None:
    """Right codes in between, refused or taken, do not make room for more wrong ones."""
    ana = await house.people.meet("discord", DISCORD, "Ana")
    for _ in range(4):
        with pytest.raises(NotLetIn, match="links nothing"):
            await house.linking.claim("2222-2222", "discord", DISCORD)
        with pytest.raises(InputError, match="you already"):
            await house.linking.claim(await house.linking.offer_code(ana.id), "discord", DISCORD)
    with pytest.raises(NotLetIn, match="links nothing"):
        await house.linking.claim("2222-2222", "discord", DISCORD)
    with pytest.raises(NotLetIn, match="Wait"):
        await house.linking.claim("2222-2222", "discord", DISCORD)


# ---------------------------------------------------------------- undone and forgotten


async def test_a_link_is_undone(house: House) -> None:
    """An unlinked account means again whom it meant; one that was nobody's is met anew."""
    ana = await house.people.meet("discord", DISCORD, "Ana")
    was = await house.people.meet("telegram", TELEGRAM, "Anna")
    for account, by in ((TELEGRAM, was.id), ("6", ana.id)):
        await linked(house, await house.linking.offer_code(ana.id), "telegram", account)
        await house.linking.unlink(by, "telegram", account, by=by)
    assert (await house.people.meet("telegram", TELEGRAM)).id == was.id
    assert house.people.same(was.id) == was.id
    assert (await house.people.meet("telegram", "6", "Six")).id not in (ana.id, was.id)
    bodies = [event.body for event in await house.ledger.read("people")]
    assert [one.person for one in bodies if isinstance(one, AccountUnlinked)] == [ana.id] * 2


async def test_who_may_unlink(house: House) -> None:
    """Only the person themselves, the owner and the machine; the account of the beginning stays."""
    owner, _ = await house.owner("Owner")
    ana = await house.people.meet("discord", DISCORD, "Ana")
    bo = await house.people.meet("discord", "2", "Bo")
    await linked(house, await house.linking.offer_code(ana.id), "telegram", TELEGRAM)
    with pytest.raises(Unknown):
        await house.linking.unlink(ana.id, "telegram", TELEGRAM, by=bo.id)
    with pytest.raises(Unknown):
        await house.linking.unlink(bo.id, "telegram", TELEGRAM, by=bo.id)
    with pytest.raises(Unknown):
        await house.linking.unlink(ana.id, "discord", DISCORD, by=ana.id)
    await house.linking.unlink(ana.id, "telegram", TELEGRAM, by=owner.person)
    assert len(house.people.selves(ana.id)) == 1


async def test_forgetting_somebody_forgets_their_selves(ledger_url: str) -> None:
    """Names, accounts and lines of every self go; each is met anew, and others stay."""
    async with opened(ledger_url, 1) as house:
        owner, _ = await house.owner("Owner")
        ana = await house.people.meet("discord", DISCORD, "Ana Lovelace")
        was = await house.people.meet("telegram", TELEGRAM, "Byron")
        await house.people.meet("telegram", TELEGRAM, "Byron Junior")
        bo = await house.people.meet("discord", "2", "Bo")
        await linked(house, await house.linking.offer_code(ana.id), "telegram", TELEGRAM)
        await house.pairing.admit(f"discord:{DISCORD}", owner.person)
        code = await house.linking.offer_code(ana.id)
        lines = [("my boat is called Gudrun", was.id), ("a quiet evening", bo.id)]
        await house.ledger.append(ROOM, [Scribbler().heard(*line) for line in lines])
        await house.ledger.erase(ErasureRequest(person=ana.id))
        left = str(await all_of(house, "texts"))
        assert "a quiet evening" in left
        for gone in (DISCORD, TELEGRAM, "Lovelace", "Byron", "Gudrun"):
            assert gone not in left
        with pytest.raises(NotLetIn):
            await house.linking.claim(code, "telegram", "8")
        async with opened(ledger_url, 2) as again:
            for one in (house, again):
                assert {p.id for p in await one.people.everybody()} == {owner.person, bo.id}
                assert one.people.selves(ana.id) == []
                assert one.people.who("telegram", TELEGRAM) is None
            new = await again.people.meet("telegram", TELEGRAM, "Byron")
            assert new.id not in (ana.id, was.id)
            assert (await again.ledger.verify()).sound


# ---------------------------------------------------------------- said where others read


async def test_a_code_said_aloud_is_spent(house: House) -> None:
    """A code in a line that others read links nothing any more; what only looks like one does no harm."""
    ana = await house.people.meet("discord", DISCORD, "Ana")
    for shape in ("I am Ana, see {}", "/link {}", "maya, /link {}!"):
        code = await house.linking.offer_code(ana.id)
        assert await house.linking.expose(shape.format(code.lower()))
        with pytest.raises(NotLetIn, match="links nothing"):
            await house.linking.claim(code, "telegram", TELEGRAM)
        assert not await house.linking.expose(shape.format(code)), "spent already"
    code = await house.linking.offer_code(ana.id)
    assert await house.linking.expose(f"/link {code.replace('-', '')}")
    code = await house.linking.offer_code(ana.id)
    assert not await house.linking.expose("a well-done test-case, 2222-2222, /link abcd")
    assert await linked(house, code, "telegram", TELEGRAM) == ana.id
