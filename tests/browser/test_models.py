"""The page of models in a browser: a file that somebody has is sent, or refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.people import Person
from tests.models.hub import BODY
from tests.web.conftest import Town

pytestmark = pytest.mark.browser


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
