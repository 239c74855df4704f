"""A room that an earlier program wrote: opened, verified, told, replayed, and talked in.

`before.tar.gz` is a home as it was when the minds were talk/1 and chain/1: Ana and Ben talked with
three mates by the scripted model, one of which used a tool; the room found a title and changed its
policy to chain; then Ana edited her first line, and Ben deleted his with a number in it.

`schema-0002.tar.gz` is a home with all that a home may have: two rooms, a picture, a notice, a setting
that was saved while it ran, an owner, Ben's account, a backup, and a line of his that was forgotten
after it. `ledger.sql` in it is the same ledger as PostgreSQL had it.
"""

import json
import shutil
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from anyio import to_thread

from loopforge.chat.why import plain_summary
from loopforge.chat.why.record_building import build_why_record
from loopforge.cli import main
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.turn_events import Perceived
from loopforge.ledger.schema_migration import migrate_schema
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger_opening import ARTIFACTS, open_ledger_of
from loopforge.policies.talk import VERSION
from loopforge.settings import load_settings, with_ledger
from tests.rooms.conftest import START, living
from tests.sim_clock import SimClock

HELLO = "01a1fd557cd870068feeab3b85b13ffd"
"""What Maya said first, in words that nobody forgot."""
TITLE = "01a1fd557f307018b127962989dc6cbb"
SECRET = "4711"
TODAY = "schema-0002"


def unpacked(name: str, home: Path) -> Path:
    """A home that is kept here."""
    shutil.unpack_archive(Path(__file__).with_name(f"{name}.tar.gz"), home)
    return home


def put(home: Path, url: str) -> None:
    """Put the ledger of this home where its settings say from now on: a database of PostgreSQL."""
    with psycopg.connect(url) as database:
        database.execute((home / "ledger.sql").read_bytes())
    (home / "data" / "loopforge.db").unlink()
    with (home / "loopforge.toml").open("a") as file:
        file.write(f'database_url = "{url}"\n')


def brought(home: Path) -> Path:
    """What `loopforge ledger migrate` does."""
    migrate_schema(load_settings(home, environ={}).database_url)
    return home


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """The home, brought to today's schema as people are told to."""
    return brought(unpacked("before", tmp_path))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The home of schema 0002, on SQLite, then on PostgreSQL."""
    home = unpacked(TODAY, tmp_path / "home")
    if request.param == "postgres":
        put(home, request.getfixturevalue("postgres_url"))
    return home


@pytest.fixture
def today(older: Path) -> Path:
    """The same, brought to today's schema."""
    return brought(older)


def told(home: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """What a command ends with, and prints."""
    code = main(["--home", str(home), *words])
    return code, capsys.readouterr().out


def test_a_ledger_of_before_is_as_it_was_written(
    before: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is brought to this program's schema, and all its hashes hold, without what was deleted."""
    assert told(before, capsys, "ledger", "migrate")[0] == 0
    code, found = told(before, capsys, "ledger", "verify")
    assert (code, found) == (
        0,
        "102 events and 109 texts read, 1 texts forgotten.\nAll of it is as it was written.\n",
    )


def test_what_is_derived_from_it_is_derived_anew(
    before: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its views are made again from its events by today's program."""
    assert told(before, capsys, "ledger", "rebuild")[0] == 0
    assert told(before, capsys, "room", "list") == (
        0,
        "commons\tSlugs at night\tmaya, merlin, zuzu\n",
    )


async def said(ledger: SqlLedger) -> list[tuple[str, str, str]]:
    """Every line of a mate, in order: its id, the mate, the policy that thought of it."""
    events = await ledger.read("room:commons")
    minds = {e.id: e.body.policy for e in events if isinstance(e.body, Perceived)}
    return [(e.id, e.body.mate, minds[e.body.turn]) for e in events if isinstance(e.body, Said)]


async def test_its_lines_are_told_whole(before: Path) -> None:
    """Every turn has its flight record: the prompt, the answer, the tool, and nothing forgotten."""
    async with open_ledger_of(load_settings(before, environ={})) as ledger:
        lines = await said(ledger)
        assert [(who, mind) for _, who, mind in lines] == [
            ("maya", "talk/1"),
            ("maya", "talk/1"),
            ("merlin", "talk/1"),
            ("maya", "chain/1"),
            ("zuzu", "chain/1"),
        ]
        records = [
            plain_summary.why_record_as_text(await build_why_record(ledger, id))
            for id, _, _ in lines
        ]
    for (_, _, mind), record in zip(lines, records, strict=True):
        assert f"policy {mind}" in record
        assert "word for word" in record
        assert SECRET not in record
    assert "“I heard that, 1.”" in records[0]
    assert "[result of clock: Saturday 21 November 2026, 09:00 (UTC)]" in records[1]
    assert "ben: [forgotten]" in records[2]
    assert "Asked quietly to critique" in records[3]


def test_the_flight_record_is_printed(before: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command that tells a line tells one of before."""
    code, found = told(before, capsys, "why", HELLO)
    assert code == 0
    assert "@maya hello, I grow slugs (edited since)" in found


def test_a_line_is_named_by_its_place_too(before: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As terminals and `ledger tail` show it; what is nowhere is said to be."""
    lines = [
        json.loads(row)
        for row in told(before, capsys, "ledger", "tail", "-n", "999", "--json")[1].splitlines()
    ]
    (hello,) = [one for one in lines if one["id"] == HELLO]
    by_id = told(before, capsys, "why", HELLO)
    room = hello["stream"].removeprefix("room:")
    for named in (f"{hello['stream']}#{hello['seq']}", f"{room}#{hello['seq']}"):
        assert told(before, capsys, "why", named) == by_id
    assert told(before, capsys, "why", f"{room}#99999")[0] == 2


def test_the_last_line_of_a_mate_needs_no_name(
    before: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`why` without an event, and `last`, are about what a mate said last."""
    rows = told(before, capsys, "ledger", "tail", "-n", "999", "--json")[1].splitlines()
    last = [one["id"] for one in map(json.loads, rows) if one["kind"] == "room.said"][-1]
    assert told(before, capsys, "why") == told(before, capsys, "why", last)
    replayed = told(before, capsys, "turn", "replay", "last")
    assert replayed == told(before, capsys, "turn", "replay", last)


@pytest.mark.parametrize(
    ("event", "then", "now"), [(HELLO, "talk/1", VERSION), (TITLE, "title/1", "title/3")]
)
def test_a_mind_that_has_changed_since_is_named(
    event: str, then: str, now: str, before: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A turn of before replays up to the first difference, and both versions are told."""
    code, found = told(before, capsys, "turn", "replay", event)
    assert code == 1
    assert found.startswith(
        f"diverged: The mind has changed since: it was {then}, it is {now} now. At request 1:\n"
    )


async def test_people_go_on_talking_in_it(before: Path) -> None:
    """Today's program takes the room up: nothing old is answered again, what is new is."""
    async with open_ledger_of(load_settings(before, environ={})) as ledger:
        old = await said(ledger)
    async with living(before, clock=SimClock(START + timedelta(minutes=5))) as home:
        await home.rest()
        assert await said(home.app.ledger) == old
        await home.hears("ana", "@maya are you still there?")
        lines = await said(home.app.ledger)
        assert [who for _, who, _ in lines[len(old) :]] == ["maya"]
        assert (await home.app.ledger.verify()).findings == ()
        shown = "\n".join(text for asked in home.models.asked for _, text in asked.messages)
        assert "I grow leeks" in shown
        assert SECRET not in shown


def test_a_whole_home_is_as_it_was_written(today: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On either database it is brought to today's schema, verifies, and its views are made anew."""
    assert told(today, capsys, "ledger", "migrate")[0] == 0
    code, found = told(today, capsys, "ledger", "verify")
    assert code == 0
    assert "texts read, 5 texts forgotten.\nAll of it is as it was written.\n" in found
    assert told(today, capsys, "ledger", "rebuild")[0] == 0
    code, found = told(today, capsys, "room", "list")
    assert [line.split("\t")[0] for line in found.splitlines()] == ["attic", "commons"]


async def test_its_turns_replay(today: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each line of a mate comes out to the letter, or it is told which mind has changed since."""
    async with open_ledger_of(load_settings(today, environ={})) as ledger:
        lines = [id for id, _, _ in await said(ledger)]
    assert len(lines) == 4
    for id in lines:
        found = (await to_thread.run_sync(told, today, capsys, "turn", "replay", id))[1]
        assert found.startswith(("same: ", "erased: ", "diverged: The mind has changed since")), id


async def test_people_go_on_in_it(today: Path) -> None:
    """Its rooms, pictures, accounts and saved settings are there, and a mate answers what is new."""
    async with living(today, clock=SimClock(START + timedelta(minutes=5))) as home:
        await home.rest()
        await home.enter("ana")
        old = await home.lines()
        assert "* Maya stays quiet: this room has no energy left (/energy)." in old
        assert home.app.settings.max_steps == 3
        visitor, _ = await home.app.accounts.signing.sign_in(
            "Ben Bee", "eel pie on tuesdays", "test", "::1"
        )
        assert visitor.name == "Ben Bee"
        heard = await home.bodies(Heard)
        (picture,) = (file for line in heard for file in line.files)
        assert len(await home.app.artifacts.get(str(picture.hash))) == picture.size
        await home.hears("ana", "@maya are you still there?")
        assert (await home.lines())[: len(old)] == old
        assert (await home.said())[-1] == "maya"
        assert (await home.app.ledger.verify()).findings == ()
        assert home.holding(f"number is {SECRET}".encode()) == []


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_a_backup_of_before_is_restored(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Into either database; what was forgotten after it was made is forgotten in the new home."""
    home, new = unpacked(TODAY, tmp_path / "home"), tmp_path / "new"
    url = request.getfixturevalue("postgres_url") if kind == "postgres" else ""
    more = ["--ledger", url] if url else []
    words = ["--home", str(new), "restore", str(home / "backups"), *more]
    assert await to_thread.run_sync(lambda: main(words)) == 0
    assert list((new / "data" / ARTIFACTS).rglob("*/*"))
    there = with_ledger(load_settings(new, environ={}), url)
    async with open_ledger_of(there) as ledger:
        assert (await ledger.verify()).findings == ()
        assert len(await said(ledger)) == 4
        heard = [e.body for e in await ledger.read("room:commons") if isinstance(e.body, Heard)]
        assert [line.text.text for line in heard].count(None) == 1


def test_a_backup_is_made_before_the_schema_is_brought_up(
    older: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the refusal of an older ledger asks for: of the old schema, whole, files and all."""
    assert told(older, capsys, "ledger", "verify")[0] == 1
    code, out = told(older, capsys, "backup", str(tmp_path / "kept"))
    assert (code, "1 files" in out) == (0, True)
    assert told(older, capsys, "ledger", "migrate") == (0, "Brought up to date.\n")
    new = tmp_path / "new"
    there = f"sqlite:///{new}/data/loopforge.db"
    assert told(new, capsys, "restore", str(tmp_path / "kept"), "--ledger", there)[0] == 0
    ledgers = [told(home, capsys, "ledger", "verify") for home in (older, new)]
    assert ledgers[0] == ledgers[1]
    assert list((new / "data" / ARTIFACTS).rglob("*/*"))
