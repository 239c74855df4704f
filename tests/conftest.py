"""What every test shares: asyncio as the loop, and how tests are spread over processes.

Crash tests kill processes and count; model tests hold the embedded model in memory. Each kind
stays in one worker, so that a run with `-n 2` never starts two of a kind at once.
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
    """Keep crash tests in one worker and model tests in one."""
    for item in items:
        for kind in ("crash", "model"):
            if item.get_closest_marker(kind):
                item.add_marker(pytest.mark.xdist_group(kind))
                break
