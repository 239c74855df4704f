"""What every test shares: asyncio as the loop, and how tests are spread over processes.

Crash tests kill processes and count; model tests hold the embedded model in memory; browser tests
share one Chromium. Each kind stays in one worker, so that a run with `-n 2` never starts two of a
kind at once.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

pytest_plugins = ["tests.postgres"]

settings.register_profile("house", deadline=None, print_blob=True)
settings.load_profile("house")


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, which is what Loopforge runs on."""
    return "asyncio"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep crash tests in one worker, model tests in one, and tests in a browser in one."""
    for item in items:
        for kind in ("crash", "model", "browser"):
            if item.get_closest_marker(kind):
                item.add_marker(pytest.mark.xdist_group(kind))
                break


HEAD = f"{'phase':<22}{'kills':>7}{'lines':>7}{'answers':>9}{'lost':>6}{'duplicated':>12}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the crash tests counted, from whichever process they ran in."""
    reports = [r for kind in ("passed", "failed") for r in terminalreporter.getreports(kind)]
    lines = [text for r in reports for name, text in r.user_properties if name == "crash"]
    if lines:
        terminalreporter.section("hosts killed with -9")
        terminalreporter.write_line(HEAD)
        for line in sorted(map(str, lines)):
            terminalreporter.write_line(line)
