"""How well what was said is found again: conversations in LoCoMo's format, and their questions.

    python bench/retrieval.py --format locomo --data FILE --k 5,10,20

Each conversation becomes a room of a home of its own; its turns become lines of that room's ledger,
as they come in a talk: of people, or of a mate where the speaker is an assistant. Every question
that names its evidence is asked as a mate would ask (loopforge.runtime.ports.Recall), in the room,
for the first person of the talk. Prints one line of JSON: of the turns that answer a question the
share among the first k; how often one of their sessions is among the first ten; questions a second;
seconds for the index of words and of vectors; bytes.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import func, select

if __name__ == "__main__":  # as a program by its path: Python knows its folder alone
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from bench.locomo import Talk, Turn, talks_in
from loopforge.app import App, open_aside
from loopforge.core.events import Body, Fact
from loopforge.core.room_vocabulary import Heard, MateJoined, PersonJoined, RoomOpened, Said
from loopforge.core.text.erasable_text import Words
from loopforge.errors import LoopforgeError, NotInstalled
from loopforge.home import make_home
from loopforge.memory.passage_index import passages, vectors
from loopforge.runtime.ports.memory_port import RecallQuery
from loopforge.settings import load_settings

ASSISTANTS = ("assistant", "ai", "bot", "chatbot", "model")
"""Speakers, in small letters, whose turns are a mate's."""
DEEP = 100
"""Lines that are asked for: enough to see ten sessions."""
AT_ONCE = 200
LISTENER = "listener"
"""The person who is there where a conversation has none."""


class Answer(NamedTuple):
    """What was found for a question: the share of its turns among the first k, by k; a session."""

    shares: tuple[float, ...]
    session: bool
    seconds: float


def _is_mate(who: str) -> bool:
    return who.strip().lower() in ASSISTANTS


def _speakers(talk: Talk) -> list[str]:
    found = list(dict.fromkeys(turn.who for turn in talk.turns))
    return [LISTENER, *found] if all(map(_is_mate, found)) else found


def _key(who: str) -> str:
    return f"mate:{who.lower()}" if _is_mate(who) else f"person:{who}"


async def store(app: App, talk: Talk) -> dict[str, Turn]:
    """Put a conversation into a room; its turns by the ids of their lines."""
    bodies: list[tuple[datetime, Body]] = [
        (talk.turns[0].at, RoomOpened(name=talk.stream.removeprefix("room:"), private=True))
    ]
    for who in _speakers(talk):
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


def query_of(talk: Talk, question: str, limit: int) -> RecallQuery:
    """A question as a mate asks it in the room of a talk, for the first person there."""
    speakers = _speakers(talk)
    people = tuple(who for who in speakers if not _is_mate(who))
    return RecallQuery(
        text=question,
        stream=talk.stream,
        present=people,
        asker=_key(people[0]),
        names={_key(who): who for who in speakers},
        limit=limit,
    )


async def ask(app: App, talk: Talk, lines: dict[str, Turn], most: Sequence[int]) -> list[Answer]:
    """Ask every question of a conversation, in its room."""
    session = {turn.id: turn.session for turn in talk.turns}
    answers = []
    for question, right, *_ in talk.questions:
        if not right:
            continue
        query = query_of(talk, question, max(DEEP, *most))
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
