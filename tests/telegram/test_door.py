"""The door of a mate on Telegram: what strangers can do there, and what is kept of them."""

from pathlib import Path

from loopforge.app import open_app
from loopforge.core.room_vocabulary import Heard
from loopforge.io.telegram.connection.rate_limit import WRONG
from loopforge.models.scripted_model import ScriptedModels
from loopforge.people.accounts.login_throttle import FREE_GUESSES
from loopforge.people.stranger_pairing import LET_IN
from loopforge.settings import load_settings
from tests.telegram.city import City
from tests.telegram.homes import Home, counting, on_telegram, pair
from tests.telegram.records import Bot
from tests.telegram.test_limits import MINUTE, Lab, lab

PAPER = ("notes.txt", b"the oven is hot")


def kept(path: Path) -> list[Path]:
    """The files that the home keeps of what people brought."""
    return [each for each in path.glob("data/artifacts/**/*") if each.is_file()]


async def test_a_stranger_links_by_a_code(tmp_path: Path, city: City) -> None:
    """A code from `/link` lets a stranger in as the person who asked for it; a wrong one does not."""
    maya = await city.bot("Maya", "maya_bot")
    ana, other = await city.person("Ana", "ana"), await city.person("Ana P", "ana_p")
    async with on_telegram(tmp_path, maya, city.base, telegram_dm="pairing") as home:
        await home.app.pairing.admit(f"telegram:{ana.id}", "")
        await city.command(ana, maya, "link")
        (offered,) = await city.heard(await city.private(ana, maya), by=maya)
        code = offered.text.partition("Your code is ")[2].partition(".")[0]
        chat = await city.private(other, maya)
        await city.command(other, maya, "link", "AAAA-AAAA")
        (wrong,) = await city.heard(chat, by=maya)
        assert wrong.text.startswith("This code links nothing")
        assert len(await home.rooms()) == 1
        await city.command(other, maya, "link", code)
        assert (await city.heard(chat, by=maya, count=2))[1].text.startswith("Done: this account")
        await city.say(other, maya, "it is me")
        assert (await city.heard(chat, by=maya, count=3))[2].text == "This is answer 1."
        known = home.app.people.who("telegram", str(other.id))
        assert known == home.app.people.who("telegram", str(ana.id))


async def test_a_stranger_is_told_once(tmp_path: Path, city: City) -> None:
    """Files and commands of a stranger bring one notice and then silence; nothing is fetched."""
    maya, ana = await pair(city)
    async with on_telegram(tmp_path, maya, city.base, telegram_dm="pairing") as home:
        chat = await city.private(ana, maya)
        await city.say(ana, maya, "read this", document=PAPER)
        (told,) = await city.heard(chat, by=maya)
        assert told.text.startswith("I do not know you yet.")
        assert await home.rooms() == []
        await city.say(ana, maya, "", document=("big.bin", b"\1" * 6_000_000))
        for command in ("help", "nonsense", "start"):
            await city.command(ana, maya, command)
        await city.say(ana, maya, "", document=PAPER)
        await home.until(lambda: nothing_waits(city, maya))
        assert await city.calls("getFile") == []
        assert kept(tmp_path) == []
        await home.app.pairing.admit(f"telegram:{ana.id}", "")
        assert (await city.heard(chat, by=maya, count=2))[1].text == LET_IN
        await city.say(ana, maya, "and now?", document=PAPER)
        assert (await city.heard(chat, by=maya, count=3))[2].text == "This is answer 1."
        assert len(kept(tmp_path)) == 1


async def test_who_was_let_in_while_the_home_was_away(tmp_path: Path, city: City) -> None:
    """They are told at its next start, once, however often it starts and whatever was deleted."""
    maya, ana = await pair(city)
    chat = await city.private(ana, maya)
    async with on_telegram(tmp_path, maya, city.base, telegram_dm="pairing") as home:
        await city.say(ana, maya, "hello")
        await city.heard(chat, by=maya)
        await home.until(lambda: nothing_waits(city, maya))
    settings = load_settings(tmp_path, environ={})
    async with open_app(settings, models=ScriptedModels(counting())) as app:
        await app.pairing.admit(f"telegram:{ana.id}", "")
    async with on_telegram(tmp_path, maya, city.base, telegram_dm="pairing") as home:
        assert (await city.heard(chat, by=maya, count=2))[1].text == LET_IN
        (room,) = await home.rooms()
        await home.app.front.closing.close_room(room, "")
    async with on_telegram(tmp_path, maya, city.base, telegram_dm="pairing") as home:
        await city.say(ana, maya, "and now?")
        assert (await city.heard(chat, by=maya, count=3))[2].text == "This is answer 1."


async def test_files_of_who_may_not_talk(tmp_path: Path, city: City) -> None:
    """In a group the files of somebody who may not talk there are not kept; their words are heard."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana, owner = await city.person("Ana", "ana"), await city.person("Olga", "olga")
    lab = await city.supergroup("Lab", [owner, ana, maya])
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, lab, "hello")
        await heard(home, 1)
        (room,) = await home.rooms()
        await home.app.front.commands.act(room, "", "rights", "everyone stop")
        await city.say(ana, lab, "see", document=PAPER)
        assert [(str(one.text), one.files) for one in await heard(home, 2)][1:] == [("see", ())]
        assert kept(tmp_path) == []


async def nothing_waits(city: City, bot: Bot) -> bool:
    """Whether a bot was given everything that was said to it."""
    return not await city.waiting(bot)


async def heard(home: Home, count: int) -> list[Heard]:
    """What was heard in the only room, once it is so much."""

    async def found() -> list[Heard]:
        rooms = await home.rooms()
        events = await home.events(rooms[0]) if rooms else []
        lines = [event.body for event in events if isinstance(event.body, Heard)]
        return lines if len(lines) >= count else []

    lines: list[Heard] = await home.until(found)
    return lines


async def test_wrong_codes_are_answered_a_few_times(tmp_path: Path) -> None:
    """Sixty wrong codes bring five answers and one word on when to go on; then silence till then."""
    async with lab(tmp_path, "private") as there:
        city, other = there.city, await there.city.person("Olga", "olga")
        chat = await city.private(other, there.maya)
        for _ in range(60):
            await city.command(other, there.maya, "link", "AAAA-AAAA")
        await settled(there)
        said = [line.text for line in await city.lines(chat, by=there.maya)]
        assert [text.partition(":")[0] for text in said[:FREE_GUESSES]] == [
            "This code links nothing"
        ] * FREE_GUESSES
        (word,) = said[FREE_GUESSES:]
        assert word.startswith(f"The code was wrong {FREE_GUESSES} times in a row. Wait ")
        await there.clock.advance(60)
        await city.command(other, there.maya, "link", "AAAA-AAAA")
        await settled(there)
        assert len(await city.lines(chat, by=there.maya)) == FREE_GUESSES + 2


async def test_wrong_codes_of_many_leave_the_bot_to_others(tmp_path: Path) -> None:
    """However many accounts type wrong codes, a minute's answers to that are few; talk goes on."""
    async with lab(tmp_path, "private") as there:
        city = there.city
        before = there.twin.town.floods.refused
        for n in range(60):
            stranger = await city.person(f"Stranger {n}", f"stranger{n}")
            await city.command(stranger, there.maya, "link", "AAAA-AAAA")
        await city.say(there.ana, there.chat, "are you there?")
        await there.until(2)
        assert len(await city.lines(by=there.maya)) == 2 + WRONG
        assert there.twin.town.floods.refused == before
        await there.clock.advance(MINUTE)
        assert len(await city.lines(by=there.maya)) == 2 + WRONG
        await city.command(there.ben, there.maya, "link", "AAAA-AAAA")
        await settled(there)
        assert len(await city.lines(by=there.maya)) == 3 + WRONG


async def settled(there: Lab) -> None:
    """Let simulated time go on until the bot was given everything and nobody is owed an answer."""
    while await there.city.waiting(there.maya):
        await there.clock.advance(0.5)
    await there.clock.advance(8)


async def test_a_code_said_in_a_group_is_spent(tmp_path: Path, city: City) -> None:
    """A code that others in a group can read links nothing any more, and who said it is told."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana, other = await city.person("Ana", "ana"), await city.person("Olga", "olga")
    lab = await city.supergroup("Lab", [ana, other, maya])
    async with on_telegram(tmp_path, maya, city.base) as home:
        known = await home.app.people.meet("telegram", str(ana.id), "Ana")
        code = await home.app.linking.offer_code(known.id)
        await city.say(ana, lab, f"look, I am {code} here")
        (told,) = await city.heard(lab, by=maya)
        assert "links nothing any more" in told.text
        await city.command(other, maya, "link", code)
        (wrong,) = await city.heard(await city.private(other, maya), by=maya)
        assert wrong.text.startswith("This code links nothing")


async def test_a_code_is_spent_by_an_edit_and_where_no_mate_talks(
    tmp_path: Path, city: City
) -> None:
    """Of a code that an edit shows, or that is said in a group that is not served, people are told."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana = await city.person("Ana", "ana")
    lab = await city.supergroup("Lab", [ana, maya])
    async with on_telegram(tmp_path, maya, city.base, telegram_groups="known") as home:
        web = await home.app.people.meet("web", "olga", "Olga")
        line = await city.say(ana, lab, f"is it {await home.app.linking.offer_code(web.id)}?")
        (told,) = await city.heard(lab, by=maya)
        assert "links nothing any more" in told.text
        await city.edit(ana, line, f"or {await home.app.linking.offer_code(web.id)}?")
        (_, told) = await city.heard(lab, by=maya, count=2)
        assert "links nothing any more" in told.text
