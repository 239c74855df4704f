"""The mind of docs/policies.md, installed as the page says, thinks for a mate of a room."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from loopforge.core.policy import AnswerOutcome, ResultOutcome
from tests.rooms.conftest import living

PAGE = (Path(__file__).parents[2] / "docs" / "policies.md").read_text("utf-8")
CODE = PAGE.partition("```python\n")[2].partition("```")[0]
POINTS = "[loopforge.policies]\nadvocate = devils_advocate:MIND\n"


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[None]:
    """The package of the page, on the import path."""
    about = tmp_path / "advocate-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: advocate\nVersion: 1\n")
    (about / "entry_points.txt").write_text(POINTS)
    (tmp_path / "devils_advocate.py").write_text(CODE)
    sys.path.insert(0, str(tmp_path))
    yield
    sys.path.remove(str(tmp_path))
    sys.modules.pop("devils_advocate", None)


async def test_the_mind_of_the_page_speaks_where_it_is_called(
    installed: None, tmp_path: Path
) -> None:
    """By what the model gave, with its rule on record; a room names it beside those that ship."""
    async with living(tmp_path / "home") as home:
        await home.enter("ana", "bo")
        assert "Known: advocate, chain, stub, talk." in await home.does("ana", "policy")
        await home.does("ana", "policy", "advocate Maya")
        await home.hears("ana", "@maya bread is easy")
        assert (await home.lines())[-1].startswith("maya: You are Maya.")
        assert "nothing goes unopposed" in await home.does("ana", "why")


async def test_a_mind_that_was_uninstalled_holds_up_nobody(
    installed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its room is told once what to do, others go on, and so does it when the policy is back."""
    async with living(tmp_path / "home") as home:
        await home.enter("ana", mates=("maya", "merlin"))
        await home.does("ana", "policy", "advocate Maya")
        people = home.people
    with monkeypatch.context() as without:
        without.setattr("sys.path", [each for each in sys.path if each != str(tmp_path)])
        async with living(tmp_path / "home") as home:
            home.people = people
            await home.hears("ana", "@maya bread is easy")
            await home.hears("ana", "@maya is it?")
            (told,) = await home.told()
            assert told == (
                "Maya cannot answer just now: the policy 'advocate' is not installed. "
                "Install it again, or choose another with /policy."
            )
            await home.hears("ana", "@merlin and you?")
            await home.does("ana", "policy", "own Maya")
            await home.hears("ana", "@maya now?")
            assert await home.said() == ["merlin", "maya"]
    async with living(tmp_path / "home") as home:
        home.people = people
        await home.does("ana", "policy", "advocate Maya")
        await home.hears("ana", "@maya bread is easy")
        assert (await home.lines())[-1].startswith("maya: You are Maya.")


def test_the_page_tells_every_outcome() -> None:
    """Of a question to a model, and of a use of a tool."""
    for outcome in (*get_args(AnswerOutcome), *get_args(ResultOutcome)):
        assert f"`{outcome}`" in PAGE, outcome
