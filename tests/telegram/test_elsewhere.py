"""The twin in a process of its own: the same city, and a bot that is killed with -9."""

from __future__ import annotations

import aiohttp
import pytest

from tests.telegram.elsewhere import remote
from tests.telegram.records import Body, Bot
from tests.telegram.twin import Twin


async def test_commands_are_read_strictly(twin: Twin) -> None:
    """An unknown command, a wrong argument and what cannot be done are errors with words."""
    async with aiohttp.ClientSession() as http:
        far = remote(twin.base, http)
        ana = await far.person("Ana")
        with pytest.raises(ValueError, match="there is no account 404"):
            await far.private(ana, Bot(404, "Bram", "bram_bot", ""))
        wrong: tuple[tuple[str, Body], ...] = (
            ("dance", {}),
            ("person", {"name": 3}),
            ("perform", {}),
        )
        for command, arguments in wrong:
            async with http.post(f"{twin.base}/control/{command}", json=arguments) as response:
                assert (response.status, list(await response.json())) == (400, ["error"])
        async with http.get(f"{twin.base}/bot1:AAno/getMe") as response:
            assert response.status == 401
        async with http.get(f"{twin.base}/elsewhere") as response:
            assert response.status == 404
        assert [one.where for one in await far.forgive()] == ["/elsewhere"]
