"""docs/sinks.md says what is true: its settings can be set, its Python runs, its table is the code's."""

import re
from pathlib import Path

import pytest

from loopforge.settings import load_settings
from loopforge.sinks.cloud_events import TYPES
from loopforge.sinks.queue_intake import IntakeSettings
from loopforge.sinks.sink_plugin import sinks_of

PAGE = (Path(__file__).parents[2] / "docs" / "sinks.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    """The blocks of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("text", blocks("toml"))
def test_what_can_be_set_can_be(tmp_path: Path, text: str) -> None:
    """Each block is a loopforge.toml by which a sink is wanted."""
    (tmp_path / "loopforge.toml").write_text(text)
    settings = load_settings(tmp_path, environ={})
    wanted = {each.name for each in sinks_of(settings)}
    if settings.of("intake", IntakeSettings).open:
        wanted.add("intake")
    assert wanted == {line.partition("_")[0] for line in text.splitlines()}


def test_its_python_runs() -> None:
    """What receivers are to do does what the page says."""
    assert blocks("python")
    for text in blocks("python"):
        exec(compile(text, "sinks.md", "exec"), {})


def test_the_table_is_the_code_s() -> None:
    """Each kind that is told of a task stands there under its name."""
    for kind, told in TYPES.items():
        assert f"`{told}`" in PAGE
        assert f"`{kind}`" in PAGE or kind == told
