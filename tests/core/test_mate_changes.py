"""mate_changes: one numbered list, in which what belongs together is one change."""

from collections.abc import Iterable
from datetime import UTC, datetime

from loopforge.core.events import Body, Event
from loopforge.core.growth.growth_events import (
    GrowthUndone,
    MateForked,
    TraitDecided,
    TraitProposed,
)
from loopforge.core.mates.mate_changes import mate_changes
from loopforge.core.people_events import MateGone, MateWritten
from loopforge.core.text.erasable_text import Words

WHEN = datetime(2026, 3, 1, tzinfo=UTC)


def events(*bodies: tuple[Body, str, str]) -> Iterable[Event]:
    """Events e1, e2, ... with these bodies, actors and causes."""
    for number, (body, actor, cause) in enumerate(bodies, 1):
        yield Event(
            stream="mates",
            seq=number,
            id=f"e{number}",
            at=WHEN,
            actor=actor,
            cause=cause,
            body=body,
        )


def wrote(mate: str, hash: str) -> MateWritten:
    """A version of a mate's file."""
    return MateWritten(mate=mate, hash=hash, text=Words("..."))


def test_what_led_to_a_version_is_one_change_with_it() -> None:
    """A fork, a trait and an undo each take in the version they caused; others' events are none."""
    told = mate_changes(
        "ada",
        events(
            (MateForked(mate="ada", source="bob", of="b1", hash="h1"), "person:p1", ""),
            (wrote("ada", "h1"), "person:p1", "e1"),
            (wrote("bob", "b2"), "runtime", ""),
            (wrote("ada", "h2"), "runtime", ""),
            (
                TraitProposed(
                    mate="ada", trait=Words("zeal"), before=None, after="high", why=Words("so")
                ),
                "mate:ada",
                "",
            ),
            (TraitDecided(mate="ada", proposal="e5", approved=True, hash="h3"), "person:p1", ""),
            (wrote("ada", "h3"), "person:p1", "e6"),
            (GrowthUndone(mate="ada", change="e6", hash="h2"), "runtime", ""),
            (wrote("ada", "h2"), "runtime", "e8"),
            (MateGone(mate="ada"), "person:p1", ""),
        ),
    )
    assert [(one.number, one.kind, one.before, one.hash, one.by) for one in told] == [
        (1, "forked", "", "h1", "p1"),
        (2, "written", "h1", "h2", ""),
        (3, "trait", "h2", "h3", "p1"),
        (4, "undone", "h3", "h2", ""),
        (5, "gone", "h2", "", "p1"),
    ]
    assert [event.id for event in told[2].events] == ["e6", "e7"]
    assert [one.told for one in told] == [
        "forked from bob",
        "the file was changed",
        "a trait was approved",
        "a change was undone",
        "the file went away",
    ]


def test_a_reason_told_after_its_version_is_still_one_change() -> None:
    """Where another process saw the file first, the fork's event follows, and the two are one."""
    (told,) = mate_changes(
        "ada",
        events(
            (wrote("ada", "h1"), "runtime", ""),
            (MateForked(mate="ada", source="bob", of="b1", hash="h1"), "person:p1", ""),
        ),
    )
    assert (told.number, told.kind, told.hash, told.by, told.id) == (1, "forked", "h1", "p1", "e2")


def test_a_refused_trait_changes_nothing() -> None:
    """A proposal and its refusal are no change of the mate."""
    no = TraitDecided(mate="ada", proposal="e1", approved=False)
    assert mate_changes("ada", events((no, "person:p1", ""))) == []
