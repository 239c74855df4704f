"""Commands that Telegram kept while the home was away are read by the time when they were given."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from loopforge.runtime.system_clock import SystemClock
from tests.telegram.homes import on_telegram, pair
from tests.telegram.twin import serving

EVENING = datetime(2026, 3, 25, 22, tzinfo=UTC)


class SetClock(SystemClock):
    """A clock that a test sets."""

    def __init__(self, at: datetime) -> None:
        self.set(at)

    def set(self, at: datetime) -> None:
        """It is this late now."""
        self._at, self._began = at, self.ticks()

    def now(self) -> datetime:
        """UTC, aware."""
        return self._at + timedelta(seconds=self.ticks() - self._began)


async def asked_and_answered(path: Path, words: str, away: timedelta) -> tuple[str, list[datetime]]:
    """Ana asks to be reminded in the evening, and the home comes later; its answer, what is set."""
    clock = SetClock(EVENING)
    async with serving(clock) as twin:
        city = twin.city
        maya, ana = await pair(city)
        chat = await city.private(ana, maya)
        await city.command(ana, maya, "remind", words)
        clock.set(EVENING + away)
        async with on_telegram(path, maya, city.base, clock=clock) as home:
            (answer,) = await city.heard(chat, by=maya)
            (room,) = await home.rooms()
            waiting = await home.app.book.waiting(f"room:{room}")
        assert await city.deviations() == []
    return answer.text, [one.due for one in waiting if one.due]


async def test_tomorrow_is_the_day_after_it_was_said(tmp_path: Path) -> None:
    """Said in the evening and read after midnight, it is this morning."""
    told, due = await asked_and_answered(tmp_path, "tomorrow at 9:00: tea", timedelta(hours=4))
    assert due == [datetime(2026, 3, 26, 9, tzinfo=UTC)]
    assert told.startswith("Reminder 1: Thursday 26 March, 09:00, in 7 hours.")


async def test_two_hours_are_counted_from_when_it_was_said(tmp_path: Path) -> None:
    """What was to be in two hours is in one, where the words came an hour late."""
    _, (due,) = await asked_and_answered(tmp_path, "in two hours: tea", timedelta(hours=1))
    assert abs(due - EVENING - timedelta(hours=2)) < timedelta(seconds=30)


async def test_what_is_over_when_it_is_read(tmp_path: Path) -> None:
    """Nothing is set, and whoever asked is told that the moment is over, and why."""
    told, due = await asked_and_answered(tmp_path, "tomorrow at 9:00: tea", timedelta(hours=14))
    assert due == []
    assert told == (
        "Thursday 26 March, 09:00 is over already; give a moment that is still to come. "
        "Your words came here 14 hours after you wrote them."
    )
