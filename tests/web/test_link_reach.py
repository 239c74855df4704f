"""Who can open a link that is given to others, and how it begins."""

import asyncio
import re
import socket
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from loopforge.host import open_reach
from loopforge.host_lock import lock_home
from loopforge.runtime.installation.network_addresses import own_addresses, scope_of
from loopforge.web.server.link_reach import LinkReach, http_base_url, reach_of
from loopforge.web.server.qr_code import qr_svg, qr_text
from tests.web.conftest import PASSWORD, Guest, Town, town, words
from tests.web.test_links import printed


@dataclass
class Set:
    """Settings by which pages are reached."""

    web_host: str = "127.0.0.1"
    web_address: str = ""


def of(set_: Set, *addresses: str, six: tuple[str, ...] = ()) -> LinkReach:
    """The reach of a home on a machine with these addresses."""

    def found(*, six: bool = False, more: tuple[str, ...] = six) -> list[str]:
        return [*addresses, *(more if six else ())]

    address = set_.web_address or http_base_url(set_.web_host, 8321)
    return reach_of(set_, address, found)


def test_on_loopback_nobody_else_can_open_it_and_it_says_where_it_would_be() -> None:
    """The link begins as it did; beside it stands how links begin once the home is open."""
    found = of(Set(), "192.168.1.20")
    assert (found.scope, found.base) == ("machine", "http://127.0.0.1:8321")
    assert found.near == "http://192.168.1.20:8321"
    assert "Only a browser on this very machine" in found.who
    assert (found.risk, found.firewall, found.answers) == ("", "", "")


def test_open_to_all_it_begins_with_the_networks_address() -> None:
    """The likeliest address comes first, others beside it; IPv6 only where IPv6 is listened on."""
    found = of(Set("0.0.0.0"), "192.168.1.20", "10.8.0.2", six=("fd00::2",))
    assert (found.scope, found.base) == ("network", "http://192.168.1.20:8321")
    assert found.others == ("http://10.8.0.2:8321",)
    assert "8321/tcp" in found.firewall
    assert "can be read" in found.risk
    both = of(Set("::"), "192.168.1.20", six=("fd00::2",))
    assert both.others == ("http://[fd00::2]:8321",)
    assert of(Set("::"), six=("fd00::2",)).base == "http://[fd00::2]:8321"


def test_open_to_all_on_no_network_it_is_for_this_machine() -> None:
    """A machine without a network gives a link that at least it can open."""
    found = of(Set("0.0.0.0"))
    assert (found.scope, found.base) == ("machine", "http://127.0.0.1:8321")


def test_a_public_address_of_the_machine_is_the_internet_and_plain_http_a_risk() -> None:
    """On a rented server it says so, and to put https before it."""
    found = of(Set("0.0.0.0"), "93.184.216.34")
    assert found.scope == "internet"
    assert "proxy with https" in found.risk


def test_an_address_that_is_set_is_what_links_carry() -> None:
    """Wherever the home listens; over https nothing is to be warned of."""
    found = of(Set("127.0.0.1", "https://mates.example.org"), "192.168.1.20")
    assert (found.scope, found.base) == ("internet", "https://mates.example.org")
    assert (found.risk, found.firewall, found.port) == ("", "", 443)
    assert "web_address" in found.answers
    near = of(Set("0.0.0.0", "http://pantry.local:8321/"))
    assert (near.scope, near.base) == ("network", "http://pantry.local:8321")
    assert near.answers.startswith("Of names that are not this machine's own, the home answers to")
    assert of(Set("192.168.1.20"), "192.168.1.20").base == "http://192.168.1.20:8321"


@pytest.mark.parametrize(
    ("host", "scope"),
    [
        ("127.0.0.1", "machine"),
        ("::1", "machine"),
        ("a.localhost", "machine"),
        ("192.168.1.5", "network"),
        ("100.64.3.4", "network"),
        ("fe80::1", "network"),
        ("pantry", "network"),
        ("pantry.local", "network"),
        ("93.184.216.34", "internet"),
        ("2606:2800:220:1::1", "internet"),
        ("mates.example.org", "internet"),
    ],
)
def test_names_and_addresses_show_who_reaches_them(host: str, scope: str) -> None:
    """Loopback, private networks and their names, and everything else."""
    assert scope_of(host) == scope


def test_addresses_are_found_without_sending_anything() -> None:
    """None of them is one that only this machine knows."""
    for each in own_addresses(six=True):
        assert not each.startswith(("127.", "169.254.", "::1", "fe80"))


def test_a_link_is_drawn_for_a_page_and_for_a_terminal() -> None:
    """The page's drawing has no style or script; the terminal's has lines of one length."""
    link = "http://192.168.1.20:8321/join/abcdefghijklmnopqrstuv"
    drawn = qr_svg(link)
    assert drawn.startswith("<svg")
    assert "style" not in drawn
    lines = qr_text(link).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert set("".join(lines)) <= set(" █▀▄")
    assert len(lines[0]) <= 60


# ---------------------------------------------------------------- on pages


async def test_on_loopback_the_page_offers_to_open_the_home(site: Town, owner: Guest) -> None:
    """No code is drawn that no phone could open; one button sets what is to be set."""
    shown = await owner.post("/admin/invites", {"days": "7"})
    assert "This machine only." in shown.text
    assert "<svg viewBox" not in shown.text.partition('id="link"')[2].partition("Make an invite")[0]
    assert "fine at home, and not in a café" in words(shown)
    assert "loopforge settings set web_host 0.0.0.0" in words(shown)
    opened = await owner.post("/admin/settings/web_host", {"value": "0.0.0.0", "back": "invites"})
    assert opened.url.path == "/admin/invites"
    assert "Close the home and start it again" in words(opened)
    again = await owner.post("/admin/invites", {"days": "7"})
    assert "from the next start on it listens on 0.0.0.0" in words(again)


async def test_a_guest_is_not_offered_what_is_the_owners(site: Town, owner: Guest) -> None:
    """They are told who can open the link, and whom to ask."""
    ben = await site.guest("ben", "commons", by=owner)
    shown = await ben.post("/rooms/commons/invite")
    assert "This machine only." in shown.text
    assert "/admin/settings" not in shown.text
    assert "The owner of this home can open it" in words(shown)


async def test_open_to_the_network_a_link_is_opened_by_its_address(tmp_path: Path) -> None:
    """A friend on the network comes in by the link as it stands on the page."""
    if not own_addresses():
        pytest.skip("this machine is on no network")
    async with town(tmp_path, environ={"LOOPFORGE_WEB_HOST": "0.0.0.0"}) as site:
        owner = await site.owner()
        shown = await owner.post("/admin/invites", {"days": "7"})
        link = re.search(r'value="(http://[^"]+/join/[\w-]+)"', shown.text)
        assert link
        assert "127.0.0.1" not in link[1]
        assert 'aria-label="The link as a QR code"' in shown.text
        assert "This network." in shown.text or "The internet." in shown.text
        with lock_home(site.path):
            assert open_reach(site.app.settings).base == link[1].partition("/join/")[0]
        async with httpx.AsyncClient(follow_redirects=True) as friend:
            page = await friend.get(link[1])
            token = re.search(r'name="csrf-token" content="(\w+)"', page.text)
            assert token
            form = {"name": "ben", "password": PASSWORD, "_csrf_token": token[1]}
            came = await friend.post(link[1], data=form)
            assert came.status_code == 200
            assert "ben" in came.text
        name = socket.gethostname().lower()
        port = site.address.rpartition(":")[2]
        for host, status in ((f"{name}.local:{port}", 200), ("elsewhere.example", 421)):
            told = await owner.get("/alive", headers={"host": host})
            assert told.status_code == status


# ---------------------------------------------------------------- in a terminal


async def test_the_terminal_makes_the_same_invite(
    site: Town, capsys: pytest.CaptureFixture[str]
) -> None:
    """The link is printed alone, so that it can be piped; who can open it stands beside it."""
    assert "Nobody owns this home yet" in await printed(site, capsys, "web", "invite")
    owner = await site.owner()
    room = await site.room(owner, "Ovens", "maya")
    command = ["--home", str(site.path), "web", "invite", room, "--days", "2"]
    from loopforge.cli import main

    with lock_home(site.path):
        assert await asyncio.to_thread(main, command) == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(rf"{site.address}/join/[\w-]+\n", out)
    assert "Only a browser on this very machine" in err
    assert "loopforge settings set web_host 0.0.0.0" in err
    ben = await site.stranger("ben")
    came = await ben.post(out.strip(), {"name": "ben", "password": PASSWORD})
    assert came.url.path == f"/rooms/{room}"
    wrong = await printed(site, capsys, "web", "invite", "no-such-room")
    assert "You are not in that room" in wrong
    assert "valid for 1 to 365 days" in await printed(site, capsys, "web", "invite", "--days", "0")


# ---------------------------------------------------------------- who may


async def test_who_may_invite_is_a_setting_for_every_surface(
    site: Town, owner: Guest, capsys: pytest.CaptureFixture[str]
) -> None:
    """With owner, guests make no link and theirs let nobody in; with nobody, no one does."""
    room = await site.room(owner, "Ovens", "maya")
    ben = await site.guest("ben", room, by=owner)
    made = await ben.post(f"/rooms/{room}/invite")
    link = re.search(r"/join/[\w-]+", made.text)
    assert link
    await owner.post("/admin/settings/who_may_invite", {"value": "owner"})
    settings = await ben.get(f"/rooms/{room}/settings")
    assert "the owner alone invites" in words(settings)
    assert "Make an invite link" not in settings.text
    refused = await ben.post(f"/rooms/{room}/invite")
    assert refused.status_code == 400
    assert "the owner alone invites" in words(refused)
    stranger = await site.stranger()
    assert (await stranger.get(link[0])).status_code == 404
    assert "held: ben may not invite just now" in words(await owner.get("/admin/invites"))
    assert (await owner.post(f"/rooms/{room}/invite")).status_code == 200
    await owner.post("/admin/settings/who_may_invite", {"value": "nobody"})
    assert (await owner.post(f"/rooms/{room}/invite")).status_code == 400
    assert (await owner.post("/admin/invites", {"days": "7"})).status_code == 400
    assert "Its owner can change that: Admin, Invites." in await printed(
        site, capsys, "web", "invite"
    )
    await owner.post("/admin/settings/who_may_invite", {"value": "members"})
    assert (await stranger.get(link[0])).status_code == 200


async def test_who_may_not_change_a_room_brings_nobody_into_it(site: Town, owner: Guest) -> None:
    """The room's own rights hold for inviting, too."""
    room = await site.room(owner, "Ovens", "maya")
    ben = await site.guest("ben", room, by=owner)
    await owner.post(f"/rooms/{room}/settings", {"act": "rights", "rights": "ben talk stop"})
    refused = await ben.post(f"/rooms/{room}/invite")
    assert refused.status_code == 400
    assert "Your rights in this room were set apart" in words(refused)
