"""The story of a run: days, arcs and a recap in prose, each sentence resting on rows.

    story = tell(folder)
    print(story.text())          # Markdown, with row ids as marks
    problems = check(story, folder)

The same run gives the same bytes. What a story says is chosen and composed in story_teller.py, out
of claims (claims.py) put into words (claim_phrases.py); story_checker.py recomputes each claim from
the rows. Knows no files but the run's log, and keeps no more of it than moment_watching.py does.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from loopforge.errors import BadRun
from loopforge.lab.story.claims import AnyClaim
from loopforge.lab.story.number_wording import capitalize_first, number_in_words

BARS = "▁▂▃▄▅▆▇█"
MARKED = 4
"""Row ids that a mark names one by one."""


class Sentence(Struct, frozen=True):
    """Something told: its words, the rows it rests on, and what it claims."""

    text: str
    rows: tuple[int, ...]
    claim: AnyClaim


Scene = tuple[Sentence, ...]
"""Sentences that belong together: a paragraph."""


class StoryDay(Struct, frozen=True):
    """A day: its tension (0 to 1000) as an index and step by step, and its scenes."""

    day: int
    tension: int
    curve: tuple[int, ...]
    scenes: tuple[Scene, ...]

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of all scenes."""
        return tuple(sentence for scene in self.scenes for sentence in scene)


class Arc(Struct, frozen=True):
    """What became of one robot. Its voice and backstory are flavour; they claim nothing."""

    who: str
    role: str
    voice: str
    backstory: str
    sentences: Scene


class Story(Struct, frozen=True):
    """A whole run, told. `tension` is the index of each day."""

    title: str
    question: str
    days: tuple[StoryDay, ...]
    arcs: tuple[Arc, ...]
    recap: tuple[Scene, ...]
    tension: tuple[int, ...]

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Every sentence, in the order of reading."""
        return tuple(sentence for _, sentence in self.placed())

    def placed(self) -> Iterator[tuple[str, Sentence]]:
        """Every sentence with where it stands, in words."""
        for day in self.days:
            for sentence in day.sentences:
                yield f"day {day.day + 1}", sentence
        for arc in self.arcs:
            for sentence in arc.sentences:
                yield f"arc of {arc.who}", sentence
        for scene in self.recap:
            for sentence in scene:
                yield "recap", sentence

    def text(self, *, ids: bool = True, day: int | None = None) -> str:
        """The story as Markdown; of one day alone (counted from 1) where `day` is given.

        Raises BadRun where there is no such day.
        """
        if day is None:
            parts = [f"# {plain(self.title)}", f"> *{plain(self.question)}*"]
            parts += [part for each in self.days for part in _day(each, ids=ids)]
            if self.arcs:
                parts.append("## What became of them")
                parts += [part for arc in self.arcs for part in _arc(arc, ids=ids)]
            if self.recap:
                parts.append("## What it came to")
                parts += [_paragraph(scene, ids=ids) for scene in self.recap]
            return "\n\n".join(parts) + "\n"
        return "\n\n".join(_day(self.day(day), ids=ids)) + "\n"

    def day(self, day: int) -> StoryDay:
        """One day, counted from 1. Raises BadRun where there is none."""
        found = next((each for each in self.days if each.day == day - 1), None)
        if not self.days:
            raise BadRun(f"Nothing has happened in this run yet; it has no day {day}.")
        if found is None:
            raise BadRun(f"There is no day {day} in this run; its days are 1 to {len(self.days)}.")
        return found

    def to_dict(self, *, day: int | None = None) -> dict[str, Any]:
        """Plain values, for JSON; of one day alone (counted from 1) where `day` is given."""
        told: dict[str, Any] = msgspec.to_builtins(self)
        if day is not None:
            told |= {"days": [msgspec.to_builtins(self.day(day))], "arcs": [], "recap": []}
        return told


# ---------------------------------------------------------------- Markdown


def plain(text: str) -> str:
    """Text that Markdown shows as it is: signs that could forge a mark or a tag are escaped."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", text)


def mark(rows: tuple[int, ...]) -> str:
    """Row ids as a mark: each of a few, else the first ones, the last, and how many there are."""
    if len(rows) <= MARKED:
        return f"[{' '.join(f'r{row}' for row in rows)}]"
    first = " ".join(f"r{row}" for row in rows[: MARKED - 1])
    return f"[{first} … r{rows[-1]}; {len(rows)} rows]"


def _paragraph(scene: Scene, *, ids: bool) -> str:
    return " ".join(
        f"{plain(sentence.text)} {mark(sentence.rows)}" if ids else plain(sentence.text)
        for sentence in scene
    )


def _day(day: StoryDay, *, ids: bool) -> list[str]:
    bars = "".join(BARS[min(len(BARS) - 1, value * len(BARS) // 1000)] for value in day.curve)
    head = [f"## Day {number_in_words(day.day + 1)}", f"*Tension {day.tension} of 1000* {bars}"]
    return head + [_paragraph(scene, ids=ids) for scene in day.scenes]


def _arc(arc: Arc, *, ids: bool) -> list[str]:
    head = [f"### {plain(arc.who)}, {plain(arc.role)}"]
    if arc.backstory:
        head.append(f"*{plain(capitalize_first(arc.backstory))}*")
    return [*head, _paragraph(arc.sentences, ids=ids)]
