"""Taking along by its buttons: what the browser saves, on a desk and on a phone."""

from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.async_api import expect

from tests.browser.people import Crowd, Person, guest_of, owner_of
from tests.web.conftest import Town


async def saved(ana: Person, button: str, folder: Path) -> Path:
    """The file that a click on a button saves, under the name that the browser gives it."""
    async with ana.page.expect_download() as coming:
        await ana.page.get_by_role("link", name=button).click()
    download = await coming.value
    path = folder / download.suggested_filename
    await download.save_as(path)
    return path


@pytest.mark.patient
async def test_each_is_taken_along_by_a_button(site: Town, crowd: Crowd, tmp_path: Path) -> None:
    """A guest saves the room as they see it, a mate's file, and everything about themselves."""
    ana = await owner_of(site, crowd)
    room = await ana.makes_room("Tea")
    await ana.says("before ben came")
    await ana.sees("before ben came")
    ben = await guest_of(room, ana, crowd)
    await ben.says("hello **there** <b>")
    await ben.sees("hello there <b>")
    for turn in (ben.turns_desk, ben.turns_phone):
        await turn()
        for page in (f"/rooms/{room}/settings", "/mates/maya", "/you"):
            await ben.opens(page)
            assert await ben.sideways() == []
    await ben.opens(f"/rooms/{room}/settings")
    text = (await saved(ben, "As text (Markdown)", tmp_path)).read_text("utf-8")
    assert " · person · ben\n\n> hello **there** &lt;b>\n" in text
    assert "before ben came" not in text
    with ZipFile(await saved(ben, "Both, with its pictures and files", tmp_path)) as archive:
        assert sorted(archive.namelist()) == [f"{room}.json", f"{room}.md"]
    await ben.opens("/mates/maya")
    file = await saved(ben, "Download its file", tmp_path)
    assert file.name == "maya.md"
    assert file.read_bytes() == site.app.roster.path("maya").read_bytes()
    await ben.opens("/you")
    path = await saved(ben, "Download it", tmp_path)
    assert path.name == "me.zip"
    with ZipFile(path) as archive:
        assert "> hello **there** &lt;b>" in archive.read("me.md").decode()


async def test_a_mate_comes_in_by_its_file(site: Town, crowd: Crowd, tmp_path: Path) -> None:
    """The owner chooses a file, sees it, with what is wrong with it, and saves it."""
    ana = await owner_of(site, crowd)
    for text, told in (
        ("just words\n", "in the way"),
        ("---\nname: Otto\n---\nYou are Otto.\n", ""),
    ):
        (tmp_path / "otto.md").write_text(text)
        await ana.opens("/mates/new")
        await ana.page.get_by_label("Or bring one in from its file").set_input_files(
            tmp_path / "otto.md"
        )
        await ana.clicks("Show it")
        await expect(ana.page.locator("#text")).to_have_value(text)
        await expect(ana.page.locator("#check")).to_contain_text(told or "This is a mate.")
    await ana.clicks("Save")
    await expect(ana.page.locator("h1")).to_contain_text("Otto")
    assert site.app.roster.path("otto").read_text() == text
