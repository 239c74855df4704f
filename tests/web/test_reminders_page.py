"""Reminders in the browser: the page of a room, the panel beside it, one that rang, all of one's own."""

import re

from loopforge.core.schedule.reminder_events import ReminderCancelled, ReminderMoved, ReminderSet
from tests.web.conftest import Guest, Town, words

TEA = {"act": "set", "when": "in two hours", "what": "tea"}


async def test_one_is_set_moved_and_cancelled_on_its_page(site: Town, owner: Guest) -> None:
    """What was understood is said; what is open is asked, and what was typed stays; so do errors."""
    room = await site.room(owner, "Kitchen", "maya")
    at = f"/rooms/{room}/reminders"
    assert "None waits here." in words(await owner.get(at))
    asked = await owner.post(at, TEA | {"when": "at 3"})
    assert "Nothing is set yet. Which is meant" in words(asked)
    assert 'value="at 3"' in asked.text
    wrong = await owner.post(at, TEA | {"when": "yesterday at 9am"})
    assert (wrong.status_code, "That is over already" in words(wrong)) == (400, True)
    told = words(await owner.post(at, TEA))
    assert re.search(r"Reminder 1: .*, in (2 hours|1 hour 59 minutes)", told)
    assert "None waits here." not in told
    beside = words(await owner.get(f"/rooms/{room}"))
    assert re.search(r"Reminders tea \w+ \d+ \w+, \d\d:\d\d", beside)
    assert "tea" in words(await owner.get("/reminders"))
    moved = words(await owner.post(at, {"act": "move", "number": "1", "when": "in three hours"}))
    assert re.search(r"Reminder 1: .*, in (3 hours|2 hours 59 minutes)", moved)
    off = words(await owner.post(at, {"act": "10m", "number": "1"}))
    assert re.search(r"Reminder 1: .*, in (10|9) minutes", off)
    assert "Reminder 1 is cancelled." in words(
        await owner.post(at, {"act": "cancel", "number": "1"})
    )
    assert (await owner.post(at, {"act": "cancel", "number": "1"})).status_code == 400
    bodies = [event.body for event in await site.events(room)]
    kinds = [type(body) for body in bodies if isinstance(body, ReminderSet | ReminderMoved)]
    assert kinds == [ReminderSet, ReminderMoved, ReminderMoved]


async def test_zone_and_quiet_hours_are_set_there(site: Town, owner: Guest) -> None:
    """They are one's own from then on, in every room."""
    room = await site.room(owner, "Kitchen", "maya")
    at = f"/rooms/{room}/reminders"
    assert "say where you live" in words(await owner.get(at))
    told = words(await owner.post(at, {"act": "zone", "when": "Asia/Tokyo"}))
    assert "Your time zone is Asia/Tokyo" in told
    assert (await owner.post(at, {"act": "zone", "when": "Mars"})).status_code == 400
    await owner.post(at, {"act": "quiet", "when": "22:00-07:00"})
    mine = words(await owner.get("/reminders"))
    assert "By the clock of Asia/Tokyo . Quiet from 22:00 to 07:00." in mine.replace(
        "Tokyo.", "Tokyo ."
    )


async def test_one_that_rang_is_put_off_under_its_line(site: Town, owner: Guest) -> None:
    """Its line leads there; others of the room see it and change nothing; strangers see nothing."""
    room = await site.room(owner, "Kitchen", "maya")
    ben, ana = await site.guest("ben", room, by=owner), await site.guest("ana", by=owner)
    at = f"/rooms/{room}/reminders"
    await owner.post(at, TEA | {"when": "in one second"})
    while not (rung := [e for e in await site.events(room) if getattr(e.body, "rang", "")]):
        await site.rest(room)
    shown = (await owner.get(f"/rooms/{room}")).text
    link = re.search(rf'href="(/rooms/{room}/rung/{rung[0].id})"', shown)
    assert link
    assert (await ana.get(link[1])).status_code == 404
    assert "In 10 minutes" not in words(await ben.get(link[1]))
    refused = await ben.post(link[1], {"act": "cancel"})
    assert (refused.status_code, "somebody else's" in words(refused)) == (400, True)
    assert "In 10 minutes In an hour Tomorrow Cancel" in words(await owner.get(link[1]))
    assert "in 1 hour" in words(await owner.post(link[1], {"act": "1h"}))
    assert "Reminder 1 is cancelled." in words(await owner.post(link[1], {"act": "cancel"}))
    assert "It rings no more." in words(await owner.get(link[1]))
    bodies = [event.body for event in await site.events(room)]
    assert sum(isinstance(body, ReminderCancelled) for body in bodies) == 1
