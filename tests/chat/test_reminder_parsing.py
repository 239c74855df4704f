"""Wishes to be reminded, as people say them: of what, and when."""

from datetime import UTC, datetime

import pytest

from loopforge.chat.reminders.reminder_parsing import wished_reminder

NOW = datetime(2026, 3, 25, 14, 0, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("line", "what", "when"),
    [
        ("remind me in 2 minutes to drink tea", "drink tea", "in 2 minutes"),
        ("Can you remind me tomorrow at 9 to call my mum?", "call my mum", "tomorrow at 9"),
        ("remind me to buy milk on Saturday at 10", "buy milk", "on Saturday at 10"),
        ("please remind me every day at 8 to take my pills", "take my pills", "every day at 8"),
        ("Remind me in an hour about the laundry", "the laundry", "in an hour"),
        ("set a reminder for 6pm: feed the cat", "feed the cat", "6pm"),
        ("Maya, remind me on 5 December at 14:00 to phone the bank", "phone the bank",
         "on 5 December at 14:00"),
        ("in ten minutes, remind me to stretch", "stretch", "in ten minutes"),
        ("hey Maya can you remind me at 15:00 that the cake is done", "the cake is done",
         "at 15:00"),
        ("remind me tonight to write", "write", "tonight"),
    ],
)  # fmt: skip
def test_a_whole_line_is_a_wish(line: str, what: str, when: str) -> None:
    """Politeness, names and little words belong to neither part; a time may stand before."""
    found = wished_reminder(line, NOW, "Europe/Berlin")
    assert found is not None
    assert (found[0].what, found[0].said) == (what, when)


@pytest.mark.parametrize(
    "line",
    ["remind me to call Anna", "which reminders do I have?", "you remind me of somebody", "hello"],
)
def test_without_a_time_it_is_none(line: str) -> None:
    """Nobody is reminded at no time of something."""
    assert wished_reminder(line, NOW, "Europe/Berlin") is None
