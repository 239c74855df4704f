"""Token conflict: whether another program speaks by an account of ours.

Discord lets any number of programs in by one token, tells each of them everything, and none of the
others. But an account hears what is said by itself: what this process did not say, another one did,
or it is of a call that broke off. So a few of them within an hour say it. Pure: ids of messages,
which hold their times.
"""

from collections import deque

FEW = 3
"""Messages of nobody here that say it; one or two may be of calls that broke off."""
SOON, RECENT = 60_000 << 22, 3_600_000 << 22
"""A minute and an hour, in ids: within the first a call may still be answered."""
REMEMBERED = 1000
"""Messages of this process, and of nobody, that are remembered."""


class TokenConflict:
    """What one account says and hears of itself."""

    def __init__(self) -> None:
        self._said: deque[int] = deque(maxlen=REMEMBERED)
        self._heard: deque[int] = deque(maxlen=REMEMBERED)

    def said(self, message: int) -> None:
        """This process said this."""
        self._said.append(message)

    def heard(self, message: int) -> bool:
        """The account is told that it said this; whether it is clear now that others use it."""
        ours = set(self._said)
        unknown = [id for id in self._heard if id not in ours and id > message - RECENT]
        self._heard = deque([*unknown, message], maxlen=REMEMBERED)
        return sum(id < message - SOON for id in unknown) >= FEW
