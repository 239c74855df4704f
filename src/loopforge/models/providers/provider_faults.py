"""What an exception of a provider's client means: which outcome, and whether to try again.

Knows the exceptions of pydantic-ai, the SDKs beneath it and httpx2; knows nothing of waiting.
"""

import re
import socket
import ssl
from collections.abc import Iterator
from itertools import islice

from loopforge.core.model_trouble import Cause
from loopforge.models.providers.attempt_outcome import AttemptOutcome

UNKNOWN = re.compile(
    r"invalid model name|model.{0,80}(does not exist|not found|not available|not loaded)"
    r"|(unknown|no such|no) model|not a valid model|no models? loaded|pull it|pulling it"
    r"|model_not_found",
    re.IGNORECASE | re.DOTALL,
)
"""How servers of one's own say that they do not have a model, whatever status they give it."""
NO_MODEL = re.compile(r"model|deployment|endpoints found", re.IGNORECASE)
"""What the 404 of a server says that has the address, and not what was asked for there."""
TOO_LONG = re.compile(
    r"context (length|size|window|limit)|too long|maximum.{0,20}length|exceed.{0,40}tokens",
    re.IGNORECASE,
)
"""How they say that a prompt is too long for them."""
NO_CREDIT = re.compile(
    r"credit balance|insufficient (credit|quota|balance|funds)|budget has been exceeded"
    r"|billing.{0,6}limit|key limit exceeded|exceeded_current_quota|arrearage|please recharge",
    re.IGNORECASE,
)
"""How those say that nothing is paid for any more that pass a question on to another service."""
BAD_KEY = re.compile(
    r"(incorrect|invalid) api.?key|api.?key (is )?(not valid|invalid)", re.IGNORECASE
)
"""How those say that a key is none that call it a bad question (xAI)."""
NOT_HERE = re.compile(
    r"(country|region|territory|location).{0,40}not (supported|available)", re.IGNORECASE
)
"""How services say that they do not serve the place where a home runs."""
FORMS = re.compile(
    r"response_format|json_schema|guided|grammar|structured|xgrammar|outlines", re.IGNORECASE
)
"""What servers name that do not take the form an answer is asked for in."""
TOOLS = re.compile(r"\btools?\b|tool_(choice|use|call)|function.?(call|declaration)", re.IGNORECASE)
"""What those name that take no tools, or none beside a form."""
UNENDED = "ended without a `finish_reason`"
"""How pydantic-ai says that a stream of chat completions ended before the answer did."""
REFUSALS = ("content_filter", "content_policy_violation", "moderation_blocked", "safety")
"""Error codes by which services refuse a prompt instead of answering it."""


def fault_of(error: Exception, *, begun: bool = False) -> AttemptOutcome:
    """What to make of an exception that ended an attempt; `begun`: something of an answer came."""
    from pydantic_ai import exceptions as known

    detail = _told(error)
    wait = getattr(error, "retry_after", None)
    if (written := _failed_generation(error)) is not None:
        again = not written.strip()
        return AttemptOutcome("malformed", detail, again=again, wait=0.0, text=written)
    match error:
        case known.ModelRequestRejectedError() if _refuses(error):
            return AttemptOutcome("refused", detail)
        case known.ContentFilterError():
            return AttemptOutcome("refused", detail)
        case known.ModelAuthenticationError() | known.ModelRateLimitError() if NO_CREDIT.search(
            detail
        ):
            return AttemptOutcome("failed", detail, wait=wait, lasting=True, cause="credit")
        case known.ModelAuthenticationError():
            status, body = getattr(error, "status_code", 0), getattr(error, "body", None)
            page = status == 403 and not isinstance(body, dict)
            barred = page or NOT_HERE.search(detail)
            return AttemptOutcome(
                "failed", detail, wait=wait, lasting=True, cause="barred" if barred else "key"
            )
        case known.ModelQuotaExceededError():
            return AttemptOutcome("failed", detail, wait=wait, lasting=True, cause="credit")
        case known.ModelNotFoundError():
            toolless = bool(TOOLS.search(detail))  # OpenRouter: no endpoints that support tool use
            cause: Cause = "unknown" if toolless or _names_model(error) else "nothing"
            return AttemptOutcome(
                "failed", detail, wait=wait, lasting=True, cause=cause, toolless=toolless
            )
        case known.ModelContextWindowExceededError():
            return AttemptOutcome("failed", detail, ours=True, cause="long")
        case known.ModelRequestRejectedError():
            return _rejected(detail)
        case known.UserError() if TOOLS.search(detail):  # as of Gemini 2.5: no tools beside a form
            return AttemptOutcome("failed", detail, ours=True, cause="rejected", toolless=True)
        case known.ModelRateLimitError() | known.ModelOverloadedError():  # as Anthropic's 529
            return AttemptOutcome("failed", detail, again=True, wait=wait, cause="busy")
        case known.ModelUnavailableError() | known.ModelServerError():
            toolless = bool(TOOLS.search(detail))  # llama.cpp: tools param requires --jinja flag
            return AttemptOutcome(
                "failed", detail, again=True, wait=wait, cause="broken", toolless=toolless
            )
        case known.ModelConnectionError():
            return AttemptOutcome(
                "failed", detail, again=True, wait=wait, cause=_broken(error, begun=begun)
            )
        case known.ModelHTTPError(status_code=407):
            return AttemptOutcome("failed", detail, lasting=True, cause="barred")
        case known.ModelHTTPError(status_code=413):
            return AttemptOutcome("failed", detail, ours=True, cause="long")
        case known.ModelHTTPError(status_code=status) if status in (408, 409, 425):
            return AttemptOutcome("failed", detail, again=True, wait=wait, cause="broken")
        case known.ModelAPIError() if begun and UNENDED in detail:
            return AttemptOutcome("failed", detail, again=True, cause="cut")
    network = _is_network(error)
    return AttemptOutcome(
        "failed", detail, again=network, cause=_broken(error, begun=begun) if network else "garbled"
    )


def _rejected(detail: str) -> AttemptOutcome:
    """A server does not take the question: for its model, its form, its length, money, or else."""
    if UNKNOWN.search(detail):
        return AttemptOutcome("failed", detail, lasting=True, cause="unknown")
    if NO_CREDIT.search(detail):
        return AttemptOutcome("failed", detail, lasting=True, cause="credit")
    if BAD_KEY.search(detail):
        return AttemptOutcome("failed", detail, lasting=True, cause="key")
    if NOT_HERE.search(detail):
        return AttemptOutcome("failed", detail, lasting=True, cause="barred")
    if TOO_LONG.search(detail):
        return AttemptOutcome("failed", detail, ours=True, cause="long")
    formless, toolless = bool(FORMS.search(detail)), bool(TOOLS.search(detail))
    return AttemptOutcome(
        "failed", detail, ours=True, cause="rejected", formless=formless, toolless=toolless
    )


def _names_model(error: Exception) -> bool:
    """Whether what came with a 404 speaks of a model, and not of an address or of nothing."""
    told, asked = str(getattr(error, "body", None) or ""), getattr(error, "model_name", None) or ""
    return bool(NO_MODEL.search(told)) or (len(asked) > 2 and asked in told)


def _failed_generation(error: BaseException) -> str | None:
    """What a model wrote that its service could not read (Groq); None where it does not tell."""
    bodies = (getattr(one, "body", None) for one in _beneath(error))
    told = (body.get("failed_generation") for body in bodies if isinstance(body, dict))
    return next((written for written in told if isinstance(written, str)), None)


def _broken(error: BaseException, *, begun: bool) -> Cause:
    """What is wrong with a connection, by what lies at the bottom of it."""
    import httpx2

    for one in _beneath(error, context=True):
        if isinstance(one, ssl.SSLError):
            return "certificate"
        if isinstance(one, socket.gaierror):
            return "nowhere"
        if isinstance(one, httpx2.ProxyError):
            return "unreachable" if str(one).startswith("5") else "barred"
    told = _told(error).lower()
    if "ssl" in told or "certificate" in told or "tls" in told:
        return "certificate"
    if "name or service" in told or "nodename" in told or "resolution" in told:
        return "nowhere"
    connect = getattr(error, "phase", None) == "connect" or "connecterror" in told
    if connect or "connecttimeout" in told:
        return "unreachable"
    if begun:
        return "cut"
    return "garbled" if "illegal" in told else "broken"


def _is_network(error: BaseException) -> bool:
    """Whether a connection broke somewhere beneath."""
    import httpx2

    return any(isinstance(one, httpx2.TransportError | ConnectionError) for one in _beneath(error))


def _beneath(error: BaseException, *, context: bool = False) -> Iterator[BaseException]:
    """The error and what it came of; `context`: also where it does not say so."""
    below: BaseException | None = error
    while below is not None:
        yield below
        cause = below.__cause__ or (below.__context__ if context else None)
        below = None if cause is below else cause


def _refuses(error: Exception) -> bool:
    """Whether a rejected request was rejected for what it says."""
    code = str(getattr(error, "provider_error_code", "") or "").lower()
    kind = str(getattr(error, "provider_error_type", "") or "").lower()
    body = getattr(error, "body", None)
    about = body.get("metadata") if isinstance(body, dict) else None
    flagged = isinstance(about, dict) and ("flagged_input" in about or "reasons" in about)
    return flagged or any(word in code or word in kind for word in REFUSALS)


def _told(error: BaseException) -> str:
    """The error in full, with what lies beneath it."""
    told = (f"{type(one).__name__}: {one}" for one in islice(_beneath(error), 4))
    return "; ".join(" ".join(line.split()) for line in told)
