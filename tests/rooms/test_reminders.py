"""Reminders ring once, when they are due, where the person is; routines wake their mate."""

import asyncio
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from loopforge.chat.reminders.reminder_service import ReminderRequester
from loopforge.core.effect_states import EffectReturned
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import MateLeft, PlaceJoined, Said, Told
from loopforge.core.schedule.reminder_events import ReminderFired, ReminderSet
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Perceived
from loopforge.errors import InputError
from loopforge.models.scripted_model import Script
from loopforge.runtime.ports import Question
from loopforge.schedule.reminder_form import Fits, ReminderForm
from tests.rooms.conftest import Home, living, write_mates
from tests.sim_clock import SimClock

MAYA = "---\nname: Maya\nrole: r\ntools: [remind]\n---\nYou are Maya."
NOW = datetime(2026, 3, 25, 14, 0, tzinfo=UTC)


def minding(form: Mapping[str, object]) -> Script:
    """A mind that fills this form when it is asked to remind, and says what came of it."""

    def think(question: Question) -> dict[str, object]:
        results = [text for _, text in question.messages if "[result of remind" in text]
        if results:
            return {"say": results[-1][-150:]}
        if "remind" in str(question.messages):
            return {"say": "", "tool": "remind", "arguments": json.dumps(form)}
        return {"say": "Hello."}

    return think


async def passes(home: Home, span: timedelta) -> None:
    """So much time goes by, and what is due in it happens."""
    end = home.clock.now() + span
    while home.clock.now() < end:
        task = asyncio.ensure_future(  # noqa: TID251
            home.clock.sleep(min(3600.0, (end - home.clock.now()).total_seconds()))
        )
        await home.clock.until(task)
        await home.rest()


async def reminds(home: Home, form: ReminderForm, **more: str) -> object:
    """Ana has a reminder set in this room; what came of it."""
    if "ana" not in home.people:
        await home.enter("ana")
    asker = ReminderRequester(person=home.people["ana"], mate=more.get("mate", "maya"))
    stream = f"room:{home.room}"
    return (await home.app.book.set(stream, asker, form, "en", more.get("wakes", "")))[0]


async def rung(home: Home) -> list[str]:
    """What people were told by reminders, in order."""
    return [str(told.text) for told in await home.bodies(Told) if told.rang]


TEA = ReminderForm(said="in two hours", after="PT2H", what="tea")


async def test_no_routine_keeps_itself_going(tmp_path: Path) -> None:
    """A mate that is woken, and has itself woken again, pays with the room's energy; it ends."""
    form = {"what": "the bread", "said": "in two minutes", "in": "PT2M", "act": True}

    def think(question: Question) -> dict[str, object]:
        seen = str(question.messages)
        if seen.count("[result of remind") > seen.count("Scheduled for"):
            return {"say": "", "speak": False}
        return {"say": "", "speak": False, "tool": "remind", "arguments": json.dumps(form)}

    write_mates(tmp_path, maya=MAYA)
    async with living(tmp_path, think, clock=SimClock(NOW), energy_capacity=3) as home:
        await home.hears("ana", "@maya look at the bread in two minutes")
        for _ in range(9):
            await passes(home, timedelta(minutes=5))
        assert await home.said() == []
        asked = [one.asked for one in await home.bodies(ReminderSet)]
        assert asked == [True, False, False, False]


async def test_a_mate_sets_one_and_says_it_back(tmp_path: Path) -> None:
    """The form is checked, set, and told back in words."""
    form = {"what": "call Anna", "said": "on Friday at nine", "at": "2026-03-27T09:00"}
    write_mates(tmp_path, maya=MAYA)
    async with living(tmp_path, minding(form), clock=SimClock(NOW)) as home:
        await home.hears("ana", "@maya remind me on Friday at nine to call Anna")
        (one,) = await home.bodies(ReminderSet)
        assert one.due == datetime(2026, 3, 27, 9, tzinfo=UTC)
        (end,) = await home.bodies(EffectReturned)
        assert "Friday 27 March, 09:00, in 1 day 19 hours" in str(end.value)
        assert "/zone" in str(end.value)
        await passes(home, timedelta(days=2))
        assert await rung(home) == ["⏰ Reminder for ana: call Anna [1]"]


@pytest.mark.parametrize(
    ("said", "due"),
    [
        ("on Friday at nine", datetime(2026, 3, 27, 9, tzinfo=UTC)),
        ("in 2 minutes", datetime(2026, 3, 25, 14, 2, tzinfo=UTC)),
    ],
)
async def test_the_words_alone_are_enough(tmp_path: Path, said: str, due: datetime) -> None:
    """A mate that gives but the person's own words of when has them read, as the command does."""
    write_mates(tmp_path, maya=MAYA)
    form = {"what": "call Anna", "said": said}
    async with living(tmp_path, minding(form), clock=SimClock(NOW)) as home:
        await home.hears("ana", f"@maya remind me {said} to call Anna")
        (one,) = await home.bodies(ReminderSet)
        assert abs(one.due - due) < timedelta(seconds=30)


async def test_a_whole_line_is_enough(tmp_path: Path) -> None:
    """A mate that passes on what was said, and nothing else, has when and of what read out of it."""
    write_mates(tmp_path, maya=MAYA)
    form = {"said": "remind me in two hours of the tea, please", "whom": "room"}
    async with living(tmp_path, minding(form), clock=SimClock(NOW)) as home:
        await home.hears("ana", "@maya remind me in two hours of the tea, please")
        (one,) = await home.bodies(ReminderSet)
        assert (str(one.what), str(one.said), one.whom) == ("the tea", "in two hours", "room")


async def test_a_line_that_came_late(tmp_path: Path) -> None:
    """A mate is shown when it was said, and "tomorrow" is the day after that."""
    shown: list[str] = []
    form = {"what": "call Anna", "said": "tomorrow at three pm"}

    def think(question: Question) -> dict[str, object]:
        shown.append(str(question.messages))
        return minding(form)(question)  # type: ignore[return-value]

    write_mates(tmp_path, maya=MAYA)
    async with living(tmp_path, think, clock=SimClock(NOW)) as home:
        said = "@maya remind me tomorrow at three pm to call Anna"
        await home.hears("ana", said, ago=23 * 3600)
        (one,) = await home.bodies(ReminderSet)
        assert one.due == datetime(2026, 3, 25, 15, tzinfo=UTC)
    assert "15:00" in shown[0]
    assert "Tuesday, 24 March 2026" in shown[0]


async def test_what_waits_already_is_not_set_again(tmp_path: Path) -> None:
    """A mate that asks for the same thing twice is told the number of the one that there is."""
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        for _ in range(3):
            assert isinstance(await reminds(home, TEA), Fits)
            assert (await home.does("ana", "reminders")).count("tea: ") == 1
        assert isinstance(
            await reminds(home, ReminderForm(said=TEA.said, after="PT2H", what="cake")), Fits
        )
        assert "[2] cake: " in await home.does("ana", "reminders")


async def test_words_that_are_open_set_nothing(tmp_path: Path) -> None:
    """The mate is told what to ask, and no reminder stands."""
    form = {"what": "tea", "said": "at 3", "at": "2026-03-25T15:00"}
    write_mates(tmp_path, maya=MAYA)
    async with living(tmp_path, minding(form), clock=SimClock(NOW)) as home:
        await home.hears("ana", "@maya remind me at 3 of tea")
        assert await home.bodies(ReminderSet) == []
        (end,) = await home.bodies(EffectReturned)
        assert str(end.value).startswith("Nothing is set yet. Which is meant")


async def test_it_rings_after_a_restart(tmp_path: Path) -> None:
    """What was set before the home went down rings when it is up again, late, and once."""
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        assert isinstance(await reminds(home, TEA), Fits)
    for later in (3, 4):
        clock = SimClock(NOW + timedelta(hours=later))
        async with living(tmp_path, clock=clock, seed=later) as home:
            await home.rest()
            assert await rung(home) == [
                "⏰ Reminder for ana: tea (was due Wednesday 25 March, 16:00) [1]"
            ]


async def test_a_rule_rings_again_and_again(tmp_path: Path) -> None:
    """Every weekday at nine is five times in a week."""
    rule = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0"
    form = ReminderForm(said="every weekday at nine", rule=rule, what="stand up")
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        assert isinstance(await reminds(home, form), Fits)
        await passes(home, timedelta(days=7))
        due = [one.due for one in await home.bodies(ReminderFired)]
        assert [one.day for one in due] == [26, 27, 30, 31, 1]
        assert {one.hour for one in due} == {9}


@pytest.mark.parametrize(
    ("start", "hours"),
    [
        (datetime(2026, 3, 27, 12, tzinfo=UTC), [(28, 1, 30), (29, 1, 30), (30, 0, 30)]),
        (datetime(2026, 10, 23, 12, tzinfo=UTC), [(24, 0, 30), (25, 0, 30), (26, 1, 30)]),
    ],
)
async def test_both_changes_of_the_clocks(
    tmp_path: Path, start: datetime, hours: list[tuple[int, int, int]]
) -> None:
    """Half past two each night rings once in the night without it, once in that which has two."""
    rule = "FREQ=DAILY;BYHOUR=2;BYMINUTE=30"
    form = ReminderForm(said="every day at 2:30 am", rule=rule, what="wake")
    environ = {"LOOPFORGE_TIMEZONE": "Europe/Berlin"}
    async with living(tmp_path, clock=SimClock(start), environ=environ) as home:
        assert isinstance(await reminds(home, form), Fits)
        await passes(home, timedelta(days=2, hours=20))
        due = [one.due for one in await home.bodies(ReminderFired)]
        assert [(one.day, one.hour, one.minute) for one in due] == hours


async def test_who_wants_no_quiet_hours_has_none(tmp_path: Path) -> None:
    """Whatever the home's are; what is due at night rings then."""
    form = ReminderForm(said="tonight at 11", at="2026-03-25T23:00", what="sleep")
    async with living(tmp_path, clock=SimClock(NOW), quiet_hours="22:00-07:00") as home:
        assert isinstance(await reminds(home, form), Fits)
        await home.does("ana", "quiet", "OFF")
        await passes(home, timedelta(hours=16, minutes=30))
        (told,) = await rung(home)
        assert "held back" not in told


async def test_quiet_hours_hold_it_back(tmp_path: Path) -> None:
    """What is due at night waits for the morning, and says so."""
    form = ReminderForm(said="tonight at 11", at="2026-03-25T23:00", what="sleep")
    async with living(tmp_path, clock=SimClock(NOW), quiet_hours="22:00-07:00") as home:
        assert isinstance(await reminds(home, form), Fits)
        await passes(home, timedelta(hours=16, minutes=30))
        assert await rung(home) == []
        await passes(home, timedelta(hours=1))
        (told,) = await rung(home)
        assert "was due Wednesday 25 March, 23:00; held back over your quiet hours" in told


async def test_a_home_that_is_up_again_at_night_wakes_nobody(tmp_path: Path) -> None:
    """What was missed, in whatever hours, waits as well; the list says that it was due, and why."""
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        assert isinstance(await reminds(home, TEA), Fits)
        people = home.people
    clock = SimClock(NOW + timedelta(days=7, hours=9))
    async with living(tmp_path, clock=clock, seed=8, quiet_hours="22:00-07:00") as home:
        home.people = people
        await home.rest()
        assert await rung(home) == []
        assert (await home.does("ana", "reminders")).startswith(
            "[1] tea: was due Wednesday 25 March, 16:00; held back over your quiet hours\n"
        )
        await passes(home, timedelta(hours=9))
        assert await rung(home) == [
            "⏰ Reminder for ana: tea (was due Wednesday 25 March, 16:00) [1]"
        ]


async def test_it_finds_the_person(tmp_path: Path) -> None:
    """What somebody asked for themselves among others is told where they are alone with that mate.

    Once, and not where it was set; but there, where they set it themselves, by the command.
    """
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        await home.hears("ana", "hello")
        await home.hears("ben", "hello")
        assert isinstance(await reminds(home, TEA), Fits)
        await home.does("ana", "remind", "in one hour: cake")
        home.room = "nook"
        await home.enter("ana", mates=("maya",))
        await home.hears("ana", "here I am")
        await passes(home, timedelta(hours=3))
        assert await rung(home) == ["⏰ Reminder for ana: tea [1]"]
        home.room = "commons"
        assert await rung(home) == ["⏰ Reminder for ana: cake [2]"]
        assert "reminder.passed" in await home.kinds()


GROUP = PlaceJoined(place="discord:1", name=Words("help"), kind="group")


def damage(home: Path, room: str) -> None:
    """What was heard in a room can be read no more."""
    with closing(sqlite3.connect(home / "data" / "loopforge.db")) as ledger:
        ledger.execute("DROP TRIGGER events_unchanged")
        query = "UPDATE events SET body = '{}' WHERE stream = ? AND kind = 'room.heard'"
        assert ledger.execute(query, (f"room:{room}",)).rowcount
        ledger.commit()


async def speaks_alone(home: Home, *rooms: str) -> None:
    """Ana and Ben talk; then Ana says a line in these rooms, where she is alone with maya."""
    await home.says("ana", "hello")
    await home.says("ben", "hello")
    for home.room in rooms:
        await home.enter("ana", mates=("maya",))
        await home.says("ana", "here I am")
        await home.rest()
    home.room = "commons"


async def test_no_group_is_a_room_alone(tmp_path: Path) -> None:
    """In a channel where nobody else spoke yet, others may read along: it is not told there."""
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        await speaks_alone(home, "nook", "help")
        await home.app.rooms.add("help", "", GROUP)
        assert isinstance(await reminds(home, TEA), Fits)
        await passes(home, timedelta(hours=3))
        told = {}
        for home.room in ("commons", "nook", "help"):
            told[home.room] = await rung(home)
        assert told == {"commons": [], "nook": ["⏰ Reminder for ana: tea [1]"], "help": []}


@pytest.mark.parametrize("change", ["ben comes in", "a group joins", "maya goes", "damage"])
async def test_no_longer_alone_there(tmp_path: Path, change: str) -> None:
    """What is on its way to a room that is no place for it any more is told where it was set."""
    async with living(tmp_path, clock=SimClock(NOW), wake=False) as home:
        await speaks_alone(home, "nook")
        assert isinstance(await reminds(home, TEA), Fits)
        (id,) = [e.id for e in await home.events() if isinstance(e.body, ReminderSet)]
        due = NOW + timedelta(hours=2)
        await home.app.rooms.add("commons", "", ReminderFired(reminder=id, due=due, to="room:nook"))
        if change == "ben comes in":
            await home.app.front.rooms.enter("nook", "ben", "terminal", ())
        elif change == "a group joins":
            await home.app.rooms.add("nook", "", GROUP)
        elif change == "maya goes":
            await home.app.rooms.add("nook", "", MateLeft(mate="maya"))
    if change == "damage":
        damage(tmp_path, "nook")
    async with living(tmp_path, clock=SimClock(due), seed=8) as home:
        await home.rest()
        assert await rung(home) == ["⏰ Reminder for ana: tea [1]"]
        assert (await home.kinds("reminder."))[-1] == "reminder.passed"
        if change != "damage":
            home.room = "nook"
            assert await rung(home) == []


async def test_a_room_that_cannot_be_read_silences_no_other(tmp_path: Path) -> None:
    """Where to tell it is found among the others; and the mates where it was set go on answering."""
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        await speaks_alone(home, "nook", "den")
        assert isinstance(await reminds(home, TEA), Fits)
        people = home.people
    damage(tmp_path, "den")
    async with living(tmp_path, clock=SimClock(NOW + timedelta(hours=3)), seed=8) as home:
        home.people = people
        await home.hears("ben", "@maya are you there?")
        assert (await home.said())[-1:] == ["maya"]
        home.room = "nook"
        await home.rest()
        assert len(await rung(home)) == 1


async def test_put_off_to_when_it_comes_anyway(tmp_path: Path) -> None:
    """One of every day that is put off to its own next time rings once then."""
    form = ReminderForm(said="every day at nine", rule="FREQ=DAILY;BYHOUR=9;BYMINUTE=0", what="tea")
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        assert isinstance(await reminds(home, form), Fits)
        await passes(home, timedelta(hours=20))
        ana = ReminderRequester(person=home.people["ana"])
        again = ReminderForm(said="tomorrow at nine", at="2026-03-27T09:00")
        found = await home.app.book.move("room:commons", ana, 1, again, snoozed=True)
        assert isinstance(found, Fits)
        await passes(home, timedelta(days=2))
        assert [one.due.day for one in await home.bodies(ReminderFired)] == [26, 27, 28]


async def test_the_clock_is_set_back_while_it_rings(tmp_path: Path) -> None:
    """What rang is told in the other room, once, though the clock says by then that it is not due."""
    clock = SimClock(NOW)
    async with living(tmp_path, clock=clock) as home:
        await home.hears("ana", "hello")
        await home.hears("ben", "hello")
        assert isinstance(await reminds(home, TEA), Fits)
        home.room = "nook"
        await home.enter("ana", mates=("maya",))
        await home.hears("ana", "here I am")
        back = [timedelta(hours=-1)]

        def set_back(_stream: str, _events: Sequence[Event]) -> None:
            if back:
                clock.correct(back.pop())

        home.app.ledger.subscribe(set_back, kinds=["reminder.fired"])
        await clock.advance(2 * 3600 + 60)
        told = [e for e in await home.events() if isinstance(e.body, Told) and e.body.rang]
    assert [each.at < NOW + timedelta(hours=1, minutes=1) for each in told] == [True]


async def test_a_routine_wakes_its_mate(tmp_path: Path) -> None:
    """The mate takes a turn about the line that tells of it, for the person who had set it."""
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        assert isinstance(await reminds(home, TEA, wakes="maya"), Fits)
        await passes(home, timedelta(hours=3))
        (told,) = await rung(home)
        assert told == "⏰ Scheduled for ana, Maya does it now: tea [1]"
        (turn,) = [one for one in await home.bodies(Perceived) if one.summons == "scheduled"]
        assert turn.mate == "maya"
        assert [said.mate for said in await home.bodies(Said)][-1] == "maya"
        for gone in ("stop", "remove"):
            assert isinstance(await reminds(home, TEA, wakes="maya"), Fits)
            await home.does("ana", gone, "maya" if gone == "remove" else "")
            await passes(home, timedelta(hours=3))
            assert "⏰ Reminder for ana: tea (Maya cannot do it now) [" in (await rung(home))[-1]
        assert len([one for one in await home.bodies(Perceived) if one.summons == "scheduled"]) == 1


async def test_put_off_changed_and_cancelled(tmp_path: Path) -> None:
    """One that rang can be put off; one that waits is moved or taken back by whose it is alone."""
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        await reminds(home, TEA)
        await passes(home, timedelta(hours=2, minutes=1))
        book, ana = home.app.book, ReminderRequester(person=home.people["ana"])
        ten = ReminderForm(said="in 10 minutes", after="PT10M")
        found = await book.move("room:commons", ana, 1, ten, snoozed=True)
        assert isinstance(found, Fits)
        await passes(home, timedelta(minutes=15))
        assert len(await rung(home)) == 2
        await reminds(home, TEA)
        await home.enter("ben")
        with pytest.raises(InputError, match="somebody else's"):
            await book.cancel("room:commons", ReminderRequester(person=home.people["ben"]), 2)
        found = await book.move("room:commons", ana, 2, ten, snoozed=True)  # it did not ring yet
        await passes(home, timedelta(minutes=15))
        assert len(await rung(home)) == 3
        await passes(home, timedelta(hours=3))
        assert len(await rung(home)) == 3
        await reminds(home, TEA)
        await book.cancel("room:commons", ana, 3)
        await passes(home, timedelta(hours=3))
        assert len(await rung(home)) == 3


async def test_by_commands_alone(tmp_path: Path) -> None:
    """Words of when are read, said back, asked about; what is set is listed, put off, cancelled."""
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        await home.enter("ana")
        told = await home.does("ana", "remind", "on Friday at nine: call Anna")
        assert told.startswith("Reminder 1: Friday 27 March, 09:00, in 1 day 19 hours. Your time")
        with pytest.raises(InputError, match=r"Nothing is set yet\. Which is meant"):
            await home.does("ana", "remind", "at 3: tea")
        told = await home.does("ana", "remind", "jeden Werktag um 9 Uhr: aufstehen")
        assert told.startswith("Reminder 2: jeden Werktag, 09:00; zuerst Donnerstag, 26. März")
        assert "[1] call Anna: Friday 27 March" in await home.does("ana", "reminders")
        assert "cancelled" in await home.does("ana", "reminders", "cancel 2")
        assert "Saturday 28 March" in await home.does("ana", "reminders", "move 1 Saturday at noon")
        for place in ("europe/berlin", "Berlin", "CET", "Europe/Berlin"):
            assert "15:00 there" in await home.does("ana", "zone", place)
        with pytest.raises(InputError, match="No time zone is called 'Mars'"):
            await home.does("ana", "zone", "Mars")
        await home.does("ana", "quiet", "22:00-07:00")
        assert "22:00-07:00 (Europe/Berlin)" in await home.does("ana", "quiet")
        with pytest.raises(InputError, match="07:00-07:00 begins and ends at the same time"):
            await home.does("ana", "quiet", "07:00-07:00")
        assert await home.does("ana", "quiet", "off") == "Your reminders wait for no hours."
        assert "Quiet hours: none." in await home.does("ana", "quiet")
        with pytest.raises(InputError, match="is over already"):
            await home.does("ana", "remind", "yesterday at nine: tea")


async def test_a_place_that_is_named_has_its_own_clock(tmp_path: Path) -> None:
    """Nine in Tokyo is nine there, by command and by a mate, and is not said to be the home's."""
    form = {"what": "call", "said": "tomorrow at 9:00 in Tokyo", "at": "2026-03-26T09:00"}
    write_mates(tmp_path, maya=MAYA)
    mind = minding(form | {"zone": "Asia/Tokyo"})
    async with living(tmp_path, mind, clock=SimClock(NOW)) as home:
        await home.enter("ana")
        told = await home.does("ana", "remind", "tomorrow at 9:00 in Tokyo: call")
        assert told == "Reminder 1: Thursday 26 March, 09:00, in 10 hours (Asia/Tokyo)."
        listed = await home.does("ana", "reminders")
        assert "[1] call: Thursday 26 March, 09:00, in 10 hours (Asia/Tokyo)\n" in listed
        told = await home.does("ana", "reminders", "move 1 on Friday at 10:00 in Tokyo")
        assert told == "Reminder 1: Friday 27 March, 10:00, in 1 day 11 hours (Asia/Tokyo)."
        told = await home.does("ana", "remind", "every Friday at 9:00 in Tokyo: call")
        assert "first Friday 27 March, 09:00, in 1 day 10 hours (Asia/Tokyo)." in told
        await home.hears("ana", "@maya remind me tomorrow at 9:00 in Tokyo to call")
        (end,) = await home.bodies(EffectReturned)
        assert "the home's time zone" not in str(end.value)
        dues = [one.due for one in await home.bodies(ReminderSet)]
        assert [due.isoformat() for due in (dues[0], dues[-1])] == ["2026-03-26T00:00:00+00:00"] * 2


async def test_a_command_needs_no_colon(tmp_path: Path) -> None:
    """As people say it, in either order; what holds no time that one can be sure of asks for it."""
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        await home.enter("ana")
        for nth, (said, what) in enumerate(
            (
                ("me on Friday at nine to call Anna", "call Anna"),
                ("me to call Anna on Friday at nine", "call Anna"),
                ("in two hours to go to bed", "go to bed"),
                ("mich am Freitag um neun daran, die Blumen zu gießen", "die Blumen zu gießen"),
                ("in 5 minutes tea", "tea"),
                ("me call Anna on Friday at nine", "call Anna"),
            ),
            1,
        ):
            told = await home.does("ana", "remind", said)
            assert told.startswith(f"Reminder {nth}: "), told
            assert f"[{nth}] {what}: " in await home.does("ana", "reminders")
        with pytest.raises(InputError, match="Which is meant: Friday"):
            await home.does("ana", "remind", "next Friday at nine call Anna")
        for said in ("me to call Anna", "me when tea is ready to drink it", "to be or not to be"):
            with pytest.raises(InputError, match="Say when, a colon"):
                await home.does("ana", "remind", said)
        for said in (
            "in 5 minutes",
            "me in two hours",
            "tomorrow at three pm",
            "every Monday at nine",
        ):
            with pytest.raises(InputError, match="Say when, a colon"):
                await home.does("ana", "remind", said)


async def test_a_long_text_is_no_time(tmp_path: Path) -> None:
    """However much is pasted behind the command, it is asked when; what is too long is said."""
    async with living(tmp_path, clock=SimClock(NOW)) as home:
        await home.enter("ana")
        for said in ("word " * 1500, f"to{' ' * 7_000}x", "a, " * 2500):
            with pytest.raises(InputError, match="Say when, a colon"):
                await home.does("ana", "remind", said)
        with pytest.raises(InputError, match="a line may have 8,000"):
            await home.does("ana", "remind", "word " * 3000)
        with pytest.raises(InputError, match="at most 500 characters"):
            await home.does("ana", "remind", f"on Friday at nine: {'call Anna ' * 60}")
        assert "No reminder waits" in await home.does("ana", "reminders")


async def test_what_rings_after_a_silence_can_be_spoken_of(tmp_path: Path) -> None:
    """A reminder is the first line of a conversation: its mate has it before it when asked."""
    write_mates(tmp_path, (), maya=MAYA)
    async with living(tmp_path, lambda _: {"say": "Hello."}, clock=SimClock(NOW)) as home:
        await home.hears("ana", "@maya hello")
        await home.does("ana", "remind", "in 6 hours: tea")
        await passes(home, timedelta(hours=6, minutes=2))
        await home.hears("ana", "@maya what was that?")
        page = (await home.app.rooms.state(home.room)).visible("maya")
        assert [entry.kind for entry in page][-3:] == ["told", "heard", "said"]
