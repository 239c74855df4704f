"""Remember and forget work, said by a person or meant by a mate, and are done once."""

from pathlib import Path

import pytest

from loopforge.core.memory.memory_vocabulary import EvidenceLine, KeepingSet
from loopforge.core.room_vocabulary import MemoryAsked
from loopforge.core.text.erasable_text import Words
from loopforge.runtime.ports import Question, ToolCall
from loopforge.runtime.ports.memory_port import KeptItem
from tests.rooms.conftest import Home, hum, living


def keen(question: Question) -> dict[str, str]:
    """A mate that keeps something whenever its form lets it."""
    said = {"say": "Noted!", "mode": "context", "rule": "", "narrative": "I keep it."}
    asked = question.messages[-1][1]
    keeps = {"remember": "Ana grows quince trees", "forget": ""} if "`remember`" in asked else {}
    lets = {"remember": "", "forget": "quince trees"} if "let it go" in str(question) else {}
    return said | keeps | lets


async def items(home: Home, mate: str = "maya") -> list[KeptItem]:
    """What a mate keeps now."""
    return [one for one in await home.app.memory.store.items(mate) if one.state == "held"]


async def test_a_person_says_remember(home: Home) -> None:
    """It is kept by whoever was called, rests on that line, and the room says so in one line."""
    line = await home.hears("ana", "@maya please remember that I am allergic to nuts")
    (item,) = await items(home)
    assert (str(item.text), item.layer, item.made_by) == ("I am allergic to nuts", "fact", "person")
    assert [each.line for each in item.evidence] == [line.id]
    assert item.about == (home.people["ana"],) == (item.told_by,)
    assert "Maya will remember that." in await home.told()
    assert not await items(home, "zuzu")


async def test_where_no_mate_is_nobody_is_said_to_remember(home: Home) -> None:
    """Nor to have kept nothing: the room stays still."""
    await home.enter("ana")
    for mate in ("maya", "merlin", "zuzu"):
        await home.does("ana", "remove", mate)
    before = await home.told()
    await home.hears("ana", "@maya remember that I live in Riga")
    await home.hears("ana", "forget that I live in Riga")
    assert await home.told() == before


async def test_what_is_said_in_a_row_is_kept_by_whom_each_line_called(home: Home) -> None:
    """A line that follows at once makes no other mate keep, or let go of, what one was asked to."""
    await home.says("ana", "@maya please remember that I am allergic to nuts")
    await home.says("ana", "@zuzu remember that I grow quinces")
    await home.hears("ana", "and thank you!")
    assert [str(item.text) for item in await items(home)] == ["I am allergic to nuts"]
    assert [str(item.text) for item in await items(home, "zuzu")] == ["I grow quinces"]
    assert not await items(home, "merlin")
    await home.says("ana", "@merlin forget that I grow quinces")
    await home.hears("ana", "please")
    assert len(await items(home, "zuzu")) == 1


async def test_who_is_not_answered_makes_no_mate_remember_or_forget(tmp_path: Path) -> None:
    """Nor is a mate that is not for guests one of those that keep what a guest says."""
    async with living(tmp_path, hum, guest_mates="maya") as home:
        await home.enter("ana", "ben")
        await home.does("", "rights", "ben none")
        await home.hears("ana", "@maya remember that I grow quinces")
        kept = await home.told()
        await home.hears("ben", "remember that Ana hates tea")
        await home.hears("ben", "@maya forget that I grow quinces")
        assert await home.told() == kept
        assert [str(item.text) for item in await items(home)] == ["I grow quinces"]
        await home.hears("ana", "remember that trains are late", surface="web")
        assert "Maya will remember that." in await home.told()
        assert not await items(home, "zuzu")


async def test_a_person_says_forget(home: Home) -> None:
    """Their own goes for good; what is not known is said not to be."""
    await home.hears("ana", "@maya remember that my garden has zarquon roses")
    await home.hears("ana", "@maya forget that my garden has zarquon roses")
    assert not await items(home)
    assert [one.state for one in await home.app.memory.store.items("maya")] == ["forgotten"]
    await home.hears("ana", "@maya forget that I sing at night")
    assert any("kept nothing of the kind" in line for line in await home.told())


@pytest.mark.parametrize(
    ("kept", "wish"),
    [
        ("@maya, merke dir, dass ich in Berlin wohne", "@maya vergiss, dass ich in Riga wohne"),
        (
            "@maya remember that my son Tom is allergic to milk",
            "@maya forget that my son Tom is allergic to nuts",
        ),
    ],
)
async def test_what_says_something_else_in_a_words_place_is_not_forgotten(
    home: Home, kept: str, wish: str
) -> None:
    """Most words are the same, and the one that matters is another: it is another fact."""
    await home.hears("ana", kept)
    await home.hears("ana", wish)
    assert len(await items(home)) == 1
    assert "kept nothing of the kind" in (await home.told())[-1]


async def test_a_wish_that_found_nothing_is_over(tmp_path: Path) -> None:
    """What is kept after it is not forgotten when the program begins again."""
    async with living(tmp_path) as home:
        line = await home.hears("ana", "@maya I grow blue quince trees")
        await home.hears("ana", "@maya forget that I grow blue quince trees")
        asked = MemoryAsked(
            want="keep",
            text=Words("I grow blue quince trees"),
            mates=("maya",),
            lines=(EvidenceLine(line.stream, line.seq, line.id),),
            person=home.people["ana"],
        )
        fact = home.app.stamp.fact(asked, actor=f"person:{home.people['ana']}")
        await home.app.ledger.append(line.stream, [fact])
        await home.rest()
        assert len(await items(home)) == 1
        clock = home.clock
    async with living(tmp_path, clock=clock, seed=8) as home:
        await home.rest()
        assert len(await items(home)) == 1


async def test_somebody_else_cannot_forget_it_for_good(home: Home) -> None:
    """What concerns another is only let go of, and can come back."""
    await home.hears("ana", "@maya remember that my garden has zarquon roses")
    await home.hears("bo", "@maya forget that the garden has zarquon roses")
    (item,) = await home.app.memory.store.items("maya")
    assert item.state == "dropped"
    await home.app.memory.store.restore(item.id, by=home.people["ana"])
    assert len(await items(home)) == 1


async def test_a_room_that_is_not_remembered_says_so(home: Home) -> None:
    """Nothing is kept, in no mate."""
    await home.enter("ana")
    setting = KeepingSet(scope="room:commons", kept="off", by=home.people["ana"])
    await home.app.memory.store.set_keeping(setting)
    await home.hears("ana", "@maya remember that I am allergic to nuts")
    assert not await items(home)
    assert any("Nothing was kept" in line for line in await home.told())


async def test_what_a_person_says_of_another_is_about_both(home: Home) -> None:
    """Whoever is named finds it, and has it let go; what names nobody else is the asker's alone."""
    await home.enter("ana", "bob")
    await home.hears("ana", "@maya remember that Bob is seeing Carol")
    await home.hears("ana", "@zuzu remember that I grow bobbins")
    (item,), (own,) = await items(home), await items(home, "zuzu")
    assert item.about == (home.people["ana"], home.people["bob"])
    assert own.about == (home.people["ana"],)
    assert "Bob is seeing Carol" in await home.does("bob", "memory")
    await home.does("bob", "memory", f"forget {item.seq}")
    assert not await items(home)


async def test_of_whom_nothing_is_kept_nobody_else_has_kept(home: Home) -> None:
    """The room says why; what does not name them is kept."""
    await home.enter("bo", "ana")
    await home.does("bo", "memory", "off")
    await home.hears("ana", "@maya remember that Bo is seeing Carol")
    assert not await items(home)
    assert "whose name stands in it, is not remembered" in (await home.told())[-1]
    await home.hears("ana", "@maya remember that I am allergic to nuts")
    assert [str(one.text) for one in await items(home)] == ["I am allergic to nuts"]


async def test_what_a_mate_keeps_by_itself_is_about_whom_it_names(tmp_path: Path) -> None:
    """Bo spoke to it and it named Ana: it is about both, and not kept while she wants nothing kept."""
    async with living(tmp_path, keen) as home:
        await home.enter("ana", "bo")
        await home.hears("ana", "There are quince trees behind my house")
        for kept in ("off", "on"):
            await home.does("ana", "memory", kept)
            await home.clock.advance(60)
            await home.hears("bo", "@maya Ana loves her trees, next time she tells you more")
            about = [item.about for item in await items(home)]
            assert about == [(home.people["bo"], home.people["ana"])] * (kept == "on")


async def test_a_mate_keeps_something_and_lets_it_go(tmp_path: Path) -> None:
    """Its acts are allowed, rest on the lines of that, and stand in its record, not in the room."""
    async with living(tmp_path, keen) as home:
        first = await home.hears("ana", "There are quince trees behind my house")
        await home.clock.advance(60)
        line = await home.hears("ana", "@maya I love my trees, next time I tell you more")
        (item,) = await items(home)
        assert (str(item.text), item.made_by) == ("Ana grows quince trees", "mate")
        assert {first.id, line.id} <= {each.line for each in item.evidence}
        assert not any("remember" in one for one in await home.told())
        asked = await home.bodies(MemoryAsked)
        assert [one.want for one in asked] == ["keep"]


async def test_a_wish_is_carried_out_once(tmp_path: Path) -> None:
    """Also where the program ended before, and began again."""
    async with living(tmp_path) as home:
        await home.hears("ana", "@maya remember that I am allergic to nuts")
        clock = home.clock
        (item,) = await items(home)
        await home.app.memory.store.drop(item.id, "of no use", by=home.people["ana"])
        before = await home.told()
    async with living(tmp_path, clock=clock, seed=8) as home:
        await home.rest()
        assert not await items(home)
        assert await home.told() == before


async def test_a_wish_to_forget_is_carried_out_once(tmp_path: Path) -> None:
    """What was said anew, or brought back, after it stays when the program begins again."""
    async with living(tmp_path) as home:
        await home.hears("ana", "@maya remember that my garden has zarquon roses")
        await home.hears("ana", "@zuzu remember that my house has crimson shutters")
        await home.hears("bo", "@zuzu forget that the house has crimson shutters")
        await home.hears("ana", "@maya forget that my garden has zarquon roses")
        await home.hears("ana", "@maya remember that my garden has zarquon roses")
        (dropped,) = await home.app.memory.store.items("zuzu")
        await home.app.memory.store.restore(dropped.id, by=home.people["ana"])
        clock, before = home.clock, await home.told()
    async with living(tmp_path, clock=clock, seed=8) as home:
        await home.rest()
        assert [str(one.text) for one in await items(home)] == ["my garden has zarquon roses"]
        assert [one.id for one in await items(home, "zuzu")] == [dropped.id]
        assert await home.told() == before


async def test_a_wish_to_forget_that_was_begun_is_finished(home: Home) -> None:
    """Where the program died when the item was let go: it is forgotten, and that is said."""
    await home.hears("ana", "@maya remember that my garden has zarquon roses")
    await home.hears("ana", "@maya remember that my house has crimson shutters")
    rose, house = await items(home)
    store, ana = home.app.memory.store, home.people["ana"]
    asked = MemoryAsked(
        want="forget",
        text=Words("my garden has zarquon roses"),
        mates=("maya",),
        person=ana,
    )
    fact = home.app.stamp.fact(asked, actor=f"person:{ana}")
    await store.drop(rose.id, "they said so", by=ana, because=fact.id)
    await home.app.ledger.append("room:commons", [fact])
    await home.rest()
    assert [one.state for one in await store.items("maya")] == ["forgotten", "held"]
    assert [one.id for one in await items(home)] == [house.id]
    assert "Maya forgot it." in (await home.told())[-1]


async def test_wishes_are_carried_out_in_their_order(home: Home) -> None:
    """What is to be kept, and at once to be forgotten, is forgotten."""
    line = await home.hears("ana", "@maya my garden has zarquon roses")
    ana, text = home.people["ana"], Words("my garden has zarquon roses")
    rests = (EvidenceLine(line.stream, line.seq, line.id),)
    for want in ("keep", "forget"):
        asked = MemoryAsked(want=want, text=text, mates=("maya",), lines=rests, person=ana)
        await home.app.ledger.append(
            line.stream, [home.app.stamp.fact(asked, actor=f"person:{ana}")]
        )
    await home.rest()
    assert [one.state for one in await home.app.memory.store.items("maya")] == ["forgotten"]
    assert "Maya forgot it." in (await home.told())[-1]


async def test_the_tool_recall_tells_what_is_kept_too(home: Home) -> None:
    """After the lines, with the day, from whom, and what kind of thing it is."""
    await home.hears("ana", "@maya remember that I am allergic to nuts")
    ana = home.people["ana"]
    arguments = {"about": "what is Ana allergic to?"}
    call = ToolCall(
        arguments=arguments, stream="room:commons", mate="maya", people=(ana,), present=(ana,)
    )
    _, given = await home.app.tools.call("recall", call)
    assert "- 2026-11-21 from ana (kept: a fact): I am allergic to nuts" in str(given)
