"""The checker of stories: each claim is recomputed from the rows, and each sentence held to it.

    problems = check(story, folder)

A sentence stands if what it claims is what the rows say (claim_recompute.py), if it names exactly
the rows that this rests on, and if its words are one of the phrases that the claim allows.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from loopforge.core.factory_vocabulary import Row
from loopforge.lab.run.run_log import rows_of
from loopforge.lab.story.claim_phrases import phrases
from loopforge.lab.story.claim_recompute import ClaimEvidence
from loopforge.lab.story.story_text import Sentence, Story
from loopforge.lab.world.noun_articles import articled


def check(story: Story, rows: Path | Iterable[Row]) -> list[str]:
    """What is wrong in a story, held against the rows of its run (or the run's folder).

    A sentence for each problem. An empty list says that every claim holds, rests on the rows it
    names, and is said in words that fit it. Raises BadRun.
    """
    placed = list(story.placed())
    rows = rows_of(rows) if isinstance(rows, Path) else rows
    grounds = grounds_of((sentence for _, sentence in placed), rows)
    problems: list[str] = []
    for place, sentence in placed:
        wrong = sentence_problems(sentence, grounds)
        problems += [f"{place}, “{sentence.text[:60]}”: {problem}." for problem in wrong]
    return problems


def grounds_of(sentences: Iterable[Sentence], rows: Iterable[Row]) -> ClaimEvidence:
    """What the rows say of all that these sentences speak of. Raises BadRun."""
    return ClaimEvidence(rows, [sentence.claim for sentence in sentences])


def sentence_problems(sentence: Sentence, grounds: ClaimEvidence) -> Iterator[str]:
    """What is wrong with one sentence; `grounds` must have been made with its claim."""
    if not sentence.rows:
        yield "it rests on no row"
    rows = grounds.borne(sentence.claim)
    if rows is None:
        yield "the rows do not bear it out"
        return
    if sentence.rows and set(sentence.rows) != rows:
        yield f"it rests on {_ids(rows)}, and names {_ids(sentence.rows)}"
    places = tuple(place.name for place in grounds.watch.scenario.places)
    if sentence.text not in (articled(phrase, places) for phrase in phrases(sentence.claim)):
        yield "its words are not those of its claim"


def _ids(rows: Iterable[int]) -> str:
    return " ".join(f"r{row}" for row in sorted(rows)) or "nothing"
