"""Telegram's settings, each with its default and what is said of it; and the Bot API's address."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from loopforge.errors import BadSettings
from loopforge.io.platforms.place_allowlist import only_places
from loopforge.runtime.plugins.setting_declarations import setting

OFFICIAL = "https://api.telegram.org"


def checked_api_address(address: str, source: str) -> str:
    """The address as calls begin with it; "" for Telegram's own. Raises BadSettings.

    `source` is where it was set. A path before the calls may be part of it, as proxies have it.
    """
    given = address.strip().rstrip("/")
    if not given or given == OFFICIAL:
        return ""
    wrong = _wrong(given)
    if wrong:
        raise BadSettings(
            f"`telegram_base_url` ({source}) {wrong}. Write the server's address alone, such as "
            "http://127.0.0.1:8081."
        )
    return given


def _wrong(address: str) -> str:
    """What is wrong with an address; "" if nothing. Names nothing that may be a secret."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is no address"
    if parts.scheme not in ("http", "https") or not host or any(map(str.isspace, address)):
        return "is no address that begins with http:// or https://"
    if "@" in parts.netloc or parts.query or parts.fragment:
        return "has a name, a password, a ? or a # in it"
    if re.search(r"/(file|bot([0-9]+:.*)?)$", parts.path):
        return "ends in what stands there for each call (/bot or /file)"
    return ""


def api_server_name(base: str) -> str:
    """What a server is called in a sentence; "" stands for Telegram's own."""
    return f"Telegram (asked at {base})" if base else "Telegram"


@dataclass(frozen=True, kw_only=True)
class TelegramSettings:
    """What can be set of Telegram."""

    dm: Literal["pairing", "open", "allowlist"] = setting(
        "pairing",
        "What happens when a stranger writes to a mate in private on Telegram. pairing: they are "
        "shown a code, and the owner lets them in by it. open: they are answered like everybody. "
        "allowlist: they are told once that only people whom the owner has let in are answered.",
    )
    groups: str = setting(
        "known",
        "Which groups of Telegram this home serves. known: those where somebody whom you let in "
        "has said something. open: every one that the bot is brought into. Or their ids, such as "
        "-1001234567890, with commas between.",
        clean=only_places("telegram_groups", "-[0-9]+", "-1001234567890"),
    )
    base_url: str = setting(
        "",
        "Another server of Telegram's Bot API: your own telegram-bot-api, or a proxy.",
        shown="https://api.telegram.org",
        clean=checked_api_address,
    )
