"""Exports: a run, or a sweep, as a file that other programs read.

    jsonl     one object for each decision (of a sweep: for each run), flat
    parquet   the same as typed columns
    csv       the same as text; yes and no and lists are JSON, what is empty (None) is nothing, and
              a text that spreadsheets would take for a formula stands behind an apostrophe

A file is written whole or not at all, and a run's own log is never written to. What was exported is
a copy: the log stays what is verified.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from loopforge.core.egress.csv_cells import csv_lines
from loopforge.errors import BadRun, BadScenario
from loopforge.lab.export import table_columns
from loopforge.lab.run.run_log import LOG, began_of, refuse_log_name, rows_of
from loopforge.lab.sweeps.sweep_results import RESULTS, SWEPT, results_of
from loopforge.runtime.installation.extras import require_extra

if TYPE_CHECKING:
    import polars as pl

Format = Literal["jsonl", "csv", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
CHUNK = 20_000
"""Rows that are turned into columns at a time."""


@dataclass(frozen=True)
class ExportedFile:
    """What was written, and how many rows it holds."""

    path: Path
    rows: int


def export_folder(folder: Path, format: str, out: Path | None = None) -> ExportedFile:
    """Export a run's or a sweep's folder. Without `out` into the folder itself, as export.FORMAT.

    Raises BadRun: it is neither, or it cannot be written. Raises BadScenario for another format,
    NotInstalled for Parquet without its library.
    """
    if format not in FORMATS:
        raise BadScenario(f"There is no format {format[:40]!r}; there are {', '.join(FORMATS)}.")
    if format == "parquet":
        require_extra("parquet", "Parquet needs")
    swept = (folder / RESULTS).is_file()
    if not swept:
        began_of(folder)
    path = out or folder / f"export.{format}"
    refuse_log_name(path, LOG, *SWEPT)
    beside = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = _write(folder, format, beside, swept=swept)
        beside.replace(path)
    except OSError as error:
        raise BadRun(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        beside.unlink(missing_ok=True)
    return ExportedFile(path, rows)


def _write(folder: Path, format: str, path: Path, *, swept: bool) -> int:
    columns: Mapping[str, table_columns.Kind] = table_columns.COLUMNS
    rows: Iterator[table_columns.Flat] = table_columns.decisions(rows_of(folder))
    if swept:
        columns, found = table_columns.results(results_of(folder))
        rows = iter(found)
    match format:
        case "csv":
            return _csv(path, rows, columns)
        case "parquet":
            return _parquet(path, rows, columns)
        case _:
            return _jsonl(path, rows)


def _jsonl(path: Path, rows: Iterable[table_columns.Flat]) -> int:
    encode = msgspec.json.Encoder().encode
    count = 0
    with path.open("wb") as file:
        for row in rows:
            file.write(encode(row) + b"\n")
            count += 1
    return count


def _csv(
    path: Path, rows: Iterable[table_columns.Flat], columns: Mapping[str, table_columns.Kind]
) -> int:
    spelled = [name for name, kind in columns.items() if kind in ("bool", "texts")]

    def told(row: table_columns.Flat) -> table_columns.Flat:
        given = {name: row[name] for name in spelled if row[name] is not None}
        return row | {name: msgspec.json.encode(given[name]).decode() for name in given}

    count = -1  # the first line names the columns
    with path.open("w", encoding="utf-8", newline="") as file:
        for line in csv_lines(list(columns), map(told, rows)):
            file.write(line)
            count += 1
    return count


def _parquet(
    path: Path, rows: Iterator[table_columns.Flat], columns: Mapping[str, table_columns.Kind]
) -> int:
    import polars as pl

    schema = _schema(columns)
    chunks: list[pl.DataFrame] = [pl.DataFrame(schema=schema)]
    while some := list(islice(rows, CHUNK)):
        chunks.append(pl.DataFrame(some, schema=schema))
    table = pl.concat(chunks)
    table.write_parquet(path)
    return table.height


def _schema(columns: Mapping[str, table_columns.Kind]) -> dict[str, pl.DataType]:
    import polars as pl

    types: dict[table_columns.Kind, pl.DataType] = {
        "int": pl.Int64(),
        "float": pl.Float64(),
        "text": pl.String(),
        "bool": pl.Boolean(),
        "texts": pl.List(pl.String()),
    }
    return {name: types[kind] for name, kind in columns.items()}
