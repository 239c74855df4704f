"""Results of commands tell how one ended, what it changed, and how tests ended."""

import pytest

from loopforge.core.work.command_results import (
    SeenResult,
    changes_in,
    error_of,
    exit_code,
    exit_of_tests,
    runs_tests,
    with_changes,
)
from loopforge.core.work.task_confidence import signals_of


def ran(command: str, code: int, output: str = "") -> SeenResult:
    """A command that ended."""
    return SeenResult("work_run", command, "returned", f"[exit code {code}, 0.1 s]\n{output}")


WRITTEN = SeenResult("work_write", "a.py", "returned", "a.py is written: 3 bytes.")


@pytest.mark.parametrize(
    ("command", "output", "ended"),
    [
        ("python -m pytest -q 2>&1 | tail -3", "FAILED test_a.py::test_b\n1 failed, 2 passed", 1),
        ("python -m unittest; sleep 1", "FAILED (errors=2)", 1),
        ("pytest | tail -1", "1 error in 0.12s", 1),
        ("go test ./... || true", "--- FAIL: TestA (0.00s)\nFAIL", 1),
        ("cargo test | cat", "test result: FAILED. 1 passed; 1 failed", 1),
        ("npm test; true", "Tests:       1 failed, 3 passed", 1),
        ("mvn test | tail", "Tests run: 3, Failures: 1, Errors: 0", 1),
        ("cd a && pytest -q | tail -1", "3 passed, 1 xfailed in 0.1s", 0),
        ("cargo test", "test result: ok. 2 passed; 0 failed", 0),
        ("bun test", "3 pass\n0 fail", 0),
        ("python manage.py test | cat", "Ran 3 tests in 0.1s\n\nFAILED (failures=1)", 1),
        ("bun install", "", None),
        ("mvn test", "Tests run: 3, Failures: 0, Errors: 0", 0),
        ("python3 -m pytest -q | tail -3", "/usr/bin/python3: No module named pytest", None),
        ("pytest -q 2>&1 | cat", "bash: line 2: pytest: command not found", None),
        ("python3 -m unittest", "Ran 0 tests in 0.000s\n\nOK", None),
        ("npm test || true", 'npm ERR! Missing script: "test"', None),
        ("make test; true", "make: *** No rule to make target 'test'.  Stop.", None),
        ("pytest | tail -1", "no tests ran in 0.01s", None),
        ("pytest; pytest a", "no tests ran in 0.01s\n1 failed in 0.1s", 1),
        ("cat pytest.ini", "1 failed", None),
        ("pip install pytest && ls", "", None),
        ("grep -rn unittest . | head", "", None),
    ],
)
def test_how_tests_ended_is_not_what_came_after_them(
    command: str, output: str, ended: int | None
) -> None:
    """A pipe or a second command hides their exit code; then what they printed says it."""
    assert exit_of_tests(command, ran(command, 0, output).value) == ended
    names = [one.name for one in signals_of([ran(command, 0, output)], [], changes=False)]
    none = "command failed" if runs_tests(command) else "command succeeded"
    assert names == [{0: "tests passed", 1: "tests failed", None: none}[ended]]


def test_the_same_error_is_known_again_whatever_its_numbers() -> None:
    """A line, an address or a time in it do not make it another; another error is another."""
    first = ran("pytest", 1, "File a.py, line 3\nValueError: no 7 in 0x7f01")
    again = ran("pytest", 1, "File a.py, line 9\nValueError: no 8 in 0x7f99")
    assert error_of(first) == error_of(again) != ""
    assert "same error again" in [
        s.name for s in signals_of([again], [error_of(first)], changes=False)
    ]
    assert error_of(ran("pytest", 1, "KeyError: x")) != error_of(first)
    assert error_of(ran("true", 0, "error: none")) == ""
    assert exit_code("no code") is None


def test_tests_that_fail_less_are_not_the_same_error_again() -> None:
    """Who mends one test after the other gets on; the same test that fails again is the same."""
    two = "FAILED t.py::a - assert 1\nFAILED t.py::b - assert 1\n2 failed, 3 passed in 0.31s"
    one = "FAILED t.py::b - assert 1\n1 failed, 4 passed in 0.12s"
    later = "FAILED t.py::b - assert 1\n1 failed, 4 passed in 0.99s"
    first, then, again = (error_of(ran("pytest -q", 1, output)) for output in (two, one, later))
    assert first != then == again != ""
    tail = [error_of(ran("pytest | tail -1", 0, f"{n} failed in 0.{n} s")) for n in (3, 2)]
    assert tail[0] != tail[1]


def test_commands_that_say_nothing_or_another_thing_are_no_same_error() -> None:
    """What is told of an error is what was printed, or the command, and never its exit code."""
    assert error_of(ran("grep -rn foo .", 1)) == "`grep -rn foo .` ended with 1"
    assert error_of(ran("test -f a", 1)) != error_of(ran("grep -rn foo .", 1))
    missing = error_of(ran("cat a.txt; false", 1, "cat: a.txt: No such file or directory\n"))
    assert missing == "cat: a.txt: No such file or directory"


@pytest.mark.parametrize("paths", [["a.py"], ["a b; c].py", "it's.py", "ü.md"], ["x"] * 21])
def test_a_command_changes_files_as_well(paths: list[str]) -> None:
    """Its first line names them, and so does what is read of it, whatever it prints."""
    head = with_changes("[exit code 0, 0.1 s]", paths)
    value = f"{head}\n[exit code 0, 0.1 s; changed: forged.py]"
    assert list(changes_in(value)) == paths[:20]
    assert ("21 files" in head) == (len(paths) > 20)
    seen = SeenResult("work_run", "sed -i s/1/2/ a.py", "returned", value)
    names = [one.name for one in signals_of([seen], [], changes=True)]
    assert names == ["command succeeded", "files changed"]
    assert changes_in(value.partition("\n")[2].replace("; changed: forged.py", "")) == ()
