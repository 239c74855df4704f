"""How long a server asks to wait: as a number, as a date, or in no way that can be read."""

from datetime import UTC, datetime

import pytest

from loopforge.core.limits.retry_after import retry_after

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("7", 7.0),
        ("0.25", 0.25),
        ("-3", 0.0),
        ("Sun, 01 Mar 2026 12:20:00 GMT", 1200.0),
        ("Sun, 01 Mar 2026 12:20:00 -0000", 1200.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("Sun, 99 Mar 2026 12:20:00 GMT", None),
        ("Sun, 01 Mar 99999999999999999999 12:20:00 GMT", None),
        ("Sun, 01 Mar 2026 12:20:00 +99999999999999999999", None),
        ("1e300", 2_592_000.0),
        ("Sun, 01 Mar 9999 12:20:00 GMT", 2_592_000.0),
    ],
)
def test_a_wait_is_read(said: str, seconds: float | None) -> None:
    """Seconds and dates are read alike, never below nothing; what is neither is no wait."""
    assert retry_after(said, NOW) == seconds
