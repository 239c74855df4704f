"""What a room is told when models do not answer: in time, truly, and the owner what to mend."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from loopforge.chat.why.turn_replay import replay_turn
from loopforge.core.model_trouble import fixes_for_owner
from loopforge.core.room_vocabulary import Said, Told
from loopforge.runtime.ports import Draft
from tests.models.own import Kind, own
from tests.models.server import Behaviour, Server, serving
from tests.rooms.conftest import Home, living
from tests.still import while_answering

HERE = {"mode": "context", "rule": "", "narrative": "I answer.", "say": "Here.", "note": ""}
REST = {"files": [], "again": False, "tool": "", "arguments": "{}"}
FINE = Behaviour(pieces=[json.dumps(HERE | REST)])
BROKEN = Behaviour(status=500, body="boom")


@asynccontextmanager
async def house(path: Path, *names: str) -> AsyncIterator[tuple[Home, Server]]:
    """A home whose first tier asks models of these names at one server, in simulated time."""
    async with serving(tokenizer=True) as server:
        about = {"base_url": f"{server.url}/v1"}
        models = {name: {**about, "id": name, "small": name == "tiny"} for name in names}
        async with living(path, None, models=models, tiers={"1": list(names)}) as home:
            while_answering(home.clock, lambda: server.waiting)
            yield home, server


async def asked(home: Home, server: Server, times: int) -> None:
    """Wait until the server was asked so often; time stands still meanwhile."""
    while len(server.asked) < times:
        server.reached.clear()
        await server.reached.wait()


async def test_a_model_that_says_nothing_is_told_of_in_time(tmp_path: Path) -> None:
    """Before 20 s people know who is slow and who is next; the stand-in is told of as it answers."""
    async with house(tmp_path, "slowpoke", "runner") as (home, server):
        server.does(Behaviour(stall=0), FINE)
        await home.says("ana", "@maya hello")
        await home.clock.advance(1)
        await asked(home, server, 1)
        await home.clock.advance(16)
        (slow,) = await home.told()
        assert slow == ("Maya is taking long: slowpoke does not answer yet; runner is asked next.")
        await home.clock.advance(30)
        await asked(home, server, 2)
        await home.rest()
        _, stand_in = await home.bodies(Told)
        assert "so runner answers in its place" in str(stand_in.text)
        assert ("slowpoke", "silent") in stand_in.mend
        assert [str(one.text) for one in await home.bodies(Said)] == ["Here."]


async def test_a_limit_that_is_waited_out_is_told_of(tmp_path: Path) -> None:
    """Of a model that is asked too often people know that it is asked again, and that it lives."""
    async with house(tmp_path, "slowpoke") as (home, server):
        server.does(Behaviour(status=429, headers={"Retry-After": "20"}), FINE)
        await home.says("ana", "@maya hello")
        await home.clock.advance(1)
        await asked(home, server, 1)
        await home.clock.advance(16)
        (slow,) = await home.bodies(Told)
        assert str(slow.text) == (
            "Maya is taking long: slowpoke is too busy just now and is asked again; "
            "nobody can stand in."
        )
        assert "its limit is reached" in fixes_for_owner(slow.mend)
        await home.passes(10)
        assert [str(one.text) for one in await home.bodies(Said)] == ["Here."]


async def test_why_says_for_how_long_a_service_asked_to_be_left_alone(tmp_path: Path) -> None:
    """An hour is not waited out: who asks why there was no answer reads that it was an hour."""
    async with house(tmp_path, "slowpoke") as (home, server):
        server.does(Behaviour(status=429, headers={"Retry-After": "3600"}))
        await home.hears("ana", "@maya hello")
        (told,) = [event for event in await home.events() if isinstance(event.body, Told)]
        assert "too busy just now" in str(told.body)
        record = " ".join((await home.app.front.why(told.id)).split())
        assert "it asked to be left alone for 60 minutes" in record


async def test_half_an_answer_and_then_silence_is_told_of_in_time(tmp_path: Path) -> None:
    """Before 20 s of silence people know that no more comes, after 60 s what came is the answer."""
    async with house(tmp_path, "slowpoke") as (home, server):
        half = ['{"say": "The kettle is', ' on the stove", ']
        server.does(Behaviour(pieces=half, stall=1))
        air = home.app.front.rooms.listen(home.room)
        await home.says("ana", "@maya hello")
        await home.clock.advance(1)
        async for what in air:
            if isinstance(what, Draft):
                break
        air.close()
        assert await home.bodies(Told) == []
        await home.clock.advance(17)
        (stalled,) = await home.bodies(Told)
        assert str(stalled.text) == (
            "Maya is taking long: slowpoke has stopped in the middle of its answer."
        )
        assert "see whether its server is well" in fixes_for_owner(stalled.mend)
        await home.passes(45)
        assert await home.said() == ["maya"]
        assert (await home.lines())[-1] == "maya: The kettle is …"
        assert len(await home.bodies(Told)) == 1


async def test_the_climb_is_bounded(tmp_path: Path) -> None:
    """Three models that say nothing: after 90 s people know that nobody answers, and why."""
    async with house(tmp_path, "a", "b", "c") as (home, server):
        server.does(Behaviour(stall=0))
        began = home.clock.ticks()
        await home.says("ana", "@maya hello")
        for times in (1, 2, 3):
            await home.clock.advance(1)
            await asked(home, server, times)
            await home.clock.advance(29.9)
        await home.rest()
        assert home.clock.ticks() - began < 95
        *_, last = await home.bodies(Told)
        assert str(last.text) == (
            "Maya gave no answer (the model did not say a word in time). "
            "Say it again to try once more."
        )
        assert [who["model"] for who in (one.body for one in server.asked)] == ["a", "b", "c"]


async def test_a_small_stand_in_gets_a_small_models_prompt(tmp_path: Path) -> None:
    """It is asked plainly and briefly, not for the large one's form; the turn replays the same."""
    async with house(tmp_path, "big", "tiny") as (home, server):
        plain = Behaviour(pieces=["A kettle.", " It is on."])
        account = {"narrative": "I answered.", "rule": "none", "mode": "context"}
        server.does(BROKEN, BROKEN, plain, Behaviour(pieces=[json.dumps(account)]))
        await home.hears("ana", "@maya hello")
        assert [one.body["model"] for one in server.asked] == ["big", "big", "tiny", "tiny"]
        large, _, small, _ = [one.body for one in server.asked]
        assert (large["max_tokens"], small["max_tokens"]) == (900, 50)
        assert ("response_format" in large, "response_format" in small) == (True, False)
        said = [e for e in await home.events() if isinstance(e.body, Said)]
        assert [str(e.body.text) for e in said if isinstance(e.body, Said)] == [
            "A kettle. It is on."
        ]
        assert "so tiny answers in its place" in str((await home.bodies(Told))[0].text)
        again = await replay_turn(home.app.ledger, home.app.policies, said[0].id)
        assert again.outcome == "same", again.detail


async def test_nobody_stands_in_who_did_not_answer(tmp_path: Path) -> None:
    """All models fail: the room is told that, and of no stand-in."""
    async with house(tmp_path, "a", "b") as (home, server):
        server.does(BROKEN)
        await home.hears("ana", "@maya hello")
        (notice,) = await home.bodies(Told)
        assert "gave no answer (the model's server failed)" in str(notice.text)
        assert set(notice.mend) == {("a", "broken"), ("b", "broken")}


async def test_who_says_it_again_is_told_again(tmp_path: Path) -> None:
    """Each line that called a mate has an answer, or a word that there is none."""
    async with house(tmp_path, "a") as (home, server):
        server.does(BROKEN)
        for times in (1, 2, 3):
            await home.hears("ana", "@maya hello")
            assert len(await home.bodies(Told)) == times


async def test_an_answer_nested_without_end_is_none(tmp_path: Path) -> None:
    """The person is told so, and the room goes on with the next line."""
    async with house(tmp_path, "a") as (home, server):
        server.does(Behaviour(pieces=["[" * 5000]))
        await home.hears("ana", "@maya hello")
        (notice,) = await home.bodies(Told)
        assert str(notice.text).startswith("Maya gave no answer (the model's answer made no sense)")
        server.does(FINE)
        await home.hears("ana", "@maya hello?")
        assert (await home.lines())[-1] == "maya: Here."


@pytest.mark.parametrize("kind", ["ollama", "vllm", "litellm"])
async def test_a_name_a_server_does_not_know(tmp_path: Path, kind: Kind) -> None:
    """The owner reads in the room which models it has, a few of many; nobody else does."""
    async with own(kind, has=[f"model-{nth}" for nth in range(9)]) as server:
        environ = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "gpt-9"}
        async with living(tmp_path, None, environ=environ, embedded_model=False) as home:
            await home.hears("ana", "@maya hello")
            (notice,) = await home.bodies(Told)
    assert str(notice.text) == "Maya gave no answer (the owner of this home has to mend something)."
    assert fixes_for_owner(notice.mend) == (
        "its server does not know gpt-9: name one that it has (Admin, Models); "
        "there are: model-0, model-1, model-2, model-3, model-4 and 4 more"
    )


KEYS = {
    "an API key": "sk-proj-" + "a1B2" * 8,
    "an Anthropic key": "sk-ant-api03-" + "a1B2" * 8,
    "a GitHub token": "ghp_" + "a1B2" * 9,
    "an AWS key": "AKIA" + "A1B2" * 4,
    "a Slack token": "xoxb-" + "1234567890-" * 2,
    "a private key": "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
}


async def test_who_types_a_key_is_told_so(tmp_path: Path) -> None:
    """Once for each kind, whoever it was said to; the mate answers, and other lines are as ever."""
    answer = {**HERE, "say": f"I have {KEYS['a GitHub token']} now."}
    async with living(tmp_path, lambda _: answer) as home:

        async def told(line: str) -> list[str]:
            before = len(await home.told())
            await home.hears("ana", line)
            await home.rest()
            return [one for one in (await home.told())[before:] if "looks like" in one]

        for kind, key in KEYS.items():
            (warned,) = await told(f"it is {key}")
            assert f"looks like {kind}. It stands in this room now" in warned
        for harmless in ("sk-1", "ghp_me", "postgres://me:secret@localhost/db", "a sk-ill issue"):
            assert await told(harmless) == []
        assert len(await told(f"@maya {KEYS['a GitHub token']} and {KEYS['a GitHub token']}")) == 1
        assert {str(one.text) for one in await home.bodies(Said)} == {"I have [redacted] now."}
