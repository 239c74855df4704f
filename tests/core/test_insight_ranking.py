"""Insights are ranked by their uses, and by how attempts went that were given them."""

from loopforge.core.work.insight_ranking import InsightWorth, rank_insights, worth_of
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
