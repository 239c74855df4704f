"""What the host of a home does for its web room besides serving it."""

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from loopforge.core.delivery_states import Attempting, Failed, Queued
from loopforge.core.room_vocabulary import Said
from loopforge.core.text.erasable_text import Words
from loopforge.host import KEY_FILE, run_surfaces, serve_web_room
from loopforge.io.platforms.bot_tokens import BotAccount, BotTokens
from loopforge.web.server.form_csrf import DOOR, FormSigner
from tests.elsewhere import elsewhere
from tests.web.conftest import Town, reachable, town


@pytest.mark.parametrize("left", [b"", bytes(64), b"\xff" * 64])
async def test_a_secret_that_a_crash_spoilt_is_made_anew(tmp_path: Path, left: bytes) -> None:
    """Where it left nothing in the file, or zeros, forms are signed with a new one, kept there.

    Else anybody could make tokens of forms: they would be signed with what everybody knows.
    """
    (tmp_path / "data").mkdir()
    kept = tmp_path / "data" / KEY_FILE
    kept.write_bytes(left)
    kept.chmod(0o600)
    async with town(tmp_path) as site:
        stranger = await site.stranger()
        stranger.http.cookies.set(DOOR, "x")
        headers = {"x-csrftoken": FormSigner(left.decode("latin-1")).token("x")}
        assert (await stranger.http.post("/sign-in", headers=headers)).status_code == 403
        found = kept.read_text("ascii")
        assert len(bytes.fromhex(found)) == 32
        assert kept.stat().st_mode & 0o777 == 0o600
    async with town(tmp_path):
        assert kept.read_text("ascii") == found


async def test_who_comes_in_after_it_closed_changes_no_notice(site: Town) -> None:
    """A web room that was closed no longer says where it is when its link is used."""
    async with serve_web_room(site.app) as address:
        assert address in site.app.rooms.notice
        site.app.rooms.notice = "Nothing is open."
    await site.app.accounts.links.enter(await site.app.accounts.links.offer(), "olu", "a browser")
    assert address not in site.app.rooms.notice


async def test_the_link_of_the_owner_is_shown_until_the_owner_is_in(site: Town) -> None:
    """Somebody who signs in on another of their devices comes by a link too, but not by that one."""
    links, olu = site.app.accounts.links, await site.owner()
    ana = await site.guest("ana", by=olu)
    async with serve_web_room(site.app) as address:
        await links.join(await links.device(ana.person), "a phone")
        assert f"{address}/enter/" in site.app.rooms.notice
        await links.enter(await links.offer(), "olu", "a browser")
        assert f"{address}/enter/" not in site.app.rooms.notice


async def test_the_owner_sees_the_platforms(site: Town) -> None:
    """The house page says of each account whose it is and how it stands; it has no token."""
    token = f"123456:{'A' * 35}"
    tokens, nowhere = BotTokens(site.path / "data", {}), elsewhere(telegram="http://127.0.0.1:9")
    assert "No mate is on Discord or Telegram." in (await (await site.owner()).get("/admin")).text
    tokens.keep(BotAccount(platform="telegram", token=token, mates=("maya", "zuzu")))
    async with AsyncExitStack() as stack:
        platforms = await stack.enter_async_context(run_surfaces(site.app, tokens, nowhere))
        address = await stack.enter_async_context(serve_web_room(site.app, platforms=platforms))
        await reachable(address)
        owner = await replace(site, address=address, stack=stack).owner()
        while "Telegram could not be reached" not in (page := (await owner.get("/admin")).text):
            await site.app.stamp.clock.sleep(0.05)
    assert "<strong>Telegram</strong> · Maya, Zuzu" in page
    assert token not in page
    assert "No mate is on" not in page


async def test_the_owner_sees_what_was_not_delivered(site: Town) -> None:
    """What a platform never took stands on a page of its own, with why, and not a word of it."""
    stamp, ledger = site.app.stamp, site.app.ledger
    secret = Said(turn="", mate="maya", text=Words("a secret of the kitchen"))
    line = stamp.fact(secret, actor="mate:maya")
    queued = stamp.fact(Queued(surface="discord:4711", of=line.id), actor="runtime", cause=line.id)
    why = Words("the bot was sent away.")
    tried = stamp.fact(Attempting(delivery=queued.id, nth=1), actor="runtime")
    failed = stamp.fact(Failed(delivery=queued.id, why=why), actor="runtime", cause=queued.id)
    await ledger.append("room:kitchen", [line, queued, tried, failed])
    async with serve_web_room(site.app) as address:
        await reachable(address)
        page = (await (await replace(site, address=address).owner()).get("/admin/owed")).text
    assert "the bot was sent away." in page
    assert "a secret of the kitchen" not in page
