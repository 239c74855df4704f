"""Why? in the browser: the record as page, panel, text and JSON, and who may open it."""

import html
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import get_args

from loopforge.chat.why.flight_record import CAME, ActKind
from loopforge.core.model_trouble import MEND
from loopforge.core.room_vocabulary import Heard, Said, Told
from loopforge.models.model_router import TieredModels
from loopforge.models.model_tiers import read_tiers
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from loopforge.runtime.system_clock import SystemClock, SystemDice
from tests.models.server import Behaviour, serving
from tests.web.conftest import Guest, Town, town, words

SECRET = "The spare key lies under the blue flowerpot."


def answering(question: Question) -> ScriptedAnswer:
    """A mate whose narrative repeats what it was told before."""
    nth = len(question.messages)
    return ScriptedAnswer(
        data={
            "mode": "guardrail",
            "rule": "never pretend",
            "narrative": "I was told: the spare key lies under the BLUE flowerpot.",
            "say": f"<b>Noted</b>, I say nothing, for the {nth}th time.",
        }
    )


async def spoken(site: Town, owner: Guest, room: str) -> str:
    """The id of the newest mate line, after everything came to rest."""
    await site.rest(room)
    return [e.id for e in await site.events(room) if isinstance(e.body, Said)][-1]


async def test_a_mates_line_has_a_page(tmp_path: Path) -> None:
    """The page tells the story first and holds everything below, safely, with its own address."""
    async with town(tmp_path, answering) as site:
        owner = await site.owner()
        room = await site.room(owner, "Keys", "maya")
        await owner.says(room, "@maya where is it?")
        line = await spoken(site, owner, room)
        answer = await owner.get(f"/rooms/{room}/why/{line}")
        assert answer.status_code == 200
        text = html.unescape(answer.text)
        for fact in (
            "called Maya with an @. That alone is reason enough: 100 of 100.",
            "It followed the rule “never pretend”.",
            "The exact prompts",
            "You are Maya.",
            "/mates/maya/versions/",
            "loopforge turn replay",
            "#l-",
            "data-copy",
        ):
            assert fact in text, fact
        assert "<b>Noted</b>" not in answer.text
        assert " style=" not in answer.text
        assert "<script>" not in answer.text


async def test_lines_of_other_mates_look_like_all_that_it_was_shown(tmp_path: Path) -> None:
    """Only the line that the page is about is set large: none of those that were shown to it."""
    async with town(tmp_path, answering) as site:
        owner = await site.owner()
        room = await site.room(owner, "Keys", "maya", "merlin")
        await owner.says(room, "@maya where is it?")
        await site.rest(room)
        await owner.says(room, "@merlin and you?")
        line = await spoken(site, owner, room)
        page = (await owner.get(f"/rooms/{room}/why/{line}")).text
        assert "<b>Maya</b>" in page
        assert len(re.findall(r'class="why-said[ "]', page)) == 1


async def test_whatever_came_of_a_turn_is_told(tmp_path: Path) -> None:
    """A line that was said anew has a page that says so; every kind of act has a name there."""
    assert set(CAME) == set(get_args(ActKind))
    thoughts = count(1)
    async with town(tmp_path, lambda _: {"say": f"Thought {next(thoughts)}."}) as site:
        owner = await site.owner()
        room = await site.room(owner, "Keys", "maya")
        await owner.says(room, "@maya where is it?")
        line = await spoken(site, owner, room)
        await site.app.front.commands.act(room, owner.person, "again", "", owner=True)
        await site.rest(room)
        assert "Said anew" in words(await owner.get(f"/rooms/{room}/why/{line}"))


async def test_text_and_json_say_the_same(site: Town, owner: Guest) -> None:
    """The same record is there as plain text and as JSON."""
    room = await site.room(owner, "Forms", "maya")
    await owner.says(room, "@maya hello")
    line = await spoken(site, owner, room)
    record = (await owner.get(f"/rooms/{room}/why/{line}?format=json")).json()
    assert (record["about"], record["mate"], record["summons"]) == ("turn", "maya", "mention")
    assert record["requests"][0]["prompt"][0]["role"] == "system"
    text = await owner.get(f"/rooms/{room}/why/{line}?format=text")
    assert text.headers["content-type"].startswith("text/plain")
    assert record["turn"] in text.text
    assert (await owner.get(f"/rooms/{room}/why/{line}?format=xml")).status_code == 400


async def test_a_persons_line_leads_to_who_answered(site: Town, owner: Guest) -> None:
    """The record of a person's line names the mates that weighed it and links to the turn."""
    room = await site.room(owner, "Weighing", "maya", "merlin")
    await owner.says(room, "@maya hello")
    await site.rest(room)
    events = await site.events(room)
    heard = next(e for e in events if isinstance(e.body, Heard))
    said = next(e for e in events if isinstance(e.body, Said) and e.body.mate == "maya")
    assert isinstance(said.body, Said)
    answer = await owner.get(f"/rooms/{room}/why/{heard.id}")
    assert "What became of this line?" in answer.text
    assert f"/rooms/{room}/why/{said.body.turn}" in answer.text
    assert "Merlin" in answer.text


async def test_only_members_may_ask_why(site: Town, owner: Guest) -> None:
    """For a stranger, a non-member and a former member the record does not exist."""
    room = await site.room(owner, "Ours", "maya")
    gone = await site.guest("gus", room, by=owner)
    await owner.says(room, "@maya hello")
    line = await spoken(site, owner, room)
    assert (await gone.get(f"/rooms/{room}/why/{line}")).status_code == 200
    await site.app.front.rooms.leave(room, gone.person)
    other = await site.guest("pia", by=owner)
    elsewhere = await site.room(other, "Mine", "zuzu")
    for path in (f"/rooms/{room}/why/{line}", f"/rooms/{elsewhere}/why/{line}"):
        for form in ("page", "text", "json"):
            assert (await other.get(f"{path}?format={form}")).status_code == 404
    assert (await gone.get(f"/rooms/{room}/why/{line}")).status_code == 404
    stranger = await site.stranger()
    assert "hello" not in (await stranger.get(f"/rooms/{room}/why/{line}")).text


async def test_what_was_said_before_is_withheld_in_every_form(tmp_path: Path) -> None:
    """Who came later sees the record of a later turn, with brackets where earlier words stood."""
    async with town(tmp_path, answering) as site:
        owner = await site.owner()
        room = await site.room(owner, "Keys", "maya")
        await owner.says(room, f"@maya {SECRET}")
        first = await spoken(site, owner, room)
        late = await site.guest("lea", room, by=owner)
        guest = await site.guest("pat", room, by=owner, past=True)
        await owner.says(room, "@maya and now?")
        later = await spoken(site, owner, room)
        assert first != later
        assert (await late.get(f"/rooms/{room}/why/{first}")).status_code == 404
        for form in ("page", "text", "json"):
            path = f"/rooms/{room}/why/{later}?format={form}"
            for headers in ({}, {"HX-Request": "true"}):
                seen = html.unescape((await late.get(path, headers=headers)).text)
                assert "flowerpot" not in seen
                assert "[said before you came]" in seen
                assert "Part of this record is withheld from you" in seen
            for free in (owner, guest):
                seen = html.unescape((await free.get(path)).text)
                assert SECRET in seen
                assert "withheld from you" not in seen


@asynccontextmanager
async def closed(models: TieredModels) -> AsyncIterator[None]:
    """Closes them at the end."""
    try:
        yield
    finally:
        await models.close()


TOLD = "Incorrect API key provided: sk-sesame. Org org-77 has no more keys like sk-sesame."


async def test_the_error_of_a_model_as_it_came_is_the_owners_alone(tmp_path: Path) -> None:
    """The owner reads what its service said, the key masked; a guest the cause in plain words."""
    async with serving() as server:
        body = json.dumps({"error": {"message": TOLD, "code": "invalid_api_key"}})
        server.does(Behaviour(status=401, body=body))
        table = {"a": {"base_url": f"{server.url}/v1", "key": "A_KEY"}}
        tiers = read_tiers(table, {"1": ["a"]}, {"A_KEY": "sk-sesame"})
        models = TieredModels(tiers, SystemClock(), SystemDice())
        async with closed(models), town(tmp_path, models=models) as site:
            owner = await site.owner()
            room = await site.room(owner, "Keys", "maya")
            guest = await site.guest("gus", room, by=owner)
            await owner.says(room, "@maya hello")
            await site.rest(room)
            *_, line = [e.id for e in await site.events(room) if isinstance(e.body, Told)]
            for form in ("page", "text", "json"):
                path = f"/rooms/{room}/why/{line}?format={form}"
                full = html.unescape((await owner.get(path)).text)
                told = html.unescape((await guest.get(path)).text)
                assert "Org org-77 has no more keys like" in full
                assert MEND in told
                assert "org-77" not in told
                assert "Incorrect" not in told
                assert "sk-sesame" not in full + told
            for way, owns in ((guest, False), (owner, True)):
                answer = await site.app.front.commands.act(
                    room, way.person, "why", line, owner=owns
                )
                assert ("org-77" in answer) is owns
