"""Lines from a queue: each heard once, in its room, by whom it says; what is none stays there."""

import asyncio
import json
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.room_vocabulary import Heard
from loopforge.errors import InputError
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.system_clock import SystemClock
from loopforge.sink_opening import hear
from loopforge.sinks.aws_client import AwsClient
from loopforge.sinks.queue_intake import IntakeLine, IntakeSettings, QueueIntake, read_line
from tests.rooms.conftest import living
from tests.sinks.aws_faults import REGION, AwsFault, FaultyAws, new_queue

pytestmark = pytest.mark.xdist_group("moto")


def test_a_message_is_read_as_it_is_meant() -> None:
    """Room and id are the queue's where it says none; somebody without a name is their account."""
    body = json.dumps({"account": 4711, "text": "Hello."})
    assert read_line(body, "q1", "commons") == IntakeLine("q1", "commons", "4711", "4711", "Hello.")
    full = {"account": "a", "name": "Ada", "text": "Hi", "room": "lab", "id": "m1"}
    assert read_line(json.dumps(full), "q1", "commons") == IntakeLine("m1", "lab", "a", "Ada", "Hi")
    first = {"account": 0, "text": "Hi", "id": 0}
    assert read_line(json.dumps(first), "q1", "lab") == IntakeLine("0", "lab", "0", "0", "Hi")


def test_what_no_database_takes_is_not_kept() -> None:
    """Half a character, and NUL, in any field: else one message would end the taking in."""
    odd = dict.fromkeys(("id", "room", "account", "name", "text"), "a\ud800\0b")
    assert set(read_line(json.dumps(odd), "q1", "commons")) == {"a??b"}


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[1]",
        "{",
        '{"text": "x"}',
        '{"account": "a", "text": " "}',
        '{"account": "a", "text": ["x"]}',
        '{"account": {"id": 1}, "text": "x"}',
        '{"account": true, "text": "x"}',
        '{"account": 1e999, "text": "x"}',
        '{"account": "a", "text": "x", "id": "%s"}' % ("i" * 501),
        '{"account": "%s", "text": "x"}' % ("a" * 501),
        "[" * 5000,
    ],
)
def test_what_is_no_line_is_refused(body: str) -> None:
    """No JSON, nested without end, no object, nobody who says it, nothing said, no text, too long an id."""
    with pytest.raises(InputError):
        read_line(body, "q1", "commons")


async def test_each_is_heard_once(tmp_path: Path, aws: FaultyAws) -> None:
    """Sent twice, cut off after it was heard, from a queue that fails: once; others stay there."""
    url = await new_queue("discord_messages")
    client = AwsClient("sqs", REGION)

    async def put(**what: str) -> None:
        await client.call("send_message", {"QueueUrl": url, "MessageBody": json.dumps(what)})

    for nth in (1, 2, 1, 3):
        await put(id=f"m{nth}", account="4711", name="Ada", text=f"Line {nth}.")
    await put(account="4711", text="Into the void.", room="nowhere")
    await put(id="m4", account="4711", name="Ada", text="Line 4.")
    cut: list[AwsFault] = ["reset", "reset"]
    aws.fault = lambda operation: cut.pop() if operation == "DeleteMessage" and cut else None
    async with living(tmp_path, None) as home, BackgroundTasks() as tasks:
        await home.enter("Bo")
        clock = Hasty()
        settings = IntakeSettings(open=True)
        intake = QueueIntake(settings, AwsClient("sqs", REGION), partial(hear, home.app), clock)
        tasks.spawn(intake.run(), "intake")
        gone = {"QueueUrl": url, "AttributeNames": ["All"]}
        while True:
            heard = [str(each.text) for each in await home.bodies(Heard)]
            left = (await client.call("get_queue_attributes", gone) or {})["Attributes"]
            names = ("", "NotVisible")
            waiting = sum(int(left[f"ApproximateNumberOfMessages{name}"]) for name in names)
            if "Line 4." in heard and waiting == 3:  # the one to nowhere, and two that were cut off
                break
            await asyncio.sleep(0.02)
        assert sorted(heard) == [f"Line {nth}." for nth in range(1, 5)]
        (said,) = {each.person for each in await home.bodies(Heard)}
        person = home.app.people.who("queue", "4711")
        assert person is not None
        assert (person.id, str(person.name)) == (said, "Ada")
        assert all(each.untrusted for each in await home.bodies(Heard))
        for nth in range(1, 5):
            await hear(home.app, IntakeLine(f"m{nth}", "commons", "4711", "Ada", f"Line {nth}."))
        assert len(await home.bodies(Heard)) == 4
    client.close()


class OddAnswers(AwsClient):
    """A queue whose first answers lack what they should have."""

    def __init__(self) -> None:
        super().__init__("sqs", REGION)
        good = {"MessageId": "q2", "Body": '{"account": "a", "text": "Hi."}', "ReceiptHandle": "r"}
        self.left: list[dict[str, Any]] = [{}, {"QueueUrl": "http://q"}, {"Messages": None}]
        self.left += [{"Messages": [{"MessageId": "q1"}]}, {"Messages": [good]}]

    async def call(
        self, operation: str, arguments: dict[str, Any], *, known: Collection[str] = ()
    ) -> dict[str, Any]:
        """The next of them."""
        if operation == "delete_message":
            return {}
        if not self.left:
            await asyncio.Event().wait()
        return self.left.pop(0)


async def test_an_odd_answer_ends_nothing() -> None:
    """What lacks an address, a body or a list is passed over; what comes later is heard."""
    heard = asyncio.Queue[IntakeLine]()
    async with BackgroundTasks() as tasks:
        intake = QueueIntake(IntakeSettings(open=True), OddAnswers(), heard.put, Hasty())
        tasks.spawn(intake.run(), "intake")
        async with asyncio.timeout(60):
            assert (await heard.get()).text == "Hi."


class Hasty(SystemClock):
    """Does not wait long before a queue is asked again."""

    async def sleep(self, seconds: float) -> None:
        """For a moment."""
        await super().sleep(seconds / 1000)
