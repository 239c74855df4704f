"""Sentences of a look back are held against what was seen in the turns that they cite."""

import pytest

from loopforge.core.work.command_results import SeenResult
from loopforge.core.work.reflection_rules import TurnSeen, flag_of
from loopforge.core.work.work_vocabulary import ReflectionPart
from tests.core.test_command_results import ran


def turn(*results: SeenResult, written: tuple[str, ...] = ()) -> TurnSeen:
    """A turn in which that was seen."""
    words = " ".join(f"{one.what} {one.value}" for one in results)
    return TurnSeen(results, frozenset(written), words)


RECORD = {
    1: turn(SeenResult("work_write", "parser.py", "returned", "done"), written=("parser.py",)),
    2: turn(ran("pytest -q", 1, "FAILED tests/test_parser.py: no such key: mode")),
    3: turn(ran("pytest -q", 0, "3 passed")),
    4: turn(ran("ls nowhere", 2, "ls: nowhere: not found")),
}


@pytest.mark.parametrize(
    ("part", "text", "turns", "flag"),
    [
        ("worked", "The tests passed.", (3,), ""),
        ("worked", "All tests passed at the end.", (2,), "the tests of turn 2 failed"),
        ("worked", "The tests were green.", (1,), "no tests were run in turn 1"),
        ("failed", "The tests failed.", (2,), ""),
        ("failed", "The tests failed.", (3,), "the tests of turn 3 passed"),
        ("failed", "The tests did not pass.", (2,), ""),
        ("failed", "The tests failed.", (1,), "no tests were run in turn 1"),
        ("failed", "It exited with code 2.", (4,), ""),
        ("failed", "It exited with code 3.", (4,), "nothing ended with 3 in turn 4"),
        ("worked", "I wrote parser.py.", (1,), ""),
        ("worked", "I edited lexer.py.", (1,), "lexer.py was not changed in turn 1"),
        ("worked", "I read lexer.py first.", (1,), "“lexer.py” stands nowhere in turn 1"),
        ("failed", 'It said "no such key: mode".', (2,), ""),
        ("failed", 'It said "segfault at start".', (2,), "“segfault at start” stands nowhere in turn 2"),
        ("worked", "Listing the files helped.", (4,), "all that was done in turn 4 failed"),
        ("cause", "The key was missing.", (), "it cites no turn"),
        ("cause", "The key was missing.", (2, 9), "there was no turn 9 in this attempt"),
        ("change", "Run `make fast` before lexer.py is edited.", (2,), ""),
        ("insight", "Read the schema first.", (), "it cites no turn"),
        ("insight", "Tests passed once mode was set.", (2, 3), ""),
    ],
)  # fmt: skip
def test_a_sentence_that_the_record_contradicts_is_flagged(
    part: ReflectionPart, text: str, turns: tuple[int, ...], flag: str
) -> None:
    """By what its turns hold; advice is held to its turns alone."""
    assert flag_of(part, text, turns, RECORD) == flag
