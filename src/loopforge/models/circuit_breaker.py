"""Circuit breaker: models at rest after a failure, so that the next turn does not pay for it again.

    well     asked as usual
    resting  passed over until its time is up; each failure in a row doubles the time
    trying   its time is up: one question goes through, the others pass it over until that one ends

Pure: the time is passed in, in seconds.
"""

from dataclasses import dataclass

SHORTEST = 20.0
LONGEST = 600.0


@dataclass
class _Rest:
    until: float
    failures: int
    trying: bool = False


class CircuitBreaker:
    """The models of one router that failed lately."""

    def __init__(self) -> None:
        self._resting: dict[str, _Rest] = {}

    def enter(self, name: str, now: float) -> bool:
        """Whether a model may be asked now. If it was at rest, the asker tries it for all."""
        rest = self._resting.get(name)
        if rest is None:
            return True
        if now < rest.until or rest.trying:
            return False
        rest.trying = True
        return True

    def until(self, name: str) -> float:
        """When a model's rest ends; 0 if it is well."""
        rest = self._resting.get(name)
        return rest.until if rest else 0.0

    def leave(self, name: str) -> None:
        """The question ended without telling anything about the model (it was cancelled)."""
        if rest := self._resting.get(name):
            rest.trying = False

    def worked(self, name: str) -> None:
        """It answered: it is well."""
        self._resting.pop(name, None)

    def failed(self, name: str, now: float, *, least: float = 0.0, lasting: bool = False) -> None:
        """It failed. `least`: as long as it asked to be left alone; `lasting`: the longest rest."""
        rest = self._resting.get(name)
        failures = rest.failures + 1 if rest else 1
        span = LONGEST if lasting else min(SHORTEST * 2.0 ** (failures - 1), LONGEST)
        self._resting[name] = _Rest(until=now + max(span, min(least, LONGEST)), failures=failures)
