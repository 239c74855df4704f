"""Commands of platforms: no table changes, but older programs do not know one kind of event.

They refuse such a ledger in one sentence, in place of writing into one of which they read a part.
"""

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Nothing is to be done."""
