"""Marks on lines that called: which line bears one, and what becomes of it."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from loopforge.errors import SendFailed
from loopforge.io.marks import Mark, Marks

pytestmark = pytest.mark.anyio
HERE = ("discord:1", "discord:2")


class Board:
    """A platform that writes down the marks it is to show, and refuses those in one place."""

    name = "discord"

    def __init__(self) -> None:
        self.marks: list[tuple[str, Mark, Mark]] = []
        self.refused = 0

    async def mark(self, place: str, line: str, _mate: str, new: Mark, old: Mark) -> None:
        if place == HERE[0]:
            self.refused += 1
            raise SendFailed("nobody of ours is there.")
        self.marks.append((line, new, old))


async def settled(board: Board, count: int) -> list[tuple[str, Mark, Mark]]:
    """Wait until so many marks are there."""
    with anyio.fail_after(10):
        while len(board.marks) < count:
            await anyio.lowlevel.checkpoint()
    return board.marks


@pytest.mark.parametrize("summons", ["mention", "reply", "name", "alone"])
async def test_a_line_that_called_is_marked(summons: str) -> None:
    """A call is marked as seen and then answered, also where another place takes no marks."""
    board = Board()
    marks = Marks(board)
    marks.began(HERE, "t1", "maya", "line", summons)
    marks.said("t1", "answer")
    marks.queued("d1", "answer", HERE[1])
    marks.ended("t1", failed=False)
    marks.troubled("t1")
    assert await settled(board, 1) == [("line", "seen", "")]
    marks.delivered("d1", arrived=True)
    assert await settled(board, 2) == [("line", "seen", ""), ("line", "answered", "seen")]
    await marks.close()
    assert board.refused == 2


@pytest.mark.parametrize("summons", ["conversation", "continue", "title"])
async def test_a_line_that_called_nobody_bears_no_mark(summons: str) -> None:
    """A mate that speaks unasked, or goes on, marks nothing."""
    board = Board()
    marks = Marks(board)
    marks.began(HERE, "t1", "maya", "other", summons)
    marks.said("t1", "answer")
    marks.queued("d1", "answer", HERE[1])
    marks.delivered("d1", arrived=True)
    marks.began(HERE, "t2", "maya", "line", "name")
    assert await settled(board, 1) == [("line", "seen", "")]
    await marks.close()


@pytest.mark.parametrize("failed", [False, True])
async def test_what_becomes_of_a_turn_that_said_nothing(failed: bool) -> None:
    """A turn that failed is marked so; one that kept still once people are told of a trouble."""
    board = Board()
    marks = Marks(board)
    marks.began(HERE, "t1", "maya", "line", "name")
    marks.ended("t1", failed=failed)
    marks.troubled("t1")
    after: list[tuple[str, Mark, Mark]] = (
        [("line", "failed", "seen")] if failed else [("line", "", "seen"), ("line", "failed", "")]
    )
    assert await settled(board, 1 + len(after)) == [("line", "seen", ""), *after]
    await marks.close()


async def test_what_did_not_arrive_is_no_answer() -> None:
    """An answer that was refused marks its line as failed, whatever else of it arrives."""
    board = Board()
    marks = Marks(board)
    marks.began(HERE, "t1", "maya", "line", "name")
    marks.said("t1", "answer")
    marks.queued("d1", "answer", HERE[1])
    marks.queued("d2", "answer", HERE[1])
    assert await settled(board, 1) == [("line", "seen", "")]
    marks.delivered("d1", arrived=False)
    assert await settled(board, 2) == [("line", "seen", ""), ("line", "failed", "seen")]
    marks.delivered("d2", arrived=True)
    marks.ended("t1", failed=False)
    await marks.close()
    assert len(board.marks) == 2
