"""The judge: what does not fit the official documents is found, on either side."""

from typing import Any

import pytest

from tests.telegram.records import Deviation
from tests.telegram.wire import Judge, Refused, methods

CHAT = {"id": 1, "type": "private"}
MESSAGE: dict[str, Any] = {"message_id": 1, "date": 0, "chat": CHAT, "text": "x"}


@pytest.fixture
def judge() -> Judge:
    """A judge of one case."""
    return Judge(lambda: None)


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"text": None}, "text: Input should be a valid string"),
        ({"reply_parameters": "{"}, "can't parse reply_parameters JSON object"),
        ({"disable_notification": "perhaps"}, "disable_notification"),
    ],
)
def test_a_request_that_cannot_be_read(judge: Judge, more: dict[str, Any], error: str) -> None:
    """A parameter of a wrong kind is refused with 400 and is on record."""
    with pytest.raises(Refused) as caught:
        judge.request(methods()["sendmessage"], {"chat_id": 1, "text": "x", **more})
    assert caught.value.code == 400
    assert error in caught.value.description
    assert [one.where for one in judge.deviations] == ["sendMessage"]


def test_strange_keys(judge: Judge) -> None:
    """A parameter that does not exist is told, on top and deep inside; the call goes on."""
    deep = {"message_id": 1, "colour": "red"}
    judge.request(
        methods()["sendmessage"], {"chat_id": 1, "text": "x", "size": 3, "reply_parameters": deep}
    )
    assert [one.what for one in judge.deviations] == [
        "there is no parameter size",
        "there is no sendMessage.reply_parameters.colour",
    ]


def test_the_twin_itself_is_judged(judge: Judge) -> None:
    """Results and updates that Telegram could not send are told as the twin's own."""
    judge.result(methods()["sendmessage"], MESSAGE)
    judge.update({"update_id": 1, "message": MESSAGE})
    assert judge.deviations == []
    judge.result(methods()["sendmessage"], {**MESSAGE, "chat": {"id": 1}})
    judge.result(methods()["sendmessage"], {**MESSAGE, "chat": {**CHAT, "mood": "good"}})
    judge.update({"update_id": 1, "messages": [MESSAGE]})
    assert judge.deviations == [
        Deviation("sendMessage", "the twin's own: chat.type: Field required"),
        Deviation("sendMessage", "the twin's own: there is no sendMessage.chat.mood"),
        Deviation("getUpdates", "the twin's own: there is no getUpdates.messages"),
    ]
