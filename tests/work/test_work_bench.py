"""A benchmark of tasks: problems in packages from PyPI, and tests that decide who solved them.

The learner is a script. Of half of the packages it knows the line that is wrong; in the others it
edits another one, unless it was told where to look, which looking back on a failed attempt teaches.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from loopforge.errors import InputError
from loopforge.runtime.ports import Question
from loopforge.work.benchmark.benchmark_summary import arm_difference, arms_of
from loopforge.work.benchmark.instance_run import BenchmarkRun, InstanceAttempt
from loopforge.work.benchmark.swe_instance import SweInstance, read_instances
from tests.work.conftest import Step, says, uses, working
from tests.work.swe_instances import BUGS, PlantedBug, make_instances
from tests.work.test_attempt_learning import looks_back, sentence

HARD = {bug.package for bug in BUGS[::2]}
"""Those whose line the learner does not know by itself."""


def hint(bug: PlantedBug) -> str:
    """What a failed attempt at a hard one teaches."""
    return f"For {bug.package} look at {bug.file}, where one sign is wrong."


def learner(asked: Question) -> Step:
    """Edits one line, and says that it is done."""
    text = "\n".join(said for _, said in asked.messages)
    bug = next(each for each in BUGS if each.problem in text)
    if looks_back(asked):
        return {
            "failed": [sentence("The change was no use.", 1)],
            "root_cause": sentence("It was the wrong line.", 1),
            "strategy_change": sentence("Another file is edited.", 1),
            "insight": sentence(hint(bug), 1),
        }
    if asked.schema is None or "state" not in asked.schema.get("properties", {}):
        return {"reason": "so"} if asked.schema else "So it was."
    if "is edited in" in text or "is written" in text:
        return says("done", "It is mended.", confidence=90)
    if bug.package in HARD and hint(bug) not in text:
        return uses("work_write", path=f"repo/{bug.package}/notes.txt", text="Mended.\n")
    return uses("work_edit", **bug.edit)


async def ran(
    place: Path, instances: Sequence[SweInstance], arm: str, attempts: int
) -> list[InstanceAttempt]:
    """All of them in one arm, in a home of its own."""
    home = place / arm
    home.mkdir()
    async with working(home, learner, {"LOOPFORGE_WORK_LEARNING": arm}) as shop:
        run = BenchmarkRun(shop.tasks, shop.app.stamp.clock, home, "ana", arm, attempts)
        done = [one async for one in run.over(instances)]
        assert not list((home / "repositories").glob("*"))
        assert not list((home / "bench").glob("*"))
        return done


async def test_tests_decide_and_the_next_attempt_is_better(place: Path) -> None:
    """A known one at once, one that has to be learned at the second attempt; odd ones say nothing."""
    folder = make_instances(place / "instances", BUGS[3:5])
    odd = json.loads((folder / "mdurl.json").read_text())
    odd |= {"instance_id": "odd", "FAIL_TO_PASS": odd["PASS_TO_PASS"]}
    (folder / "odd.jsonl").write_text(json.dumps(odd) + "\n")
    done = await ran(place, read_instances(folder), "on", 2)
    assert [(one.instance, one.attempt, one.resolved) for one in done] == [
        ("odd", 0, False),
        ("pypi__iniconfig-1", 1, True),
        ("pypi__mdurl-1", 1, False),
        ("pypi__mdurl-1", 2, True),
    ]
    assert done[0].unusable
    assert "test_import passes before anything was done" in done[0].why
    assert "its tests fail" in done[2].why
    (arm,) = arms_of(done)
    assert (arm.resolved.n, arm.resolved.estimate, arm.first, arm.attempts) == (2, 1.0, 1, 3)
    assert arm.unusable == 1


@pytest.mark.patient  # the quick one above has two of them
@pytest.mark.timeout(600)
async def test_six_packages_with_and_without_what_was_learned(place: Path) -> None:
    """All six with what the first attempt taught; without it, the three that were known."""
    instances = read_instances(make_instances(place / "instances"))
    done = [one for arm in ("off", "on") for one in await ran(place, instances, arm, 2)]
    assert not any(one.unusable for one in done)
    resolved = {arm.arm: round(arm.resolved.estimate * arm.resolved.n) for arm in arms_of(done)}
    assert resolved == {"off": 3, "on": 6}
    found = arm_difference(done, "off", "on")
    assert found is not None
    assert found.interval.estimate == 0.5
    print(*arms_of(done), found, sep="\n")


def test_what_is_no_instance_is_named(tmp_path: Path) -> None:
    """Which file, which instance, and what of it; and where its repository is to be."""
    whole = {
        "instance_id": "a-1",
        "repo": "a/b",
        "base_commit": "0" * 40,
        "problem_statement": "It fails.",
        "test_patch": "",
        "FAIL_TO_PASS": '["t"]',
    }

    def told(value: object) -> str:
        (tmp_path / "one.json").write_text(value if isinstance(value, str) else json.dumps(value))
        with pytest.raises(InputError) as refused:
            read_instances(tmp_path)
        return str(refused.value)

    (tmp_path / "none.json").write_text("[]")
    with pytest.raises(InputError, match="holds no instances"):
        read_instances(tmp_path)
    assert "one.json is no JSON" in told("{")
    assert "an instance is not as SWE-bench has it" in told({"instance_id": "a"})
    assert "no commit of 40 hex digits" in told(whole | {"base_commit": "main"})
    assert "no test that must pass" in told(whole | {"FAIL_TO_PASS": "[]"})
    assert "an instance is not as SWE-bench has it" in told(whole | {"FAIL_TO_PASS": "{"})
    assert f"clone it to {tmp_path / 'repos' / 'a__b'}" in told(whole)
    (tmp_path / "repos" / "a__b").mkdir(parents=True)
    assert "more than once" in told([whole, whole])


def test_a_text_with_a_break_of_unicode_is_one_line(tmp_path: Path) -> None:
    """In a file of lines of JSON, where it may stand as it is."""
    (tmp_path / "repos" / "a__b").mkdir(parents=True)
    whole = {
        "instance_id": "a-1",
        "repo": "a/b",
        "base_commit": "0" * 40,
        "problem_statement": "It fails\u2028here.",
        "test_patch": "",
        "FAIL_TO_PASS": ["t"],
    }
    rows = [json.dumps(whole | {"instance_id": f"a-{n}"}, ensure_ascii=False) for n in range(2)]
    (tmp_path / "two.jsonl").write_text("\n".join(rows) + "\n")
    assert len(read_instances(tmp_path)) == 2
