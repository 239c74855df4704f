"""Who knocked and was let in or not, folded from the facts of stream "people".

Pure: facts in, answers out. An account that was forgotten has never knocked. Does not know which
accounts are one person's, nor what becomes of a knock.
"""

from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct

from loopforge.core.events import Erased, Event
from loopforge.core.people_events import AdmissionRefused, Admitted, Knocked
from loopforge.core.text.erasable_text import Words, set_words_text
from loopforge.people.identity.linked_identities import Key, account_key

Verdict = Literal["admitted", "refused"]


class Stranger(Struct, frozen=True, kw_only=True):
    """Somebody who knocked at a surface: when and where last, and what they were told then."""

    knock: str
    surface: str
    account: str
    name: str
    at: datetime
    told: Literal["code", "closed"]
    place: str = ""


class _Decided(Struct, frozen=True):
    verdict: Verdict
    account: Words


class AccessRequests:
    """The strangers at the doors of this home, and what was decided about accounts."""

    def __init__(self) -> None:
        self._knocked: dict[Key, tuple[Knocked, datetime]] = {}
        self._decided: dict[Key, _Decided] = {}

    def apply(self, event: Event) -> None:
        """Take in the next event."""
        match event.body:
            case Knocked(account=account) as body if account.text is not None:
                key = account_key(body.surface, account.text)
                self._knocked.pop(key, None)  # the latest knock stands last
                self._knocked[key] = body, event.at
            case Admitted(account=account) as body if account.text is not None:
                self._decide(body.surface, "admitted", account)
            case AdmissionRefused(account=account) as body if account.text is not None:
                self._decide(body.surface, "refused", account)
            case Erased(refs=refs):
                self._forget(set(refs))

    def _decide(self, surface: str, verdict: Verdict, account: Words) -> None:
        self._decided[account_key(surface, str(account))] = _Decided(verdict, account)

    def _forget(self, refs: set[str]) -> None:
        self._decided = {k: one for k, one in self._decided.items() if one.account.ref not in refs}
        for key, (body, _) in list(self._knocked.items()):
            if body.account.ref in refs:
                del self._knocked[key]
            elif body.name.ref in refs:
                set_words_text(body.name, None)

    # ------------------------------------------------------------ asking

    def verdict(self, surface: str, account: str) -> Verdict | None:
        """What was decided about this very account, if anything was."""
        decided = self._decided.get(account_key(surface, account))
        return decided.verdict if decided is not None else None

    def last(self, surface: str, account: str) -> Stranger | None:
        """The last knock of an account."""
        found = self._knocked.get(account_key(surface, account))
        return _stranger(*found) if found is not None else None

    def of(self, knock: str) -> Stranger | None:
        """A knock by its id, if it was the last of its account."""
        for body, at in self._knocked.values():
            if body.knock == knock:
                return _stranger(body, at)
        return None

    def admitted(self, surface: str) -> list[Stranger]:
        """Who knocked there in a known place, and was let in as this very account."""
        return [
            _stranger(body, at)
            for key, (body, at) in self._knocked.items()
            if body.surface == surface
            and body.place.text
            and key in self._decided
            and self._decided[key].verdict == "admitted"
        ]

    def undecided(self, now: datetime, within: timedelta) -> list[Stranger]:
        """Who knocked not longer ago than this and waits for a decision, the latest first."""
        return [
            _stranger(body, at)
            for key, (body, at) in reversed(self._knocked.items())
            if now - at < within and key not in self._decided
        ]


def _stranger(body: Knocked, at: datetime) -> Stranger:
    return Stranger(
        knock=body.knock,
        surface=body.surface,
        account=str(body.account),
        name=str(body.name),
        at=at,
        told=body.told,
        place=body.place.text or "",
    )
