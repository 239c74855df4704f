"""Thousands of lines in a burst, over the socket, to a host that runs in its own process."""

from contextlib import AsyncExitStack
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from loopforge.core.room_vocabulary import Heard, Said
from tests.crash.child import Options
from tests.crash.drill import furnish
from tests.crash.host import hosting
from tests.crash.tally import count, read
from tests.crash.terminal import sitting

LINES = 500
"""For each of --kills: 25,000 in all with fifty."""
GROWTH = (200 + 250) << 20
"""Bytes that a host may grow by: with its lines, by 15 MB when this was written; and once by the
sentence model, where that is installed and lines are quiet for long enough to be given vectors."""


@pytest.mark.patient
@pytest.mark.crash
@pytest.mark.timeout(3600)
async def test_thousands_of_lines_in_a_burst(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """All are in the ledger once, in each person's order, on every screen, and answered merged."""
    lines = LINES * int(pytestconfig.getoption("kills"))
    home, people = tmp_path / "home", ("ana", "bo", "cem", "dea", "eli")
    furnish(home)
    options = Options(home=str(home), wait=0, pause=0, pieces=1)
    async with AsyncExitStack() as stack:
        terminals = [await stack.enter_async_context(sitting(home, name)) for name in people]
        host = await stack.enter_async_context(hosting(options))
        assert await host.ready()
        process = psutil.Process(host.pid)
        before = process.memory_info().rss
        each = lines // len(people)
        for terminal in terminals:
            for number in range(1, each):
                terminal.say(f"@maya line {number} of {terminal.name}")
            last = f"[k{terminals.index(terminal)}]"
            terminal.say(f"@maya {last} was the last of {terminal.name}", last, "maya")
        for terminal in terminals:
            await terminal.link.settled()
            await terminal.link.shown()
        growth = process.memory_info().rss - before
    record = await read(
        home,
        [line for terminal in terminals for line in terminal.lines],
        {terminal.name: terminal.shown for terminal in terminals},
    )
    tally = count(record)
    open_ones = [trouble for trouble in tally.troubles if "undelivered" not in trouble]
    assert open_ones == []
    assert (tally.lines, tally.lost, tally.duplicated) == (lines, 0, 0)
    assert tally.answers == len(people)
    heard = [event for event in record.events if isinstance(event.body, Heard)]
    said = [event for event in record.events if isinstance(event.body, Said)]
    assert len(heard) == lines
    assert 1 <= len(said) <= 40
    assert growth < GROWTH
