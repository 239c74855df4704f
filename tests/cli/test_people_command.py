"""loopforge people, as somebody at the machine types it, beside a process that is the host."""

import asyncio
import json
from pathlib import Path

import pytest

from loopforge.app import App, open_app
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.host_lock import lock_home
from loopforge.models.scripted_model import ScriptedModels
from loopforge.people.stranger_pairing import CLOSED, Knock
from loopforge.settings import load_settings
from loopforge.tools.sandbox.call_workspace import FOLDER
from tests.cli.conftest import Run, hosted, typing
from tests.people.house import code_in

ANA, BO = "814273645120389120", "99112233"
NOUN = "people"


@pytest.fixture
def type_(capsys: pytest.CaptureFixture[str], home: Path) -> Run:
    """Run `loopforge ...` in the home."""
    return typing(capsys, "--home", str(home))


async def knock(app: App) -> Knock:
    """Somebody writes on Discord."""
    return await app.pairing.knock("discord", ANA, "Ana")


def test_a_stranger_is_let_in(run: Run, home: Path) -> None:
    """Who knocks stands in the list, is let in by the code, and is welcome to the host."""
    shown = code_in(hosted(home, knock))
    code, out, err = run("knocks")
    assert code == 0
    assert f"`loopforge people admit discord:{ANA}`" in err
    assert out.startswith(f"discord:{ANA}\tAna\t20")
    code, out, _ = run("knocks", "--json")
    assert [(row["surface"], row["account"], row["name"]) for row in json.loads(out)] == [
        ("discord", ANA, "Ana")
    ]
    assert run("admit", shown) == (0, f"Ana (discord:{ANA}) is let in.\n", "")
    assert run("knocks")[:2] == (0, "Nobody waits to be let in.\n")
    assert hosted(home, knock) is None
    code, _, err = run("admit", shown)
    assert code == 2
    assert "`loopforge people knocks` lists who waits" in err


def test_somebody_is_named_and_refused(run: Run, home: Path) -> None:
    """An account is let in and refused by its id; what is no account is refused with an example."""
    hosted(home, knock)
    assert run("admit", f"discord:{ANA}")[0] == 0
    assert hosted(home, knock) is None
    assert run("refuse", f"discord:{ANA}")[:2] == (
        0,
        f"Ana (discord:{ANA}) is not answered any more.\n",
    )
    assert hosted(home, knock) == ""
    code, _, err = run("admit", "discord:ana")
    assert code == 2
    assert "discord:123456789" in err
    assert run("admit", "telegram:5")[:2] == (0, "telegram:5 is let in.\n")


def test_a_code_links_and_is_undone(run: Run, home: Path) -> None:
    """A code made here is claimed at the host; the accounts stand in the list; it is undone."""
    ana = hosted(home, lambda app: app.people.meet("terminal", "ana"))
    code, out, _ = run("code", "Ana")
    assert code == 0
    linked = hosted(home, lambda app: app.linking.claim(out.strip(), "telegram", BO))
    assert linked.id == ana.id
    assert run("list")[1] == f"{ana.id}\tana\t-\tterminal:ana, telegram:{BO}\n"
    (row,) = json.loads(run("list", "--json")[1])
    assert row["accounts"][1] == {"surface": "telegram", "account": BO, "linked": True}
    assert run("unlink", "ana", f"telegram:{BO}")[:2] == (
        0,
        f"telegram:{BO} is not ana any more.\n",
    )
    assert run("list")[1] == f"{ana.id}\tana\t-\tterminal:ana\n"
    code, _, err = run("unlink", "ana", f"telegram:{BO}")
    assert code == 2
    assert "is linked to this person" in err


def test_a_code_from_elsewhere(run: Run, home: Path) -> None:
    """A code that somebody was given on Discord makes them one with who is known here."""

    async def offered(app: App) -> str:
        await app.people.meet("terminal", "bo")
        person = await app.people.meet("discord", ANA, "Ana")
        return await app.linking.offer_code(person.id)

    code = hosted(home, offered)
    assert run("link", "bo", code)[:2] == (
        0,
        f"bo is one person now: terminal:bo, discord:{ANA}.\n",
    )
    assert run("link", "bo", code)[0] == 2
    assert run("link", "ana", code)[0] == 2


def test_people_are_told_apart(run: Run, home: Path) -> None:
    """One name of several people asks for an id; a name of nobody says who is known."""

    async def two(app: App) -> list[str]:
        met = [await app.people.meet(s, "1", "Ana") for s in ("discord", "telegram")]
        await app.people.meet("discord", "2", "Beep", bot=True)
        return [one.id for one in met]

    first, second = hosted(home, two)
    code, _, err = run("code", "ana")
    assert code == 2
    assert f"{first} (discord), {second} (telegram)" in err
    assert run("code", second)[0] == 0
    code, _, err = run("code", "nobody")
    assert code == 2
    assert "`loopforge people list`" in err
    assert "\tBeep\tbot\tdiscord:2\n" in run("list")[1]


def test_settings_say_what_strangers_meet(home: Path) -> None:
    """A home whose Discord is open lets in whoever writes there, and nobody else for that."""
    (home / "loopforge.toml").write_text('discord_dm = "open"\ntelegram_dm = "allowlist"\n')
    assert hosted(home, knock) is None
    closed = hosted(home, lambda app: app.pairing.knock("telegram", BO, "Bo"))
    assert closed == CLOSED


async def say(app: App) -> str:
    """Ada says something in a room."""
    you = (await app.front.rooms.enter("commons", "ada", "terminal", ("maya",))).you
    line = Heard(person=you, text=Words("I like tea"), surface="terminal", source="1")
    return (await app.front.rooms.hear("commons", line)).id


def workspace(home: Path) -> Path:
    """What uses of a tool left in a workspace of theirs."""
    place = home / FOLDER / ("a" * 24)
    place.mkdir(parents=True)
    (place / "notes.txt").write_text("I like tea")
    return place


async def test_what_somebody_is_just_giving_outlives_an_erasure(run: Run, home: Path) -> None:
    """Its line comes a moment later, in the process that runs the home."""
    with lock_home(home):
        settings = load_settings(home, environ={})
        async with open_app(settings, models=ScriptedModels(), follow=0) as host:
            await say(host)
            given = await host.artifacts.put(b"a picture")
            code, out, _ = await asyncio.to_thread(run, "forget", "ada", "--yes")
            assert (code, "Forgotten: " in out) == (0, True)
            assert await host.artifacts.has(given)


@pytest.mark.parametrize(
    "command", [("people", "forget", "ada"), ("ledger", "erase", "--person", "ada")]
)
def test_an_erasure_in_a_home_that_does_not_run_sweeps_it(
    type_: Run, home: Path, command: tuple[str, ...]
) -> None:
    """Files that no event holds go with what was forgotten, and so do workspaces of tools."""

    async def left(app: App) -> str:
        await say(app)
        return await app.artifacts.put(b"a picture")

    given, used = hosted(home, left), workspace(home)
    assert type_(*command, "--yes")[0] == 0
    assert not hosted(home, lambda app: app.artifacts.has(given))
    assert not used.exists()
