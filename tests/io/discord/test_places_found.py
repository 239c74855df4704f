"""Looking for a place of Discord: what is said of it, and what is said by something on the way."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

import discord
from loopforge.errors import SendFailed
from loopforge.io.discord.connection.bot_accounts import find_channel
from loopforge.io.discord.connection.gateway_client import GatewayClient


def asked(error: type[discord.HTTPException], status: int, kind: str) -> GatewayClient:
    """A client that knows no place by itself, and is refused like this."""
    answer = SimpleNamespace(status=status, reason="", headers={"Content-Type": kind})

    async def fetch_channel(_id: int) -> Any:
        raise error(cast("Any", answer), "<html>" if "html" in kind else {"code": 0, "message": ""})

    none = SimpleNamespace(privates={}, get_channel=lambda _id: None, fetch_channel=fetch_channel)
    return cast("GatewayClient", none)


@pytest.mark.parametrize(("error", "status"), [(discord.Forbidden, 403), (discord.NotFound, 404)])
async def test_a_proxy_takes_no_place_away(error: type[discord.HTTPException], status: int) -> None:
    """Discord's own no means that it is not seen; a page of something before it means nothing."""
    assert await find_channel(asked(error, status, "application/json"), 1) is None
    with pytest.raises(SendFailed, match="a gateway or a proxy before Discord") as refused:
        await find_channel(asked(error, status, "text/html"), 1)
    assert not refused.value.final
