"""How well what was said is found again: conversations in LoCoMo's format, and their questions.

    python bench/retrieval.py --format locomo --data FILE --k 5,10,20

Each conversation becomes a room of a home of its own; its turns become lines of that room's ledger,
as they come in a talk: of people, or of a mate where the speaker is an assistant. Every question
that names its evidence is asked as a mate would ask (loopforge.runtime.ports.Recall), in the room,
for the first person of the talk. Prints one line of JSON: of the turns that answer a question the
share among the first k; how often one of their sessions is among the first ten; questions a second;
seconds for the index of words and of vectors; bytes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from dateutil.parser import ParserError, parse
from sqlalchemy import func, select

from loopforge.app import App, open_aside
from loopforge.core.events import Body, Fact
from loopforge.core.room_vocabulary import Heard, MateJoined, PersonJoined, RoomOpened, Said
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError, LoopforgeError, NotInstalled
from loopforge.home import make_home
from loopforge.memory.transcript_index import passages, vectors
from loopforge.runtime.looking_back import RecallQuery
from loopforge.settings import load_settings

ASSISTANTS = ("assistant", "ai", "bot", "chatbot", "model")
"""Speakers, in small letters, whose turns are a mate's."""
DEEP = 100
"""Lines that are asked for: enough to see ten sessions."""
AT_ONCE = 200
PAUSE = timedelta(seconds=30)
"""Between two turns; the format tells only when a session began."""


class Turn(NamedTuple):
    """A turn of a conversation: its id, its session, who said what, when."""

    id: str
    session: int
    who: str
    text: str
    at: datetime


class Talk(NamedTuple):
    """A conversation with its questions: each with the ids of the turns that answer it."""

    stream: str
    turns: tuple[Turn, ...]
    questions: tuple[tuple[str, frozenset[str]], ...]


class Answer(NamedTuple):
    """What was found for a question: the share of its turns among the first k, by k; a session."""

    shares: tuple[float, ...]
    session: bool
    seconds: float


def talks_in(path: Path) -> list[Talk]:
    """The conversations of a file. Raises InputError where it holds none."""
    found = json.loads(path.read_text("utf-8"))
    talks = [
        _talk(nth, row) for nth, row in enumerate(found if isinstance(found, list) else [found])
    ]
    if not any(talk.questions for talk in talks):
        raise InputError(f"{path} holds no question whose evidence is a turn.")
    return talks


def _talk(nth: int, row: dict[str, Any]) -> Talk:
    turns = tuple(_turns(row["conversation"]))
    known = {turn.id for turn in turns}
    asked = [
        (str(qa["question"]), known.intersection(map(str, qa.get("evidence") or ())))
        for qa in row.get("qa") or ()
    ]
    questions = tuple((question, frozenset(right)) for question, right in asked if right)
    return Talk(f"room:talk-{nth}", turns, questions)


def _turns(conversation: dict[str, Any]) -> Iterator[Turn]:
    names = [key for key in conversation if key.startswith("session_") and key[8:].isdigit()]
    for key in sorted(names, key=lambda name: int(name[8:])):
        session = int(key[8:])
        began = _began(str(conversation.get(f"{key}_date_time") or ""), session)
        for nth, turn in enumerate(conversation[key] or ()):
            text = " ".join(filter(None, (turn.get("text"), turn.get("blip_caption"))))
            yield Turn(turn["dia_id"], session, turn["speaker"], text, began + nth * PAUSE)


def _began(told: str, session: int) -> datetime:
    try:
        began: datetime = parse(told, fuzzy=True)
        return began.replace(tzinfo=UTC)
    except (ParserError, OverflowError):
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=session)


def _is_mate(who: str) -> bool:
    return who.strip().lower() in ASSISTANTS


def _key(who: str) -> str:
    return f"mate:{who.lower()}" if _is_mate(who) else f"person:{who}"


async def store(app: App, talk: Talk) -> dict[str, Turn]:
    """Put a conversation into a room; its turns by the ids of their lines."""
    speakers = dict.fromkeys(turn.who for turn in talk.turns)
    bodies: list[tuple[datetime, Body]] = [
        (talk.turns[0].at, RoomOpened(name=talk.stream.removeprefix("room:"), private=True))
    ]
    for who in speakers:
        joins = PersonJoined(person=who, name=Words(who), surface="terminal")
        body = MateJoined(mate=who.lower()) if _is_mate(who) else joins
        bodies.append((talk.turns[0].at, body))
    first = len(bodies)
    for turn in talk.turns:
        heard = Heard(person=turn.who, text=Words(turn.text), surface="terminal")
        said = Said(turn="", mate=turn.who.lower(), text=Words(turn.text))
        bodies.append((turn.at, said if _is_mate(turn.who) else heard))
    facts = [Fact(id=app.stamp.id(), at=at, actor="runtime", body=body) for at, body in bodies]
    for start in range(0, len(facts), AT_ONCE):
        await app.ledger.append(talk.stream, facts[start : start + AT_ONCE])
    ids = [fact.id for fact in facts[first:]]
    return dict(zip(ids, talk.turns, strict=True))


async def ask(app: App, talk: Talk, lines: dict[str, Turn], most: Sequence[int]) -> list[Answer]:
    """Ask every question of a conversation, in its room."""
    speakers = list(dict.fromkeys(turn.who for turn in talk.turns))
    people = tuple(who for who in speakers if not _is_mate(who))
    session = {turn.id: turn.session for turn in talk.turns}
    answers = []
    for question, right in talk.questions:
        query = RecallQuery(
            text=question,
            stream=talk.stream,
            present=people,
            asker=_key(people[0]),
            names={_key(who): who for who in speakers},
            limit=max(DEEP, *most),
        )
        began = time.perf_counter()
        found = await app.memory.recall.recall(query)
        took = time.perf_counter() - began
        turns = [lines[each.line.id] for each in found]
        shares = tuple(len(right & {t.id for t in turns[:k]}) / len(right) for k in most)
        sessions = list(dict.fromkeys(turn.session for turn in turns))[:10]
        hit = not {session[each] for each in right}.isdisjoint(sessions)
        answers.append(Answer(shares, hit, took))
    return answers


async def measure(talks: Sequence[Talk], most: Sequence[int], path: Path) -> dict[str, object]:
    """What is printed."""
    make_home(path)
    environ = {**os.environ, "LOOPFORGE_TIMEZONE": "UTC", "LOOPFORGE_DATABASE_URL": ""}
    settings = load_settings(path, environ={k: v for k, v in environ.items() if v})
    async with open_aside(settings) as app:
        began = time.perf_counter()
        lines = [await store(app, talk) for talk in talks]
        stored = time.perf_counter() - began
        try:
            began, model = time.perf_counter(), app.memory.embeddings().name
            await app.memory.vectors.anew()
            made = await app.memory.vectors.fill()
        except NotInstalled:
            made, model = 0, "words alone"
        filled = time.perf_counter() - began
        answers = [
            answer
            for talk, known in zip(talks, lines, strict=True)
            for answer in await ask(app, talk, known, most)
        ]
        length = func.sum(func.length(passages.c.words)), func.sum(func.length(vectors.c.vector))
        words = await app.ledger.look(lambda table: table.execute(select(length[0])).scalar())
        numbers = await app.ledger.look(lambda table: table.execute(select(length[1])).scalar())
        spans = sorted(answer.seconds for answer in answers)
        whole = sum(file.stat().st_size for file in (path / "data").glob("loopforge.db*"))
    return {
        **{
            f"R@{k}": round(statistics.mean(answer.shares[nth] for answer in answers), 4)
            for nth, k in enumerate(most)
        },
        "session_hit@10": round(statistics.mean(answer.session for answer in answers), 4),
        "questions": len(answers),
        "conversations": len(talks),
        "turns": sum(len(talk.turns) for talk in talks),
        "questions_per_second": round(len(spans) / sum(spans), 1),
        "p95_ms": round(1000 * spans[int(len(spans) * 0.95)], 1),
        "index_seconds": round(stored, 2),
        "vector_seconds": round(filled, 2),
        "vectors": made,
        "model": model,
        "bytes": whole,
        "index_bytes": int(words or 0) + int(numbers or 0),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures as JSON; 2 for files that cannot be read."""
    parser = argparse.ArgumentParser(prog="bench/retrieval.py", description=__doc__)
    parser.add_argument("--format", choices=["locomo"], default="locomo")
    parser.add_argument("--data", type=Path, required=True, metavar="FILE")
    parser.add_argument("--k", default="5,10,20", metavar="5,10,20")
    told = parser.parse_args(arguments)
    try:
        most = [int(part) for part in told.k.split(",")]
        talks = talks_in(told.data)
        with tempfile.TemporaryDirectory(prefix="loopforge-bench-") as folder:
            print(json.dumps(asyncio.run(measure(talks, most, Path(folder) / "home"))))
    except (OSError, ValueError, KeyError, TypeError, LoopforgeError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
