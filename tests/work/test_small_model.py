"""A task that the embedded model works on: a real job, as small as it is."""

from pathlib import Path

import pytest

from tests.work.conftest import working


@pytest.mark.model
async def test_the_embedded_model_makes_a_file_and_has_it_run(place: Path) -> None:
    """A small real job: it writes the file, that is run, and what it printed is said."""
    async with working(place, None) as shop:
        id = await shop.give("Create a file add.py which prints 17 plus 25, run it and tell me")
        state = await shop.state(id)
        assert state.stage == "finished"
        assert [(one.tool, one.outcome) for one in state.uses][:2] == [
            ("work_write", "returned"),
            ("work_run", "returned"),
        ]
        printed = shop.file(id, "add.py").read_text()
        assert printed.startswith("print(")
        assert str(state.finished and state.finished.result).startswith("add.py is written and ran")


@pytest.mark.model
async def test_the_embedded_model_puts_back_what_is_beyond_it(place: Path) -> None:
    """Where the words of a task do not say what kind it is, too: it once answered it at random."""
    async with working(place, None) as shop:
        state = await shop.state(await shop.give("Please get the failing deployment going"))
        assert (state.stage, state.turns) == ("waiting", 1)
        assert str(state.asked and state.asked.question).startswith("I run on a small model here")
        assert state.classified is not None
        assert (state.classified.by, state.classified.flow) == ("default", "sequential-thinking")
