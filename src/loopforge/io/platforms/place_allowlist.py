"""Allowlist: which servers and groups of platforms this home serves.

    open       every one that a bot of ours is brought into
    known      one that was served before or admitted, that is the bot's maker's own, or in which
               somebody who was let in here has spoken (default)
    a list     the servers, groups and channels whose ids it names

What is said elsewhere is not heard, opens no room and asks no model; who speaks to a mate there is
told so, once. Does not know private talks: their door is people/stranger_pairing.py.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from loopforge.errors import BadSettings

WORDS = ("known", "open")
UNKNOWN = (
    "Mates do not talk here yet. They will once somebody whom the owner of their home has let in "
    "says something here: write to me in private first; the owner lets you in by the code that you "
    "are shown. Or the owner types `loopforge room admit {place}` on its machine."
)
CLOSED = "Mates do not talk here: the owner of their home has named the places where they do."
NOT_HERE = "Mates do not talk here."


def ids_in(policy: str) -> list[str]:
    """What a list names."""
    return [each for each in re.split(r"[\s,;]+", policy) if each]


def only_places(name: str, id: str, such: str) -> Callable[[str, str], str]:
    """What checks the setting of this name, of a value and of where that was set.

    An `id` is a regular expression, `such` an example. Raises BadSettings for what is none.
    """

    def checked(value: str, source: str) -> str:
        policy = value.strip().casefold()
        for each in [] if policy in WORDS else ids_in(policy):
            if not re.fullmatch(id, each):
                raise BadSettings(
                    f"`{name}` ({source}) is {value!r}: {each} is no id of a place. Write known, "
                    f"open, or ids such as {such}, with commas between."
                )
        return value

    return checked


class ServedPlace(NamedTuple):
    """A server or a group, as somebody says something there.

    `ids` are those by which a list may name it, its own first, then that of the channel;
    `holds` tells of a place's key whether it is in it; `maker`: it is the bot's maker's, or
    nobody else could bring the bot there.
    """

    platform: str
    ids: tuple[str, ...]
    holds: Callable[[str], bool]
    maker: bool = False


class ServedPlaces:
    """Where mates talk on one platform; `policy` as it is set."""

    def __init__(self, policy: str = "open") -> None:
        self._policy = policy.strip().casefold()
        self._listed = frozenset(ids_in(self._policy))
        self._served: set[str] = set()
        self._told: set[str] = set()

    def decided(self, ground: ServedPlace) -> bool:
        """Whether mates talk there whoever speaks, as far as nothing has to be looked up."""
        listed = self._listed.intersection(ground.ids)
        return self._policy == "open" or ground.ids[0] in self._served or bool(listed)

    def serves(
        self, ground: ServedPlace, places: Iterable[str], *, known: bool, asked: bool
    ) -> str | None:
        """None where mates talk; else what is to be said of that, "" if it was said already.

        `places` are those of the platform that have a room; `known`: who speaks was let in;
        `asked`: they speak to a mate, so that they wait for an answer.
        """
        id = ground.ids[0]
        if self.decided(ground):
            return None
        if self._policy == "known" and (known or ground.maker or any(map(ground.holds, places))):
            self._served.add(id)
            return None
        if id in self._told or not asked:
            return ""
        self._told.add(id)
        place = f"{ground.platform}:{ground.ids[min(1, len(ground.ids) - 1)]}"
        said = UNKNOWN if self._policy == "known" else CLOSED
        return said.format(place=place)
