"""The tools of a home's MCP servers, and a use of one: arguments in, texts and files out.

Names are `SERVER_tool`. What a server gives is material, never an order. A server is started at its
first use; one whose tools nobody has listed yet is asked for them once the home is open (`learn`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from loopforge.core.egress.egress_filter import strip_control_characters
from loopforge.core.text.spoken_lists import seconds_in_words
from loopforge.errors import InputError, LoopforgeError
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Tool, ToolCall, ToolHome, ToolResult, ToolWork
from loopforge.tools.mcp.server_connection import McpConnection, ServerState, Streams
from loopforge.tools.mcp.server_options import READY, McpServer
from loopforge.tools.mcp.server_questions import (
    ANSWER_SERVER,
    AskedInput,
    answers_of,
    read_question,
    server_question_result,
)
from loopforge.tools.mcp.stdio_transport import confined_streams
from loopforge.tools.mcp.tool_listing import (
    ToolListing,
    as_offered_tool,
    changed_tool_flaws,
    keep_listing,
    listing_of,
    misnamed_tool_flaws,
    read_listed,
    tool_name,
    written_at,
)
from loopforge.tools.mcp.use_result import result_of
from loopforge.tools.sandbox.bubblewrap import Sandbox
from loopforge.tools.sandbox.call_workspace import workspace_in, workspace_name
from loopforge.tools.sandbox.granted_network import PROXY, granted_network, with_network_forwarder
from loopforge.tools.sandbox.sandbox_limits import MIB, SandboxLimits
from loopforge.tools.web.described_service import redact_keys
from loopforge.tools.web.network_guard import GuardedNetwork

MOST_APART = 8
"""Programs of one server that run side by side, each for others."""
KEY_LENGTH = 8
"""Characters from which a value that a server is given is taken out of what it gives back."""
RELISTED = 1.0
"""Seconds between two listings of a server that says again and again that its tools are others."""


@dataclass(kw_only=True)
class _Known:
    """A server of this home, its connection, and its tools as they are held to.

    `apart`: further connections, by whose they are, of a server that is each one's own. `changed`:
    it said that its tools are others, since they were listed; `relisting`: they are, again. `kept`:
    when the listing was written that is held to, by whichever program.
    `alike`: what is said of tools whose names others have already, and of names that none has.
    """

    server: McpServer
    connection: McpConnection
    listing: ToolListing
    flaws: list[str] = field(default_factory=list)
    apart: dict[str, McpConnection] = field(default_factory=dict)
    changed: bool = False
    relisting: bool = False
    kept: tuple[int, int] | None = None
    alike: list[str] = field(default_factory=list)

    @property
    def state(self) -> ServerState:
        """Whether any of it runs."""
        states = [one.state for one in (self.connection, *self.apart.values())]
        return next((each for each in states if each != "idle"), "idle")

    def told(self, what: object) -> str:
        """What is told of it, without its keys."""
        given = self.server.environment | self.server.headers
        keys = {name: value for name, value in given.items() if len(value) >= KEY_LENGTH}
        return redact_keys(strip_control_characters(str(what)), keys)

    async def close(self) -> None:
        """End all of it."""
        for one in (self.connection, *self.apart.values()):
            await one.close()


@dataclass(frozen=True, kw_only=True)
class McpServerView:
    """How it stands with a server: its tools, names of those that wait to be taken, flaws."""

    name: str
    server: McpServer
    state: ServerState
    tools: tuple[Tool, ...]
    other: tuple[str, ...]
    flaws: tuple[str, ...]


class McpServers:
    """The MCP servers of a home."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}
        self._home: ToolHome | None = None
        self._tasks, self._ending = BackgroundTasks(), BackgroundTasks()
        self._offers: dict[str, list[tuple[Tool, ToolWork]]] | None = None
        self._others: Collection[str] = ()
        self._learned = False

    def furnish(
        self, home: ToolHome, servers: Mapping[str, McpServer], others: Collection[str] = ()
    ) -> None:
        """Have these and no others; one that is described as it was goes on as it is.

        `others` are names that tools have already, also those that come to stand there later.
        """
        self._home, self._offers, self._others = home, None, others
        for name in [name for name, one in self._known.items() if servers.get(name) != one.server]:
            gone = self._known.pop(name)
            if gone.state != "idle":
                self._ending.spawn(gone.close(), f"end of the MCP server {name}")
        for name, server in servers.items():
            if name not in self._known:
                self._known[name] = _Known(
                    server=server,
                    connection=self._new_connection(name, server),
                    listing=ToolListing(),
                )
            self._hold_to(name, self._known[name])
        if self._learned:
            self.start()

    def tools(self) -> Sequence[tuple[Tool, ToolWork]]:
        """The tools that may be used, each with its work."""
        found = [each for offers in self._tools_by_server().values() for each in offers]
        return [*found, (ANSWER_SERVER, self._answer_server)] if self._known else found

    def _tools_by_server(self) -> dict[str, list[tuple[Tool, ToolWork]]]:
        """Those tools by server. Of two that would be called alike the first is offered."""
        for name, known in self._known.items():
            self._reread_kept(name, known)
        if self._offers is not None:
            return self._offers
        found, taken = dict[str, list[tuple[Tool, ToolWork]]](), {*self._others, ANSWER_SERVER.name}
        for name, known in self._known.items():
            tools = known.listing.tools
            found[name], known.alike = [], misnamed_tool_flaws(known.server, tools) if tools else []
            other = {tool.name for tool in known.listing.other}
            for tool in tools:
                if tool.name in other or (known.server.only and tool.name not in known.server.only):
                    continue
                given = as_offered_tool(name, known.server, tool)
                if given.name in taken:
                    known.alike.append(
                        f"{tool.name} is not offered: there is a tool {given.name} already; give "
                        "the file of one server another name, or leave a tool out by `only`"
                    )
                    continue
                taken.add(given.name)
                found[name].append((given, self._work_of(name, known, tool.name)))
        self._offers = found
        return found

    def views(self) -> list[McpServerView]:
        """How it stands with each."""
        offers = self._tools_by_server()
        return [
            McpServerView(
                name=name,
                server=known.server,
                state=known.state,
                tools=tuple(tool for tool, _ in offers[name]),
                other=tuple(tool.name for tool in known.listing.other),
                flaws=(*known.flaws, *known.alike),
            )
            for name, known in self._known.items()
        ]

    def start(self) -> None:
        """Learn in the background, until `close`."""
        self._tasks.spawn(self.learn(), "what MCP servers offer")

    async def learn(self, *, anew: bool = False, only: str = "") -> None:
        """Ask those for their tools that nobody asked yet; `anew`: all, or `only` that one.

        Never raises.
        """
        self._learned = True
        for name, known in list(self._known.items()):
            if only and name != only:
                continue
            self._reread_kept(name, known)
            if anew or not known.listing.tools:
                await self._list_tools(name)

    def accept(self, name: str) -> list[str]:
        """Take a server's tools as it describes them now: the names of those that had changed."""
        known = self._known[name]
        self._reread_kept(name, known)
        names = [tool.name for tool in known.listing.other]
        known.flaws = []
        self._hold_listing(name, known, known.listing.accepted())
        return names

    async def close(self) -> None:
        """End them all."""
        await self._tasks.close()  # first: what they ask of a server starts it
        for known in self._known.values():
            await known.close()
        await self._ending.finish(READY)

    async def forget(self) -> None:
        """End all: what was forgotten may stand in one, and their workspaces go."""
        for known in list(self._known.values()):
            await known.close()
            known.apart = {key: one for key, one in known.apart.items() if not one.resting}

    def _new_connection(self, name: str, server: McpServer, whose: str = "") -> McpConnection:
        assert self._home is not None
        connection = McpConnection(
            name,
            server_streams(self._home.settings.home, name, server, whose),
            self._home.clock,
            seconds=server.seconds,
            idle=server.idle,
            ready=server.ready,
            changed=lambda: self._note_changed(name, connection),
        )
        return connection

    def _connection_for(self, name: str, known: _Known, call: ToolCall) -> McpConnection:
        """The connection that a call has. Raises InputError where too many run."""
        if not known.server.apart:
            return known.connection
        whose = workspace_name(call)
        if whose not in known.apart:
            known.apart = {key: one for key, one in known.apart.items() if not one.resting}
            if len(known.apart) >= MOST_APART:
                raise InputError(
                    f"{name} runs for {MOST_APART} others already; one of them ends when nobody "
                    f"used it for {seconds_in_words(known.server.idle)}"
                )
            known.apart[whose] = self._new_connection(name, known.server, whose)
        return known.apart[whose]

    def _note_changed(self, name: str, connection: McpConnection) -> None:
        known = self._known.get(name)
        if known is None or connection not in (known.connection, *known.apart.values()):
            return  # it was taken away meanwhile
        known.changed = True
        if not known.relisting:
            known.relisting = True
            self._tasks.spawn(
                self._relist_while_changed(name, known, connection),
                f"tools of the MCP server {name}",
            )

    async def _relist_while_changed(
        self, name: str, known: _Known, connection: McpConnection
    ) -> None:
        """Ask for its tools while it says that they changed, one time after another.

        That neither starts it nor keeps it from being idle, else one that always says so would
        never end.
        """
        try:
            while known.changed and connection.state != "idle":
                known.changed = False
                await self._list_tools(name, connection)
                assert self._home is not None
                await self._home.clock.sleep(RELISTED)
        finally:
            known.relisting = False

    async def _list_tools(self, name: str, running: McpConnection | None = None) -> None:
        """Ask for its tools; `running`: one that said they changed, and is not used by that."""
        known = self._known.get(name)
        if known is None:
            return  # it was taken away meanwhile
        try:
            asked = running or known.connection
            self._take_listing(name, known, await asked.tools(stirs=running is None))
        except (LoopforgeError, OSError) as error:
            known.flaws = [known.told(error)] if running is None else known.flaws

    def _reread_kept(self, name: str, known: _Known) -> None:
        """Hold to what another program wrote, such as `loopforge tool accept` beside this one."""
        assert self._home is not None
        home = self._home.settings.home
        if written_at(home, name) != known.kept:
            self._hold_to(name, known)
            known.flaws, self._offers = changed_tool_flaws(name, known.listing), None

    def _hold_to(self, name: str, known: _Known) -> None:
        """Hold it to what is written down."""
        assert self._home is not None
        home = self._home.settings.home
        known.kept, known.listing = written_at(home, name), listing_of(home, name, known.server)

    def _take_listing(self, name: str, known: _Known, listed: Sequence[Any]) -> None:
        """Take note of what it listed."""
        tools, flaws = read_listed(listed)
        if self._known.get(name) is known:  # it may be another one by now
            self._reread_kept(name, known)
            known.flaws = flaws
            self._hold_listing(name, known, known.listing.heard(tools, name))

    def _hold_listing(self, name: str, known: _Known, listing: ToolListing) -> None:
        assert self._home is not None
        known.flaws += changed_tool_flaws(name, listing)
        if listing != known.listing:
            known.listing, self._offers = listing, None
            keep_listing(self._home.settings.home, name, listing)
            known.kept = written_at(self._home.settings.home, name)

    def _work_of(self, name: str, known: _Known, tool: str) -> ToolWork:
        async def use(call: ToolCall) -> ToolResult:
            asked = AskedInput(server=name, tool=tool, arguments=call.arguments, questions=())
            return await self._come_of(self._connection_for(name, known, call), known, asked, call)

        return use

    async def _answer_server(self, call: ToolCall) -> ToolResult:
        """Go on with a use that asked people for something."""
        assert self._home is not None
        which, files = str(call.arguments["question"]), self._home.files
        asked = read_question((await files.data(call, which)).data, await files.givers(call, which))
        if asked.server not in self._known:
            raise InputError(f"there is no server {asked.server} here any more")
        offers = {tool.name for tool, _ in self._tools_by_server()[asked.server]}
        wanted = tool_name(asked.server, asked.tool)
        if wanted not in (offers if call.granted is None else offers & call.granted):
            raise InputError(f"{wanted} may not be used any more, so it does not go on")
        declined = bool(call.arguments.get("decline"))
        answers = answers_of(asked, call.arguments.get("answers") or {}, decline=declined)
        known = self._known[asked.server]
        return await self._come_of(
            self._connection_for(asked.server, known, call), known, asked, call, answers
        )

    async def _come_of(
        self,
        connection: McpConnection,
        known: _Known,
        asked: AskedInput,
        call: ToolCall,
        answers: Mapping[str, Mapping[str, Any]] = {},
    ) -> ToolResult:
        def tell(text: str, part: float | None) -> None:
            call.tell(known.told(text), part)

        try:
            if connection.state != "running":  # it may be another by now than when it was listed
                self._take_listing(asked.server, known, await connection.tools())
            if asked.tool in {tool.name for tool in known.listing.other}:
                raise InputError(
                    f"{asked.tool} is described otherwise than when it was taken, and is not used; "
                    f"the owner can look at it, and `loopforge tool accept {asked.server}`"
                )
            came = await connection.call(
                asked.tool, asked.arguments, state=asked.state, answers=answers, tell=tell
            )
            asked = msgspec.structs.replace(asked, questions=came.asked, state=came.state)
            found = server_question_result(asked) if came.asked else result_of(came.result)
        except InputError as error:
            raise InputError(known.told(error)) from None
        files = [msgspec.structs.replace(one, name=known.told(one.name)) for one in found.files]
        return msgspec.structs.replace(found, text=known.told(found.text), files=tuple(files))


def server_streams(home: Path, name: str, server: McpServer, whose: str = "") -> Streams:
    """How a server is reached; `whose` it is where each has one of its own."""
    if server.url:
        from loopforge.tools.mcp.http_transport import remote_streams

        return partial(remote_streams, server.url, server.headers, server.seconds)
    limits = SandboxLimits(
        seconds=None,
        memory=server.memory * MIB,
        address_space=None,
        processes=server.processes,
        scratch=server.scratch * MIB,
    )

    @asynccontextmanager
    async def start(over: Callable[[str], None]) -> AsyncIterator[tuple[Any, Any]]:
        own = f"mcp-{name}-{whose}" if whose else f"mcp-{name}"
        place = await asyncio.to_thread(workspace_in, home, own)
        sandbox = Sandbox(
            place,
            readable=server.readable(home),
            hidden=(home,),
            environment=(PROXY if server.network else {}) | server.environment,
            limits=limits,
        )
        async with AsyncExitStack() as stack:
            command = server.command
            if server.network:
                command = with_network_forwarder(command)
                reach = _network_for(server.network).connect_tcp
                await stack.enter_async_context(granted_network(place, server.network, reach))
            yield await stack.enter_async_context(confined_streams(sandbox, command, over))

    return start


def _network_for(granted: Collection[str]) -> GuardedNetwork:
    """Public addresses, and what is named itself, wherever that leads."""
    named = [host if ":" in host else f"{host}:443" for host in granted if "*" not in host]
    return GuardedNetwork(named)
