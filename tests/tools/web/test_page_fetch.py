"""Fetching pages from servers that are as odd and as hostile as the web."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Sequence

import pytest

from loopforge.errors import InputError
from loopforge.tools.web.network_guard import GuardedNetwork, is_one_of, is_public
from loopforge.tools.web.page_fetch import FetchBounds, checked_url, fetch_page
from tests.tools.web.odd_server import OddServer, odd_server, onward, page, told

PRIVATE = (
    *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1"),
    *("169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.8", "198.18.0.1", "224.0.0.251"),
    *("240.0.0.1", "255.255.255.255", "168.63.129.16", "::", "::1", "::7f00:1", "fe80::1%eth0"),
    *("fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "2001:db8::1", "3fff::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::a9fe:a9fe"),
    *("64:ff9b:1::1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:1::1", "no address"),
)
PUBLIC = ("93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822", "2002:5db8:d822::1")
SMALL = FetchBounds(size=20_000, seconds=60.0, step=60.0, redirects=3)


@pytest.fixture
async def server() -> AsyncIterator[OddServer]:
    """An odd server."""
    async with odd_server() as made:
        yield made


def network(server: OddServer, **names: str) -> GuardedNetwork:
    """A network in which only the server's own name is let in; `names` lead where they say."""

    async def resolve(host: str, _port: int) -> Sequence[str]:
        return [names.get(host.replace(".", "_"), "127.0.0.1")]

    return GuardedNetwork([f"127.0.0.1:{server.port}"], resolve)


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_behind_the_internet_is_not_public(address: str) -> None:
    """In whatever form it is written."""
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    """Those that stand for one of IPv4 too."""
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        *("file:///etc/passwd", "ftp://example.org/", "javascript:alert(1)", "data:text/html,x"),
        *("http://", "https:///x", "http://ana:secret@example.org/", "http://example.org:22/"),
        *(
            "http://example.org:99999/",
            "http://exa\r\nmple.org/",
            "http://example.org/a b",
            "http://example.org/\x00",
        ),
    ],
)
def test_what_is_no_address_of_the_web_is_not_asked_for(url: str) -> None:
    """Other schemes, names with passwords, ports of other services."""
    with pytest.raises(InputError):
        checked_url(url)


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:9999/", "http://[::1]:9999/", "http://2130706433:9999/"),
        *("http://0x7f.1:9999/", "http://localhost:9999/", "http://[::ffff:127.0.0.1]:9999/"),
        "http://169.254.169.254/",
    ],
)
async def test_the_own_machine_is_not_read(url: str) -> None:
    """By none of the ways in which its address can be written."""
    with pytest.raises(InputError, match="private network"):
        await fetch_page(url, GuardedNetwork())


async def test_a_page_comes_from_where_it_led_to(server: OddServer) -> None:
    """Over a redirect; neither cookies nor a referrer are sent, and nothing after #."""
    server.answers["/a"] = told(b"", "Location: b?x=1#y", "Set-Cookie: a=b", status="301 Moved")
    server.answers["/b"] = page("<p>Hello")
    found = await fetch_page(server.at("/a#top"), network(server))
    assert found == (server.at("/b?x=1"), "text/html", "utf-8", b"<p>Hello", True)
    assert server.asked == ["/a", "/b?x=1"]
    assert not {b"cookie:", b"referer:", b"authorization:"} & set(server.heads[1].lower().split())


@pytest.mark.parametrize(
    ("to", "why"),
    [
        ("http://169.254.169.254/latest/meta-data", "private network"),
        ("file:///etc/passwd", "is no address"),
        ("//10.0.0.1/", "private network"),
        ("http://inside.example/", "private network"),
        ("http://localhost/", "private network"),
        ("http://user:pass@93.184.216.34/", "a password in it"),
        ("http://127.0.0.1:22/", "port 22 is none of the web"),
        ("http://[", "leads on to what is no address"),
        ("//[::1", "leads on to what is no address"),
    ],
)
async def test_a_redirect_is_checked_like_an_address(server: OddServer, to: str, why: str) -> None:
    """It leads into no network of one's own, to no file, and to no other port; why not is said."""
    server.answers["/a"] = onward(to)
    with pytest.raises(InputError, match=why):
        await fetch_page(server.at("/a"), network(server, _169_254_169_254="169.254.169.254"))
    assert server.asked == ["/a"]


async def test_a_name_is_asked_for_once_and_held_to(server: OddServer) -> None:
    """One that leads elsewhere at its second look-up gains nothing, and one in many is enough."""
    looked = []

    async def rebinding(host: str, _port: int) -> Sequence[str]:
        looked.append(host)
        return ["127.0.0.1"] if len(looked) == 1 else ["10.0.0.1"]

    server.answers["/a"] = page("first")
    name = f"swift.example:{server.port}"
    assert (
        await fetch_page(f"http://{name}/a", GuardedNetwork([name], rebinding))
    ).data == b"first"
    assert looked == ["swift.example"]

    async def mixed(_host: str, _port: int) -> Sequence[str]:
        return ["93.184.216.34", "10.0.0.1"]

    with pytest.raises(InputError, match=r"private network \(10\.0\.0\.1\)"):
        await fetch_page("http://mixed.example/", GuardedNetwork(resolve=mixed))


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "::ffff:93.184.216.34", "64:ff9b::5db8:d822", "2002:5db8:d822::"]
)
def test_this_machine_is_itself_in_every_form_of_its_address(address: str) -> None:
    """An address of IPv6 that stands for one of IPv4 leads to no service that listens there."""
    assert is_one_of(address, ["93.184.216.34"])


async def test_a_redirect_may_be_written_in_letters(server: OddServer) -> None:
    """As UTF-8, which is how servers send them that do not encode."""
    server.answers["/"] = (
        b"HTTP/1.1 302 Found\r\nLocation: /caf\xc3\xa9\r\nContent-Length: 0\r\n\r\n"
    )
    server.answers["/caf%C3%A9"] = page("<p>Coffee.</p>")
    assert (await fetch_page(server.at("/"), network(server))).data == b"<p>Coffee.</p>"


async def test_nothing_is_taken_behind_the_end_of_what_is_packed(server: OddServer) -> None:
    """A server that goes on sending there is left; what ends before its end is said."""
    packed = gzip.compress(b"<p>Slugs." * 900)

    async def goes_on(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + packed)
        while True:
            writer.write(bytes(100_000))
            await writer.drain()

    server.answers["/"] = goes_on
    server.answers["/cut"] = told(packed[:-20], "Content-Encoding: gzip")
    found = await fetch_page(server.at("/"), network(server), SMALL)
    assert (found.data, found.whole) == (b"<p>Slugs." * 900, True)
    with pytest.raises(InputError, match="ends too soon"):
        await fetch_page(server.at("/cut"), network(server), SMALL)


async def test_redirects_end(server: OddServer) -> None:
    """After thirty of them nobody knows where they lead."""
    for nth in range(30):
        server.answers[f"/{nth}"] = onward(f"/{nth + 1}", "307 Temporary Redirect")
    with pytest.raises(InputError, match="over more than 5 redirects"):
        await fetch_page(server.at("/0"), network(server))
    assert len(server.asked) == 6


async def test_an_endless_page_is_cut(server: OddServer) -> None:
    """What came until the bound is kept, and the server is left."""

    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(told(b"", "Content-Type: text/plain", "Transfer-Encoding: chunked"))
        while True:
            writer.write(b"3e8\r\n" + b"x" * 1000 + b"\r\n")
            await writer.drain()

    server.answers["/a"] = endless
    found = await fetch_page(server.at("/a"), network(server), SMALL)
    assert (len(found.data), found.whole) == (20_000, False)


async def test_what_is_packed_is_unpacked_up_to_the_bound(server: OddServer) -> None:
    """A hundred megabytes of nothing are a few thousand bytes that are read, and no more."""
    server.answers["/fit"] = told(gzip.compress(b"fits"), "Content-Encoding: gzip")
    server.answers["/bomb"] = told(gzip.compress(bytes(100_000_000)), "Content-Encoding: gzip")
    server.answers["/bad"] = told(b"not gzip at all", "Content-Encoding: gzip")
    server.answers["/br"] = told(b"x", "Content-Encoding: br")
    reached = network(server)
    assert (await fetch_page(server.at("/fit"), reached)).data == b"fits"
    found = await fetch_page(server.at("/bomb"), reached, SMALL)
    assert (len(found.data), found.whole) == (20_000, False)
    for path, why in (("/bad", "damaged"), ("/br", "not read")):
        with pytest.raises(InputError, match=why):
            await fetch_page(server.at(path), reached)


async def test_a_page_that_drips_is_given_up(server: OddServer) -> None:
    """Each byte comes in time, the page does not."""

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(told(b"", "Content-Type: text/html", "Content-Length: 5000"))
        while not writer.is_closing():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    server.answers["/a"] = drip
    with pytest.raises(InputError, match=r"took longer than 0\.3 seconds"):
        await fetch_page(server.at("/a"), network(server), FetchBounds(seconds=0.3))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (told(b"", status="404 Not Found"), r"answered 404 \(Not Found\)"),
        (told(b"", status="403 Forbidden"), "sign in"),
        (told(b"", status="429 Slow Down"), "try again later"),
        (told(b"", status="599 What"), "answered 599"),
        (told(b"", status="302 Found"), "answered 302"),
        (told(b"\x89PNG", "Content-Type: image/png"), "it is image/png"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "does not speak HTTP"),
        (b"", "does not speak HTTP"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000, "does not speak HTTP"),
        (told(b"half", "Content-Length: 400"), "does not speak HTTP"),
    ],
)
async def test_what_is_no_page_is_said_in_words(server: OddServer, answer: bytes, why: str) -> None:
    """With what it was instead."""
    server.answers["/a"] = answer
    with pytest.raises(InputError, match=why):
        await fetch_page(server.at("/a"), network(server))


async def test_nobody_there_is_said_in_words() -> None:
    """A port on which nothing listens, and a name that leads nowhere."""
    async with odd_server() as server:
        closed = network(server)
        url = server.at("/")
    with pytest.raises(InputError, match=r"127\.0\.0\.1 cannot be reached"):
        await fetch_page(url, closed)
    with pytest.raises(InputError, match="leads to no address"):
        await fetch_page("http://nowhere.invalid/", GuardedNetwork())
