"""A task that the embedded model works on: a real job, as small as it is."""

from __future__ import annotations

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
