"""How what a mate runs is confined: what may be set, and what of several holds."""

import pytest

from loopforge.core.mates.sandbox_profile import (
    UNCONFINED,
    SandboxProfile,
    flaw_of,
    narrowest_profile,
)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("seconds", 60, ""),
        ("seconds", 0, "from 1 to 3,600"),
        ("seconds", 1.5, "whole number"),
        ("memory", True, "whole number"),
        ("processes", 4, "from 8 to 4,096"),
        ("writable", False, ""),
        ("writable", 0, "yes or no"),
        ("network", True, "no network"),
        ("walls", 1, "There is no 'walls' of a sandbox"),
    ],
)
def test_what_may_be_set(name: str, value: object, told: str) -> None:
    """Numbers within their range, yes or no; all else is said in a sentence."""
    flaw = flaw_of(name, value)
    assert told in flaw
    assert bool(flaw) == bool(told)


def test_the_narrowest_holds() -> None:
    """Of each limit the smallest that is set; who may write nothing by one may write nothing."""
    one, other = SandboxProfile(seconds=9, memory=64), SandboxProfile(seconds=3, writable=False)
    assert narrowest_profile(one, other) == SandboxProfile(seconds=3, memory=64, writable=False)
    assert narrowest_profile(UNCONFINED, one) == one
    assert narrowest_profile() == UNCONFINED
