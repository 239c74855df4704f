"""The page of models in a browser: a file that somebody has is sent, stopped, or refused in a sentence."""

import os
import re
from pathlib import Path

from playwright.async_api import expect

from tests.browser.people import Person
from tests.models.hub import BODY
from tests.web.conftest import Town


async def test_a_file_is_sent_from_the_device_in_front(
    site: Town, ana: Person, tmp_path: Path
) -> None:
    """It is on the shelf, byte for byte; sent again it is refused, and a film is not even sent."""
    ana.expects("status of 400")
    mine, film = tmp_path / "mine.gguf", tmp_path / "film.gguf"
    mine.write_bytes(BODY * 20)
    film.write_bytes(b"ftyp" * 1000)
    await ana.opens("/admin/models")
    file, said = ana.page.locator("#file-sent"), ana.page.locator("[data-upload] [role=status]")
    await file.set_input_files(film)
    await ana.clicks("Send it")
    await expect(said).to_contain_text("no model in llama.cpp’s format")
    await file.set_input_files(mine)
    await ana.clicks("Send it")
    await expect(ana.page.get_by_text("mine is here.")).to_be_visible()
    assert (site.path / "data/models/mine.gguf").read_bytes() == BODY * 20
    await file.set_input_files(mine)
    await ana.clicks("Send it")
    await expect(said).to_contain_text("mine is here already")
    await expect(ana.page.get_by_role("button", name="Send it")).to_be_enabled()


async def test_sending_is_seen_and_stopped(site: Town, ana: Person, tmp_path: Path) -> None:
    """How far it has come is told; of what is stopped, or breaks off, nothing is kept."""
    ana.expects("net::ERR_INTERNET_DISCONNECTED")
    mine, shelf = tmp_path / "mine.gguf", site.path / "data/models"
    mine.write_bytes(BODY)
    os.truncate(mine, 40_000_000)
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 1_000_000}
    line = await ana.page.context.new_cdp_session(ana.page)
    await ana.opens("/admin/models")
    file, said = ana.page.locator("#file-sent"), ana.page.locator("[data-upload] [role=status]")
    stop = ana.page.get_by_role("button", name="Stop sending")
    await file.set_input_files(mine)
    await line.send("Network.emulateNetworkConditions", slow)
    await ana.clicks("Send it")
    await expect(said).to_have_text(re.compile(r"^[1-9]\d? of 40 MB were sent"))
    await expect(ana.page.get_by_label("How much of it was sent")).to_be_visible()
    await stop.click()
    await expect(said).to_contain_text("It was stopped")
    await expect(stop).to_be_hidden()
    await line.detach()
    await ana.page.context.set_offline(True)
    await ana.clicks("Send it")
    await expect(said).to_contain_text("It broke off")
    await ana.page.context.set_offline(False)
    await ana.opens("/admin/models")
    assert list(shelf.iterdir()) == []
    await file.set_input_files(mine)
    await ana.clicks("Send it")
    await expect(ana.page.get_by_text("mine is here.")).to_be_visible()
    assert [path.name for path in shelf.iterdir()] == ["mine.gguf"]
