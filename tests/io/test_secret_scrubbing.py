"""What is logged holds no token, however often tokens come and go."""

import logging
from collections.abc import Iterator

import pytest

from loopforge.io.platforms.secret_scrubbing import SecretScrubber, scrub_logs


@pytest.fixture
def handler() -> Iterator[logging.Handler]:
    """One more handler of everything that is logged."""
    handler, root = logging.NullHandler(), logging.getLogger()
    root.addHandler(handler)
    yield handler
    for each in root.handlers:
        each.filters[:] = [one for one in each.filters if not isinstance(one, SecretScrubber)]
    root.removeHandler(handler)


def test_one_filter_knows_them_all(handler: logging.Handler) -> None:
    """A handler has one filter, however often tokens are told; it knows the earlier ones too."""
    for secret in ("secret-one", "secret-two", "secret-two-and-more", "secret-one"):
        scrub_logs([secret])
    assert sum(isinstance(each, SecretScrubber) for each in handler.filters) == 1
    text = "secret-one, secret-two-and-more"
    record = logging.LogRecord("x", logging.INFO, "x.py", 1, "at %s", (text,), None)
    assert handler.filter(record)
    assert record.getMessage() == "at [token], [token]"


def test_a_librarys_own_mistake_is_not_raised_where_it_logs(handler: logging.Handler) -> None:
    """What does not fit its own form is told as it is, without the token."""
    scrub_logs(["secret-one"])
    record = logging.LogRecord("x", logging.INFO, "x.py", 1, "at %d", ("secret-one",), None)
    assert handler.filter(record)
    assert record.getMessage() == "at %d ('[token]',)"
