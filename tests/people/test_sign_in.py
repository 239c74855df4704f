"""Signing in and out, on both databases: passwords and sessions."""

import asyncio
from datetime import timedelta

import pytest
from argon2 import PasswordHasher

from loopforge.core.people_events import SignedIn
from loopforge.errors import BadAccount, NotLetIn, Unknown
from loopforge.people.accounts.credential_store import CredentialStore, store_password
from loopforge.people.accounts.login_throttle import EACH, FREE, LONGEST
from loopforge.people.identity.person_registry import STREAM
from loopforge.runtime.background_tasks import BackgroundTasks
from tests.ledger.saying import NOON
from tests.people.house import MOBILE, SECRET, House, opened

WRONG = "do not belong together"


# ---------------------------------------------------------------- signing in


async def test_signing_in_by_name_and_password(house: House) -> None:
    """Name in any spelling and the right password begin a session of their own."""
    owner, _ = await house.owner()
    bo, first = await house.member("Bo", owner.person)
    visitor, session = await house.signing.sign_in(" bO", SECRET, "curl/8")
    assert (visitor.person, visitor.name, visitor.right) == (bo.person, "Bo", "member")
    assert session != first
    assert await house.visitor(session) == visitor
    assert await house.visitor(first) == bo
    last = (await house.ledger.read(STREAM))[-1]
    assert last.body == SignedIn(person=bo.person, session=visitor.session, how="password")
    assert last.actor == f"person:{bo.person}"


async def test_what_is_wrong_is_not_told(house: House) -> None:
    """A wrong name, a wrong password and an account without one are refused in the same words."""
    owner, _ = await house.owner("Ana")
    await house.member("Bo", owner.person)
    said = set()
    for name, password in [
        ("Bo", "quiet otters row hom"),
        ("Nobody", SECRET),
        ("Ana", SECRET),
        ("", ""),
        ("x" * 9999, "x" * 9999),
        ("Bo\x00", SECRET[::-1]),
    ]:
        with pytest.raises(NotLetIn, match=WRONG) as refused:
            await house.signing.sign_in(name, password, MOBILE)
        said.add(str(refused.value))
    assert len(said) == 1


async def guess(house: House, name: str, times: int, place: str = "") -> None:
    """So many wrong passwords, one after another, as fast as they are looked at."""
    for nth in range(times):
        with pytest.raises(NotLetIn, match=WRONG):
            await house.signing.sign_in(name, f"guess number {nth}", MOBILE, "", place)


async def test_guesses_keep_no_right_password_out(house: House) -> None:
    """While somebody guesses on and on from her own address, Bo comes in by the next turn but one."""
    owner, _ = await house.owner()
    bo, _ = await house.member("Bo", owner.person)
    await house.member("Cy", owner.person)
    tasks = BackgroundTasks()
    attack = tasks.spawn(guess(house, "bo", 1000, "7.7.7.7"), "attack")
    await house.clock.advance(120)
    assert not attack.done()
    coming = tasks.spawn(house.signing.sign_in("BO", SECRET, MOBILE, "", "7.7.7.7"), "bo")
    await house.signing.sign_in("Cy", SECRET, MOBILE, "", "7.7.7.7")
    await house.clock.advance(2 * LONGEST)
    assert (await coming)[0].person == bo.person
    attack.cancel()
    await tasks.close()


async def test_a_crowd_of_guesses_keeps_nobody_elsewhere_waiting(house: House) -> None:
    """Where as many guesses wait from one address as may, another address is next all the same."""
    owner, _ = await house.owner()
    bo, _ = await house.member("Bo", owner.person)
    tasks = BackgroundTasks()
    for _ in range(FREE + EACH):
        tasks.spawn(guess(house, "bo", 1, "7.7.7.7"), "attack")
    await house.clock.advance(0)
    with pytest.raises(NotLetIn, match="not your turn yet"):
        await house.signing.sign_in("Bo", SECRET, MOBILE, "", "7.7.7.7")
    coming = tasks.spawn(house.signing.sign_in("Bo", SECRET, MOBILE, "", "8.8.8.8"), "bo")
    await house.clock.advance(LONGEST)
    assert (await coming)[0].person == bo.person
    await tasks.close()


async def test_a_device_that_is_known_does_not_queue(house: House) -> None:
    """A device she came in with before tries at once, whatever is guessed at her name elsewhere."""
    owner, _ = await house.owner()
    bo, _ = await house.member("Bo", owner.person)
    await guess(house, "bo", 5)
    visitor, _ = await house.signing.sign_in("Bo", SECRET, MOBILE, "", "", "a device of hers")
    assert visitor.person == bo.person


async def test_a_name_that_nobody_has_is_slowed_too(house: House) -> None:
    """Whether a name exists cannot be told from how it is slowed."""
    tasks = BackgroundTasks()
    await guess(house, "nobody", 5)
    sixth = tasks.spawn(guess(house, "nobody", 1), "sixth")
    await house.clock.advance(0.9)
    assert not sixth.done()
    await house.clock.advance(0.1)
    await sixth
    await tasks.close()


@pytest.mark.usefixtures("full_cost")
async def test_an_old_hash_is_renewed(house: House) -> None:
    """A password hashed at another cost still lets in, and is then kept at today's cost."""
    owner, _ = await house.owner()
    bo, _ = await house.member("Bo", owner.person)
    old = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(SECRET)
    await house.ledger.change(store_password(bo.person, old))
    await house.signing.sign_in("Bo", SECRET, MOBILE)
    renewed = await house.decisions.vault.password(bo.person)
    assert "m=19456,t=2" in renewed
    await house.signing.sign_in("Bo", SECRET, MOBILE)
    assert await house.decisions.vault.password(bo.person) == renewed


async def test_passwords_are_set_and_changed(house: House) -> None:
    """The owner sets a first password; a change wants the old one and ends other sessions."""
    owner, session = await house.owner("Ana")
    assert not await house.signing.has_password(owner.person)
    await house.signing.set_password(owner.person, "no matter", SECRET, session=owner.session)
    assert await house.signing.has_password(owner.person)
    other, other_session = await house.signing.sign_in("ana", SECRET, MOBILE)
    with pytest.raises(NotLetIn, match="old password is another"):
        await house.signing.set_password(owner.person, "not this", "another good one")
    with pytest.raises(BadAccount, match="fewer than 8"):
        await house.signing.set_password(owner.person, SECRET, "short")
    await house.signing.set_password(
        owner.person, SECRET, "another good one", session=owner.session
    )
    assert await house.visitor(session) == owner
    assert await house.visitor(other_session) is None
    assert house.ended == [other.session]
    with pytest.raises(NotLetIn, match=WRONG):
        await house.signing.sign_in("ana", SECRET, MOBILE)
    await house.signing.sign_in("ana", "another good one", MOBILE)
    await house.signing.set_password(owner.person, "another good one", SECRET)
    assert await house.signing.sessions(owner.person) == []


async def test_a_changed_password_voids_the_link_to_a_new_one(house: House) -> None:
    """Who changed their password is not undone by a link that somebody still holds."""
    owner, _ = await house.owner("Ana")
    ben, _ = await house.member("Ben", owner.person)
    token = await house.links.renewal(ben.person, owner.person)
    await house.signing.set_password(ben.person, SECRET, "another good one", ben.session)
    with pytest.raises(NotLetIn, match="sets no password"):
        await house.links.renew(token, "a stranger's words", MOBILE)
    token = await house.links.renewal(ben.person, owner.person)
    await house.links.renew(token, SECRET, MOBILE)
    assert await house.links.renewing(token) == ""


async def test_a_password_changed_twice_at_once(house: House) -> None:
    """Of two changes that began with the same old password, one wins, and that one signs in."""
    owner, _ = await house.owner()
    bo, _ = await house.member("Bo", owner.person)
    new = ["the first new one", "the second new one"]
    came = await asyncio.gather(
        *(house.signing.set_password(bo.person, SECRET, one) for one in new),
        return_exceptions=True,
    )
    (lost,) = [nth for nth, one in enumerate(came) if isinstance(one, NotLetIn)]
    await house.signing.sign_in("Bo", new[1 - lost], MOBILE)


async def test_a_password_that_is_changed_while_it_signs_in(house: House) -> None:
    """Who knew only the old password does not slip in while it is being changed."""
    owner, _ = await house.owner()
    bo, _ = await house.member("Bo", owner.person)
    tasks = BackgroundTasks()
    house.gate.writing.clear()
    late = tasks.spawn(house.signing.sign_in("Bo", SECRET, MOBILE), "late")
    await house.gate.reached.wait()
    vault = CredentialStore(house.ledger)
    await vault.rehash(bo.person, await vault.password(bo.person), "another")
    house.gate.writing.set()
    with pytest.raises(NotLetIn, match=WRONG):
        await late
    assert [one.session for one in await house.signing.sessions(bo.person)] == [bo.session]
    await tasks.close()


async def test_guessing_the_old_password_is_slowed(house: House) -> None:
    """Who found an open browser cannot try old passwords without end."""
    owner, _ = await house.owner()
    bo, _ = await house.member("Bo", owner.person)
    for _ in range(5):
        with pytest.raises(NotLetIn, match="another one"):
            await house.signing.set_password(bo.person, "not this", "another good one")
    with pytest.raises(NotLetIn, match="Wait"):
        await house.signing.set_password(bo.person, SECRET, "another good one")


# ---------------------------------------------------------------- sessions


async def test_sessions_are_listed_and_ended(house: House) -> None:
    """Everybody sees and ends their own sessions, the owner those of all, others none."""
    owner, _ = await house.owner()
    bo, first = await house.member("Bo", owner.person)
    await house.hours(1)
    phone, second = await house.signing.sign_in("Bo", SECRET, "Chrome/1 on Android")
    newest, oldest = await house.signing.sessions(bo.person)
    assert (newest.session, newest.agent) == (phone.session, "Chrome on Android")
    assert (oldest.session, oldest.agent) == (bo.session, "Firefox on Linux")
    assert oldest.since == NOON
    assert newest.since == newest.seen == NOON + timedelta(hours=1)
    with pytest.raises(Unknown, match="no such session"):
        await house.signing.end(owner.session, bo.person)
    await house.signing.end(bo.session, bo.person)
    await house.signing.end(bo.session, bo.person)
    assert await house.visitor(first) is None
    assert await house.visitor(second) == phone
    await house.signing.end(phone.session, owner.person)
    assert await house.visitor(second) is None
    assert house.ended == [bo.session, phone.session]
    assert (await house.kinds()).count("signed_out") == 2


async def test_all_sessions_but_one(house: House) -> None:
    """All of a person's sessions end at once, but the one that is spared."""
    owner, _ = await house.owner()
    bo, kept = await house.member("Bo", owner.person)
    others = [await house.signing.sign_in("Bo", SECRET, MOBILE) for _ in range(3)]
    await house.signing.end_all(bo.person, bo.person, but=bo.session)
    assert await house.visitor(kept) == bo
    assert [await house.visitor(token) for _, token in others] == [None] * 3
    assert sorted(house.ended) == sorted(visitor.session for visitor, _ in others)
    with pytest.raises(Unknown):
        await house.signing.end_all(owner.person, bo.person)
    await house.signing.end_all(bo.person, "")
    assert await house.signing.sessions(bo.person) == []


async def test_use_is_noted_once_a_minute(house: House) -> None:
    """When a session was last used is known at once, and written down at most once a minute."""
    owner, token = await house.owner()

    async def written() -> object:
        return await house.decisions.vault.session_of(owner.session)

    begin = await written()
    await house.clock.advance(59)
    assert await house.visitor(token)
    assert await written() == begin
    (session,) = await house.signing.sessions(owner.person)
    assert session.seen == NOON + timedelta(seconds=59)
    await house.clock.advance(1)
    assert await house.visitor(token)
    assert await written() != begin
    noted = await written()
    for _ in range(5):
        await house.clock.advance(11)
        assert await house.visitor(token)
    assert await written() == noted


async def test_thirty_days_from_signing_in(house: House) -> None:
    """A session ends as its browser's cookie does, however often somebody else's copy is used."""
    owner, token = await house.owner()
    for _ in range(3):
        await house.hours(10 * 24)
        assert await house.visitor(token) == owner
    await house.hours(1)
    assert await house.signing.sessions(owner.person) == []
    assert [one.sessions for one in await house.signing.accounts()] == [0]
    assert await house.visitor(token) is None
    assert house.ended == [owner.session]


async def test_a_session_outlives_the_process(ledger_url: str) -> None:
    """Who is signed in stays so when the server starts anew."""
    async with opened(ledger_url) as house:
        owner, token = await house.owner()
    async with opened(ledger_url, 2) as house:
        assert await house.visitor(token) == owner
        assert house.decisions.book.owner()


async def test_a_failing_listener_harms_nobody(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody who fails to hear of an end keeps neither the end nor others from happening."""

    def fail(session: str) -> None:
        raise RuntimeError(session)

    heard: list[str] = []
    house.decisions.presence.hear(fail)
    house.decisions.presence.hear(heard.append)
    owner, token = await house.owner()
    await house.signing.end(owner.session, owner.person)
    assert heard == house.ended == [owner.session]
    assert await house.visitor(token) is None
    assert "failed" in caplog.text
