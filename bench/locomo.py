"""Conversations in LoCoMo's file format, however odd: turns, questions, and what answers them.

    [{"conversation": {"speaker_a": ..., "session_1_date_time": "1:56 pm on 8 May, 2023",
                       "session_1": [{"speaker": ..., "dia_id": "D1:1", "text": ...}, ...], ...},
      "qa": [{"question": ..., "answer": ..., "category": 2, "evidence": ["D1:3", "D1:5"]}, ...]}]

One conversation by itself, one a line, or by name in a dict, do as well; so do sessions without a
date (they come a day after the one before), turns without an id (their place is one), pictures that
have a caption alone, and evidence in one string ("D1:3; D1:5"), in lists of lists, or spelled
otherwise ("D:1:3", "D01:03", "1:3", plain numbers). A question none of whose evidence is a turn has
no right answer to be found, and is left out where that is asked for.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from dateutil.parser import ParserError, parse

from loopforge.errors import InputError

PAUSE = timedelta(seconds=30)
"""Between two turns; the format tells only when a session began."""
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
"""When a conversation without any date began."""
_PLACE = re.compile(r"D?\s*:?\s*(\d+)\s*:\s*(\d+)", re.IGNORECASE)
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


class Turn(NamedTuple):
    """A turn of a conversation: its id, its session, who said what, when."""

    id: str
    session: int
    who: str
    text: str
    at: datetime


class Question(NamedTuple):
    """What is asked: the ids of the turns that answer it, the right answer, LoCoMo's category."""

    text: str
    evidence: frozenset[str]
    answer: str = ""
    category: int = 0


class Talk(NamedTuple):
    """A conversation with its questions; `stream` is the room that it is put into."""

    stream: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def talks_in(path: Path) -> list[Talk]:
    """The conversations of a file. Raises InputError where it holds none with evidence."""
    talks = [_talk(nth, row) for nth, row in enumerate(_rows(path.read_text("utf-8-sig")))]
    talks = [talk for talk in talks if talk.turns]
    if not any(question.evidence for talk in talks for question in talk.questions):
        raise InputError(f"{path} holds no question whose evidence is a turn.")
    return talks


def _rows(text: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        found = [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(found, dict) and not _sessions(found.get("conversation", found)):
        found = next((v for v in found.values() if isinstance(v, list)), list(found.values()))
    rows = found if isinstance(found, list) else [found]
    return [row for row in rows if isinstance(row, dict)]


def _sessions(conversation: Any) -> list[str]:
    """The names of its sessions, in order."""
    names = conversation if isinstance(conversation, dict) else ()
    found = [name for name in names if re.fullmatch(r"session_\d+", name)]
    return sorted(found, key=lambda name: int(name[8:]))


def _talk(nth: int, row: dict[str, Any]) -> Talk:
    turns = tuple(_turns(row.get("conversation", row)))
    known = {turn.id: turn.id for turn in turns}
    # By their numbers, too, for those that are spelled otherwise.
    for turn in turns:
        for place in _PLACE.findall(turn.id):
            known.setdefault(_numbered(place), turn.id)
    asked = [qa for qa in row.get("qa") or () if isinstance(qa, dict) and qa.get("question")]
    questions = tuple(
        Question(
            _clean(qa["question"]),
            frozenset(_evidence(qa.get("evidence"), known)),
            _clean(qa.get("answer", "")),
            int(qa["category"]) if str(qa.get("category", "")).isdigit() else 0,
        )
        for qa in asked
    )
    return Talk(f"room:talk-{nth}", turns, questions)


def _turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    began, seen = FIRST - timedelta(days=1), set[str]()
    for key in _sessions(conversation):
        session = int(key[8:])
        began = _began(conversation.get(f"{key}_date_time"), began + timedelta(days=1))
        said = conversation[key]
        for nth, turn in enumerate(said if isinstance(said, list) else ()):
            spelled = str(turn.get("dia_id", "")).strip()
            id = spelled if spelled and spelled not in seen else f"D{session}:{nth + 1}"
            seen.add(id)
            who = turn.get("speaker") or turn.get("role") or conversation.get("speaker_a")
            text = turn.get("text") or turn.get("content")
            words = " ".join(_clean(each) for each in (text, turn.get("blip_caption")) if each)
            yield Turn(id, session, _clean(who or "somebody"), words, began + nth * PAUSE)


def _began(told: object, otherwise: datetime) -> datetime:
    try:
        began: datetime = parse(str(told or ""), fuzzy=True)
    except (ParserError, OverflowError, ValueError):
        return otherwise
    return began.replace(tzinfo=UTC)


def _evidence(told: object, known: Mapping[str, str]) -> Iterator[str]:
    """The turns that are meant, by their ids."""
    if isinstance(told, Mapping):
        told = list(told.values())
    if isinstance(told, Iterable) and not isinstance(told, str):
        for each in told:
            yield from _evidence(each, known)
        return
    spelled = str(told).strip()
    if spelled in known:
        yield known[spelled]
    elif places := _PLACE.findall(spelled):
        yield from (known[_numbered(each)] for each in places if _numbered(each) in known)
    else:
        yield from (known[part] for part in re.split(r"[\s,;]+", spelled) if part in known)


def _numbered(place: tuple[str, str]) -> str:
    return f"D{int(place[0])}:{int(place[1])}"


def _clean(text: object) -> str:
    """What a ledger takes: no control characters, no halves of characters."""
    whole = " ".join(map(str, text)) if isinstance(text, list) else str(text)
    return _UNFIT.sub(" ", whole)
