"""Replaying one turn on its record: does the policy still do the same?"""

from collections.abc import Mapping

from msgspec import Struct

from loopforge.chat.turns.turn_trace import events_of, turn_of
from loopforge.core.events import Event, Perceived, Planned
from loopforge.core.limits.line_matching import unified
from loopforge.core.policy import Policy
from loopforge.runtime.containment import MindFailed
from loopforge.runtime.exchange_replay import Diverged, Gone, Onward, Same, exchange_of, replay
from loopforge.runtime.ports import Ledger
from loopforge.runtime.turn_record import perception_of


class Replayed(Struct, frozen=True):
    """What a replay found.

    `outcome`: same, diverged, erased, unfinished (the record ends early), unknown (no such policy).
    """

    outcome: str
    detail: str


async def replayed(
    ledger: Ledger, policies: Mapping[str, tuple[Policy, str]], event: str
) -> Replayed:
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
    return Replayed("diverged", f"{changed} {found.detail}")


async def _replayed(
    ledger: Ledger, policies: Mapping[str, tuple[Policy, str]], began: Event, policy: str
) -> Replayed:
    name = policy.partition("/")[0]
    if name not in policies:
        return Replayed("unknown", f"There is no policy {name!r} any more.")
    perception = await perception_of(ledger, began)
    if perception is None:
        return Replayed("erased", "What this turn was shown has been forgotten.")
    events = await events_of(ledger, began)
    found = await replay(policies[name][0], perception, await exchange_of(ledger, events))
    planned = next((e.body for e in events if isinstance(e.body, Planned)), None)
    match found:
        case MindFailed(why):
            return Replayed("diverged", f"The mind comes to nothing now: {why}.")
        case Gone(nth):
            return Replayed("erased", f"Request {nth} rests on words that have been forgotten.")
        case Onward(nth=nth):
            return Replayed("unfinished", f"The record ends before request {nth} was answered.")
        case Diverged(nth, recorded, now):
            return Replayed("diverged", f"At request {nth}:\n{_difference(recorded, now)}")
        case Same(written=written):
            if planned is None:
                return Replayed("unfinished", "The turn never came to its plan.")
            if planned.plan.text is None:
                return Replayed("erased", "The plan has been forgotten.")
            if written != planned.plan.text:
                return Replayed(
                    "diverged", f"In the plan:\n{_difference(planned.plan.text, written)}"
                )
            version = policies[name][1]
            return Replayed("same", f"{version} returns the same plan, to the letter.")


def _difference(recorded: str, now: str) -> str:
    return "\n".join(unified(recorded.splitlines(), now.splitlines(), "recorded", "now", 1))
