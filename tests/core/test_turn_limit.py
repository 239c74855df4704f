"""How long a task may go on before it stands still."""

import pytest

from loopforge.core.text.erasable_text import Words
from loopforge.core.work.turn_limit import turn_limit
from loopforge.core.work.work_vocabulary import Complexity, TaskClassified


@pytest.mark.parametrize(("complexity", "turns"), [("SIMPLE", 10), ("MEDIUM", 20), ("COMPLEX", 35)])
def test_what_is_harder_may_take_more_turns(complexity: Complexity, turns: int) -> None:
    """Ten, twenty or thirty-five."""
    taken = TaskClassified(
        task_type="question",
        role="coder",
        complexity=complexity,
        flow="simple",
        by="rules",
        reason=Words("It is one."),
    )
    assert turn_limit(taken) == turns


def test_a_task_that_was_not_classified_yet_has_those_of_the_middle() -> None:
    """Twenty."""
    assert turn_limit(None) == 20
