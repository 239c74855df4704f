"""The twin's limits: what Telegram documents, and that a client is told how long to wait."""

from datetime import UTC, datetime

import pytest

from tests.sim_clock import SimClock
from tests.telegram.floods import Floods
from tests.telegram.wire import Refused

BOT, GROUP, ANA = 7, -1001, 1001


def waits(floods: Floods, chat: int, method: str = "sendMessage") -> int:
    """Seconds that a call is told to wait; 0 if it is let through."""
    try:
        floods.weigh(method, BOT, str(chat))
    except Refused as refused:
        return refused.parameters["retry_after"]
    return 0


async def test_a_group_takes_twenty_in_a_minute() -> None:
    """Messages and edits count together; the first one makes room when its minute is over."""
    clock = SimClock(datetime(2026, 11, 22, tzinfo=UTC))
    floods = Floods(clock)
    for n in range(20):
        assert waits(floods, GROUP, ("sendMessage", "stopMessageLiveLocation")[n % 2]) == 0
        await clock.advance(1)
    assert waits(floods, GROUP) == 40
    assert waits(floods, ANA) == 0
    assert floods.impatient == 0
    await clock.advance(20)
    assert waits(floods, GROUP) == 20
    assert floods.impatient == 1
    await clock.advance(20)
    assert waits(floods, GROUP) == 0


@pytest.mark.parametrize("chat", [GROUP, ANA])
async def test_a_chat_takes_one_in_a_second(chat: int) -> None:
    """A short burst is let through, then one in a second."""
    clock = SimClock(datetime(2026, 11, 22, tzinfo=UTC))
    floods = Floods(clock)
    assert [waits(floods, chat) for _ in range(6)] == [0, 0, 0, 0, 0, 1]
    assert [waits(floods, chat, name) for name in ("sendChatAction", "deleteMessage")] == [0, 0]
    await clock.advance(1)
    assert [waits(floods, chat) for _ in range(2)] == [0, 1]
