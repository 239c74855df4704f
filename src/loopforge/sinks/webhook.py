"""A webhook: each event is posted to an address, signed, until that says that it has it.

What an answer means: http_post.py. A redirect is no yes, and is not followed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from loopforge.core.events import Event
from loopforge.runtime.plugins.setting_checks import web_setting
from loopforge.runtime.plugins.setting_declarations import setting
from loopforge.runtime.ports import Clock
from loopforge.sinks.cloud_events import cloud_event
from loopforge.sinks.http_post import HttpPost
from loopforge.sinks.sink_plugin import OutletChoice, SinkPlugin
from loopforge.sinks.webhook_signature import checked_secrets, signed


@dataclass(frozen=True, kw_only=True)
class WebhookSettings(OutletChoice):
    """What can be set of it."""

    url: str = setting(
        "",
        "An address to which events are posted as they happen.",
        shown="none",
        clean=web_setting("webhook_url", "such as https://example.org/events"),
    )
    secrets: str = setting(
        "",
        "What they are signed with; two, with a space between, while one takes the other's place.",
        shown="none: not signed",
        secret=True,
        clean=checked_secrets,
    )


class Webhook:
    """The outlet."""

    most = 1

    def __init__(
        self, url: str, secrets: Sequence[str], *, texts: bool, clock: Clock | None = None
    ) -> None:
        self._secrets, self._texts = tuple(secrets), texts
        self._address = HttpPost(url, clock)

    async def send(self, events: Sequence[Event]) -> None:
        """Post them, one by one."""
        for event in events:
            body = cloud_event(event, texts=self._texts).encode()
            at = self._address.clock.now().timestamp()
            headers = {
                "content-type": "application/cloudevents+json",
                **signed(event.id, at, body, self._secrets),
            }
            await self._address.send(body, headers)

    async def close(self) -> None:
        """Let the connections go."""
        await self._address.close()


def make(options: WebhookSettings, _: Path) -> Webhook | None:
    """The outlet, if there is an address."""
    if not options.url:
        return None
    return Webhook(options.url, options.secrets.split(), texts=options.texts)


def _place(options: WebhookSettings) -> str:
    parts = urlsplit(options.url)
    return f"at {parts.hostname}"


SINK = SinkPlugin(title="Webhook", settings=WebhookSettings, make=make, where=_place)
