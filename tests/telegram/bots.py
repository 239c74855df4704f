"""What bots may do: every method of the Bot API that the twin knows.

getUpdates, which waits, stands in twin.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from aiogram.methods import GetUpdates

from tests.telegram.speaking import Speaking
from tests.telegram.standing import Standing
from tests.telegram.wire import Method


class Bots(Speaking, Standing):
    """One call, of any kind."""

    def does(self, method: Method) -> Callable[[Any], Any]:
        """What does this method, which `models` says is known."""
        known: Callable[[Any], Any] = getattr(self, _snake(method))
        return known


def models(method: Method) -> bool:
    """Whether the twin knows a method."""
    return hasattr(Bots, _snake(method)) or method is GetUpdates


def _snake(method: Method) -> str:
    return re.sub(r"(?=[A-Z])", "_", method.__api_method__).lower()
