"""What was forgotten is in no file of the database, whatever SQLite did with its pages before."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random  # noqa: TID251 - rows of its seeds were seen to stay

import pytest
from sqlalchemy import func, insert, select
from sqlalchemy.exc import IntegrityError

from loopforge.ledger import schema_migration
from loopforge.ledger.database.database_engine import (
    DatabaseEngines,
    create_engines,
    parse_database_url,
)
from loopforge.ledger.database.table_schema import missing_triggers, texts
from loopforge.ledger.erasure.database_scrubbing import scrub, write_anew
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.erasure.text_removal import erase_texts
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice

SECRET = "rhubarb"
STREAM = "room:commons"


def written(seed: int, longest: int) -> list[dict[str, object]]:
    """Rows of texts, some with the secret."""
    dice = Random(seed)
    return [
        {
            "ref": dice.randbytes(32).hex(),
            "salt": dice.randbytes(16),
            "text": "x" * dice.randint(0, longest) + word + "ß" * dice.randint(0, longest),
            "event": dice.randbytes(16).hex(),
            "stream": STREAM,
        }
        for word in dice.choices((SECRET, "apple"), k=dice.randint(5, 60))
    ]


@contextmanager
def filled(path: Path, rows: list[dict[str, object]]) -> Iterator[DatabaseEngines]:
    """A database with these rows."""
    url = parse_database_url(f"sqlite:///{path}")
    with closing(create_engines(url)) as store:
        schema_migration.ready(store)
    with closing(create_engines(url)) as store:
        for row in rows:
            with store.writer.begin() as connection:
                connection.execute(insert(texts), row)
        yield store


def forgotten(store: DatabaseEngines, rows: list[dict[str, object]]) -> None:
    """Take away every row with the secret, one after the other."""
    stamp = Stamp(SystemClock(), SystemDice())
    for row in rows:
        if SECRET in str(row["text"]):
            with store.writer.begin() as connection:
                erase_texts(connection, {STREAM: [str(row["ref"])]}, ErasureRequest(), stamp, ())


@pytest.mark.sample(2)
@pytest.mark.parametrize("longest", [1500, 9000])
@pytest.mark.parametrize("seed", [3617, 3957, 8891, 10083])
def test_pages_keep_no_copy(seed: int, longest: int, tmp_path: Path) -> None:
    """SQLite leaves copies of rows that it moves: none is moved. The file need not be written anew."""
    path, rows = tmp_path / "loopforge.db", written(seed, longest)
    with filled(path, rows) as store:
        forgotten(store, rows)
        assert scrub(store)
        assert SECRET.encode() not in path.read_bytes() + store.log.read_bytes()
        with store.reader.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"


def test_a_file_that_is_written_anew_has_no_blank_rows(tmp_path: Path) -> None:
    """What forgotten texts took of a disk is given back then."""
    path, rows = tmp_path / "loopforge.db", written(1, 9000)
    with filled(path, rows) as store:
        forgotten(store, rows)
        scrub(store)
        before = path.stat().st_size
        assert write_anew(store)
        assert path.stat().st_size < before
        with store.reader.connect() as connection:
            count = connection.execute(select(func.count()).select_from(texts)).scalar_one()
        assert count == len([row for row in rows if SECRET not in str(row["text"])])


def test_who_reads_for_long_is_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that somebody reads from cannot be cut off, and that is said."""
    monkeypatch.setattr("loopforge.ledger.erasure.database_scrubbing.TRIES", 2)
    path, rows = tmp_path / "loopforge.db", written(1, 1500)
    with filled(path, rows) as store, store.reader.connect() as connection:
        connection.exec_driver_sql("BEGIN")
        connection.execute(select(func.count()).select_from(texts)).scalar_one()
        forgotten(store, rows)
        assert not scrub(store)
        connection.exec_driver_sql("COMMIT")
        assert scrub(store)


def test_texts_are_changed_by_nothing_else(tmp_path: Path) -> None:
    """The trigger that refuses it is away in the very transaction alone in which one is forgotten."""
    path, rows = tmp_path / "loopforge.db", written(1, 1500)
    with filled(path, rows) as store:
        forgotten(store, rows)
        with store.writer.begin() as connection:
            assert missing_triggers(connection) == []
            with pytest.raises(IntegrityError, match="written once, or forgotten"):
                connection.execute(texts.update().values(text="other"))
