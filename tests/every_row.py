"""One fact that holds for each row of a long table: one test, which names all rows where it fails.

For rows that take next to nothing: pytest needs some milliseconds for each test, and hundreds of
rows took it longer than what they prove. A test of few rows, or with fixtures, is parametrized.
"""

from collections.abc import Callable, Iterable
from typing import Any


def every_row(rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Run a test for each row, whose values are its arguments; a row that is no tuple is the only one."""
    all_rows = [row if isinstance(row, tuple) else (row,) for row in rows]
    assert all_rows, "a test of no rows proves nothing"

    def decorated(test: Callable[..., None]) -> Callable[[], None]:
        def whole() -> None:
            failed = []
            for row in all_rows:
                try:
                    test(*row)
                except Exception as error:
                    failed.append(f"{row!r}:\n{type(error).__name__}: {error}")
            assert not failed, f"{len(failed)} of {len(all_rows)} rows:\n" + "\n\n".join(failed)

        whole.__name__, whole.__qualname__ = test.__name__, test.__qualname__
        whole.__doc__, whole.__module__ = test.__doc__, test.__module__
        return whole

    return decorated
