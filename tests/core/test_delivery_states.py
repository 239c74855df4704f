"""Delivery: the lifecycle is the table."""

from __future__ import annotations

from typing import get_args

from loopforge.core.delivery_states import TABLE, DeliveryEvent, State, nonce


def test_the_table_knows_every_state_and_only_delivery_events() -> None:
    """Each state has a row, and each step is a kind of event that exists."""
    kinds = {each.__struct_config__.tag for each in get_args(DeliveryEvent)}
    assert set(TABLE) == set(get_args(State))
    for steps in TABLE.values():
        assert set(steps) <= kinds
        assert set(steps.values()) <= set(TABLE)


def test_every_event_but_the_first_is_used() -> None:
    """Nothing stands in the union that can never happen; Queued begins, and a draft is none."""
    kinds = {each.__struct_config__.tag for each in get_args(DeliveryEvent)}
    used = {kind for steps in TABLE.values() for kind in steps}
    assert kinds - used == {"delivery.queued", "delivery.drafted"}


def test_the_ends_can_be_reached() -> None:
    """From queued every state can be reached, and nothing follows the three ends."""
    reached: set[State] = {"queued"}
    while more := {state for here in reached for state in TABLE[here].values()} - reached:
        reached |= more
    assert reached == set(TABLE)
    ends = {state for state, steps in TABLE.items() if not steps}
    assert ends == {"accepted", "failed", "uncertain"}


def test_the_nonce_is_the_same_after_every_restart() -> None:
    """It derives from the delivery's id alone, and fits a platform's field."""
    assert nonce("0190") == nonce("0190") != nonce("0191")
    assert len(nonce("0190")) == 24


def test_each_part_has_a_nonce_of_its_own() -> None:
    """What goes out in parts has a key for each; the first has the whole's."""
    assert len({nonce("0190", part) for part in range(9)}) == 9
    assert nonce("0190", 0) == nonce("0190")
