"""A home whose clock is wrong by more than half a day, on Telegram."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.hurried_clock import HurriedClock
from tests.telegram.city import City
from tests.telegram.homes import on_telegram, pair


class WrongClock(HurriedClock):
    """So many hours ahead of the twin's."""

    def __init__(self, hours: float) -> None:
        super().__init__(8)
        self._hours = hours

    def now(self) -> datetime:
        """UTC, aware."""
        return super().now() + timedelta(hours=self._hours)


@pytest.mark.parametrize(("hours", "told"), [(13, "13 hours ahead of"), (-13, "13 hours behind")])
async def test_a_clock_that_is_wrong(tmp_path: Path, city: City, hours: int, told: str) -> None:
    """What people say is answered all the same, and whoever looks at the account is told."""
    maya, ana = await pair(city)
    chat = await city.private(ana, maya)
    await city.say(ana, maya, "hello")
    async with on_telegram(tmp_path, maya, city.base, clock=WrongClock(hours)) as home:
        (answer,) = await city.heard(chat, by=maya)
        assert answer.text == "This is answer 1."
        assert home.platforms.states()["telegram"]["maya"] == (
            f"connected; this machine's clock is {told} Telegram's, "
            "so that reminders ring at a wrong time"
        )
