"""The API server: the server of the Bot API that bots talk to, Telegram's own or another.

Pure. Does not know tokens, and asks nothing.
"""

import re
from urllib.parse import urlsplit

from loopforge.errors import BadSettings

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
