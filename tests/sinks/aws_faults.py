"""Between a client and moto's server: what AWS does now and then, done to each call as told.

429         throttled, nothing done         "reset"       cut before anything is done
403         not allowed
500, 503    failed, nothing done            "late reset"  done, and cut before the answer
"twice"     done two times                  "partial"     of a batch, the second is not taken
"refused"   of a batch, what is second in its stream is never taken
"""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal

import aiohttp
from aiohttp import web

from loopforge.sinks.aws_client import AwsClient
from loopforge.sinks.dynamodb import DynamodbSettings
from tests.listening import listening

AwsFault = Literal["reset", "late reset", "twice", "partial", "refused"] | int
REGION = "us-east-1"
KIND = "application/x-amz-json-1.0"
SECOND = '"sequence": "000000000002"'
BATCHED = {
    "partial": {"SenderFault": False, "Code": "InternalError"},
    "refused": {"SenderFault": True, "Code": "InvalidMessageContents"},
}
CODES = {
    403: "AccessDeniedException",
    429: "ThrottlingException",
    500: "InternalServerError",
    503: "ServiceUnavailable",
}


class FaultyAws:
    """The proxy; `fault` says of each operation what goes wrong with it."""

    def __init__(self, behind: str) -> None:
        self._behind, self.address, self.asked = behind, "", 0
        self.fault: Callable[[str], AwsFault | None] = lambda _: None

    async def pass_on(self, request: web.Request) -> web.Response:
        """One call."""
        body, self.asked = await request.read(), self.asked + 1
        operation = request.headers.get("x-amz-target", "").rpartition(".")[2]
        fault = self.fault(operation)
        if isinstance(fault, int):
            said = {"__type": CODES[fault], "message": "as told"}
            return web.json_response(said, status=fault, content_type=KIND)
        if fault == "reset":
            assert request.transport
            request.transport.abort()
            return web.Response()
        failed: list[dict[str, object]] = []
        if operation == "SendMessageBatch" and fault in BATCHED:
            what = json.loads(body)
            entries = what["Entries"]
            second = [each for each in entries if SECOND in each["MessageBody"]]
            for entry in second if fault == "refused" else entries[1:2]:
                entries.remove(entry)
                failed.append({"Id": entry["Id"], **BATCHED[fault]})
            body = json.dumps(what).encode()
            if not entries:
                return web.json_response({"Failed": failed}, content_type=KIND)
        for _ in range(2 if fault == "twice" else 1):
            status, kind, answer = await self._asked(request, body)
        if failed:
            answer = json.dumps({**json.loads(answer), "Failed": failed}).encode()
        if fault == "late reset":
            assert request.transport
            request.transport.abort()
        return web.Response(status=status, body=answer, headers={"content-type": kind})

    async def _asked(self, request: web.Request, body: bytes) -> tuple[int, str, bytes]:
        left = {"host", "content-length", "transfer-encoding", "connection"}
        headers = {k: v for k, v in request.headers.items() if k.lower() not in left}
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                request.method, self._behind + request.path_qs, data=body, headers=headers
            ) as answer,
        ):
            kind = answer.headers.get("content-type", KIND)
            return answer.status, kind, await answer.read()


@asynccontextmanager
async def faulty_aws(behind: str) -> AsyncIterator[FaultyAws]:
    """One that listens."""
    faulty = FaultyAws(behind)
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{path:.*}", faulty.pass_on)
    async with listening(app) as faulty.address:
        yield faulty


def answered(found: dict[str, Any] | None) -> dict[str, Any]:
    """What was answered."""
    assert found is not None
    return found


async def new_queue(name: str) -> str:
    """An empty queue; its URL."""
    client = AwsClient("sqs", REGION)
    fifo = {"FifoQueue": "true"} if name.endswith(".fifo") else {}
    made = answered(await client.call("create_queue", {"QueueName": name, "Attributes": fifo}))
    client.close()
    return str(made["QueueUrl"])


async def received(url: str) -> list[dict[str, Any]]:
    """Everything in a queue, as it comes, taken out of it."""
    client, found = AwsClient("sqs", REGION), list[dict[str, Any]]()
    asked = {"QueueUrl": url, "MaxNumberOfMessages": 10}
    while some := answered(await client.call("receive_message", asked)).get("Messages"):
        for each in some:
            found.append(json.loads(each["Body"]))
            gone = {"QueueUrl": url, "ReceiptHandle": each["ReceiptHandle"]}
            await client.call("delete_message", gone)
    client.close()
    return found


async def new_tables(name: str, *, texts: bool = False) -> DynamodbSettings:
    """Three empty tables."""
    names = {each: f"{name}-{each}" for each in ("sessions", "executions", "messages")}
    client = AwsClient("dynamodb", REGION)
    for table in names.values():
        keys = (("pk", "HASH"), ("sk", "RANGE"))
        await client.call(
            "create_table",
            {
                "TableName": table,
                "KeySchema": [{"AttributeName": key, "KeyType": kind} for key, kind in keys],
                "AttributeDefinitions": [
                    {"AttributeName": key, "AttributeType": "S"} for key, _ in keys
                ],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
    client.close()
    return DynamodbSettings(**names, texts=texts, history=True)
