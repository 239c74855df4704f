"""What every test shares: asyncio as the loop, and how tests are spread.

Crash tests kill processes and count; model tests hold the embedded model in memory (hosts that are
killed while it answers are among them); browser tests share one Chromium; those of Telegram load its
models, which takes as long as forty of them, and those of models the libraries of three providers.
Each kind stays in one worker, so that a run with `-n 2` never starts two of a kind at once. A test that names a group of its
own is in that one: the drills of deliveries wait more than they work, and run beside the crash tests.
What takes long is a group too, so that it is not what all the others wait for at the end.
Groups begin first, those that take minutes before the others, so that at the end no worker waits long
for another: what is left by then are single tests.

Nothing is tried twice: what needs a second try is a defect of the test or of the program. No test
rests on a span of time by the clock on the wall; a time-out only keeps one that hangs from holding up
all, and is a minute or more. What then hangs on as it puts things away has as long once more, and at
twice that ends its process, with all stacks: pytest-xdist names the test and goes on in another.

Property tests try the same few examples each time, so that a change is judged by what it changes
and CI is quick. `make patient` (the profile "patient") tries fresh ones, and a thousand each. Tests
marked `patient` run there alone (`--patient`), and those of a test marked `sample(n)` but for n of its
cases; what is left to it has a shorter neighbour that runs here.
"""

import faulthandler
import gc
import signal
import tomllib
from collections import defaultdict
from collections.abc import Generator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from hypothesis import HealthCheck, settings
from pytest_timeout import Settings

from loopforge.memory import transcript_recall
from loopforge.models.embeddings import sentence_model
from loopforge.people.accounts import password_hashing
from loopforge.tools import tool_suggestion
from tests import once

ROOT = Path(__file__).parent.parent
FOLDERS = {"telegram": "telegram", "models": "models", "work": "sandbox"}
"""Folders of one kind; tasks run commands, so that theirs are of the sandbox."""
TIMEOUT = pytest.StashKey[Settings]()
pytest_plugins = ["tests.postgres", "tests.open_folder"]

settings.register_profile(
    "house",
    max_examples=30,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "patient", settings.get_profile("house"), derandomize=False, max_examples=1000
)
settings.load_profile("house")


def pytest_addoption(parser: pytest.Parser) -> None:
    """--kills: each life takes seconds, so that there are few of them where nobody is patient."""
    parser.addoption("--kills", type=int, default=3, help="kills in each phase; on a model a fifth")
    parser.addoption("--patient", action="store_true", help="run what takes long too")


def pytest_configure() -> None:
    """Before anything of Loopforge is imported: are the plugins installed that there are?"""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for group, entries in declared["entry-points"].items():
        if not entries.keys() <= entry_points(group=group).names:
            raise pytest.UsageError(f"{group} in pyproject.toml is newer: run `make dev` first.")
    for number in (signal.SIGINT, signal.SIGHUP):  # under nohup or a shell's &, programs inherit it
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    once.keep()


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, which is what Loopforge runs on."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> None:
    """A password costs next to nothing here, but where it is to (`full_cost`)."""
    password_hashing.PASSES, password_hashing.MEMORY = 1, 8


MODEL_MISSING = sentence_model.model_missing


@pytest.fixture(scope="session", autouse=True)
def table_alone() -> None:
    """Homes find lines by the table, as after `make run`, but where a test asks for the model.

    The model takes ten milliseconds a line: a fourth of what the tests of rooms took.
    """
    sentence_model.model_missing = lambda: True


@pytest.fixture
def sentence_model_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Homes find lines by the table and the sentence model, as after `make install-all`."""
    monkeypatch.setattr(sentence_model, "model_missing", MODEL_MISSING)


@pytest.fixture(scope="session", autouse=True)
def patience() -> None:
    """Vectors are waited for as long as a busy machine takes; words would decide without them."""
    transcript_recall.SECONDS = tool_suggestion.SECONDS = 600


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What was imported and collected stays to the end; whoever looks for garbage passes it over.

    And looks seldom: it had taken one second in twelve.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 10, 10)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what takes long to the patient; keep each kind in one worker."""
    _sample(items)
    if not config.getoption("--patient"):
        long = [item for item in items if item.get_closest_marker("patient")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("patient")]
    for item in items:
        if _folder(item.path) == "browser":
            item.add_marker("browser")
        kind = _kind(item)
        if kind and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(kind))
    items.sort(key=_turn)


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Settings) -> None:
    """A time-out is raised in the test once; what hangs in spite of it ends the process."""
    item.stash[TIMEOUT] = settings
    stderr = item.config.stash[fault_handler_stderr_fd_key]
    faulthandler.dump_traceback_later(2 * settings.timeout, exit=True, file=stderr)


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_cancel_timer() -> None:
    """The test is over."""
    faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(trylast=True)
def pytest_exception_interact(node: pytest.Item | pytest.Collector) -> None:
    """A test that failed has no time-out any more, and is still to put away what it made."""
    if TIMEOUT in node.stash:
        node.ihook.pytest_timeout_set_timer(item=node, settings=node.stash[TIMEOUT])


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name what is long by its head: a name travels with each report, and files of megabytes did."""
    if isinstance(val, str | bytes) and len(val) > 60:
        head = val[:40] if isinstance(val, str) else val[:40].decode("latin-1")
        return f"{head.encode('unicode_escape').decode()}...{len(val)}"
    return None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Groups that the scheduler does not see would start a model and a Chromium in each worker."""
    if getattr(session.config.option, "loadgroup", False):  # in a worker
        marked = [item for item in session.items if item.get_closest_marker("xdist_group")]
        if lost := [item.nodeid for item in marked if "@" not in item.nodeid]:
            raise pytest.UsageError(
                f"pytest-xdist does not group {lost[0]} and {len(lost) - 1} more: "
                "this pytest and this pytest-xdist do not go together."
            )


def _sample(items: list[pytest.Item]) -> None:
    """Of a test's cases mark all but a few as patient: those stand evenly among them."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sample"):
            tests[item.nodeid.partition("[")[0]].append(item)
    for cases in tests.values():
        marker = cases[0].get_closest_marker("sample")
        assert marker
        kept = {nth * len(cases) // marker.args[0] for nth in range(marker.args[0])}
        for nth, case in enumerate(sorted(cases, key=lambda case: case.nodeid)):
            if nth not in kept:
                case.add_marker("patient")


def _kind(item: pytest.Item) -> str:
    """Of several the one that it would be worst to have twice; "" for most tests."""
    kinds = (kind for kind in ("browser", "model", "crash") if item.get_closest_marker(kind))
    return next(kinds, FOLDERS.get(_folder(item.path), ""))


@cache
def _folder(test: Path) -> str:
    """The folder of tests that a file stands in; "" where it is none of ours."""
    ours = test.is_relative_to(ROOT / "tests")
    return test.relative_to(ROOT / "tests").parts[0] if ours else ""


def _turn(item: pytest.Item) -> int:
    """When it begins: the long groups, other groups, single tests; within each as it was."""
    group = item.get_closest_marker("xdist_group")
    long = ("sandbox", "browser", "telegram", "models", "model", "crash")
    kind = group.args[0] if group else ""
    return long.index(kind) if kind in long else len(long) + (not kind)


HEAD = f"{'phase':<22}{'kills':>7}{'lines':>7}{'answers':>9}{'lost':>6}{'duplicated':>12}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the crash tests counted, in whichever process."""
    reports = [r for kind in ("passed", "failed") for r in terminalreporter.getreports(kind)]
    lines = [text for r in reports for name, text in r.user_properties if name == "crash"]
    if lines:
        terminalreporter.section("hosts killed with -9")
        terminalreporter.write_line(HEAD)
        for line in sorted(map(str, lines)):
            terminalreporter.write_line(line)
