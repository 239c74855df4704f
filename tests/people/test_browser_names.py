"""Which browser somebody uses, in few words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.people.accounts.account_decisions import LONGEST, browser_name

KIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (
            "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0",
            "Firefox on Linux",
        ),
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {KIT} Chrome/129.0 Safari/537.36",
            "Chrome on Windows",
        ),
        (
            f"Mozilla/5.0 (Windows NT 10.0) {KIT} Chrome/129.0 Safari/537.36 Edg/129.0",
            "Edge on Windows",
        ),
        (
            f"Mozilla/5.0 (Linux; Android 14) {KIT} Chrome/129.0 Mobile Safari/537.36",
            "Chrome on Android",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) Version/17.6 Safari/604.1",
            "Safari on iPhone",
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/17.6 Safari/605.1",
            "Safari on Mac",
        ),
        ("curl/8.9", "curl/8.9"),
        ("", "a browser"),
        ("\x00\n", "a browser"),
    ],
)
def test_known_browsers(agent: str, said: str) -> None:
    """Browsers are told apart though many call themselves by several names."""
    assert browser_name(agent) == said


@given(st.text(max_size=500))
def test_anything_else_is_short_and_plain(agent: str) -> None:
    """Whatever a browser sends, what is kept fits a line and can be printed."""
    said = browser_name(agent)
    assert 1 <= len(said) <= LONGEST
    assert said.isprintable()
