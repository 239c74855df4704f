"""Late calls: a line of a moment ago, weighed already, calls a mate all the same.

    the mate came in since   a bot may connect after another one heard the line, and opened the room
    the line was edited      whoever mistyped a name, or forgot it, puts that right

Does not know how anybody comes in, nor where a line is edited.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from itertools import takewhile

from msgspec.structs import replace

from loopforge.chat.room.permissions import is_answerable
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.turn_queue import CALLED
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.chat.speaking.triggers import TriggerListener, weigh_triggers
from loopforge.core.context_window import ContextEntry
from loopforge.core.room_vocabulary import Weight
from loopforge.core.text.erasable_text import Words

NAMED = ("mention", "name")
FRESH = timedelta(minutes=15)
"""So long after a line a mate that comes in, or is named by an edit, still answers it."""


def calls_of_late(
    state: RoomState,
    came: Collection[str],
    mates: Mapping[str, TriggerListener],
    now: datetime,
    rules: RoomRules,
) -> tuple[Weight, ...]:
    """How lines that were weighed without the mates that `came` call them, in their order."""
    newest = takewhile(lambda entry: now - entry.at < FRESH, reversed(state.lines.values()))
    lines = [entry for entry in newest if _is_weighed(state, entry)]
    found = (
        rules.guests.weighed(state, [entry], weight)
        for entry in reversed(lines)
        for weight in weigh_triggers(state, [entry], mates, now, rules.thresholds)
    )
    return tuple(
        weight
        for weight in found
        if weight.mate in came and weight.verdict == "speak" and weight.summons in CALLED
    )


def calls_of_edit(
    state: RoomState,
    line: str,
    text: Words,
    before: Collection[str],
    mates: Mapping[str, TriggerListener],
    now: datetime,
    rules: RoomRules,
) -> tuple[Weight, ...]:
    """How a line that says this now names mates that it did not, and that it never called `before`.

    What another bot changes calls nobody: many write their lines by edits, a few words at a time.
    """
    entry = state.lines.get(line)
    if entry is None or entry.bot or not _is_weighed(state, entry) or now - entry.at >= FRESH:
        return ()

    def named(said: ContextEntry) -> list[Weight]:
        weights = weigh_triggers(state, [said], mates, now, rules.thresholds)
        found = (rules.guests.weighed(state, [said], weight) for weight in weights)
        return [each for each in found if each.verdict == "speak" and each.summons in NAMED]

    known = {*before, *(weight.mate for weight in named(entry))}
    return tuple(each for each in named(replace(entry, text=text)) if each.mate not in known)


def _is_weighed(state: RoomState, entry: ContextEntry) -> bool:
    """Whether it is a person's line that is answered, and was weighed before."""
    return entry.kind == "heard" and entry.seq <= state.weighed and is_answerable(state, entry)
