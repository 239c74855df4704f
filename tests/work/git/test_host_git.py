"""Files of a repository, read by their objects."""

import subprocess
from pathlib import Path

import pytest

from loopforge.errors import RepositoryError
from loopforge.work.git.person_repository import PersonRepository


async def test_an_object_that_is_not_there_is_named(tmp_path: Path) -> None:
    """What a clone left out is said to be missing; what is there comes byte for byte."""

    def git(*words: str, stdin: bytes = b"") -> str:
        made = subprocess.run(["git", *words], cwd=tmp_path, input=stdin, capture_output=True)
        return made.stdout.decode().strip()

    git("init", "-q", "-b", "main")
    blob = git("hash-object", "-w", "--stdin", stdin=b"a\nb 1 2\n")
    repository = PersonRepository(tmp_path)
    assert await repository.contents({blob}) == {blob: b"a\nb 1 2\n"}
    with pytest.raises(RepositoryError, match=f"{'1' * 40} is missing"):
        await repository.contents({"1" * 40})
