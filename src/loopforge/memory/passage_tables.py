"""The tables of the transcript's index: passages of lines, places of forgotten ones, vectors.

What is filled by which event passage_index.py says, and what by none passage_embedding.py.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
)

from loopforge.ledger.database.table_schema import FILLED_LATER, Name, metadata

passages = Table(
    "passages",
    metadata,
    Column("stream", Name, nullable=False),
    Column("seq", BigInteger, nullable=False, autoincrement=False),
    Column("nth", BigInteger, nullable=False, autoincrement=False),
    Column("line", Name, nullable=False),
    Column("ref", Name, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("speaker", Name, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("traits", BigInteger, nullable=False),
    Column("words", LargeBinary, nullable=False),
    PrimaryKeyConstraint("stream", "seq", "nth", name="passages_place"),
    Index("passages_line", "line"),
    Index("passages_ref", "ref"),
)
forgotten = Table(
    "forgotten_lines",
    metadata,
    Column("stream", Name, nullable=False),
    Column("seq", BigInteger, nullable=False, autoincrement=False),
    Column("line", Name, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("speaker", Name, nullable=False),
    PrimaryKeyConstraint("line", name="forgotten_lines_line"),
    Index("forgotten_lines_stream", "stream"),
)
vectors = Table(
    "passage_vectors",
    metadata,
    Column("stream", Name, nullable=False),
    Column("seq", BigInteger, nullable=False, autoincrement=False),
    Column("nth", BigInteger, nullable=False, autoincrement=False),
    Column("model", Name, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    PrimaryKeyConstraint("stream", "seq", "nth", name="passage_vectors_place"),
    ForeignKeyConstraint(
        ["stream", "seq", "nth"],
        ["passages.stream", "passages.seq", "passages.nth"],
        name="passage_vectors_passage",
        ondelete="CASCADE",
    ),
    info={FILLED_LATER: True},
)
changes = Table(
    "passage_changes",
    metadata,
    Column("stream", Name, nullable=False),
    Column("part", BigInteger, nullable=False, autoincrement=False),
    Column("count", BigInteger, nullable=False),
    PrimaryKeyConstraint("stream", "part", name="passage_changes_place"),
    info={FILLED_LATER: True},  # of a text that is forgotten no event tells where it stood
)
"""How often passages of each PART lines were changed or taken away: who holds them, in memory or in
a file, reads them anew."""
PART = 4_096
"""Lines of a room that have one count together."""
SPOKEN = frozenset({"room.heard", "room.said"})
ITEMS = frozenset({"memory.kept", "memory.corrected"})
CHANGING = frozenset({"room.line_edited", "room.line_deleted", "room.closed", "ledger.erased"})
