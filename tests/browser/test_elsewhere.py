"""A page of another port of the same machine, in a real browser that is signed in here."""

from http import HTTPStatus

import httpx
from aiohttp import web
from playwright.async_api import expect

from tests.browser.people import Crowd, owner_of
from tests.listening import listening
from tests.web.conftest import Town

PAGE = """<!doctype html><title>elsewhere</title><form method=post action="{at}/rooms/commons/stop">
<input name=_csrf_token value="{token}"><button>Go</button></form>"""
TRIES = """async ([at, token]) => {
  const said = async (what) => { try { return await what(); } catch (e) { return "refused"; } };
  const form = () => new URLSearchParams({ _csrf_token: token, text: "not from here" });
  return {
    cookies: document.cookie,
    read: await said(async () => (await fetch(at + "/rooms/commons", { credentials: "include" })).text()),
    opaque: await said(async () => (await fetch(at + "/rooms/commons",
      { credentials: "include", mode: "no-cors" })).type),
    write: await said(async () => (await fetch(at + "/rooms/commons/lines", { method: "POST",
      credentials: "include", body: form() })).text()),
    blind: await said(async () => (await fetch(at + "/rooms/commons/lines", { method: "POST",
      credentials: "include", mode: "no-cors", body: form() })).type),
    frame: await new Promise((done) => {
      const made = document.createElement("iframe");
      made.onload = () => { try { done(made.contentDocument.body.innerText); }
        catch (e) { done("refused"); } };
      made.src = at + "/rooms/commons";
      document.body.append(made);
    }),
    stream: await new Promise((done) => {
      const made = new EventSource(at + "/rooms/commons/stream", { withCredentials: true });
      made.onerror = () => { made.close(); done("refused"); };
      made.addEventListener("hello", () => done("heard"));
    }),
  };
}"""


async def test_a_page_of_another_port_reads_and_writes_nothing(site: Town, crowd: Crowd) -> None:
    """It sees no cookie; its requests, forms, frames and streams are refused.

    Its server is sent the session's cookie by the browser, and cannot write with that either.
    """
    olu = await owner_of(site, crowd)
    sent: list[str] = []
    page = ""

    async def answer(request: web.Request) -> web.Response:
        sent.append(request.headers.get("cookie", ""))
        return web.Response(text=page, content_type="text/html")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with listening(app) as evil_site:
        olu.expects("")
        cookies = {each["name"]: each["value"] for each in await olu.context.cookies()}
        async with httpx.AsyncClient(base_url=site.address, cookies=cookies) as copied:
            shown = (await copied.get("/rooms/commons")).text
            token = shown.split('name="csrf-token" content="')[1].split('"')[0]
            page = PAGE.format(at=site.address, token=token)
            before = await site.events("commons")
            evil = await olu.context.new_page()
            await evil.goto(f"{evil_site}/")
            assert "loopforge=" in sent[0], "the browser hands the cookie to every port"
            found = await evil.evaluate(TRIES, [site.address, token])
            assert found["cookies"] == ""
            assert found["opaque"] in ("opaque", "refused")
            assert {found[one] for one in ("read", "write", "stream")} == {"refused"}
            assert "commons" not in found["frame"]
            await evil.get_by_role("button", name="Go").click()
            await expect(evil.get_by_text("came from elsewhere")).to_be_visible()
            for headers in ({}, {"origin": site.address, "sec-fetch-site": "same-origin"}):
                form = {"_csrf_token": token, "text": "by the cookie alone"}
                refused = await copied.post("/rooms/commons/lines", data=form, headers=headers)
                assert refused.status_code == HTTPStatus.FORBIDDEN
        assert await site.events("commons") == before
        await olu.says("from here")
        await expect(olu.page.locator("#lines")).to_contain_text("from here")
