"""Instances in the format of SWE-bench: a repository at a commit, a problem, tests that decide.

    DIR/*.json, DIR/*.jsonl          one instance, a list of them, or one a line
    DIR/repos/OWNER__NAME            the repositories; or a path from DIR on, as `repo` says

Of an instance these are read: instance_id, repo, base_commit, problem_statement, test_patch,
FAIL_TO_PASS, PASS_TO_PASS (lists, or lists as text); and `test_cmd`, which SWE-bench itself keeps
elsewhere: what runs tests that are named after it. Whatever else stands there, the solution above
all, is not even read.

Source: Jimenez et al. 2024, SWE-bench, appendix A.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from loopforge.errors import InputError
from loopforge.work.git.host_git import is_commit

TEST_CMD = "python3 -m pytest -q"
NAMES = ("FAIL_TO_PASS", "PASS_TO_PASS")
REPOSITORIES = "repos"
LARGEST = 64 << 20
"""Bytes of a file of instances."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_PATCHED = re.compile(r"(?:---|\+\+\+) [ab]/(.+?)(?:\t.*)?|rename (?:from|to) (.+)")


class SweInstance(Struct, frozen=True, kw_only=True):
    """One problem. `repo` is where its repository lies; tests bear the names `test_cmd` knows."""

    instance_id: str
    repo: str
    base_commit: str
    problem_statement: str
    test_patch: str
    must_pass: tuple[str, ...] = field(name="FAIL_TO_PASS")
    stay_passing: tuple[str, ...] = field(name="PASS_TO_PASS", default=())
    test_cmd: str = TEST_CMD

    @property
    def tested_paths(self) -> tuple[str, ...]:
        """The files that its test patch changes, in order."""
        found = map(_PATCHED.fullmatch, self.test_patch.splitlines())
        return tuple(dict.fromkeys(each[1] or each[2] for each in found if each))


def read_instances(folder: Path) -> list[SweInstance]:
    """The instances of a folder, by their ids. Raises InputError: which file, and what of it."""
    files = sorted((*folder.glob("*.json"), *folder.glob("*.jsonl")))
    found = [_checked(one, folder, path) for path in files for one in _raw(path)]
    if not found:
        raise InputError(
            f"{folder} holds no instances: files in SWE-bench's format that end in .json or .jsonl."
        )
    counted = Counter(each.instance_id for each in found)
    if twice := [id for id, times in counted.items() if times > 1]:
        raise InputError(f"The instance {twice[0]!r} is in {folder} more than once.")
    return sorted(found, key=lambda each: each.instance_id)


def _raw(path: Path) -> list[Any]:
    if path.stat().st_size > LARGEST:
        raise InputError(f"{path.name} is larger than {LARGEST >> 20} MB; split it.")
    text = path.read_text("utf-8", errors="replace")
    try:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        whole = json.loads(text)
    except ValueError as error:
        raise InputError(f"{path.name} is no JSON: {error}.") from error
    return whole if isinstance(whole, list) else [whole]


def _checked(one: Any, folder: Path, path: Path) -> SweInstance:
    try:
        if isinstance(one, dict):
            one |= {key: _names(one[key]) for key in NAMES if key in one}
        found = msgspec.convert(one, SweInstance)
    except msgspec.MsgspecError as error:
        raise InputError(
            f"{path.name}: an instance is not as SWE-bench has it: {error}."
        ) from error
    name = found.instance_id
    if not _ID.fullmatch(name):
        raise InputError(f"{path.name}: {name[:60]!r} is no id: letters, digits, dots and dashes.")
    if not is_commit(found.base_commit):
        raise InputError(f"{name}: {found.base_commit[:60]!r} is no commit of 40 hex digits.")
    if not found.must_pass or not found.problem_statement.strip():
        raise InputError(f"{name}: it names no problem, or no test that must pass afterwards.")
    return replace(found, repo=str(_repository(folder, found)))


def _names(given: Any) -> Any:
    """Names of tests: a list, or one written as JSON in a text, as datasets have it."""
    return msgspec.json.decode(given or "[]") if isinstance(given, str) else given


def _repository(folder: Path, written: SweInstance) -> Path:
    places = (
        folder / REPOSITORIES / written.repo.replace("/", "__"),
        folder / written.repo,
    )
    for place in places:
        if place.is_dir():
            return place.resolve()
    raise InputError(
        f"{written.instance_id}: its repository {written.repo!r} is not here; clone it to "
        f"{places[0]}."
    )
