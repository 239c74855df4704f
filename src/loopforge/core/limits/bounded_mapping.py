"""A mapping that holds so many values: who puts one more lets go of that which was put first."""

from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedMapping(OrderedDict[K, V]):
    """At most `most` values. What is put again, or moved to the end, stays longer."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > self._most:
            self.popitem(last=False)
