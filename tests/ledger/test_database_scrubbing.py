"""What was deleted is in no file of the database, whatever SQLite did with its pages before."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from random import Random  # noqa: TID251 - rows of its seeds were seen to stay

import pytest
from sqlalchemy import delete, insert

from loopforge.ledger import schema_migration
from loopforge.ledger.database.database_engine import connect, settled
from loopforge.ledger.database.table_schema import texts
from loopforge.ledger.erasure.database_scrubbing import scrub

SECRET = "rhubarb"


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", [3617, 3957, 8891, 10083])
def test_pages_that_were_split_keep_no_copy(seed: int, tmp_path: Path) -> None:
    """SQLite's own secure_delete leaves copies of rows that it moved from one page to another."""
    dice, path = Random(seed), tmp_path / "loopforge.db"
    rows = [
        {
            "ref": dice.randbytes(32).hex(),
            "salt": dice.randbytes(16),
            "text": "x" * dice.randint(0, 1500) + word + "x" * dice.randint(0, 1500),
            "event": dice.randbytes(16).hex(),
            "stream": "room:commons",
        }
        for word in dice.choices((SECRET, "apple"), k=dice.randint(5, 60))
    ]
    url = settled(f"sqlite:///{path}")
    with closing(connect(url)) as store:
        schema_migration.ready(store)
    with closing(connect(url)) as store:
        for row in rows:
            with store.writer.begin() as connection:
                connection.execute(insert(texts), row)
        for row in rows:
            if SECRET in str(row["text"]):
                with store.writer.begin() as connection:
                    connection.execute(delete(texts).where(texts.c.ref == row["ref"]))
        assert scrub(store)
        assert SECRET.encode() not in path.read_bytes()
