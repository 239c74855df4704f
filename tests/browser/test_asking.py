"""What mates want to do, in a room's page: a card to answer, and what was done under the line."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from loopforge.core.room_vocabulary import RightsSet
from loopforge.runtime.ports import Tool, ToolCall
from tests.asking_mate import MAYA, asking, at_length, with_post
from tests.browser.people import Crowd, Person, guest_of, owner_of
from tests.rooms.conftest import write_mates
from tests.web.conftest import town


def card(person: Person, number: int) -> Locator:
    """The card of a question."""
    return person.page.locator(f"[data-asks='{number}']")


@pytest.mark.patient
async def test_a_tool_is_seen_at_work(tmp_path: Path, crowd: Crowd) -> None:
    """Every open page shows how far it is, after its turn too, until it is over."""
    write_mates(tmp_path, (), maya=MAYA)
    tells, over = asyncio.Queue[tuple[str, float | None]](), asyncio.Event()

    async def knit(call: ToolCall) -> str:
        while not over.is_set():
            call.tell(*await tells.get())
        return "A sock."

    async with town(tmp_path, asking) as site, crowd:
        post = Tool(name="post", summary="Knits.", harmless=True, idempotent=True, patience=1)
        site.app.tools.add(post, knit)
        ana = await owner_of(site, crowd, "ana")
        room = await ana.makes_room("Socks", "maya")
        ben = await guest_of(room, ana, crowd)
        await ana.says("maya, send it to Cleo")
        for each in (ana, ben):
            sign = each.page.locator("#signs .thinks")
            await expect(sign).to_have_text("Maya uses post")
            await expect(sign.locator("progress")).to_have_count(0)
        tells.put_nowait(("row <b>3</b> of 10", 0.3))
        for each in (ana, ben):
            sign = each.page.locator("#signs .thinks")
            await expect(sign).to_have_text("Maya uses post: row <b>3</b> of 10")
            assert await sign.locator("progress").evaluate("bar => bar.value") == 0.3
        await ana.shot(tmp_path / "at-work.png")
        await expect(ana.page.locator("#lines > .said.mate-maya")).to_have_count(1)
        await expect(ana.page.locator("#signs .thinks")).to_have_count(1)
        over.set()
        tells.put_nowait(("", None))
        for each in (ana, ben):
            await expect(each.page.locator("#signs .thinks")).to_have_count(0)


async def test_a_question_is_a_card_that_all_see_settled(tmp_path: Path, crowd: Crowd) -> None:
    """A guest's yes is refused in words; the owner's counts, and every open page says whose it was."""
    write_mates(tmp_path, (), maya=MAYA)
    async with town(tmp_path, asking) as site, crowd:
        posted = with_post(site.app)
        ana = await owner_of(site, crowd, "ana")
        room = await ana.makes_room("Letters", "maya")
        ben = await guest_of(room, ana, crowd)
        who = next(
            p for p, name in (await site.app.front.rooms.scene(room)).people if name == "ben"
        )
        await site.app.rooms.add(room, "", RightsSet(who=who, rights=("talk",)))
        ben.expects("status of 400")
        await ana.says("maya, send it to Cleo")
        for each in (ana, ben):
            await expect(card(each, 1)).to_contain_text('{"to":"Cleo"}')
            await expect(card(each, 1).get_by_role("button", name="Yes, do it")).to_be_visible()
        await ben.clicks("Yes, do it")
        await expect(card(ben, 1).get_by_role("alert")).to_contain_text("may not")
        assert posted == []
        await ana.shot(tmp_path / "asked.png")
        await ana.turns_phone()
        assert await ana.sideways() == []
        await ana.shot(tmp_path / "asked-phone.png")
        await ana.turns_desk()
        await ana.clicks("Yes, do it")
        for each in (ana, ben):
            await expect(card(each, 1).locator(".settled")).to_have_text("ana said yes.")
            await expect(card(each, 1).get_by_role("button")).to_have_count(0)
        while not posted:  # a yes is told before it has run
            await asyncio.sleep(0.02)
        assert posted == ["Cleo"]
        await ben.opens(f"/rooms/{room}")
        await expect(card(ben, 1).locator(".settled")).to_have_text("ana said yes.")

        await ana.says("maya, send it to Dora")
        await card(ana, 2).get_by_label("Why not").fill("too late")
        await card(ana, 2).get_by_role("button", name="No", exact=True).click()
        await expect(card(ben, 2).locator(".settled")).to_contain_text("too late")
        assert posted == ["Cleo"]


async def test_all_that_would_run_is_seen_without_a_move(tmp_path: Path, crowd: Crowd) -> None:
    """However long it is, no part of it lies beyond an edge, where a yes might be given unread."""
    write_mates(tmp_path, (), maya=MAYA)
    async with town(tmp_path, at_length) as site, crowd:
        with_post(site.app)
        ana = await owner_of(site, crowd, "ana")
        room = await ana.makes_room("Letters", "maya")
        await ana.says("maya, send it to Cleo")
        shown = card(ana, 1).locator("pre")
        await expect(shown).to_contain_text("word699")
        for turn in (ana.turns_desk, ana.turns_phone):
            await turn()
            for path in ("", "/questions/1"):
                await ana.opens(f"/rooms/{room}{path}")
                pre = ana.page.locator(".asked pre")
                await expect(pre).to_contain_text("word699")
                hidden = await pre.evaluate(
                    "e => [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight]"
                )
                assert hidden == [0, 0]
                assert await ana.sideways() == []


async def test_what_was_used_stands_under_the_line(tmp_path: Path, crowd: Crowd) -> None:
    """Unfolded, a line's uses of tools say what was given and what came back; others have none."""
    write_mates(tmp_path, (), maya=MAYA)
    async with town(tmp_path, asking) as site, crowd:
        with_post(site.app)
        ana = await owner_of(site, crowd, "ana")
        await ana.makes_room("Letters", "maya")
        await ana.says("maya, send it to Cleo")
        await card(ana, 1).get_by_role("button", name="Yes, do it").click()
        calls = ana.page.locator("details.calls")
        await expect(calls.first).to_contain_text("tools: post")
        await expect(ana.page.locator("#lines > .said")).to_have_count(2)  # what comes moves lines
        await calls.first.locator("summary").click()
        await expect(calls.first.locator("pre").first).to_contain_text("Cleo")
        await expect(calls.first).to_contain_text("approved")
        await ana.shot(tmp_path / "calls.png")
        await expect(ana.page.locator("#lines > .heard details.calls")).to_have_count(0)
