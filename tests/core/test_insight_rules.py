"""Insights are kept if free of secrets, people and quotes, and ranked by what came of their uses."""

import pytest

from loopforge.core.work.insight_rules import (
    InsightWorth,
    insight_objection,
    rank_insights,
    worth_of,
)
from loopforge.core.work.work_vocabulary import AttemptScored, LearningArm


def attempt(together: float, *used: str, arm: LearningArm = "on") -> AttemptScored:
    """An attempt that was given these."""
    return AttemptScored(
        attempt=1,
        mate="maya",
        completion=0,
        quality=0,
        efficiency=0,
        together=together,
        used=used,
        arm=arm,
    )


def test_what_helped_comes_first_and_what_harmed_last() -> None:
    """What nobody used stands in between; age moves nothing but equals."""
    attempts = [*[attempt(90, "helps")] * 4, *[attempt(20, "harms")] * 4, attempt(60)]
    found = [worth_of(one, attempts) for one in ("harms", "helps", "new-1", "new-2")]
    assert [one.insight for one in rank_insights(found)] == ["helps", "new-2", "new-1", "harms"]
    assert found[1].lift > 0 > found[0].lift


def test_of_one_use_little_is_believed() -> None:
    """The same lift counts for more where it was seen more often."""
    once = worth_of("a", [attempt(90, "a"), attempt(50)])
    often = worth_of("a", [*[attempt(90, "a")] * 9, attempt(50)])
    assert once.lift == often.lift == 40
    assert 0 < once.worth < often.worth < 45


def test_what_others_had_learned_says_nothing_of_it() -> None:
    """Attempts of the shuffled arm count neither for it nor against it."""
    attempts = [attempt(90, "a"), attempt(50)]
    more = [*attempts, attempt(0, "a", arm="shuffled"), attempt(0, arm="shuffled")]
    assert worth_of("a", more) == worth_of("a", attempts)


def test_without_comparison_there_is_no_lift() -> None:
    """Where all were given it, or none, nobody knows what it does."""
    assert worth_of("a", [attempt(90, "a")]).lift == 0
    assert worth_of("a", [attempt(90)]) == InsightWorth("a", 0, -1, 90)


# ---------------------------------------------------------------- test insight checks


SAID = ("Please fix the parser of the tariff table before noon.",)
SEEN = ("[exit code 1]\nE: the mode of this plant is not set, see the manual",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Set the mode before you run the plant.", ""),
        ("Run the tests with -p no:randomly, or they depend on each other.", ""),
        ("Ana wants tabs.", "it names a person"),
        ("The file of de Vries is the right one.", "it names a person"),
        ("Use the key [redacted] for the service.", "it held a secret"),
        ("Write to ops@example.org when it fails.", "it holds an address"),
        ("Look at https://example.org/x first.", "it holds an address"),
        ("Call +49 170 1234567 when it fails.", "it holds an address"),
        ("They said “do it twice”.", "it quotes somebody"),
        ("Fix the parser of the tariff table early.", "it holds what a person said"),
        ("The mode of this plant is not set at first.", "it holds what stood in a file or came of a command"),
        ("a" * 301, "it is no single sentence"),
        ("One.\nTwo.", "it is no single sentence"),
    ],
)  # fmt: skip
def test_what_is_not_the_mates_own_stays_out(text: str, why: str) -> None:
    """The reason is told; what is free of all that may be kept."""
    assert insight_objection(text, ("Ana", "Piet de Vries"), SAID, SEEN) == why
