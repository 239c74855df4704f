"""The page: which lines are held, and for whom."""

from datetime import UTC, datetime

from msgspec.structs import replace

from loopforge.chat.room.visible_lines import HELD, VisibleLines
from loopforge.core.context_window import ContextEntry, EntryKind
from loopforge.core.room_vocabulary import File
from loopforge.core.text.erasable_text import Words, public_words

NOON = datetime(2026, 3, 3, 12, tzinfo=UTC)


def entry(seq: int, kind: EntryKind = "heard", who: str = "p-ada", size: int = 0) -> ContextEntry:
    """An entry whose id is its number."""
    file = File(name=public_words("a.txt"), size=size, text=public_words("a"))
    return ContextEntry(
        id=str(seq), seq=seq, kind=kind, at=NOON, who=who, files=(file,) if size else ()
    )


def page_of(*entries: ContextEntry, weighed: int = 10**9) -> VisibleLines:
    """A page with these entries."""
    page = VisibleLines()
    for each in entries:
        page.add(each, weighed)
    return page


def test_a_line_leaves_when_every_mate_has_purged_it() -> None:
    """As long as one mate sees it, it is held for all to find."""
    page = page_of(entry(1), entry(2))
    page.purge("maya", ["1"])
    page.release(["maya", "merlin"], weighed=2)
    assert list(page.lines) == ["1", "2"]
    assert [e.id for e in page.visible("maya")] == ["2"]
    page.purge("merlin", ["1"])
    page.release(["maya", "merlin"], weighed=2)
    assert list(page.lines) == ["2"]
    assert page.purged == {"maya": set(), "merlin": set()}


def test_a_note_is_held_for_its_mate_alone() -> None:
    """When its own mate has purged a note, nobody else keeps it."""
    page = page_of(entry(1, "note", "maya"), entry(2, "note", "merlin"))
    page.purge("maya", ["1"])
    page.release(["maya", "merlin"], weighed=2)
    assert list(page.lines) == ["2"]
    page.release(["maya"], weighed=2)
    assert not page.lines


def test_without_mates_lines_wait() -> None:
    """A room whose last mate left keeps its lines for the next one."""
    page = page_of(entry(1))
    page.release([], weighed=1)
    assert list(page.lines) == ["1"]


def test_a_purge_of_what_is_not_held_is_nothing() -> None:
    """Ids that the page does not hold are not remembered."""
    page = page_of(entry(1))
    page.purge("maya", ["1", "99"])
    assert page.purged == {"maya": {"1"}}


def test_what_was_spoken_since() -> None:
    """Lines of people and mates after a number, in order; notes and notices are no lines."""
    page = page_of(entry(1), entry(2, "said", "maya"), entry(3, "told"), entry(4))
    assert [e.id for e in page.since(1)] == ["2", "4"]
    assert [e.id for e in page.recent(2)] == ["2", "4"]
    assert not page.since(4)


def test_too_many_lines_go_in_one_block_kept_ones_last() -> None:
    """One line over the bound lets the oldest half go, but not what was marked keep."""
    page = page_of(*map(entry, range(1, HELD + 1)))
    page.mark("1", "keep")
    assert len(page.lines) == HELD
    page.add(entry(HELD + 1), HELD + 1)
    assert len(page.lines) == HELD // 2
    assert list(page.lines)[:2] == ["1", str(HELD // 2 + 3)]


def test_large_files_count_for_more() -> None:
    """Two megabytes of files at most are held beside the newest lines."""
    page = page_of(*(entry(n, size=200_000) for n in range(1, 30)))
    assert sum(file.size for e in page.lines.values() for file in e.files) <= HELD * 1000
    assert "29" in page.lines
    assert "1" not in page.lines


def test_files_that_nobody_can_read_do_not_count() -> None:
    """Pictures of any size push no line out: mates see nothing of them but a sentence."""
    page = page_of(*(entry(n) for n in range(1, 30)))
    picture = File(
        name=public_words("a.png"), size=50_000_000, text=public_words(""), media="image/png"
    )
    page.add(replace(entry(30), files=(picture,)), 10**9)
    assert list(page.lines) == [str(n) for n in range(1, 31)]


def test_every_private_text_of_a_file_is_on_the_page() -> None:
    """Name, text and hash are among the page's words, so that they are forgotten with others."""
    file = File(name=Words("n", "r1"), size=1, text=Words("t", "r2"), hash=Words("h", "r3"))
    page = page_of(replace(entry(1), files=(file,)))
    assert {words.ref for words in page.words()} == {"", "r1", "r2", "r3"}
