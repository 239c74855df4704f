"""The home dies in the middle of something: the next one ends it, once, and leaves nothing behind."""

from pathlib import Path

import pytest

from loopforge.core.delivery_states import Failed, Uncertain
from loopforge.core.room_vocabulary import Said
from loopforge.io.discord.sending import message_delivery
from loopforge.models.scripted_model import ScriptedAnswer
from tests.discord.lodging import HOOK, LONG, SEND, STREAM, WORDS, lodged
from tests.discord.twin import Twin
from tests.discord.words import Place
from tests.held_clock import HeldClock


async def dies(
    city: Twin, path: Path, place: Place, who: str, target: str, carried: bool, words: str
) -> None:
    """A home that ends while this call is under way, before or after Discord has carried it out."""
    bot = city.bots["House"]
    gate = city.faults.hold(target, carried=carried)
    async with lodged(city, path, {bot: who}, lambda _: words):
        await city.say("ben", place, "maya, hello")
        await gate.reached.wait()
    city.faults.clear()


@pytest.mark.parametrize("carried", [False, True])
@pytest.mark.parametrize("who", ["maya", "*"])
async def test_an_answer_that_was_on_its_way(
    city: Twin, tmp_path: Path, who: str, carried: bool
) -> None:
    """An answer whose sending was cut off by the end of the process is there once after all."""
    bot, plaza = city.bot("House"), city.channel("plaza")
    city.person("ben")
    target = SEND if who == "maya" else HOOK
    await dies(city, tmp_path, plaza, who, target, carried, LONG)
    city.town.clock.advance(600)  # nonces are forgotten by then
    async with lodged(city, tmp_path, {bot: who}, lambda _: LONG) as home:
        await city.until(lambda: len(city.lines(plaza)) == 3)
        await home.delivered(plaza)
        said = next(e for e in await home.events(plaza) if isinstance(e.body, Said))
        posts = await home.reception.sessions.channels.posts(f"discord:{plaza.id}", said.id)
    assert " ".join(line.text for line in city.lines(plaza)[1:]) == LONG
    assert posts == [str(line.id) for line in city.lines(plaza)[1:]]


@pytest.mark.parametrize("who", ["maya", "*"])
async def test_an_answer_after_which_much_was_said(city: Twin, tmp_path: Path, who: str) -> None:
    """It is found where it stands, by reading on from when its sending began."""
    bot, plaza, ben = city.bot("House"), city.channel("plaza"), city.person("ben")
    await dies(city, tmp_path, plaza, who, SEND if who == "maya" else HOOK, True, LONG)
    for n in range(230):
        await city.say(ben, plaza, f"it rains {n}")
    city.town.clock.advance(600)
    async with lodged(city, tmp_path, {bot: who}, lambda _: LONG) as home:
        await home.delivered(plaza)
    parts = [line.text for line in city.lines(plaza) if line.by != "ben"]
    assert " ".join(parts) == LONG


async def test_an_answer_after_which_too_much_was_said(
    city: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond what is read back nobody can tell whether it arrived: it is not sent again, and told."""
    monkeypatch.setattr(message_delivery, "READ", 200)
    bot, plaza, ben = city.bot("House"), city.channel("plaza"), city.person("ben")
    await dies(city, tmp_path, plaza, "maya", SEND, True, "rye")
    city.town.delete_message(plaza.id, city.lines(plaza)[-1].id)
    for n in range(230):
        await city.say(ben, plaza, f"it rains {n}")
    async with lodged(city, tmp_path, {bot: "maya"}) as home:
        await home.delivered(plaza)
        ends = [e.body for e in await home.events(plaza) if isinstance(e.body, Uncertain)]
    told = "too much was said there since to find out whether it arrived."
    assert [str(each.why) for each in ends] == [told]
    texts = [line.text for line in city.lines(plaza) if line.by != "ben"]
    assert "rye" not in texts
    assert any(told in text for text in texts)


@pytest.mark.parametrize("name", ["plaza", "piazza"])
async def test_what_somebody_said_elsewhere_that_was_on_its_way(
    city: Twin, tmp_path: Path, name: str
) -> None:
    """A line that was being relayed when the home ended is there once, whatever its place is called."""
    bot, ben = city.bot("House"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {bot: "*"}) as home:
        await home.join(plaza, mall)
        gate = city.faults.hold(HOOK, carried=True)
        await city.say(ben, plaza, "on its way")
        await gate.reached.wait()
        await city.say(ben, plaza, "not sent yet")
        await home.hears(plaza, "I bake", "on its way", "not sent yet")
    city.faults.clear()
    await city.rename(plaza, name)
    async with lodged(city, tmp_path, {bot: "*"}) as home:
        await home.delivered(plaza)
    assert [(line.by, line.text) for line in city.lines(mall)] == [
        ("ben (plaza)", "on its way"),
        (f"ben ({name})", "not sent yet"),
    ]


@pytest.mark.parametrize("who", ["maya", "*"])
async def test_a_draft_that_was_growing(city: Twin, tmp_path: Path, who: str) -> None:
    """A draft cut off by the end of the process ends as the whole line, in the same message."""
    bot, plaza = city.bot("House"), city.channel("plaza")
    city.person("ben")

    def slow(pause: float) -> ScriptedAnswer:
        return ScriptedAnswer(text=WORDS, pieces=6, pause=pause)

    async with lodged(city, tmp_path, {bot: who}, lambda _: slow(600), manners=STREAM) as home:
        await city.say("ben", plaza, "maya, hello")
        await city.until(lambda: len(city.lines(plaza)) == 2)
        while not await home.drafts(plaza):
            await home.app.stamp.clock.sleep(0.02)
    assert city.lines(plaza)[-1].text.endswith(" ▌")
    async with lodged(city, tmp_path, {bot: who}, lambda _: slow(0.1), manners=STREAM) as home:
        await city.until(lambda: city.lines(plaza)[-1].text == WORDS)
        await home.delivered(plaza)
        await home.no_drafts(plaza)
    assert [line.text for line in city.lines(plaza)] == ["maya, hello", WORDS]


async def test_a_draft_and_a_line_that_is_not_sent_yet(city: Twin, tmp_path: Path) -> None:
    """A line that was said, but not yet put where its draft stands, is put there by the next one."""
    bot, plaza = city.bot("House"), city.channel("plaza")
    city.person("ben")
    answer, held = ScriptedAnswer(text=WORDS, pieces=4, pause=1), HeldClock()
    gate = city.faults.hold("PATCH /channels/*/messages/*", times=50)
    async with lodged(
        city, tmp_path, {bot: "maya"}, lambda _: answer, manners=STREAM, pace=held
    ) as home:
        await city.say("ben", plaza, "maya, hello")
        await city.until(lambda: len(city.lines(plaza)) == 2)
        held.let_go(1)
        await gate.reached.wait()
        held.let_go()
        await home.eventually(plaza, Said)
    city.faults.clear()
    async with lodged(city, tmp_path, {bot: "maya"}, lambda _: answer, manners=STREAM) as home:
        await city.until(lambda: city.lines(plaza)[-1].text == WORDS)
        await home.delivered(plaza)
    assert [line.text for line in city.lines(plaza)] == ["maya, hello", WORDS]


async def test_a_draft_of_a_line_that_was_lost(city: Twin, tmp_path: Path) -> None:
    """Where a thread is locked while an answer grows there, its draft goes once it is open again."""
    bot, plaza, ben = city.bot("House"), city.channel("plaza"), city.person("ben")
    walk = await city.thread(ben, plaza, "a walk")
    answer, held = ScriptedAnswer(text=WORDS, pieces=4, pause=1), HeldClock()
    async with lodged(
        city, tmp_path, {bot: "maya"}, lambda _: answer, manners=STREAM, pace=held
    ) as home:
        await city.say(ben, walk, "maya, hello")
        await city.until(lambda: len(city.lines(walk)) == 2)
        while not await home.drafts(walk):
            await home.app.stamp.clock.sleep(0.02)
        await city.archive(walk, locked=True)
        held.let_go()
        await home.eventually(walk, Failed)
    assert city.lines(walk)[-1].text.endswith(" ▌")
    city.town.edit_channel(walk.id, {}, thread_metadata={"archived": False, "locked": False})
    async with lodged(city, tmp_path, {bot: "maya"}) as home:
        await home.no_drafts(walk)
    told = [line.text for line in city.lines(walk)]  # why it was lost may be told by now
    assert [text for text in told if not text.startswith("-# ")] == ["maya, hello"]
