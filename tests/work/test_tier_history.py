"""Tasks that begin with a tier that was learned: on record, by what people approved, off as it comes."""

from pathlib import Path

import pytest

from loopforge.core.work.first_tier import chosen_tier
from loopforge.core.work.work_vocabulary import TierChosen
from loopforge.work.model_choice import AllModels
from tests.work.conftest import says, working

TASK = "write a haiku about rust, please, and a second one about snow"


class ThreeTiers(AllModels):
    """A home whose tiers 1 to 3 have a model each."""

    def of_tier(self, tier: int) -> tuple[str, ...]:
        """One of each."""
        return (f"model-{tier}",) if tier < 4 else ()


async def test_what_people_approved_says_where_the_next_begins(
    place: Path, ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three were approved by the tables' tier: the fourth begins there, and its record says why."""
    monkeypatch.setattr("loopforge.work.model_choice.AllModels", ThreeTiers)
    (place / "loopforge.toml").write_text(f'database_url = "{ledger_url}"\n')
    environ = {"LOOPFORGE_WORK_EXPLORE": "0.02"}
    async with working(place, lambda _: says("done", "Done."), environ) as shop:
        for _ in range(3):
            await shop.tasks.approve(await shop.give(TASK), "ana")
        assert await shop.bodies(await shop.give(TASK), TierChosen) == []
    environ |= {"LOOPFORGE_WORK_FIRST_TIER": "learned"}
    async with working(place, lambda _: says("done", "Done."), environ) as shop:
        id = await shop.give(TASK)
        (chosen,) = await shop.bodies(id, TierChosen)
        state = await shop.state(id)
        assert chosen_tier(chosen.records, chosen.tiers, id, chosen.explore) == chosen
        assert state.tier == chosen.tier
        assert [(one.tasks, one.approved) for one in chosen.records] == [(3, 3)]
        if chosen.by == "learned":  # one of fifty is tried elsewhere, by its id
            assert state.classified is not None
            assert chosen.tier == state.classified.tier
