"""Links for the owner, printed by commands while the home runs."""

import asyncio
from pathlib import Path

import pytest

from loopforge.cli import main
from loopforge.host_lock import lock_home
from loopforge.web.server import form_csrf
from tests.web.conftest import Town


async def printed(site: Town, capsys: pytest.CaptureFixture[str], *command: str) -> str:
    """What a command of this home prints, run beside the host."""
    with lock_home(site.path):
        code = await asyncio.to_thread(main, ["--home", str(site.path), *command])
    out, err = capsys.readouterr()
    return out.strip() if code == 0 else err


async def test_the_owner_comes_in_by_a_link_of_the_machine(
    site: Town, capsys: pytest.CaptureFixture[str]
) -> None:
    """`loopforge web link` prints a link that lets the owner in, once."""
    link = await printed(site, capsys, "web", "link")
    assert link.startswith(f"{site.address}/enter/")
    stranger = await site.stranger()
    answer = await stranger.post(link.removeprefix(site.address), {"name": "olu"})
    assert answer.status_code == 200
    assert form_csrf.COOKIE in stranger.http.cookies
    assert (await stranger.get(link)).status_code == 404


async def test_a_link_begins_with_the_address_that_the_running_home_has(
    site: Town, capsys: pytest.CaptureFixture[str]
) -> None:
    """An address that was set meanwhile holds from the next start on: no link begins with it yet."""
    await printed(site, capsys, "settings", "set", "web_address", "https://mates.example.org")
    link = await printed(site, capsys, "web", "link")
    assert link.startswith(f"{site.address}/enter/")


async def test_the_owner_sets_a_lost_password_anew_from_the_machine(
    site: Town, capsys: pytest.CaptureFixture[str]
) -> None:
    """`loopforge web password` prints a link by which the owner sets a new password, once."""
    assert "Nobody owns this home yet" in await printed(site, capsys, "web", "password")
    await site.owner()
    link = await printed(site, capsys, "web", "password")
    stranger = await site.stranger()
    path = link.removeprefix(site.address)
    assert (await stranger.get(path)).status_code == 200
    await stranger.post(path, {"password": "a brand new one"})
    assert (await stranger.get(path)).status_code == 404
    visitor, _ = await site.app.accounts.signing.sign_in("olu", "a brand new one", "test")
    assert visitor.right == "owner"


async def test_a_killed_home_gives_no_link(site: Town, capsys: pytest.CaptureFixture[str]) -> None:
    """The file with its address is still there, but nobody would open the door."""
    assert (site.path / "data" / "web.address").exists()
    code = await asyncio.to_thread(main, ["--home", str(site.path), "web", "link"])
    assert code != 0
    assert "The web room is not open" in capsys.readouterr().err


def test_without_a_host_there_is_no_link(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A home that does not run has no web room; the command says how to open it."""
    assert main(["--home", str(tmp_path), "web", "link"]) == 1
    assert "loopforge up" in capsys.readouterr().err
