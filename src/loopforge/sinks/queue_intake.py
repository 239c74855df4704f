"""Lines that are taken in from a queue of SQS: each is heard once, and then out of the queue.

    {"text": "Good morning.", "account": "4711", "name": "Ada", "room": "commons", "id": "m1"}

`account` says who it is, `id` which message (without one, the queue's own), `room` where. A message
is deleted after it was heard, so that a kill in between has it come again; it is known by its id
then. What cannot be heard stays in the queue, for its dead-letter queue to take.
"""

import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from loopforge.errors import InputError, LoopforgeError, SendFailed
from loopforge.runtime.plugins.setting_declarations import PluginSettings, SettingsPart, setting
from loopforge.runtime.ports import Clock
from loopforge.sinks.aws_client import AwsClient
from loopforge.sinks.sink_plugin import SinkFinding

log = logging.getLogger(__name__)
WAIT = 2
"""Seconds that a queue is asked to wait for messages; a stop of the home waits as long at most."""
AT_ONCE = 10
LONGEST = 500
"""Characters of an id and of an account; an index of PostgreSQL takes 2,700 bytes."""
PAUSE = 30.0
"""Seconds before a queue that cannot be read is asked again."""


@dataclass(frozen=True, kw_only=True)
class IntakeSettings:
    """What can be set of it."""

    open: bool = setting(False, "Whether lines that people say are taken in from a queue of SQS.")
    queue: str = setting("discord_messages", "The queue's name, or its URL.")
    room: str = setting("commons", "The room of lines that name none.")
    region: str = setting(
        "",
        "Region of AWS in which that is. Its variable is AWS_REGION.",
        shown="as AWS's own files say",
        variable="AWS_REGION",
    )


class IntakeLine(NamedTuple):
    """A line as it came; `id` is the same when it comes again."""

    id: str
    room: str
    account: str
    name: str
    text: str


Hear = Callable[[IntakeLine], Awaitable[object]]


def read_line(body: str, id: str, room: str) -> IntakeLine:
    """What a message says; `id` and `room` where it says none. Raises InputError."""
    try:
        said: Any = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise InputError("a message of the queue is no JSON object.")
    wanted = {"id": id, "room": room, "account": "", "name": "", "text": ""}
    found = {key: _kept(_text(said.get(key)) or default) for key, default in wanted.items()}
    if not (found["account"] and found["text"].strip()):
        raise InputError("a message of the queue says no `account`, or no `text`.")
    if max(len(found["id"]), len(found["account"])) > LONGEST:
        raise InputError(
            f"a message of the queue has an `id` or an `account` of more than {LONGEST} characters."
        )
    return IntakeLine(**{**found, "name": found["name"] or found["account"]})


def _text(value: object) -> str:
    """A text or a whole number as text; "" for nothing. Raises InputError."""
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise InputError("a message of the queue has what is no text where a text should be.")
    return "" if value is None else str(value)


def _kept(text: str) -> str:
    """A text without what no database takes: halves of characters, and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "?")


class QueueIntake:
    """Takes lines in, from `run` until that is cancelled."""

    def __init__(
        self, options: IntakeSettings, client: AwsClient, hear: Hear, clock: Clock
    ) -> None:
        self._options, self._client, self._hear, self._clock = options, client, hear, clock
        self._url = options.queue if "://" in options.queue else ""

    async def run(self) -> None:
        """Take in what comes."""
        try:
            while True:
                try:
                    await self._some()
                except (LoopforgeError, LookupError, TypeError) as error:  # or an odd answer
                    said = f"{type(error).__name__}: {error}"
                    log.warning("the queue %s cannot be read: %s", self._options.queue, said)
                    await self._clock.sleep(PAUSE)
        finally:
            self._client.close()

    async def _some(self) -> None:
        if not self._url:
            named = {"QueueName": self._options.queue}
            found = await self._client.call("get_queue_url", named)
            self._url = str(found["QueueUrl"])
        asked = {"QueueUrl": self._url, "MaxNumberOfMessages": AT_ONCE, "WaitTimeSeconds": WAIT}
        answer = await self._client.call("receive_message", asked)
        for message in answer.get("Messages", ()):
            await self._one(message)

    async def _one(self, message: dict[str, Any]) -> None:
        try:
            await self._hear(read_line(message["Body"], message["MessageId"], self._options.room))
        except InputError as error:
            log.warning("message %s stays in the queue: %s", message["MessageId"], error)
            return
        gone = {"QueueUrl": self._url, "ReceiptHandle": message["ReceiptHandle"]}
        try:
            await self._client.call("delete_message", gone)
        except SendFailed as error:
            log.warning("message %s comes once more: %s", message["MessageId"], error)


def examine_intake(settings: PluginSettings) -> Iterator[SinkFinding]:
    """What is to be said of the queue, where lines are taken in."""
    options = settings.of("intake", IntakeSettings)
    if options.open:
        from loopforge.sinks.aws_client import intake_findings

        yield from intake_findings(AwsClient("sqs", options.region), options.queue)


PART = SettingsPart("Intake from a queue", IntakeSettings)
