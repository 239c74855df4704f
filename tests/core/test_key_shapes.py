"""Keys of well-known services are known by their shape."""

import pytest

from loopforge.core.egress.egress_filter import EgressFilter
from loopforge.core.egress.key_shapes import MARK

KEYS = {
    "Anthropic key": "sk-ant-api03-" + "aB3_" * 10,
    "API key": "sk-proj-" + "Zz9-" * 8,
    "GitHub token": "ghp_" + "a1B2" * 9,
    "GitLab token": "glpat-" + "x_9Y-" * 5,
    "Hugging Face token": "hf_" + "aBcD1" * 7,
    "Groq key": "gsk_" + "Ab12" * 13,
    "xAI key": "xai-" + "Ab12" * 20,
    "Stripe key": "sk_live_" + "51Hc" * 6,
    "npm token": "npm_" + "Ab12" * 9,
    "PyPI token": "pypi-AgEIcHlwaS5vcmc" + "Ab-1" * 20,
    "AWS key": "AKIA" + "ABCD1234" * 2,
    "Google key": "AIzaSy" + "D3f-" * 9,
    "Slack token": "xoxb-1234567890-" + "ab12" * 6,
    "Discord token": "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe." + "a-b_" * 8,
    "Telegram token": "123456789:AA" + "Hk3_" * 9,
    "signed token": "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0." + "s1g-" * 6,
    "private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK=\n-----END RSA PRIVATE KEY-----",
    "password": "postgres://ana:hunter2@db.example/rooms",
}


@pytest.mark.parametrize("kind", KEYS)
def test_each_shape_of_key_is_taken_out_and_named(kind: str) -> None:
    """A key of each kind is redacted, the words around it stay, and its kind is told."""
    said, taken = EgressFilter().finish(f"Here it is: {KEYS[kind]} — keep it.")
    assert taken == (kind,)
    if kind == "password":
        assert said == f"Here it is: postgres://ana:{MARK}@db.example/rooms — keep it."
    else:
        assert said == f"Here it is: {MARK} — keep it."


@pytest.mark.parametrize(
    "harmless",
    [
        "Task-force risk-averse ask-me-anything-you-like-really.",
        "https://example.org:8080/path?a=b@c",
        "The ratio is 12:30, the id 550e8400-e29b-41d4-a716-446655440000.",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "Mail me: ana@example.org",
        "The file begins with -----BEGIN CERTIFICATE-----",
    ],
)
def test_what_only_looks_like_a_key_stays(harmless: str) -> None:
    """Words, addresses, times and hashes are no secrets."""
    assert EgressFilter().finish(harmless) == (harmless, ())
