"""The plan of what goes wrong, and when: nothing here is drawn by lot.

A fault names a route (`"POST /channels/*/messages"`: `*` is one segment, `**` the rest) or a
gateway event (`"MESSAGE_CREATE"`), how often it strikes, and for whom (`bot=`, else everybody).
The first one that fits is used. `left` are those that were never used up.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any


@dataclass
class Gate:
    """An answer that is held: `await reached` until a call waits here; `release` lets all pass."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    def release(self) -> None:
        """Let what waits here, and all that comes after, pass."""
        self.opened.set()


@dataclass
class Fault:
    """One thing that goes wrong. `carried`: the call is carried out all the same, and then fails.

    `status` None cuts the connection in place of an answer; 0 answers as if nothing was.
    """

    kind: str
    target: str
    times: int | None = 1
    bot: str = ""
    carried: bool = False
    status: int | None = 0
    body: dict[str, Any] | str = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    gate: Gate | None = None
    seconds: float = 0.0
    keys: tuple[str, ...] = ()

    def fits(self, target: str, bot: str) -> bool:
        """Whether it strikes this call or event of this bot."""
        return (
            self.times != 0
            and self.bot in ("", bot)
            and _pattern(self.target).fullmatch(target) is not None
        )

    async def wait(self) -> None:
        """Be slow, or wait at the gate."""
        await asyncio.sleep(self.seconds)
        if self.gate is not None:
            self.gate.reached.set()
            await self.gate.opened.wait()

    def use(self) -> Fault:
        """Count it."""
        if self.times is not None:
            self.times -= 1
        return self


def _pattern(target: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*|\*)", target)
    return re.compile("".join({"**": ".*", "*": "[^/]*"}.get(p, re.escape(p)) for p in parts))


class Faults:
    """The plan. Methods add to it; `clear` forgets it."""

    def __init__(self) -> None:
        self.plan: list[Fault] = []

    @property
    def left(self) -> list[Fault]:
        """What was planned to strike a number of times, and has not."""
        return [fault for fault in self.plan if fault.times]

    def clear(self) -> None:
        """Forget the plan, and let go what is held."""
        for fault in self.plan:
            if fault.gate is not None:
                fault.gate.release()
        self.plan.clear()

    def take(self, kinds: tuple[str, ...], target: str, bot: str) -> Fault | None:
        """The first fault of these kinds that strikes now; it is counted."""
        for fault in self.plan:
            if fault.kind in kinds and fault.fits(target, bot):
                return fault.use()
        return None

    def _add(self, fault: Fault) -> Fault:
        self.plan.append(fault)
        return fault

    # ------------------------------------------------------------------ calls

    def rate_limit(
        self,
        route: str,
        *,
        retry_after: float = 0.05,
        via: bool = True,
    ) -> Fault:
        """429, not carried out. Without `via`: Cloudflare's.

        A 429 without a Via header is taken by discord.py for a ban by Cloudflare: raised at once.
        """
        body = {"message": "You are being rate limited.", "retry_after": retry_after}
        headers = {
            "Retry-After": str(max(1, round(retry_after))),
            "X-RateLimit-Scope": "user",
            "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset-After": str(retry_after),
        }
        if via:
            headers["Via"] = "1.1 google"
        fault = Fault("call", route, status=429, headers=headers)
        fault.body = {**body, "global": False}
        return self._add(fault)

    def fail(
        self,
        route: str,
        status: int = 502,
        *,
        carried: bool = False,
        times: int = 1,
        bot: str = "",
        body: dict[str, Any] | None = None,
    ) -> Fault:
        """An error of Discord's own: before the call is carried out, or (`carried`) after it.

        discord.py tries a call again by itself after 500, 502, 504 and 524 (1 s, 3 s, ...).
        `body`: what it says (`code`, `message`, `errors`), for an error that has words.
        """
        said = body or {"message": f"{status}: {HTTPStatus(status).phrase}", "code": 0}
        return self._add(Fault("call", route, times, bot, carried, status, said))

    def page(self, route: str, status: int, *, retry_after: str = "") -> Fault:
        """The page of a gateway before Discord (Cloudflare's), not carried out."""
        words = f"<!DOCTYPE html><html><title>Access denied</title>error code: {status}</html>"
        headers = {"Retry-After": retry_after} if retry_after else {}
        return self._add(Fault("call", route, status=status, body=words, headers=headers))

    def lose(self, route: str, *, carried: bool, times: int = 1, bot: str = "") -> Fault:
        """The connection is cut in place of an answer; the call was carried out, or was not."""
        return self._add(Fault("call", route, times, bot, carried, None))

    def refuse(
        self,
        route: str,
        code: int = 50013,
        status: int = 403,
        message: str = "Missing Permissions",
        *,
        times: int | None = None,
        bot: str = "",
    ) -> Fault:
        """A lasting refusal with one of Discord's codes (50001, 50007, 50013, 10003, ...)."""
        body = {"message": message, "code": code}
        return self._add(Fault("call", route, times, bot, False, status, body))

    def hold(self, route: str, *, carried: bool = False, times: int = 1, bot: str = "") -> Gate:
        """A slow answer: the call waits at a gate, before or after it is carried out."""
        gate = Gate()
        self._add(Fault("call", route, times, bot, carried, gate=gate))
        return gate

    def slow(self, route: str, seconds: float, *, times: int = 1, bot: str = "") -> Fault:
        """An answer that takes this long; where the test can, it should `hold` instead."""
        return self._add(Fault("call", route, times, bot, seconds=seconds))

    # ----------------------------------------------------------------- events

    def double(self, event: str, times: int = 1, bot: str = "") -> Fault:
        """The event is sent twice, with two sequence numbers."""
        return self._add(Fault("double", event, times, bot))

    def swap(self, event: str, times: int = 1, bot: str = "") -> Fault:
        """The event is kept back, and sent after the next one."""
        return self._add(Fault("swap", event, times, bot))

    def drop(self, event: str, times: int = 1, bot: str = "") -> Fault:
        """The event is never sent."""
        return self._add(Fault("drop", event, times, bot))

    def invalidate(self, times: int | None = None, bot: str = "") -> Fault:
        """IDENTIFY is answered with INVALID_SESSION, as during outages of the gateway."""
        return self._add(Fault("invalidate", "IDENTIFY", times, bot))

    def shake(self, times: int | None = None, bot: str = "") -> Fault:
        """RESUME is answered with INVALID_SESSION of a session that can be resumed."""
        return self._add(Fault("invalidate", "RESUME", times, bot))

    def spoil(self, event: str, *keys: str, times: int = 1, bot: str = "") -> Fault:
        """The event comes without these keys; discord.py's `connect` ends on many of them."""
        return self._add(Fault("spoil", event, times, bot, keys=keys))
