"""What an exception of a provider's client means: which outcome, and whether to try again.

Knows the exceptions of pydantic-ai, the SDKs beneath it and httpx2; knows nothing of waiting.
"""

from __future__ import annotations

from typing import NamedTuple

from loopforge.core.policy import AnswerOutcome


class Fault(NamedTuple):
    """`again`: the same model may well answer soon. `wait`: seconds it asked for, if it did.

    `lasting`: it will not answer anybody for a good while (no key, no credit, no such model).
    `ours`: the fault lies with the question, and says nothing of the model.
    """

    outcome: AnswerOutcome
    detail: str
    again: bool = False
    wait: float | None = None
    lasting: bool = False
    ours: bool = False


REFUSALS = ("content_filter", "content_policy_violation", "moderation_blocked", "safety")
"""Error codes by which services refuse a prompt instead of answering it."""


def fault_of(error: Exception) -> Fault:
    """What to make of an exception that ended an attempt."""
    from pydantic_ai import exceptions as known

    detail = _told(error)
    wait = getattr(error, "retry_after", None)
    match error:
        case known.ModelRequestRejectedError() if _refuses(error):
            return Fault("refused", detail)
        case known.ContentFilterError():
            return Fault("refused", detail)
        case (
            known.ModelAuthenticationError()
            | known.ModelNotFoundError()
            | known.ModelQuotaExceededError()
        ):
            return Fault("failed", detail, wait=wait, lasting=True)
        case known.ModelRequestRejectedError():
            return Fault("failed", detail, ours=True)
        case (
            known.ModelRateLimitError()
            | known.ModelUnavailableError()
            | known.ModelServerError()
            | known.ModelConnectionError()
        ):
            return Fault("failed", detail, again=True, wait=wait)
        case known.ModelHTTPError(status_code=status) if status in (408, 409, 425):
            return Fault("failed", detail, again=True, wait=wait)
    return Fault("failed", detail, again=_is_network(error))


def _is_network(error: BaseException | None) -> bool:
    """Whether a connection broke somewhere beneath."""
    import httpx2

    while error is not None:
        if isinstance(error, httpx2.TransportError | ConnectionError):
            return True
        error = error.__cause__
    return False


def _refuses(error: Exception) -> bool:
    """Whether a rejected request was rejected for what it says."""
    code = str(getattr(error, "provider_error_code", "") or "").lower()
    kind = str(getattr(error, "provider_error_type", "") or "").lower()
    body = getattr(error, "body", None)
    about = body.get("metadata") if isinstance(body, dict) else None
    flagged = isinstance(about, dict) and ("flagged_input" in about or "reasons" in about)
    return flagged or any(word in code or word in kind for word in REFUSALS)


def _told(error: Exception) -> str:
    """The error in full, with what lies beneath it."""
    told = [f"{type(error).__name__}: {error}"]
    beneath = error.__cause__
    while beneath is not None and len(told) < 4:
        told.append(f"{type(beneath).__name__}: {beneath}")
        beneath = beneath.__cause__
    return "; ".join(" ".join(line.split()) for line in told)
