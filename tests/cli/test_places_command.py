"""loopforge room places, join and part: a channel, a group and a room as one conversation."""

import json
from pathlib import Path

import pytest

from loopforge.app import App
from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.core.delivery_states import Queued
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.home import make_home
from loopforge.io.session import Sessions
from tests.cli.conftest import Run, hosted

NOUN = "room"
PLAZA, LAB = (
    ChannelSpot("discord:4711", "#plaza", "group"),
    ChannelSpot("telegram:-1001234", "Lab", "group"),
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the room commons, and two places where somebody spoke already."""
    make_home(tmp_path)

    async def fill(app: App) -> None:
        await app.front.rooms.enter("commons", "ana", "terminal", ("maya",))
        for spot in (PLAZA, LAB):
            await Sessions(app.front).room(spot, ("maya",))

    hosted(tmp_path, fill)
    return tmp_path


def queued(home: Path, room: str) -> set[str]:
    """To which places a line that is said in this room now goes."""

    async def say(app: App) -> set[str]:
        scene = await app.front.rooms.enter(room, "ana", "terminal")
        line = Heard(person=scene.you, text=Words("hello"), surface="terminal", source="1")
        await app.front.rooms.hear(room, line)
        events = await app.ledger.read(f"room:{room}")
        return {e.body.surface for e in events if isinstance(e.body, Queued)}

    return {place for place in hosted(home, say) if ":" in place}


def rows(run: Run) -> dict[str, str]:
    """The places and their rooms, as they are listed."""
    return {row["place"]: row["room"] for row in json.loads(run("places", "--json")[1])}


def test_one_conversation(home: Path, run: Run) -> None:
    """Places of two platforms join a room; a line that is said there goes to both."""
    own = rows(run)[LAB.key]
    assert run("join", "commons", PLAZA.key)[0] == 0
    code, out, _ = run("join", "commons", LAB.key)
    assert code == 0
    assert "Lab is part of commons now: what is said in one is said in both." in out
    assert f"It was part of {own}" in out
    assert rows(run) == {PLAZA.key: "commons", LAB.key: "commons"}
    assert queued(home, "commons") == {PLAZA.key, LAB.key}
    assert "already" in run("join", "commons", LAB.key)[1]


def test_parted(home: Path, run: Run) -> None:
    """A place that is parted from its room is part of none, and hears nothing of it."""
    run("join", "commons", PLAZA.key)
    code, out, _ = run("part", PLAZA.key)
    assert (code, out) == (0, "#plaza is no longer part of commons.\n")
    assert PLAZA.key not in rows(run)
    assert queued(home, "commons") == set()
    code, _, err = run("part", PLAZA.key)
    assert code == 2
    assert "is part of no room" in err


def test_listed_with_names(run: Run) -> None:
    """Places are listed with what their platform calls them, so that people find the key."""
    _, out, _ = run("places")
    lines = [line.split("\t") for line in out.splitlines()]
    assert [line[:3] for line in lines] == [
        ["discord:4711", "#plaza", "group"],
        ["telegram:-1001234", "Lab", "group"],
    ]


def test_what_is_admitted(home: Path, run: Run) -> None:
    """A place opens a room of its own; a private one, and one beside a list, are refused."""
    assert run("admit", "discord:4712")[:2] == (
        0,
        "Mates talk in discord:4712 from now on, whoever speaks to them there.\n",
    )
    assert "discord:4712" in rows(run)
    assert "`loopforge people admit`" in run("admit", "telegram:5@6")[2]
    with (home / "loopforge.toml").open("a") as file:
        file.write('\ndiscord_places = "4711"\n')
    code, _, err = run("admit", "discord:4713")
    assert code == 2
    assert "discord_places lists where mates talk (4711)" in err
    assert "discord:4713" not in rows(run)


def test_a_place_that_nobody_spoke_in(run: Run) -> None:
    """A place that is not known yet can be joined by its key."""
    code, out, _ = run("join", "commons", "telegram:-1009/7")
    assert code == 0
    assert out.startswith("telegram:-1009/7 is part of commons now")
    assert rows(run)["telegram:-1009/7"] == "commons"


@pytest.mark.parametrize("key", ["telegram:-1009876#42", "telegram:-4001@42", "telegram:501@42"])
def test_every_kind_of_place(run: Run, key: str) -> None:
    """A channel, a basic group and a private talk of Telegram are joined and parted as listed."""
    code, out, _ = run("join", "commons", key)
    assert code == 0
    assert ("private talk" in out) is (":-" not in key)
    assert rows(run)[key] == "commons"
    assert run("part", key)[0] == 0
    assert key not in rows(run)


@pytest.mark.parametrize(
    ("room", "place", "said"),
    [
        ("commons", "#plaza", "is no place. A place is written with its platform"),
        ("commons", "discord:plaza", "is no place"),
        ("commons", "telegram:\u0665", "is no place"),
        ("commons", "telegram:1009876", "is no place"),
        ("commons", "discord:0", "is no place"),
        ("commons", "discord:99999999999999999999", "is no place"),
        ("commons", "telegram:-0", "is no place"),
        ("nowhere", PLAZA.key, "There is no room called 'nowhere'. `loopforge room list` names"),
    ],
)
def test_what_cannot_be_joined(run: Run, room: str, place: str, said: str) -> None:
    """What is no place, and a room that is not there, are refused; nothing changes."""
    before = rows(run)
    code, _, err = run("join", room, place)
    assert code == 2
    assert said in err
    assert rows(run) == before
