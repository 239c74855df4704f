"""Budgets on the owner's page, on the page of a room, and for Prometheus."""

import dataclasses
import re

from loopforge.budgets.spending_store import SpendingAmounts
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.limits.money_amounts import DOLLAR
from tests.web.conftest import Guest, Town, words


async def put(owner: Guest, whose: str, amount: str, **more: str) -> str:
    """The owner sets a budget; the page after it, as words."""
    form = {"whose": whose, "amount": amount, "unit": "dollars", "period": "day", **more}
    return words(await owner.post("/admin/budgets", form))


async def test_the_owner_sets_budgets_and_takes_them_away(site: Town, owner: Guest) -> None:
    """They stand with how much of them is gone; what is wrong is said, and what was typed stays."""
    shown = words(await owner.get("/admin/budgets"))
    assert "each place $5.00 a day counted for each the settings" in shown
    charge = Charge(stream="room:kitchen", mate="maya", tool="clock")
    held = await site.app.budgets.reserve(charge, SpendingAmounts())
    await site.app.budgets.settle(
        held, SpendingAmounts(picos=3 * DOLLAR, calls=2, uses=7, unpriced=1)
    )
    shown = await put(owner, "home", "4")
    assert "home $4.00 a day $3.00 you" in shown
    assert "mate maya 2 7 1 $3.00" in shown
    assert "tool clock 2 7 1 $3.00" in shown
    wrong = await owner.post("/admin/budgets", {"whose": "moon", "amount": "5"})
    assert wrong.status_code == 400
    assert "'moon' is none of home" in words(wrong)
    assert 'value="moon"' in wrong.text
    assert "There is no mate 'nobody' here; there are" in await put(owner, "mate:nobody", "1")
    assert "There is no room 'cellar' here." in await put(owner, "room:cellar", "1")
    gone = {"act": "remove", "whose": "home", "unit": "dollars", "period": "day"}
    assert "$4.00 a day" not in words(await owner.post("/admin/budgets", gone))


async def test_a_person_is_meant_by_name(site: Town, owner: Guest) -> None:
    """Where one alone is called so; nobody is guessed."""
    name = next(str(one.name) for one in await site.app.people.everybody())
    shown = await put(owner, f"person:{name}", "2")
    assert f"person {name} $2.00 a day" in shown
    assert "Nobody is called 'nobody' here." in await put(owner, "person:nobody", "2")


async def test_a_room_has_budgets_of_its_own_among_its_settings(site: Town, owner: Guest) -> None:
    """They are set there in words, and told there."""
    room = await site.room(owner, "Ovens")
    form = {"act": "budget", "budget": "30 calls day"}
    await owner.post(f"/rooms/{room}/settings", form)
    told = words(await owner.post(f"/rooms/{room}/settings", {"act": "budget", "budget": ""}))
    assert "30 questions to models a day for this room: 0 questions to models used." in told


async def test_prometheus_reads_numbers_with_the_token_alone(site: Town, owner: Guest) -> None:
    """Without the setting there is no such page; a wrong token opens nothing."""
    assert (await owner.get("/metrics")).status_code == 404
    app = site.app
    app.live.now = dataclasses.replace(app.live.now, metrics_token="sésame")
    assert (await owner.get("/metrics")).status_code == 401
    await put(owner, "home", "4")
    held = await app.budgets.reserve(Charge(tool='a "quoted" one'), SpendingAmounts())
    await app.budgets.settle(held, SpendingAmounts(picos=DOLLAR, uses=7))
    answer = await owner.get("/metrics", headers={"authorization": "Bearer sésame".encode()})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    rows = answer.text.splitlines()
    labels = 'meter="home",unit="dollars",period="day",by="owner"'
    assert f"loopforge_budget_amount{{{labels}}} 4" in rows
    assert f"loopforge_budget_left{{{labels}}} 3" in rows
    assert 'loopforge_tool_uses_total{tool="a \\"quoted\\" one"} 7' in rows
    sample = re.compile(r'[a-z_]+(\{([a-z]+="(\\.|[^"\\])*",?)+\})? [0-9.]+')
    assert all(row.startswith(("# HELP ", "# TYPE ")) or sample.fullmatch(row) for row in rows)
