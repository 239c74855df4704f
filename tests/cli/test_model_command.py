"""loopforge model: larger models that run inside the program, fetched, taken, used, removed."""

from pathlib import Path

import pytest

from loopforge.app import open_app
from loopforge.models.embedded.embedded_model import weights_path
from loopforge.runtime.ports import Question, Route
from loopforge.settings import load_settings
from tests.cli.conftest import Run
from tests.models.hub import BODY, hub

NOUN = "model"
SMALLEST = "qwen2.5-0.5b"


pytestmark = pytest.mark.usefixtures("begun")


def test_one_is_fetched_and_not_used_when_it_does_not_load(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Size, memory and licence before; the file after; llama.cpp has the last word on it."""
    assert f"{SMALLEST}: can be fetched, 0.49 GB, 1.2 GB of memory, Apache" in run("list")[1]
    with hub() as place:
        monkeypatch.setenv("LOOPFORGE_EMBEDDED_FILES_FROM", place.url)
        code, out, err = run("fetch", SMALLEST, "--yes")
    assert (code, "Apache License 2.0" in err) == (0, True)
    assert f"`loopforge model use {SMALLEST}` lets it answer." in out
    assert (home / f"data/models/{SMALLEST}.gguf").read_bytes() == BODY
    code, _, err = run("use", SMALLEST)
    assert (code, "could not be loaded" in err) == (2, True)
    assert load_settings(home).embedded_file == ""
    assert run("remove", SMALLEST) == (0, f"{SMALLEST} is gone.\n", "")


def test_what_went_wrong_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place without the file; a name that nobody knows; a file that is none."""
    with hub(status=[(404, "")]) as place:
        monkeypatch.setenv("LOOPFORGE_EMBEDDED_FILES_FROM", place.url)
        code, _, err = run("fetch", SMALLEST, "--yes")
    assert (code, "has no file at" in err) == (1, True)
    code, _, err = run("fetch", "nothing", "--yes")
    assert (code, "There is no model 'nothing' to fetch" in err) == (2, True)
    code, _, err = run("add", __file__)
    assert (code, "such a file begins with the letters GGUF" in err) == (2, True)


async def _asked(home: Path) -> str:
    async with open_app(load_settings(home)) as app:
        question = Question(
            messages=(("user", "Say hello."),), max_tokens=8, route=Route(model="embedded")
        )
        reply = await app.models.ask(question, lambda _: None)
        assert reply.text
        return next(row.id for row in app.listing.rows() if row.name == "embedded")


async def test_a_file_of_ones_own_answers(home: Path) -> None:
    """Named by its path in the setting, it is the model inside the program."""
    written = home / "loopforge.toml"
    written.write_text(f'embedded_file = "{weights_path()}"\n', "utf-8")
    assert await _asked(home) == str(weights_path())


def test_a_file_of_ones_own_is_taken_and_used(run: Run, home: Path) -> None:
    """Copied into the home, loaded once, and named by the setting; while in use it stays."""
    name = weights_path().stem
    assert run("add", str(weights_path()))[0] == 0
    assert run("use", name) == (0, f"{name} answers from the next start on.\n", "")
    assert load_settings(home).embedded_file == name
    code, _, err = run("remove", name)
    assert (code, f"{name} is in use" in err) == (2, True)
    assert f"{name}: in use" in run("list")[1]
    assert run("use", "") == (0, "The small model answers from the next start on.\n", "")
    assert run("remove", name)[0] == 0
