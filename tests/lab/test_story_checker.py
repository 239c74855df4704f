"""The checker of stories: false sentences of many kinds are planted, and each is caught."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from msgspec.structs import asdict, replace

from loopforge.core.factory_vocabulary import Row
from loopforge.lab.story.claim_phrases import phrases
from loopforge.lab.story.claims import (
    AnyClaim,
    Did,
    HappenedClaim,
)
from loopforge.lab.story.story_checker import check_story, grounds_of, sentence_problems
from loopforge.lab.story.story_text import Sentence, Story
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
    assert check_story(told(), run(**CHOSEN)) == []
    problems = check_story(planted(false), run(**CHOSEN))
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
    assert len(false) > 400
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


# ---------------------------------------------------------------- another run


def test_a_story_of_another_run_is_caught() -> None:
    """The rows of another seed do not bear this story out."""
    other = run(**{**CHOSEN, "seed": 8})
    assert len(check_story(told(), other)) > len(told().sentences) // 2
