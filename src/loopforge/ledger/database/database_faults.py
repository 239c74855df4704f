"""What a database complains of, told as Loopforge's errors: what happened, and what to do.

No sentence holds a password, a text, or a statement.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.engine import URL, Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from loopforge.errors import LedgerBroken, LedgerBusy, LedgerError, LedgerFull, LedgerReadOnly

BUSY_STATES = {"55P03", "40001", "40P01", "57014"}
FULL_STATES = {"53100", "53200"}
BROKEN_STATES = {"XX001", "XX002"}
GONE_STATES = {"57P01", "57P02", "57P03", "57P05", "25P03"}
READ_ONLY_STATE = "25006"
CROWDED = ("too many clients", "too many connections", "remaining connection slots")
"""What a server says to who cannot come in; of that no state is told."""
FAULTS = (SQLAlchemyError, UnicodeDecodeError)
"""What a database raises; the second where a name in a damaged SQLite file is no text any more."""
MOST_DAMAGE = 20
"""Faults of SQLite's file that are told, of however many there are."""


def ledger_location(url: URL) -> str:
    """Where the ledger lies, in words, without a password."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    several = url.normalized_query.get("host", ())
    host = url.host or ", ".join(several) or "its socket"
    return f"PostgreSQL at {host}{f':{url.port}' if url.port else ''}"


def as_ledger_error(error: Exception, url: URL) -> LedgerError:
    """The error to raise instead of a database's own."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if url.get_backend_name() == "sqlite":
        return _sqlite(cause, ledger_location(url))
    return _postgres(cause, ledger_location(url))


@contextmanager
def translating_faults(url: URL) -> Iterator[None]:
    """Let errors of the database through as Loopforge's."""
    try:
        yield
    except FAULTS as error:
        raise as_ledger_error(error, url) from error


def _sqlite(cause: BaseException | None, where: str) -> LedgerError:
    name = getattr(cause, "sqlite_errorname", "")
    said = str(cause)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return LedgerBusy(
            f"The ledger {where} stayed locked by another program; nothing was written. "
            "Close that program, or try again."
        )
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE")):
        return disk_full_error(where)
    no_text = isinstance(cause, UnicodeDecodeError) or "decode to UTF-8" in said
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or no_text:
        return LedgerBroken(
            f"The ledger {where} is damaged ({said}). Keep the file, run `loopforge ledger "
            "verify` on it, and go on with a backup."
        )
    if name.startswith("SQLITE_CANTOPEN"):
        return LedgerError(
            f"The ledger {where} cannot be opened. Check that its folder exists and may be written."
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_PERM")):
        return LedgerReadOnly(
            f"The ledger {where} may not be written. Check who owns the file and its folder."
        )
    if name.startswith("SQLITE_IOERR"):
        return LedgerError(
            f"The disk failed under the ledger {where} ({name}); nothing was written. "
            "Check the disk and try again."
        )
    return LedgerError(f"The ledger {where} did not do what was asked: {said}.")


def _postgres(cause: BaseException | None, where: str) -> LedgerError:
    state = getattr(cause, "sqlstate", None) or ""
    said = str(cause).strip().splitlines()[0].rstrip(".") if str(cause).strip() else repr(cause)
    if state in BUSY_STATES:
        return LedgerBusy(
            f"The ledger in {where} stayed locked by another program; nothing was written. "
            "Try again."
        )
    if state in FULL_STATES:
        return LedgerFull(
            f"The disk of {where} is full; nothing was written. Make room and try again."
        )
    if state == READ_ONLY_STATE:
        return read_only_error(where)
    if state in BROKEN_STATES:
        return LedgerBroken(f"The ledger in {where} is damaged ({said}). Go on with a backup.")
    if type(cause).__name__ == "SessionLent":
        return LedgerError(
            f"The pooler before {where} lends a session for one transaction (PgBouncer: pool_mode "
            "= transaction), and a home holds a lock by its session. Set pool_mode = session for "
            "this database, or name PostgreSQL itself in `database_url`."
        )
    if any(sign in said for sign in CROWDED):
        return LedgerError(
            f"The ledger in {where} takes no more connections ({said}). End other programs that "
            "use it, or let it take more (`max_connections`, or the limit of the role): a home has "
            "up to ten."
        )
    unreached = not state and type(cause).__name__ in {"OperationalError", "ConnectionTimeout"}
    if unreached or state.startswith("08") or state in GONE_STATES:
        return LedgerError(
            f"The ledger in {where} cannot be reached ({said}). Check that it runs and that "
            "`database_url` is right, then try again."
        )
    return LedgerError(f"The ledger in {where} did not do what was asked: {said}.")


def read_only_error(where: str) -> LedgerReadOnly:
    """What is said of a PostgreSQL that does not let us write."""
    return LedgerReadOnly(
        f"The ledger in {where} may only be read there now, as on a standby or a full disk; "
        "nothing was written. Once it may be written again, this goes on by itself."
    )


def disk_full_error(where: str) -> LedgerFull:
    """What is said of a disk that takes no more."""
    return LedgerFull(
        f"The disk that holds the ledger {where} is full; nothing was written. "
        "Make room and try again."
    )


def is_connection_lost(error: Exception) -> bool:
    """Whether the connection broke, so that nobody knows if a commit arrived."""
    return isinstance(error, DBAPIError) and error.connection_invalidated


def file_damage(connection: Connection) -> list[str]:
    """What SQLite finds damaged in its file, in its words; nothing of PostgreSQL's."""
    if connection.dialect.name != "sqlite":
        return []
    found = connection.exec_driver_sql(f"PRAGMA integrity_check({MOST_DAMAGE})")
    return [said for (said,) in found.all() if said != "ok"]
