"""Findings: what was seen of an account of a platform, and what to do about it.

The checks of platforms give them; commands and the doctor show them. Knows no platform.
"""

from typing import Literal

from msgspec import Struct

State = Literal["ok", "warn", "bad"]


class AccountFinding(Struct, frozen=True):
    """One thing that was looked at: how it is, in a sentence, and what to do.

    `warn`: mates can talk, but not as well or not everywhere. `bad`: they cannot.
    """

    state: State
    said: str
    mend: str = ""


class ConnectReport(Struct, frozen=True):
    """What was found, and the addresses by which people come to the bot, each with what it does."""

    findings: tuple[AccountFinding, ...] = ()
    ways: tuple[tuple[str, str], ...] = ()

    @property
    def well(self) -> bool:
        """Whether mates can talk by it."""
        return all(finding.state != "bad" for finding in self.findings)
