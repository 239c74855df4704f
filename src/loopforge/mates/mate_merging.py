"""Merges: one mate takes in what another became; where both went on, a person decides.

    plan(maya, maya-two) -> what is taken unasked, and the conflicts
    merge(maya, maya-two, {conflict: a | b | both}) -> Maya's file, written anew

What both come from is found by how they were forked and merged before (MateForked, MateMerged); of
two that never were one, every difference is a conflict. The other mate stays as it is. Does not
know who may.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from loopforge.core.growth.growth_events import (
    MateForked,
    MateMerged,
    MergeChoice,
    MergeTake,
)
from loopforge.core.mates.file_merge import FileConflict, FileMerge, merge_files, resolve_conflicts
from loopforge.core.mates.mate_file import parse_mate
from loopforge.errors import Changed, InputError
from loopforge.mates.growth_service import GrowthService
from loopforge.mates.mate_forking import with_new_name
from loopforge.mates.mate_roster import MateRoster
from loopforge.mates.retired_mates import find_running_mate
from loopforge.mates.version_history import (
    STREAM,
    VersionHistory,
    actor_of,
    normalize_line_endings,
    version_hash,
)
from loopforge.runtime.ports import Ledger, MateMemory
from loopforge.runtime.ports.memory_port import MemoryDifference


class MergePlan(NamedTuple):
    """What merging `b` into `a` comes to. `prints` are the versions of both files it was made of.

    `origin` says whether it is known what both come from.
    """

    a: str
    b: str
    prints: tuple[str, str]
    origin: bool
    file: FileMerge
    memory: tuple[MemoryDifference, ...]

    @property
    def conflicts(self) -> tuple[FileConflict, ...]:
        """What is to be decided."""
        return (*self.file.conflicts, *map(_in_conflict, self.decided_memory))

    @property
    def decided_memory(self) -> tuple[MemoryDifference, ...]:
        """What both keep differently."""
        return tuple(one for one in self.memory if one.conflict)

    @property
    def kept(self) -> int:
        """How many memories are taken unasked."""
        return len(self.memory) - len(self.decided_memory)

    @property
    def about(self) -> tuple[str, ...]:
        """What is to be decided, by name."""
        return tuple(one.about for one in self.conflicts)

    @property
    def taken(self) -> tuple[str, ...]:
        """What is taken unasked, by name."""
        return self.file.taken

    @property
    def idle(self) -> bool:
        """Whether there is nothing to be taken and nothing to be decided."""
        return not self.taken and not self.conflicts and not self.memory


class MateMerging:
    """Takes what one mate is into another."""

    def __init__(
        self,
        ledger: Ledger,
        chronicle: VersionHistory,
        roster: MateRoster,
        changes: GrowthService,
        memory: MateMemory,
    ) -> None:
        self._ledger, self._chronicle, self._roster = ledger, chronicle, roster
        self._changes, self._memory = changes, memory

    async def plan(self, a: str, b: str) -> MergePlan:
        """What merging b into a comes to. Raises Unknown; InputError for one with itself."""
        if a == b:
            raise InputError(f"@{a} cannot be merged with itself; name two mates.")
        mine, other = (self._text(handle) for handle in (a, b))
        await self._chronicle.look()
        name = parse_mate(mine, f"{a}.md").name
        base = await self._origin(a, b)
        alike = [_called(text, name) for text in (other, base) if text]
        file = merge_files(mine, alike[0], alike[1] if base else None)
        memory = tuple(await self._memory.differences(a, b))
        return MergePlan(a, b, (version_hash(mine), version_hash(other)), bool(base), file, memory)

    async def merge(
        self,
        plan: MergePlan,
        takes: Mapping[str, MergeTake],
        by: str = "",
    ) -> None:
        """Carry out a plan, each of its conflicts decided.

        Raises InputError where one is not, or not so; Changed where a file is another one by now.
        """
        _decided(plan, takes)
        mine, other = self._text(plan.a), self._text(plan.b)
        if (version_hash(mine), version_hash(other)) != plan.prints:
            raise Changed("One of the two was changed meanwhile. Nothing was merged; look again.")
        name = parse_mate(mine, f"{plan.a}.md").name
        text = resolve_conflicts(plan.file, _called(other, name), takes)
        choices = tuple(MergeChoice(about=one, take=takes[one]) for one in plan.about)
        upto = await self._memory.head(plan.b)

        def merged(hash: str) -> MateMerged:
            return MateMerged(
                mate=plan.a,
                source=plan.b,
                of=plan.prints[1],
                hash=hash,
                upto=upto,
                choices=choices,
                by=by,
            )

        if text == mine:
            await self._chronicle.tell(merged(""), by)
        else:
            file = self._roster.path(plan.a).name
            await self._chronicle.write(
                plan.a, text, by, file=file, base=version_hash(mine), growth=merged
            )
        cause = (await self._changes.newest(plan.a, "mates.merged")).id
        await self._memory.take(plan.a, plan.b, plan.memory, takes, cause=cause, actor=actor_of(by))

    def _text(self, handle: str) -> str:
        """The file of a mate that runs. Raises Unknown, InputError where it is broken now."""
        find_running_mate(self._roster, handle)
        path = self._roster.path(handle)
        text = normalize_line_endings(self._chronicle.text(path.name) or "")
        parse_mate(text, path.name)
        return text

    # ------------------------------------------------------------ what both come from

    async def _origin(self, a: str, b: str) -> str:
        """The file that both come from; "" if they never were one or its words were forgotten."""
        events = await self._ledger.read(STREAM, kinds=("mates.forked", "mates.merged"))
        bodies = [event.body for event in events]
        found = _last_merge(a, b, [one for one in bodies if isinstance(one, MateMerged)])
        if found is None:
            forks = {one.mate: one for one in bodies if isinstance(one, MateForked)}
            found = await self._branching(a, b, forks)
        if found is None:
            return ""
        try:
            return await self._changes.text(*found)
        except InputError:
            return ""

    async def _branching(
        self, a: str, b: str, forks: Mapping[str, MateForked]
    ) -> tuple[str, str] | None:
        """The mate, and its version, where the ways of the two part."""
        mine, other = dict(_descent(a, forks)), dict(_descent(b, forks))
        common = next((mate for mate in mine if mate in other), None)
        if common is None:
            return None
        known = [one.hash for one in (await self._chronicle.versions(common))[::-1]]
        left = [hash for hash in (mine[common], other[common]) if hash in known]
        return (common, min(left, key=known.index)) if left else None


def _in_conflict(one: MemoryDifference) -> FileConflict:
    """A memory that both keep differently, or that one let go, as it is decided."""
    kin = one.kin
    mine = str(kin.text) if kin is not None and kin.state == "held" else ""
    takes: tuple[MergeTake, ...] = ("a", "b")
    if mine and one.item.layer == "core":
        takes = ("a", "b", "both")
    lines = tuple(line.line for each in (one.item, kin) if each for line in each.evidence)
    travels = one.item.travels and (kin is None or kin.travels)
    return FileConflict(
        one.about,
        str(one.item.subject),
        mine,
        str(one.item.text),
        takes,
        () if travels else tuple(dict.fromkeys(lines)),
        memory=not travels,
    )


def _called(text: str, name: str) -> str:
    """A file as it would be if its mate had that name."""
    text = normalize_line_endings(text)
    return with_new_name(text, parse_mate(text, "the file").name, name)


def _descent(mate: str, forks: Mapping[str, MateForked]) -> Iterator[tuple[str, str]]:
    """A mate and those that it comes from, each with the version that was forked ("": as now)."""
    seen, of = {mate}, ""
    yield mate, of
    while (fork := forks.get(mate)) is not None and fork.source not in seen:
        mate, of = fork.source, fork.of
        seen.add(mate)
        yield mate, of


def _last_merge(a: str, b: str, merges: Sequence[MateMerged]) -> tuple[str, str] | None:
    """The version that one of the two had when it was last taken into the other."""
    for one in reversed(merges):
        if {one.mate, one.source} == {a, b}:
            return one.source, one.of
    return None


def _decided(plan: MergePlan, takes: Mapping[str, MergeTake]) -> None:
    """Raise InputError unless each conflict, and nothing else, is decided as it can be."""
    if plan.idle:
        raise InputError(f"@{plan.b} has nothing that @{plan.a} has not; nothing was merged.")
    if strange := [name for name in takes if name not in plan.about]:
        raise InputError(f"There is no conflict about {strange[0]!r}; there are: {_all(plan)}.")
    if left := [name for name in plan.about if name not in takes]:
        raise InputError(f"To be decided first, each as a, b or both: {', '.join(left)}.")
    for one in plan.conflicts:
        if takes[one.about] not in one.takes:
            raise InputError(f"Of {one.about} one can be had, a or b, not both.")


def _all(plan: MergePlan) -> str:
    return ", ".join(plan.about) or "none"
