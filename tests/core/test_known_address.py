"""Addresses in texts: what stands there whole was given, what is longer or shorter was not."""

import pytest

from loopforge.core.text.known_address import stands_in

GIVEN = [
    ("https://example.org/a", "read https://example.org/a please"),
    ("https://example.org/a", "read https://example.org/a."),
    ("https://example.org/a", "(https://example.org/a), then"),
    ("https://example.org/a", "[here](https://example.org/a) or [there](https://example.org/b)."),
    ("https://example.org/a", "[here](https://example.org/a)and on"),
    ("https://example.org/a#part", "https://example.org/a"),
    ("https://example.org/a", "https://example.org/a#part"),
    ("https://example.org/", "is example.org up?"),
    ("example.org", "https://Example.ORG/ is it"),
    ("http://example.org/a_(b)", "see https://example.org/a_(b)."),
    ("https://example.org/a?b=c&d=e", "<https://example.org/a?b=c&d=e>"),
]
OTHERS = [
    ("https://example.org/a?q=secret", "https://example.org/a?q="),
    ("https://example.org/a?q=secret", "https://example.org/a and secret"),
    ("https://example.org/asecret", "https://example.org/a"),
    ("https://example.org/a", "https://example.org/a/b"),
    ("https://example.org/a", "https://example.org/ab"),
    ("https://example.org/A", "https://example.org/a"),
    ("https://example.org.evil.example/", "https://example.org"),
    ("https://example.org", "https://example.org.evil.example"),
    ("https://example.org", "https://not-example.org"),
    ("https://b.example.org", "https://a.b.example.org"),
    ("https://good.example", "https://evil.example/?to=https://good.example"),
    ("https://example.org:81/", "https://example.org/"),
    ("https://ana@example.org/", "https://example.org/"),
    ("https://example.org/a secret", "read https://example.org/a secret"),
    ("", "anything"),
    ("https://", "https://"),
]


@pytest.mark.parametrize(("address", "text"), GIVEN)
def test_an_address_that_was_given_is_known(address: str, text: str) -> None:
    """Whatever stands around it, with its scheme or without."""
    assert stands_in(address, text)


@pytest.mark.parametrize(("address", "text"), OTHERS)
def test_an_address_with_more_or_less_in_it_is_not(address: str, text: str) -> None:
    """No letter may be added to what was given, nor left out."""
    assert not stands_in(address, text)
