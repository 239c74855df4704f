"""A mate that says it is done although the tests that it ran last failed."""

from pathlib import Path

import pytest

from loopforge.runtime.ports import Question
from tests.work.conftest import Step, in_order, says, uses, working
from tests.work.test_task_results import repository

WRONG = uses("work_write", path="test_two.py", text="import unittest\n\nraise SystemExit(3)\n")
RIGHT = uses("work_write", path="test_two.py", text="import unittest\n")
TESTED = uses("work_run", command="python3 -B -m unittest test_two || exit 3")
PASSED = uses("work_run", command="python3 -B test_two.py # pytest")
DONE = says("done", "It is mended.")
TASK = "Fix two() in test_two.py in Python"


async def test_it_is_sent_back_once(place: Path) -> None:
    """The mate is told which tests failed, mends it, and nothing is said against its result."""
    shown = list[str]()
    answers = in_order(WRONG, TESTED, DONE, RIGHT, PASSED, DONE)

    def script(asked: Question) -> Step:
        shown.append(str(asked.messages))
        return answers(asked)

    async with working(place, script) as shop:
        state = await shop.state(await shop.give(TASK))
        assert (state.stage, state.turns, state.failing) == ("finished", 6, "")
        assert any("the tests that you ran last failed (`python3 -B" in one for one in shown)
        assert str(state.summary).startswith("Done after 6 turns")


@pytest.mark.parametrize("sure", [70, 99])
async def test_it_may_insist_and_that_is_said(place: Path, sure: int) -> None:
    """The second time it is done: with less confidence, and the report says what failed."""
    done = says("done", "It is mended.", confidence=sure)
    async with working(place, in_order(WRONG, TESTED, done, done)) as shop:
        state = await shop.state(await shop.give(TASK))
        assert (state.stage, state.turns) == ("finished", 4)
        assert "turns, it says; but the tests that it ran last failed; it cost" in str(
            state.summary
        )
        before, *after = (one.confidence for one in state.progress[1:])
        assert before > after[0] > after[1]


async def test_a_generalist_that_made_a_change_is_sent_back_too(place: Path) -> None:
    """Where a model says that it is anybody's work; one that changed nothing only ran them."""
    answers = in_order(WRONG, TESTED, DONE, RIGHT, PASSED, DONE)

    def script(asked: Question) -> Step:
        if "role" in (asked.schema or {}).get("properties", {}):
            kind = {"type": "coding", "role": "general", "complexity": "MEDIUM"}
            return {**kind, "flow": "sequential-thinking", "reason": "so"}
        return answers(asked)

    async with working(place, script) as shop:
        state = await shop.state(await shop.give("Look after the halves of two."))
        assert state.classified is not None
        assert (state.classified.role, state.turns, state.failing) == ("general", 6, "")


async def test_whoever_approves_it_is_told(place: Path) -> None:
    """Beside the commit stands that its tests failed, and so does it in the commit's message."""
    folder = repository(place, app="TWO = 3\n")
    edit = uses("work_edit", path="repo/app.py", old="3", new="4")
    tested = uses("work_run", command="python3 -B -m unittest nowhere; exit 1")
    async with working(place / "home", in_order(edit, tested, DONE, DONE)) as shop:
        known = shop.tasks.places.repositories.registered
        id = await shop.give("Fix TWO in app.py", repo=(await known.register(folder)).name)
        offered = (await shop.state(id)).offered
        assert offered is not None
        assert "The tests that were run last failed" in str(offered.notes[0])
        assert "unittest nowhere; exit 1 (failed)" in str(offered.message)
        assert "before the last change" not in str(offered.message)


async def test_a_commit_says_which_tests_failed_before_its_last_change(place: Path) -> None:
    """They were run to see what is wrong, and say nothing of what it is now."""
    folder = repository(place, app="TWO = 3\n")
    wrong = uses("work_run", command="python3 -B -m unittest nowhere; exit 1")
    edit = uses("work_edit", path="app.py", old="3", new="4")
    right = uses("work_run", command="python3 -B app.py # pytest")
    async with working(place / "home", in_order(wrong, edit, right, DONE)) as shop:
        known = shop.tasks.places.repositories.registered
        id = await shop.give("Fix TWO in app.py", repo=(await known.register(folder)).name)
        state = await shop.state(id)
        assert state.offered is not None
        told = str(state.offered.message)
        assert "- python3 -B -m unittest nowhere; exit 1 (failed, before the last change)\n" in told
        assert "- python3 -B app.py # pytest\n" in told
        assert list(state.written) == ["repo/app.py"]


async def test_a_command_that_was_cut_off_is_to_be_looked_at_twice(place: Path) -> None:
    """What it wrote until then may be in the commit, and nobody saw it end."""
    folder = repository(place)
    write = uses("work_write", path="repo/a.py", text="y = 1\n")
    cut = uses("work_run", command="echo half > b.py; sleep 300")
    async with working(place / "home", in_order(write, cut, DONE)) as shop:
        known = shop.tasks.places.repositories.registered
        repo = (await known.register(folder)).name
        id = await shop.tasks.open("Write a.py in Python", "ana", owner=True, repo=repo)
        await shop.until(id, "effect.running", 2)
        await shop.tasks.stop(id, "ana")
        await shop.rest(id)
        await shop.tasks.resume(id, "ana")
        await shop.rest(id)
        offered = (await shop.state(id)).offered
        assert offered is not None
        (note,) = map(str, offered.notes)
        assert note.startswith("`echo half > b.py; sleep 300` was cut off: what it wrote")


async def test_what_lies_beside_the_clone_is_named_where_nothing_is_to_merge(place: Path) -> None:
    """*Nothing was changed* and a list of changed files would contradict each other."""
    folder = repository(place)
    steps = (uses("work_write", path="b.py", text="y = 1\n"), DONE)
    async with working(place / "home", in_order(*steps)) as shop:
        known = shop.tasks.places.repositories.registered
        id = await shop.give("Write b.py in Python", repo=(await known.register(folder)).name)
        offered = (await shop.state(id)).offered
        assert offered is not None
        assert str(offered.message).endswith("b.py: beside the clone, repo/, not in it.")


async def test_tests_may_fail_where_nothing_is_to_be_changed(place: Path) -> None:
    """Whoever was asked to run them has done it."""
    run = uses("work_run", command="python3 -B -m unittest nowhere; exit 1")
    async with working(place, in_order(run, says("done", "They fail."))) as shop:
        state = await shop.state(await shop.give("Review the tests: run them and tell me"))
        assert (state.stage, state.turns, state.changes_files) == ("finished", 2, False)
