"""DynamoDB: tasks, their events and the lines of rooms as items of three tables.

    sessions     pk "task:ID", sk "session"       how a task stands: stage, turns, confidence, cost
    executions   pk "task:ID", sk 000000000012    an event of it, once
    messages     pk "room:NAME" (the thread's id), sk 000000000012    a line of a room, once

Every put has a condition, so that what is sent again changes nothing and nothing older takes a
newer one's place. `body` is a line of `loopforge ledger export`. An item takes 400 kB: a longer
body is in `parts` items beside it (sk 000000000012#0#0001 and on; between the signs its `draft`),
which are there before it is. What is erased is taken out of bodies here, too, in whatever stream it
stood: a next draft is written, then pointed at, then the one before is deleted. Streams beside the
one that tells of the erasure are looked through while texts are sent (`texts`). The table's own
backups and streams keep what they had.
"""

from collections.abc import AsyncIterator, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopforge.core.events import Erased, Event
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.work.work_vocabulary import TaskOpened, TaskProgressed
from loopforge.errors import SendFailed
from loopforge.ledger.jsonl_export import as_json_line, redact_json_line
from loopforge.runtime.plugins.setting_declarations import setting
from loopforge.sinks.aws_client import AwsChoice, AwsClient
from loopforge.sinks.cloud_events import TOLD, TYPES
from loopforge.sinks.sink_plugin import SinkFinding, SinkPlugin

LONGEST = 350_000
"""Bytes of a body in one item, of the 400 kB (409,600 bytes) that it takes with its keys."""
THERE = "ConditionalCheckFailedException"
NEW = "attribute_not_exists(pk)"
OTHER = (
    "the table {table} has another event at {pk} {sk}: another home's, one from before a backup "
    "was restored, or its keys are not `pk` and `sk`. Name a table of this home's own."
)
NEWER = "attribute_not_exists(seq) OR seq < :seq"
SESSION = "session"
STAGES = {
    "task.opened": "started",
    "task.progressed": "working",
    "task.asked": "waiting",
    "task.stopped": "stopped",
    "task.resumed": "working",
    "task.finished": "finished",
    "task.approved": "approved",
    "task.rejected": "rejected",
}
"""What a task is taken for after an event; others change nothing."""


@dataclass(frozen=True, kw_only=True)
class DynamodbSettings(AwsChoice):
    """What can be set of it."""

    streams: str = setting(
        "task:, room:", "Which streams go there: beginnings of names, with commas between."
    )
    kinds: str = setting(
        f"{TOLD}, room.heard, room.said",
        "Which kinds of event: their names, with commas between; none: all of them.",
    )
    sessions: str = setting(
        "",
        "Table of how tasks stand. Its variable is DYNAMODB_SESSIONS_TABLE.",
        shown="none",
        variable="DYNAMODB_SESSIONS_TABLE",
    )
    executions: str = setting(
        "",
        "Table of what happened to tasks. Its variable is DYNAMODB_EXECUTIONS_TABLE.",
        shown="none",
        variable="DYNAMODB_EXECUTIONS_TABLE",
    )
    messages: str = setting(
        "",
        "Table of lines that were said in rooms. Its variable is DYNAMODB_MESSAGES_TABLE.",
        shown="none",
        variable="DYNAMODB_MESSAGES_TABLE",
    )

    @property
    def tables(self) -> list[str]:
        """Those that are named."""
        return [name for name in (self.sessions, *self.told) if name]

    @property
    def told(self) -> list[str]:
        """Those of them that hold what happened and was said."""
        return [name for name in (self.executions, self.messages) if name]


Item = dict[str, Any]


class DynamodbTables:
    """The outlet."""

    most = 1

    def __init__(self, options: DynamodbSettings, client: AwsClient) -> None:
        self._options, self._client = options, client

    async def send(self, events: Sequence[Event]) -> None:
        """Put them, in order."""
        for event in events:
            if isinstance(event.body, Erased):
                await self._forget(event, frozenset(event.body.refs))
            if event.stream.startswith("task:"):
                await self._put(self._options.executions, event)
                await self._stand(event)
            elif isinstance(event.body, Heard | Said):
                await self._put(self._options.messages, event)

    async def close(self) -> None:
        """Let the connections go."""
        self._client.close()

    # ------------------------------------------------------------ what happened

    async def _put(self, table: str, event: Event) -> None:
        """Put an event into a table, once; the parts of a long one first."""
        if not table:
            return
        head = {
            **_key(event.stream, f"{event.seq:012}"),
            "id": {"S": event.id},
            "type": {"S": TYPES.get(event.kind, event.kind)},
            "kind": {"S": event.kind},
            "at": {"S": event.at.isoformat(timespec="microseconds")},
            "actor": {"S": event.actor},
        }
        body = as_json_line(event, texts=self._options.texts)
        await self._write(table, {**head, "draft": {"S": "0"}}, body, once=True)

    async def _write(self, table: str, head: Item, body: str, *, once: bool) -> Item:
        """Write an item and its body, the parts first; `once`: unless it is there. The item."""
        pk, sk = head["pk"]["S"], head["sk"]["S"]
        width = LONGEST if body.isascii() else LONGEST // 4  # the longest sign takes four bytes
        pieces = [body[start : start + width] for start in range(0, len(body), width)]
        whole: Item = {"body": {"S": body}}
        if len(pieces) > 1:
            whole = {"parts": {"N": str(len(pieces))}}
            for key, text in zip(_parts(head | whole), pieces, strict=True):
                item = {**_key(pk, key), "body": {"S": text}}
                await self._client.call("put_item", {"TableName": table, "Item": item})
        asked = {"TableName": table, "Item": head | whole}
        if once:
            asked |= {"ConditionExpression": NEW, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
        told = await self._client.call("put_item", asked, known=(THERE,) if once else ())
        if told.get("Item", head).get("id") != head["id"]:
            raise SendFailed(OTHER.format(table=table, pk=pk, sk=sk), final=True)
        return head | whole

    # ------------------------------------------------------------ how a task stands

    async def _stand(self, event: Event) -> None:
        """Say how its task stands after an event, unless something later is said already."""
        if not self._options.sessions:
            return
        values = {"seq": {"N": str(event.seq)}, "updated_at": {"S": event.at.isoformat()}}
        if event.kind in STAGES:
            values["stage"] = {"S": STAGES[event.kind]}
        match event.body:
            case TaskOpened(mate=mate, thread=thread, repo=repo, surface=surface):
                named = {"mate": mate, "thread": thread, "repo": repo, "surface": surface}
                values |= {key: {"S": text} for key, text in named.items()}
                values["opened_at"] = {"S": event.at.isoformat()}
            case TaskProgressed() as body:
                numbers = {
                    "turns": body.nth,
                    "confidence": body.confidence,
                    "cost": body.cost,
                    "tokens": body.tokens,
                }
                values |= {key: {"N": str(number)} for key, number in numbers.items()}
                values["model"] = {"S": body.model}
        asked = {
            "TableName": self._options.sessions,
            "Key": _key(event.stream, SESSION),
            "UpdateExpression": "SET " + ", ".join(f"#{key} = :{key}" for key in values),
            "ExpressionAttributeNames": {f"#{key}": key for key in values},
            "ExpressionAttributeValues": {f":{key}": value for key, value in values.items()},
            "ConditionExpression": NEWER,
        }
        await self._client.call("update_item", asked, known=(THERE,))

    # ------------------------------------------------------------ forgetting

    async def _forget(self, erased: Event, refs: Set[str]) -> None:
        """Take these texts out of every body that has them."""
        for table in self._options.told:
            streams = await self._holding(table, refs) if self._options.texts else set[str]()
            for stream in sorted({erased.stream, *streams}):
                await self._forget_in(table, stream, erased.id, refs)

    async def _forget_in(self, table: str, stream: str, draft: str, refs: Set[str]) -> None:
        """Take these texts out of the bodies of a stream, which are of this draft from then on."""
        async for head, rest in self._whole(table, stream):
            texts = [rest[sk] for sk in _parts(head)]
            body = head["body"]["S"] if "body" in head else "".join(texts)
            if (told := redact_json_line(body, refs)) != body:
                plain = {key: head[key] for key in head.keys() - {"body", "parts"}}
                drafted = plain | {"draft": {"S": draft}}
                head = await self._write(table, drafted, told, once=False)
            for sk in rest.keys() - _parts(head):  # also of a try that came to no item
                await self._client.call(
                    "delete_item", {"TableName": table, "Key": _key(stream, sk)}
                )

    async def _holding(self, table: str, refs: Set[str]) -> set[str]:
        """The streams in a table that have these texts; with those of parts, which do not tell."""
        asked: dict[str, Any] = {"TableName": table, "ConsistentRead": True}
        found = set[str]()
        while True:
            answer = await self._client.call("scan", asked)
            for item in answer.get("Items", ()):
                body = item["body"]["S"] if "body" in item and "id" in item else ""
                if not body or redact_json_line(body, refs) != body:
                    found.add(item["pk"]["S"])
            if "LastEvaluatedKey" not in answer:
                return found
            asked["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    async def _whole(self, table: str, stream: str) -> AsyncIterator[tuple[Item, dict[str, str]]]:
        """The events of a stream in a table, each with the parts beside it, in order."""
        asked: dict[str, Any] = {
            "TableName": table,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": stream}},
            "ConsistentRead": True,
        }
        head, rest = Item(), dict[str, str]()
        while True:
            answer = await self._client.call("query", asked)
            for item in answer.get("Items", ()):
                if "id" not in item:
                    rest[item["sk"]["S"]] = item["body"]["S"]
                    continue
                if head:
                    yield head, rest
                head, rest = item, {}
            if "LastEvaluatedKey" not in answer:
                break
            asked["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        if head:
            yield head, rest


def _parts(head: Item) -> list[str]:
    """The sort keys of the parts of an item's body, in order; none, where it holds that itself."""
    count = int(head.get("parts", {"N": "0"})["N"])
    return [f"{head['sk']['S']}#{head['draft']['S']}#{nth:04}" for nth in range(1, count + 1)]


def _key(pk: str, sk: str) -> Item:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def make(options: DynamodbSettings, _: Path) -> DynamodbTables | None:
    """The outlet, if a table is named."""
    if not options.tables:
        return None
    return DynamodbTables(options, AwsClient("dynamodb", options.region))


def _examined(options: DynamodbSettings) -> Iterator[SinkFinding]:
    from loopforge.sinks.aws_client import table_findings

    client = AwsClient("dynamodb", options.region)
    for table in options.tables:
        yield from table_findings(client, table, scanned=options.texts and table in options.told)


SINK = SinkPlugin(
    title="DynamoDB tables",
    examine=_examined,
    settings=DynamodbSettings,
    make=make,
    where=lambda options: ", ".join(options.tables),
    forgets=True,
)
