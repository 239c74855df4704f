"""The life of a room: conversations, titles, what leaves a mind, stop, and starting again."""

from datetime import timedelta
from itertools import pairwise
from pathlib import Path

from loopforge.core.room_vocabulary import (
    ConversationBegan,
    ConversationEnded,
    Purged,
    Said,
    Titled,
)
from loopforge.core.turn_events import Asked, Perceived
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.policies.prompt_building import RECALLED
from loopforge.runtime.ports import Question
from tests.rooms.conftest import Home, living, write_mates
from tests.rooms.test_talking import speaker


async def test_a_conversation_ends_by_asking(home: Home) -> None:
    """After /new a mate sees nothing of what was said before; the ledger keeps it all."""
    await home.hears("ana", "@maya the password of the day is turnip")
    await home.does("ana", "new")
    await home.hears("ana", "@maya what did I say?")
    last = [q for q in home.models.asked if speaker(q) == "maya"][-1]
    assert "turnip" not in str(last.messages)
    assert any("turnip" in line for line in await home.lines())
    assert await home.app.front.search("commons", "turnip", 5)


async def test_a_conversation_ends_by_idling(home: Home) -> None:
    """When nobody speaks for the idle time it ends, then and not later; the next line begins one."""
    await home.hears("ana", "@maya one")
    await home.clock.advance(239 * 60)
    await home.hears("ana", "@maya two")
    last = next(e.at for e in reversed(await home.events()) if isinstance(e.body, Said))
    await home.clock.advance(241 * 60)
    (ended,) = [e for e in await home.events() if isinstance(e.body, ConversationEnded)]
    assert ended.at - last == timedelta(minutes=240)
    await home.hears("ana", "@maya three")
    began = [one.why for one in await home.bodies(ConversationBegan)]
    assert began == ["first", "idle"]


async def test_ending_and_going_on(home: Home) -> None:
    """After /end nothing is going on; the next line begins a conversation that was asked for."""
    await home.hears("ana", "@maya one")
    await home.does("ana", "end")
    assert (await home.app.front.rooms.scene("commons")).conversation == ""
    await home.hears("ana", "@maya two")
    began = [one.why for one in await home.bodies(ConversationBegan)]
    assert began == ["first", "asked"]


async def test_a_restart_goes_on_in_the_same_conversation(tmp_path: Path) -> None:
    """What was said before a restart is before the mate after it; nothing is answered again."""
    async with living(tmp_path) as home:
        await home.hears("ana", "@maya remember the turnip")
        clock, people = home.clock, home.people
        before = await home.said()
    async with living(tmp_path, clock=clock, seed=8) as home:
        home.people = people
        await home.rest()
        assert await home.said() == before
        await home.hears("ana", "@maya what was it?")
        assert "remember the turnip" in str(home.models.asked[0].messages)


async def test_what_was_heard_and_not_answered_is_answered_after_a_restart(tmp_path: Path) -> None:
    """A line that was heard when the process ended is answered by the next one, once."""
    slow = ScriptedAnswer(text="At last.", wait=600)
    async with living(tmp_path, lambda question: slow) as home:
        await home.says("ana", "@maya are you there?")
        await home.clock.advance(5)
        assert "turn.asked" in await home.kinds()
        clock = home.clock
    async with living(tmp_path, lambda question: "At last.", clock=clock, seed=8) as home:
        await home.rest()
        assert (await home.lines())[-1] == "maya: At last."
        assert await home.said() == ["maya"]
        perceived = await home.bodies(Perceived)
        assert len(perceived) == 1, "the same turn went on; what was shown was read back"


async def test_a_title_is_found_and_found_again(tmp_path: Path) -> None:
    """A room names itself after a few lines; a title that a person gave stays."""

    def script(question: Question) -> dict[str, str] | str:
        return {"title": "Slugs at night"} if speaker(question) == "the room" else "Well."

    async with living(tmp_path, script) as home:
        for text in ("@maya slugs again", "they come at night", "@maya what now?", "help"):
            await home.hears("ana", text)
        assert (await home.app.front.rooms.scene("commons")).title == "Slugs at night"
        await home.does("ana", "title", "The slug war")
        for number in range(20):
            await home.hears("ana", f"@maya trains and towers {number}")
        titles = [str(one.title) for one in await home.bodies(Titled)]
        assert titles[-1] == "The slug war"


async def test_a_title_given_meanwhile_stays(tmp_path: Path) -> None:
    """A person names the room while it is finding a title of its own: the person's stays."""
    found = ScriptedAnswer(data={"title": "Slugs at night"}, wait=60)

    def script(question: Question) -> ScriptedAnswer | str:
        return found if speaker(question) == "the room" else "Well."

    async with living(tmp_path, script) as home:
        for text in ("@maya slugs again", "they come at night", "@maya what now?", "help"):
            await home.says("ana", text)
        while not home.models.asked or speaker(home.models.asked[-1]) != "the room":
            await home.clock.advance(1)
        await home.does("ana", "title", "The slug war")
        await home.passes(120)
        assert (await home.app.front.rooms.scene("commons")).title == "The slug war"


async def test_old_lines_leave_a_mind_in_blocks(tmp_path: Path) -> None:
    """Over its window a mate's lines are purged in one block; between purges prompts only grow."""
    async with living(tmp_path, lambda question: "Yes." * 20) as home:
        home.models.window = 2400
        for number in range(40):
            await home.hears("ana", f"@maya number {number}: " + "word " * 30)
        events = await home.events()
        purges = [e.body for e in events if isinstance(e.body, Purged)]
        assert purges
        assert all(purge.after <= purge.before / 2 + 60 for purge in purges)
        own = [q.messages for q in home.models.asked if speaker(q) == "maya"]
        # what it remembers stands after the lines, and is another each time
        prompts = [[one for one in each if not one[1].startswith(RECALLED)] for each in own]
        whole = sum(after[: len(before) - 1] != before[:-1] for before, after in pairwise(prompts))
        assert whole == len(purges), "only a purge changes what stood before"
        runs = [e.body.prompt for e in events if isinstance(e.body, Asked)]
        assert sum(run.base != "" for run in runs) > len(runs) / 2
        perceived = [e.body for e in events if isinstance(e.body, Perceived)]
        assert perceived[-1].edits[0].kind == "withheld"
        assert await home.app.front.search("commons", "number 3:", 5)


async def test_kept_lines_stay_and_spent_ones_go_first(tmp_path: Path) -> None:
    """At a purge a line marked keep survives, one marked spent goes."""
    async with living(tmp_path, lambda question: "Yes.") as home:
        home.models.window = 2400
        kept = await home.hears("ana", "@maya the boiler code is 4711")
        spent = await home.hears("ana", "@maya never mind this one")
        await home.does("ana", "keep", kept.id)
        await home.does("ana", "spent", spent.id)
        for number in range(40):
            await home.hears("ana", f"@maya number {number}: " + "word " * 30)
        last = [q for q in home.models.asked if speaker(q) == "maya"][-1]
        assert "4711" in str(last.messages)
        purges = await home.bodies(Purged)
        assert spent.id in purges[0].lines


async def test_what_was_said_before_stop_stays(tmp_path: Path) -> None:
    """From a sentence on, what a mate had said when it was stopped is a line; no mate answers it."""
    words = " ".join(f"word{n}" for n in range(80))
    slow = ScriptedAnswer(text=words, pieces=8, pause=10)
    async with living(tmp_path, lambda question: slow) as home:
        await home.says("ana", "@maya tell me a story")
        await home.clock.advance(35)
        await home.hears("ana", "stop")
        await home.rest()
        (said,) = [body for body in await home.bodies(Said) if body.mate == "maya"]
        assert said.cut
        assert str(said.text).endswith(" …")
        assert words.startswith(str(said.text)[:-2])
        assert (await home.app.front.rooms.scene("commons")).stopped
        line = [e for e in await home.events() if isinstance(e.body, Said)][-1]
        assert "stopped" in await home.app.front.why(line.id)
        slow = ScriptedAnswer(text="Short it is.")
        await home.hears("ana", "@maya shorter, please")
        assert "word1 " in str(home.models.asked[-1].messages)


async def test_stop_halts_drops_and_lasts(tmp_path: Path) -> None:
    """Stop ends the running turn and those that wait; a person's next line lifts it."""
    slow = ScriptedAnswer(text="A long story that nobody wants.", pieces=8, pause=10)
    async with living(tmp_path, lambda question: slow) as home:
        await home.says("ana", "@maya @merlin tell me a story")
        await home.clock.advance(20)
        await home.hears("ana", "stop")
        assert await home.said() == []
        assert (await home.app.front.rooms.scene("commons")).stopped
        clock = home.clock
    async with living(tmp_path, lambda question: "Here.", clock=clock, seed=8) as home:
        await home.rest()
        assert await home.said() == []
        assert (await home.app.front.rooms.scene("commons")).stopped
        await home.hears("ana", "@merlin you may go on")
        assert await home.said() == ["merlin"]


async def test_a_mate_that_is_made_joins_the_room_of_all(home: Home) -> None:
    """A new file is a new mate in the common room with the next line; one sent out stays out."""
    await home.hears("ana", "@maya hello")
    write_mates(home.path, ("otto",))
    await home.clock.advance(1)
    await home.hears("ana", "@otto are you here?")
    assert (await home.said())[-1] == "otto"
    assert "left" in await home.does("ana", "remove", "otto")
    await home.hears("ana", "@otto still here?")
    scene = await home.app.front.rooms.scene("commons")
    assert [card.handle for card in scene.mates] == ["maya", "merlin", "zuzu"]
    assert "here now" in await home.does("ana", "add", "otto")
    await home.hears("ana", "@otto welcome back")
    assert (await home.said())[-1] == "otto"
