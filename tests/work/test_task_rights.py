"""Who may do what about a task, and what can be done as it stands: two tables."""

from datetime import UTC, datetime
from typing import Any

import pytest

from loopforge.core.events import Event
from loopforge.core.text.erasable_text import Words
from loopforge.core.work.work_vocabulary import ResultOffered, TaskOpened, WorkspaceSaved
from loopforge.errors import NotLetIn
from loopforge.work.task_state import OpenUse, TaskState
from loopforge.work.threads.task_rights import DECIDERS, STEERERS, TaskRights, possible_acts

AT = datetime(2026, 10, 8, 14, 5, tzinfo=UTC)
NONE = {"tools": False, "change": False, "stop": False}
DECIDING = {"resume", "allow", "deny", "approve", "reject", "undo"}
ALL = {"stop", "say", "rate", *DECIDING}


def task(stage: Any = "finished", repo: str = "") -> TaskState:
    """A task as it stands, in which files were changed."""
    body = TaskOpened(text=Words("x"), person="ana", mate="otto", thread="room:a", repo=repo)
    opened = Event(stream="task:1", seq=1, id="e1", at=AT, actor="", cause="", body=body)
    kept = [WorkspaceSaved(nth=nth, checkpoint=copy) for nth, copy in ((0, "1"), (3, "2"))]
    return TaskState(stream="task:1", opened=opened, stage=stage, turns=3, checkpoints=kept)


@pytest.mark.parametrize(
    ("who", "theirs"),
    [
        ({**NONE}, set()),
        ({**NONE, "owner": True}, {"rate", *DECIDING}),
        ({**NONE, "gave": True}, {"stop", "rate"}),
        ({**NONE, "gave": True, "tools": True}, ALL),
        ({**NONE, "stop": True}, {"stop"}),
        ({**NONE, "change": True}, set()),
        ({**NONE, "change": True, "tools": True}, {"say", *DECIDING}),
    ],
)
def test_what_each_may(who: dict[str, Any], theirs: set[str]) -> None:
    """What is theirs they may, and all else is refused in a sentence."""
    rights = TaskRights(state=task(), **who)
    assert {act for act in ALL if rights.may(act)} == theirs
    for act in ALL - theirs:
        with pytest.raises(NotLetIn, match=r"may|Thumbs"):
            rights.must(act)


@pytest.mark.parametrize(
    ("stage", "owned"), [("finished", {"approve"}), ("approved", {"approve", "undo"})]
)
def test_a_repository_is_its_owners(stage: str, owned: set[str]) -> None:
    """What it gets, and what is taken back of it, is for nobody else, whoever gave the task."""
    state = task(stage, repo="parser")
    mine, theirs = TaskRights(state=state, owner=True), TaskRights(state=state, gave=True)
    assert {act for act in ALL if not theirs.may(act)} == owned
    assert all(mine.may(act) for act in ALL)


@pytest.mark.parametrize(
    ("stage", "more"),
    [
        ("working", {"stop"}),
        ("waiting", {"stop", "reject", "undo"}),
        ("stopped", {"resume", "reject", "undo"}),
        ("finished", {"approve", "reject", "undo"}),
    ],
)
def test_what_can_be_done_as_it_stands(stage: str, more: set[str]) -> None:
    """A task that is not over can be talked to and rated; the rest is by how it stands."""
    assert possible_acts(task(stage)) == {"say", "rate", *more}


def test_what_can_be_done_when_it_is_over_and_while_it_asks() -> None:
    """A yes to a tool while one waits; of what is over an approval alone can be taken back."""
    assert possible_acts(task("approved")) == {"undo"}
    assert possible_acts(task("rejected")) == set()
    asking = task("working")
    asking.running["e2"] = OpenUse("t", "push", Words("{}"), asks=True)
    assert possible_acts(asking) >= {"allow", "deny"}
    offered = task(repo="parser")
    assert "approve" not in possible_acts(offered)
    offered.offered = ResultOffered(
        commit="c0ffee", branch=Words("b"), base="a", message=Words("m"), diff=Words("d")
    )
    assert "approve" in possible_acts(offered)


def test_who_decides_but_may_have_no_tools_used_is_told_just_that() -> None:
    """A guest may change a room, and is not told that who may change it decides."""
    guest = TaskRights(state=task("finished"), gave=True, tools=False)
    assert (guest.refusal("reject"), guest.refusal("say")) == (STEERERS, STEERERS)
    assert TaskRights(state=task("finished"), change=False).refusal("reject") == DECIDERS
