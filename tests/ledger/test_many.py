"""Many at once: whatever tasks append, in whatever order, chains are whole and nothing is mixed up."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from loopforge.core.events import Fact
from loopforge.core.text.erasable_text import Words
from loopforge.errors import BadLine, Conflict
from loopforge.ledger.sql_ledger import SqlLedger
from tests.examples import few
from tests.ledger.saying import Scribbler, opened, text_of

steps = st.tuples(
    st.sampled_from(["room:a", "room:b", "room:c"]),
    st.lists(st.text(max_size=6), max_size=4),
    st.sampled_from(["fine", "fine", "fine", "conflict", "bad", "shared"]),
)
tasks = st.lists(st.lists(steps, max_size=5), min_size=1, max_size=6)


class Teller:
    """One task: appends its steps one after the other, and remembers what was taken."""

    def __init__(self, ledger: SqlLedger, who: int, shared: Words) -> None:
        self._ledger, self._who, self._shared = ledger, who, shared
        self._scribbler = Scribbler()
        self.taken: dict[str, list[str]] = {}

    async def tell(self, steps: list[tuple[str, list[str], str]]) -> None:
        """Append everything."""
        for stream, texts, how in steps:
            facts = [self._scribbler.heard(text, f"p{self._who}") for text in texts]
            if how == "shared":
                facts.append(self._scribbler.heard(self._shared, f"p{self._who}"))
                texts = [*texts, str(self._shared)]
            await self._append(stream, facts, texts, how)

    async def _append(self, stream: str, facts: list[Fact], texts: list[str], how: str) -> None:
        if how == "conflict":
            facts.append(self._scribbler.heard(self._shared, f"p{self._who}"))
            try:
                await self._ledger.append(stream, facts, expect=10_000)
            except Conflict:
                return
            raise AssertionError
        if how == "bad":
            facts += [
                self._scribbler.heard(self._shared, f"p{self._who}"),
                self._scribbler.heard("x", source="\ud800"),
            ]
            try:
                await self._ledger.append(stream, facts)
            except BadLine:
                return
            raise AssertionError
        events = await self._ledger.append(stream, facts)
        assert [event.id for event in events] == [fact.id for fact in facts]
        self.taken.setdefault(stream, []).extend(texts)


async def _run(tasks: list[list[tuple[str, list[str], str]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        url, shared = f"sqlite:///{Path(folder) / 'ledger.db'}", Words("shared by all")
        async with opened(url) as ledger:
            tellers = [Teller(ledger, who, shared) for who in range(len(tasks))]
            await asyncio.gather(*(t.tell(task) for t, task in zip(tellers, tasks, strict=True)))
        async with opened(url) as ledger:
            found = await ledger.verify()
            assert found.findings == ()
            for stream, seq in (await ledger.heads()).items():
                events = await ledger.read(stream)
                assert [event.seq for event in events] == list(range(1, seq + 1))
                for who, teller in enumerate(tellers):
                    said = [text_of(e) for e in events if e.actor == f"person:p{who}"]
                    assert said == teller.taken.get(stream, [])


@settings(max_examples=few(12))
@given(tasks)
def test_any_number_of_tasks(tasks: list[list[tuple[str, list[str], str]]]) -> None:
    """Chains verify, numbers have no gap, each task's order is kept, refused appends leave nothing.

    A Words object shared by all tasks is stored by whichever append is the first to be taken, never
    by one that was refused.
    """
    asyncio.run(_run(tasks))
