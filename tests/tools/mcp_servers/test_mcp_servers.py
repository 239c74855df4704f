"""MCP servers in plain Python, in the sandbox: their tools as mates of a room use them."""

import asyncio
import dataclasses
import json
import tomllib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.effect_states import EffectFailed, EffectProposed, EffectReturned
from loopforge.core.room_vocabulary import Heard
from loopforge.errors import BadSettings, InputError
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import ToolCall, ToolProgress, ToolWork
from loopforge.runtime.system_clock import SystemClock
from loopforge.settings import load_settings
from loopforge.tools.mcp.server_connection import McpConnection
from loopforge.tools.mcp.server_options import read_server
from loopforge.tools.mcp.server_tools import MOST_APART, McpServers, server_streams
from loopforge.tools.mcp.tool_listing import (
    ListedMcpTool,
    ToolListing,
    as_offered_tool,
    keep_listing,
    listing_of,
    tool_name,
    written_at,
)
from loopforge.tools.mcp.use_result import result_of
from loopforge.tools.sandbox.call_workspace import FOLDER
from tests.rooms.conftest import Home, living
from tests.rooms.test_described_services import MATE
from tests.said_now import using_what_is_asked
from tests.sim_clock import SimClock
from tests.tools.conftest import tool_home

pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.timeout(180)]
FILE = """command = ["/usr/bin/python3", "{place}/srv/odd_server.py", "{mode}"]
folders = ["{place}/srv"]
seconds = 60
[environment]
TOKEN = "${{ODD_TOKEN}}"
"""
TOKEN = "t-5d0f77aa91be"


def described(place: Path, mode: str) -> str:
    """The file of the server."""
    return FILE.format(place=place, mode=mode)


def connection(
    place: Path, mode: str, clock: SimClock | None = None, network: Sequence[str] = ()
) -> McpConnection:
    """The server by itself."""
    written = {"command": ["/usr/bin/python3", f"{place}/srv/odd_server.py", mode], "seconds": 60}
    more = {"folders": [f"{place}/srv"], "network": [*network]}
    server = read_server("odd", written | more, {})
    home = place / "home"
    home.mkdir(exist_ok=True)
    streams = server_streams(home, "odd", server)
    return McpConnection("odd", streams, clock or SystemClock(), seconds=60, idle=300)


@asynccontextmanager
async def terminal(
    place: Path, mode: str = "plain", more: str = "", seed: int = 7
) -> AsyncIterator[Home]:
    """A home with that server, whose maya may use all tools for everybody.

    A second life has dice of its own: else a text that is said again is said as it was.
    """
    home_at = place / "home"
    (home_at / "mates").mkdir(parents=True, exist_ok=True)
    (home_at / "mates" / "maya.md").write_text(MATE)
    (home_at / "tools").mkdir(exist_ok=True)
    (home_at / "tools" / "odd.toml").write_text(more + described(place, mode))
    async with living(
        home_at, using_what_is_asked, seed=seed, environ={"ODD_TOKEN": TOKEN}
    ) as home:
        await home.app.tools.servers.learn()
        await home.hears("bo", "hello")
        await home.lends_tools()
        yield home


async def test_its_tools_are_tools_of_mates(place: Path) -> None:
    """What reads runs, what may change asks first; a picture is a file; it sees no more than told.

    It is listed before it is used, and after a restart without being started.
    """
    async with terminal(place) as home:
        known = {tool.name: tool for tool in home.app.tools.known()}
        assert known["odd_get_sum"].reads
        assert not known["odd_get_sum"].asks
        assert known["odd_write"].asks, "no hint means that it changes something"
        assert "\n| 42]" in await home.uses("bo", "odd_get_sum", a=19, b=23)
        drawn = await home.uses("bo", "odd_draw")
        assert "image.png" in drawn
        assert "[a table: file:///a.csv]" in drawn
        assert "[image: it is broken]" in drawn
        failed = await home.uses("bo", "odd_fail")
        assert "No ink left." in failed
        (ended,) = await home.bodies(EffectFailed)
        returned = [str(one.value) for one in await home.bodies(EffectReturned)]
        assert not {"\0", "\x1b"} & set("".join([str(ended.value), *returned]))
        assert len(failed) < 4200, "of what fails no more is told than of what comes back"
        assert "odd_get_sum was not used: the argument 'a'" in await home.uses(
            "bo", "odd_get_sum", a="two", b=1
        )
        await home.hears("bo", '@maya use odd_write {"text": "Slugs."}')
        assert len(await home.bodies(EffectReturned)) == 2
        await home.does("bo", "approve", "1")
        await home.finishes()
        assert "Written." in (await home.lines())[-1]
        written = place / "home" / "workspaces" / "mcp-odd" / "written.txt"
        assert written.read_text() == "Slugs.\n"
        await home.does("", "new")
        await home.uses("bo", "odd_look")
        looked = json.loads(str((await home.bodies(EffectReturned))[-1].value).partition("\n")[2])
        assert looked["environment"].pop("TOKEN") == "[TOKEN]", "a key is not given back"
        assert set(looked["environment"]) <= {
            "PATH",
            "HOME",
            "USER",
            "LANG",
            "TZ",
            "PWD",
            "LC_CTYPE",
        }
        assert not {"root", "home", "var", "work"} & set(looked["root"])
        assert not home.holding(TOKEN.encode())
        assert len(await home.bodies(EffectFailed)) == 1
        assert home.app.tools.servers.views()[0].state == "running"
    async with terminal(place, seed=8) as home:
        assert "odd_get_sum" in {tool.name for tool in home.app.tools.known()}
        assert home.app.tools.servers.views()[0].state == "idle"
        kept = written_at(place / "home", "odd")
        assert "\n| 42]" in await home.uses("bo", "odd_get_sum", a=19, b=23)
        assert written_at(place / "home", "odd") == kept, "it says what it said"


async def test_a_key_is_no_name_of_a_file(place: Path) -> None:
    """What a server calls its files is told to mates and rooms, as its texts are: without its key."""
    async with terminal(place) as home:
        assert "[TOKEN].json" in await home.uses("bo", "odd_forge", text="signed")
        assert not home.holding(TOKEN.encode())


async def test_people_see_how_far_it_is(place: Path) -> None:
    """What it tells of itself while it works reaches those who watch: a line, without its keys."""
    async with terminal(place) as home:
        ear = home.app.rooms.listen(home.room)
        assert "A sock." in await home.uses("bo", "odd_knit")
        ear.close()
        told = [what async for what in ear if isinstance(what, ToolProgress)]
    assert {(each.mate, each.tool) for each in told} == {("maya", "odd_knit")}
    assert [each.over for each in told[:1] + told[-1:]] == [False, True]
    assert (told[1].text, told[1].part) == ("1 of 4", 0.25)
    assert all(TOKEN not in each.text and len(each.text) <= 80 for each in told)


async def test_who_uses_it_at_once_starts_one(place: Path) -> None:
    """Several that come before it runs wait for the same server."""
    one, started = connection(place, "plain"), list[object]()
    streams = one._streams

    def counted(over: Callable[[str], None]) -> Any:
        started.append(over)
        return streams(over)

    one._streams = counted
    found = await asyncio.gather(*(one.tools() for _ in range(3)))
    await one.close()
    assert [len(each) for each in found] == [12] * 3
    assert len(started) == 1


async def test_one_that_misbehaves_fails_its_own_uses(place: Path) -> None:
    """Logs between messages are passed over; rubbish, a flood, an end: an error that says it."""
    chatty = connection(place, "chatty")
    assert len(await chatty.tools()) == 12
    await chatty.close()
    for mode, why in (
        ("rubbish", "did not start: it writes what is no MCP: y"),
        ("endless", "did not start: it wrote a line that is too long"),
    ):
        with pytest.raises(InputError, match=why):
            await connection(place, mode).tools()
    late = connection(place, "mute")
    late._begins = 1
    with pytest.raises(InputError, match="it was not ready in 1 seconds; `ready` in its file"):
        await late.tools()
    for mode, seconds, why in (
        ("dies", 60, "is gone: it ended with code 1: out of ink"),
        ("flood", 1, "it did not answer within 1 seconds, and was ended"),
    ):
        one = connection(place, mode)
        for _ in range(2):
            await one.tools()
            one._seconds = seconds  # for a use alone: a busy machine starts it in more than that
            with pytest.raises(InputError, match=why):
                await one.call("Get-Sum", {"a": 1, "b": 2})
            while str(one.state) != "idle":
                await asyncio.sleep(0.01)
            one._seconds = 60
        await one.close()


async def test_it_reaches_the_hosts_that_were_granted_and_no_other(place: Path) -> None:
    """By the proxy it is told of, those that are named; nothing without it, nor by it elsewhere."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"Slugs.")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    at = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    for network, told in (
        ([at], "HTTP/1.1 200 Connected | Slugs. | "),
        (["*"], f"HTTP/1.1 403 {at} is not granted to this program | "),
        (["*.example.org", f"*:{at.partition(':')[2]}"], f"HTTP/1.1 502 {at} cannot be reached | "),
        ([], "ConnectionRefusedError | "),
    ):
        one = connection(place, "plain", network=network)
        answer = await one.call("fetch", {"text": at})
        said = result_of(answer.result).text.partition("\n")[2]
        assert said == f"{told}ConnectionRefusedError", "the sandbox's own loopback is empty"
        await one.close()
    server.close()
    await server.wait_closed()


async def test_half_a_letter_is_no_silence(place: Path) -> None:
    """A text that was cut in the middle of a letter comes, without that."""
    one = connection(place, "plain")
    answer = await one.call("halve", {})
    assert result_of(answer.result).text.endswith("A snail: ?.")
    await one.close()


def whose(home: Home) -> dict[str, str]:
    """What stands written down in the workspaces, by their names."""
    found = (home.path / FOLDER).glob("*/written.txt")
    return {each.parent.name: each.read_text() for each in found}


async def test_each_has_one_of_its_own_where_the_file_says_so(place: Path) -> None:
    """By whom the mate answers; it stays between uses, ends with a forgetting, and is bounded."""
    more = 'apart = true\nasks = "never"\nprocesses = 32\nscratch = 1\n'
    async with terminal(place, more=more) as home:
        await home.enter("ana")
        for name, text in (("bo", "one"), ("ana", "two"), ("bo", "three")):
            await home.hears(name, f'@maya use odd_write {{"text": "{text}"}}')
            await home.finishes()
        assert sorted(whose(home).values()) == ["one\nthree\n", "two\n"]
        servers = home.app.tools.servers
        assert servers.views()[0].state == "running"
        line = next(event for event in await home.events() if isinstance(event.body, Heard))
        await home.app.ledger.erase(ErasureRequest(events=(line.id,), by="owner"))
        while whose(home) or servers.views()[0].state == "running":
            await asyncio.sleep(0.01)
        await home.uses("bo", "odd_write", text="four")
        assert [*whose(home).values()] == ["four\n"]
        work = next(work for tool, work in servers.tools() if tool.name == "odd_sleep")
        calls = [ToolCall(arguments={}, people=(str(nth),)) for nth in range(MOST_APART)]
        async with BackgroundTasks() as tasks:
            waiting = [tasks.spawn(_done(work, call), "a use") for call in calls]
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            assert "runs for 8 others already" in done.pop().result()
            await servers.forget()
            ended = await asyncio.gather(*waiting)
            assert all(ended), "what was in use is told so"


async def _done(work: ToolWork, call: ToolCall) -> str:
    """What is wrong with a use."""
    try:
        await work(call)
    except InputError as error:
        return str(error)
    return ""


async def test_an_address_that_nobody_gave_asks_first(place: Path) -> None:
    """The file says which argument is one; what somebody here gave is sent for without."""
    async with terminal(place, more='addresses = { fetch = "text" }\n') as home:
        tools = {tool.name: tool for tool in home.app.tools.known()}
        assert tools["odd_fetch"].address == "text"
        assert not tools["odd_fetch"].asks
        assert tools["odd_draw"].address == ""


async def test_it_is_ended_when_idle_and_by_a_stop(place: Path) -> None:
    """Nobody used it for five minutes: it ends, and the next use starts it anew."""
    clock = SimClock(datetime(2026, 11, 23, tzinfo=UTC))
    one = connection(place, "plain", clock)
    await one.tools()
    await clock.advance(299)
    assert str(one.state) == "running"
    await clock.advance(2)
    while str(one.state) != "idle":
        await asyncio.sleep(0.01)
    use = asyncio.ensure_future(one.call("sleep", {}))  # noqa: TID251
    while str(one.state) != "running":
        await asyncio.sleep(0.01)
    use.cancel()
    with pytest.raises(asyncio.CancelledError):
        await use
    await one.close()
    assert str(one.state) == "idle"


async def test_who_waits_for_one_that_is_ended_as_it_begins_is_told(place: Path) -> None:
    """It was to be started, and is ended before it could: nobody waits for it for ever."""
    one = connection(place, "plain")
    async with BackgroundTasks() as tasks:
        use = tasks.spawn(one.tools(), "a use")
        while str(one.state) == "idle":
            await asyncio.sleep(0)
        await one.close()
        async with asyncio.timeout(60):
            await asyncio.wait({use})
        assert "did not start: it was ended" in str(use.exception())
    assert len(await one.tools()) == 12
    await one.close()


async def test_a_home_that_ends_as_it_asks_servers_leaves_none(place: Path) -> None:
    """It ends while one does not answer, and asks the next no more; nor does one that was changed."""
    home = dataclasses.replace(
        tool_home(datetime(2026, 11, 27, tzinfo=UTC)), settings=load_settings(place, environ={})
    )
    written = {"folders": [f"{place}/srv"]}
    command = ["/usr/bin/python3", f"{place}/srv/odd_server.py"]
    servers = {
        name: read_server(name, {"command": [*command, mode], **written}, {})
        for name, mode in (("mute", "mute"), ("odd", "plain"))
    }
    for changed in (False, True):
        found, around = McpServers(), asyncio.all_tasks()
        found.furnish(home, servers)
        found.start()
        while found.views()[0].state == "idle":
            await asyncio.sleep(0.01)
        if changed:
            found.furnish(home, {"odd": servers["odd"]})
        await found.close()
        assert asyncio.all_tasks() == around
        assert [view.state for view in found.views()] == ["idle"] * len(found.views())


async def test_what_it_says_of_a_tool_is_held_to(place: Path) -> None:
    """A tool that is described otherwise than it was is not offered until the owner takes it.

    It is looked at where the server is started, too: a yes that was given before is for nothing.
    """
    async with terminal(place):
        pass
    kept = place / "home" / "data" / "mcp" / "odd.json"
    held = json.loads(kept.read_text())
    written = next(tool for tool in held["tools"] if tool["name"] == "write")
    written["about"] = "Writes a text down, as it once said."
    kept.write_text(json.dumps(held))
    described_so = tomllib.loads(described(place, "plain"))
    of_odd = {"odd": read_server("odd", described_so, {"ODD_TOKEN": TOKEN})}
    async with terminal(place, seed=8) as home:
        await home.hears("bo", '@maya use odd_write {"text": "Slugs."}')
        await home.does("bo", "approve", "1")
        await home.finishes()
        assert "write is described otherwise than when it was taken" in (await home.lines())[-1]
        assert not (place / "home" / "workspaces" / "mcp-odd" / "written.txt").exists()
        assert "odd_write" not in {tool.name for tool in home.app.tools.known()}
        beside = McpServers()
        settings = dataclasses.replace(home.app.settings, home=place / "home")
        beside.furnish(dataclasses.replace(tool_home(home.clock.now()), settings=settings), of_odd)
        assert beside.accept("odd") == ["write"]
        assert "odd_write" in {tool.name for tool in home.app.tools.known()}
        assert home.app.tools.servers.views()[0].flaws == ()
        await home.app.tools.servers.learn(anew=True)
        assert "odd_write" in {tool.name for tool in home.app.tools.known()}
    kept.write_text(json.dumps(held))
    async with terminal(place, seed=9) as home:
        servers = home.app.tools.servers
        assert "odd_write" in {tool.name for tool in home.app.tools.known()}
        await servers.learn(anew=True)
        assert "odd_write" not in {tool.name for tool in home.app.tools.known()}
        assert "loopforge tool accept odd" in servers.views()[0].flaws[0]
        await home.hears("bo", '@maya use odd_write {"text": "x"}')
        assert (await home.bodies(EffectProposed))[-1].tool == "odd_write"
        assert "There is no tool 'odd_write'" in (await home.lines())[-1]
        assert servers.accept("odd") == ["write"]
        assert "odd_write" in {tool.name for tool in home.app.tools.known()}


def test_a_tool_that_goes_and_comes_again_as_another_is_held_to() -> None:
    """However many others it lists in between; the owner takes it, and whatever waits with it."""
    first, later = (ListedMcpTool(name="send", about=each) for each in ("Sends.", "Deletes."))
    held = ToolListing().heard([first]).heard([])
    assert (held.tools, held.heard([first]).other) == ((), ())
    assert held.heard([later]).other == held.heard([later]).heard([later]).other == (later,)
    for page in range(3):
        held = held.heard([ListedMcpTool(name=f"t{page}-{nth}") for nth in range(500)])
    back = held.heard([later, ListedMcpTool(name="t0-7"), new := ListedMcpTool(name="new")])
    assert (back.other, back.heard([new]).other) == ((later, new), (new,))
    assert [one.about for one in back.accepted().tools if one.name == "send"] == ["Deletes."]
    assert back.accepted().heard([first]).other == (first,)


async def test_what_it_has_too_many_of_is_told(place: Path) -> None:
    """Of 540 tools 500 are taken, and `loopforge tool check` says so."""
    async with terminal(place, "many") as home:
        (view,) = home.app.tools.servers.views()
        assert (len(view.tools), view.tools[-1].name) == (500, "odd_t499")
        assert view.flaws == ("it has more than 500 tools; the first 500 are taken",)


async def test_why_one_does_not_start_is_told_without_its_key(place: Path) -> None:
    """The last words of a program that ends at once may hold what it was given."""
    words = "import os, sys; sys.exit('The key ' + os.environ['TOKEN'] + ' is refused.')"
    command = f'command = ["/usr/bin/python3", "-c", "{words}"]'
    written = f'{command}\n[environment]\nTOKEN = "${{ODD_TOKEN}}"\n'
    (place / "tools").mkdir()
    (place / "tools" / "odd.toml").write_text(written)
    async with living(place, environ={"ODD_TOKEN": TOKEN}) as home:
        await home.app.tools.servers.learn()
        (view,) = home.app.tools.servers.views()
    assert "The key [TOKEN] is refused." in view.flaws[0]


async def test_one_that_always_says_its_tools_are_others_comes_to_rest(place: Path) -> None:
    """It is asked for them now and then while it runs; that neither starts it nor keeps it up."""
    async with terminal(place, "restless") as home:
        servers = home.app.tools.servers
        while servers.views()[0].state != "idle":
            await home.clock.advance(100)
        await home.clock.advance(100)
        assert servers.views()[0].state == "idle"
        assert "odd_write" in {tool.name for tool in home.app.tools.known()}
        listed = place / "home" / "workspaces" / "mcp-odd" / "listed.txt"
        assert len(listed.read_text().splitlines()) < 320


async def test_one_that_writes_when_nobody_listens_any_more_is_no_error(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The session is over before the server knows: what it still says is not heard."""
    server = read_server("odd", {"command": ["/usr/bin/yes", '{"jsonrpc":"2.0","method":"x"}']}, {})
    (place / "home").mkdir()
    over = list[str]()
    async with server_streams(place / "home", "odd", server)(over.append) as (heard, _):
        await heard.receive()
        await heard.aclose()
        while "what an MCP server says" in {task.get_name() for task in asyncio.all_tasks()}:
            await asyncio.sleep(0.01)
    assert [each.message for each in caplog.records] == over == []


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ({"command": []}, "either a command"),
        ({"command": ["x"], "url": "https://a.example/mcp"}, "either a command"),
        ({"command": ["/srv/x/run"]}, "does not see /srv/x/run: add its folder"),
        ({"command": ["x"], "headers": {"A": "b"}}, "headers are for a url"),
        ({"command": ["x"], "network": ["https://a.example"]}, "is no host"),
        ({"command": ["x"], "environment": {"A": "${NOT_SET}"}}, "NOT_SET is not set"),
        ({"url": "ftp://a.example"}, "the url must be such as"),
        ({"url": "https://[a.example/mcp"}, "the url must be such as"),
        ({"url": "http://a.example/mcp", "headers": {"A": "${KEY}"}}, "must begin with https"),
        ({"url": "https://a.example/${KEY}"}, "keys stand in"),
        ({"url": "https://a.example/mcp", "folders": ["b"]}, "are for a command"),
        ({"command": ["x"], "asks": "often"}, "one of changes, once, always, never"),
        ({"command": ["x"], "secconds": 3}, "no key `secconds`"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(written: dict[str, object], why: str) -> None:
    """Each with its file's name."""
    with pytest.raises(BadSettings, match=r"odd\.toml: .*" + why.replace("$", r"\$")):
        read_server("odd", written, {"KEY": "k"})


def test_a_program_whose_interpreter_is_elsewhere_says_which(tmp_path: Path) -> None:
    """An environment made by a Python of somebody's own links out of the folder that is named."""
    own, made = tmp_path / "own" / "python3.11", tmp_path / "made"
    own.parent.mkdir()
    own.touch()
    made.mkdir()
    (made / "python3").symlink_to(own)
    (made / "serve").write_text(f"#!{made}/python3\n")
    written = {"command": [f"{made}/serve"], "folders": [str(made)]}
    with pytest.raises(BadSettings, match=f"does not see {own}, which starts {made}/serve"):
        read_server("odd", written, {})
    read_server("odd", {**written, "folders": [str(made), str(own.parent)]}, {})


@pytest.mark.parametrize(
    ("asks", "writing", "reading"),
    [
        ("changes", (True, False), (False, False)),
        ("once", (True, True), (False, False)),
        ("always", (True, False), (True, False)),
        ("never", (False, False), (False, False)),
    ],
)
def test_it_asks_as_its_file_says(
    asks: str, writing: tuple[bool, bool], reading: tuple[bool, bool]
) -> None:
    """Before what may change something, the first of that in a room, everything, or nothing."""
    server = read_server("odd", {"command": ["odd"], "asks": asks}, {})
    for reads, wanted in ((False, writing), (True, reading)):
        tool = as_offered_tool("odd", server, ListedMcpTool(name="t", reads=reads))
        assert (tool.asks, tool.once) == wanted


def test_the_files_of_the_documents_are_right() -> None:
    """Both examples of docs/connected-tools.md are taken as they stand."""
    page = (Path(__file__).parents[3] / "docs" / "connected-tools.md").read_text("utf-8")
    _, *written = page.partition("## MCP servers")[2].partition("\n## ")[0].split("```toml\n")
    files = [tomllib.loads(each.partition("```")[0]) for each in written]
    assert [bool(read_server("a", each, {"TRACKER_TOKEN": "t"}).url) for each in files] == [
        False,
        True,
    ]


def test_names_are_such_as_services_take() -> None:
    """Small letters, digits and _, the server's name before them, 64 characters at most."""
    assert tool_name("git", "git-Log.All") == "git_log_all"
    assert tool_name("git", "???") == "git_tool"
    long = tool_name("git", "x" * 90)
    assert len(long) == 64
    assert long != tool_name("git", "x" * 91)


def test_a_damaged_listing_is_made_anew(tmp_path: Path) -> None:
    """What the disk made of a server's list of tools is none."""
    server = read_server("git", {"command": ["true"]}, {})
    listing = listing_of(tmp_path, "git", server)
    listing.tools = (ListedMcpTool(name="open"),)
    keep_listing(tmp_path, "git", listing)
    [kept] = tmp_path.rglob("git.json")
    kept.write_bytes(kept.read_bytes().replace(b"open", b"\xb0pen"))
    assert listing_of(tmp_path, "git", server).tools == ()


def test_of_two_tools_called_alike_the_first_is_offered(tmp_path: Path) -> None:
    """A server's name and a tool's may make the name of another's: nothing takes its place unseen.

    Nor does a tool of the home stand in one's place unsaid.
    """
    servers = {}
    for name, tool in (("git", "hub_open"), ("git_hub", "open")):
        servers[name] = read_server(name, {"command": ["true"]}, {})
        listing = listing_of(tmp_path, name, servers[name])
        listing.tools = (ListedMcpTool(name=tool), ListedMcpTool(name="close"))
        keep_listing(tmp_path, name, listing)
    home = tool_home(datetime(2026, 11, 27, tzinfo=UTC))
    home = dataclasses.replace(home, settings=load_settings(tmp_path, environ={}))
    found = McpServers()
    found.furnish(home, servers, {"git_close": 1})
    names = [tool.name for tool, _ in found.tools()]
    assert names == ["git_hub_open", "git_hub_close", "answer_server"]
    first, second = found.views()
    assert [tool.name for tool in first.tools] == ["git_hub_open"]
    assert [tool.name for tool in second.tools] == ["git_hub_close"]
    assert "close is not offered: there is a tool git_close already" in first.flaws[0]
    assert "open is not offered: there is a tool git_hub_open already" in second.flaws[0]


def test_what_its_file_names_and_it_has_not_is_told(tmp_path: Path) -> None:
    """A slip of the pen there frees an address, or hides a tool: `loopforge tool check` says so."""
    written: dict[str, object] = {"command": ["true"], "only": ["open", "shut"], "reads": ["opens"]}
    written |= {"addresses": {"open": "uri", "go": "url"}, "costs": {"open": 0.1}}
    server = read_server("odd", written, {})
    listing = listing_of(tmp_path, "odd", server)
    schema = {"type": "object", "properties": {"url": {"type": "string"}}}
    listing.tools = (ListedMcpTool(name="open", schema=schema), ListedMcpTool(name="close"))
    keep_listing(tmp_path, "odd", listing)
    home = tool_home(datetime(2026, 11, 27, tzinfo=UTC))
    found = McpServers()
    found.furnish(
        dataclasses.replace(home, settings=load_settings(tmp_path, environ={})), {"odd": server}
    )
    assert found.views()[0].flaws == (
        "`only` names 'shut', which is none of its tools: open, close",
        "`reads` names 'opens', which is none of its tools: open, close",
        "`addresses` names 'go', which is none of its tools: open, close",
        "`addresses` names 'uri', which is no argument of open",
    )
