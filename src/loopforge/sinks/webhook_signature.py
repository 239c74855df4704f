"""Signatures of webhooks, as Standard Webhooks has them: set, made and checked. Pure.

    webhook-id         the event's id: the same when it is sent again
    webhook-timestamp  seconds since 1970, of this try
    webhook-signature  "v1,BASE64" of HMAC-SHA256 over id.timestamp.body, one for each secret

While a secret is changed, there are two: who sends signs with both, who receives takes either, so
that each side may change when it likes. `checked` is for receivers: a signature that is right, and
not older or younger than TOLERANCE, so that what was overheard is not played back later; within
that, the id says what was there before.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence

from loopforge.errors import BadSettings

PREFIX = "whsec_"
"""Before a secret in base64, as Standard Webhooks writes them; any other text is taken as it is."""
TOLERANCE = 300.0
"""Seconds by which the clocks of two machines, and the way between them, may differ."""
_STAMP = re.compile("[0-9]{1,12}")
"""Seconds, as far as clocks go: longer numbers are no times, and Python may refuse to read them."""
SECRETS = 2
"""Most secrets at once: the one that is, and the one that was or will be."""


def checked_secrets(text: str, source: str) -> str:
    """Secrets as they are set, with a space between. Raises BadSettings where there are more."""
    if len(text.split()) > SECRETS:
        raise BadSettings(f"`webhook_secrets` ({source}): at most two, with a space between.")
    return text


def signed(id: str, at: float, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
    """The headers of a body that is sent now."""
    stamp = str(int(at))
    found = " ".join(f"v1,{_signature(id, stamp, body, secret)}" for secret in secrets)
    named = {"webhook-id": id, "webhook-timestamp": stamp}
    return {**named, "webhook-signature": found} if secrets else named


def checked(
    headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: float
) -> str | None:
    """The id of what came, if one of these secrets signed it just now; else None."""
    id, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not _STAMP.fullmatch(stamp) or abs(now - int(stamp)) > TOLERANCE:
        return None
    given = headers.get("webhook-signature", "").split()
    right = [f"v1,{_signature(id, stamp, body, secret)}" for secret in secrets]
    same = [hmac.compare_digest(a.encode(), b.encode()) for a in given for b in right]
    return id if any(same) else None


def _signature(id: str, stamp: str, body: bytes, secret: str) -> str:
    signed = f"{id}.{stamp}.".encode() + body
    made = hmac.new(_key(secret), signed, hashlib.sha256).digest()
    return base64.b64encode(made).decode()


def _key(secret: str) -> bytes:
    if secret.startswith(PREFIX):
        try:
            return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
        except ValueError:  # binascii.Error is one, and so is what it says of other letters
            pass
    return secret.encode()
