"""The store of memory: what is kept of a mate, changed, locked, dropped and brought back.

Whoever wants it, an act of a mate, a person's word, a page or idle time, it is done here, in one
decision on the mate's stream as it stands. What holds for all of them is checked here alone:

* an item cites lines, items that rest on lines, or the person who said so; of items its evidence is
  theirs, so that a summary of a summary is known as little as what it was made of
* a fact of the same subject about the same persons supersedes the one there was
* what a person locked is changed by nobody but a person
* nothing is kept for a person who does not want it, nor of a room that is not remembered

Does not know who may do what (that is for those who call), nor where an item may be used.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from functools import partial
from typing import Protocol, TypeVar

from msgspec.structs import asdict, replace
from sqlalchemy.engine import Connection

from loopforge.core.events import Body, Event, Fact
from loopforge.core.memory.memory_vocabulary import (
    PREFIX,
    STREAM,
    EvidenceLine,
    KeepingSet,
    MemoryCorrected,
    MemoryDropped,
    MemoryInvalidated,
    MemoryKept,
    MemoryLocked,
    MemoryRestored,
    MemoryShared,
    MemorySuperseded,
    MemoryUnlocked,
)
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.topics import fold_case
from loopforge.errors import InputError, Unknown
from loopforge.ledger.erasure.text_erasure import Erasure, ErasureRequest
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger.storage.revised_lines import latest_revisions
from loopforge.memory.memory_view import is_automatic, items_of, keeping_of
from loopforge.runtime.ports.memory_port import KeptItem
from loopforge.runtime.system_clock import Stamp

T = TypeVar("T")
LONGEST_ITEM = 500
"""Characters of an item."""


Lines = Sequence[EvidenceLine]


class WiderSight(Protocol):
    """Whether new lines may be used somewhere, before somebody, where old ones may not."""

    def __call__(self, connection: Connection, /, new: Lines, old: Lines) -> bool:
        """Reads alone."""


class MemoryStore:
    """The items of all mates of a home."""

    def __init__(
        self,
        ledger: SqlLedger,
        stamp: Stamp,
        wider: WiderSight,
        selves: Callable[[str], Collection[str]],
    ) -> None:
        self._ledger, self._stamp, self._wider, self._selves = ledger, stamp, wider, selves

    # ------------------------------------------------------------ looking

    async def items(
        self, mate: str = "", *, ids: Collection[str] | None = None, layers: Collection[str] = ()
    ) -> list[KeptItem]:
        """Items of a mate, with these ids, of these layers, whatever became of them, in order."""
        return await self._ledger.look(partial(items_of, mate=mate, ids=ids, layers=layers))

    async def item(self, id: str) -> KeptItem:
        """One item. Raises Unknown."""
        found = await self._ledger.look(partial(items_of, ids=[id]))
        if not found:
            raise Unknown(f"There is no item of memory with the id {id!r}.")
        return found[0]

    async def known(self, id: str) -> bool:
        """Whether an item has this id."""
        return bool(await self._ledger.look(partial(items_of, ids=[id])))

    async def keeping(self, scopes: Collection[str]) -> dict[str, bool]:
        """What was said of these rooms ("room:NAME") and persons ("person:ID"); see KeepingSet.

        Of a person with linked accounts by any self of theirs: "off" by one is off for all.
        """
        every = {scope: self._same_scopes(scope) for scope in scopes}
        said = await self._ledger.look(partial(keeping_of, scopes=set().union(*every.values())))
        return {
            scope: all(said.get(one, True) for one in same)
            for scope, same in every.items()
            if not said.keys().isdisjoint(same)
        }

    def _same_scopes(self, scope: str) -> set[str]:
        """The scopes of all selves of a person; a room's is its own."""
        kind, _, person = scope.partition(":")
        return {f"person:{one}" for one in self._selves(person)} if kind == "person" else {scope}

    # ------------------------------------------------------------ keeping

    async def keep(
        self, mate: str, items: Sequence[MemoryKept], *, actor: str, cause: str = ""
    ) -> list[str]:
        """Keep items of a mate; their ids, those that stood there before among them.

        One that says what a held one of the same layer says is kept once, unless it was said before
        others, too: then it is one more, which may be used there. The same for the same `cause` is
        kept once. Raises InputError for an item that rests on nothing.
        """

        async def attempt(seq: int) -> list[str]:
            ids, facts = await self.planned(mate, items, actor=actor, cause=cause)
            if facts:
                await self._ledger.append(PREFIX + mate, facts, expect=seq)
            return ids

        return await self._decide(PREFIX + mate, attempt)

    async def planned(
        self, mate: str, items: Sequence[MemoryKept], *, actor: str, cause: str = ""
    ) -> tuple[list[str], list[Fact]]:
        """What keeping these items comes to: their ids, and the facts that are still to be written.

        For a turn on the mate's own stream, which writes them with its end. See `keep`.
        """
        known = [one for one in await self.items(mate) if one.state == "held"]
        ids, facts = list[str](), list[Fact]()
        for wanted in items:
            item = await self._grounded(wanted)
            if not await self._wanted(item):
                continue
            if same := await self._known_there(known, item):
                ids.append(same)
                continue
            fact = self._stamp.fact(item, actor=actor, cause=cause)
            facts.append(fact)
            ids.append(fact.id)
            for old in known:
                if _replaces(item, old):
                    body = MemorySuperseded(item=old.id, new=fact.id, when=item.since or fact.at)
                    facts.append(self._stamp.fact(body, actor=actor, cause=fact.id))
            known = [one for one in known if not _replaces(item, one)]
            held = KeptItem(id=fact.id, mate=mate, seq=0, at=fact.at, state="held", **asdict(item))
            known.append(held)
        return ids, facts

    async def _known_there(self, known: Sequence[KeptItem], item: MemoryKept) -> str:
        """The held item that says the same wherever this one could; "" for none."""
        for one in known:
            if _says_the_same(one, item):
                wider = partial(self._wider, new=item.evidence, old=one.evidence)
                if not await self._ledger.look(wider):
                    return one.id
        return ""

    async def _grounded(self, item: MemoryKept) -> MemoryKept:
        """The item with the evidence of what it was made of. Raises InputError, Unknown."""
        if not (item.text.text or "").strip():
            raise InputError("There is nothing to be kept.")
        if len(item.text.text or "") > LONGEST_ITEM:
            raise InputError(f"An item of memory has {LONGEST_ITEM} characters at most.")
        if item.rests_on:
            sources = await self._ledger.look(partial(items_of, ids=item.rests_on))
            if missing := set(item.rests_on) - {one.id for one in sources}:
                raise Unknown(f"There is no item of memory with the id {min(missing)!r}.")
            every = (*item.evidence, *(line for one in sources for line in one.evidence))
            lines = {line.line: line for line in every}
            item = replace(
                item,
                evidence=tuple(lines.values()),
                about=tuple(
                    dict.fromkeys((*item.about, *(p for one in sources for p in one.about)))
                ),
                trusted=item.trusted and all(one.trusted for one in sources),
            )
        if not item.evidence and not item.told_by:
            raise InputError("An item of memory rests on a line, or on somebody's word.")
        return await self._with_edits(item)

    async def _with_edits(self, item: MemoryKept) -> MemoryKept:
        """The item, resting on the edits, too, that made its lines say what they say now."""
        known = {line.line: line.stream for line in item.evidence}
        made = (await self._ledger.look(partial(latest_revisions, lines=known))).values()
        edits = (
            EvidenceLine(known[one.line], one.seq, one.event) for one in made if not one.deleted
        )
        new = tuple(edit for edit in edits if edit.line not in known)
        return replace(item, evidence=(*item.evidence, *new)) if new else item

    async def _wanted(self, item: MemoryKept) -> bool:
        """Whether those whom it is of, and the rooms that it rests on, are remembered."""
        people = {f"person:{one}" for one in (*item.about, item.told_by) if one}
        rooms = {line.stream for line in item.evidence} | {item.room} - {""}
        return all((await self.keeping(people | rooms)).values())

    # ------------------------------------------------------------ what becomes of items

    async def correct(
        self, item: str, text: str, *, by: str, cause: str = "", back_to: str = ""
    ) -> None:
        """Have an item say something else. Raises Unknown, InputError."""
        if not text.strip() or len(text) > LONGEST_ITEM:
            raise InputError(f"An item of memory has 1 to {LONGEST_ITEM} characters.")
        body = MemoryCorrected(item=item, text=Words(text), by=by, back_to=back_to)
        await self._change(body, by, cause)

    async def supersede(self, old: str, new: str, when: datetime, *, by: str) -> None:
        """An item holds no longer: another one does, in its place."""
        await self._change(MemorySuperseded(item=old, new=new, when=when), by)

    async def invalidate(self, item: str, why: str, *, by: str, because: str = "") -> None:
        """Have an item not be used until it is restored."""
        body = MemoryInvalidated(item=item, why=why, by=by, because=because)
        await self._change(body, by, because)

    async def drop(self, item: str, why: str, *, by: str, because: str = "") -> None:
        """Let go of an item; it can be restored."""
        body = MemoryDropped(item=item, why=why, by=by, because=because)
        await self._change(body, by, because)

    async def restore(self, item: str, *, by: str, because: str = "") -> None:
        """Have an item hold again."""
        await self._change(MemoryRestored(item=item, by=by, because=because), by, because)

    async def lock(self, item: str, *, by: str, on: bool = True, cause: str = "") -> None:
        """A person says that an item stands, or takes that back."""
        body = MemoryLocked(item=item, by=by) if on else MemoryUnlocked(item=item, by=by)
        await self._change(body, by, cause)

    async def share(self, item: str, to: str, *, by: str, on: bool = True, cause: str = "") -> None:
        """A person lets an item that concerns them be used elsewhere. May raise InputError."""
        found = await self.item(item)
        if by not in (found.about or (found.told_by,)):
            raise InputError("Only somebody whom it concerns may say where it is used.")
        await self._change(MemoryShared(by=by, to=to, item=item, on=on), by, cause)

    async def set_keeping(self, setting: KeepingSet) -> None:
        """Say whether something is kept of a room, or of a person, whichever self they are."""
        for scope in sorted(self._same_scopes(setting.scope)):
            await self._append(STREAM, replace(setting, scope=scope), f"person:{setting.by}")

    async def forget(self, item: str, *, by: str, why: str = "", because: str = "") -> Erasure:
        """Forget an item for good, in every wording it had. Raises Unknown, InputError."""
        found = await self.item(item)
        changes = await self._ledger.read(PREFIX + found.mate, kinds=["memory.corrected"])
        wordings = [e for e in changes if getattr(e.body, "item", "") == item]
        told = [await self._ledger.event(item), *wordings]
        refs = [e.body.text.ref for e in told if isinstance(e.body, MemoryKept | MemoryCorrected)]
        refs += [e.body.subject.ref for e in told if isinstance(e.body, MemoryKept)]
        if found.state != "dropped":
            await self.drop(item, why or "forgotten", by=by, because=because)
        return await self._ledger.erase(
            ErasureRequest(
                refs=tuple(filter(None, refs)),
                events=tuple(one.id for one in told),
                exactly=True,
                derived="all",
                by=by,
                why=why,
            )
        )

    async def _change(self, body: Body, by: str, cause: str = "") -> None:
        """Append what becomes of an item, which may be changed. Raises Unknown, InputError."""
        item = str(getattr(body, "item", ""))
        mate = (await self.item(item)).mate

        async def attempt(seq: int) -> None:
            found = await self.item(item)
            if found.state == "forgotten":
                raise Unknown("That was forgotten; nothing of it is left to be changed.")
            if found.locked and is_automatic(by):
                raise InputError("A person locked this; only a person may change it.")
            actor = by if ":" in by else ("runtime" if is_automatic(by) else f"person:{by}")
            fact = self._stamp.fact(body, actor=actor, cause=cause)
            await self._ledger.append(PREFIX + mate, [fact], expect=seq)

        await self._decide(PREFIX + mate, attempt)

    async def _append(self, stream: str, body: Body, actor: str) -> tuple[Event, ...]:
        return await self._ledger.append(stream, [self._stamp.fact(body, actor=actor)])

    async def _decide(self, stream: str, attempt: Callable[[int], Awaitable[T]]) -> T:
        async def head(past: int) -> int:
            return await self._ledger.told(stream, past)

        return await self._ledger.decide(stream, head, attempt)


def _says_the_same(known: KeptItem, item: MemoryKept) -> bool:
    """Whether a held item says this already, of the same persons."""
    plain = fold_case(" ".join(str(item.text).split()))
    return (
        known.layer == item.layer
        and set(known.about) == set(item.about)
        and fold_case(" ".join(str(known.text).split())) == plain
    )


def _replaces(item: MemoryKept, old: KeptItem) -> bool:
    """Whether a new item takes the place of a held one: the same matter, said otherwise."""
    subject = fold_case(str(item.subject).strip())
    return (
        bool(subject)
        and not old.locked
        and (item.layer, subject) == (old.layer, fold_case(str(old.subject).strip()))
        and set(item.about) == set(old.about)
        and not _says_the_same(old, item)
        and (item.layer != "word" or item.room == old.room)
    )
