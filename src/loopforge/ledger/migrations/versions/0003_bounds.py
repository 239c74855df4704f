"""Bounds of a turn: no table changes, but there is a kind of event that older programs do not know.

They refuse such a ledger in one sentence, in place of writing into one of which they read a part.
"""

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Nothing is to be done."""
