"""The checker of stories: each claim is recomputed from the rows, and each sentence held to it.

    problems = check(story, folder)

A sentence stands if what it claims is what the rows say (claim_recompute.py), if it names exactly
the rows that this rests on, and if its words are one of the phrases that the claim allows. A day's
scenes must stand in their order, and the frame (title, tension, curves) must be the run's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from loopforge.core.factory_vocabulary import Row
from loopforge.lab.run.run_log import rows_of
from loopforge.lab.story.claim_phrases import phrases
from loopforge.lab.story.claim_recompute import ClaimEvidence
from loopforge.lab.story.claims import EVENING, AnyClaim, Did, HappenedClaim, when
from loopforge.lab.story.number_wording import articled, cap
from loopforge.lab.story.run_story import Scene, Sentence, Story, StoryDay


def check(story: Story, rows: Path | Iterable[Row]) -> list[str]:
    """What is wrong in a story, held against the rows of its run (or the run's folder).

    A sentence for each problem. An empty list says that every claim holds, rests on the rows it
    names, and is said in words that fit it. Raises BadRun.
    """
    placed = list(story.placed())
    rows = rows_of(rows) if isinstance(rows, Path) else rows
    grounds = grounds_of((sentence for _, sentence in placed), rows)
    problems = list(_frame(story, grounds))
    for place, sentence in placed:
        wrong = sentence_problems(sentence, grounds)
        problems += [f"{place}, “{sentence.text[:60]}”: {problem}." for problem in wrong]
    for day in story.days:
        problems += _order(day)
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


def _order(day: StoryDay) -> Iterator[str]:
    """Whether the scenes of a day, and the sentences of a scene, stand in their order."""
    last = (0, 0)
    for scene in day.scenes:
        times = [time for time in _times(scene) if time]
        if all(bell == EVENING for _, bell in times):
            continue
        if times[0] < last:
            yield f"day {day.day + 1}, “{scene[0].text[:60]}”: it is told after what came later."
        last = times[0]
        if times != sorted(times):
            yield f"day {day.day + 1}, “{scene[0].text[:60]}”: its sentences are out of order."


def _times(scene: Scene) -> Iterator[tuple[int, int] | None]:
    """When each sentence happens. The far end of a thread just told is told out of its time."""
    before: AnyClaim | None = None
    for sentence in scene:
        claim = sentence.claim
        far = False
        if isinstance(before, HappenedClaim) and isinstance(claim, Did):
            here = claim.who, claim.day, claim.bell
            far = any(
                link.ref == f"r{claim.row}" or (link.who, link.day, link.bell) == here
                for link in before.links
            )
        yield None if far else when(claim)
        before = claim


def _frame(story: Story, grounds: ClaimEvidence) -> Iterator[str]:
    """Title, question, tension and curves, and who the arcs are of."""
    scenario = grounds.watch.scenario
    past = {each.day: each for each in grounds.watch.past}
    if story.title != cap(scenario.name.replace("_", " ")) or story.question != scenario.question:
        yield "The title or the question is not that of this run."
    if [day.day for day in story.days] != list(past):
        yield "Its days are not those of this run."
    if story.tension != tuple(day.tension for day in story.days):
        yield "The tension of its days is not that which each day states."
    for day in story.days:
        found = past.get(day.day)
        if found is None or day.tension != found.index:
            yield f"day {day.day + 1}: its tension is not {day.tension}."
        elif day.curve != tuple(found.curve):
            yield f"day {day.day + 1}: its curve is not that of its steps."
    robots = scenario.robots
    known = {(each.name, each.role, each.voice, each.backstory) for each in robots}
    for arc in story.arcs:
        if (arc.who, arc.role, arc.voice, arc.backstory) not in known:
            yield f"arc of {arc.who}: nobody here had that name, role, voice and backstory."
