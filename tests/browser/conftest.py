"""Tests in a real Chromium: one browser for all of them, a fresh profile for each person.

`make test` takes Chromium's headless shell, where that is installed: the same engine without the
windows, menus and services of a whole browser, which cost as much again as all the pages. `make patient`
opens every page in the whole browser.
"""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from tests.browser.people import Crowd, Person, owner_of
from tests.web.conftest import Town, town

CHROMIUM = shutil.which("chromium") or shutil.which("/usr/bin/chromium")
SHELL = shutil.which("chromium-headless-shell") or CHROMIUM
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",  # what draws pages is no process of its own, which took a twelfth of all
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """One loop for all tests of this folder, since they share a browser."""
    return "asyncio"


@pytest.fixture(scope="session")
async def browser(anyio_backend: str, pytestconfig: pytest.Config) -> AsyncIterator[Browser]:
    """The Chromium of this machine, whole where there is patience."""
    program = CHROMIUM if pytestconfig.getoption("--patient") else SHELL
    if program is None:
        pytest.skip("no Chromium here: apt-get install chromium; NO PAGE WAS TESTED IN A BROWSER")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program, headless=True, args=ARGUMENTS
        )
        yield browser
        await browser.close()


@pytest.fixture
async def crowd(browser: Browser) -> AsyncIterator[Crowd]:
    """The people of a test; nothing may go wrong in any of their browsers."""
    async with Crowd(browser) as crowd:
        yield crowd


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Town]:
    """A home with maya, merlin and zuzu, who answer at once and in one line."""
    async with town(tmp_path) as made:
        yield made


@pytest.fixture
async def ana(site: Town, crowd: Crowd) -> Person:
    """The owner of that home, at a browser. Named before `crowd`, so that people go home first."""
    return await owner_of(site, crowd)
