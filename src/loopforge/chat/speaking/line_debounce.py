"""Debounce: what somebody says in several lines is waited for, so that it is answered together.

Waits on the room's clock while the newest line is young, and no longer than its patience.
"""

from loopforge.chat.room.room_state import RoomState
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.runtime.ports import Clock

PATIENCE = 4.0
"""Seconds for which lines are gathered at most, however quickly they come."""


async def debounce_lines(state: RoomState, rules: RoomRules, clock: Clock) -> None:
    """Wait until nobody has said anything for `rules.debounce` seconds, or for too long."""
    waited = 0.0
    while (pending := state.pending()) and pending[-1].kind == "heard":
        since = (clock.now() - pending[-1].at).total_seconds()
        left = min(rules.debounce - since, PATIENCE - waited)
        if left <= 0:
            return
        await clock.sleep(left)
        waited += left
