"""A sentence rests on the lines of whose words it says enough again."""

from loopforge.core.memory.evidence_overlap import is_supported_by, stems_of, supporting_lines

SAID = ("Fish makes me ill, I am allergic", "The train was late", "We meet at 17:30")
LINES = tuple(map(stems_of, SAID))


def test_a_sentence_rests_on_lines_that_share_a_word_of_weight() -> None:
    """Endings and small words do not count; numbers do."""
    assert supporting_lines("Ana is allergic to fishes", LINES) == [0]
    assert supporting_lines("They meet at 17", LINES) == [2]
    assert supporting_lines("She is fine with that", LINES) == []
    assert stems_of("the 30") == {"30"}


def test_it_is_supported_where_enough_of_it_is_said() -> None:
    """One word of six is too little; nothing supports a sentence that says nothing."""
    assert is_supported_by("Ana is allergic to fish", LINES)
    assert not is_supported_by("Trains fascinate Ana deeply: engines, whistles, timetables", LINES)
    assert not is_supported_by("It is so", LINES)
