"""Bounds of Markdown: what is read as it, and what is shown as it was written.

    wild("|" * 100 + ...)  ->  True: reading it would hold up the whole home

Does not know who reads it, nor what they do with it.
"""

LONGEST = 20_000
"""Characters."""
WILDEST = 1_500
"""Opening brackets, the dearest mark to read: about 12 microseconds each, if hostile."""
MOST_ADDRESSES = 300
"""Each is looked for through all that follows it without a space: so many take the square."""
MOST_CELLS = 10_000
"""Of a table, each some 20 microseconds: rows are filled up to the width of their head."""


def exceeds_markdown_bounds(text: str) -> bool:
    """Whether reading this as Markdown would be more work than it is worth."""
    return len(text) > LONGEST or has_costly_markup(text)


def has_costly_markup(text: str) -> bool:
    """Whether there is too much in it that is dear to read, however it is cut before."""
    many = text.count("[") > WILDEST or text.count("://") > MOST_ADDRESSES
    return many or _cells(text) > MOST_CELLS


def _cells(text: str) -> int:
    """How many cells tables in it may have at most: its rows, by the widest line under a head."""
    if "|" not in text or "-" not in text:
        return 0
    rows = [row for row in text.splitlines() if row.strip()]
    rules = (row.count("|") + 1 for row in rows if not row.strip("|:-> \t"))
    return len(rows) * max(rules, default=0)
