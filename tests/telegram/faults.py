"""Trouble on order: which call is struck, and by what. What each kind means stands in city.py."""

import asyncio
from dataclasses import dataclass

from tests.telegram.records import FaultKind
from tests.telegram.wire import Refused

NO_ANSWER: frozenset[FaultKind] = frozenset({"flood", "before", "drop", "refuse", "page"})
"""Kinds that strike before anything is done."""
DOWNLOAD = "download"
"""What the fetching of a file is called here, though it is no method."""


@dataclass
class Fault:
    """Strikes `times` calls after `skip`, of this bot and to this chat (0: any)."""

    method: str
    kind: FaultKind
    times: int
    skip: int
    bot: int
    chat: int
    retry_after: int
    code: int
    description: str

    def fits(self, method: str, bot: int, chat: int | str | None) -> bool:
        """Whether a call is one of those that are struck, or counted as skipped."""
        named = self.method.lower() == method.lower()
        any_one = self.method == "*" and method.lower() not in ("getupdates", DOWNLOAD)
        right = self.bot in (0, bot) and (not self.chat or str(self.chat) == str(chat))
        return (named or any_one) and right

    def refusal(self) -> Refused:
        """The error that it answers with, in Telegram's words."""
        if self.kind == "flood":
            return Refused(
                429,
                f"Too Many Requests: retry after {self.retry_after}",
                retry_after=self.retry_after,
            )
        if self.kind == "refuse":
            return Refused(self.code, self.description)
        return Refused(502, "Bad Gateway")


class Faults:
    """The plan, in the order it was made. `gate` holds answers until it is opened."""

    def __init__(self) -> None:
        self._plan: list[Fault] = []
        self.gate = asyncio.Event()

    def order(self, fault: Fault) -> None:
        """Add to the plan; something to hold shuts the gate."""
        self._plan.append(fault)
        if fault.kind == "hold":
            self.gate.clear()

    def release(self) -> None:
        """Open the gate."""
        self.gate.set()

    def strike(self, method: str, bot: int, chat: int | str | None) -> Fault | None:
        """The first fault that strikes this call, used up by it."""
        for fault in self._plan:
            if not fault.fits(method, bot, chat):
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            fault.times -= 1
            if not fault.times:
                self._plan.remove(fault)
            return fault
        return None
