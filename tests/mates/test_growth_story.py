"""growth_story: how a mate grew, each sentence borne out by the events it cites."""

from collections.abc import Sequence

from msgspec.structs import replace

from loopforge.core.events import Event
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.mates.growth_story import GrowthSentence, StoryReader, growth_sentences
from loopforge.mates.growth_wording import DecidedClaim, MergedClaim, TraitMovedClaim
from loopforge.mates.version_history import STREAM
from tests.mates.growth_checker import check
from tests.mates.test_mate_growth import ADA, Nursery, home

__all__ = ["home"]
CALLED = {"p1": "Robin"}


def names(by: str) -> str:
    """What people are called."""
    return CALLED.get(by, "somebody")


EVERYTHING = StoryReader(names, lambda _lines: True)
NOTHING = StoryReader(names, lambda lines: not lines)


async def grown(home: Nursery) -> Sequence[Event]:
    """Ada is rewritten, gets a trait, is forked and merged; something is undone; all events."""
    await home.chronicle.write("ada", ADA.replace("never", "always") + "\nAnd more.\n", "p1")
    asked = await home.traits.propose("ada", "patience", "high", "Ben asked me to wait.", ["l1"])
    await home.traits.decide(asked, approved=True, by="p1")
    await home.forking.fork("ada", "Eve", "p1")
    text = home.text("eve.md").replace("patience: high", "patience: low, wit: high")
    await home.chronicle.write("eve", text)
    await home.chronicle.write("ada", home.text().replace("role: counter", "role: sage"))
    await home.chronicle.write("eve", home.text("eve.md").replace("role: counter", "role: fool"))
    await home.merging.merge(await home.merging.plan("ada", "eve"), {"role": "a"}, "p1")
    await home.changes.undo("ada", by="p1")
    refused = await home.traits.propose("ada", "zeal", "high", "I like it.")
    await home.traits.decide(refused, approved=False)
    await home.chronicle.retire("ada.md", "p1")
    return await home.ledger.read(STREAM)


async def test_it_is_told_in_sentences_that_hold(home: Nursery) -> None:
    """Every kind of change is told once, in order, and the checker finds nothing wrong."""
    events = await grown(home)
    story = growth_sentences("ada", events, EVERYTHING)
    assert [one.text for one in story] == [
        "It is on record from here on.",
        "Robin added 3 lines and took away 1 line of its file.",
        "It asked to have its patience high instead of low: “Ben asked me to wait.”",
        "Robin said yes to that.",
        "Its patience went from low to high.",
        "Robin forked @eve from it; each goes its own way since.",
        "Somebody at the machine added 1 line and took away 1 line of its file.",
        ("Robin let it take in what @eve had become; of what was in conflict, 1 stayed as it was."),
        "Its patience went from high to low.",
        "Its wit is high since; before, nothing was said of it.",
        "Robin took back change 5.",
        "Its patience went from low to high.",
        "Nothing is said of its wit since; it was high.",
        "It asked to have its zeal high (nothing was said of it): “I like it.”",
        "Somebody at the machine said no to that.",
        "Robin archived it.",
    ]
    assert check("ada", story, events, names) == []
    assert story[2].lines == ("l1",)
    assert [one.number for one in story if one.number] == [1, 2, 3, 3, 4, 5, 5, 5, 6, 6, 6, 7]
    other = growth_sentences("eve", events, EVERYTHING)
    assert other[0].text == "Robin made it, as a fork of @ada."
    assert check("eve", other, events, names) == []
    assert growth_sentences("ada", events, EVERYTHING) == story


async def test_what_was_said_elsewhere_is_told_to_nobody_else(home: Nursery) -> None:
    """Whoever may not see the lines behind a reason reads that there is one, and not which."""
    events = await grown(home)
    story = growth_sentences("ada", events, NOTHING)
    told = " ".join(one.text for one in story)
    assert "Ben" not in told
    assert "(its reason was told where you were not)" in told
    assert all(one.lines == () for one in story)
    assert check("ada", story, events, names) == []


async def test_a_false_story_is_found_out(home: Nursery) -> None:
    """A claim that is not so, words of another claim, events that are not there: each is named."""
    events = await grown(home)
    story = growth_sentences("ada", events, EVERYTHING)

    def changed(number: int, **more: object) -> list[GrowthSentence]:
        return [*story[:number], replace(story[number], **more), *story[number + 1 :]]

    moved = TraitMovedClaim(trait="patience", before="low", after="very high")
    text = "Its patience went from low to very high."
    merged = MergedClaim(source="eve", by="p1", own=0, other=1, both=0)
    for false, said in (
        (changed(4, claim=moved, text=text), "do not bear it out"),
        (changed(4, text=text), "not those of its claim"),
        (changed(4, events=story[1].events), "do not bear it out"),
        (changed(4, events=()), "not on record"),
        (changed(4, events=("e99",)), "not on record"),
        (changed(3, claim=DecidedClaim(approved=False, by="p1")), "do not bear it out"),
        (changed(7, claim=merged), "do not bear it out"),
    ):
        problems = check("ada", false, events, names)
        assert problems
        assert said in " ".join(problems)


async def test_forgotten_words_leave_the_story(home: Nursery) -> None:
    """After an erasure a reason is told no longer, nor what a version counted; all else holds."""
    events = await grown(home)
    asked = next(one.events[0] for one in growth_sentences("ada", events, EVERYTHING) if one.lines)
    versions = [event.id for event in events if event.kind == "mates.written"]
    await home.ledger.erase(ErasureRequest(events=(asked, versions[1]), exactly=True))
    after = await home.ledger.read(STREAM)
    story = growth_sentences("ada", after, EVERYTHING)
    told = " ".join(one.text for one in story)
    assert "Ben" not in told
    assert "what it said was forgotten" in told
    assert "the words of a version were forgotten" in told
    assert check("ada", story, after, names) == []
