"""Names that no person may take: they mean something else in a room, or in what mates read.

What a name may be made of is in account_names.py.
"""

from __future__ import annotations

from loopforge.core.mates.mate_file import RESERVED

RESERVED_NAMES = frozenset(
    {*RESERVED, "somebody", "nobody", "anybody", "anyone", "loopforge", "system"}
)
