"""Telegram's settings: their names, values, defaults, and what is said of each."""

from dataclasses import dataclass
from typing import Literal

from loopforge.io.platforms.place_allowlist import only_places
from loopforge.io.telegram.connection.api_server import checked_api_address
from loopforge.runtime.plugins.setting_declarations import setting


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
