"""Commands of a living room: what they change, and what they tell to whom."""

import pytest

from loopforge.chat.commands.command_catalogue import BY_NAME, COMMANDS, help_text
from loopforge.chat.commands.command_request import CommandRequest
from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.chat.turns import room_titles
from loopforge.core.memory.memory_vocabulary import MACHINE
from loopforge.core.room_vocabulary import Said, TalkSet
from loopforge.errors import BadLine, InputError, LoopforgeError, Unknown
from tests.rooms.conftest import Home


async def test_every_command_of_the_menu_does_something(home: Home) -> None:
    """Each one answers, or says in a sentence what is missing."""
    await home.hears("ana", "@maya hello")
    for command in COMMANDS:
        try:
            told = await home.does("ana", command.name)
        except LoopforgeError as error:
            told = str(error)
        assert told, command.name
    with pytest.raises(InputError, match="Say what is meant: /triggers MATE"):
        await home.does("ana", "triggers")
    with pytest.raises(Unknown, match="Known: stop"):
        await home.does("ana", "dance")


async def test_a_command_is_no_longer_than_a_line(home: Home) -> None:
    """What is typed after it is read by many patterns: a form of a page holds a megabyte."""
    await home.hears("ana", "hello")
    when = "in 5 minutes: " + "\ufdfa" * 8000
    with pytest.raises(BadLine, match="/remind was given 8,014 characters; a line may have 8,000"):
        await home.does("ana", "remind", when)


async def test_a_zone_of_very_many_parts_is_none(home: Home) -> None:
    """Python looks for each part of it in the one before, until it can no more."""
    await home.enter("ana")
    with pytest.raises(InputError, match="No time zone is called 'a/a/a"):
        await home.does("ana", "zone", "a/" * 2000 + "b")


async def test_help_names_every_command_with_what_it_takes(home: Home) -> None:
    """It is made from the menu."""
    await home.enter("ana")
    told = await home.does("ana", "help")
    assert told == help_text()
    for command in COMMANDS:
        assert f"/{command.name}" in told
        assert command.help in told


async def test_status_tells_how_the_room_stands(home: Home) -> None:
    """Who is here, with which model, the energy, what is running, what is on its way."""
    await home.enter("ana")
    await home.app.front.rooms.join_place(
        ChannelSpot("discord:7", "general", "group"), (), home.room
    )
    await home.hears("ana", "@maya hello")
    told = await home.does("ana", "status")
    assert "People here: ana." in told
    assert "Maya (scripted)" in told
    assert "of 6 lines" in told
    assert "Thinking: nobody." in told
    assert "Part of this room: general on Discord." in told
    assert len(await home.app.ledger.outbox()) > 2
    assert "On its way: 2 deliveries." in told
    record = await home.does("ana", "why")
    assert "general on Discord queued" in record
    assert "discord:7" not in record
    await home.says("ana", "Maya, stop!")
    assert "Stopped" in await home.does("ana", "status")


async def test_model_tells_who_thinks_with_what(home: Home) -> None:
    """By mate; the owner also, where that is set. A mate that is not here is Unknown."""
    await home.enter("ana")
    told = await home.does("ana", "model")
    assert "Maya: scripted\n" in told
    assert "The owner of this home chooses them." in told
    told = await home.app.front.commands.act(home.room, home.people["ana"], "model", "", owner=True)
    assert "Maya: scripted (its file asks for tier 1)" in told
    assert "set in its file" in told
    assert "Merlin" not in await home.does("ana", "model", "@Maya")
    with pytest.raises(Unknown):
        await home.does("ana", "model", "otto")


async def test_usage_adds_up_this_room_by_mate(home: Home) -> None:
    """Today and this month; nothing of another room, but for oneself."""
    await home.enter("ana")
    assert "nothing was asked" in await home.does("ana", "usage")
    await home.hears("ana", "@maya hello")
    told = await home.does("ana", "usage")
    assert "In this room, today:\n  Maya: " in told
    assert "In this room, this month:\n  Maya: " in told
    assert "$0.00" in told
    await home.app.front.rooms.enter("other", "ana", "terminal")
    elsewhere = await home.app.front.commands.act("other", home.people["ana"], "usage", "")
    assert "Maya" not in elsewhere


async def test_why_tells_of_the_last_line_that_the_asker_may_see(home: Home) -> None:
    """Without a line the last one of a mate; by number or id this one; nothing from before."""
    await home.hears("ana", "@maya my first word")
    front = home.app.front
    told = await home.does("ana", "why")
    assert "my first word" in told
    assert told.startswith("Maya,")
    seq = next(e.seq for e in await home.events() if e.kind == "room.said")
    assert await home.does("ana", "why", f"#{seq}") == told
    await front.bring(home.room, home.people["ana"], "ben", "Ben")
    with pytest.raises(Unknown, match="that you may see"):
        await front.commands.act(home.room, "ben", "why", "")
    with pytest.raises(Unknown):
        await front.commands.act(home.room, "ben", "why", f"#{seq}")
    await home.hears("ana", "@merlin and my second")
    seen = await front.commands.act(home.room, "ben", "why", "")
    assert seen.startswith("Merlin,")
    assert "my first word" not in seen


async def test_what_is_chosen_here_is_given_back_to_the_files(home: Home) -> None:
    """Policies and triggers of a room go back to what mates' files say, by the word own."""
    await home.enter("ana")
    assert (
        await home.does("ana", "policy", "own") == "From now on each mate's own policy runs here."
    )
    await home.does("ana", "policy", "chain")
    await home.does("ana", "policy", "stub maya")
    told = await home.does("ana", "policy", "own maya")
    assert told == "From now on chain runs here for maya."
    assert (await home.app.rooms.state(home.room)).policy("maya") == "chain"
    await home.does("ana", "policy", "own")
    assert (await home.app.rooms.state(home.room)).policy("maya") == ""
    assert "each mate's own" in await home.does("ana", "policy")
    await home.does("ana", "triggers", "maya mention")
    told = await home.does("ana", "triggers", "maya own")
    assert told == "maya is called here by: what its file says."
    assert await home.does("ana", "triggers", "maya") == told
    assert (await home.app.rooms.state(home.room)).triggers == {}


async def test_mate_talk_and_rights_are_set_and_told(home: Home) -> None:
    """Each says how things stand, and changes it for who may."""
    await home.enter("ana", "ben")
    assert "Nobody in particular answers" in await home.does("ana", "mate")
    assert await home.does("ana", "mate", "Merlin") == (
        "Merlin answers lines that name no mate; what people say among themselves calls nobody. "
        "Mates here: Maya, Merlin, Zuzu."
    )
    assert (await home.app.rooms.state(home.room)).default_mate == "merlin"
    assert "Nobody in particular" in await home.does("ana", "mate", "none")
    assert "without being called" in await home.does("ana", "talk")
    assert "only when they are called" in await home.does("ana", "talk", "called")
    assert any(isinstance(e.body, TalkSet) and not e.body.free for e in await home.events())
    told = await home.does("ana", "rights", "ben talk tools:clock")
    assert told == "ben may be answered by mates and have mates use the tools clock."
    assert told in await home.does("ana", "rights")
    with pytest.raises(InputError, match="for everybody here"):
        await home.does("ben", "title", "Mine")
    assert "do nothing here but read" in await home.does("ana", "rights", "everyone none")
    for wrong in ("nobody talk", "ben", "ben fly", "ben talk fly"):
        with pytest.raises(InputError):
            await home.app.front.commands.act(home.room, "", "rights", wrong)


async def test_a_code_links_accounts(home: Home) -> None:
    """Asked without a code it gives one; with one, the account that types it becomes that person."""
    await home.enter("ana")
    told = await home.does("ana", "link")
    code = told.removeprefix("Your code is ").partition(". Where")[0]
    people = home.app.people
    with pytest.raises(InputError, match="typed where the other account is"):
        await home.does("ana", "link", code)
    other = await people.meet("discord", "4711", "Ana of Discord")
    await home.app.front.rooms.arrive(home.room, other.id, "Ana of Discord", "discord")
    asked = CommandRequest(
        room=home.room, person=other.id, argument=code, surface="discord", account="4711"
    )
    done = await home.app.front.commands.carry_out("link", asked)
    assert "one person now" in done
    known = people.who("discord", "4711")
    assert known is not None
    assert known.id == home.people["ana"]


async def test_arguments_are_completed(home: Home) -> None:
    """Mates, policies, people, words of talk, and the lines that one may see, newest first."""
    await home.hears("ana", "@maya the first")
    front, ana = home.app.front, home.people["ana"]
    complete = front.commands.complete
    assert await complete(home.room, ana, "remove", "Mer") == ["merlin"]
    assert "talk" in await complete(home.room, ana, "policy", "")
    assert await complete(home.room, ana, "talk", "c") == ["called"]
    assert await complete(home.room, ana, "rights", "an") == ["ana"]
    assert await complete(home.room, ana, "stop", "") == []
    lines = await complete(home.room, ana, "keep", "first")
    assert lines[-1].endswith("ana: @maya the first")
    assert await home.does("ana", "keep", lines[-1].partition(" ")[0])
    await front.bring(home.room, ana, "ben", "Ben")
    assert await complete(home.room, "ben", "why", "") == []
    assert await complete(home.room, ana, "mate", "new") == []
    assert await complete(home.room, ana, "mate", "new", owner=True) == ["new"]
    assert await complete(home.room, ana, "mate", "edit m", owner=True) == [
        "edit maya",
        "edit merlin",
    ]


async def test_what_is_offered_to_whom_nobody_knows(home: Home) -> None:
    """In a place of no room, or to somebody who is not in it: mates and words, no line, no name."""
    complete = home.app.front.commands.complete
    assert await complete("", "", "add", "may") == ["maya"]
    assert await complete("", "", "remove", "", mates=("zuzu",)) == ["zuzu"]
    assert await complete("", "", "why", "") == []
    await home.hears("ana", "@maya the first")
    for person in ("", "p-somebody"):
        assert "maya" in await complete(home.room, person, "model", "")
        assert await complete(home.room, person, "why", "") == []
        assert await complete(home.room, person, "rights", "an") == []


async def test_after_a_new_beginning_why_offers_what_mates_said_before(home: Home) -> None:
    """Lines of mates of the conversation before, without those that were deleted."""
    for text in ("@maya the first", "@zuzu the second"):
        await home.hears("ana", text)
    await home.does("ana", "new")
    ana = home.people["ana"]
    newest, oldest = await home.app.front.commands.complete(home.room, ana, "why", "")
    assert " Zuzu: " in newest
    assert " Maya: " in oldest
    assert "Maya" in await home.does("ana", "why", oldest)
    assert await home.app.front.commands.complete(home.room, ana, "keep", "") == []
    *_, line = (e for e in await home.events() if isinstance(e.body, Said))
    await home.app.front.rooms.delete(home.room, "", line.id)
    assert await home.app.front.commands.complete(home.room, ana, "why", "") == [oldest]


def test_every_command_says_for_whom_its_answer_is() -> None:
    """What changes the room is told to all of it, what only tells to whoever asked."""
    for name, command in BY_NAME.items():
        assert command.name == name
        assert not (command.private and command.right == "change")


def test_commands_can_be_offered_on_platforms() -> None:
    """Names, and those of arguments, are of letters; a description fits into a hundred characters."""
    for command in COMMANDS:
        first, *_ = command.argument.strip("[]").replace("[", "").split() or ["none"]
        assert first.isalpha(), command.name
        assert command.name.isalpha()
        assert command.name.islower()
        assert 0 < len(command.help) <= 100


async def test_the_owner_makes_mates_where_people_talk(home: Home) -> None:
    """/mate new makes a mate that is here at once, /mate edit gives it another character, and its lore stays."""
    front, ana = home.app.front, home.people.get("ana") or (await _ana(home))
    with pytest.raises(InputError, match="for the owner of this home"):
        await front.commands.act(home.room, ana, "mate", "new Bruno baker")
    made = await front.commands.act(home.room, ana, "mate", "new Bruno baker of bread", owner=True)
    assert made.startswith("Bruno is made, and is here now.")
    assert "bruno" in (await front.rooms.state(home.room)).mates
    told = await front.commands.act(home.room, ana, "mate", "edit bruno\nYou knead.", owner=True)
    assert told.startswith("Bruno has another character")
    mate = home.app.roster.get("bruno")
    assert (mate.prompt, mate.role) == ("You knead.", "baker of bread")
    assert len(await home.app.chronicle.versions("bruno")) == 2
    assert "You knead." in await front.commands.act(
        home.room, ana, "mate", "edit bruno", owner=True
    )
    file = home.path / "mates" / "bruno.md"
    file.write_text(f"{file.read_text()}\n## Lore\n\n### dough\nIt rests.\n")
    await home.app.chronicle.look()
    await front.commands.act(home.room, ana, "mate", "edit bruno\nYou bake.", owner=True)
    mate = home.app.roster.get("bruno")
    assert (mate.prompt, [entry.text for entry in mate.lore]) == ("You bake.", ["It rests."])


async def test_the_owner_forks_a_mate_where_people_talk(home: Home) -> None:
    """/mate fork makes two of one; both are here, others may not, and a name is needed."""
    front, ana = home.app.front, home.people.get("ana") or (await _ana(home))
    act = front.commands.act
    with pytest.raises(InputError, match="for the owner of this home"):
        await act(home.room, ana, "mate", "fork merlin Myrddin")
    with pytest.raises(InputError, match="what the new one is called"):
        await act(home.room, ana, "mate", "fork merlin", owner=True)
    with pytest.raises(InputError, match="There is a mate called"):
        await act(home.room, ana, "mate", "fork merlin Merlin", owner=True)
    made = await act(home.room, ana, "mate", "fork merlin Myrddin the Second", owner=True)
    assert made.startswith("Myrddin the Second is made as merlin is, and is here now.")
    assert "myrddin-the-second" in (await front.rooms.state(home.room)).mates
    (change,) = await home.app.growth.changes.changes("myrddin-the-second")
    assert (change.kind, change.by) == ("forked", ana)


async def _ana(home: Home) -> str:
    await home.enter("ana")
    return home.people["ana"]


async def test_a_title_that_the_machine_gave_stays(home: Home) -> None:
    """Somebody at the machine is a person too: the room does not name itself anew."""
    await home.hears("ana", "@maya hello")
    assert await home.does("", "title", "Kitchen") == "The room is called Kitchen."
    state = await home.app.rooms.state(home.room)
    assert (str(state.title), state.titled_by) == ("Kitchen", MACHINE)
    assert room_titles.due(state) == ""
