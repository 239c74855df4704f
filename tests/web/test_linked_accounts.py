"""One's other selves on the page "You", and strangers who knock on the owner's page."""

import re

import pytest

from loopforge.people.accounts import login_throttle
from tests.people.house import code_in
from tests.web.conftest import Guest, Town

DISCORD, TELEGRAM = "814273645120389120", "99112233"
CODE = re.compile(r"<code>([0-9A-Z]{4}-[0-9A-Z]{4})</code>")


async def code_of(guest: Guest) -> str:
    """The code that the page shows after the button was pressed."""
    answer = await guest.post("/you/code")
    assert answer.status_code == 201
    found = CODE.search(answer.text)
    assert found, answer.text
    return found[1]


# ---------------------------------------------------------------- oneself


async def test_a_code_from_the_page_links_an_account(site: Town, owner: Guest) -> None:
    """What is typed on a platform is the visitor there; the page lists it, and shows no code again."""
    code = await code_of(owner)
    assert code not in (await owner.get("/you")).text
    person = await site.app.linking.claim(code, "telegram", TELEGRAM)
    assert person.id == owner.person
    shown = (await owner.get("/you")).text
    assert "<td>Telegram<br>" in shown
    assert f"{TELEGRAM}, since " in shown
    assert f"also telegram {TELEGRAM}" in (await owner.get("/admin/people")).text


async def test_a_code_from_elsewhere_links_that_account(site: Town, owner: Guest) -> None:
    """Whoever asked for a code on a platform is the visitor once it is typed on the page."""
    ana = await site.guest("ana", by=owner)
    there = await site.app.people.meet("discord", DISCORD, "Ana <b>Bold</b>")
    code = await site.app.linking.offer_code(there.id)
    answer = await ana.post("/you/link", {"code": code.lower()})
    assert answer.status_code in (200, 201)
    assert "Ana b Bold b on discord is you from now on" in answer.text
    assert "<b>Bold</b>" not in answer.text
    assert (await site.app.people.meet("discord", DISCORD)).id == ana.person
    assert (await ana.get("/you")).status_code == 200, "still signed in, as who they are"


async def test_a_wrong_code_is_told(owner: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A code that is not good, and too many of them, are told on the page; nothing is linked."""
    # Of ten seconds a busy machine takes some.
    monkeypatch.setattr(login_throttle, "FIRST_LOCK", 600)
    for _ in range(5):
        answer = await owner.post("/you/link", {"code": "2222-2222"})
        assert answer.status_code == 400
        assert "This code links nothing" in answer.text
    answer = await owner.post("/you/link", {"code": "2222-2222"})
    assert answer.status_code == 400
    assert "Wait 10 minutes" in answer.text
    assert (await owner.post("/you/link")).status_code == 400


async def test_two_accounts_stay_two(site: Town, owner: Guest) -> None:
    """Who signs in cannot become somebody else who does, by whichever code."""
    ana = await site.guest("ana", by=owner)
    answer = await ana.post("/you/link", {"code": await code_of(owner)})
    assert answer.status_code == 400
    assert "two accounts cannot become one" in answer.text


async def test_an_account_is_unlinked(site: Town, owner: Guest) -> None:
    """One's own account by its button; somebody else's by nothing."""
    ana = await site.guest("ana", by=owner)
    await site.app.linking.claim(await code_of(ana), "telegram", TELEGRAM)
    form = {"surface": "telegram", "account": TELEGRAM}
    assert (await owner.post("/you/unlink", form)).status_code == 400
    assert (await site.app.people.meet("telegram", TELEGRAM)).id == ana.person
    answer = await ana.post("/you/unlink", form)
    assert "a person of its own again" in answer.text
    assert TELEGRAM not in answer.text
    assert (await site.app.people.meet("telegram", TELEGRAM)).id != ana.person


# ---------------------------------------------------------------- strangers


async def test_the_owner_lets_a_stranger_in(site: Town, owner: Guest) -> None:
    """Who knocks stands on the owner's page, by a name that is only text, and is let in there."""
    pairing = site.app.pairing
    shown = await pairing.knock("discord", DISCORD, 'Ana "><script>')
    text = (await owner.get("/admin/people")).text
    assert "Who asks to come in" in text
    assert DISCORD in text
    assert "<script>" not in text.partition("Who asks to come in")[2].partition("</section>")[0]
    assert code_in(shown) not in text
    answer = await owner.post("/admin/knocks/admit", {"which": f"discord:{DISCORD}"})
    assert answer.status_code == 200
    assert "Let in. Mates answer them" in answer.text
    assert "Who asks to come in" not in answer.text
    assert await pairing.knock("discord", DISCORD, "Ana") is None


async def test_the_owner_types_the_code(site: Town, owner: Guest) -> None:
    """A code lets in whom it was shown; a wrong one is told on the page."""
    shown = await site.app.pairing.knock("telegram", TELEGRAM, "Bo")
    answer = await owner.post("/admin/knocks/admit", {"which": "2222-2222"})
    assert answer.status_code == 400
    assert "Nobody who waits to be let in has this code" in answer.text
    assert (await owner.post("/admin/knocks/admit", {"which": code_in(shown)})).status_code == 200
    assert await site.app.pairing.knock("telegram", TELEGRAM, "Bo") is None


async def test_the_owner_refuses(site: Town, owner: Guest) -> None:
    """A refused stranger is not listed and not answered; a linked self of a guest cannot be."""
    ana = await site.guest("ana", by=owner)
    await site.app.pairing.knock("telegram", TELEGRAM, "Bo")
    answer = await owner.post("/admin/knocks/refuse", {"which": f"telegram:{TELEGRAM}"})
    assert "Refused. Mates do not answer" in answer.text
    assert await site.app.pairing.knock("telegram", TELEGRAM, "Bo") == ""
    await site.app.linking.claim(await code_of(ana), "discord", DISCORD)
    answer = await owner.post("/admin/knocks/refuse", {"which": f"discord:{DISCORD}"})
    assert answer.status_code == 400
    assert "who is let in by another of theirs too" in answer.text
