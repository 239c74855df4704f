"""Pictures that people gave themselves, or a mate: whose picture has which bytes.

Facts of the stream "people"; a later one takes the place of an earlier one, whose hash is then
forgotten, so that its bytes are swept away. Of a person it goes when they are forgotten. Does not
know how a picture is made small, served or drawn.
"""

from collections.abc import Callable

from loopforge.core.events import Erased, Event
from loopforge.core.memory.memory_vocabulary import MACHINE
from loopforge.core.people_events import PictureSet
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.people.identity.person_registry import STREAM, PersonRegistry
from loopforge.runtime.system_clock import Stamp

WHY = "the picture was taken away"
NAMED = 32
"""Digits of a picture's hash by which browsers ask for it."""


def of_person(person: str) -> str:
    """By what a person's picture is kept."""
    return f"person:{person}"


def of_mate(handle: str) -> str:
    """By what a mate's picture is kept."""
    return f"mate:{handle}"


class AvatarRecords:
    """Whose picture is which. `hear` to be told that one is another now."""

    def __init__(self, ledger: SqlLedger, people: PersonRegistry, stamp: Stamp) -> None:
        self._ledger, self._people, self._stamp = ledger, people, stamp
        self._now: dict[str, tuple[str, Words]] = {}
        self._before: dict[str, Words] = {}
        self._hearing: list[Callable[[], None]] = []
        people.hear(self._take)

    def hear(self, hear: Callable[[], None]) -> None:
        """Be told whenever somebody has another picture, or none."""
        self._hearing.append(hear)

    def _take(self, event: Event) -> None:
        match event.body:
            case PictureSet(of=of, picture=picture):
                self._before |= [self._now.pop(of)] if of in self._now else []
                if picture.text:
                    self._now[of] = (event.id, picture)
            case Erased(refs=refs):
                gone = set(refs)
                self._before = {id: one for id, one in self._before.items() if one.ref not in gone}
                self._now = {of: one for of, one in self._now.items() if one[1].ref not in gone}
            case _:
                return
        for hear in self._hearing:
            hear()

    # ------------------------------------------------------------ asking

    def of(self, whose: str) -> str:
        """The hash of somebody's picture; "" where they gave none."""
        if whose in self._now:
            return self._now[whose][1].text or ""
        kind, _, id = whose.partition(":")
        same = f"{kind}:{self._people.same(id)}" if kind == "person" else whose
        return self._now[same][1].text or "" if same in self._now else ""

    def name(self, whose: str) -> str:
        """By what browsers ask for somebody's picture; "" where they gave none."""
        return self.of(whose)[:NAMED]

    def named(self, name: str) -> str:
        """The hash that begins so, of a picture that somebody has now; "" where nobody has."""
        if len(name) != NAMED:
            return ""
        held = (one.text or "" for _, one in self._now.values())
        return next((hash for hash in held if hash.startswith(name)), "")

    # ------------------------------------------------------------ changing

    async def give(self, whose: str, hash: str, by: str) -> None:
        """Somebody has this picture from now on; "" for none. What they had is forgotten."""
        await self._people.refresh()
        if whose not in self._now and not hash:
            return
        body = PictureSet(of=whose, picture=Words(hash) if hash else public_words(""), by=by)
        fact = self._stamp.fact(body, actor=f"person:{by}" if by else "runtime")
        await self._ledger.append(STREAM, [fact])
        await self._people.refresh()
        await self.finish(by)

    async def finish(self, by: str = MACHINE) -> None:
        """Forget the pictures of before; at the start, too, where a process died in between."""
        await self._people.refresh()
        if self._before:
            wish = ErasureRequest(events=tuple(self._before), exactly=True, by=by, why=WHY)
            await self._ledger.erase(wish)
            await self._people.refresh()
