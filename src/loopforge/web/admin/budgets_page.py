"""Budgets as a page: each with how much of it is gone, and a form to set or take one away.

Only what the owner sets is set here; budgets of the settings are changed among the settings. What
each room, person and tool spent this month stands below, rooms called as the owner may know them.
"""

from typing import Any

from litestar import Response, get, post
from litestar.response import Redirect, Template
from msgspec import Struct

from loopforge.budgets.spending_store import SpendingAmounts
from loopforge.chat.room.room_store import PREFIX
from loopforge.core.limits.budget_limits import (
    Budget,
    LimitStanding,
    Scope,
    check_subject,
    format_amount,
    read_budget,
    read_scope,
)
from loopforge.core.limits.money_amounts import format_dollars
from loopforge.errors import InputError, Unknown
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.account.account_pages import name_of
from loopforge.web.admin.hidden_rooms import HiddenRooms, veil_of
from loopforge.web.server.page_context import Fields, PageContext, render_page

FULL = 100
"""Units of a full bar."""
SHOWN = ("room", "person", "mate", "surface", "tool")
"""Meters that are listed, in this order."""
EACH: dict[Scope, str] = {"places": "each place", "people": "each person", "guests": "each guest"}
LONGEST = 40
"""Rows of each that are listed."""


class BudgetRow(Struct, frozen=True, kw_only=True):
    """A budget as it is listed: whose, how much, how much is gone (a share, 0 to 1), by whom."""

    whose: str
    said: str
    used: str
    width: float
    by: str
    budget: Budget


class MeterRow(Struct, frozen=True, kw_only=True):
    """What one of a kind spent in the month."""

    kind: str
    name: str
    cost: str
    amounts: SpendingAmounts


@get("/admin/budgets")
async def budgets(site: PageContext, owner: Visitor) -> Template:
    """Every budget, and what was spent this month."""
    return await _budgets(site, owner)


async def _budgets(site: PageContext, owner: Visitor, **more: Any) -> Template:
    veil = await veil_of(site.ledger, owner.person)
    return render_page(
        "admin-budgets.html",
        owner,
        here="admin",
        section="budgets",
        rows=[_row(site, one, veil) for one in await site.budgets.listing()],
        spent=await _spent(site, veil),
        full=FULL,
        surfaces=tuple(site.surfaces),
        **{"error": "", "whose": "", "typed": "", **more},
    )


def _row(site: PageContext, one: LimitStanding, veil: HiddenRooms) -> BudgetRow:
    budget = one.limit.budget
    by = "the settings" if budget.default else "keepers of the room" if budget.keepers else "you"
    whose = EACH.get(budget.scope, budget.scope)
    if budget.subject:
        whose = f"{whose} {_called(site, budget.scope, budget.subject, veil)}"
    return BudgetRow(
        whose=whose,
        said=f"{format_amount(budget.unit, budget.amount)} a {budget.period}",
        used=format_amount(budget.unit, one.gone) if one.limit.meter else "",
        width=round(min(one.share, 1.0) * FULL, 1) if one.limit.meter else 0.0,
        by=by,
        budget=budget,
    )


def _called(site: PageContext, scope: str, subject: str, veil: HiddenRooms) -> str:
    if scope == "room":
        return veil.room(PREFIX + subject)
    return name_of(site, subject) if scope == "person" else subject


async def _spent(site: PageContext, veil: HiddenRooms) -> list[MeterRow]:
    """What each meter spent since the month began, the dearest of each kind first."""
    rules = site.budgets.book.rules
    since = rules.day(site.clock.now()).replace(day=1)
    sums: dict[str, list[int]] = {}
    for meter, _, amounts in await site.budgets.spent_since(since):
        known = sums.setdefault(meter, [0] * len(amounts))
        sums[meter] = [old + new for old, new in zip(known, amounts, strict=True)]
    found = []
    for kind in SHOWN:
        mine = [(m, SpendingAmounts(*s)) for m, s in sums.items() if m.startswith(f"{kind}:")]
        for meter, amounts in sorted(mine, key=lambda each: each[1], reverse=True)[:LONGEST]:
            name = _called(site, kind, meter.partition(":")[2], veil)
            row = MeterRow(
                kind=kind, name=name, cost=format_dollars(amounts.picos), amounts=amounts
            )
            found.append(row)
    return found


@post("/admin/budgets")
async def set_one(site: PageContext, owner: Visitor, data: Fields) -> Response[Any] | Template:
    """Set a budget, or with `act` "remove" take one away."""
    whose, amount = data.get("whose", "").strip(), data.get("amount", "").strip()
    words = [amount or "0", data.get("unit", ""), data.get("period", "")]
    actor = f"person:{owner.person}"
    try:
        scope, subject = await _named(site, whose)
        keepers = data.get("keepers", "") == "yes"
        budget = read_budget(words, scope, subject, keepers=keepers)
        if data.get("act") == "remove":
            await site.budgets.book.remove(budget, actor)
        else:
            there = site.front.rooms
            rooms = {*await there.names(), site.live.now.room}
            check_subject(scope, subject, there.mates, rooms, site.surfaces)
            await site.budgets.book.put(budget, actor)
    except InputError as error:
        more = {"error": str(error), "whose": whose, "typed": amount, "status": 400}
        return await _budgets(site, owner, **more)
    return Redirect("/admin/budgets", status_code=303)


async def _named(site: PageContext, whose: str) -> tuple[Scope, str]:
    """Whose a budget is; people by their ids, or by names that one alone has. Raises InputError."""
    scope, subject = read_scope(whose)
    if scope != "person" or site.people.person(site.people.same(subject)) is not None:
        return scope, subject
    found = await site.people.named(subject)
    if len(found) != 1:
        raise Unknown(f"{'Several people are' if found else 'Nobody is'} called {subject!r} here.")
    return scope, found[0].id
