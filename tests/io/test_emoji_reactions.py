"""Marks on lines that called: which line bears one, where, and what becomes of it."""

from collections.abc import Sequence

import anyio
import anyio.lowlevel
import pytest

from loopforge.chat.service.line_receipts import CalledTurn, Fate, LineDelivery
from loopforge.errors import SendFailed
from loopforge.io.platforms.emoji_reactions import Mark, StatusReactions

HERE, THERE = "discord:1", "discord:2"


class Board:
    """A platform that writes down the marks it is to show, and refuses as many as it is told to."""

    name = "discord"

    def __init__(self) -> None:
        self.marks: list[tuple[str, Mark, tuple[Mark, ...]]] = []
        self.refuses = self.refused = 0

    async def mark(
        self, place: str, _line: str, _mate: str, new: Mark, old: Sequence[Mark]
    ) -> None:
        if self.refuses:
            self.refuses, self.refused = self.refuses - 1, self.refused + 1
            raise SendFailed("nobody of ours is there.")
        self.marks.append((place, new, tuple(old)))


class Book:
    """What is known of one turn and its deliveries, which tests write down themselves."""

    def __init__(self, summons: str = "mention") -> None:
        self.summons, self.over = summons, False
        self.fates: dict[str, tuple[Fate, ...]] = {}

    async def sending(self, delivery: str) -> LineDelivery:
        """A delivery bears the name of its place, or "word" before that for one of the room."""
        return LineDelivery(delivery.removeprefix("word "), "" if delivery[:4] == "word" else "t1")

    async def call(self, turn: str) -> CalledTurn | None:
        """The only turn."""
        if turn != "t1":
            return None
        return CalledTurn("maya", ("line",), self.summons, bool(self.fates), self.over, self.fates)


async def settled(board: Board, count: int) -> list[tuple[str, Mark, tuple[Mark, ...]]]:
    """Wait until so many marks are there, or were refused."""
    with anyio.fail_after(10):
        while len(board.marks) + board.refused < count:
            await anyio.lowlevel.checkpoint()
    return board.marks


@pytest.mark.parametrize("summons", ["mention", "reply", "name", "alone", "default"])
async def test_a_line_that_called_is_marked(summons: str) -> None:
    """A call is marked as seen, as waiting where the answer is put off, then as answered."""
    board, book = Board(), Book(summons)
    marks = StatusReactions(board, book)
    marks.began([HERE], "maya", ("line",), summons)
    book.fates = {HERE: ("owed",)}
    await marks.put_off(HERE)
    await marks.put_off(HERE)
    book.fates = {HERE: ("arrived",)}
    await marks.delivered(HERE, arrived=True)
    await marks.ended([HERE], "t1", failed=False)
    await marks.troubled([HERE], "t1")
    assert await settled(board, 3) == [
        (HERE, "seen", ()),
        (HERE, "waiting", ("seen",)),
        (HERE, "answered", ("waiting",)),
    ]
    await marks.close()


@pytest.mark.parametrize("summons", ["conversation", "continue", "title"])
async def test_a_line_that_called_nobody_bears_no_mark(summons: str) -> None:
    """A mate that speaks unasked, or goes on, marks nothing."""
    board, book = Board(), Book(summons)
    marks = StatusReactions(board, book)
    marks.began([HERE], "maya", ("line",), summons)
    book.fates, book.over = {HERE: ("arrived",)}, True
    await marks.delivered(HERE, arrived=True)
    await marks.ended([HERE], "t1", failed=True)
    marks.refused([HERE], "maya", "other")
    assert [mark for _, mark, _ in await settled(board, 1)] == ["failed"]
    await marks.close()


async def test_each_place_has_a_mark_of_its_own() -> None:
    """An answer that arrived in one place is still owed in another, and may be lost there."""
    board, book = Board(), Book()
    marks = StatusReactions(board, book)
    marks.began([HERE, THERE], "maya", ("line",), "mention")
    book.fates = {HERE: ("arrived",), THERE: ("owed",)}
    await marks.delivered(HERE, arrived=True)
    await marks.ended([HERE, THERE], "t1", failed=False)
    assert (await settled(board, 3))[2:] == [(HERE, "answered", ("seen",))]
    book.fates = {HERE: ("arrived",), THERE: ("arrived", "owed")}
    await marks.delivered(THERE, arrived=True)
    book.fates = {HERE: ("arrived",), THERE: ("lost", "arrived")}
    await marks.delivered(THERE, arrived=True)
    assert (await settled(board, 4))[3:] == [(THERE, "failed", ("seen",))]
    await marks.close()


async def test_what_is_owed_nowhere_is_answered() -> None:
    """Where a line is shown and the answer is not to go, it is answered when the turn ends."""
    board, book = Board(), Book()
    marks = StatusReactions(board, book)
    book.fates = {"telegram:1": ("owed",)}
    await marks.ended([HERE], "t1", failed=False)
    await marks.delivered("telegram:1", arrived=False)
    assert [mark for _, mark, _ in await settled(board, 1)] == ["answered"]
    await marks.close()


@pytest.mark.parametrize("failed", [False, True])
async def test_what_becomes_of_a_turn_that_said_nothing(failed: bool) -> None:
    """A turn that failed is marked so; one that kept still once people are told of a trouble."""
    board, book = Board(), Book()
    marks = StatusReactions(board, book)
    marks.began([HERE], "maya", ("line",), "name")
    await marks.troubled([HERE], "t1")  # a word while it runs is none about its end
    book.over = True
    await marks.ended([HERE], "t1", failed=failed)
    await marks.troubled([HERE], "t1")
    after: list[Mark] = ["failed"] if failed else ["", "failed"]
    assert [mark for _, mark, _ in await settled(board, 1 + len(after))] == ["seen", *after]
    await marks.close()


async def test_a_line_from_before_loses_what_it_may_bear() -> None:
    """Of a line that another process marked, whatever it may bear is taken off."""
    board, book = Board(), Book()
    marks = StatusReactions(board, book)
    book.fates = {HERE: ("arrived",)}
    await marks.delivered(HERE, arrived=True)
    assert await settled(board, 1) == [(HERE, "answered", ("seen", "waiting"))]
    await marks.close()


async def test_a_mark_that_was_refused_is_tried_once_more() -> None:
    """When something arrives in its place, a mark is tried again, and then left out."""
    board, book = Board(), Book()
    marks = StatusReactions(board, book)
    marks.began([HERE], "maya", ("line",), "mention")
    await settled(board, 1)
    book.fates, board.refuses = {HERE: ("lost",)}, 2
    await marks.delivered(HERE, arrived=False)
    await settled(board, 2)
    for nth in (3, 3):
        await marks.delivered(f"word {HERE}", arrived=True)
        await settled(board, nth)
    await marks.delivered(HERE, arrived=False)
    assert (await settled(board, 4))[1:] == [(HERE, "failed", ("seen",))]
    await marks.close()
