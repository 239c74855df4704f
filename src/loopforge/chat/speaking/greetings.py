"""Greetings: which mates greet who comes in first, and with which words."""

from collections.abc import Mapping

from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.turn_queue import GREETING
from loopforge.core.mates.mate_file import Mate
from loopforge.core.room_vocabulary import Weight
from loopforge.core.text.name_labels import row_name


def greets_newcomer(state: RoomState, person: str) -> bool:
    """Whether somebody who came in is greeted: nobody has spoken yet, and nobody was greeted."""
    begun = state.lines or state.due or state.open or state.weighed
    return person in state.people and not begun


def greeting_weights(state: RoomState, mates: Mapping[str, Mate], line: str) -> tuple[Weight, ...]:
    """Those of the room that have a greeting, each called to say it by this line."""
    return tuple(
        Weight(
            mate=handle,
            line=line,
            score=100,
            reasons={GREETING: 100},
            summons=GREETING,
            verdict="speak",
        )
        for handle in state.mates
        if handle in mates and mates[handle].greeting
    )


def greeting_words(state: RoomState, mate: Mate) -> str:
    """What a mate says to whoever came in last."""
    names = [row_name(str(person.name)) for person in state.people.values()]
    return mate.greeting.replace("{person}", names[-1] if names else "you")
