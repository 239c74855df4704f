"""JSON lines, over a real ledger: nothing lost, nothing doubled, nothing that was forgotten."""

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Set
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.events import Event
from loopforge.core.memory.memory_vocabulary import MemoryKept
from loopforge.core.room_vocabulary import Said, Told
from loopforge.core.text.erasable_text import FORGOTTEN, Words
from loopforge.core.turn_events import Asked, PieceRun, TextPiece
from loopforge.errors import BadSettings, SendFailed
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.jsonl_export import as_json_line, redact_json_line
from loopforge.ledger.sql_ledger import SqlLedger, open_ledger
from loopforge.ledger.storage.sink_cursors import SinkCursors
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice
from loopforge.settings import load_settings
from loopforge.sinks import sink_runner
from loopforge.sinks.jsonl import JsonLines
from loopforge.sinks.sink_plugin import sinks_of
from loopforge.sinks.sink_runner import Sinks

STAMP = Stamp(SystemClock(), SystemDice())


@asynccontextmanager
async def sinking(home: Path, ledger: SqlLedger, text: str) -> AsyncIterator[Sinks]:
    """The sinks that this loopforge.toml wants, until the block ends."""
    (home / "loopforge.toml").write_text(text)
    found = sinks_of(load_settings(home, environ={}))
    sinks = Sinks(ledger, STAMP.clock, found, SinkCursors(ledger))
    await sinks.open()
    try:
        yield sinks
    finally:
        await sinks.close()


async def say(ledger: SqlLedger, text: str, stream: str = "room:a") -> str:
    """Somebody says something; the event's id."""
    fact = STAMP.fact(Said(turn="t", mate="maya", text=Words(text)), actor="mate:maya")
    return (await ledger.append(stream, [fact]))[0].id


def lines(file: Path) -> list[str]:
    """The lines of the file."""
    return file.read_text().splitlines() if file.exists() else []


async def rows(file: Path, count: int) -> list[dict[str, Any]]:
    """The lines of the file, once there are so many."""
    while len(found := lines(file)) < count:
        await STAMP.clock.sleep(0.01)
    return [json.loads(each) for each in found]


async def test_it_goes_on_where_it_left_off(tmp_path: Path, ledger: SqlLedger) -> None:
    """What happened before, while and between is there once, after a line that was cut off too."""
    file, wanted = tmp_path / "out" / "events.jsonl", 'jsonl_path = "out/events.jsonl"'
    await say(ledger, "one")
    async with sinking(tmp_path, ledger, wanted):
        await rows(file, 1)
        await say(ledger, "two")
        await rows(file, 2)
    with file.open("a") as torn:
        torn.write('{"stream": "room:a", "seq": 3, "bo')
    await say(ledger, "three")
    await say(ledger, "elsewhere", "room:b")
    await say(ledger, "of no room", "lab:c")
    async with sinking(tmp_path, ledger, wanted):
        await rows(file, 4)
        await say(ledger, "four")
        found = await rows(file, 5)
    there = [(row["stream"], row["seq"]) for row in found]
    assert sorted(there) == [*(("room:a", n) for n in range(1, 5)), ("room:b", 1)]


@pytest.mark.parametrize("held", [b"a diary", b"a diary\nwithout an end", b"SQLite\n\0\0\xf1"])
async def test_a_file_of_something_else_is_left_as_it_is(
    tmp_path: Path, ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch, held: bytes
) -> None:
    """Nothing of it is cut away, nothing is added; it goes on when the file is moved away."""
    monkeypatch.setattr(sink_runner, "PAUSES", (0.02,))
    file = tmp_path / "diary"
    file.write_bytes(held)
    await say(ledger, "one")
    async with sinking(tmp_path, ledger, 'jsonl_path = "diary"'):
        await STAMP.clock.sleep(0.1)
        assert file.read_bytes() == held
        file.rename(tmp_path / "aside")
        await rows(file, 1)
    with pytest.raises(SendFailed, match="holds what is no event, and is left as it is"):
        await JsonLines(tmp_path / "aside", texts=False).had()


async def test_private_texts_go_only_where_asked(tmp_path: Path, ledger: SqlLedger) -> None:
    """Without `jsonl_texts` a ref stands for what was said; chosen kinds alone are there."""
    file, wanted = tmp_path / "e.jsonl", 'jsonl_path = "e.jsonl"\njsonl_kinds = "room.said"\n'
    await ledger.append("room:a", [STAMP.fact(Told(text=Words("The room.")), actor="runtime")])
    await say(ledger, "a secret")
    async with sinking(tmp_path, ledger, wanted):
        (row,) = await rows(file, 1)
    assert row["kind"] == "room.said"
    assert "secret" not in file.read_text()
    file.unlink()
    async with sinking(tmp_path, ledger, wanted + "jsonl_texts = true"):
        (row,) = await rows(file, 1)
    assert row["body"]["text"] == "a secret"


async def test_what_is_forgotten_is_forgotten_here(tmp_path: Path, ledger: SqlLedger) -> None:
    """An erasure takes the text out of the file, and a later beginning does not bring it back."""
    file, wanted = tmp_path / "e.jsonl", 'jsonl_path = "e.jsonl"\njsonl_texts = true\n'
    first = await say(ledger, "a secret")
    async with sinking(tmp_path, ledger, wanted):
        await say(ledger, "a word")
        await rows(file, 2)
        await ledger.erase(ErasureRequest(events=(first,)))
        found = await rows(file, 3)
    assert [row["body"].get("text") for row in found] == [FORGOTTEN, "a word", None]
    assert "secret" not in file.read_text()
    file.unlink()
    async with sinking(tmp_path, ledger, wanted):
        assert (await rows(file, 3))[0]["body"]["text"] == FORGOTTEN


async def remember(ledger: SqlLedger, text: str) -> Event:
    """Maya keeps something, and a model is asked in a room with it; the item."""
    kept = STAMP.fact(MemoryKept(layer="fact", text=Words(text), made_by="idle"), actor="runtime")
    (item,) = await ledger.append("memory:maya", [kept])
    assert isinstance(item.body, MemoryKept)
    prompt = PieceRun(more=(TextPiece("user", (Words("You know:"), item.body.text)),))
    asked = Asked(turn="t", nth=1, purpose="talk", prompt=prompt)
    await ledger.append("room:a", [STAMP.fact(asked, actor="runtime")])
    return item


async def test_what_is_forgotten_elsewhere_is_forgotten_where_it_was_shown(
    tmp_path: Path, ledger: SqlLedger
) -> None:
    """An item of memory that stands in a room's prompt, be it forgotten while nobody writes."""
    file, wanted = tmp_path / "e.jsonl", 'jsonl_path = "e.jsonl"\njsonl_texts = true\n'
    item, other = await remember(ledger, "a secret"), await remember(ledger, "a whim")
    async with sinking(tmp_path, ledger, wanted):
        await rows(file, 2)
        await ledger.erase(ErasureRequest(events=(item.id,), exactly=True))
        found = await rows(file, 3)
    assert [(row["stream"], row["kind"]) for row in found[2:]] == [("memory:maya", "ledger.erased")]
    assert found[0]["body"]["prompt"]["more"][0]["words"] == ["You know:", FORGOTTEN]
    assert "secret" not in file.read_text()
    await ledger.erase(ErasureRequest(events=(other.id,), exactly=True))
    async with sinking(tmp_path, ledger, wanted):
        await rows(file, 4)
        assert "whim" not in file.read_text()
        await say(ledger, "one")
        assert (await rows(file, 5))[4]["stream"] == "room:a"


async def test_a_file_that_had_texts_once_goes_on_forgetting_them(
    tmp_path: Path, ledger: SqlLedger
) -> None:
    """Also after `jsonl_texts` was set back; lines without them are left as they are."""
    file, wanted = tmp_path / "e.jsonl", 'jsonl_path = "e.jsonl"\n'
    first = await say(ledger, "a secret")
    async with sinking(tmp_path, ledger, f"{wanted}jsonl_texts = true"):
        await rows(file, 1)
    async with sinking(tmp_path, ledger, wanted):
        second = await say(ledger, "a word")
        before = [await rows(file, 2), lines(file)[1]]
        await ledger.erase(ErasureRequest(events=(first, second)))
        await rows(file, 3)
    assert json.loads(lines(file)[0])["body"]["text"] == FORGOTTEN
    assert lines(file)[1] == before[1]
    assert "secret" not in file.read_text()


async def test_a_file_that_is_ahead_of_the_ledger_is_told(
    tmp_path: Path, ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a backup was restored: nothing is added to it, however far the ledger grows again."""
    monkeypatch.setattr(sink_runner, "PAUSES", (0.02,))
    file, wanted = tmp_path / "e.jsonl", 'jsonl_path = "e.jsonl"'
    for text in ("one", "two"):
        await say(ledger, text)
    async with sinking(tmp_path, ledger, wanted):
        await rows(file, 2)
    held, restored = file.read_bytes(), tmp_path / "restored"
    restored.mkdir()
    file.rename(restored / "e.jsonl")
    other = await open_ledger(f"sqlite:///{restored}/x.db", STAMP.clock, STAMP.dice)
    try:
        await say(other, "one")
        async with sinking(restored, other, wanted) as sinks:
            while not (standing := (await sinks.standings())[0]).at:
                await STAMP.clock.sleep(0.01)
            assert "holds events of room:a that the ledger does not" in standing.trouble
            for text in ("else", "and more"):
                await say(other, text)
            while (again := (await sinks.standings())[0]).at == standing.at:
                await STAMP.clock.sleep(0.01)
            assert again.trouble == standing.trouble
            assert (restored / "e.jsonl").read_bytes() == held
            (restored / "e.jsonl").unlink()
            found = await rows(restored / "e.jsonl", 3)
    finally:
        await other.close()
    assert [row["seq"] for row in found] == [1, 2, 3]


async def test_a_file_whose_home_was_restored_and_grew_past_it_is_told(
    tmp_path: Path, ledger: SqlLedger
) -> None:
    """Also where the home is past it by then: the next event does not follow what the file has."""
    file, wanted = tmp_path / "e.jsonl", 'jsonl_path = "e.jsonl"'
    async with sinking(tmp_path, ledger, wanted):
        await say(ledger, "one")
        await rows(file, 1)
    held = file.read_bytes()
    other = await open_ledger(f"sqlite:///{tmp_path}/other.db", STAMP.clock, STAMP.dice)
    try:
        for text in ("else", "and more"):
            await say(other, text)
        async with sinking(tmp_path, other, wanted) as sinks:
            while not (standing := (await sinks.standings())[0]).at:
                await STAMP.clock.sleep(0.01)
    finally:
        await other.close()
    assert "holds events of room:a that the ledger does not" in standing.trouble
    assert file.read_bytes() == held


class Looked(Set[str]):
    """Refs that were forgotten, and how often one was looked at."""

    def __init__(self, refs: Iterable[str]) -> None:
        self._refs, self.looks = frozenset(refs), 0

    def __contains__(self, ref: object) -> bool:
        self.looks += 1
        return ref in self._refs

    def __iter__(self) -> Iterator[str]:
        for ref in self._refs:
            self.looks += 1
            yield ref

    def __len__(self) -> int:
        return len(self._refs)


async def test_forgetting_much_looks_at_the_refs_of_a_line_alone(ledger: SqlLedger) -> None:
    """However many texts were forgotten; of a line that holds one of them it is taken out."""
    event = await ledger.event(await say(ledger, "a secret"))
    line = as_json_line(event)
    others = [f"{nth:064x}" for nth in range(1000)]
    away = Looked(others)
    assert redact_json_line(line, away) == line
    assert isinstance(event.body, Said)
    gone = Looked([*others, event.body.text.ref])
    assert json.loads(redact_json_line(line, gone))["body"]["text"] == FORGOTTEN
    assert (away.looks, gone.looks) == (1, 1)


async def test_a_sink_that_cannot_write_loses_nothing(
    tmp_path: Path, ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While its folder cannot be made it is tried again, and then has everything, in order."""
    monkeypatch.setattr(sink_runner, "PAUSES", (0.02,))
    blocked = tmp_path / "out"
    blocked.write_text("in the way")
    async with sinking(tmp_path, ledger, 'jsonl_path = "out/e.jsonl"'):
        for text in ("one", "two", "three"):
            await say(ledger, text)
        await STAMP.clock.sleep(0.1)
        blocked.unlink()
        found = await rows(blocked / "e.jsonl", 3)
    assert [row["seq"] for row in found] == [1, 2, 3]


def test_streams_that_are_none_are_refused(tmp_path: Path) -> None:
    """A sink that is wanted and would be sent nothing says so at the start."""
    (tmp_path / "loopforge.toml").write_text('jsonl_path = "e.jsonl"\njsonl_streams = " , "\n')
    with pytest.raises(BadSettings, match="`jsonl_streams` names no streams"):
        sinks_of(load_settings(tmp_path, environ={}))
    (tmp_path / "loopforge.toml").write_text('jsonl_streams = ""\n')
    assert sinks_of(load_settings(tmp_path, environ={})) == []
