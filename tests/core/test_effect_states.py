"""Effects: the lifecycle is the table."""

from typing import get_args

from loopforge.core.effect_states import EFFECT_TABLE, EffectEnd, EffectEvent, EffectState
from tests.core.test_delivery_states import assert_whole


def test_the_table_is_whole_and_stop_ends_it_anywhere() -> None:
    """An event is called as the state it leads to, and nothing follows an end."""
    assert_whole(EFFECT_TABLE, get_args(EffectState), get_args(EffectEvent), {"effect.proposed"})
    ends = {each.__struct_config__.tag for each in get_args(EffectEnd)}
    assert {f"effect.{state}" for state, steps in EFFECT_TABLE.items() if not steps} == ends
    for steps in EFFECT_TABLE.values():
        assert all(kind == f"effect.{state}" for kind, state in steps.items())
        assert "effect.stopped" in steps or not steps
