"""Replaying one turn on its record: does the policy still do the same?"""

from collections.abc import Mapping

from msgspec import Struct

from loopforge.chat.why.turn_trace import events_of, turn_of
from loopforge.core.events import Event
from loopforge.core.limits.line_matching import unified_diff_rows
from loopforge.core.policy import Policy
from loopforge.core.turn_events import Perceived, Planned
from loopforge.runtime.exchange_replay import (
    ReplayDiverged,
    ReplayErased,
    ReplayOnward,
    ReplaySame,
    exchange_of,
    replay_exchange,
)
from loopforge.runtime.mind_containment import MindFailed
from loopforge.runtime.ports import Ledger
from loopforge.runtime.turn_record import perception_of


class ReplayResult(Struct, frozen=True):
    """What a replay found.

    `outcome`: same, diverged, erased, unfinished (the record ends early), unknown (no such policy).
    """

    outcome: str
    detail: str


async def replay_turn(
    ledger: Ledger, policies: Mapping[str, tuple[Policy, str]], event: str
) -> ReplayResult:
    """Feed the recorded exchange of the event's turn to its policy. Raises Unknown.

    Where a policy of another version does something else, that is said first.
    """
    turn = await turn_of(ledger, await ledger.event(event))
    began = await ledger.event(turn)
    assert isinstance(began.body, Perceived)
    found = await _replayed(ledger, policies, began, began.body.policy)
    version = policies.get(began.body.policy.partition("/")[0], (None, ""))[1]
    if found.outcome != "diverged" or version == began.body.policy:
        return found
    changed = f"The mind has changed since: it was {began.body.policy}, it is {version} now."
    return ReplayResult("diverged", f"{changed} {found.detail}")


async def _replayed(
    ledger: Ledger, policies: Mapping[str, tuple[Policy, str]], began: Event, policy: str
) -> ReplayResult:
    name = policy.partition("/")[0]
    if name not in policies:
        return ReplayResult("unknown", f"There is no policy {name!r} any more.")
    perception = await perception_of(ledger, began)
    if perception is None:
        return ReplayResult("erased", "What this turn was shown has been forgotten.")
    events = await events_of(ledger, began)
    found = await replay_exchange(policies[name][0], perception, await exchange_of(ledger, events))
    planned = next((e.body for e in events if isinstance(e.body, Planned)), None)
    match found:
        case MindFailed(why):
            return ReplayResult("diverged", f"The mind comes to nothing now: {why}.")
        case ReplayErased(nth):
            return ReplayResult("erased", f"Request {nth} rests on words that have been forgotten.")
        case ReplayOnward(nth=nth):
            return ReplayResult("unfinished", f"The record ends before request {nth} was answered.")
        case ReplayDiverged(nth, recorded, now):
            return ReplayResult("diverged", f"At request {nth}:\n{_difference(recorded, now)}")
        case ReplaySame(written=written):
            if planned is None:
                return ReplayResult("unfinished", "The turn never came to its plan.")
            if planned.plan.text is None:
                return ReplayResult("erased", "The plan has been forgotten.")
            if written != planned.plan.text:
                return ReplayResult(
                    "diverged", f"In the plan:\n{_difference(planned.plan.text, written)}"
                )
            version = policies[name][1]
            return ReplayResult("same", f"{version} returns the same plan, to the letter.")


def _difference(recorded: str, now: str) -> str:
    return "\n".join(
        unified_diff_rows(recorded.splitlines(), now.splitlines(), "recorded", "now", 1)
    )
