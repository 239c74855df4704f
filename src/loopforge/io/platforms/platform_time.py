"""Platform time: how late it is by a platform's own clock, as the `Date` of its answers says.

How old a line is, a platform alone can say: it tells when the line was said, and the clock of this
machine may be wrong by hours. Between two answers the time goes on by ticks, so that a clock which
is set right meanwhile changes nothing here. Until the first answer it is this machine's time.
"""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from loopforge.core.text.spoken_lists import seconds_in_words
from loopforge.runtime.ports import Clock

TOLERATED = timedelta(minutes=5)
"""By how much this machine's clock may be wrong before somebody is told."""
NEAR = timedelta(minutes=1)
"""Within this, two measures say the same: an answer tells seconds, and takes some."""


class PlatformTime:
    """The time of one platform."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._ahead = clock, timedelta()
        self._told: tuple[datetime, float] | None = None

    def answered(self, date: str | None) -> None:
        """The platform gave an answer just now, with this `Date`; what is none is passed over."""
        try:
            theirs = parsedate_to_datetime(date or "")
        except (TypeError, ValueError):
            return
        theirs = theirs if theirs.tzinfo is not None else theirs.replace(tzinfo=UTC)
        self._told = theirs, self._clock.ticks()
        ahead = self._clock.now() - theirs
        self._ahead = ahead if abs(ahead - self._ahead) > NEAR else self._ahead

    def now(self) -> datetime:
        """The platform's time, UTC."""
        if self._told is None:
            return self._clock.now()
        theirs, ticks = self._told
        return theirs + timedelta(seconds=self._clock.ticks() - ticks)

    def age(self, at: datetime) -> timedelta:
        """How long ago something was that the platform says was at this time."""
        return max(self.now() - at, timedelta())

    def amiss(self, platform: str) -> str:
        """How wrong this machine's clock is, in a clause, or ""; `platform` is what it is called.

        Both as the last answer said, and still now: it may have been set right, or slept.
        """
        still = abs(self._clock.now() - self.now() - self._ahead) <= NEAR
        if not still or abs(self._ahead) <= TOLERATED:
            return ""
        by, side = seconds_in_words(abs(self._ahead).total_seconds()), self._ahead > timedelta()
        told = f"this machine's clock is {by} {'ahead of' if side else 'behind'} {platform}'s"
        return f"{told}, so that reminders ring at a wrong time"
