"""Settings changed in the browser: at once, on record, undone; and who may not."""

import re
import stat
from pathlib import Path

from loopforge.runtime.ports import ToolCall
from loopforge.settings import load_settings
from tests.web.conftest import Guest, Town, town, words


async def test_a_change_holds_at_once_and_after_a_start(site: Town, owner: Guest) -> None:
    """The shortest line there may be; the next one to open the home finds it so."""
    page = words(await owner.post("/admin/settings/line_limit", {"value": "20"}))
    assert "line_limit 20 from here; default: 8000" in page
    assert "olu: line_limit nothing saved → 20 Undo" in page
    refused = await owner.post(
        "/rooms/commons/lines", {"text": "more than twenty letters"}, files={"none": ("", b"")}
    )
    assert "a line may have 20" in words(refused)
    settings = site.app.settings
    again = load_settings(settings.home, environ={})
    assert again.line_limit == 20
    assert again.sources["line_limit"] == "data/settings.json"
    saved = settings.data / "settings.json"
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600


async def test_what_people_look_for_stands_first(site: Town, owner: Guest) -> None:
    """In their words, with how it stands, and each leads to its setting; so do all groups."""
    answer = await owner.get("/admin/settings")
    assert "Your time zone : UTC" in words(answer)
    led = set(re.findall(r'<a href="#([^"]+)"', answer.text))
    assert {"timezone", "web_host", "backup_to", "group-1"} <= led
    assert led <= set(re.findall(r'id="([^"]+)"', answer.text))


async def test_what_is_code_in_a_sentence_is_shown_as_code(owner: Guest) -> None:
    """Helps of settings and summaries of tools have no backtick on the owner's pages."""
    for path, code in (
        ("/admin/settings", "loopforge up"),
        ("/admin/tools", "refresh"),
        ("/mates/maya", "refresh"),
    ):
        page = (await owner.get(path)).text
        assert f"<code>{code}</code>" in page
        assert "`" not in re.sub(
            r"<pre.*?</pre>|<textarea.*?</textarea>", "", page, flags=re.DOTALL
        )


async def test_what_cannot_be_is_said_beside_it(site: Town, owner: Guest) -> None:
    """What was typed stands there still, and nothing has changed."""
    answer = await owner.post("/admin/settings/line_limit", {"value": "<many>"})
    assert answer.status_code == 400
    assert "it must be a whole number from 1 to 1,000,000" in words(answer)
    assert 'value="&lt;many&gt;"' in answer.text
    assert site.app.live.now.line_limit == 8000
    assert not (site.app.settings.data / "settings.json").exists()
    assert (await owner.post("/admin/settings/speed", {"value": "1"})).status_code == 400


async def test_a_change_is_undone_and_done_again(site: Town, owner: Guest) -> None:
    """Undo brings back what was saved before; undoing that, what was undone."""
    for value in ("20", "30"):
        await owner.post("/admin/settings/line_limit", {"value": value})
    await owner.post("/admin/settings/line_limit/undo")
    assert site.app.live.now.line_limit == 20
    await owner.post("/admin/settings/line_limit/undo")
    assert site.app.live.now.line_limit == 30
    await owner.post("/admin/settings/line_limit", {"value": ""})
    assert site.app.live.now.line_limit == 8000
    await owner.post("/admin/settings/line_limit/undo")
    assert site.app.live.now.line_limit == 30
    nothing = await owner.post("/admin/settings/idle_minutes/undo")
    assert "there is nothing to undo" in words(nothing)


async def test_some_hold_from_the_next_start_on(site: Town, owner: Guest) -> None:
    """How many lines are shown is as it was, and the page says what it will be."""
    page = words(await owner.post("/admin/settings/history_lines", {"value": "70"}))
    assert site.app.live.now.history_lines == 50
    assert "From the next start on: history_lines" in page
    assert "; 70 from the next start on" in page


async def test_what_no_home_could_start_with_is_refused(site: Town, owner: Guest) -> None:
    """A rule that is none, a name no room can have: the next start would have failed on them."""
    for name, value in (("backup_keep", "for ever"), ("room", "The Commons")):
        answer = await owner.post(f"/admin/settings/{name}", {"value": value})
        assert answer.status_code == 400
        assert f"`{name}` (data/settings.json) is '{value}'; it must be" in words(answer)
    assert not (site.app.settings.data / "settings.json").exists()


async def test_mates_are_told_the_time_of_another_zone(tmp_path: Path) -> None:
    """The clock that mates read goes by the zone that was just chosen."""
    async with town(tmp_path, environ={"LOOPFORGE_TIMEZONE": ""}) as there:
        olu = await there.owner()
        for zone in ("Asia/Tokyo", "America/Lima"):
            await olu.post("/admin/settings/timezone", {"value": zone})
            assert zone in (await there.app.tools.call("clock", ToolCall(arguments={})))[1].text


async def test_a_variable_comes_before(tmp_path: Path) -> None:
    """Where the environment says what a setting is, the page says so and has no form for it."""
    async with town(tmp_path, environ={"LOOPFORGE_LINE_LIMIT": "50"}) as there:
        olu = await there.owner()
        page = await olu.get("/admin/settings")
        told = "The variable LOOPFORGE_LINE_LIMIT comes before what is saved here."
        assert told in words(page)
        assert 'action="/admin/settings/line_limit"' not in page.text
        await olu.post("/admin/settings/line_limit", {"value": "20"})
        assert there.app.live.now.line_limit == 50


async def test_what_may_hold_a_password_has_no_form(owner: Guest) -> None:
    """Nor can it be sent."""
    page = (await owner.get("/admin/settings")).text
    assert 'action="/admin/settings/database_url"' not in page
    answer = await owner.post("/admin/settings/database_url", {"value": "sqlite:///x.db"})
    assert "may hold a password" in words(answer)


async def test_old_addresses_lead_on(owner: Guest) -> None:
    """Who kept an address of before finds the page."""
    assert (await owner.get("/house/people")).url.path == "/admin/people"
    assert (await owner.get("/house")).url.path == "/admin"


async def test_guests_change_nothing(site: Town, owner: Guest) -> None:
    """For somebody who is no owner there is no such page."""
    ana = await site.guest("ana", by=owner)
    for path in ("/admin/settings/line_limit", "/admin/settings/line_limit/undo"):
        assert (await ana.post(path, {"value": "20"})).status_code == 404
    assert site.app.live.now.line_limit == 8000
