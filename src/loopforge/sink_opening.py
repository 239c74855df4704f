"""Opening what joins a home to elsewhere: its sinks, and the queue that lines are taken in from.

The composition root's part for both; app.py, which opens the home, does not know of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.storage.sink_cursors import SinkCursors
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.sinks.queue_intake import IntakeLine, IntakeSettings, QueueIntake
from loopforge.sinks.sink_plugin import sinks_of
from loopforge.sinks.sink_runner import Sinks

if TYPE_CHECKING:
    from loopforge.app import App

QUEUE = "queue"
"""What people who come by a queue are known by, and before the room's name the place of lines."""


@asynccontextmanager
async def open_sinks(app: App) -> AsyncIterator[Sinks]:
    """Pass on what happens, and take in what is said elsewhere, until the block ends; the sinks."""
    settings, clock = app.settings, app.stamp.clock
    sinks = Sinks(app.ledger, clock, sinks_of(settings), SinkCursors(app.ledger))
    await sinks.open()
    try:
        async with BackgroundTasks() as tasks:
            options = settings.of("intake", IntakeSettings)
            if options.open:
                from loopforge.sinks.aws_client import AwsClient

                client = AwsClient("sqs", options.region)
                intake = QueueIntake(options, client, partial(hear, app), clock)
                tasks.spawn(intake.run(), f"intake from {options.queue}")
            yield sinks
    finally:
        await sinks.close()


async def hear(app: App, line: IntakeLine) -> None:
    """A line of a queue is heard in its room, once; it gives no orders. Raises InputError."""
    place = f"{QUEUE}:{line.room}"
    if await app.front.channels.line(place, line.id):
        return
    await app.front.rooms.state(line.room)  # raises Unknown where there is no such room
    person = await app.people.meet(QUEUE, line.account, line.name)
    await app.front.rooms.arrive(line.room, person.id, line.name, QUEUE)
    heard = Heard(
        person=person.id, text=Words(line.text), surface=place, source=line.id, untrusted=True
    )
    await app.front.rooms.hear(line.room, heard)
