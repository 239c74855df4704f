"""A Discord and a Telegram on loopback; at the end neither may have strayed from its documents."""

from tests.discord.conftest import city
from tests.telegram.conftest import twin

__all__ = ["city", "twin"]
