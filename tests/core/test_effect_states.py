"""Effects: the lifecycle is the table."""

from __future__ import annotations

from typing import get_args

from loopforge.core.effect_states import EFFECT_TABLE, EffectEnd, EffectEvent, EffectState

KINDS = {each.__struct_config__.tag for each in get_args(EffectEvent)}
ENDS = {each.__struct_config__.tag for each in get_args(EffectEnd)}


def test_the_table_knows_every_state_and_every_event_but_the_first() -> None:
    """Each state has a row, each step is a kind of event that exists, and none is left over."""
    used = {kind for steps in EFFECT_TABLE.values() for kind in steps}
    assert set(EFFECT_TABLE) == set(get_args(EffectState))
    assert KINDS - used == {"effect.proposed"}


def test_an_event_is_called_as_the_state_it_leads_to() -> None:
    """So that what is told of a state can be told of its event."""
    for steps in EFFECT_TABLE.values():
        assert all(kind == f"effect.{state}" for kind, state in steps.items())


def test_every_state_can_be_reached_and_nothing_follows_an_end() -> None:
    """From proposed every state can be reached; those of the ends are those without a way on."""
    reached: set[EffectState] = {"proposed"}
    while more := {to for here in reached for to in EFFECT_TABLE[here].values()} - reached:
        reached |= more
    assert reached == set(EFFECT_TABLE)
    assert {f"effect.{state}" for state, steps in EFFECT_TABLE.items() if not steps} == ENDS


def test_stop_ends_it_wherever_it_stands() -> None:
    """There is no open state from which stop does not lead to its end."""
    assert all("effect.stopped" in steps for steps in EFFECT_TABLE.values() if steps)
