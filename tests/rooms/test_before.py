"""A room that an earlier program wrote: opened, verified, told, replayed, and talked in.

`before.tar.gz` is a home as it was when the minds were talk/1 and chain/1: Ana and Ben talked with
three mates by the scripted model, one of which used a tool; the room found a title and changed its
policy to chain; then Ana edited her first line, and Ben deleted his with a number in it.
"""

from __future__ import annotations

import tarfile
from datetime import timedelta
from pathlib import Path

import pytest

from loopforge.app import open_ledger_of
from loopforge.chat.why import record_text
from loopforge.chat.why.record_building import gather
from loopforge.cli import main
from loopforge.core.events import Perceived
from loopforge.core.room_vocabulary import Said
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.policies.talk import VERSION
from loopforge.runtime.system_clock import SimClock
from loopforge.settings import load_settings
from tests.rooms.conftest import START, living

HELLO = "01a1fd557cd870068feeab3b85b13ffd"
"""What Maya said first, in words that nobody forgot."""
TITLE = "01a1fd557f307018b127962989dc6cbb"
SECRET = "4711"


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """The home."""
    with tarfile.open(Path(__file__).with_name("before.tar.gz")) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


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
        records = [record_text.told(await gather(ledger, id)) for id, _, _ in lines]
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


@pytest.mark.parametrize(
    ("event", "then", "now"), [(HELLO, "talk/1", VERSION), (TITLE, "title/1", "title/2")]
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
