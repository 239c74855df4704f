"""Growth: forks, merges, approved traits and undone changes, on a real ledger and real files."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from loopforge.chat.service.memory_visibility import is_more_visible
from loopforge.core.growth.growth_events import MateForked, MateMerged, TraitProposed
from loopforge.core.mates.mate_changes import MateChange
from loopforge.core.mates.mate_file import Mate
from loopforge.core.people_events import MateWritten
from loopforge.errors import Changed, InputError, Unknown
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.sql_ledger import SqlLedger, open_ledger
from loopforge.mates.growth_service import GrowthService
from loopforge.mates.mate_editing import growth_of
from loopforge.mates.mate_forking import MateForking
from loopforge.mates.mate_merging import MateMerging
from loopforge.mates.mate_roster import MateRoster
from loopforge.mates.trait_proposals import OPEN, TraitProposals
from loopforge.mates.version_history import STREAM, VersionHistory
from loopforge.memory.beliefs.memory_erasure import memories_view
from loopforge.memory.memory_lineage import MemoryLineage
from loopforge.memory.memory_store import MemoryStore
from loopforge.memory.passage_index import TranscriptIndex
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice

ADA = """\
---
name: Ada
role: counter  # of things
colour: teal
traits: {patience: low}
tools: [clock]
---
You are Ada. Ada counts.

You never hurry.

> Who are you?
I am Ada, not Adamant.
"""


class Nursery(NamedTuple):
    """A folder of mates, its ledger, and all that makes them grow."""

    folder: Path
    ledger: SqlLedger
    chronicle: VersionHistory
    roster: MateRoster
    store: MemoryStore
    lineage: MemoryLineage
    changes: GrowthService
    forking: MateForking
    merging: MateMerging
    traits: TraitProposals

    async def kinds(self, handle: str) -> list[str]:
        """The kinds of a mate's changes, the oldest first."""
        return [one.kind for one in await self.changes.changes(handle)]

    def put(self, text: str, file: str = "ada.md") -> None:
        """Change a file on disk."""
        (self.folder / file).write_text(text)

    def text(self, file: str = "ada.md") -> str:
        """A file as it is on disk."""
        return (self.folder / file).read_text()


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Nursery]:
    """One process of a home."""
    clock, dice = SystemClock(), SystemDice()
    views = (memories_view(), TranscriptIndex())
    ledger = await open_ledger(f"sqlite:///{path / 'ledger.db'}", clock, dice, views)
    stamp, roster = Stamp(clock, dice), MateRoster(path / "mates")
    store = MemoryStore(ledger, stamp, is_more_visible, lambda one: {one})
    lineage = MemoryLineage(ledger, store, stamp)
    growth = growth_of(ledger, roster, stamp, lineage)
    try:
        yield Nursery(
            path / "mates",
            ledger,
            growth.chronicle,
            roster,
            store,
            lineage,
            *growth[2:],
        )
    finally:
        await ledger.close()


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Nursery]:
    """A home in which Ada is on record."""
    (tmp_path / "mates").mkdir()
    (tmp_path / "mates" / "ada.md").write_text(ADA)
    async with opened(tmp_path) as nursery:
        await nursery.chronicle.look()
        yield nursery


# ---------------------------------------------------------------- taking back


async def test_the_last_change_is_taken_back_and_done_again(home: Nursery) -> None:
    """Undone, the file is as before; undone again, as after; each is a change on record."""
    await home.chronicle.write("ada", ADA.replace("never", "always"), "p1")
    change = await home.changes.undo("ada", by="p2")
    assert (change.number, change.kind) == (2, "written")
    assert home.text() == ADA
    assert await home.kinds("ada") == ["written", "written", "undone"]
    newest: MateChange = (await home.changes.changes("ada"))[-1]
    assert (newest.by, newest.hash) == ("p2", home.roster.get("ada").hash)
    assert [event.kind for event in newest.events] == ["mates.change_undone", "mates.written"]
    await home.changes.undo("ada")
    assert home.text() == ADA.replace("never", "always")


async def test_an_older_change_is_taken_back_and_what_came_after_stays(home: Nursery) -> None:
    """Only the lines of that change go; where a later one touched them too, nothing is written."""
    second = ADA.replace("never", "always")
    third = second.replace("role: counter", "role: teller")
    await home.chronicle.write("ada", second)
    await home.chronicle.write("ada", third)
    await home.changes.undo("ada", 2)
    assert home.text() == ADA.replace("role: counter", "role: teller")
    with pytest.raises(InputError, match="Nothing of change 2 is left"):
        await home.changes.undo("ada", 2)
    await home.chronicle.write("ada", home.text().replace("role: teller", "role: sage"))
    with pytest.raises(InputError, match="changed again since"):
        await home.changes.undo("ada", 3)
    assert "role: sage" in home.text()


async def test_what_cannot_be_taken_back_says_why(home: Nursery) -> None:
    """The first version, a number that is none, an unknown mate: one sentence each."""
    with pytest.raises(InputError, match="archive it instead"):
        await home.changes.undo("ada")
    with pytest.raises(Unknown, match="no change 7; there is 1 alone"):
        await home.changes.undo("ada", 7)
    with pytest.raises(Unknown, match="There is no mate 'zoe'"):
        await home.changes.undo("zoe")
    await home.chronicle.write("ada", ADA.replace("never", "always"))
    (written, *_) = [e for e in await home.ledger.read(STREAM) if isinstance(e.body, MateWritten)]
    await home.ledger.erase(ErasureRequest(events=(written.id,), exactly=True))
    with pytest.raises(InputError, match="were forgotten"):
        await home.changes.undo("ada")


async def test_a_mate_that_went_away_is_brought_back(home: Nursery) -> None:
    """Off the shelf if it was archived, else as its file was; and not twice."""
    await home.chronicle.retire("ada.md", "p1")
    await home.changes.undo("ada")
    assert home.text() == ADA
    assert not list((home.folder / "retired").glob("*.md"))
    with pytest.raises(InputError, match="is back already"):
        await home.changes.undo("ada", 2)
    (home.folder / "ada.md").unlink()
    await home.changes.undo("ada")
    assert home.text() == ADA
    assert await home.kinds("ada") == ["written", "gone", "undone", "gone", "undone"]


async def test_two_changes_are_compared(home: Nursery) -> None:
    """The texts after each of two changes come out; 0 is before there was a file."""
    await home.chronicle.write("ada", ADA.replace("never", "always"))
    assert await home.changes.diff("ada", 1, 2) == (ADA, ADA.replace("never", "always"))
    assert await home.changes.diff("ada", 0, 1) == ("", ADA)


# ---------------------------------------------------------------- forks


async def test_a_fork_is_another_mate_with_the_same_character(home: Nursery) -> None:
    """It has a name, a handle and a colour of its own; whole words alone are renamed; both go on."""
    mate = await home.forking.fork("ada", "Ada Two", "p1")
    assert (mate.handle, mate.name, mate.traits) == ("ada-two", "Ada Two", {"patience": "low"})
    assert mate.prompt.startswith("You are Ada Two. Ada Two counts.")
    assert "I am Ada Two, not Adamant." in mate.prompt
    assert "# of things" in home.text("ada-two.md")
    assert mate.colour != home.roster.get("ada").colour
    (change,) = await home.changes.changes("ada-two")
    fork = change.events[0].body
    assert isinstance(fork, MateForked)
    assert (fork.source, fork.of, fork.hash) == ("ada", home.roster.get("ada").hash, mate.hash)
    assert (change.kind, change.by) == ("forked", "p1")
    await home.chronicle.write("ada", ADA.replace("never", "always"))
    assert "never" in home.text("ada-two.md")
    with pytest.raises(InputError, match="was forked from another; archive it"):
        await home.changes.undo("ada-two")


@pytest.mark.parametrize("name", ["O'Brien", "Rose #2", "Null", "- a, {b}", "yes"])
async def test_a_name_that_yaml_would_misread_is_quoted(home: Nursery, name: str) -> None:
    """Wherever the old name stood, in whatever quotation marks, the new one is read as it is."""
    home.put(ADA.replace("role: counter  # of things", "role: 'Ada of the sea'\nvoice: like Ada"))
    mate = await home.forking.fork("ada", name, new_handle="other")
    assert (mate.name, mate.role, mate.voice) == (name, f"{name} of the sea", f"like {name}")


async def test_a_fork_of_how_it_once_was(home: Nursery) -> None:
    """An earlier change names what the new mate begins as."""
    await home.chronicle.write("ada", ADA.replace("never", "always"))
    mate = await home.forking.fork("ada", "Old Ada", new_handle="elder", number=1)
    assert (mate.handle, "never" in mate.prompt) == ("elder", True)
    (change,) = await home.changes.changes("elder")
    assert change.kind == "forked"


@pytest.mark.parametrize(
    ("handle", "name", "error", "said"),
    [
        ("zoe", "Zoe Two", Unknown, "There is no mate 'zoe'"),
        ("bob", "Bob Two", Unknown, "@bob is archived, in mates/retired/bob.md"),
        ("ada", "Ada", InputError, "There is a mate called Ada already"),
        ("ada", " aDA ", InputError, "There is a mate called Ada already"),
        ("ada", "Ada!", InputError, "@ada is taken"),
        ("ada", "", InputError, "name"),
        ("ada", "a:b", InputError, "name"),
        ("ada", "everyone", InputError, "no handle can be made"),
    ],
)
async def test_a_fork_that_cannot_be(
    home: Nursery, handle: str, name: str, error: type[Exception], said: str
) -> None:
    """An unknown or archived mate, a name that is taken or will not do: nothing is written."""
    home.put(ADA.replace("Ada", "Bob"), "bob.md")
    await home.chronicle.look()
    await home.chronicle.retire("bob.md")
    before = sorted(home.folder.glob("*.md"))
    with pytest.raises(error, match=said):
        await home.forking.fork(handle, name)
    assert sorted(home.folder.glob("*.md")) == before


async def test_a_fork_is_on_record_also_where_another_process_saw_it_first(tmp_path: Path) -> None:
    """Two processes look at one folder: the version is told once, the fork is told, as one change."""
    (tmp_path / "mates").mkdir()
    (tmp_path / "mates" / "ada.md").write_text(ADA)
    async with opened(tmp_path) as other, opened(tmp_path) as one:
        loop = asyncio.get_running_loop()

        class Watched(MateRoster):
            """Files that another process looks at as soon as they are written."""

            def write(self, handle: str, text: str, file: str = "") -> Mate:
                mate = super().write(handle, text, file)
                asyncio.run_coroutine_threadsafe(other.chronicle.look(), loop).result()
                return mate

        await other.chronicle.look()
        roster = Watched(tmp_path / "mates")
        chronicle = VersionHistory(one.ledger, roster, Stamp(SystemClock(), SystemDice()))
        await MateForking(chronicle, roster, one.changes, one.lineage).fork("ada", "Eve", "p1")
        (change,) = await other.changes.changes("eve")
        assert (change.kind, change.by, change.hash) == ("forked", "p1", roster.get("eve").hash)
        bodies = [event.body for event in await one.ledger.read(STREAM)]
        assert sum(isinstance(body, MateWritten) and body.mate == "eve" for body in bodies) == 1


# ---------------------------------------------------------------- merges


async def test_a_fork_comes_home_with_what_it_became(home: Nursery) -> None:
    """What each of the two changed alone is taken unasked; the name and the colour stay."""
    await home.forking.fork("ada", "Eve")
    await home.chronicle.write("eve", home.text("eve.md").replace("role: counter", "role: sage"))
    await home.chronicle.write("ada", ADA.replace("never", "always"))
    plan = await home.merging.plan("ada", "eve")
    assert (plan.origin, plan.about, plan.file.taken) == (True, (), ("role",))
    await home.merging.merge(plan, {}, "p1")
    assert home.text() == ADA.replace("never", "always").replace("role: counter", "role: sage")
    assert await home.kinds("ada") == ["written", "written", "merged"]
    merged = (await home.changes.changes("ada"))[-1].events[0].body
    assert isinstance(merged, MateMerged)
    assert (merged.source, merged.of) == ("eve", home.roster.get("eve").hash)
    await home.changes.undo("ada")
    assert home.text() == ADA.replace("never", "always")


async def test_conflicts_are_decided_by_a_person(home: Nursery) -> None:
    """Where both changed a piece, nothing is written until each is decided, as it can be."""
    await home.forking.fork("ada", "Eve")
    await home.chronicle.write(
        "eve", home.text("eve.md").replace("low", "very high").replace("[clock]", "[clock, dice]")
    )
    await home.chronicle.write("ada", ADA.replace("low", "high").replace("[clock]", "[maths]"))
    before, plan = home.text(), await home.merging.plan("ada", "eve")
    assert set(plan.about) == {"traits.patience", "tools"}
    for takes, said in (
        ({}, "To be decided first"),
        ({"tools": "both"}, "To be decided first.*: traits.patience"),
        ({"tools": "a", "traits.patience": "both"}, "a or b, not both"),
        ({"tools": "a", "traits.patience": "b", "role": "a"}, "no conflict about 'role'"),
    ):
        with pytest.raises(InputError, match=said):
            await home.merging.merge(plan, takes)  # type: ignore[arg-type]
    assert home.text() == before
    await home.merging.merge(plan, {"tools": "both", "traits.patience": "b"})
    mate = home.roster.get("ada")
    assert (mate.tools, mate.traits) == (("maths", "clock", "dice"), {"patience": "very high"})
    again = await home.merging.plan("ada", "eve")
    assert (again.about, again.file.taken, again.idle) == ((), (), True)
    with pytest.raises(InputError, match="nothing that @ada has not"):
        await home.merging.merge(again, {})


async def test_what_was_decided_once_is_not_asked_again(home: Nursery) -> None:
    """After a merge, only what the other changed since is looked at; a choice of a stays a's."""
    await home.forking.fork("ada", "Eve")
    await home.chronicle.write("eve", home.text("eve.md").replace("low", "very high"))
    await home.chronicle.write("ada", ADA.replace("low", "high"))
    await home.merging.merge(await home.merging.plan("ada", "eve"), {"traits.patience": "a"})
    assert await home.kinds("ada") == ["written", "written", "merged"]
    await home.chronicle.write("eve", home.text("eve.md").replace("never", "hardly"))
    plan = await home.merging.plan("ada", "eve")
    assert (plan.about, plan.file.taken) == ((), ("character",))
    await home.merging.merge(plan, {})
    assert home.roster.get("ada").traits == {"patience": "high"}
    assert "You hardly hurry." in home.text()


async def test_two_forks_of_one_are_sisters(home: Nursery) -> None:
    """Two mates forked of a third, at different times, come from what it was at the earlier one."""
    await home.forking.fork("ada", "Eve")
    await home.chronicle.write("ada", ADA.replace("never", "always"))
    await home.forking.fork("ada", "Ina")
    plan = await home.merging.plan("eve", "ina")
    assert (plan.origin, plan.about, plan.file.taken) == (True, (), ("character",))


async def test_two_who_never_were_one(home: Nursery) -> None:
    """Of strangers every difference is a conflict."""
    home.put("---\nname: Bob\nvoice: low\n---\nYou are Bob.\n", "bob.md")
    plan = await home.merging.plan("ada", "bob")
    assert not plan.origin
    assert set(plan.about) == {"role", "traits.patience", "tools", "voice", "character"}


async def test_a_merge_that_cannot_be(home: Nursery) -> None:
    """One with itself, with nobody, with an archived one, or of files that changed meanwhile."""
    with pytest.raises(InputError, match="cannot be merged with itself"):
        await home.merging.plan("ada", "ada")
    with pytest.raises(Unknown, match="There is no mate 'zoe'"):
        await home.merging.plan("ada", "zoe")
    await home.forking.fork("ada", "Eve")
    await home.chronicle.write("eve", home.text("eve.md").replace("never", "hardly"))
    plan = await home.merging.plan("ada", "eve")
    home.put(ADA.replace("never", "always"))
    with pytest.raises(Changed, match="Nothing was merged"):
        await home.merging.merge(plan, {})
    await home.chronicle.retire("eve.md")
    with pytest.raises(Unknown, match="@eve is archived"):
        await home.merging.plan("ada", "eve")


# ---------------------------------------------------------------- traits


async def test_a_trait_changes_when_the_owner_says_yes(home: Nursery) -> None:
    """A mate asks with its reason and the lines behind it; a yes writes the file, as one change."""
    id = await home.traits.propose("ada", "Patience", "high", "Ben asked me to wait.", ["l1"])
    (one,) = await home.traits.open("ada")
    assert (one.id, one.trait, one.before, one.after) == (id, "patience", "low", "high")
    assert (one.why, one.lines) == ("Ben asked me to wait.", ("l1",))
    assert home.text() == ADA
    await home.traits.decide(id[-6:], approved=True, by="p1")
    assert home.text() == ADA.replace("patience: low", "patience: high")
    assert await home.traits.open() == []
    assert await home.kinds("ada") == ["written", "trait"]
    with pytest.raises(Unknown, match="waits to be decided"):
        await home.traits.decide(id, approved=True)
    await home.changes.undo("ada")
    assert home.text() == ADA


async def test_a_no_leaves_the_mate_as_it_is(home: Nursery) -> None:
    """Refused, it waits no more, nothing is written, and the same may be asked again."""
    id = await home.traits.propose("ada", "zeal", "high", "I like to count.")
    await home.traits.decide(id, approved=False)
    assert (home.text(), await home.traits.open()) == (ADA, [])
    assert await home.kinds("ada") == ["written"]
    await home.traits.propose("ada", "zeal", "high", "I still like to count.")


async def test_what_makes_no_sense_is_not_asked(home: Nursery) -> None:
    """No such mate or band, no reason, what it has already, what waits already, too many at once."""
    ask = home.traits.propose
    for arguments, said in (
        (("zoe", "zeal", "high", "so"), "There is no mate"),
        (("ada", "zeal", "enormous", "so"), "Say how much"),
        (("ada", "patience", "low", "so"), "patience low already"),
        (("ada", "zeal", "high", " "), "Say why"),
        (("ada", "ignore\n{rules}: [x]", "high", "so"), "Name the trait"),
    ):
        with pytest.raises((InputError, Unknown), match=said):
            await ask(*arguments)
    for trait in ("zeal", "wit", "calm", "thrift", "grace")[:OPEN]:
        await ask("ada", trait, "high", "so")
    with pytest.raises(InputError, match="asked for already"):
        await ask("ada", "zeal", "low", "so")
    with pytest.raises(InputError, match="wait already"):
        await ask("ada", "warmth", "low", "so")


async def test_a_yes_that_comes_too_late_is_refused(home: Nursery) -> None:
    """Where the trait is another by now than when the mate asked, the file stays as it is."""
    id = await home.traits.propose("ada", "patience", "high", "so")
    home.put(ADA.replace("low", "very low"))
    with pytest.raises(InputError, match="has patience very low by now"):
        await home.traits.decide(id, approved=True)
    assert "very low" in home.text()


async def test_the_reason_of_a_proposal_can_be_forgotten(home: Nursery) -> None:
    """Forgotten, its words are gone, and it can still be refused."""
    id = await home.traits.propose("ada", "zeal", "high", "Ben is ill.")
    await home.ledger.erase(ErasureRequest(events=(id,), exactly=True))
    (one,) = await home.traits.open()
    assert (one.why, one.trait) == ("[forgotten]", "[forgotten]")
    (body,) = [e.body for e in await home.ledger.read(STREAM) if isinstance(e.body, TraitProposed)]
    assert body.why.text is None
    with pytest.raises(InputError, match="was forgotten"):
        await home.traits.decide(id, approved=True)
    await home.traits.decide(id, approved=False)
