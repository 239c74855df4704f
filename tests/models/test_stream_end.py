"""How streams end, over real HTTP, and whether that was the end of the answer."""

import pytest

from tests.models.server import Behaviour
from tests.models.test_model_attempt import ask, piece


@pytest.mark.parametrize("end", [b"data: [DONE]\n\n", b"data:[DONE]\r\n\r\n"])
async def test_a_server_that_gives_no_reason_to_finish(end: bytes) -> None:
    """Some never do: an answer behind which OpenAI's sign of the end stands is whole."""
    said = piece({"content": "Hi!"})
    tried = await ask("chat", Behaviour(raw=said + end))
    assert (tried.outcome, tried.text, tried.detail, tried.cut) == ("answered", "Hi!", "", False)
    assert (await ask("chat", Behaviour(raw=said))).cause == "cut"
    assert (await ask("chat", Behaviour(raw=end))).outcome == "failed"
