"""Lines of two texts held beside each other: which stand in both, in bounded work.

    a  x     b  x        LineMatcher(a, b).get_opcodes()  ->  equal, replace, equal
       y        z        unified(a, b)                    ->  @@ -1,3 +1,3 @@ ...
       w        w

Small and usual texts are matched as difflib does it, for which lines that come again and again take
cubic time. Where that would be much, lines that stand once in either text part them first, and what
lies between two of those and would still be much counts as changed. Pure.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher

MOST_WORK = 10_000_000
"""Steps of difflib for one comparison, some 20 nanoseconds each."""


class LineMatcher(SequenceMatcher[str]):
    """difflib's matcher of lines, without its worst cases."""

    def __init__(self, a: Sequence[str], b: Sequence[str]) -> None:
        super().__init__(None, a, b, autojunk=False)
        self._a, self._b, self._found = a, b, list[Match]()
        self._left = MOST_WORK

    def get_matching_blocks(self) -> list[Match]:
        """The runs of lines that stand in both, in order; the last is empty, at their ends."""
        self._found = self._found or list(self._blocks())
        return self._found

    def _blocks(self) -> Iterator[Match]:
        """Runs that follow on each other are one."""
        last = Match(0, 0, 0)
        for one in self._runs():
            if (last.a + last.size, last.b + last.size) == (one.a, one.b):
                last = Match(last.a, last.b, last.size + one.size)
                continue
            if last.size:
                yield last
            last = one
        if last.size:
            yield last
        yield Match(len(self._a), len(self._b), 0)

    def _runs(self) -> Iterator[Match]:
        a, b = self._a, self._b
        if self._affordable(0, len(a), 0, len(b)):
            yield from self._small(0, len(a), 0, len(b))
            return
        begin, least = 0, min(len(a), len(b))
        while begin < least and a[begin] == b[begin]:
            begin += 1
        end = 0
        while end < least - begin and a[-1 - end] == b[-1 - end]:
            end += 1
        yield Match(0, 0, begin)
        last, other = len(a) - end, len(b) - end
        was, at = begin, begin
        for n, m in (*self._single(begin, last, other), (last, other)):
            if self._affordable(was, n, at, m):
                yield from self._small(was, n, at, m)
            if n < last:
                yield Match(n, m, 1)
            was, at = n + 1, m + 1
        yield Match(last, other, end)

    def _affordable(self, n: int, end: int, m: int, other: int) -> bool:
        """Whether difflib may match these, at the worst; what it may take is taken."""
        counts = Counter(self._b[m:other])
        pairs = sum(counts[line] for line in self._a[n:end])
        work = (pairs + end - n) * min(end - n, other - m)
        if work > self._left:
            return False
        self._left -= work
        return True

    def _small(self, n: int, end: int, m: int, other: int) -> Iterator[Match]:
        if n < end and m < other:
            inner = SequenceMatcher(None, self._a[n:end], self._b[m:other], autojunk=False)
            for one in inner.get_matching_blocks()[:-1]:
                yield Match(n + one.a, m + one.b, one.size)

    def _single(self, begin: int, last: int, other: int) -> list[tuple[int, int]]:
        """Lines that stand once in either part, as many of them as stand in one order."""
        mine, its = Counter(self._a[begin:last]), Counter(self._b[begin:other])
        place = {line: m for m, line in enumerate(self._b[begin:other], begin) if its[line] == 1}
        ends: list[int] = []
        chains: list[tuple[int, int, int]] = []
        tips: list[int] = []
        for n, line in enumerate(self._a[begin:last], begin):
            if mine[line] == 1 and (m := place.get(line)) is not None:
                at = bisect_left(ends, m)
                chains.append((n, m, tips[at - 1] if at else -1))
                ends[at : at + 1], tips[at : at + 1] = [m], [len(chains) - 1]
        found, tip = list[tuple[int, int]](), tips[-1] if tips else -1
        while tip >= 0:
            n, m, tip = chains[tip]
            found.append((n, m))
        return found[::-1]


def unified_diff_rows(
    a: Sequence[str], b: Sequence[str], one: str = "", other: str = "", around: int = 3
) -> Iterator[str]:
    """The rows of a unified diff, without ends of lines; none where nothing differs."""
    for nth, group in enumerate(LineMatcher(a, b).get_grouped_opcodes(around)):
        if not nth:
            yield f"--- {one}"
            yield f"+++ {other}"
        old, new = _range(group[0][1], group[-1][2]), _range(group[0][3], group[-1][4])
        yield f"@@ -{old} +{new} @@"
        for tag, n, end, m, last in group:
            if tag == "equal":
                yield from (f" {line}" for line in a[n:end])
                continue
            yield from (f"-{line}" for line in a[n:end])
            yield from (f"+{line}" for line in b[m:last])


def _range(begin: int, end: int) -> str:
    """Lines as heads of unified diffs name them: from which on, and how many if not one."""
    size = end - begin
    if size == 1:
        return str(begin + 1)
    return f"{begin + 1 if size else begin},{size}"
