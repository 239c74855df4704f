"""Libraries that only some homes need: who may import them, and what is read where one is missing."""

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from loopforge.cli.health_checks.machine_checks import check_python
from loopforge.errors import NotInstalled
from loopforge.lab.export.run_export import export_folder
from loopforge.lab.report.html_report import write_report
from loopforge.ledger.database.database_engine import parse_database_url
from loopforge.models.embeddings.sentence_model import SentenceModel
from loopforge.runtime.installation.extras import EXTRAS, require_extra
from loopforge.sinks.aws_client import AwsClient
from tests.source import parsed

MADE_OF = {"loopforge.ledger.database.liveness_probe": "psycopg"}
"""Modules that need such a library to be loaded at all."""
WITHOUT: dict[str, Callable[[Path], object]] = {
    "scipy": lambda folder: write_report(folder, folder / "report.html"),
    "polars": lambda folder: export_folder(folder, "parquet"),
    "psycopg": lambda _: parse_database_url("postgresql://home@localhost/loopforge"),
    "botocore": lambda _: AwsClient("sqs", "eu-west-1").called("list_queues", {}),
    **dict.fromkeys(EXTRAS["embeddings"], lambda _: SentenceModel()),
}
"""By library, what cannot be had without it."""
SOURCE = Path(__file__).parents[2] / "src" / "loopforge"


@pytest.mark.parametrize("module", WITHOUT)
def test_who_lacks_a_library_reads_one_sentence_and_one_command(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report, Parquet and PostgreSQL name what is missing and how to get it, before any work."""
    monkeypatch.setitem(sys.modules, module, None)  # as where it is not installed

    with pytest.raises(NotInstalled) as told:
        WITHOUT[module](tmp_path)

    assert f" {module}, not installed here." in str(told.value)
    assert "`make install-all`" in str(told.value)
    assert list(tmp_path.iterdir()) == []


def test_what_is_installed_is_not_spoken_of() -> None:
    """With everything installed each extra is there, and each library of one stands in the table."""
    assert set(WITHOUT) == {module for modules in EXTRAS.values() for module in modules}
    for extra in EXTRAS:
        require_extra(extra, "Whoever asks needs")


def test_a_home_without_them_is_healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor says what was left out and how to get it, and calls nothing wrong."""
    assert [each.state for each in check_python()] == ["ok"]
    for module in WITHOUT:
        monkeypatch.setitem(sys.modules, module, None)  # as where it is not installed

    assert [(each.check, each.state, each.said) for each in check_python()][1:] == [
        (
            "extras",
            "ok",
            "left out: reports, parquet, postgres, aws, embeddings. `make install-all` gets them.",
        )
    ]


def test_no_module_imports_them_when_it_is_imported() -> None:
    """A home without the extras starts: such a library is imported within functions alone.

    So is a module that is made of one.
    """
    large = {module for modules in EXTRAS.values() for module in modules}
    early = {
        (str(path.relative_to(SOURCE)), name if name in MADE_OF else name.partition(".")[0])
        for path in SOURCE.rglob("*.py")
        for node in parsed(path.read_text()).body
        for name in imported(node)
        if name in MADE_OF or name.partition(".")[0] in large
    }
    own = {
        (module.partition(".")[2].replace(".", "/") + ".py", MADE_OF[module]) for module in MADE_OF
    }
    assert early == own


def imported(node: ast.stmt) -> Iterator[str]:
    """The packages that a statement at the top of a module imports."""
    match node:
        case ast.Import(names=names):
            yield from (each.name for each in names)
        case ast.ImportFrom(module=str(module)):
            yield module
