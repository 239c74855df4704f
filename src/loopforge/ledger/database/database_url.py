"""Where a ledger lies: its URL, as it is set or as the home has it. Opens nothing."""

from pathlib import Path

from loopforge.errors import BadSettings


def resolve_database_url(url: str, home: Path) -> str:
    """The URL, with a relative SQLite path taken from the home."""
    if "?" in str(home) and (not url or url.startswith("sqlite")):
        raise BadSettings(f"The home {home} has a ? in its path, which ends a database's address.")
    if not url:
        return f"sqlite:///{home / 'data' / 'loopforge.db'}"
    kind, mark, rest = url.partition("://")
    if not mark or kind.split("+")[0] not in {"sqlite", "postgresql", "postgres"}:
        raise BadSettings(
            f"`database_url` is {kind}...; it starts with sqlite:/// or postgresql://."
        )
    if kind.startswith("sqlite"):
        return f"{kind}:///{home / rest.removeprefix('/')}"
    return url
