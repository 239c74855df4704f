"""What a setting may hold beyond its type and bounds, so that no home is kept from starting."""

import ipaddress
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit

from loopforge.errors import BadSettings

BUCKETS = {"s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "https", "http", "file"}
"""How addresses begin that obstore knows."""
SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
"""The names of rooms: small letters, digits and dashes."""
HOST = re.compile(r"(?!.*\.\d+\Z)(?!\d+\Z)[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?", re.IGNORECASE)
"""The names of machines; one that ends in a number is no name but an address."""
OTHER_LETTERS = re.compile(r"[^./:]*[^\x00-\x7f./:][^./:]*")
"""Parts of a name that hold letters of other alphabets than ours."""


def parse_retention_rule(text: str, source: str = "the setting") -> dict[str, int]:
    """How many of each period are kept of backups. Raises BadSettings."""
    found = dict[str, int]()
    for part in text.split(","):
        said = re.fullmatch(r"\s*([0-9]{1,6}) (day|week|month|year)s?\s*", part)
        if said is None or said[2] in found:
            raise BadSettings(
                f"`backup_keep` ({source}) is {text[:80]!r}; it must be such as 7 days, 4 weeks, "
                "each once."
            )
        found[said[2]] = int(said[1])
    return found


def checked_keep(text: str, source: str) -> str:
    """The rule as it is written, if it is one. Raises BadSettings."""
    parse_retention_rule(text, source)
    return text


def checked_room(text: str, source: str) -> str:
    """The name of a room, if it can be one. Raises BadSettings."""
    if not SLUG.fullmatch(text):
        raise BadSettings(
            f"`room` ({source}) is {text[:80]!r}; it must be small letters, digits and dashes."
        )
    return text


def checked_host(text: str, source: str) -> str:
    """Where the web room listens, if that is an address or a machine's name. Raises BadSettings."""
    with suppress(ValueError):
        ipaddress.ip_address(text)
        return text
    if not HOST.fullmatch(text):
        raise BadSettings(
            f"`web_host` ({source}) is {text[:80]!r}; it must be 127.0.0.1 for this machine alone, "
            "0.0.0.0 for the network, or another address or name of this machine."
        )
    return text


def checked_address(text: str, source: str) -> str:
    """How links begin that are given to others, as browsers send it. Raises BadSettings."""
    if text and not _begins_links(text):
        raise BadSettings(
            f"`web_address` ({source}) must be http:// or https:// and a name, with a port or "
            "without, and no more, such as https://mates.example.org."
        )
    return OTHER_LETTERS.sub(_in_ascii, unicodedata.normalize("NFKC", text).lower())


def _in_ascii(label: re.Match[str]) -> str:
    """A part of a name as browsers ask for it (RFC 3492)."""
    return f"xn--{label[0].encode('punycode').decode('ascii')}"


def _begins_links(text: str) -> bool:
    if (parts := web_parts(text)) is None:
        return False
    return not (parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc)


def web_parts(text: str) -> SplitResult | None:
    """The parts of an address that begins with http:// or https://; None where it is none."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return None
    plain = text.isprintable() and not any(map(str.isspace, text))
    return parts if parts.scheme in ("http", "https") and host and plain else None


def web_setting(name: str, form: str) -> Callable[[str, str], str]:
    """What checks the setting of this name, of a value and of where that was set.

    It is an address of the web, or none; `form` says how one looks. Raises BadSettings, and tells
    nothing of the value, which may hold a secret.
    """

    def checked(text: str, source: str) -> str:
        if text and web_parts(text) is None:
            raise BadSettings(f"`{name}` ({source}) must be {form}.")
        return text

    return checked


def trusted_proxies(proxies: str, source: str = "the setting") -> list[str]:
    """The addresses and networks of proxies that are believed. Raises BadSettings."""
    found = [each.strip() for each in proxies.split(",") if each.strip()]
    for each in found:
        try:
            ipaddress.ip_network(each)
        except ValueError as error:
            raise BadSettings(
                f"`web_proxies` ({source}) names {each[:80]!r}, which is no address and no "
                "network. Write such as 127.0.0.1, or 10.0.0.0/24, with commas between."
            ) from error
    return found


def checked_proxies(text: str, source: str) -> str:
    """The proxies as they are written, if each is one. Raises BadSettings."""
    trusted_proxies(text, source)
    return text


def checked_backups(text: str, source: str) -> str:
    """The place of backups, if it is a folder or a bucket. Raises BadSettings."""
    scheme, address, rest = text.partition("://")
    if address and not (scheme in BUCKETS and rest.strip("/")):
        raise BadSettings(
            f"`backup_to` ({source}) is {text[:80]!r}; it must be a folder, or a bucket such as "
            "s3://NAME/PATH, gs://NAME/PATH or az://NAME/PATH."
        )
    return text
