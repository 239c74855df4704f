"""Who saw lines: those who were in their rooms when each of them was said."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import create_engine, event
from sqlalchemy.engine import Connection

from loopforge.chat.room.member_visibility import (
    FOREVER,
    audience_of_lines,
    mate_stays,
    present_with,
    stays,
)
from loopforge.core.memory.memory_vocabulary import EvidenceLine

STAYS = [
    ("room:a", "ana", 0, FOREVER),
    ("room:a", "bo", 3, 5),
    ("room:a", "bo", 8, FOREVER),
    ("room:b", "bo", 0, FOREVER),
    ("room:b", "cy", 2, 4),
]


@contextmanager
def known() -> Iterator[tuple[Connection, list[str]]]:
    """A table of these stays, and what it is asked."""
    engine, asked = create_engine("sqlite://"), list[str]()
    with engine.begin() as connection:
        stays.create(connection)
        names = ("stream", "person", "since", "until")
        rows = [dict(zip(names, row, strict=True), past=False) for row in STAYS]
        connection.execute(stays.insert(), rows)

        @event.listens_for(engine, "before_cursor_execute")
        def note(_connection: object, _cursor: object, said: str, *_more: Any) -> None:
            asked.append(said)

        yield connection, asked
    engine.dispose()


@pytest.mark.parametrize(
    ("lines", "saw"),
    [
        ([], set()),
        ([("room:a", 2)], {"ana"}),
        ([("room:a", 3)], {"ana", "bo"}),
        ([("room:a", 6)], {"ana"}),
        ([("room:a", 5), ("room:a", 8)], {"ana", "bo"}),
        ([("room:a", 4), ("room:b", 4)], {"bo"}),
        ([("room:a", 2), ("room:b", 3)], set()),
        ([("room:c", 1), ("room:a", 1)], set()),
    ],
)
def test_who_saw_all_of_some_lines(lines: list[tuple[str, int]], saw: set[str]) -> None:
    """A stay counts with its first line and its last; who was away for one of them saw not all."""
    with known() as (connection, _):
        every = [
            EvidenceLine(stream=stream, seq=seq, line=f"{stream}{seq}") for stream, seq in lines
        ]
        assert audience_of_lines(connection, every) == saw


def test_a_hundred_lines_are_one_query() -> None:
    """What an item rests on may be many lines; the database is asked once."""
    with known() as (connection, asked):
        lines = [
            EvidenceLine(stream=f"room:{nth % 3}", seq=nth, line=str(nth)) for nth in range(99)
        ]
        audience_of_lines(connection, lines)
        assert len(asked) == 1


def test_who_is_in_the_rooms_of_a_mate() -> None:
    """They count who are there now, in rooms where the mate is now."""
    with known() as (connection, _):
        mate_stays.create(connection)
        names = ("stream", "mate", "since", "until")
        rows = [
            ("room:a", "maya", 0, 2),
            ("room:a", "maya", 4, FOREVER),
            ("room:b", "maya", 0, FOREVER),
            ("room:b", "zuzu", 0, 9),
            ("room:c", "zuzu", 0, FOREVER),
        ]
        connection.execute(
            mate_stays.insert(), [dict(zip(names, row, strict=True)) for row in rows]
        )
        assert present_with(connection, "maya") == {"room:a": {"ana", "bo"}, "room:b": {"bo"}}
        assert present_with(connection, "zuzu") == {}
