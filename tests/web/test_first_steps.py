"""The first minute in the browser: greeted, three lines to click, and three steps to better."""

from pathlib import Path

import pytest

from loopforge.home import shipped_mates
from loopforge.models.embedded import embedded_install
from loopforge.models_opening import open_models
from loopforge.runtime.system_clock import SystemClock, SystemDice
from loopforge.settings import load_settings
from tests.web.conftest import Guest, Town, town, words


async def test_the_owner_is_greeted_and_has_lines_to_click(tmp_path: Path) -> None:
    """By the mates that come along; the lines are gone once somebody spoke."""
    (tmp_path / "mates").mkdir()
    for name, text in shipped_mates().items():
        (tmp_path / "mates" / name).write_text(text)
    async with town(tmp_path) as there:
        ana = await there.owner("Ana")
        await there.rest("commons")
        page = await ana.get("/rooms/commons")
        for greeting in ("Hello, Ana! I am Maya.", "Ah, Ana! We have met", "You are Ana? Sniff."):
            assert greeting in page.text
        assert 'data-say="@maya Who are you?"' in page.text
        assert page.text.count("data-say=") == 3
        await ana.says("commons", "@merlin I had a bad day.")
        assert "data-say=" not in (await ana.get("/rooms/commons")).text


async def test_the_notice_leads_to_a_better_model(site: Town, owner: Guest) -> None:
    """The owner has a button; the page says what a model is, and has the forms."""
    page = words(await owner.get("/admin/first"))
    for step in ("1. A better model", "2. You Mates call you olu", "3. Invite somebody"):
        assert step in page
    assert "You are alone here." in page
    ana = await site.guest("ana", by=owner)
    assert (await ana.get("/admin/first")).status_code == 404


async def test_the_zone_is_set_there(site: Town, owner: Guest) -> None:
    """It is saved, if not in force beside a variable; a zone that is none is refused."""
    page = words(await owner.post("/admin/first/zone", {"zone": "Asia/Tokyo"}))
    assert "Times are told as in UTC; LOOPFORGE_TIMEZONE comes before what is saved here." in page
    assert load_settings(site.path, environ={}).timezone == "Asia/Tokyo"
    refused = await owner.post("/admin/first/zone", {"zone": "Middle/Earth"})
    assert refused.status_code == 400


async def test_what_is_wrong_with_a_key_is_said_there(owner: Guest) -> None:
    """Whoever came from the first steps stays among them."""
    answer = await owner.post(
        "/admin/models/keys", {"back": "/admin/first", "service": "openai", "key": ""}
    )
    assert answer.status_code == 400
    assert "Paste the key that OpenAI gave you." in words(answer)
    assert "First steps" in words(answer)


async def test_a_small_model_that_is_not_there_is_not_promised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installed without it, a home says that no mate can answer yet, and what to do."""
    monkeypatch.setattr(embedded_install, "PACKAGE", "a_package_that_nobody_has")
    models = open_models(load_settings(tmp_path, environ={}), SystemClock(), SystemDice())
    async with town(tmp_path, models=models) as there:
        assert "Run `loopforge up --model`" in there.app.rooms.notice
        page = words(await (await there.owner()).get("/rooms/commons"))
        assert "No mate can answer yet: the small model that would is not installed." in page
    await models.close()
