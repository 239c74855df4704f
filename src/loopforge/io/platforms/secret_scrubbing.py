"""Scrubbing: tokens are taken out of whatever is logged, also out of what libraries log.

Tokens may stand in the addresses that requests go to, so any error of the network may hold one.
Does not cover what never passes the handlers it was put on.
"""

import logging
from collections.abc import Collection

LOUD = ("httpx", "httpcore", "aiohttp")
"""Libraries that log every request."""
SHORTEST = 8
"""A secret shorter than this would be found in ordinary words."""
HIDDEN = "[token]"


def scrubbed(text: str, secrets: Collection[str]) -> str:
    """The text without these secrets."""
    for secret in secrets:
        if len(secret) >= SHORTEST:
            text = text.replace(secret, HIDDEN)
    return text


class SecretScrubber(logging.Filter):
    """Takes secrets out of records."""

    def __init__(self, secrets: Collection[str]) -> None:
        super().__init__()
        self._secrets: tuple[str, ...] = ()
        self.learn(secrets)

    def learn(self, secrets: Collection[str]) -> None:
        """Take these out too; a token that is given up may still stand in a late error."""
        self._secrets = tuple(sorted({*self._secrets, *secrets}, key=lambda one: (-len(one), one)))

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through, without the secrets."""
        try:
            told = record.getMessage()
        except Exception:  # a library's own mistake, which would be raised where it logs
            told = f"{record.msg} {record.args}"
        record.msg, record.args = scrubbed(told, self._secrets), ()
        if record.exc_info:
            text = logging.Formatter().formatException(record.exc_info)
            record.exc_text, record.exc_info = scrubbed(text, self._secrets), None
        return True


def scrub_logs(secrets: Collection[str]) -> None:
    """Have it on every handler there is, once, and let loud libraries only warn."""
    for name in LOUD:
        logging.getLogger(name).setLevel(logging.WARNING)
    for handler in logging.getLogger().handlers:
        there = [each for each in handler.filters if isinstance(each, SecretScrubber)]
        if there:
            there[0].learn(secrets)
        else:
            handler.addFilter(SecretScrubber(secrets))
