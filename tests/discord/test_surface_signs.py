"""What shows that a mate is at work: typing, a draft that grows, marks on the line that called."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from loopforge.core.room_vocabulary import Said, Stopped
from loopforge.models.scripted_model import ScriptedAnswer
from tests.discord.lodging import LONG, MARKS, STREAM, WORDS, lodged
from tests.discord.twin import Twin
from tests.held_clock import HeldClock


def slowly(words: str, pause: float = 0.3) -> ScriptedAnswer:
    """The words, a few at a time."""
    return ScriptedAnswer(text=words, pieces=12, pause=pause)


async def test_typing_is_shown_at_once(city: Twin, tmp_path: Path) -> None:
    """While a mate thinks, its bot is seen typing."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    answer, held = ScriptedAnswer(text="hello", wait=1.0), HeldClock()
    async with lodged(city, tmp_path, {maya: "maya"}, lambda _: answer, pace=held):
        await city.say(ben, plaza, "maya, hello")
        await city.until(lambda: city.deeds("typing", place=plaza))
        held.let_go()
        await city.until(lambda: len(city.lines(plaza)) == 2)
    kinds = [(deed.kind, deed.by) for deed in city.deeds(place=plaza)]
    assert kinds == [("create", "ben"), ("typing", "Maya"), ("create", "Maya")]


@pytest.mark.parametrize("who", ["maya", "*"])
async def test_a_draft_grows_and_ends_complete(city: Twin, tmp_path: Path, who: str) -> None:
    """What a mate says appears while it says it, in one message that ends as the whole line."""
    bot, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    held = HeldClock()
    async with lodged(
        city, tmp_path, {bot: who}, lambda _: slowly(WORDS), manners=STREAM, pace=held
    ) as home:
        await city.brings(ben, plaza, "maya, count", 2)
        held.let_go(1)
        await city.until(lambda: city.deeds("edit", place=plaza))
        held.let_go()
        await city.until(lambda: city.lines(plaza)[-1].text == WORDS)
        await home.delivered(plaza)
        assert await home.drafts(plaza) == []
        said = next(e for e in await home.events(plaza) if isinstance(e.body, Said))
        posts = await home.reception.sessions.channels.posts(f"discord:{plaza.id}", said.id)
    shown = [deed.text for deed in city.deeds("create", "edit", place=plaza)][1:]
    assert len(shown) >= 3
    assert all(text.endswith(" ▌") for text in shown[:-1])
    assert all(WORDS.startswith(text.removesuffix(" ▌")) for text in shown)
    assert [str(line.id) for line in city.lines(plaza)[1:]] == posts
    assert len(posts) == 1


async def test_a_draft_among_others_is_a_reply(city: Twin, tmp_path: Path) -> None:
    """Where others spoke after the line that called, what answers it is a reply from its draft."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    script, held = lambda _: replace(slowly(WORDS), wait=1), HeldClock()
    async with lodged(city, tmp_path, {maya: "maya"}, debounce_seconds=3600) as home:
        line = await city.say(ben, plaza, "maya, count")
        await city.say(city.person("eve"), plaza, "ben, it rains")
        await home.hears(plaza, "maya, count", "ben, it rains")
    async with lodged(city, tmp_path, {maya: "maya"}, script, manners=STREAM, pace=held):
        held.let_go(8)  # the room is watched by now; what was drafted earlier is gone
        await city.until(lambda: len(city.lines(plaza)) == 3)
        held.let_go()
        await city.until(lambda: city.lines(plaza)[-1].text == WORDS)
    answer = city.lines(plaza)[-1]
    assert (answer.reply_to, answer.edited) == (line.id, True)


async def test_a_long_draft_ends_as_several_messages(city: Twin, tmp_path: Path) -> None:
    """Of a long answer the first message is what the draft was; the others follow it."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    held = HeldClock()
    async with lodged(
        city, tmp_path, {maya: "maya"}, lambda _: slowly(LONG), manners=STREAM, pace=held
    ) as home:
        await city.brings(ben, plaza, "maya, count", 2)
        held.let_go()
        await city.until(lambda: len(city.lines(plaza)) == 3)
        await home.delivered(plaza)
    assert " ".join(line.text for line in city.lines(plaza)[1:]) == LONG
    assert city.lines(plaza)[1].edited


async def test_an_edit_that_fails_leaves_the_answer_whole(city: Twin, tmp_path: Path) -> None:
    """A draft whose edits are refused, or which somebody took away, ends as the whole line."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    held = HeldClock()
    async with lodged(
        city, tmp_path, {maya: "maya"}, lambda _: slowly(WORDS), manners=STREAM, pace=held
    ) as home:
        city.faults.rate_limit("PATCH /channels/*/messages/*", via=False, retry_after=0.1)
        await city.brings(ben, plaza, "maya, count", 2)
        city.town.delete_message(plaza.id, city.lines(plaza)[-1].id)
        held.let_go()
        await city.until(lambda: city.lines(plaza)[-1].text == WORDS)
        await home.delivered(plaza)
    assert len(city.lines(plaza)) == 2


async def test_drafts_that_were_left_behind_go(city: Twin, tmp_path: Path) -> None:
    """At the next start, drafts are taken away whose turns are over, and those nobody knows of."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "one")
    made = [
        city.town.create_message(plaza.id, maya.id, text) for text in ("I was sa ▌", "I said ▌ it")
    ]
    async with lodged(city, tmp_path, {maya: "maya"}):
        await city.until(lambda: len(city.lines(plaza)) == 2)
    assert [line.id for line in city.lines(plaza)][1:] == [made[1].id]


async def test_in_private_every_line_is_marked(city: Twin, tmp_path: Path) -> None:
    """In a private talk a line calls its mate without a name, is marked, and is not replied to."""
    maya, ben = city.bot("Maya"), city.person("ben")
    here = city.private(ben, maya)
    both = replace(MARKS, streams=True)
    script = lambda _: slowly(WORDS, 0.1)  # noqa: E731
    async with lodged(city, tmp_path, {maya: "maya"}, script, manners=both):
        line = await city.say(ben, here, "hello there")
        await city.until(lambda: city.line(line).reactions == {"✅": ("Maya",)})
        await city.until(lambda: city.lines(here)[-1].text == WORDS)
    assert [each.reply_to for each in city.lines(here)] == [None, None]


async def test_a_mate_that_is_gone_is_marked(city: Twin, tmp_path: Path) -> None:
    """Where its file is gone, the line that called it is marked so, and the channel told why."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}, manners=MARKS):
        (tmp_path / "mates" / "maya.md").unlink()
        line = await city.say(ben, plaza, "maya, hello")
        await city.until(lambda: city.line(line).reactions == {"❌": ("Maya",)})
        await city.until(lambda: len(city.lines(plaza)) == 2)
    assert "Maya cannot answer just now" in city.lines(plaza)[-1].text


async def test_a_stop_sign_on_a_draft(city: Twin, tmp_path: Path) -> None:
    """A stop sign on what a mate is just saying stops it: what it had said becomes its line."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    script = lambda _: slowly(f"{WORDS} " * 4, 600)  # noqa: E731
    async with lodged(city, tmp_path, {maya: "maya"}, script, manners=STREAM) as home:
        await city.brings(ben, plaza, "maya, count", 2)
        await city.until(lambda: "word12" in city.lines(plaza)[-1].text)
        draft = city.lines(plaza)[-1]
        await city.react(ben, draft, "🛑")
        await city.until(lambda: any("Stopped." in line.text for line in city.lines(plaza)))
        await city.until(lambda: city.line(draft).text.endswith(" …"))
        await home.settled(plaza)
        assert city.line(draft).text.startswith("word0 word1 ")
        assert len(city.lines(plaza)) == 3
        await home.no_drafts(plaza)


async def test_a_stop_sign_on_any_message(city: Twin, tmp_path: Path) -> None:
    """One on a message that no mate heard stops what mates do in that channel, and no other."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    mall, held = city.channel("mall"), HeldClock()
    old = [await city.say(ben, place, "it rains") for place in (plaza, mall)]
    answer = ScriptedAnswer(text="hello", wait=600)
    async with lodged(city, tmp_path, {maya: "maya"}, lambda _: answer, pace=held) as home:
        await city.say(ben, plaza, "maya, hello")
        await city.until(lambda: home.models.asked)
        for line in old:
            await city.react(ben, line, "🛑")
        await city.until(lambda: "Stopped." in city.lines(plaza)[-1].text)
        await home.settled(plaza)
        assert await home.said(plaza) == []
        assert await home.room(mall) == ""
    assert [each.by for each in city.lines(mall)] == ["ben"]


async def test_a_bots_stop_sign_on_any_message(city: Twin, tmp_path: Path) -> None:
    """A stop sign that another bot puts on what no mate heard stops nothing; a person's does."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    city.bot("Beep")
    old = await city.say(ben, plaza, "it rains")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        line = await home.tell(ben, plaza, "it pours")
        await city.react("Beep", old, "🛑")
        await city.react(ben, line, "🛑")
        await city.until(lambda: "Stopped." in city.lines(plaza)[-1].text)
        ben_is = home.app.people.who("discord", str(ben.id))
        stops = [e.body.person for e in await home.events(plaza) if isinstance(e.body, Stopped)]
    assert ben_is is not None
    assert stops == [ben_is.id]


async def test_each_stop_sign_is_answered(city: Twin, tmp_path: Path) -> None:
    """What a second sign on the same message did is told as well, also soon after the first."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        line = await home.tell(ben, plaza, "it rains")
        for count, who in enumerate((ben, city.person("ann")), 2):
            await city.react(who, line, "🛑")
            await city.until(lambda: len(city.lines(plaza)) == count)  # noqa: B023


@pytest.mark.parametrize("carried", [False, True])
async def test_a_webhooks_draft_whose_posting_broke_off(
    city: Twin, tmp_path: Path, carried: bool
) -> None:
    """A draft that a webhook posted, or did not, when its call broke off ends as one message."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    script = lambda _: slowly(WORDS)  # noqa: E731
    async with lodged(city, tmp_path, {house: "*"}, script, manners=STREAM) as home:
        city.faults.fail("POST /webhooks/*/*", 502, carried=carried)
        await city.say(ben, plaza, "maya, count")
        await city.until(lambda: city.lines(plaza)[-1].text == WORDS)
        await home.delivered(plaza)
    assert city.faults.left == []
    assert [line.text for line in city.lines(plaza)] == ["maya, count", WORDS]


async def test_a_draft_of_a_line_that_was_lost(city: Twin, tmp_path: Path) -> None:
    """Where the bot was kept out of a channel in mid-answer, the draft goes once it can speak again."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    held = HeldClock()
    async with lodged(
        city, tmp_path, {maya: "maya"}, lambda _: slowly(WORDS), manners=STREAM, pace=held
    ) as home:
        await city.brings(ben, plaza, "maya, count", 2)
        held.let_go(1)
        await city.until(lambda: city.deeds("edit", place=plaza))
        room = await home.room(plaza)
        await city.forbid(maya, plaza, "view_channel")
        held.let_go()
        await home.parted(room)
        await city.allow(maya, plaza)
        await city.say(ben, plaza, "maya, again?")
        await city.until(lambda: [each.by for each in city.lines(plaza)] == ["ben", "ben", "Maya"])
        await home.no_drafts(plaza)
    assert city.lines(plaza)[-1].text == WORDS


async def test_a_spoiler_stays_covered_while_it_is_written(city: Twin, tmp_path: Path) -> None:
    """No draft shows what is hidden in the line, and no part of a long one does."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    held, secret = HeldClock(), f"||{LONG}|| that is all"
    async with lodged(
        city, tmp_path, {maya: "maya"}, lambda _: slowly(secret), manners=STREAM, pace=held
    ) as home:
        await city.brings(ben, plaza, "maya, who was it?", 2)
        held.let_go()
        await city.until(lambda: city.lines(plaza)[-1].text.endswith("that is all"))
        await home.delivered(plaza)
    shown = [deed.text for deed in city.deeds("create", "edit", place=plaza)][1:]
    assert len(shown) > 2
    for text in shown:
        assert "word" not in re.sub(r"\|\|.*?\|\|", "", text, flags=re.DOTALL)
