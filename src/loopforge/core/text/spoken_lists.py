"""Words in a row, how many there are of something, and how long it takes, as one says them."""

import math
from collections.abc import Iterable


def join_as_prose(words: Iterable[str], most: int = 0) -> str:
    """Ana; Ana and Bo; Ana, Bo and Cem; of more than `most` the first ones, and how many follow."""
    found = list(words)
    if 0 < most < len(found):
        found = [*found[:most], f"{len(found) - most} more"]
    *first, last = found or [""]
    return f"{', '.join(first)} and {last}" if first else last


def hours_in_words(hours: int) -> str:
    """Such as "an hour", "36 hours", "a day", "3 days"."""
    days, rest = divmod(hours, 24)
    if hours and not rest:
        return "a day" if days == 1 else pluralize(days, "day")
    return "an hour" if hours == 1 else pluralize(hours, "hour")


def seconds_in_words(seconds: float) -> str:
    """Such as "5 seconds", "90 minutes", "3 hours" and "2 days"; never less than it is by far."""
    whole = max(0, math.ceil(seconds))
    if whole < 60:
        return pluralize(whole, "second")
    minutes = math.ceil(whole / 60)
    return pluralize(minutes, "minute") if minutes < 100 else hours_in_words(round(minutes / 60))


def about_in_words(seconds: float) -> str:
    """Such as "a moment", "about 10 minutes", "about an hour": never less than it is by far."""
    minutes = math.ceil(seconds / 60)
    if minutes <= 1:
        return "a moment" if seconds <= 20 else "about a minute"
    if minutes < 50:
        return f"about {minutes if minutes < 10 else math.ceil(minutes / 5) * 5} minutes"
    return f"about {hours_in_words(max(1, math.ceil(minutes / 60 - 0.25)))}"


def pluralize(count: int, one: str, more: str = "") -> str:
    """Such as "1 line" and "2 lines"; `more` for what does not end in an s."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
