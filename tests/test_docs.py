"""The documents say what is true: drawn parts are fresh, links lead somewhere, commands run."""

import importlib.util
import re
import shlex
import sqlite3
import subprocess
from contextlib import closing
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.main import get_group

from loopforge import cli, errors
from loopforge.io.terminal.terminal_commands import COMMANDS
from loopforge.ledger_opening import open_ledger_of
from loopforge.runtime.plugins.installed_plugins import load_plugins
from loopforge.settings import DECLARING, load_settings, settings_rows
from tests.child_process import run_python
from tests.every_row import every_row

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md")])


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """docs/generate.py as a module."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_generated_is_fresh(generate: ModuleType) -> None:
    """`make docs` would change nothing."""
    for path, text in generate.pages().items():
        assert path.read_text("utf-8") == text, f"{path.name} is stale; run `make docs`"


def test_a_stale_block_would_be_noticed(generate: ModuleType) -> None:
    """A drawn block that was edited by hand is drawn anew; a missing one is an error."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert generate.architecture(page.replace("accepted --> [*]", "accepted --> queued")) == page
    with pytest.raises(SystemExit, match="delivery"):
        generate.architecture(page.replace("<!-- drawn: delivery -->", ""))


@cache
def sources() -> list[str]:
    """The text of each module but the one where settings are declared."""
    files = (ROOT / "src").rglob("*.py")
    return [path.read_text("utf-8") for path in files if path.name != "setting_defaults.py"]


@every_row(row.name for row in settings_rows())
def test_every_setting_is_documented_and_used(name: str) -> None:
    """Each setting stands in docs/settings.md, and some code reads it."""
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    (line,) = (each for each in page.splitlines() if each.startswith(f"| `{name}` |"))
    variables = next(row.variables for row in settings_rows() if row.name == name)
    assert all(each in line for each in variables if each != f"LOOPFORGE_{name.upper()}")
    plugin, _, own = name.partition("_")
    declaring = {each for group in DECLARING for each in load_plugins(group)}
    own = own if plugin in declaring else name
    assert any(re.search(rf"[.\"]{own}\b", text) for text in sources())


@cache
def group() -> Any:
    """All commands, as they are parsed."""
    return get_group(cli.root)


async def test_every_table_of_the_ledger_is_documented(tmp_path: Path) -> None:
    """docs/ledger.md names each table and each view of a new database, and each migration."""
    page = (ROOT / "docs" / "ledger.md").read_text("utf-8")
    (tmp_path / "data").mkdir()
    async with open_ledger_of(load_settings(tmp_path, environ={})):
        with closing(sqlite3.connect(tmp_path / "data" / "loopforge.db")) as database:
            tables = [
                n
                for (n,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            views = [n for (n,) in database.execute("SELECT name FROM views")]
            (newest,) = database.execute("SELECT version_num FROM alembic_version").fetchone()
    rows = "".join(line for line in page.splitlines() if line.startswith("|"))
    assert [each for each in tables if f"`{each}`" not in page] == ["alembic_version"]
    assert [each for each in views if not re.search(rf"[|,] {each}[ ,]", rows)] == []
    assert f" {newest} " in page.partition("**Migrations.**")[2]


def commands() -> list[str]:
    """Every command that can be run, such as `loopforge ledger tail`."""

    def walk(command: Any, path: str) -> list[str]:
        if not hasattr(command, "commands"):
            return [path]
        names = cli.COMMANDS if path == "loopforge" else command.commands
        return [
            each for n in names for each in walk(command.get_command(None, n), f"{path} {n}")
        ]  # fmt: skip

    return walk(group(), "loopforge")


def test_every_command_is_documented() -> None:
    """Each command has its heading in docs/cli.md, and says what it does."""
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    for command in commands():
        assert re.search(rf"^#+ `{command}`\n\n\w", page, re.MULTILINE), command


def mentioned() -> list[tuple[str, str]]:
    """Every `loopforge ...` in code on a page that people write, with its page."""
    texts = {page: page.read_text("utf-8") for page in PAGES if page.name != "cli.md"}
    return [
        (str(page.relative_to(ROOT)), command[1].strip())
        for page, text in texts.items()
        for code in re.findall(r"```.*?```|`[^`]+`", text, re.DOTALL)
        if not code.startswith("```python")
        for line in code.splitlines()
        if (command := re.search(r"(?:^|[`|/ ])loopforge((?: [^`|]+)+)", line))
    ]


@every_row(mentioned())
def test_every_command_that_is_mentioned_exists(page: str, command: str) -> None:
    """A command line in prose names a command that is there, and options that it takes."""
    words = shlex.split(command.replace("[OPTIONS]", ""), comments=True)
    node = group()
    while words:
        options = {name for each in node.params for name in each.opts}
        if words[0].startswith("-"):
            assert words[0] in options | {"--help"}, f"{page}: {command}"
        elif words[0].isupper():  # a placeholder, such as EVENT_ID or COMMAND
            pass
        elif hasattr(node, "list_commands"):
            takes_value = words[0] not in node.list_commands(None)
            assert not takes_value, f"{page}: {command}"
            node = node.get_command(None, words[0])
        words = words[2:] if words[0] == "--home" else words[1:]


def test_every_slash_command_that_is_mentioned_exists() -> None:
    """What the README and the tour say a line may begin with, the room knows."""
    for name in ("README.md", "docs/tour.md"):
        text = (ROOT / name).read_text("utf-8")
        said = set(re.findall(r"`/([a-z]+)[^`]*`", text))
        assert said
        assert said <= {command.name for command in COMMANDS}, name


def test_the_error_tree_is_drawn_as_it_is() -> None:
    """The tree in errors.py's docstring has every class, below its own parent."""
    drawn: list[tuple[int, str]] = [
        (len(found[1]), found[2])
        for found in re.finditer(r"^( +)(\w+)", errors.__doc__ or "", re.MULTILINE)
    ]
    parents = {}
    for index, (depth, name) in enumerate(drawn):
        above = [other for d, other in drawn[:index] if d < depth]
        shallower = [d for d, _ in drawn[:index] if d < depth]
        nearest = max(shallower, default=None)
        candidates = [n for d, n in drawn[:index] if d == nearest]
        parents[name] = candidates[-1] if above else None
    real = {
        each.__name__: next(
            (b.__name__ for b in each.__mro__[1:] if b.__module__ == errors.__name__), None
        )
        for each in vars(errors).values()
        if isinstance(each, type) and each.__module__ == errors.__name__
    }
    assert parents == real


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)


@cache
def anchors(page: Path) -> set[str]:
    """What links may name behind #: the headings of a page, as they are drawn by a forge."""
    heads = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in heads}


@every_row(PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link names a file or folder of this repository, and a heading of a page there."""
    for target, _, heading in re.findall(r"\]\(([^)#]*)(#([^)]*))?\)", prose(page)):
        if "://" not in target:
            there = page.parent / target if target else page
            assert there.exists(), target
            assert not heading or heading in anchors(there), f"{target}#{heading}"


def test_check_says_what_is_stale(tmp_path: Path) -> None:
    """`docs/generate.py --check` ends with 1 and names the page when one was edited by hand."""
    for name in ("deploy", "docs", "examples", "pyproject.toml"):
        subprocess.run(["cp", "-r", str(ROOT / name), str(tmp_path / name)], check=True)
    (tmp_path / "docs" / "settings.md").write_text("nothing\n")
    out = run_python(str(tmp_path / "docs" / "generate.py"), "--check")
    assert out.returncode == 1
    assert "docs/settings.md" in out.stdout


def test_where_the_glossary_says_a_word_lives_is_there() -> None:
    """Every path in the glossary exists in the package."""
    text = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    places = re.findall(r"`([\w/]+(?:/|\.\w+))`", text)
    assert len(places) > 40
    source = ROOT / "src" / "loopforge"
    assert [at for at in places[1:] if not (source / at).exists()] == []


@pytest.mark.parametrize("page", ["architecture.md", "LOOPFORGE_AGENT_PROMPT.md"])
def test_where_pages_for_developers_send_one_is_there(page: str) -> None:
    """Every path of the package that they name exists, and so does each table by its name."""
    text, source = (ROOT / "docs" / page).read_text("utf-8"), ROOT / "src" / "loopforge"
    folders = "|".join(at.name for at in source.iterdir() if at.is_dir())
    places = re.findall(rf"(?<![\w/])((?:{folders})/[\w/]*(?:\.\w+)?)", text)
    assert len(places) > 20
    assert [at for at in places if not (source / at).exists()] == []
    named = re.findall(r"`([\w/]+\.py)`,? the table `(\w+)`", text)
    assert [one for one in named if f"\n{one[1]}" not in (source / one[0]).read_text("utf-8")] == []
