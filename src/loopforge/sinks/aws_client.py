"""A client of one service of AWS, for whatever here sends there: off the loop, one try at a time.

Keys, profiles, roles and an endpoint of one's own are found as every program of AWS finds them
(AWS_ACCESS_KEY_ID, AWS_PROFILE, a pod's or a machine's role, AWS_ENDPOINT_URL). What fails is tried
again by the runner, not in here; the next try looks for keys anew, which may have been renewed.
botocore is an extra (`aws`), loaded at the first call.

What is named at AWS is examined, too: whether it is there, is as it has to be, and may be used.
Nothing is changed by that: a right to write is tried by what cannot be done, a put on a condition
that never holds, a message with a sign that no message may have. Who may not is refused before.
"""

import asyncio
import threading
from collections.abc import Collection, Generator, Iterator
from dataclasses import dataclass
from typing import Any

from loopforge.errors import LoopforgeError, SendFailed
from loopforge.runtime.installation.extras import require_extra
from loopforge.runtime.plugins.setting_declarations import setting
from loopforge.sinks.sink_plugin import OutletChoice, SinkFinding

CONNECT, READ = 5.0, 20.0
"""Seconds until a call that is not answered is given up."""
REFUSING = frozenset({"InvalidMessageContents", "InvalidParameterValue", "ValidationException"})
"""Codes that speak of what was sent (a message too long is an InvalidParameterValue); the others
speak of the service, the place or rights."""


@dataclass(frozen=True, kw_only=True)
class AwsChoice(OutletChoice):
    """What is chosen of places at AWS."""

    region: str = setting(
        "",
        "Region of AWS in which that is. Its variable is AWS_REGION.",
        shown="as AWS's own files say",
        variable="AWS_REGION",
    )


class AwsClient:
    """Calls to one service in one region."""

    def __init__(self, service: str, region: str) -> None:
        self._service, self._region = service, region
        self._lock = threading.Lock()
        self._made: Any = None

    async def call(
        self, operation: str, arguments: dict[str, Any], *, known: Collection[str] = ()
    ) -> dict[str, Any]:
        """What an operation answers; what it says of that where it is one of the `known` codes.

        Raises SendFailed, NotInstalled.
        """
        return await asyncio.to_thread(self.called, operation, arguments, known)

    def called(
        self, operation: str, arguments: dict[str, Any], known: Collection[str] = ()
    ) -> dict[str, Any]:
        """The same, for who has a thread to wait in."""
        require_extra("aws", "Queues and tables of AWS need")
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            found: dict[str, Any] = getattr(self._client(), operation)(**arguments)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code in known:
                return dict(error.response)
            if not (final := code in REFUSING):
                self.close()
            said = f"{self._service} said {code}: {error}"
            raise SendFailed(said, final=final) from error
        except (BotoCoreError, ValueError) as error:  # ValueError: AWS_ENDPOINT_URL is no address
            self.close()
            raise SendFailed(f"{self._service}: {error}") from error
        return found

    def _client(self) -> Any:
        with self._lock:
            if self._made is None:
                from botocore.config import Config
                from botocore.session import get_session

                config = Config(
                    connect_timeout=CONNECT,
                    read_timeout=READ,
                    retries={"total_max_attempts": 1, "mode": "standard"},
                )
                self._made = get_session().create_client(
                    self._service, region_name=self._region or None, config=config
                )
            return self._made

    def close(self) -> None:
        """Let the connections go."""
        with self._lock:
            if self._made is not None:
                self._made.close()
                self._made = None


# ---------------------------------------------------------------- is it there, and may it be used?

NOWHERE = {"pk": {"S": "doctor:nowhere"}, "sk": {"S": "0"}}
NEVER = "attribute_exists(pk)"
REFUSED = ("ConditionalCheckFailedException",)
UNSAYABLE = "\x01"
NO_SUCH_HANDLE = ("ReceiptHandleIsInvalid", "InvalidParameterValue")


def table_findings(
    client: AwsClient, table: str, *, scanned: bool = False
) -> Iterator[SinkFinding]:
    """A table: there, with its keys, and with the rights to put, change, delete and query."""
    named = {"TableName": table}
    mend = f"Make the table {table} (deploy/terraform does), or check AWS_REGION and the rights."
    try:
        found = client.called("describe_table", named)
    except LoopforgeError as error:
        yield SinkFinding("bad", f"the table {table} cannot be looked at: {error}", mend)
        return
    described = found["Table"]
    keys = {each["KeyType"]: each["AttributeName"] for each in described["KeySchema"]}
    types = {
        each["AttributeName"]: each["AttributeType"] for each in described["AttributeDefinitions"]
    }
    if keys != {"HASH": "pk", "RANGE": "sk"} or {types.get("pk"), types.get("sk")} != {"S"}:
        said = f"the table {table} has other keys than `pk` and `sk`, both strings."
        yield SinkFinding("bad", said, "Make it anew with those, and name that.")
        return
    condition = {"ConditionExpression": NEVER}
    query = {"KeyConditionExpression": "pk = :pk", "Limit": 1}
    tries: dict[str, dict[str, Any]] = {
        "put_item": {"Item": NOWHERE, **condition},
        "update_item": {"Key": NOWHERE, **condition},
        "delete_item": {"Key": NOWHERE, **condition},
        "query": {**query, "ExpressionAttributeValues": {":pk": NOWHERE["pk"]}},
    }
    if scanned:
        tries["scan"] = {"Limit": 1}
    for operation, asked in tries.items():
        if why := _refused(client, operation, {**named, **asked}, REFUSED):
            action = "dynamodb:" + "".join(word.capitalize() for word in operation.split("_"))
            said = f"the table {table} does not let us {operation}: {why}"
            yield SinkFinding(
                "bad", said, f"Allow {action} on it, as deploy/terraform/role.tf does."
            )
            return
    yield SinkFinding("ok", f"the table {table} is there, and may be used.", "")


def queue_findings(client: AwsClient, url: str, longest: int) -> Iterator[SinkFinding]:
    """A queue that events are sent to: there, long enough for them, with the right to send."""
    name = url.rpartition("/")[2]
    attributes = yield from _attributes(client, url, name)
    if attributes is None:
        return
    if int(attributes.get("MaximumMessageSize", longest)) < longest:
        said = f"the queue {name} takes no messages of {longest:,} bytes."
        yield SinkFinding("bad", said, "Set its maximum message size to 256 KiB or more.")
        return
    asked = {"QueueUrl": url, "MessageBody": UNSAYABLE}
    if name.endswith(".fifo"):
        asked |= {"MessageGroupId": "doctor", "MessageDeduplicationId": "doctor"}
    if why := _refused(client, "send_message", asked, ("InvalidMessageContents",)):
        said = f"the queue {name} does not let us send: {why}"
        yield SinkFinding("bad", said, "Allow sqs:SendMessage on it.")
        return
    yield SinkFinding("ok", f"the queue {name} is there, and may be sent to.", "")


def intake_findings(client: AwsClient, queue: str) -> Iterator[SinkFinding]:
    """A queue that lines are taken from: there, with a right, and a dead-letter queue."""
    url = queue
    if "://" not in queue:
        try:
            url = str(client.called("get_queue_url", {"QueueName": queue})["QueueUrl"])
        except LoopforgeError as error:
            mend = f"Make the queue {queue}, or check AWS_REGION and the right sqs:GetQueueUrl."
            yield SinkFinding("bad", f"the queue {queue} is not found: {error}", mend)
            return
    name = url.rpartition("/")[2]
    attributes = yield from _attributes(client, url, name)
    if attributes is None:
        return
    if "RedrivePolicy" not in attributes:
        said = f"the queue {name} has no dead-letter queue: what cannot be heard comes for days."
        yield SinkFinding("warn", said, "Give it one, as deploy/terraform/queues.tf does.")
    asked = {"QueueUrl": url, "ReceiptHandle": "doctor"}
    if why := _refused(client, "delete_message", asked, NO_SUCH_HANDLE):
        said = f"the queue {name} does not let us delete: {why}"
        mend = "Allow sqs:ReceiveMessage and sqs:DeleteMessage on it."
        yield SinkFinding("bad", said, mend)
        return
    yield SinkFinding("ok", f"the queue {name} is there, and may be read.", "")


def _attributes(
    client: AwsClient, url: str, name: str
) -> Generator[SinkFinding, None, dict[str, str] | None]:
    """What is known of a queue; None where nothing is, and that was said."""
    try:
        asked = {"QueueUrl": url, "AttributeNames": ["All"]}
        found = client.called("get_queue_attributes", asked)
    except LoopforgeError as error:
        mend = "Check its URL, AWS_REGION, the keys, and the right sqs:GetQueueAttributes."
        yield SinkFinding("bad", f"the queue {name} cannot be looked at: {error}", mend)
        return None
    attributes: dict[str, str] = found.get("Attributes", {})
    return attributes


def _refused(
    client: AwsClient, operation: str, asked: dict[str, Any], known: tuple[str, ...]
) -> str:
    """Why it may not be done; "" where it may."""
    try:
        client.called(operation, asked, known)
    except SendFailed as error:
        return str(error)
    return ""
