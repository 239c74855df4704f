"""A home whose host is killed with -9 again and again: nothing is lost, nothing is there twice."""

import json
from collections import Counter
from pathlib import Path

import pytest

from loopforge.core.effect_states import EffectEnd, EffectProposed, EffectReturned, EffectUnknown
from loopforge.core.room_vocabulary import Said
from loopforge.ledger_opening import open_ledger_of
from loopforge.runtime.effects.effect_worker import DIED
from loopforge.settings import load_settings
from tests.crash.board import posts
from tests.crash.button import PRESSES
from tests.crash.child import Options
from tests.crash.conftest import Printer
from tests.crash.drill import PHASES, Drill, Rolls


@pytest.mark.sample(2)
@pytest.mark.crash
@pytest.mark.parametrize("phase", PHASES)
async def test_nothing_is_lost_or_doubled(
    phase: str,
    database: str,
    tmp_path: Path,
    seed: int,
    figures: Printer,
    pytestconfig: pytest.Config,
) -> None:
    """However often the host dies in this phase, each line is heard once and answered once."""
    home, kills = tmp_path / "home", int(pytestconfig.getoption("kills"))
    using = phase in ("calling", "programs")
    options = Options(
        home=str(home),
        deaf=3 if phase == "posting" else 0,
        tools=using,
        programs=phase == "programs",
    )
    drill = Drill(home, phase, Rolls(seed), options, at_once=not using, database=database)
    tally = await drill.run(kills)
    figures(phase, drill.kills, tally)
    assert (home / "data" / "loopforge.db").exists() == (not database)
    assert tally.troubles == ()
    assert (tally.lost, tally.duplicated) == (0, 0)
    assert tally.answers == tally.wanting == tally.lines
    assert drill.kills >= kills
    assert tally.lines >= kills or using  # there a life may end before a word is said
    if using:
        await check_calls(home)


async def check_calls(home: Path) -> None:
    """What changes something ran once at most, what looks ended well, what is unknown was said."""
    pressed = posts(home / PRESSES)
    for what in ("effect", "marks"):
        times = Counter(press[what] for press in pressed)  # none where each life ended before
        assert set(times.values()) <= {1}
    async with open_ledger_of(load_settings(home, environ={})) as ledger:
        events = await ledger.read("room:commons")
    used = {event.id: event.body for event in events if isinstance(event.body, EffectProposed)}
    ends = {event.body.effect: event.body for event in events if isinstance(event.body, EffectEnd)}
    assert used.keys() == ends.keys()
    said = [str(event.body.text) for event in events if isinstance(event.body, Said)]
    for id, end in ends.items():
        if used[id].tool == "look":
            assert isinstance(end, EffectReturned)
        elif isinstance(end, EffectReturned):
            pressing = used[id].tool == "press"
            assert not pressing or id in {press["effect"] for press in pressed}
        elif used[id].within:
            program = ends[used[id].within]
            assert isinstance(end, EffectUnknown)
            assert isinstance(program, EffectReturned)
            assert DIED in str(program.value)
        else:
            assert isinstance(end, EffectUnknown)
            marks = json.loads(str(used[id].arguments))["marks"]
            assert "press, unknown" in next(text for text in said if text.startswith(marks))
