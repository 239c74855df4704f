"""SQS: each event is a message of a queue, standard or FIFO.

In a FIFO queue a stream is a message group, and the event's id is the deduplication id: what is
sent once more within five minutes is there once. Such messages go one by one, since of a batch
AWS may take a later one and refuse an earlier. A standard queue keeps no order of its own: what
failed of a batch is sent again before the next, and `sequence` says the place of each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from loopforge.core.events import Event
from loopforge.errors import SendFailed
from loopforge.runtime.plugins.setting_checks import web_setting
from loopforge.runtime.plugins.setting_declarations import setting
from loopforge.sinks.aws_client import AwsChoice, AwsClient
from loopforge.sinks.cloud_events import cloud_event, split_cloud_event
from loopforge.sinks.sink_plugin import SinkFinding, SinkPlugin

LONGEST = 250_000
"""Bytes of a message, and of a batch of them: a queue that was made before 2025 takes 262,144."""
BATCH = 10
"""Messages that a queue takes at once."""
TRIES = 3
"""How often what failed of a batch is sent at once again, before all of it waits."""


@dataclass(frozen=True, kw_only=True)
class SqsSettings(AwsChoice):
    """What can be set of it."""

    queue: str = setting(
        "",
        "URL of the queue that events are sent to. Its variable is AGENTIC_EVENTS_QUEUE_URL, "
        "read as AGNETIC_EVENTS_QUEUE_URL, too.",
        shown="none",
        variable="AGENTIC_EVENTS_QUEUE_URL AGNETIC_EVENTS_QUEUE_URL",
        clean=web_setting(
            "sqs_queue",
            "the URL of a queue, such as "
            "https://sqs.eu-central-1.amazonaws.com/123456789012/events.fifo",
        ),
    )


class _Message(NamedTuple):
    id: str
    text: str


class SqsQueue:
    """The outlet."""

    def __init__(self, url: str, client: AwsClient, *, texts: bool) -> None:
        self._url, self._client, self._texts = url, client, texts
        self._fifo = url.endswith(".fifo")
        self._taken = set[str]()  # of a batch of which something is not taken yet
        self.most = 1 if self._fifo else BATCH

    async def send(self, events: Sequence[Event]) -> None:
        """Send them, the longest ones in parts."""
        messages = [
            _Message(*piece)
            for event in events
            for piece in split_cloud_event(event, cloud_event(event, texts=self._texts), LONGEST)
        ]
        if self._fifo:
            for each in messages:
                place = {"MessageGroupId": events[0].stream, "MessageDeduplicationId": each.id}
                message = {"QueueUrl": self._url, "MessageBody": each.text, **place}
                await self._client.call("send_message", message)
            return
        for batch in _batches([each for each in messages if each.id not in self._taken]):
            await self._send_batch(batch)
        self._taken.difference_update(each.id for each in messages)

    async def _send_batch(self, batch: Sequence[_Message]) -> None:
        """Send a batch; raises SendFailed where some of it is not taken in a few tries."""
        left, last = {str(nth): each for nth, each in enumerate(batch)}, dict[str, Any]()
        for _ in range(TRIES):
            entries = [{"Id": id, "MessageBody": each.text} for id, each in left.items()]
            asked: dict[str, Any] = {"QueueUrl": self._url, "Entries": entries}
            answer = await self._client.call("send_message_batch", asked)
            failed = {each["Id"]: each for each in answer.get("Failed", ())}
            self._taken |= {each.id for id, each in left.items() if id not in failed}
            left = {id: each for id, each in left.items() if id in failed}
            if not left:
                return
            last = max(failed.values(), key=_refused)
        said = f"sqs did not take {len(left)} of {len(batch)}: {last.get('Code', '')}"
        raise SendFailed(said, final=_refused(last))

    async def close(self) -> None:
        """Let the connections go."""
        self._client.close()


def _refused(entry: Mapping[str, Any]) -> bool:
    """Whether a message of a batch failed for what it is, and would again."""
    return bool(entry.get("SenderFault"))


def _batches(messages: Sequence[_Message]) -> Iterator[list[_Message]]:
    """The messages in order, in batches that a queue takes."""
    batch: list[_Message] = []
    for each in messages:
        size = sum(len(one.text) for one in batch) + len(each.text)
        if batch and (len(batch) == BATCH or size > LONGEST):
            yield batch
            batch = []
        batch.append(each)
    if batch:
        yield batch


def make(options: SqsSettings, _: Path) -> SqsQueue | None:
    """The outlet, if a queue is named."""
    if not options.queue:
        return None
    return SqsQueue(options.queue, AwsClient("sqs", options.region), texts=options.texts)


def _examined(options: SqsSettings) -> Iterator[SinkFinding]:
    from loopforge.sinks.aws_client import queue_findings

    return queue_findings(AwsClient("sqs", options.region), options.queue, LONGEST)


SINK = SinkPlugin(
    title="SQS queue",
    examine=_examined,
    settings=SqsSettings,
    make=make,
    where=lambda options: options.queue.rpartition("/")[2],
)
