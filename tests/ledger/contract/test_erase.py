"""What every ledger promises of forgetting."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from loopforge.core.events import Erased, Event, Fact
from loopforge.core.people_events import PersonMet
from loopforge.core.room_vocabulary import File, Heard, MateJoined, PersonJoined, Said, Titled
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.turn_events import (
    Answered,
    Asked,
    LineRun,
    Perceived,
    PieceRun,
    Planned,
    TextPiece,
    TurnEnded,
)
from loopforge.errors import Unknown
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.sql_ledger import SqlLedger
from tests.ledger.contract.test_views import Lines, rows_of
from tests.ledger.saying import ROOM, Scribbler, opened, text_of

SECRET = "My sister Ottilie lives in Lisbon"


class Turn:
    """One turn of a mate as it is recorded: shown, asked, answered, planned, said."""

    def __init__(self, scribbler: Scribbler, line: Fact, answer: str) -> None:
        assert isinstance(line.body, Heard)
        self.answer = answer
        plan = json.dumps({"intent": "talk", "acts": [{"kind": "say", "text": answer}]})
        prompt = TextPiece("user", (Words("Somebody wrote: "), line.body.text))
        fact = scribbler.fact
        self.perceived = fact(
            Perceived(
                mate="maya",
                policy="talk/1",
                mind="m",
                line=line.id,
                summons="mention",
                step=0,
                shown=Words("a quiet garden"),
                lines=LineRun(more=()),
            ),
            "mate:maya",
        )
        turn = self.perceived.id
        self.asked = fact(
            Asked(turn=turn, nth=1, purpose="reply", prompt=PieceRun(more=(prompt,))), "mate:maya"
        )
        self.answered = fact(
            Answered(turn=turn, nth=1, outcome="answered", text=Words(answer)), "mate:maya"
        )
        self.planned = fact(
            Planned(turn=turn, intent="talk", mode="context", plan=Words(plan)), "mate:maya"
        )
        self.said = fact(Said(turn=turn, mate="maya", text=Words(answer)), "mate:maya")

    @property
    def facts(self) -> list[Fact]:
        """In order."""
        return [self.perceived, self.asked, self.answered, self.planned, self.said]


async def left(ledger: SqlLedger, stream: str = ROOM) -> list[str]:
    """The texts that still are in a stream, by the kind of their event."""
    found = []
    for event in await ledger.read(stream):
        for name in ("text", "shown", "plan", "title", "name"):
            words = getattr(event.body, name, None)
            if isinstance(words, Words) and words.text is not None and not words.public:
                found.append(f"{event.kind} {words.text}")
    return found


async def conversation(ledger: SqlLedger, answer: str) -> tuple[Fact, Turn]:
    """Somebody tells a secret, a mate answers, and others talk on."""
    scribbler = Scribbler()
    secret = scribbler.heard(SECRET)
    turn = Turn(scribbler, secret, answer)
    await ledger.append(ROOM, [scribbler.heard("hello"), secret, *turn.facts])
    await ledger.append(ROOM, [scribbler.heard("nice weather", "p2")])
    return secret, turn


async def test_elsewhere_the_turns_that_were_shown_it_forget_it(ledger: SqlLedger) -> None:
    """What mates say there later, perhaps of another ground, stays; of the record all goes."""
    other = "room:other"
    scribbler = Scribbler()
    secret = scribbler.heard(SECRET)
    await ledger.append(ROOM, [secret])
    turn = Turn(scribbler, secret, "Ottilie is well.")
    ended = scribbler.fact(TurnEnded(turn=turn.perceived.id, outcome="done"), "mate:maya")
    later = Turn(scribbler, scribbler.heard("hello"), "Lisbon has trams.")
    await ledger.append(other, [*turn.facts, ended, *later.facts])
    erasure = await ledger.erase(ErasureRequest(events=(secret.id,)))
    there = await left(ledger, other)
    assert (erasure.quoting, erasure.shown) == (1, frozenset({other}))
    assert "room.said Lisbon has trams." in there
    assert [one for one in there if "Ottilie" in one or one.startswith("turn.answered")] == []


async def test_a_line_is_forgotten(ledger: SqlLedger) -> None:
    """A forgotten line has no text any more; its event stays, and the chain verifies."""
    secret, turn = await conversation(ledger, "How nice.")
    erasure = await ledger.erase(ErasureRequest(events=(secret.id,), by="p1", why="asked"))
    assert (erasure.named, erasure.quoting, erasure.clean) == (1, 0, True)
    event = await ledger.event(secret.id)
    assert text_of(event) is None
    assert isinstance(event.body, Heard)
    assert erasure.texts == {ROOM: (event.body.text.ref,)}
    (last,) = await ledger.read(ROOM, limit=1, newest=True)
    assert last.body == Erased(refs=(event.body.text.ref,), by="p1", why="asked")
    assert erasure.events == (last.id,)
    asked = (await ledger.event(turn.asked.id)).body
    assert isinstance(asked, Asked)
    assert [words.text for words in asked.prompt.more[0].words] == ["Somebody wrote: ", None]
    assert (await ledger.verify()).sound


async def test_what_quotes_a_line_is_forgotten_with_it(ledger: SqlLedger) -> None:
    """Raw answers, plans and lines that repeat a forgotten line go with it; others stay."""
    secret, _ = await conversation(ledger, "So Ottilie is your sister?")
    erasure = await ledger.erase(ErasureRequest(events=(secret.id,)))
    assert (erasure.named, erasure.quoting) == (1, 3)
    assert await left(ledger) == [
        "room.heard hello",
        "turn.perceived a quiet garden",
        "room.heard nice weather",
    ]
    assert (await ledger.verify()).sound


async def test_the_name_of_a_mate_is_no_quote(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """Whoever calls the same mate later has said nothing of the line that is forgotten."""
    there = scribbler.fact(MateJoined(mate="merlin"), "room")
    told = scribbler.heard("merlin, the marmalade is hidden")
    later = scribbler.heard("Merlin, how is the weather?", "p2")
    _, line, other = await ledger.append(ROOM, [there, told, later])
    erasure = await ledger.erase(ErasureRequest(events=(line.id,)))
    assert (erasure.named, erasure.quoting) == (1, 0)
    assert text_of(await ledger.event(other.id)) == "Merlin, how is the weather?"


async def test_exactly_what_was_named(ledger: SqlLedger) -> None:
    """With `exactly`, quotes stay."""
    secret, _ = await conversation(ledger, "So Ottilie is your sister?")
    erasure = await ledger.erase(ErasureRequest(events=(secret.id,), exactly=True))
    assert (erasure.named, erasure.quoting) == (1, 0)
    assert "room.said So Ottilie is your sister?" in await left(ledger)


async def test_a_mates_line_goes_with_its_turn(ledger: SqlLedger) -> None:
    """Forgetting what a mate said reaches the raw answer and the plan that came before it."""
    _, turn = await conversation(ledger, "Marmalade is wonderful")
    await ledger.erase(ErasureRequest(events=(turn.said.id,)))
    assert await left(ledger) == [
        "room.heard hello",
        f"room.heard {SECRET}",
        "turn.perceived a quiet garden",
        "room.heard nice weather",
    ]


async def test_a_text_is_forgotten_by_its_ref(ledger: SqlLedger) -> None:
    """A text can be named by its ref, wherever it stands."""
    secret, _ = await conversation(ledger, "How nice.")
    assert isinstance(secret.body, Heard)
    erasure = await ledger.erase(ErasureRequest(refs=(secret.body.text.ref, "f" * 64)))
    assert erasure.refs == {secret.body.text.ref}
    assert f"room.heard {SECRET}" not in await left(ledger)


async def test_all_words_of_an_event_go(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """A line's files go with it; of a turn's record, only what it brought in."""
    file = File(name=Words("a.txt"), size=1, text=Words("inside"))
    heard = scribbler.heard("look", files=(file,))
    turn = Turn(scribbler, heard, "How nice.")
    await ledger.append(ROOM, [heard, *turn.facts])
    erasure = await ledger.erase(ErasureRequest(events=(turn.asked.id,), exactly=True))
    assert erasure.named == 1
    assert "room.heard look" in await left(ledger)
    assert (await ledger.erase(ErasureRequest(events=(heard.id,), exactly=True))).named == 3
    assert (await ledger.verify()).sound


async def test_forgetting_twice_is_quiet(ledger: SqlLedger) -> None:
    """What is forgotten already is not recorded as forgotten again."""
    secret, _ = await conversation(ledger, "How nice.")
    await ledger.erase(ErasureRequest(events=(secret.id,)))
    again = await ledger.erase(ErasureRequest(events=(secret.id,)))
    assert (again.texts, again.events, again.clean) == ({}, (), True)


async def test_unknown_wishes_are_refused(ledger: SqlLedger) -> None:
    """An unknown event or person raises Unknown, and nothing is forgotten."""
    secret, _ = await conversation(ledger, "How nice.")
    for wish in (ErasureRequest(events=(secret.id, "nobody")), ErasureRequest(person="nobody")):
        with pytest.raises(Unknown):
            await ledger.erase(wish)
    assert f"room.heard {SECRET}" in await left(ledger)


async def _household(ledger: SqlLedger) -> None:
    """Ana (p1) speaks in two rooms and is spoken of; Bo (p2) speaks too; nobody else is told."""
    scribbler = Scribbler()
    name, account = Words("Ana"), Words("ana@example")
    met = PersonMet(person="p1", name=name, surface="terminal", account=account)
    (event,) = await ledger.append("people", [scribbler.fact(met, "person:p1")])
    assert isinstance(event.body, PersonMet)
    joined = PersonJoined(person="p1", name=event.body.name, surface="terminal")
    await ledger.append(
        ROOM,
        [
            scribbler.said("Welcome all"),
            scribbler.fact(joined),
            scribbler.heard("I breed alpacas"),
            scribbler.said("Alpacas, how lovely"),
            scribbler.said("Good evening ana!"),
            scribbler.fact(Titled(title=Words("Alpacas"), by="room")),
            scribbler.heard("Good night", "p2"),
        ],
    )
    await ledger.append("room:b", [scribbler.heard("rhubarb"), scribbler.heard("good", "p2")])
    await ledger.append("room:c", [scribbler.heard("Ana and alpacas", "p2")])


async def test_a_person_is_forgotten(ledger: SqlLedger) -> None:
    """A person's lines, names, and what quotes or names them go, in every room they were in."""
    await _household(ledger)
    erasure = await ledger.erase(ErasureRequest(person="p1", by="p1"))
    assert set(erasure.texts) == {"people", ROOM, "room:b"}
    assert await left(ledger, "people") == []
    assert await left(ledger) == ["room.said Welcome all", "room.heard Good night"]
    assert await left(ledger, "room:b") == ["room.heard good"]
    assert await left(ledger, "room:c") == ["room.heard Ana and alpacas"]
    for stream in erasure.texts:
        (last,) = await ledger.read(stream, limit=1, newest=True)
        assert isinstance(last.body, Erased)
        assert last.body.refs == erasure.texts[stream]
    assert (await ledger.verify()).sound


async def test_the_names_of_others_stay(ledger: SqlLedger) -> None:
    """Ana goes; Ana Maria keeps her name and her account, wherever they were written down."""
    scribbler, full = Scribbler(), "Ana Maria Lopez"
    await _household(ledger)
    met = PersonMet(person="p3", name=Words(full), surface="web", account=Words(full))
    await ledger.append("people", [scribbler.fact(met, "person:p3")])
    joined = PersonJoined(person="p3", name=Words(full), surface="web")
    await ledger.append(ROOM, [scribbler.fact(joined), scribbler.said("Bye, Ana")])
    await ledger.erase(ErasureRequest(person="p1"))
    assert sum(full in each for each in await left(ledger, "people")) == 1
    assert f"room.person_joined {full}" in await left(ledger)
    assert not any("Bye" in each for each in await left(ledger))
    (said,) = await ledger.append(ROOM, [scribbler.heard(f"I met {full} today", "p2")])
    await ledger.erase(ErasureRequest(events=(said.id,)))
    await ledger.erase(ErasureRequest(stream=ROOM))
    assert sum(full in each for each in await left(ledger, "people")) == 1
    await ledger.erase(ErasureRequest(person="p3"))
    assert await left(ledger, "people") == []


async def test_views_and_snapshots_forget_too(ledger_url: str) -> None:
    """A view that holds texts is folded anew, and snapshots of touched streams are dropped."""
    async with opened(ledger_url, [Lines()]) as ledger:
        secret, _ = await conversation(ledger, "How nice.")
        await ledger.save_snapshot(ROOM, 3, 1, b'{"title":"Ottilie"}')
        await ledger.append("room:other", [Scribbler().heard("x", person="p9")])
        await ledger.save_snapshot("room:other", 1, 1, b"{}")
        assert ("p1", 2, SECRET) in rows_of(ledger_url)
        await ledger.erase(ErasureRequest(events=(secret.id,)))
        assert ("p1", 2, "[forgotten]") in rows_of(ledger_url)
        assert await ledger.load_snapshot(ROOM, 1) is None
        assert await ledger.load_snapshot("room:other", 1) is not None


async def test_followers_hear_of_an_erasure(ledger: SqlLedger) -> None:
    """An Erased event reaches followers like any other, and others' public words stay."""
    told: list[tuple[str, Event]] = []
    secret, _ = await conversation(ledger, "How nice.")
    ledger.subscribe(lambda stream, events: told.extend((stream, e) for e in events))
    await ledger.append(ROOM, [Scribbler().fact(Titled(title=public_words("Garden"), by="room"))])
    await ledger.erase(ErasureRequest(events=(secret.id,)))
    assert [(stream, event.kind) for stream, event in told] == [
        (ROOM, "room.titled"),
        (ROOM, "ledger.erased"),
    ]
    assert await ledger.append(ROOM, [Scribbler().heard("on we go")])


async def test_a_long_list_takes_several_events(ledger: SqlLedger) -> None:
    """However many texts are forgotten at once, all are listed, some thousands in each event."""
    scribbler, many = Scribbler(), 4100
    await ledger.append(ROOM, [scribbler.heard("x") for _ in range(many)])
    erasure = await ledger.erase(ErasureRequest(person="p1"))
    assert (erasure.named, len(erasure.events)) == (many, 3)
    found = await ledger.verify()
    assert (found.sound, found.forgotten, found.texts) == (True, many, 0)


# ---------------------------------------------------------------- a whole stream

OTHER = "room:other"
ECHO = "They told me: my sister Ottilie lives in Lisbon, imagine"


async def _two_rooms(ledger: SqlLedger) -> None:
    """A secret is told and answered in one room, repeated in another, and others talk there."""
    await conversation(ledger, "So Ottilie is your sister?")
    scribbler = Scribbler()
    for _ in range(20):
        scribbler.stamp.id()  # a little later
    await ledger.append(OTHER, [scribbler.heard(ECHO, "p2"), scribbler.heard("Ottilie who?", "p3")])


async def test_a_stream_is_forgotten(ledger: SqlLedger) -> None:
    """Every text of the stream goes, and what echoes it elsewhere; events stay and verify."""
    await _two_rooms(ledger)
    before = await ledger.heads()
    erasure = await ledger.erase(ErasureRequest(stream=ROOM, by="p1", why="closed"))
    assert (erasure.named, erasure.quoting, erasure.clean) == (8, 1, True)
    assert await left(ledger) == []
    assert await left(ledger, OTHER) == ["room.heard Ottilie who?"]
    assert await ledger.heads() == {ROOM: before[ROOM] + 1, OTHER: before[OTHER] + 1}
    (last,) = await ledger.read(ROOM, limit=1, newest=True)
    assert last.body == Erased(refs=erasure.texts[ROOM], by="p1", why="closed")
    found = await ledger.verify()
    assert (found.sound, found.texts, found.forgotten) == (True, 1, 9)


async def test_a_stream_exactly(ledger: SqlLedger) -> None:
    """With `exactly`, what echoes it elsewhere stays."""
    await _two_rooms(ledger)
    erasure = await ledger.erase(ErasureRequest(stream=ROOM, exactly=True))
    assert (erasure.named, erasure.quoting, set(erasure.texts)) == (8, 0, {ROOM})
    assert await left(ledger, OTHER) == [f"room.heard {ECHO}", "room.heard Ottilie who?"]


async def test_pretending_to_forget_a_stream(ledger: SqlLedger) -> None:
    """The report says what would go, in the stream and elsewhere, and nothing goes."""
    await _two_rooms(ledger)
    before = await ledger.read(ROOM), await ledger.read(OTHER)
    would = await ledger.erase(ErasureRequest(stream=ROOM), pretend=True)
    assert (would.named, would.quoting, would.events, would.clean) == (8, 1, (), False)
    assert {stream: len(refs) for stream, refs in would.texts.items()} == {ROOM: 8, OTHER: 1}
    assert (await ledger.read(ROOM), await ledger.read(OTHER)) == before


async def test_a_stream_that_is_none(ledger: SqlLedger) -> None:
    """An unknown stream raises; one without any text left is forgotten quietly."""
    await _two_rooms(ledger)
    with pytest.raises(Unknown, match="no stream 'room:none'"):
        await ledger.erase(ErasureRequest(stream="room:none"))
    await ledger.erase(ErasureRequest(stream=ROOM))
    again = await ledger.erase(ErasureRequest(stream=ROOM))
    assert (again.named, again.quoting, again.events) == (0, 0, ())


async def test_a_stream_and_its_names(ledger: SqlLedger) -> None:
    """A person's name that is known to the house is the house's, and outlives the room."""
    await _household(ledger)
    await ledger.erase(ErasureRequest(stream=ROOM))
    assert await left(ledger) == ["room.person_joined Ana"]
    assert await left(ledger, "people") == ["people.met Ana"]
    assert (await ledger.verify()).sound


async def test_nothing_of_a_stream_is_left_in_the_file(tmp_path: Path) -> None:
    """After a stream was forgotten no text of it is in any of the files, and all others are."""
    scribbler, sizes = Scribbler(), (1, 5, 40, 300, 1500)
    async with opened(f"sqlite:///{tmp_path / 'ledger.db'}") as ledger:
        for nth in range(300):
            text = f"<mark{nth % 2}>" * sizes[nth % 5]
            await ledger.append(f"room:{nth % 2}", [scribbler.heard(text)])
        assert (await ledger.erase(ErasureRequest(stream="room:0", exactly=True))).clean
        raw = markers(tmp_path)
        assert "<mark0>" not in raw
        assert "<mark1>" in raw
        assert (await ledger.verify()).sound


# ---------------------------------------------------------------- truly gone


def markers(folder: Path) -> str:
    """What stands in the files of an SQLite ledger, as far as it is text."""
    return "".join(file.read_bytes().decode("latin-1") for file in folder.iterdir())


async def test_nothing_is_left_in_the_file(tmp_path: Path) -> None:
    """After erasures between appends of all sizes, no forgotten text is in any of the files."""
    scribbler, marks = Scribbler(), 400
    sizes = (1, 5, 40, 300, 1500)
    async with opened(f"sqlite:///{tmp_path / 'ledger.db'}") as ledger:
        ids = []
        for nth in range(marks):
            text = f"<mark{nth}>" * sizes[nth % 5]
            (event,) = await ledger.append(f"room:{nth % 3}", [scribbler.heard(text)])
            ids.append(event.id)
            if nth % 40 == 39:
                some = [ids[back] for back in range(nth, nth - 40, -3)]
                erasure = await ledger.erase(ErasureRequest(events=tuple(some), exactly=True))
                assert erasure.clean
        raw = markers(tmp_path)
        forgotten = 0
        for nth, id in enumerate(ids):
            gone = text_of(await ledger.event(id)) is None
            forgotten += gone
            assert (f"<mark{nth}>" in raw) is not gone
        assert forgotten == marks // 40 * 14


async def test_a_reader_in_the_way_is_told(tmp_path: Path) -> None:
    """While another program reads, the file cannot be cleaned; the report says so, and how to."""
    file = tmp_path / "ledger.db"
    async with opened(f"sqlite:///{file}", patience=0.1) as ledger:
        secret, _ = await conversation(ledger, "How nice.")
        with closing(sqlite3.connect(file)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM events").fetchone()
            erasure = await ledger.erase(ErasureRequest(events=(secret.id,)))
            assert not erasure.clean
            assert text_of(await ledger.event(secret.id)) is None
            assert "Ottilie" in markers(tmp_path)
        assert (await ledger.erase(ErasureRequest(events=(secret.id,)))).clean
        assert "Ottilie" not in markers(tmp_path)


@pytest.mark.postgres
async def test_who_reads_postgres_is_not_waited_for(postgres_url: str) -> None:
    """No sample holds the text any more; the table is written anew at a start, where nobody reads."""
    async with opened(postgres_url, patience=0.1) as ledger:
        secret, _ = await conversation(ledger, "How nice.")
        with (
            psycopg.connect(postgres_url, autocommit=True) as plain,
            psycopg.connect(postgres_url) as reader,
        ):
            place = "SELECT pg_relation_filenode('texts')"
            before = plain.execute(place).fetchone()
            plain.execute("ANALYZE")
            sampled = "SELECT count(*) FROM pg_stats WHERE histogram_bounds::text LIKE '%Ottilie%'"
            assert plain.execute(sampled).fetchone() != (0,)
            reader.execute("SELECT count(*) FROM texts")
            assert (await ledger.erase(ErasureRequest(events=(secret.id,)))).clean
            assert plain.execute(sampled).fetchone() == (0,)
            await ledger.write_anew()
            assert plain.execute(place).fetchone() == before
            reader.rollback()
            await ledger.write_anew()
            assert (anew := plain.execute(place).fetchone()) != before
            await ledger.write_anew()
            assert plain.execute(place).fetchone() == anew
