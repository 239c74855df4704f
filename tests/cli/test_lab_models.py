"""loopforge lab run and fork, as they are typed: the model that answers a run is one from end to end."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from loopforge.core import factory_vocabulary as factory
from loopforge.lab.run.run_log import LOG, LogChain, lines_of, rows_of
from tests.cli.conftest import SERVED, Lab
from tests.cli.test_lab_command import ANSWER, ASKING, log
from tests.models.server import Behaviour, serving


def test_a_run_is_taken_up_by_the_model_it_names(lab: Lab, scripted: Path) -> None:
    """To go on with another one is refused: it would be another run."""
    assert lab("run", *ASKING, "--model", "scripted", "--out", "mine")[0] == 0
    whole = log(scripted / "mine")
    (scripted / "mine" / LOG).write_bytes(whole[: len(whole) // 2])
    again = ("run", "--resume", "--out", "mine")
    code, _, err = lab(*again, "--model", "embedded")
    assert (code, "This run asks scripted, not embedded" in err) == (2, True)
    assert lab(*again)[0] == 0


def without_a_model_s_name(folder: Path) -> None:
    """Write a run's log as a program did that kept no name of the model it asked."""
    first, *rows = rows_of(folder)
    assert isinstance(first, factory.Began)
    route = {**first.settings["route"], "model": ""}
    chain = LogChain()
    first = replace(first, settings={**first.settings, "route": route})
    (folder / LOG).write_bytes(b"".join(chain.line(row) for row in (first, *rows)))


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("policy", ["llm", "mate:maya"])
async def test_a_run_goes_on_with_the_model_that_answered_it(
    policy: str, older: bool, lab: Lab, scripted: Path
) -> None:
    """Taken up, and forked, though another is first by now; where it is gone, and for another, it is refused."""
    home = scripted / "loopforge.toml"
    asking = (*ASKING[:-1], policy)
    async with serving() as server:
        home.write_text(SERVED.format(url=server.url))
        server.does(Behaviour(pieces=(ANSWER,)))
        assert (await asyncio.to_thread(lab, "run", *asking, "--out", "mine"))[0] in (0, 3)
        if older:
            without_a_model_s_name(scripted / "mine")
        ended = list(lines_of(scripted / "mine"))
        cut = next(nth for nth, row in enumerate(rows_of(scripted / "mine")) if nth and row.n > 6)
        home.write_text(home.read_text().replace('"named", "other"', '"other"'))
        server.asked.clear()
        fork = ("fork", "mine", "--at", "1", "--set", "pressure=9", "--out", "fork")
        assert (await asyncio.to_thread(lab, *fork))[0] in (0, 3)
        (scripted / "mine" / LOG).write_bytes(b"".join(ended[: cut + 1]))
        again = ("run", "--resume", "--out", "mine")
        code, _, err = await asyncio.to_thread(lab, *again, "--model", "other")
        assert (code, "This run asks named, not other" in err) == (2, True)
        assert (await asyncio.to_thread(lab, *again))[0] in (0, 3)
        assert {asked.body["model"] for asked in server.asked} == {"named"}
        (scripted / "mine" / LOG).write_bytes(b"".join(ended[: cut + 1]))
        home.write_text(home.read_text().replace("[models.named]", "[models.newer]"))
        code, _, err = await asyncio.to_thread(lab, *again)
        assert (code, "There is no model 'named'" in err) == (2, True)
        assert "let it be asked again, or begin a new run" in err
        assert log(scripted / "mine") == b"".join(ended[: cut + 1])
