"""Hidden rooms: how the owner's pages name rooms that the owner is not in.

The owner of a home keeps house; that is no leave to read along. Of a private room they were never
in they see neither words nor the title, nor all of its slug, by which it is found: the room is
named by the end of that. What they may read of other rooms is what they saw as members.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from loopforge.chat.room.member_visibility import MemberSight, private_rooms, sights_by_stream
from loopforge.chat.room.room_store import PREFIX
from loopforge.ledger.sql_ledger import SqlLedger

TAIL = 6
"""Letters of a slug that name a veiled room; a private room's ends in twelve random hex digits."""
OPEN = ("people", "mates")
"""Streams whose words the owner sees anyway, on the pages of people and of mates."""


@dataclass(frozen=True)
class HiddenRooms:
    """What one person sees of the streams of a home: `veiled` names those that are hidden."""

    sights: Mapping[str, MemberSight]
    veiled: Mapping[str, str]

    def name(self, stream: str) -> str:
        """What a stream is called on their pages."""
        return self.veiled.get(stream, stream)

    def room(self, stream: str) -> str:
        """What a room is called on their pages, by its stream."""
        return self.name(stream).removeprefix(PREFIX)

    def stream(self, name: str) -> str:
        """The stream that is called so on their pages."""
        return next((stream for stream, known in self.veiled.items() if known == name), name)

    def here(self, stream: str) -> bool:
        """Whether they are in this room now."""
        return stream in self.sights and self.sights[stream].here

    def sees(self, stream: str, seq: int) -> bool:
        """Whether they may read the words of an event."""
        return stream in OPEN or (stream in self.sights and self.sights[stream].sees(seq))

    def over(self, text: str) -> str:
        """A text with the names of veiled rooms taken out."""
        for stream, name in self.veiled.items():
            text = text.replace(stream, name).replace(
                stream.removeprefix(PREFIX), self.room(stream)
            )
        return text


async def veil_of(ledger: SqlLedger, person: str) -> HiddenRooms:
    """The veil before the eyes of one person, as matters stand."""
    private = await ledger.look(private_rooms)
    seen = await ledger.look(lambda found: sights_by_stream(found, person))
    veiled = {stream: f"{PREFIX}…{stream[-TAIL:]}" for stream in private if stream not in seen}
    return HiddenRooms(sights=seen, veiled=veiled)
