"""Signatures: right ones are taken, from either secret; others, old ones and changed bodies are not."""

import base64

import pytest

from loopforge.sinks.webhook_signature import TOLERANCE, checked, signed

OLD, NEW = "whsec_" + base64.b64encode(b"the old secret").decode(), "the new secret"
BODY = b'{"a": 1}'


def test_the_standard_s_own_example_verifies() -> None:
    """The example of Standard Webhooks' reference libraries: this secret signs this text so."""
    headers = signed(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("sends", [[OLD], [NEW], [OLD, NEW]])
@pytest.mark.parametrize("takes", [[OLD, NEW], [NEW, OLD]])
def test_while_a_secret_changes_either_is_taken(sends: list[str], takes: list[str]) -> None:
    """Whoever holds both takes what is signed by one of them, or by both."""
    assert checked(signed("id", 1000, BODY, sends), BODY, takes, 1000) == "id"


@pytest.mark.parametrize("takes", [[OLD], [NEW]])
def test_what_is_signed_with_both_is_taken_by_who_holds_one(takes: list[str]) -> None:
    """Each receiver may change its secret when it likes."""
    assert checked(signed("id", 1000, BODY, [OLD, NEW]), BODY, takes, 1000) == "id"


def test_what_is_not_right_is_not_taken() -> None:
    """Another secret, body, id or time; no signature; what was overheard earlier, or is to come."""
    headers = signed("id", 1000, BODY, [NEW])
    assert checked(headers, BODY, [NEW], 1000 + TOLERANCE) == "id"
    assert checked(headers, BODY, [NEW], 1001 + TOLERANCE) is None
    assert checked(headers, BODY, [NEW], 999 - TOLERANCE) is None
    assert checked(headers, BODY, [OLD], 1000) is None
    assert checked(headers, BODY + b" ", [NEW], 1000) is None
    assert checked({**headers, "webhook-id": "other"}, BODY, [NEW], 1000) is None
    assert checked({**headers, "webhook-timestamp": "1001"}, BODY, [NEW], 1000) is None
    assert checked({**headers, "webhook-timestamp": "²"}, BODY, [NEW], 1000) is None
    assert checked({}, BODY, [NEW], 1000) is None
    assert checked({**headers, "webhook-signature": "v1,é x"}, BODY, [NEW], 1000) is None


@pytest.mark.parametrize("stamp", ["9" * 400, "9" * 5000, "0" * 400 + "1000", "", "1000\n", "-1"])
def test_a_time_that_is_none_is_not_taken(stamp: str) -> None:
    """Whoever posts may write there what they like, however long it is; nothing is raised."""
    headers = signed("id", 1000, BODY, [NEW])
    assert checked({**headers, "webhook-timestamp": stamp}, BODY, [NEW], 1000.0) is None


@pytest.mark.parametrize("secret", ["whsec_no base64", "whsec_grün"])
def test_a_secret_that_only_begins_like_one_in_base64_is_taken_as_it_is(secret: str) -> None:
    """Its letters may be any: it signs, and who holds it checks."""
    assert checked(signed("id", 1000, BODY, [secret]), BODY, [secret], 1000) == "id"
