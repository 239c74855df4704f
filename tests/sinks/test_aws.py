"""SQS and DynamoDB, by moto's server as a process, through trouble: at least once, in order, whole."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from loopforge.core.memory.memory_vocabulary import MemoryKept
from loopforge.core.room_vocabulary import Said
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Asked, PieceRun, TextPiece
from loopforge.core.work.work_vocabulary import TaskSteered
from loopforge.errors import SendFailed
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.sql_ledger import SqlLedger, open_ledger
from loopforge.settings import load_settings
from loopforge.sinks import sink_runner
from loopforge.sinks.aws_client import AwsClient
from loopforge.sinks.dynamodb import DynamodbSettings, DynamodbTables
from loopforge.sinks.sink_plugin import OutletChoice, sinks_of
from loopforge.sinks.sqs import SqsQueue
from tests.sim_clock import SimClock
from tests.sinks.aws_faults import (
    REGION,
    AwsFault,
    FaultyAws,
    answered,
    new_queue,
    new_tables,
    received,
)
from tests.sinks.conftest import (
    BEGAN,
    STAMP,
    STREAMS,
    Watched,
    begin,
    go_on,
    happen,
    outlet_running,
)

pytestmark = pytest.mark.xdist_group("moto")
TURNS = 5


async def sent(ledger: SqlLedger, url: str) -> None:
    """All that happens to three tasks is sent there."""
    outlet = SqsQueue(url, AwsClient("sqs", REGION), texts=False)
    async with outlet_running(ledger, outlet):
        for stream in STREAMS:
            await begin(ledger, stream)
            await go_on(ledger, stream, *range(1, TURNS))
        while await passed(ledger) != dict.fromkeys(STREAMS, TURNS):
            await STAMP.clock.sleep(0.02)


async def passed(ledger: SqlLedger) -> dict[str, int]:
    """How far the sink came, by its cursor."""
    from loopforge.ledger.storage.sink_cursors import SinkCursors

    return dict(await SinkCursors(ledger).begin("it", history=True))


def first_places(found: list[dict[str, Any]], stream: str) -> list[int]:
    """The places of a stream as they came, each where it came first."""
    return list(dict.fromkeys(int(x["sequence"]) for x in found if x["subject"] == stream))


FAULTS: list[AwsFault | None] = [
    500,
    None,
    "reset",
    None,
    "late reset",
    429,
    None,
    "twice",
    None,
    503,
]


async def test_a_fifo_queue_has_each_event_once_and_in_order(
    ledger: SqlLedger, aws: FaultyAws
) -> None:
    """What is sent twice is there once, since the event's id is its own; each task is in order."""
    url = await new_queue("once.fifo")
    faults = itertools.cycle(FAULTS)
    aws.fault = lambda _: next(faults)
    await sent(ledger, url)
    aws.fault = lambda _: None
    found = await received(url)
    for stream in STREAMS:
        places = [int(each["sequence"]) for each in found if each["subject"] == stream]
        assert places == list(range(1, TURNS + 1))


async def test_a_standard_queue_has_every_event(ledger: SqlLedger, aws: FaultyAws) -> None:
    """Also where of a batch one is not taken, and where a call is done and seems to have failed."""
    url = await new_queue("often")
    faults = itertools.cycle([*FAULTS, "partial", "partial"])
    aws.fault = lambda _: next(faults)
    await sent(ledger, url)
    aws.fault = lambda _: None
    found = await received(url)
    for stream in STREAMS:
        assert set(first_places(found, stream)) == set(range(1, TURNS + 1))


async def test_a_message_that_a_queue_refuses_for_good_holds_up_its_own_task_alone(
    ledger: SqlLedger, aws: FaultyAws
) -> None:
    """The others go on meanwhile; what was taken of its batch is there once, however often it is tried."""
    url = await new_queue("picky")
    outlet = SqsQueue(url, AwsClient("sqs", REGION), texts=False)
    await begin(ledger, STREAMS[0])
    await go_on(ledger, STREAMS[0], 1, 2)
    for stream in STREAMS[1:]:
        await begin(ledger, stream)
    aws.fault = lambda _: "refused"
    async with outlet_running(ledger, outlet):
        while len(await passed(ledger)) < len(STREAMS) - 1 or aws.asked < 20:
            await STAMP.clock.sleep(0.02)
        assert await passed(ledger) == dict.fromkeys(STREAMS[1:], 1)
        aws.fault = lambda _: None
        while len(await passed(ledger)) < len(STREAMS):
            await STAMP.clock.sleep(0.02)
    found = await received(url)
    places = sorted(int(each["sequence"]) for each in found if each["subject"] == STREAMS[0])
    assert places == [1, 2, 3]


async def test_a_message_that_is_too_long_for_a_fifo_queue_holds_up_its_own_task_alone(
    ledger: SqlLedger, aws: FaultyAws
) -> None:
    """The queue was made for shorter ones: the others go on, and it goes when the queue takes it."""
    url = await new_queue("short.fifo")
    client = AwsClient("sqs", REGION)
    size = {"QueueUrl": url, "Attributes": {"MaximumMessageSize": "3000"}}
    await client.call("set_queue_attributes", size)
    outlet = SqsQueue(url, AwsClient("sqs", REGION), texts=True)
    async with outlet_running(ledger, outlet):
        await begin(ledger, STREAMS[0], "Mend the clock. " * 400)
        for stream in STREAMS[1:]:
            await begin(ledger, stream)
        while await passed(ledger) != dict.fromkeys(STREAMS[1:], 1):
            await STAMP.clock.sleep(0.02)
        size["Attributes"] = {"MaximumMessageSize": "262144"}
        await client.call("set_queue_attributes", size)
        while await passed(ledger) != dict.fromkeys(STREAMS, 1):
            await STAMP.clock.sleep(0.02)
    client.close()
    assert aws.asked


async def test_keys_that_are_given_later_are_found_without_a_restart(
    tmp_path: Any, aws: FaultyAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None, then some in AWS's own file: the next try has them. An address that is none is said."""
    url = await new_queue("keyless")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    keys = tmp_path / "credentials"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(keys))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    client, asked = AwsClient("sqs", REGION), {"QueueUrl": url}
    with pytest.raises(SendFailed, match="Unable to locate credentials"):
        await client.call("receive_message", asked)
    keys.write_text("[default]\naws_access_key_id = key\naws_secret_access_key = secret\n")
    assert await client.call("receive_message", asked) is not None
    client.close()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "nonsense")
    with pytest.raises(SendFailed, match="Invalid endpoint: nonsense"):
        await client.call("receive_message", asked)
    assert aws.asked


@pytest.mark.patient
async def test_two_hours_of_throttling_lose_nothing(ledger: SqlLedger, aws: FaultyAws) -> None:
    """While the queue takes nothing, tasks go on at once; then all of it comes, in order."""
    url, clock = await new_queue("away.fifo"), SimClock(BEGAN)
    sink_runner.PAUSES = (1.0, 5.0, 30.0, 120.0)
    outlet = Watched(SqsQueue(url, AwsClient("sqs", REGION), texts=False))
    clock.while_busy(lambda: ledger.working or outlet.flying)
    aws.fault = lambda _: 429 if clock.ticks() < 7200 else None
    async with outlet_running(ledger, outlet, clock=clock):
        for stream in STREAMS:
            await begin(ledger, stream)
        for nth in range(1, TURNS):
            for stream in STREAMS:
                await go_on(ledger, stream, nth)
            await clock.advance(7200 / (TURNS - 1))
        await clock.advance(240)
    found = await received(url)
    for stream in STREAMS:
        places = [int(each["sequence"]) for each in found if each["subject"] == stream]
        assert places == list(range(1, TURNS + 1))


async def test_an_event_that_no_message_takes_goes_in_parts(
    ledger: SqlLedger, aws: FaultyAws
) -> None:
    """The parts, put together in order, are the event."""
    url, text = await new_queue("long.fifo"), 'so "long"\n' * 60_000
    outlet = SqsQueue(url, AwsClient("sqs", REGION), texts=True)
    choice = OutletChoice(history=True, kinds="task.steered")
    async with outlet_running(ledger, outlet, choice):
        await happen(ledger, "task:a", TaskSteered(person="p", text=Words(text)))
        while await passed(ledger) != {"task:a": 1}:
            await STAMP.clock.sleep(0.02)
    found = await received(url)
    assert len(found) == found[0]["parts"] > 1
    whole = json.loads("".join(each["data"] for each in sorted(found, key=lambda x: x["part"])))
    assert whole["data"]["body"]["text"] == text
    assert {each["partof"] for each in found} == {whole["id"]}
    assert aws.asked


async def test_a_queue_is_named_by_either_spelling(tmp_path: Any) -> None:
    """The variable is read as it is written and as it is often written; the right one counts."""
    right, wrong = "AGENTIC_EVENTS_QUEUE_URL", "AGNETIC_EVENTS_QUEUE_URL"
    for environ, queue in (
        ({wrong: "https://sqs.x/1/typo"}, "https://sqs.x/1/typo"),
        ({wrong: "https://sqs.x/1/typo", right: "https://sqs.x/1/right"}, "https://sqs.x/1/right"),
    ):
        settings = load_settings(tmp_path, environ={**environ, "AWS_REGION": "eu-central-1"})
        (one,) = sinks_of(settings)
        assert isinstance(one.sink, SqsQueue)
        assert one.place == f"SQS queue {queue.rpartition('/')[2]}"
        assert settings.sources["sqs_queue"] in environ


# ---------------------------------------------------------------- tables


async def items(table: str) -> list[dict[str, Any]]:
    """Everything in a table, in the order of its keys."""
    client = AwsClient("dynamodb", REGION)
    found, asked = list[dict[str, Any]](), dict[str, Any](TableName=table)
    while page := answered(await client.call("scan", asked)):
        found += page["Items"]
        if "LastEvaluatedKey" not in page:
            break
        asked["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    client.close()
    plain = [{key: next(iter(value.values())) for key, value in each.items()} for each in found]
    return sorted(plain, key=lambda each: (each["pk"], each["sk"]))


async def test_tables_have_each_event_once_and_how_tasks_stand(
    ledger: SqlLedger, aws: FaultyAws
) -> None:
    """Through trouble, and again from the beginning: no event twice, nothing newer overwritten."""
    options = await new_tables("t")
    faults = itertools.cycle(FAULTS)
    aws.fault = lambda _: next(faults)
    wanted = {STREAMS[0]: 3, "room:r": 1}
    for again in range(2):
        if again:
            await ledger.change(lambda found: found.exec_driver_sql("DELETE FROM sink_cursors"))
        outlet = DynamodbTables(options, AwsClient("dynamodb", REGION))
        async with outlet_running(ledger, outlet, options):
            if not again:
                await begin(ledger, STREAMS[0])
                await go_on(ledger, STREAMS[0], 1, 2)
                await happen(ledger, "room:r", Said(turn="t", mate="maya", text=Words("Hello.")))
            while await passed(ledger) != wanted:
                await STAMP.clock.sleep(0.02)
    aws.fault = lambda _: None
    executions = [(each["pk"], each["sk"]) for each in await items(options.executions)]
    assert executions == [(STREAMS[0], f"{n:012}") for n in (1, 2, 3)]
    (message,) = await items(options.messages)
    assert (message["pk"], message["type"]) == ("room:r", "room.said")
    assert "Hello." not in message["body"]
    (session,) = await items(options.sessions)
    assert (session["stage"], session["turns"], session["seq"]) == ("working", "2", "3")
    assert session["mate"] == "maya"


async def test_a_long_event_is_split_and_forgotten_whole(ledger: SqlLedger, aws: FaultyAws) -> None:
    """Longer than an item, and than an answer takes (1 MB): all of it is there, in parts; erased, none is."""
    options = await new_tables("long", texts=True)
    said = "a sécret " * 150_000
    choice = DynamodbSettings(texts=True, history=True, kinds="")
    outlet = DynamodbTables(options, AwsClient("dynamodb", REGION))
    async with outlet_running(ledger, outlet, choice):
        long = TaskSteered(person="p", text=Words(said))
        kept = TaskSteered(person="p", text=Words("a word"))
        id, _ = await happen(ledger, "task:a", long, kept)
        while await passed(ledger) != {"task:a": 2}:
            await STAMP.clock.sleep(0.02)
        head, *parts, other = await items(options.executions)
        assert int(head["parts"]) == len(parts) > 1
        assert json.loads("".join(each["body"] for each in parts))["body"]["text"] == said
        await ledger.erase(ErasureRequest(events=(id,)))
        faults: Iterator[AwsFault | None] = iter(["late reset", None, 500, None, "late reset"])
        aws.fault = lambda _: next(faults, None)
        while await passed(ledger) != {"task:a": 3}:
            await STAMP.clock.sleep(0.02)
        aws.fault = lambda _: None
    head, other, erased = await items(options.executions)
    assert "sécret" not in str(await items(options.executions))
    assert json.loads(head["body"])["body"]["text"] == "[forgotten]"
    assert json.loads(other["body"])["body"]["text"] == "a word"
    assert erased["kind"] == "ledger.erased"


async def test_parts_whose_event_was_not_put_are_forgotten_with_it(
    ledger: SqlLedger, aws: FaultyAws
) -> None:
    """The parts were taken, the event itself was not, and then its text was erased: none is left."""
    options = await new_tables("half", texts=True)
    puts = list[str]()

    def third(operation: str) -> AwsFault | None:
        puts.extend([operation] if operation == "PutItem" else [])
        return 429 if len(puts) > 2 else None

    choice = DynamodbSettings(texts=True, history=True, kinds="")
    outlet = DynamodbTables(options, AwsClient("dynamodb", REGION))
    aws.fault = third
    async with outlet_running(ledger, outlet, choice):
        (id,) = await happen(
            ledger, "task:a", TaskSteered(person="p", text=Words("a secret " * 90_000))
        )
        while len(puts) < 3:
            await STAMP.clock.sleep(0.02)
        await ledger.erase(ErasureRequest(events=(id,)))
        aws.fault = lambda _: None
        while await passed(ledger) != {"task:a": 2}:
            await STAMP.clock.sleep(0.02)
    held = [each["sk"] for each in await items(options.executions) if "secret" in str(each)]
    assert held == []


async def test_what_is_forgotten_elsewhere_is_forgotten_in_every_task_that_shows_it(
    ledger: SqlLedger, aws: FaultyAws
) -> None:
    """An item of memory that stands in the prompts of two tasks, one of them in parts; the rest stays."""
    options = await new_tables("shown", texts=True)
    choice = DynamodbSettings(texts=True, history=True, kinds="")
    outlet = DynamodbTables(options, AwsClient("dynamodb", REGION))
    secret = Words("a sécret")
    async with outlet_running(ledger, outlet, choice, forgets=True):
        kept = MemoryKept(layer="fact", text=secret, made_by="idle")
        (id,) = await happen(ledger, "memory:maya", kept)
        for stream, more in (("task:a", "a word"), ("task:b", "a word " * 60_000)):
            prompt = PieceRun(more=(TextPiece("user", (Words(more), secret)),))
            await happen(ledger, stream, Asked(turn="t", nth=1, purpose="work", prompt=prompt))
        while await passed(ledger) != {"task:a": 1, "task:b": 1}:
            await STAMP.clock.sleep(0.02)
        assert str(await items(options.executions)).count("a sécret") == 2
        await ledger.erase(ErasureRequest(events=(id,), exactly=True))
        while (await passed(ledger)).get("memory:maya") != 2:
            await STAMP.clock.sleep(0.02)
    left = "".join(each.get("body", "") for each in await items(options.executions))
    assert left.count("a sécret") == 0
    assert left.count("[forgotten]") == 2
    assert left.count("a word") == 1 + 60_000


async def test_another_event_in_the_place_of_one_is_told_and_holds_up_its_stream_alone(
    ledger: SqlLedger, tmp_path: Any, aws: FaultyAws
) -> None:
    """Two homes with one table, or one that was restored: nothing is taken for there that is not."""
    options = await new_tables("shared")
    other = await open_ledger(f"sqlite:///{tmp_path}/y.db", STAMP.clock, STAMP.dice)
    async with outlet_running(
        other, DynamodbTables(options, AwsClient("dynamodb", REGION)), options
    ):
        await begin(other, STREAMS[0])
        while await passed(other) != {STREAMS[0]: 1}:
            await STAMP.clock.sleep(0.02)
    await other.close()
    outlet = DynamodbTables(options, AwsClient("dynamodb", REGION))
    async with outlet_running(ledger, outlet, options) as sinks:
        for stream in STREAMS[:2]:
            await begin(ledger, stream)
        while await passed(ledger) != {STREAMS[1]: 1}:
            assert STREAMS[0] not in await passed(ledger)
            await STAMP.clock.sleep(0.02)
        (standing,) = await sinks.standings()
        assert "has another event at task:a" in standing.trouble
    assert aws.asked
