"""The checker of stories: false sentences of many kinds are planted, and each is caught."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from msgspec.structs import asdict, replace

from loopforge.core.factory_vocabulary import Row
from loopforge.lab.story.claim_phrases import phrases
from loopforge.lab.story.claims import (
    AnyClaim,
    BelievedClaim,
    Did,
    HappenedClaim,
)
from loopforge.lab.story.run_story import Sentence, Story
from loopforge.lab.story.story_checker import check, grounds_of, sentence_problems
from tests.lab.shelf import rows, run, story

CHOSEN: dict[str, Any] = {"seed": 7, "perception": "spin", "supervisor": "punitive"}
WIDE: list[tuple[str, dict[str, Any]]] = [
    ("first_shift", CHOSEN),
    ("first_shift", {"seed": 5, "by": "model"}),
    ("nothing_happened", {"days": 3}),
    ("lying_lamps", {"days": 2, "perception": "partial"}),
]


def told() -> Story:
    """The story into which false sentences are planted."""
    return story(**CHOSEN)


def ground() -> list[Row]:
    """Its rows."""
    return rows(run(**CHOSEN))


def of(kind: type[Any], where: Callable[[Any], bool] = lambda _: True) -> Any:
    """A sentence with a claim of this kind."""
    return next(s for s in told().sentences if isinstance(s.claim, kind) and where(s.claim))


def altered(origin: Sentence, **false: Any) -> Sentence:
    """The sentence with other words, or other rows."""
    return replace(origin, **false)


# ---------------------------------------------------------------- what is false


def wrong_name_in_words() -> Sentence:
    """The claim is true, the words name another."""
    true = of(Did)
    other = next(each for each in (arc.who for arc in told().arcs) if each != true.claim.who)
    return altered(true, text=true.text.replace(true.claim.who, other))


def words_of_nobody() -> Sentence:
    """A claim is true, and the sentence says something that no template says."""
    return altered(of(Did), text=f"{of(Did).text} And everybody laughed.")


def no_rows() -> Sentence:
    """It rests on nothing."""
    return altered(of(Did), rows=())


FALSE = [
    wrong_name_in_words,
    words_of_nobody,
    no_rows,
]
"""Lies about a true claim; a claim that is false in any fact is tried below."""


def planted(false: Sentence) -> Story:
    """The story with a false sentence as its last."""
    return replace(told(), recap=(*told().recap, (false,)))


@pytest.mark.parametrize("plant", FALSE, ids=lambda plant: plant.__name__)
def test_a_false_sentence_is_caught(plant: Callable[[], Sentence]) -> None:
    """One false sentence in a true story gives a problem that quotes it, and no other does."""
    false = plant()
    assert check(told(), run(**CHOSEN)) == []
    problems = check(planted(false), run(**CHOSEN))
    assert problems
    assert all(false.text[:60] in problem for problem in problems)


# ---------------------------------------------------------------- each fact of each sentence


def changed(value: Any) -> Any:
    """Another value that could stand in the same place."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return f"{value}x"
        case tuple() if value and isinstance(value[0], msgspec.Struct):
            name = value[0].__struct_fields__[-1]
            return (replace(value[0], **{name: getattr(value[0], name) + 1}), *value[1:])
        case tuple():
            return (*value, "x")
        case _:
            raise AssertionError(value)


def mutants(claim: AnyClaim, told: Story) -> Iterator[AnyClaim]:
    """The claim with one fact changed, for each fact; claiming less than is true is not false.

    Nor is it false of a thread that it is the longest, where the longest has as many links.
    """
    claims = [s.claim for s in told.sentences]
    longest = max(len(each.links) for each in claims if isinstance(each, HappenedClaim))
    for name, value in asdict(claim).items():
        less = (name in ("widest", "longest") and value) or (
            name in ("links", "voice") and not value
        )
        ties = (
            name == "longest" and isinstance(claim, HappenedClaim) and len(claim.links) == longest
        )
        if not less and not ties:
            yield replace(claim, **{name: changed(value)})


def worded(claim: AnyClaim) -> str:
    """The claim in its own words; nothing where its kind has none for such a fact."""
    try:
        return phrases(claim)[0]
    except LookupError:
        return ""


@pytest.mark.parametrize(("name", "chosen"), WIDE, ids=[f"{n} {c}" for n, c in WIDE])
def test_no_fact_of_any_sentence_can_be_changed(name: str, chosen: dict[str, Any]) -> None:
    """Whichever fact of whichever claim is changed, and said, the rows do not bear it out."""
    true = story(name, **chosen)
    false = [
        replace(sentence, claim=claim, text=worded(claim) or sentence.text)
        for sentence in true.sentences
        for claim in mutants(sentence.claim, true)
    ]
    grounds = grounds_of(false, rows(run(name, **chosen)))
    passed = [s.claim for s in false if not list(sentence_problems(s, grounds))]
    assert len(false) > 500
    assert passed == []


def test_no_row_can_be_left_out_or_added() -> None:
    """A sentence that names a row less or a row more than it rests on is caught, for each row."""
    true = told()
    false = []
    for sentence in true.sentences:
        kept = [sentence.rows[:at] + sentence.rows[at + 1 :] for at in range(len(sentence.rows))]
        false += [replace(sentence, rows=each) for each in kept]
        false.append(replace(sentence, rows=(*sentence.rows, max(sentence.rows) + 1)))
    grounds = grounds_of(false, ground())
    assert [s for s in false if not list(sentence_problems(s, grounds))] == []


# ---------------------------------------------------------------- order, frame, another run


def test_scenes_in_the_wrong_order_are_caught() -> None:
    """Two scenes of a day that changed places, and the whole day backwards, are found."""
    day = told().days[0]
    lived = [
        nth for nth, scene in enumerate(day.scenes) if any(isinstance(s.claim, Did) for s in scene)
    ]
    one, other = lived[0], lived[-1]
    scenes = list(day.scenes)
    scenes[one], scenes[other] = scenes[other], scenes[one]
    for wrong in (tuple(scenes), day.scenes[::-1]):
        backwards = replace(told(), days=(replace(day, scenes=wrong), *told().days[1:]))
        assert any("after what came later" in each for each in check(backwards, run(**CHOSEN)))


def test_sentences_in_the_wrong_order_are_caught() -> None:
    """A scene whose evening comes before its act is found."""
    for nth, day in enumerate(told().days):
        for at, scene in enumerate(day.scenes):
            if isinstance(scene[-1].claim, BelievedClaim) and len(scene) > 1:
                turned = (scene[-1], *scene[:-1])
                scenes = (*day.scenes[:at], turned, *day.scenes[at + 1 :])
                days = list(told().days)
                days[nth] = replace(day, scenes=scenes)
                problems = check(replace(told(), days=tuple(days)), run(**CHOSEN))
                assert any("order" in each or "later" in each for each in problems)
                return
    pytest.fail("no scene of this story ends in an evening")


@pytest.mark.parametrize(
    "frame",
    [
        {"title": "Another shift"},
        {"question": "Who cares?"},
        {"tension": (1, 2, 3)},
        {"days": ()},
    ],
    ids=lambda frame: next(iter(frame)),
)
def test_a_false_frame_is_caught(frame: dict[str, Any]) -> None:
    """Title, question, names, tension and days must be the run's."""
    assert check(replace(told(), **frame), run(**CHOSEN))


def test_false_curves_and_arcs_are_caught() -> None:
    """A day's tension and curve, and who an arc is of, are held against the rows too."""
    first, arc = told().days[0], told().arcs[0]
    for day in (replace(first, tension=first.tension + 1), replace(first, curve=first.curve[::-1])):
        assert check(replace(told(), days=(day, *told().days[1:])), run(**CHOSEN))
    other = replace(arc, backstory="Never did anything wrong.")
    assert check(replace(told(), arcs=(other, *told().arcs[1:])), run(**CHOSEN))


def test_a_story_of_another_run_is_caught() -> None:
    """The rows of another seed do not bear this story out."""
    other = run(**{**CHOSEN, "seed": 8})
    assert len(check(told(), other)) > len(told().sentences) // 2
