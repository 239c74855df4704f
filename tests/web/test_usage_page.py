"""Usage on the owner's page: the figures, the bars, and the empty state."""

import re
from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from loopforge.budgets.model_usage import UsageRow
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Answered, Usage
from loopforge.web.admin.usage_page import LONGEST, TALL, columns
from tests.web.conftest import Guest, Town

TODAY = date(2026, 11, 21)


@given(st.dictionaries(st.integers(0, 500), st.integers(0, 10**15)), st.integers(1, 500))
def test_each_day_has_its_column(used: dict[int, int], days: int) -> None:
    """As many columns as days, at most a year or so, none taller than the chart, none negative."""
    first = TODAY - timedelta(days=days - 1)
    rows = [
        UsageRow(day=(TODAY - timedelta(days=ago)).isoformat(), read=read)
        for ago, read in sorted(used.items())
        if ago < days
    ]
    made = columns(rows, first, TODAY)
    assert len(made) == min(days, LONGEST)
    assert made[-1].row.day == TODAY.isoformat()
    assert [one.left for one in made] == [10 * nth for nth in range(len(made))]
    assert all((one.height > 0) == (one.row.tokens > 0) for one in made)
    assert max(one.height for one in made) <= TALL


async def test_nothing_used_teaches(owner: Guest) -> None:
    """Without any call there is no table, but a sentence that says what will stand here."""
    page = (await owner.get("/admin/usage?days=7")).text
    assert "No model was asked in this time" in page
    assert "<table" not in page


async def test_sums_stand_by_day_mate_model_and_room(site: Town, owner: Guest) -> None:
    """What the ledger holds is on the page, with the cached share and the price, if there is one."""
    room = await site.room(owner, "Ovens")

    def answered(model: str, cost: str) -> Answered:
        use = Usage(read=3000, cached=1500, written=45, cost=cost)
        return Answered(
            turn="t", nth=1, outcome="answered", text=Words("x"), model=model, usage=use
        )

    facts = [
        site.app.stamp.fact(answered("big", "1.25"), actor="mate:maya"),
        site.app.stamp.fact(answered("own", ""), actor="mate:zuzu"),
    ]
    await site.app.ledger.append(f"room:{room}", facts)
    page = (await owner.get("/admin/usage")).text
    rows = re.findall(r'<th scope="row">([^<]+)<svg.*?</th>(.*?)</tr>', page, re.DOTALL)
    found = {name: re.findall(r">([^<>\n]+)</td>", cells) for name, cells in rows}
    assert found["maya"] == ["3,045", "50%", "1", "0", "$1.25"]
    assert found["own"] == ["3,045", "50%", "1", "0", "no price known"]
    assert found["Ovens"] == ["6,090", "50%", "2", "0", "$1.25, 1 unpriced"]
    assert site.app.stamp.clock.now().date().isoformat() in found
    assert (await owner.get("/admin/usage?days=-1")).status_code == 400
