"""Delivery: the lifecycle is the table."""

from typing import Any, get_args

from loopforge.core.delivery_states import TABLE, DeliveryEvent, State, nonce


def assert_whole(table: Any, states: Any, events: Any, beside: set[str]) -> None:
    """Each state has a row and can be reached from the first; each event but these is a step."""
    kinds = {each.__struct_config__.tag for each in events}
    used = {kind for steps in table.values() for kind in steps}
    assert set(table) == set(states)
    assert used <= kinds
    assert kinds - used == beside
    reached = {states[0]}
    while more := {state for here in reached for state in table[here].values()} - reached:
        reached |= more
    assert reached == set(table)


def test_the_table_is_whole_and_has_three_ends() -> None:
    """Queued begins and a draft is none; nothing follows an end."""
    events = get_args(DeliveryEvent)
    assert_whole(TABLE, get_args(State), events, {"delivery.queued", "delivery.drafted"})
    ends = {state for state, steps in TABLE.items() if not steps}
    assert ends == {"accepted", "failed", "uncertain"}


def test_each_part_has_one_nonce_after_every_restart() -> None:
    """It derives from the delivery's id and the part alone, and fits a platform's field."""
    assert nonce("0190") == nonce("0190") != nonce("0191")
    assert len(nonce("0190")) == 24
    assert len({nonce("0190", part) for part in range(9)}) == 9
    assert nonce("0190", 0) == nonce("0190")
