"""Bringing people: a link that a friend on the network opens, and what they see as they come."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from loopforge.runtime.installation.network_addresses import own_addresses
from tests.browser.people import Crowd, owner_of
from tests.browser.test_shape import RULES, found
from tests.web.conftest import PASSWORD, town

WIDTHS = (1280, 400, 320)
COPIED = """() => new MutationObserver((seen) => {
  window.copied ||= seen.some((each) => each.target.textContent === 'Copied');
}).observe(document.body, {childList: true, subtree: true})"""
"""Keeps that the button said so, which it does for two seconds."""
PLAIN = "Cross-Origin-Opener-Policy header has been ignored"
"""What a browser says of every page that comes over plain http from another machine."""


async def test_a_friend_on_the_network_comes_in_and_finds_the_way_out(
    tmp_path: Path, crowd: Crowd
) -> None:
    """The link is copied, drawn and told of; whoever opens it sees where they are, and can leave."""
    if not own_addresses():
        pytest.skip("this machine is on no network")
    async with town(tmp_path, environ={"LOOPFORGE_WEB_HOST": "0.0.0.0"}) as site, crowd:
        olu = await owner_of(site, crowd)
        olu.expects(PLAIN)
        room = await olu.makes_room("Ovens", "maya")
        await olu.opens("/admin/invites")
        await olu.page.get_by_label("Into a room of yours").select_option(room)
        await olu.clicks("Make the link")
        link = await olu.page.get_by_label("The link", exact=True).input_value()
        await expect(olu.page.get_by_role("img", name="The link as a QR code")).to_be_visible()
        await olu.page.evaluate(COPIED)
        await olu.clicks("Copy")
        await olu.page.wait_for_function("() => window.copied")
        for width in WIDTHS:
            await olu.page.set_viewport_size({"width": width, "height": 800})
            await olu.page.emulate_media(color_scheme="dark" if width == 400 else "light")
            assert not await olu.sideways()
            assert await found(olu, RULES) == []
        ben = await crowd.person("ben", site.address, viewport={"width": 320, "height": 640})
        ben.expects(PLAIN)
        await ben.page.goto(link)
        await expect(ben.page.get_by_text("in olu’s home")).to_be_visible()
        assert not await ben.sideways()
        assert await found(ben, RULES) == []
        await ben.page.get_by_label("Your name here").fill("ben")
        await ben.page.get_by_label("A password").fill(PASSWORD)
        await ben.clicks("Come in")
        await ben.is_in()
        where = ben.page.get_by_role("complementary", name="Where you are")
        await expect(where).to_contain_text("2 people (olu, ben) and the mate Maya")
        for width in WIDTHS:
            await ben.page.set_viewport_size({"width": width, "height": 800})
            await expect(ben.page.locator("#text")).to_be_in_viewport(ratio=0.9)
            assert not await ben.sideways()
            assert await found(ben, RULES) == []
        await where.get_by_role("link", name="Leave").click()
        await ben.clicks("Leave this room")
        await expect(ben.page.get_by_role("heading", name="No rooms yet")).to_be_visible()
        await ben.opens("/")


async def test_what_guests_may_use_is_set_by_one_form(tmp_path: Path, crowd: Crowd) -> None:
    """The owner unticks a mate and saves; the page says so and shows what holds."""
    async with town(tmp_path) as site, crowd:
        olu = await owner_of(site, crowd)
        await olu.opens("/admin/invites#guests")
        await olu.page.get_by_label("Merlin").uncheck()
        await olu.page.get_by_label("Who may invite others").select_option("only you")
        await olu.clicks("Save")
        await expect(olu.page.get_by_text("Saved. It holds from now on.")).to_be_visible()
        await expect(olu.page.get_by_label("Merlin")).not_to_be_checked()
        await expect(olu.page.get_by_label("Maya")).to_be_checked()
        for width in WIDTHS:
            await olu.page.set_viewport_size({"width": width, "height": 800})
            assert not await olu.sideways()
            assert await found(olu, RULES) == []
