"""One account that is there for many mates, which speak by webhook, each under its own name."""

import base64
import re
from hashlib import sha256
from pathlib import Path

import pytest

from loopforge.artifacts.avatar_upload import shrink_avatar
from loopforge.core.mates.mate_colours import default_colour
from loopforge.core.room_vocabulary import LineDeleted, LineEdited, Told
from loopforge.mates.cards.avatar_image import draw_avatar
from loopforge.models.scripted_model import ScriptedAnswer
from tests.discord.lodging import STREAM, WORDS, lodged
from tests.discord.twin import Twin
from tests.held_clock import HeldClock
from tests.rooms.conftest import write_mates


def face_of(mate: str, colour: str = "") -> str:
    """The mark by which the city knows a mate's picture."""
    data = base64.b64encode(draw_avatar(mate, colour or default_colour(mate))).decode()
    return sha256(f"data:image/png;base64,{data}".encode()).hexdigest()[:32]


async def test_mates_of_a_shared_bot_have_names_of_their_own(city: Twin, tmp_path: Path) -> None:
    """Who is named answers under their own name and face, by a webhook each; none is heard."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {house: "*"}) as home:
        await city.brings(ben, plaza, "maya, hello", 2)
        await home.settled(plaza)
        await city.brings(ben, plaza, "merlin, hello", 4)
        await home.settled(plaza)
        assert await home.heard(plaza) == ["maya, hello", "merlin, hello"]
        assert await home.said(plaza) == ["maya", "merlin"]
    answers = city.lines(plaza)[1::2]
    assert [line.by for line in answers] == ["Maya", "Merlin"]
    assert len({line.webhook for line in answers} - {None}) == 2
    assert [line.avatar for line in answers] == [face_of("maya"), face_of("merlin")]
    made = [hook.name for hook in city.town.webhooks.values()]
    assert [re.sub(" [0-9a-f]{6}$", "", name) for name in made] == [
        "Loopforge maya",
        "Loopforge merlin",
    ]


async def test_a_face_that_changes(city: Twin, tmp_path: Path) -> None:
    """With another colour it gets its picture once, on its webhook, which a restart finds again."""
    fox = "---\nname: Fox\nface: 🦊\ncolour: '{}'\n---\nYou are Fox.\n"
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    for colour in ("#aa5500", "#0055aa", "#0055aa"):
        write_mates(tmp_path, (), fox=fox.format(colour))
        async with lodged(city, tmp_path, {house: "*"}) as home:
            count = len(city.lines(plaza)) + 2
            await city.say(ben, plaza, f"fox, hello {count}")
            await city.until(lambda count=count: len(city.lines(plaza)) == count)  # type: ignore[misc]
            await home.delivered(plaza)
            assert len(await home.heard(plaza)) == count / 2
        (hook,) = city.town.webhooks.values()
        assert city.town.users[hook.id].avatar == face_of("fox", colour)
    assert [call.status for call in city.calls if call.method == "PATCH"] == [200]
    assert [line.by for line in city.lines(plaza)[1::2]] == ["Fox"] * 3
    assert city.doubled(plaza) == []


async def test_a_picture_that_was_given(city: Twin, tmp_path: Path) -> None:
    """A mate that was given a picture shows it on its webhook from its next line on."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {house: "*"}) as home:
        await city.brings(ben, plaza, "maya, hello", 2)
        small = await shrink_avatar(draw_avatar("zuzu", "#aa5500"))
        kept = await home.app.artifacts.put(small)
        await home.app.accounts.pictures.give("mate:maya", kept, "")
        data = base64.b64encode(await home.app.portraits.picture("maya", "")).decode()
        await city.brings(ben, plaza, "maya, again", 4)
        await home.delivered(plaza)
    mark = sha256(f"data:image/png;base64,{data}".encode()).hexdigest()[:32]
    (hook,) = city.town.webhooks.values()
    assert city.town.users[hook.id].avatar == mark != face_of("maya")


@pytest.mark.parametrize("others", [0, 12])
async def test_where_no_face_can_be_had(city: Twin, tmp_path: Path, others: int) -> None:
    """Where a face is refused, or others' webhooks leave little room, its emoji is in the name."""
    write_mates(tmp_path, (), fox="---\nname: Fox\nface: 🦊\n---\nYou are Fox.\n")
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    for n in range(others):
        city.town.create_webhook(plaza.id, f"news {n}", ben.id)
    if not others:
        city.faults.refuse("POST /channels/*/webhooks", 50035, 400, "Invalid Form Body", times=1)
    async with lodged(city, tmp_path, {house: "*"}):
        await city.brings(ben, plaza, "fox, hello", 2)
    assert city.lines(plaza)[-1].by == "Fox 🦊"
    assert [hook.name for hook in city.town.webhooks.values()][others:] == ["Loopforge"]
    assert city.faults.left == []


async def test_webhooks_take_turns_too(city: Twin, tmp_path: Path) -> None:
    """Every call that Discord counts took a turn of its account, those by webhooks among them."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {house: "*"}) as home:
        for mate in ("Maya", "Merlin"):
            await city.say(ben, plaza, f"{mate}, hello")
            await city.until(lambda name=mate: city.lines(plaza)[-1].by == name)  # type: ignore[misc]
            await home.rests(plaza)
        assert [call for call in city.calls if call.path.startswith("/webhooks/")]
        await city.until(  # a call may have its turn and be on its way
            lambda: home.surface.turns == [len(city.calls) + len(city.identified)]
        )


async def test_a_webhook_whose_making_fails_once(city: Twin, tmp_path: Path) -> None:
    """What fails on Discord's side is tried with the next line; a call that broke off makes one."""
    house, ben = city.bot("House"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    making = "POST /channels/*/webhooks"
    async with lodged(city, tmp_path, {house: "*"}) as home:
        city.faults.fail(making, 503)
        for place, count in ((plaza, 2), (plaza, 4), (mall, 2)):
            if place is mall:
                city.faults.lose(making, carried=True)
            await city.say(ben, place, f"maya, hello {count}")
            await city.until(lambda place=place, n=count: len(city.lines(place)) == n)  # type: ignore[misc]
            await home.delivered(place)
    names = {hook.id: hook.name.split()[1:2] for hook in city.town.webhooks.values()}
    spoke = [names[line.webhook] for line in city.lines() if line.webhook is not None]
    assert spoke == [[], ["maya"], ["maya"]]
    assert len(names) == 3
    assert city.faults.left == []


async def test_eight_webhooks_of_ours_at_most(city: Twin, tmp_path: Path) -> None:
    """Seven mates have a face of their own; the eighth speaks by the webhook that all share."""
    names = [f"m{n}" for n in range(8)]
    files = {n: f"---\nname: {n.upper()}\nface: 🦊\n---\nYou are {n}.\n" for n in names}
    write_mates(tmp_path, (), **files)
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {house: "*"}) as home:
        for n, name in enumerate(names):
            await city.say(ben, plaza, f"{name}, hello")
            await city.until(lambda n=n: len(city.lines(plaza)) == 2 * n + 2)  # type: ignore[misc]
            await home.delivered(plaza)
    spoke = [line.by for line in city.lines(plaza)[1::2]]
    assert spoke == ["M0", "M1", "M2", "M3", "M4", "M5", "M6", "M7 🦊"]
    assert len(city.town.webhooks) == 8


async def test_where_people_made_room_a_mate_has_its_own_webhook(
    city: Twin, tmp_path: Path
) -> None:
    """Without a restart: Discord tells that a channel has other webhooks now."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    full = [city.town.create_webhook(plaza.id, f"other {n}", ben.id).id for n in range(12)]
    async with lodged(city, tmp_path, {house: "*"}) as home:
        await home.ask(ben, plaza, "maya, hello")
        city.town.delete_webhook(full[0])
        city.town.delete_webhook(full[1])
        await city.say(ben, plaza, "good morning")
        await home.hears(plaza, "maya, hello", "good morning")  # by then the bot was told
        await home.ask(ben, plaza, "maya, again")
    shared, own = (line.webhook for line in city.lines(plaza) if line.webhook)
    assert [city.town.webhooks[one].name.split()[1:2] for one in (shared, own)] == [[], ["maya"]]


async def test_a_webhook_that_people_took_away(city: Twin, tmp_path: Path) -> None:
    """A webhook that was deleted is made again, and the line it was to say is said once."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {house: "*"}) as home:
        await home.ask(ben, plaza, "maya, hello")
        (gone,) = city.town.webhooks
        city.town.delete_webhook(gone)
        await home.ask(ben, plaza, "maya, again")
    assert [line.by for line in city.lines(plaza)] == ["ben", "Maya", "ben", "Maya"]
    assert gone not in city.town.webhooks


async def test_mentioning_the_shared_bot(city: Twin, tmp_path: Path) -> None:
    """A mention of the bot means the mate that is named beside it."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {house: "*"}) as home:
        await city.say(ben, plaza, f"{house.mention} is merlin there?")
        await city.until(lambda: len(city.lines(plaza)) == 2)
        assert await home.heard(plaza) == ["@Merlin is merlin there?"]
    assert city.lines(plaza)[-1].by == "Merlin"


async def test_in_a_thread_the_webhook_speaks_in_the_thread(city: Twin, tmp_path: Path) -> None:
    """In a thread mates speak by the webhook of its channel, in the thread."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {house: "*"}):
        root = await city.say(ben, plaza, "a walk?")
        walk = await city.thread(ben, plaza, "walking", on=root)
        await city.say(ben, walk, "maya, where to?")
        await city.until(lambda: city.lines(walk)[-1].by == "Maya")
    assert [line.by for line in city.lines(plaza)] == ["ben"]


@pytest.mark.parametrize("place", ["private", "channel"])
async def test_where_no_webhooks_are_names_stand_before_the_words(
    city: Twin, tmp_path: Path, place: str
) -> None:
    """In private, and where the bot may not have webhooks, a mate's name is before what it says."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    await city.forbid(house, plaza, "manage_webhooks")
    there = plaza if place == "channel" else city.private(ben, house)
    async with lodged(city, tmp_path, {house: ("maya", "merlin")}):
        await city.brings(ben, there, "merlin, psst", 2)
    assert city.lines(there)[-1].text.startswith("**Merlin:** ")


async def test_what_is_said_elsewhere_comes_under_that_persons_name(
    city: Twin, tmp_path: Path
) -> None:
    """What a person says in another place of the room is shown under their name, with a hint."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.join(plaza, mall)
        line = await city.say(ben, plaza, "@here bread!")
        await city.until(lambda: len(city.lines(mall)) == 1)
        shown = city.lines(mall)[0]
        await home.delivered(plaza)
        await city.edit(ben, line, "cake!")
        await city.until(lambda: city.lines(mall)[0].text == "cake!")
        await city.delete(ben, line)
        await city.until(lambda: all(each.webhook is None for each in city.lines(mall)))
        assert len(await home.heard(plaza)) == 2
    assert shown.by == "ben (plaza)"
    assert "bread!" in shown.text
    assert "@here" not in shown.text


async def test_a_line_is_changed_by_the_webhook_that_said_it(city: Twin, tmp_path: Path) -> None:
    """A line that another bot's webhook showed is changed and taken away by that one."""
    maya, merlin, ben = city.bot("Maya"), city.bot("Merlin"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {maya: "maya", merlin: "merlin"}) as home:
        await home.join(plaza, mall)
        bread, salt = await city.say(ben, plaza, "bread!"), await city.say(ben, plaza, "salt!")
        await city.until(lambda: len(city.lines(mall)) == 2)
        await home.delivered(plaza)
    async with lodged(city, tmp_path, {merlin: "merlin", maya: "maya"}) as home:
        await city.edit(ben, bread, "cake!")
        await city.delete(ben, salt)
        await city.until(lambda: [line.text for line in city.lines(mall)] == ["cake!"])
        await city.say(ben, plaza, "tea!")
        await city.until(lambda: city.lines(mall)[-1].text == "tea!")
        await home.delivered(plaza)
    assert len({line.webhook for line in city.lines(mall)}) == 2


@pytest.mark.parametrize("may", [True, False])
async def test_a_draft_whose_webhook_people_took_away(
    city: Twin, tmp_path: Path, may: bool
) -> None:
    """The bot takes it away, if it may; the line is said all the same, once."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    answer, held = ScriptedAnswer(text=WORDS, pieces=4, pause=1), HeldClock()
    if not may:
        await city.forbid(house, plaza, "manage_messages")
    async with lodged(
        city, tmp_path, {house: "*"}, lambda _: answer, manners=STREAM, pace=held
    ) as home:
        await city.brings(ben, plaza, "maya, hello", 2)
        for each in list(city.town.webhooks):
            city.town.delete_webhook(each)
        held.let_go()
        await city.until(lambda: city.lines(plaza)[-1].text == WORDS)
        await home.delivered(plaza)
    drafts = [line for line in city.lines(plaza) if line.text.endswith(" ▌")]
    assert [line.text for line in city.lines(plaza) if line not in drafts] == ["maya, hello", WORDS]
    assert len(drafts) == (0 if may else 1)


@pytest.mark.parametrize("there", [True, False])
async def test_a_draft_of_an_earlier_version_goes(city: Twin, tmp_path: Path, there: bool) -> None:
    """A draft that a webhook left behind goes, by that webhook or, where it is gone, by the bot."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {house: "*"}) as home:
        await home.ask(ben, plaza, "maya, hello")
    old = city.town.create_webhook(plaza.id, "Loopforge", house.id)
    city.town.owners[old.id] = house
    city.town.create_message(plaza.id, old.webhook_user_id, "I was sa ▌", webhook_id=old.id)
    if not there:
        city.town.delete_webhook(old.id)
    async with lodged(city, tmp_path, {house: "*"}):
        await city.until(lambda: len(city.lines(plaza)) == 2)


@pytest.mark.parametrize("moved", [True, False])
@pytest.mark.parametrize("may", [True, False])
async def test_what_a_webhook_said_that_people_took_away(
    city: Twin, tmp_path: Path, may: bool, moved: bool
) -> None:
    """It is taken away by the bot, and cannot be changed: what is not done there is told."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall, alley = city.channel("plaza"), city.channel("mall"), city.channel("alley")
    if not may:
        await city.forbid(maya, mall, "manage_messages")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.join(plaza, mall)
        bread, salt = await city.say(ben, plaza, "bread!"), await city.say(ben, plaza, "salt!")
        await city.until(lambda: len(city.lines(mall)) == 2)
        await home.delivered(plaza)
        for each in list(city.town.webhooks.values()):
            if moved:
                each.channel_id = alley.id
            else:
                city.town.delete_webhook(each.id)
        await city.delete(ben, salt)
        await home.eventually(plaza, LineDeleted)
        await home.delivered(plaza)
        await city.edit(ben, bread, "cake!")
        await home.eventually(plaza, LineEdited)
        await home.delivered(plaza)
        told = [str(e.body.text) for e in await home.events(plaza) if isinstance(e.body, Told)]
    left = [] if may else ["salt!"]
    assert [line.text for line in city.lines(mall)] == ["bread!", *left]
    assert told[-1].startswith("What ben changed did not reach #mall: it was said by a webhook")
    assert may or told[0].startswith("What somebody deleted did not reach #mall: the bot may not")


async def test_a_webhook_that_was_moved(city: Twin, tmp_path: Path) -> None:
    """What is said by one that somebody moved to another channel does not stay there."""
    house, ben = city.bot("House"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {house: "*"}) as home:
        await city.brings(ben, plaza, "maya, hello", 2)
        await home.settled(plaza)
        (hook,) = city.town.webhooks.values()
        hook.channel_id = mall.id
        await city.brings(ben, plaza, "maya, and now?", 4)
        await home.settled(plaza)
    assert [line.by for line in city.lines(plaza)] == ["ben", "Maya", "ben", "Maya"]
    assert city.lines(mall) == []


async def test_a_webhook_that_was_moved_away_from_a_thread(city: Twin, tmp_path: Path) -> None:
    """It is told that there is no such thread; another one speaks there, and the room keeps it."""
    house, ben = city.bot("House"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    walk = await city.thread(ben, plaza, "walking")
    async with lodged(city, tmp_path, {house: "*"}) as home:
        await home.ask(ben, walk, "maya, hello")
        room = await home.room(walk)
        (hook,) = city.town.webhooks.values()
        hook.channel_id = mall.id
        await home.ask(ben, walk, "maya, and now?")
        assert await home.room(walk) == room
    assert [line.by for line in city.lines(walk)] == ["ben", "Maya", "ben", "Maya"]
    assert city.lines(mall) == []


async def test_a_thread_that_is_gone(city: Twin, tmp_path: Path) -> None:
    """Where its webhook is in its place, it leaves the room, though nobody told that it is gone."""
    house, ben = city.bot("House"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    walk = await city.thread(ben, plaza, "walking")
    async with lodged(city, tmp_path, {house: "*"}) as home:
        await home.ask(ben, walk, "maya, hello")
        await home.join(mall, walk)
        room = await home.room(mall)
        city.faults.drop("THREAD_DELETE")
        await city.delete_channel(walk)
        await city.say(ben, mall, "anybody?")
        await home.parted(room)
        assert await home.room(walk) == ""
        assert await home.room(mall) == room
