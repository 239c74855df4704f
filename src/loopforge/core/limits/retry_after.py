"""How long a server asks to wait, by the header Retry-After of its answer (RFC 9110)."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite

LONGEST = 30 * 86_400.0
"""Seconds that are told at most: a clock that is put forward by what a server says must exist."""


def retry_after(said: str, now: datetime) -> float | None:
    """Seconds from `now`, told as a number or as a date; None where it is neither."""
    try:
        seconds = float(said)
    except ValueError:
        try:
            until = parsedate_to_datetime(said)
        except (ValueError, OverflowError):  # a year, or a zone, of twenty digits
            return None
        seconds = ((until if until.tzinfo else until.replace(tzinfo=UTC)) - now).total_seconds()
    return min(max(seconds, 0.0), LONGEST) if isfinite(seconds) else None
