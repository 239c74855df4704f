"""When another model goes on, and which."""

import pytest

from loopforge.core.work.model_escalation import LADDER, EscalationTrace, cause_of, next_model


@pytest.mark.parametrize(
    ("trace", "reason"),
    [
        (EscalationTrace([29, 10], []), "confidence"),
        (EscalationTrace([20, 30], []), ""),
        (EscalationTrace([10], []), ""),
        (EscalationTrace([50], ["e", "f", "e", "e"]), "errors"),
        (EscalationTrace([50], ["e", "f", "e"]), ""),
        (EscalationTrace([50], [], idle=5), "idle"),
        (EscalationTrace([50], [], idle=4), ""),
        (EscalationTrace([50], [], admitted="I do not know"), "stuck"),
        (EscalationTrace([50], [], circling="the same 4 times"), "stuck"),
        (EscalationTrace([50], [], corrections=2), "corrections"),
        (EscalationTrace([50], [], corrections=1), ""),
    ],
)
def test_each_reason_has_its_bound(trace: EscalationTrace, reason: str) -> None:
    """It holds from its bound on, and not before; it is told in words."""
    found = cause_of(trace)
    assert (found.reason if found else "") == reason
    assert found is None or found.why


def test_the_list_is_climbed_rung_by_rung() -> None:
    """From outside it one begins at its first; at the top there is nobody."""
    assert next_model(LADDER, "something-else") == "mistral-nemo"
    climbed = [now := ""]
    while now := next_model(LADDER, now):
        climbed.append(now)
    assert tuple(climbed[1:]) == LADDER
    assert next_model((), "x") == ""
