"""Traces, from a real home's turns to a collector on loopback: spans by the conventions, no texts."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from loopforge.core.effect_states import (
    EffectApproved,
    EffectProposed,
    EffectReturned,
    EffectRunning,
)
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import TurnEnded
from loopforge.errors import BadSettings
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.settings import load_settings
from loopforge.sinks import sink_runner
from loopforge.sinks.http_post import HttpPost
from loopforge.sinks.sink_plugin import sinks_of
from loopforge.sinks.traces import TraceOutlet, TraceSettings
from tests.listening import listening
from tests.rooms.conftest import living
from tests.sinks.conftest import happen, outlet_running


@asynccontextmanager
async def collecting() -> AsyncIterator[tuple[list[dict[str, Any]], str, list[int]]]:
    """A collector: the spans that it took, where it is, and with what it answers next, if not 200."""
    got, answers = list[dict[str, Any]](), list[int]()

    async def take(request: web.Request) -> web.Response:
        if answers:
            return web.Response(status=answers.pop(0))
        for resource in json.loads(await request.read())["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                got.extend(scope["spans"])
        return web.json_response({})

    collector = web.Application()
    collector.router.add_post("/v1/traces", take)
    async with listening(collector) as url:
        yield got, url, answers


async def test_a_collector_that_is_away_loses_no_use_of_a_tool(
    ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A use ends while it is away, and is begun long before: it is told when it is back."""
    monkeypatch.setattr(sink_runner, "PAUSES", (0.01,))
    async with collecting() as (got, endpoint, answers):
        options = TraceSettings(history=True, endpoint=endpoint)
        async with outlet_running(ledger, TraceOutlet(endpoint), options) as sinks:
            proposed = EffectProposed(turn="t", nth=0, tool="knit", arguments=Words("{}"))
            (use,) = await happen(ledger, "task:a", proposed)
            await happen(ledger, "task:a", EffectApproved(effect=use, by="p"))
            while (await sinks.standings())[0].behind:
                await asyncio.sleep(0.01)
            answers += [503, 400]
            await happen(ledger, "task:a", EffectRunning(effect=use))
            await happen(ledger, "task:a", EffectReturned(effect=use, value=Words("A sock.")))
            while (await sinks.standings())[0].behind or answers:
                await asyncio.sleep(0.01)
    assert [span["name"] for span in got] == ["execute_tool knit"]


async def test_a_turn_is_a_trace(tmp_path: Path) -> None:
    """A mate answers: its turn is the root, the model's answer a child within it; sent again, the same."""
    async with collecting() as (got, endpoint, _), living(tmp_path) as home:
        await home.hears("Ada", "maya, are there slugs? a secret")
        turns = await home.bodies(TurnEnded)
        options = TraceSettings(history=True, endpoint=endpoint)
        for again in (1, 2):
            if again == 2:
                await home.app.ledger.change(
                    lambda found: found.exec_driver_sql("DELETE FROM sink_cursors")
                )
            async with outlet_running(home.app.ledger, TraceOutlet(endpoint), options):
                while sum(span["name"] == "invoke_agent maya" for span in got) < again:
                    await asyncio.sleep(0.02)
    assert turns
    (root,) = {json.dumps(span) for span in got if span["name"] == "invoke_agent maya"}
    top = json.loads(root)
    chats = [span for span in got if span["name"].startswith("chat ")]
    mine = [span for span in chats if span["traceId"] == top["traceId"]]
    assert {span["parentSpanId"] for span in mine} == {top["spanId"]}
    said = {each["key"]: each["value"] for each in mine[0]["attributes"]}
    assert said["gen_ai.operation.name"] == {"stringValue": "chat"}
    assert said["gen_ai.conversation.id"] == {"stringValue": "room:commons"}
    assert int(said["gen_ai.usage.input_tokens"]["intValue"]) >= 0
    assert (len(top["traceId"]), len(top["spanId"])) == (32, 16)
    assert int(top["startTimeUnixNano"]) <= int(top["endTimeUnixNano"])
    assert "secret" not in json.dumps(got)


def test_texts_cannot_be_wanted(tmp_path: Path) -> None:
    """A setting that would change nothing is refused, in a sentence."""
    wanted = 'traces_endpoint = "http://127.0.0.1:4318"\ntraces_texts = true\n'
    (tmp_path / "loopforge.toml").write_text(wanted)
    with pytest.raises(BadSettings, match="traces hold no texts"):
        sinks_of(load_settings(tmp_path, environ={}))


async def test_whoever_posts_says_who_it_is() -> None:
    """A collector reads the name of Loopforge in what comes, not that of a library."""
    names = list[str]()

    async def take(request: web.Request) -> web.Response:
        names.append(request.headers["user-agent"])
        return web.Response()

    collector = web.Application()
    collector.router.add_post("/", take)
    async with listening(collector) as url:
        post = HttpPost(f"{url}/")
        await post.send(b"{}", {"content-type": "application/json"})
        await post.close()
    assert names == ["loopforge"]
