"""Coming in, and one's own page, in a browser: one may type at once, and sees what came of it."""

from playwright.async_api import expect

from tests.browser.people import Crowd, Person
from tests.web.conftest import Town


async def test_the_name_of_the_owner_may_be_typed_at_once(site: Town, crowd: Crowd) -> None:
    """The one field of the page that the first link opens has the focus."""
    olu = await crowd.person("olu", site.address)
    await olu.page.goto(f"{site.address}/enter/{await site.app.accounts.links.offer()}")
    await expect(olu.page.get_by_label("What shall mates call you?")).to_be_focused()


async def test_what_a_form_of_ones_own_page_came_to_is_in_sight(ana: Person) -> None:
    """A link, a code and a refusal stand where the form is, however far down that was."""
    page = ana.page
    await page.set_viewport_size({"width": 1280, "height": 600})
    await ana.opens("/you")
    await ana.clicks("Sign in on another device")
    await expect(page.get_by_label("The link")).to_be_in_viewport()
    await ana.clicks("Make a code to type there")
    await expect(page.get_by_text("It is good once")).to_be_in_viewport()
    ana.expects("status of 400")
    await page.get_by_label("The code").fill("2222-2222")
    await ana.clicks("Link it to me")
    await expect(page.get_by_text("This code links nothing")).to_be_in_viewport()
