"""False sentences of many kinds, made out of a true story: what a checker of stories must catch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from loopforge.core.factory_vocabulary import Decided, Reflected, Row
from loopforge.lab.story.claim_phrases import phrases
from loopforge.lab.story.claims import (
    BelievedClaim,
    Bent,
    ClaimCause,
    ClaimLink,
    Crossed,
    Did,
    Gap,
    HappenedClaim,
    Hinge,
    Moved,
    Ranked,
    Struck,
    TallyClaim,
    Unseen,
)
from loopforge.lab.story.run_story import Sentence, Story
from tests.lab.shelf import rows, run, story

CHOSEN: dict[str, Any] = {"seed": 7, "perception": "spin", "supervisor": "punitive"}


def told() -> Story:
    """The story into which false sentences are planted."""
    return story(**CHOSEN)


def ground() -> list[Row]:
    """Its rows."""
    return rows(run(**CHOSEN))


def of(kind: type[Any], where: Callable[[Any], bool] = lambda _: True) -> Any:
    """A sentence with a claim of this kind."""
    return next(s for s in told().sentences if isinstance(s.claim, kind) and where(s.claim))


def another(name: str) -> str:
    """Another robot's name."""
    return next(each for each in told().names.robots if each != name)


def elsewhere(place: str) -> str:
    """Another place's name."""
    return next(each for each in told().names.places if each != place)


def claiming(origin: Sentence, **false: Any) -> Sentence:
    """A sentence that claims something else, in words that fit what it claims."""
    claim = replace(origin.claim, **false)
    return Sentence(phrases(claim)[0], origin.rows, claim)


def altered(origin: Sentence, **false: Any) -> Sentence:
    """The sentence with other words, or other rows."""
    return replace(origin, **false)


def acts() -> Iterator[Decided]:
    """The decisions of the run."""
    return (row for row in ground() if isinstance(row, Decided))


# ---------------------------------------------------------------- what is false


def wrong_name_in_words() -> Sentence:
    """The claim is true, the words name another."""
    true = of(Did)
    return altered(true, text=true.text.replace(true.claim.who, another(true.claim.who)))


def wrong_place_in_words() -> Sentence:
    """The claim is true, the words tell of another place."""
    true = of(Did, lambda claim: claim.at in claim.consequence)
    return altered(true, text=true.text.replace(true.claim.at, elsewhere(true.claim.at)))


def harm_unseen_that_was_seen() -> Sentence:
    """What looked bad to its doer is told as looking good."""
    row = next(row for row in acts() if not row.outcome.good and not row.outcome.seen_good)
    claim = Unseen(row.n, row.day, row.step % 16 + 1, row.who)
    return Sentence(phrases(claim)[0], (row.n,), claim)


def wrong_count_in_words() -> Sentence:
    """The claim is true, the words count otherwise."""
    true = of(TallyClaim)
    other = phrases(replace(true.claim, wrong=true.claim.wrong + 1))[0]
    return altered(true, text=other)


def no_rows() -> Sentence:
    """It rests on nothing."""
    return altered(of(Did), rows=())


def incident_that_was_not() -> Sentence:
    """Something broke that did not."""
    claim = HappenedClaim("i9999", 0, 3, "fire", "lens room", "", ())
    return Sentence(phrases(claim)[0], (ground()[-1].n,), claim)


def wrong_cause() -> Sentence:
    """It hung on something else."""
    true = of(HappenedClaim, lambda claim: bool(claim.links))
    link = true.claim.links[0]
    other = next(row for row in acts() if row.outcome.good and row.n > 3)
    false = ClaimLink(link.of, f"r{other.n}", other.outcome.consequence, other.who, other.at, 0, 1)
    return claiming(true, links=(false,))


def cause_and_effect_swapped() -> Sentence:
    """What came first is told as what came of it."""
    true = of(HappenedClaim, lambda claim: any(link.ref[0] == "i" for link in claim.links))
    link = next(each for each in true.claim.links if each.ref[0] == "i")
    turned = ClaimLink(link.ref, true.claim.id, true.claim.kind, "", true.claim.at, 0, 1)
    claim = replace(true.claim, id=link.ref, kind=link.what, at=link.at, links=(turned,))
    return Sentence(phrases(claim)[0], true.rows, claim)


def a_thread_that_is_not_longest() -> Sentence:
    """A short thread is told as the longest."""
    true = of(HappenedClaim, lambda claim: not claim.links)
    return claiming(true, longest=True)


def trait_that_did_not_move() -> Sentence:
    """A trait is said to have moved, and never did."""
    claim = Moved("Halide", "traits.ambition", 0, 500, 620, (ClaimCause("slept", 1, 120),))
    return Sentence(phrases(claim)[0], (1,), claim)


def trait_moved_by_something_else() -> Sentence:
    """The sum is right, a cause is not."""
    true = of(Moved)
    first, *rest = true.claim.causes
    return claiming(true, causes=(ClaimCause("was helped", first.times, first.delta), *rest))


def hinge_that_was_none() -> Sentence:
    """Another row is said to have moved it furthest."""
    true = of(Hinge)
    claim = replace(true.claim, row=true.claim.row + 7, delta=true.claim.delta)
    return Sentence(phrases(claim)[0], (claim.row,), claim)


def true_belief_told_as_false() -> Sentence:
    """Somebody judged an act rightly, and it is told as misjudged."""
    evening = next(row for row in ground() if isinstance(row, Reflected))
    right = next(each for each in evening.of if each.good and each.truly)
    claim = BelievedClaim(right.row, evening.day, evening.who, True, False, right.fault)
    return Sentence(phrases(claim)[0], (right.row, evening.n), claim)


def edit_the_other_way_round() -> Sentence:
    """What was true and what was shown have changed places."""
    true = of(Bent, lambda claim: bool(claim.shown))
    return claiming(true, true=true.claim.shown, shown=true.claim.true)


def gap_that_is_not_widest() -> Sentence:
    """Some gap is told as the widest."""
    widest = max(row.outcome.belief_error for row in acts())
    row = next(row for row in acts() if row.outcome.belief_error < widest)
    shown, belief = row.shown.context["sign"], row.outcome.belief
    events = [str(event) for event in row.shown.local_events]
    claim = Gap(
        row.n,
        row.day,
        1,
        row.who,
        "low",
        shown,
        belief,
        row.outcome.belief_error,
        events[0],
        "",
        True,
    )
    return Sentence(phrases(claim)[0], (row.n,), claim)


def luck_that_did_not_strike() -> Sentence:
    """Nothing struck there."""
    claim = Struck(0, 2, "heat at press hall")
    return Sentence(phrases(claim)[0], (7,), claim)


def best_and_worst_swapped() -> Sentence:
    """The worst is told as the best."""
    one = of(Ranked).claim
    claim = Ranked(
        one.worst, one.worst_wrong, one.worst_acts, one.best, one.best_wrong, one.best_acts
    )
    return Sentence(phrases(claim)[0], of(Ranked).rows, claim)


def places_that_were_not_changed() -> Sentence:
    """Two robots are told to have changed places the other way round."""
    claim = of(Crossed).claim
    turned = replace(claim, one=claim.other, other=claim.one)
    return Sentence(phrases(turned)[0], of(Crossed).rows, turned)


def words_of_nobody() -> Sentence:
    """A claim is true, and the sentence says something that no template says."""
    return altered(of(Did), text=f"{of(Did).text} And everybody laughed.")


FALSE = [
    wrong_name_in_words,
    wrong_place_in_words,
    harm_unseen_that_was_seen,
    wrong_count_in_words,
    no_rows,
    incident_that_was_not,
    wrong_cause,
    cause_and_effect_swapped,
    a_thread_that_is_not_longest,
    trait_that_did_not_move,
    trait_moved_by_something_else,
    hinge_that_was_none,
    true_belief_told_as_false,
    edit_the_other_way_round,
    gap_that_is_not_widest,
    luck_that_did_not_strike,
    best_and_worst_swapped,
    places_that_were_not_changed,
    words_of_nobody,
]
