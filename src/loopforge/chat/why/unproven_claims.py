"""What a mate says it did, beside what its turn has on record: the claims that nothing bears out.

Knows the events of one turn; whether a sentence is a claim is core/text/claimed_deeds.py's to say.
"""

from collections.abc import Iterator, Sequence

from loopforge.core.effect_states import EffectProposed, EffectReturned
from loopforge.core.events import Event
from loopforge.core.text.claimed_deeds import claimed_deeds

UNPROVEN = "it says “{sentence}”, and no tool that it used in this turn did that."


def unproven_claims(events: Sequence[Event], said: Sequence[str]) -> Iterator[str]:
    """A sentence for each claim of what was said that no use of a tool in these events bears out.

    Any use that came back bears out that something was looked up; that something was changed, one
    that people were asked for, or of a tool whose second use would do it twice.
    """
    back = {event.body.effect for event in events if isinstance(event.body, EffectReturned)}
    used = [e.body for e in events if isinstance(e.body, EffectProposed) and e.id in back]
    changed = any(use.asks or not use.idempotent for use in used)
    for claim in (claim for text in said for claim in claimed_deeds(text)):
        if not (changed if claim.deed == "changed" else used):
            yield UNPROVEN.format(sentence=claim.sentence)
