"""The score: what people said on a platform, and what stands there afterwards.

Each line has a mark ([k17]); each answer repeats the marks it answers, and holds a token of its
own (<3f2a>), so that a line answered twice and an answer sent twice are told apart. Takes nobody's
word: what was said is what the people know, what stands is read from the platform.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

MARK = re.compile(r"\[k(\d+)\]")
TOKEN = re.compile(r"<([0-9a-f]+)>")
COLUMNS = (
    "kills -9",
    "troubles",
    "lines",
    "answered",
    "lost",
    "answered twice",
    "sent twice",
    "wrong order",
    "wrong room",
)


class Line(NamedTuple):
    """A line with the mark k`number`, said in a place; or an answer that stands there."""

    place: str
    text: str


class Score(Struct, frozen=True, kw_only=True):
    """What was counted; `troubles` in words. `kills` and `struck`: what it stood meanwhile."""

    lines: int
    answered: int
    lost: int
    answered_twice: int
    sent_twice: int
    wrong_order: int
    wrong_room: int
    troubles: tuple[str, ...]
    kills: int = 0
    struck: int = 0

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.troubles

    def row(self) -> tuple[int, ...]:
        """The figures, as in COLUMNS."""
        return (
            self.kills,
            self.struck,
            self.lines,
            self.answered,
            self.lost,
            self.answered_twice,
            self.sent_twice,
            self.wrong_order,
            self.wrong_room,
        )


def marks(text: str) -> list[int]:
    """The marks of a text, in order."""
    return [int(found) for found in MARK.findall(text)]


def score(said: Sequence[Line], stands: Sequence[Line]) -> Score:
    """Count. `stands` are the messages of the mates, of each place in their order."""
    place_of = {mark: line.place for line in said for mark in marks(line.text)}
    tokens = Counter(token for line in stands for token in TOKEN.findall(line.text))
    answers: dict[int, set[str]] = defaultdict(set)
    strays, disorder = [], []
    order: dict[str, int] = defaultdict(int)
    for line in stands:
        token = (TOKEN.findall(line.text) or [line.text])[0]
        for mark in marks(line.text):
            again = token in answers[mark] or bool(answers[mark])
            answers[mark].add(token)
            if place_of.get(mark) != line.place:
                strays.append(f"wrong room: k{mark} of {place_of.get(mark)} stands in {line.place}")
            elif mark < order[line.place] and not again:
                disorder.append(f"wrong order: k{mark} stands after k{order[line.place]}")
            else:
                order[line.place] = max(order[line.place], mark)
    lost = [f"lost: k{mark} in {place}" for mark, place in place_of.items() if not answers[mark]]
    twice = [f"answered twice: k{mark}" for mark, each in answers.items() if len(each) > 1]
    sent = [f"sent twice: <{token}>, {n} times" for token, n in tokens.items() if n > 1]
    return Score(
        lines=len(place_of),
        answered=sum(1 for mark in place_of if answers[mark]),
        lost=len(lost),
        answered_twice=len(twice),
        sent_twice=len(sent),
        wrong_order=len(disorder),
        wrong_room=len(strays),
        troubles=(*lost, *twice, *sent, *disorder, *strays),
    )


def planted(said: Sequence[Line], stands: Sequence[Line]) -> bool:
    """Whether a loss and a double are noticed, put into what was counted: one of each, no more."""
    alone = [line for line in stands if len(marks(line.text)) == 1 and TOKEN.search(line.text)]
    gone, again = alone[0], alone[-1]
    before = score(said, stands)
    after = score(said, [*(line for line in stands if line is not gone), again])
    return (after.lost, after.sent_twice) == (before.lost + 1, before.sent_twice + 1)


def table(scores: dict[str, Score]) -> str:
    """The scoreboard, a line for each platform."""
    head = f"{'surface':<10}" + "".join(f"{column:>{len(column) + 3}}" for column in COLUMNS)
    rows = [
        f"{name:<10}"
        + "".join(f"{n:>{len(column) + 3},}" for column, n in zip(COLUMNS, each.row(), strict=True))
        for name, each in scores.items()
    ]
    return "\n".join([head, *rows])
