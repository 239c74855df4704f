"""Slash commands and "Why?": what people ask of a room on Discord, and what comes back."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import ConversationBegan, Titled
from loopforge.people.accounts.login_throttle import FREE_GUESSES
from loopforge.runtime.background_tasks import BackgroundTasks
from tests.discord.lodging import lodged
from tests.discord.twin import Twin


async def test_what_only_keepers_may(city: Twin, tmp_path: Path) -> None:
    """Who may not change the room alone is told so; who manages the channel on Discord may."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.until(lambda: maya.commands.get(None))
        await home.tell(ben, plaza, "hello")
        refused = await city.slash(ben, plaza, maya, "title", {"text": "The square"})
        await city.until(lambda: refused.text)
        city.guild.everyone_role.permissions |= 1 << 4
        allowed = await city.slash(ben, plaza, maya, "title", {"text": "The square"})
        await city.until(lambda: allowed.text)
        titles = [e.body for e in await home.events(plaza) if isinstance(e.body, Titled)]
    assert "/title is for" in refused.text
    assert refused.ephemeral
    assert "The square" in allowed.text
    assert not allowed.ephemeral
    assert [str(body.title) for body in titles] == ["The square"]


async def test_every_wrong_code_is_answered_to_its_typer(city: Twin, tmp_path: Path) -> None:
    """Discord wants an answer to each command: after a few wrong codes it says how long to wait."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}):
        await city.until(lambda: maya.commands.get(None))
        answers = [
            await city.slash(ben, plaza, maya, "link", {"code": "AAAA-AAAA"})
            for _ in range(FREE_GUESSES + 3)
        ]
        await city.until(lambda: all(answer.text for answer in answers))
    assert all(answer.ephemeral for answer in answers)
    assert all("times in a row. Wait" in answer.text for answer in answers[FREE_GUESSES:])
    assert max(len(answer.text) for answer in answers[FREE_GUESSES:]) < 100


async def test_a_command_that_is_told_twice_is_done_once(city: Twin, tmp_path: Path) -> None:
    """Discord's gateway may tell anything again; a command changes the room once."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.until(lambda: maya.commands.get(None))
        await home.tell(ben, plaza, "hello")
        city.faults.double("INTERACTION_CREATE")
        answers = [await city.slash(ben, plaza, maya, "new") for _ in range(2)]
        await city.until(lambda: all(answer.text for answer in answers))
        begun = [e for e in await home.events(plaza) if isinstance(e.body, ConversationBegan)]
    assert len(begun) == 3


async def test_commands_are_for_where_the_bot_is(city: Twin, tmp_path: Path) -> None:
    """Whoever added its application to their account gives none in servers and talks without it."""
    maya = city.bot("Maya")
    async with lodged(city, tmp_path, {maya: "maya"}):
        await city.until(lambda: maya.commands.get(None))
    (given,) = [call.body for call in city.calls if call.route.endswith("/commands")]
    where = [(command["integration_types"], command["contexts"]) for command in given]
    assert where == [([0], [0, 1])] * len(given)


async def test_arguments_are_completed(city: Twin, tmp_path: Path) -> None:
    """While somebody types an argument, what it may be is offered."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.until(lambda: maya.commands.get(None))
        early = await city.autocomplete(ben, plaza, maya, "remove", "mate", "")
        await home.tell(ben, plaza, "hello")
        choices = await city.autocomplete(ben, plaza, maya, "add", "mate", "me")
    assert [choice["value"] for choice in early] == ["maya"]
    assert [choice["value"] for choice in choices] == ["merlin"]


async def test_why(city: Twin, tmp_path: Path) -> None:
    """Who asks "Why?" of what a mate said gets its flight record, alone."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.until(lambda: maya.commands.get(None))
        await home.ask(ben, plaza, "maya, hello")
        answer = await city.context(ben, maya, "Why?", city.lines(plaza)[-1])
        await city.until(lambda: answer.text)
        nothing = await city.context(ben, maya, "Why?", await city.say(maya.name, plaza, "x"))
        await city.until(lambda: nothing.text)
    assert answer.ephemeral
    assert "Maya" in answer.text
    assert answer.line is not None
    assert answer.line.files == ("answer.txt",)
    assert "no line of a room" in nothing.text


def slowly(going: asyncio.Event) -> Callable[..., Awaitable[None]]:
    """Whoever knocks is let in, once this is set."""

    async def knock(*_: str) -> None:
        await going.wait()

    return knock


async def test_a_slow_answer_is_announced(city: Twin, tmp_path: Path) -> None:
    """What takes longer than Discord waits is announced in time, and given when it is there."""
    going = asyncio.Event()
    maya, ben = city.bot("Maya"), city.person("ben")
    async with lodged(city, tmp_path, {maya: "maya"}, knock=slowly(going)):
        await city.until(lambda: maya.commands.get(None))
        answer = await city.slash(ben, city.private(ben, maya), maya, "status", {}, settled=False)
        assert answer.deferred
        going.set()
        await city.until(lambda: answer.text and not answer.deferred)
        assert answer.ephemeral


@pytest.mark.parametrize("broken", ["lost", "502"])
async def test_an_announcement_that_breaks_off(city: Twin, tmp_path: Path, broken: str) -> None:
    """Where an announcement arrived and nobody knows it, the answer comes all the same."""
    going = asyncio.Event()
    maya, ben, callback = city.bot("Maya"), city.person("ben"), "POST /interactions/*/*/callback"
    async with lodged(city, tmp_path, {maya: "maya"}, knock=slowly(going)):
        await city.until(lambda: maya.commands.get(None))
        if broken == "502":
            city.faults.fail(callback, 502, carried=True)
        else:
            city.faults.lose(callback, carried=True)
        answer = await city.slash(ben, city.private(ben, maya), maya, "status", {}, settled=False)
        await city.until(lambda: not city.faults.left)
        going.set()
        await city.until(lambda: answer.text and not answer.deferred, timeout=20)
        assert "did not work" not in answer.text


async def test_an_answer_that_comes_too_late(city: Twin, tmp_path: Path) -> None:
    """After Discord's quarter of an hour it is an ordinary message, where who asked may see it."""
    going = asyncio.Event()
    maya, ben = city.bot("Maya"), city.person("ben")
    async with lodged(city, tmp_path, {maya: "maya"}, knock=slowly(going)):
        await city.until(lambda: maya.commands.get(None))
        private = city.private(ben, maya)
        answer = await city.slash(ben, private, maya, "status", {}, settled=False)
        city.faults.fail(
            "*/webhooks/*/*", 401, times=3, body={"code": 50027, "message": "Invalid Webhook Token"}
        )
        going.set()
        await city.until(lambda: city.lines(private))
        assert answer.deferred
        assert "did not work" not in city.lines(private)[-1].text


@pytest.mark.parametrize("may", [True, False])
async def test_an_answer_to_all_that_comes_too_late(
    city: Twin, tmp_path: Path, *, may: bool
) -> None:
    """It names who asked; where the mate may not write there, it goes to them alone."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    city.guild.everyone_role.permissions |= 1 << 4
    async with lodged(city, tmp_path, {maya: "maya"}) as home, BackgroundTasks() as tasks:
        await city.until(lambda: maya.commands.get(None))
        await home.tell(ben, plaza, "hello")
        await home.delivered(plaza)
        if not may:
            await city.forbid(maya, plaza, "send_messages")
        unknown = {"code": 10062, "message": "Unknown interaction"}
        city.faults.fail("POST /interactions/*/*/callback", 404, times=2, body=unknown)
        asked = city.slash(ben, plaza, maya, "title", {"text": "The square"})
        tasks.spawn(asked, "a command")
        there = plaza if may else city.private(ben, maya)
        await city.until(lambda: any("The square" in one.text for one in city.lines(there)))
        (told,) = [one for one in city.lines(there) if "The square" in one.text]
        assert told.by == "Maya"
        assert (f"<@{ben.id}>" in told.text) == may


async def test_a_long_answer_to_all_that_comes_too_late(
    city: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With who asked before it, it is too long for a message: it is a file then, and not lost."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    city.guild.everyone_role.permissions |= 1 << 4
    async with lodged(city, tmp_path, {maya: "maya"}) as home, BackgroundTasks() as tasks:
        await city.until(lambda: maya.commands.get(None))
        await home.tell(ben, plaza, "hello")
        await home.delivered(plaza)

        async def title(*_: object, **_more: object) -> str:
            return "so " * 663

        monkeypatch.setattr(home.reception, "command", title)
        unknown = {"code": 10062, "message": "Unknown interaction"}
        city.faults.fail("POST /interactions/*/*/callback", 404, times=2, body=unknown)
        asked = city.slash(ben, plaza, maya, "title", {"text": "The square"})
        tasks.spawn(asked, "a command")
        await city.until(lambda: f"<@{ben.id}> so so" in city.lines(plaza)[-1].text)
        (file,) = city.lines(plaza)[-1].files
        assert file == "answer.txt"


async def test_an_answer_that_breaks_off(
    city: Twin, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where no answer to a command gets through, that is no error of ours, and the next one does."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home, BackgroundTasks() as tasks:
        await city.until(lambda: maya.commands.get(None))
        await home.tell(ben, plaza, "hello")
        city.faults.lose("POST /interactions/*/*/callback", carried=False, times=2)
        tasks.spawn(city.slash(ben, plaza, maya, "status"), "a command")
        await city.until(lambda: not city.faults.left)
        answer = await city.slash(ben, plaza, maya, "status")
        await city.until(lambda: answer.text)
        gc.collect()
    assert "never retrieved" not in caplog.text


async def test_a_code_said_in_a_channel_is_spent_and_said_so(city: Twin, tmp_path: Path) -> None:
    """`/link CODE` as words in a channel spends the code, and who said it is told, called or not."""
    maya, ben, ana, plaza = (
        city.bot("Maya"),
        city.person("ben"),
        city.person("ana"),
        city.channel("plaza"),
    )
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        known = await home.app.people.meet("discord", str(ben.id), "ben")
        code = await home.app.linking.offer_code(known.id)
        await home.tell(ben, plaza, f"/link {code}")
        await city.until(lambda: "links nothing any more" in city.lines(plaza)[-1].text)
        await city.dm(ana, maya, f"/link {code}")
        alone = city.private(ana, maya)
        await city.until(lambda: "This code links nothing" in city.lines(alone)[-1].text)


async def test_a_code_that_an_edit_shows_is_spent(city: Twin, tmp_path: Path) -> None:
    """Who writes a code for linking into a line in a channel later is told that it is spent."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        known = await home.app.people.meet("discord", str(ben.id), "ben")
        code = await home.app.linking.offer_code(known.id)
        line = await home.tell(ben, plaza, "a moment")
        await city.edit(ben, line, f"a moment: {code}")
        await city.until(lambda: "links nothing any more" in city.lines(plaza)[-1].text)


async def test_a_code_typed_as_words_in_private_links(city: Twin, tmp_path: Path) -> None:
    """`/link CODE` as words to a mate in private does what the command does, for a stranger, too."""
    maya, ben, ana = city.bot("Maya"), city.person("ben"), city.person("ana")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        known = await home.app.people.meet("discord", str(ben.id), "ben")
        code = await home.app.linking.offer_code(known.id)
        await city.dm(ana, maya, f"/link {code}")
        alone = city.private(ana, maya)
        await city.until(lambda: "Done: this account" in city.lines(alone)[-1].text)
        assert home.app.people.who("discord", str(ana.id)) == home.app.people.who(
            "discord", str(ben.id)
        )
