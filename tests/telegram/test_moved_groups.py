"""A group that becomes a supergroup keeps its room and what it is owed, whoever says so first."""

from pathlib import Path

from loopforge.core.delivery_states import Failed
from loopforge.core.room_vocabulary import Heard, PlaceJoined, PlaceLeft, Told
from loopforge.core.text.erasable_text import Words
from loopforge.io.platforms.surface_options import SurfaceOptions
from tests.telegram.city import City
from tests.telegram.homes import both, on_telegram
from tests.telegram.records import Bot, Chat, Person
from tests.telegram.twin import Twin

PLAIN = SurfaceOptions(streams=False, marks=False)


async def basic_group(city: City) -> tuple[Bot, Person, Chat]:
    """Maya and Ana in a group that is no supergroup yet."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana = await city.person("Ana", "ana")
    return maya, ana, await city.group("Lab", [ana, maya])


async def flooded(city: City) -> None:
    """Wait until Telegram has asked for patience."""

    async def asked() -> bool:
        return any(call.code == 429 for call in await city.calls("sendMessage"))

    await city.until(asked)


async def test_a_group_that_moves_is_never_in_two_places(tmp_path: Path, city: City) -> None:
    """What is said meanwhile is owed to one number alone: owed to both, it would arrive twice."""
    maya, ana, lab = await basic_group(city)
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN) as home:
        await city.say(ana, lab, "maya, one")
        await city.heard(lab, by=maya)
        told: list[list[type]] = []
        home.app.ledger.subscribe(
            lambda _, events: told.append([type(each.body) for each in events]),
            kinds=["room.place_joined", "room.place_left"],
        )
        great = await city.upgrade(lab)
        await city.say(ana, great, "maya, two")
        await city.heard(great, by=maya)
    assert told == [[PlaceJoined, PlaceLeft]]


async def test_what_waits_follows_the_group(tmp_path: Path, city: City) -> None:
    """An answer that waits while its group moves arrives under the new number, as if in time."""
    maya, ana, lab = await basic_group(city)
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN) as home:
        await city.say(ana, lab, "maya, one")
        await city.heard(lab, by=maya)
        await city.fault("sendMessage", "flood", retry_after=20)
        await city.say(ana, lab, "maya, two")
        await flooded(city)
        great = await city.upgrade(lab)
        (late,) = await city.heard(great, by=maya)
        await city.say(ana, great, "and why?", reply_to=late)
        await city.heard(great, by=maya, count=2)
        (room,) = await home.rooms()
        events = [event.body for event in await home.events(room)]
    assert late.text == "This is answer 2."
    assert [str(each.why) for each in events if isinstance(each, Failed)] == [
        "the group became another one; what is said goes on there."
    ]
    assert [each.reply_to != "" for each in events if isinstance(each, Heard)] == [
        False,
        False,
        True,
    ]
    assert not [each for each in events if isinstance(each, Told)]


async def test_what_was_changed_while_it_waited_follows_the_group(
    tmp_path: Path, city: City
) -> None:
    """Lines that wait while their group moves arrive as they were changed; deleted ones go."""
    maya, ana, lab = await basic_group(city)
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN) as home:
        await city.say(ana, lab, "maya, one")
        await city.heard(lab, by=maya)
        (room,) = await home.rooms()
        rooms = home.app.front.rooms
        ben = (await home.app.people.meet("web", "Ben")).id
        await rooms.arrive(room, ben, "Ben", "web")
        await city.fault("sendMessage", "flood", retry_after=20)
        said = [
            await rooms.hear(room, Heard(person=ben, text=Words(text), surface="web"))
            for text in ("it rains", "it hails", "it snows")
        ]
        await flooded(city)
        await rooms.edit(room, ben, said[0].id, "it pours")
        await rooms.delete(room, ben, said[1].id)
        great = await city.upgrade(lab)

        async def arrived() -> bool:
            lines = [line for line in await city.lines(great, by=maya) if not line.deleted]
            return [line.text[-8:] for line in lines] == ["it pours", "it snows"]

        await city.until(arrived)


async def test_a_group_that_moved_while_nobody_listened(
    tmp_path: Path, twin: Twin, city: City
) -> None:
    """Where only a refusal tells of the new number, the room goes along, and what is in doubt."""
    maya, ana, lab = await basic_group(city)
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN):
        await city.say(ana, lab, "maya, one")
        await city.heard(lab, by=maya)
        await city.fault("sendMessage", "flood", retry_after=600)
        await city.say(ana, lab, "maya, two")
        await flooded(city)
    great = await city.upgrade(lab)
    twin.town.accounts[maya.id].box.waiting.clear()  # Telegram keeps what it tells for a day
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN) as home:
        (word,) = await city.heard(great, by=maya)
        await city.say(ana, great, "maya, three")
        await city.heard(great, by=maya, count=2)
        (room,) = await home.rooms()
        state = await home.app.front.rooms.state(room)
    assert word.text == (
        "What Maya said did not reach Lab: the group became another one; what is said goes on "
        "there. Nobody can tell whether it arrived before that."
    )
    assert {key: str(place.name) for key, place in state.places.items()} == {
        f"telegram:{great.id}": "Lab"
    }


async def test_an_answer_to_a_command_follows_the_group(tmp_path: Path, city: City) -> None:
    """What a command comes to is said under the new number, where the group moved meanwhile."""
    maya, ana, lab = await basic_group(city)
    async with on_telegram(tmp_path, maya, city.base, manners=PLAIN):
        await city.fault("sendMessage", "flood", retry_after=20)
        await city.command(ana, lab, "energy")
        await flooded(city)
        great = await city.upgrade(lab)
        (said,) = await city.heard(great, by=maya)
    assert "lines" in said.text


async def test_who_hears_late_of_a_group_that_moved(tmp_path: Path, city: City) -> None:
    """What one of our bots is told of it after another told of the move is not heard again."""
    maya, merlin, ana, tokens = await both(city)
    lab = await city.group("Lab", [ana, maya, merlin])
    async with on_telegram(tmp_path, tokens, city.base, manners=PLAIN) as home:
        await city.say(ana, lab, "it rains")
        await home.until(home.rooms)
    await city.say(ana, lab, "it pours")
    great = await city.upgrade(lab)
    await city.fault("getUpdates", "before", bot=merlin, times=2)
    async with on_telegram(tmp_path, tokens, city.base, manners=PLAIN) as home:
        await city.say(ana, great, "it snows")

        async def told() -> bool:
            return not (await city.waiting(maya) or await city.waiting(merlin))

        await home.until(told)
        (room,) = await home.rooms()
        heard = [e.body for e in await home.events(room) if isinstance(e.body, Heard)]
    assert [str(each.text) for each in heard] == ["it rains", "it pours", "it snows"]
