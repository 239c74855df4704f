"""Which model does what of a task: by the tables, by settings, by what somebody names."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from loopforge.core.work.first_tier import chosen_tier
from loopforge.core.work.work_roles import ModelPlace
from loopforge.core.work.work_vocabulary import TierChosen
from loopforge.settings import load_settings
from loopforge.work.model_choice import AllModels, ChosenModel, ModelChoice
from loopforge.work.work_settings import WorkSettings
from tests.work.conftest import says, working

TIERS = {1: ("swift",), 2: ("a", "b", "c")}


class Served:
    """Three models in tier 2, one in tier 1; nothing else can be asked."""

    def of_tier(self, tier: int) -> Sequence[str]:
        """Those of a tier."""
        return TIERS.get(tier, ())

    def known(self, name: str) -> bool:
        """Whether it is one of those."""
        return any(name in names for names in TIERS.values())


def choice(home: Path, **environ: str) -> ModelChoice:
    """As a home with these variables chooses."""
    settings = load_settings(home, environ=environ)
    return ModelChoice(Served(), lambda: settings.of("work", WorkSettings))


def test_the_planner_is_named_by_its_variable(tmp_path: Path) -> None:
    """PLANNER_MODEL_ID says who plans; one that cannot be asked leaves it to tier 1."""
    assert choice(tmp_path, PLANNER_MODEL_ID="b").planner() == ChosenModel(1, "b")
    assert choice(tmp_path, PLANNER_MODEL_ID="gone").planner() == ChosenModel(1)
    assert choice(tmp_path).planner() == ChosenModel(1)


def test_a_place_in_a_tier_is_counted_from_one(tmp_path: Path) -> None:
    """The third of tier 2 is its third model; a place that is not there is the tier's first."""
    made = choice(tmp_path)
    assert made.at(ModelPlace(2, 3)) == ChosenModel(2, "c")
    assert made.at(ModelPlace(2, 4)) == ChosenModel(2)
    assert made.at(ModelPlace(4, 1)) == ChosenModel(4)
    assert made.tiers() == (1, 2)


def test_somebody_names_a_tier_or_a_model(tmp_path: Path) -> None:
    """So work goes past the tables; a name that nobody bears leads nowhere."""
    made = choice(tmp_path)
    assert [made.past(to) for to in ("tier 3", "Tier-2", "swift")] == [
        ChosenModel(3), ChosenModel(2), ChosenModel(1, "swift"),
    ]  # fmt: skip
    assert made.past("nobody") is None
    assert made.past("tier-12") is None


def test_a_model_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Whoever names one in vain is told, and who is not the owner; a mate's name is no model's."""
    made = choice(tmp_path)
    for to in ("tier-99", "tier-12", "gpt-5.9"):
        assert made.unheeded(f"@{to} what is 2 + 2?", owner=True) == (
            f"@{to} is no model or tier (1 to 4) here: `loopforge model list` tells which are."
        )
    assert made.unheeded("@swift what is 2 + 2?", owner=True) == ""
    assert "Only the owner" in made.unheeded("@swift what is 2 + 2?", owner=False)
    assert made.unheeded("@maya what is 2 + 2?", owner=True) == ""
    assert made.unheeded("what is 2 + 2?", owner=False) == ""


# ---------------------------------------------------------------- test tier history


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
