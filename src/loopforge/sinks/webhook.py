"""A webhook: each event is posted to an address, signed, until that says that it has it.

A 2xx is a yes. What says that this very event cannot be had (REFUSING) sets its stream aside;
anything else (5xx, 429, no connection, no answer in time) lets everything wait, as long as the
answer's Retry-After says and the runner's pauses do. A redirect is no yes, and is not followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from loopforge.core.events import Event
from loopforge.errors import BadSettings, SendFailed
from loopforge.runtime.plugins.setting_checks import web_parts
from loopforge.runtime.plugins.setting_rows import setting
from loopforge.runtime.ports import Clock
from loopforge.runtime.system_clock import SystemClock
from loopforge.sinks.cloud_events import cloud_event
from loopforge.sinks.sink_plugin import OutletChoice, SinkPlugin
from loopforge.sinks.webhook_signature import signed

if TYPE_CHECKING:
    import httpx

PATIENCE = 15.0
"""Seconds in which a receiver answers; then it is tried again."""
REFUSING = (400, 413, 415, 422)
"""Answers that speak of this very event; the others speak of all."""
SECRETS = 2
"""Most secrets at once: the one that is, and the one that was or will be."""


def _address(text: str, source: str) -> str:
    if text and web_parts(text) is None:
        raise BadSettings(f"`webhook_url` ({source}) must be such as https://example.org/events.")
    return text


def _secrets(text: str, source: str) -> str:
    if len(text.split()) > SECRETS:
        raise BadSettings(f"`webhook_secrets` ({source}): at most two, with a space between.")
    return text


@dataclass(frozen=True, kw_only=True)
class WebhookSettings(OutletChoice):
    """What can be set of it."""

    url: str = setting(
        "", "An address to which events are posted as they happen.", shown="none", clean=_address
    )
    secrets: str = setting(
        "",
        "What they are signed with; two, with a space between, while one takes the other's place.",
        shown="none: not signed",
        secret=True,
        clean=_secrets,
    )


class Webhook:
    """The outlet."""

    most = 1

    def __init__(
        self, url: str, secrets: Sequence[str], *, texts: bool, clock: Clock | None = None
    ) -> None:
        self._url, self._secrets, self._texts = url, tuple(secrets), texts
        self._clock = clock or SystemClock()

    @cached_property
    def _client(self) -> httpx.AsyncClient:
        import httpx

        return httpx.AsyncClient(timeout=PATIENCE, follow_redirects=False)

    async def send(self, events: Sequence[Event]) -> None:
        """Post them, one by one."""
        import httpx

        for event in events:
            body = cloud_event(event, texts=self._texts).encode()
            at = self._clock.now().timestamp()
            headers = {
                "content-type": "application/cloudevents+json",
                "user-agent": "loopforge",
                **signed(event.id, at, body, self._secrets),
            }
            try:
                answer = await self._client.post(self._url, content=body, headers=headers)
            except httpx.HTTPError as error:
                raise SendFailed(f"{type(error).__name__}: {error}") from error
            if not answer.is_success:
                raise _refusal(answer)

    async def close(self) -> None:
        """Let the connections go."""
        await self._client.aclose()


def _refusal(answer: httpx.Response) -> SendFailed:
    status = answer.status_code
    wait = answer.headers.get("retry-after", "")
    after = min(float(wait), 3600.0) if wait.isascii() and wait.isdigit() else 0.0
    return SendFailed(f"the address answered {status}.", final=status in REFUSING, after=after)


def make(options: WebhookSettings, _: Path) -> Webhook | None:
    """The outlet, if there is an address."""
    if not options.url:
        return None
    return Webhook(options.url, options.secrets.split(), texts=options.texts)


def _place(options: WebhookSettings) -> str:
    parts = urlsplit(options.url)
    return f"at {parts.hostname}"


SINK = SinkPlugin(title="Webhook", settings=WebhookSettings, make=make, where=_place)
