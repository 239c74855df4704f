"""Links that let in, on both databases: the owner's, and invites."""

import asyncio
from datetime import timedelta

import pytest

from loopforge.errors import BadAccount, InputError, NotLetIn, Unknown
from tests.ledger.saying import NOON
from tests.people.house import MOBILE, SECRET, House

# ---------------------------------------------------------------- the owner


async def test_the_owner_comes_in_by_the_link(house: House) -> None:
    """The first to use the one-time link owns the home, as the person of the same terminal."""
    assert not house.decisions.book.owner()
    token = await house.links.offer()
    assert await house.links.waits(token)
    assert await house.links.waits(token), "looking does not spend it"
    visitor, session = await house.links.enter(token, " Ana ", MOBILE)
    assert (visitor.name, visitor.right) == ("Ana", "owner")
    assert (await house.people.meet("terminal", "ana")).id == visitor.person
    assert await house.visitor(session) == visitor
    assert house.decisions.book.owner()
    assert await house.kinds() == ["met", "account_opened", "signed_in"]


async def test_two_at_once_by_one_link(house: House) -> None:
    """Of two who use the link at the same moment, one comes in; a spent one lets in nobody."""
    token = await house.links.offer()
    came = await asyncio.gather(
        *(house.links.enter(token, name, MOBILE) for name in ("Ana", "Bo")),
        return_exceptions=True,
    )
    assert sorted(type(one).__name__ for one in came) == ["NotLetIn", "tuple"]
    assert [one.right for one in await house.signing.accounts()] == ["owner"]
    assert not await house.links.waits(token)
    with pytest.raises(NotLetIn, match="Make a new one on the machine"):
        await house.links.enter(token, "Ana", MOBILE)


async def test_a_newer_link_voids_earlier_ones(house: House) -> None:
    """Only the last link made is good, for sixty minutes."""
    first, second = await house.links.offer(), await house.links.offer()
    assert not await house.links.waits(first)
    await house.hours(0.99)
    assert await house.links.waits(second)
    await house.hours(0.02)
    assert not await house.links.waits(second)
    with pytest.raises(NotLetIn):
        await house.links.enter(second, "Ana", MOBILE)
    assert not house.decisions.book.owner()


async def test_later_the_owner_is_who_it_is(house: House) -> None:
    """Whoever comes by a later link is the same owner, whatever name is given."""
    first, _ = await house.owner("Ana")
    second, session = await house.owner("/somebody else/")
    assert (second.person, second.name, second.right) == (first.person, "Ana", "owner")
    assert second.session != first.session
    assert await house.visitor(session) == second
    assert await house.kinds() == ["met", "account_opened", "signed_in", "signed_in"]


async def test_the_owner_may_be_called_as_in_the_terminal(house: House) -> None:
    """A name the terminal knows is taken as it is, though no new account could have it."""
    known = await house.people.meet("terminal", "machine\\ana")
    with pytest.raises(BadAccount, match="cannot hold"):
        await house.owner("machine\\bo")
    visitor, _ = await house.owner("machine\\ana")
    assert (visitor.person, visitor.name) == (known.id, "machine\\ana")


async def test_a_bad_name_leaves_the_link_good(house: House) -> None:
    """An owner who gives no name that will do may try again by the same link."""
    token = await house.links.offer()
    with pytest.raises(BadAccount, match="missing"):
        await house.links.enter(token, " ", MOBILE)
    await house.links.enter(token, "Ana", MOBILE)


async def test_nonsense_is_no_token(house: House) -> None:
    """Tokens that are nobody's, of any shape, are nobody's everywhere."""
    await house.owner()
    for token in ("", "x", "x" * 43, "ü\ud800\x00", "x" * 1_000_000):
        assert not await house.links.waits(token)
        assert await house.links.invited(token) is None
        assert await house.visitor(token) is None
        with pytest.raises(NotLetIn):
            await house.links.take(token, "Bo", SECRET, MOBILE)


async def test_kinds_of_token_are_not_mixed_up(house: House) -> None:
    """An invite's token lets no owner in, the owner's takes no invite, neither is a session."""
    owner, session = await house.owner()
    _, invite = await house.links.invite(owner.person)
    link = await house.links.offer()
    assert not await house.links.waits(invite)
    assert await house.links.invited(link) is None
    assert await house.visitor(invite) is None
    assert await house.visitor(link) is None
    assert await house.links.invited(session) is None


# ---------------------------------------------------------------- invites


async def test_an_invite_makes_an_account(house: House) -> None:
    """Who takes an invite has an account with name and password, and the invite is spent."""
    owner, _ = await house.owner()
    invite, token = await house.links.invite(owner.person, room="garden", past=True, days=2)
    assert (invite.by, invite.room, invite.past) == (owner.person, "garden", True)
    assert (invite.state, invite.person, invite.until) == ("open", "", NOON + timedelta(days=2))
    assert await house.links.invited(token) == invite
    visitor, session, taken = await house.links.take(token, " Bo  B ", SECRET, MOBILE)
    assert (visitor.name, visitor.right) == ("Bo B", "member")
    assert (taken.state, taken.person, taken.room) == ("taken", visitor.person, "garden")
    assert await house.visitor(session) == visitor
    assert (await house.people.meet("web", "bo b")).id == visitor.person
    assert await house.links.invited(token) is None
    with pytest.raises(NotLetIn, match="taken or withdrawn"):
        await house.links.take(token, "Cy", SECRET, MOBILE)
    assert (await house.kinds())[-4:] == ["met", "account_opened", "invite_taken", "signed_in"]
    assert await house.links.every() == [taken]


async def test_refusals_leave_the_invite_open(house: House) -> None:
    """A name that is taken, whatever its spelling, or a poor password may be tried again."""
    owner, _ = await house.owner("Ana")
    _, token = await house.links.invite(owner.person)
    for name, password, why in [
        ("aNA", SECRET, "called aNA already"),
        ("\uff21na", SECRET, "already"),
        ("@bo", SECRET, "cannot hold @"),
        ("Bo", "short", "fewer than 8"),
        ("Bodacious", "bodacious", "is your name"),
    ]:
        with pytest.raises(BadAccount, match=why):
            await house.links.take(token, name, password, MOBILE)
    assert await house.links.invited(token)
    await house.links.take(token, "Bo", SECRET, MOBILE)


async def test_one_invite_taken_by_many_at_once(house: House) -> None:
    """However many take an invite at the same moment, one account is opened."""
    owner, _ = await house.owner()
    _, token = await house.links.invite(owner.person)
    names = ("Bo", "Cy", "Di", "Ed")
    came = await asyncio.gather(
        *(house.links.take(token, name, SECRET, MOBILE) for name in names),
        return_exceptions=True,
    )
    assert sum(isinstance(one, tuple) for one in came) == 1
    assert sum(isinstance(one, NotLetIn) for one in came) == 3
    assert len(await house.signing.accounts()) == 2


async def test_one_name_taken_by_two_at_once(house: House) -> None:
    """Of two who want one name at the same moment, one has it and can sign in by their password."""
    owner, _ = await house.owner()
    tokens = [(await house.links.invite(owner.person))[1] for _ in range(2)]
    came = await asyncio.gather(
        *(
            house.links.take(token, "Bo", f"{SECRET} {nth}", MOBILE)
            for nth, token in enumerate(tokens)
        ),
        return_exceptions=True,
    )
    won = next(nth for nth, one in enumerate(came) if isinstance(one, tuple))
    assert isinstance(came[1 - won], BadAccount)
    await house.signing.sign_in("Bo", f"{SECRET} {won}", MOBILE)
    with pytest.raises(NotLetIn):
        await house.signing.sign_in("Bo", f"{SECRET} {1 - won}", MOBILE)
    assert await house.links.invited(tokens[1 - won])


async def test_an_invite_expires(house: House) -> None:
    """After its days an invite lets nobody in, and the list says so."""
    owner, _ = await house.owner()
    _, token = await house.links.invite(owner.person, days=1)
    await house.hours(23.9)
    assert await house.links.invited(token)
    await house.hours(0.2)
    assert await house.links.invited(token) is None
    assert [one.state for one in await house.links.every()] == ["expired"]
    for days in (0, 366, -1):
        with pytest.raises(InputError, match="1 to 365 days"):
            await house.links.invite(owner.person, days=days)


async def test_an_invite_is_withdrawn(house: House) -> None:
    """Who wrote an invite and the owner can withdraw it, nobody else, and not once it is taken."""
    owner, _ = await house.owner()
    bo, _ = await house.member("Bo", owner.person)
    cy, _ = await house.member("Cy", owner.person)
    invite, token = await house.links.invite(bo.person)
    for by, id in ((cy.person, invite.invite), (bo.person, "inone"), ("pnobody", invite.invite)):
        with pytest.raises(Unknown, match="no invite"):
            await house.links.withdraw(id, by)
    assert await house.links.invited(token)
    await house.links.withdraw(invite.invite, bo.person)
    await house.links.withdraw(invite.invite, owner.person)
    assert await house.links.invited(token) is None
    assert (await house.kinds()).count("invite_withdrawn") == 1
    newest, *earlier = await house.links.every()
    assert (newest.invite, newest.state) == (invite.invite, "withdrawn")
    with pytest.raises(InputError, match="taken already"):
        await house.links.withdraw(earlier[0].invite, owner.person)


async def test_only_who_is_in_invites(house: House) -> None:
    """Somebody without an account invites nobody, and invites of an account that is closed die."""
    owner, _ = await house.owner()
    with pytest.raises(NotLetIn, match="no account"):
        await house.links.invite("pstranger")
    bo, _ = await house.member("Bo", owner.person)
    _, token = await house.links.invite(bo.person)
    await house.signing.close(bo.person, owner.person)
    assert await house.links.invited(token) is None
    assert (await house.links.every())[0].state == "withdrawn"


async def test_somebody_here_takes_an_invite(house: House) -> None:
    """Who is signed in takes an invite to a room as who they are; one to no room is for others."""
    owner, _ = await house.owner()
    bo, _ = await house.member("Bo", owner.person)
    _, token = await house.links.invite(owner.person, "garden")
    taken = await house.links.take_as(token, bo)
    assert (taken.room, taken.person, taken.state) == ("garden", bo.person, "taken")
    with pytest.raises(NotLetIn):
        await house.links.take_as(token, owner)
    _, general = await house.links.invite(owner.person)
    with pytest.raises(InputError, match="in already"):
        await house.links.take_as(general, bo)
    assert await house.links.invited(general)


# ---------------------------------------------------------------- another device, a lost password


async def test_a_link_of_ones_own_ends(house: House) -> None:
    """After its time, and after its account's end, it signs nobody in and sets no password."""
    owner, _ = await house.owner()
    bo, _ = await house.member("Bo", owner.person)
    cy, _ = await house.member("Cy", owner.person)
    device, renewal = house.links.device, house.links.renewal

    async def refused(late: str, lost: str) -> None:
        with pytest.raises(NotLetIn, match="lets nobody in"):
            await house.links.join(late, MOBILE)
        with pytest.raises(NotLetIn, match="sets no password"):
            await house.links.renew(lost, SECRET, MOBILE)

    late, lost = await device(bo.person), await renewal(cy.person, owner.person)
    await house.hours(24.1)
    await refused(late, lost)
    await house.links.join(await device(bo.person), MOBILE)
    late, lost = await device(bo.person), await renewal(cy.person, owner.person)
    for one in (bo, cy):
        await house.signing.close(one.person, owner.person)
    await refused(late, lost)


async def test_a_link_elsewhere_and_a_lost_password(house: House) -> None:
    """Whoever has a link for another device may be given one to a new password, and the other way."""
    owner, _ = await house.owner()
    bo, _ = await house.member("Bo", owner.person)
    first = await house.links.device(bo.person)
    lost = await house.links.renewal(bo.person, owner.person)
    assert await house.links.joining(first) == await house.links.renewing(lost) == bo.person
    second = await house.links.device(bo.person)
    assert not await house.links.joining(first)
    await house.links.renew(lost, SECRET, MOBILE)
    assert not await house.links.joining(second)
