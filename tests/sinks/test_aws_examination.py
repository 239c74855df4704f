"""`doctor --deep`, by moto's server: what is there and may be used, what is not, how to mend it."""

import asyncio
from pathlib import Path

import pytest

from loopforge.cli.health_checks.health_finding import DoctorFinding
from loopforge.cli.health_checks.platform_checks import check_external_places
from loopforge.settings import load_settings
from loopforge.sinks.aws_client import AwsClient
from tests.moto_server import BucketServer
from tests.sinks.aws_faults import REGION, FaultyAws, new_queue, new_tables

pytestmark = pytest.mark.xdist_group("moto")


async def found(home: Path, **environ: str) -> list[DoctorFinding]:
    """What the doctor says of such a home."""
    settings = load_settings(home, environ={"AWS_REGION": REGION, **environ})
    return await asyncio.to_thread(lambda: list(check_external_places(settings)))


async def test_what_is_there_and_may_be_used_is_well(
    tmp_path: Path, aws: FaultyAws, server: BucketServer
) -> None:
    """Tables, both queues and the bucket are looked at; nothing is left in them."""
    tables, url = await new_tables("deep"), await new_queue("deep.fifo")
    await new_queue("deep_messages")
    server.make("deep-bucket")
    said = await found(
        tmp_path,
        DYNAMODB_SESSIONS_TABLE=tables.sessions,
        DYNAMODB_EXECUTIONS_TABLE=tables.executions,
        AGENTIC_EVENTS_QUEUE_URL=url,
        LOOPFORGE_INTAKE_OPEN="true",
        LOOPFORGE_INTAKE_QUEUE="deep_messages",
        LOOPFORGE_BACKUP_TO="s3://deep-bucket/backups",
        S3_ARTIFACT_BUCKET="deep-bucket/workspaces",
    )
    assert sorted((each.check, each.state) for each in said) == [
        ("bucket", "ok"),
        ("bucket", "ok"),
        ("dynamodb", "ok"),
        ("dynamodb", "ok"),
        ("intake", "note"),
        ("intake", "ok"),
        ("sqs", "ok"),
    ]
    assert any("no dead-letter queue" in each.said for each in said)
    client = AwsClient("dynamodb", REGION)
    for table in (tables.sessions, tables.executions):
        scanned = await client.call("scan", {"TableName": table})
        assert (scanned or {})["Count"] == 0
    client.close()
    assert aws.asked


async def test_what_is_not_there_is_said_with_how_to_mend_it(
    tmp_path: Path, aws: FaultyAws
) -> None:
    """No such table, queue or bucket: one sentence each, and what to do."""
    said = await found(
        tmp_path,
        DYNAMODB_SESSIONS_TABLE="nothing",
        AGENTIC_EVENTS_QUEUE_URL=f"{aws.address}/123456789012/nothing",
        LOOPFORGE_INTAKE_OPEN="true",
        LOOPFORGE_INTAKE_QUEUE="nothing_either",
        LOOPFORGE_BACKUP_TO="s3://nothing-at-all/x",
        S3_ARTIFACT_BUCKET="nothing-at-all",
    )
    assert sorted((each.check, each.state) for each in said) == [
        ("bucket", "wrong"),
        ("bucket", "wrong"),
        ("dynamodb", "wrong"),
        ("intake", "wrong"),
        ("sqs", "wrong"),
    ]
    assert all(each.mend for each in said)


@pytest.mark.sample(2)
@pytest.mark.parametrize("operation", ["PutItem", "Query", "Scan", "SendMessage", "DeleteMessage"])
async def test_a_right_that_lacks_is_named(tmp_path: Path, aws: FaultyAws, operation: str) -> None:
    """Everything is there, and one thing is not allowed: which, and on what."""
    tables, url = await new_tables(f"no-{operation}"), await new_queue(f"no-{operation}")
    aws.fault = lambda asked: 403 if asked == operation else None
    said = await found(
        tmp_path,
        DYNAMODB_EXECUTIONS_TABLE=tables.executions,
        LOOPFORGE_DYNAMODB_TEXTS="true",
        AGENTIC_EVENTS_QUEUE_URL=url,
        LOOPFORGE_INTAKE_OPEN="true",
        LOOPFORGE_INTAKE_QUEUE=url,
    )
    (wrong,) = [each for each in said if each.state == "wrong"]
    assert operation in wrong.mend
    assert "AccessDenied" in wrong.said


async def test_what_is_made_otherwise_than_it_has_to_be_is_said(
    tmp_path: Path, aws: FaultyAws
) -> None:
    """A table with other keys, and a queue that takes short messages alone: how each is mended."""
    url = await new_queue("deep-short")
    queues, tables = AwsClient("sqs", REGION), AwsClient("dynamodb", REGION)
    size = {"QueueUrl": url, "Attributes": {"MaximumMessageSize": "3000"}}
    await queues.call("set_queue_attributes", size)
    await tables.call(
        "create_table",
        {
            "TableName": "deep-other-keys",
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )
    said = await found(
        tmp_path, DYNAMODB_SESSIONS_TABLE="deep-other-keys", AGENTIC_EVENTS_QUEUE_URL=url
    )
    wrong = {each.check: each for each in said if each.state == "wrong"}
    assert "other keys than `pk` and `sk`" in wrong["dynamodb"].said
    assert "no messages of 250,000 bytes" in wrong["sqs"].said
    assert "256 KiB" in wrong["sqs"].mend
    assert [each.check for each in said if each.state == "ok"] == []
    queues.close()
    tables.close()
    assert aws.asked
