"""A sentence rests on the lines of whose words it says enough again."""

from loopforge.core.memory.evidence_overlap import resting_on, stems_of, supported

LINES = ("Fish makes me ill, I am allergic", "The train was late", "We meet at 17:30")


def test_a_sentence_rests_on_lines_that_share_a_word_of_weight() -> None:
    """Endings and small words do not count; numbers do."""
    assert resting_on("Ana is allergic to fishes", LINES) == [0]
    assert resting_on("They meet at 17", LINES) == [2]
    assert resting_on("She is fine with that", LINES) == []
    assert stems_of("the 30") == {"30"}


def test_it_is_supported_where_enough_of_it_is_said() -> None:
    """One word of six is too little; nothing supports a sentence that says nothing."""
    assert supported("Ana is allergic to fish", LINES)
    assert not supported("Trains fascinate Ana deeply: engines, whistles, timetables", LINES)
    assert not supported("It is so", LINES)
