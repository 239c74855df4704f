"""A way out of the sandbox to named hosts, and to nothing else.

    program --HTTPS_PROXY--> 127.0.0.1 in the sandbox --a socket in the workspace--> here
        -> is the host granted? is its address public, or named itself? -> a tunnel

The sandbox has no network. A program in it that knows how to use a proxy reaches by one, with
CONNECT, the hosts that were granted: `api.example.org` (443), `api.example.org:8443`,
`*.example.org`, `*` (every public host, 443). What goes through is not looked at.

Needs python3 among the system's own programs. Does not cover UDP, names that the program resolves
itself, and programs that use no proxy: they find no network.
"""

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from loopforge.errors import InputError
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.tools.sandbox.workspace_files import WorkspaceFiles

SOCKET = ".network"
"""Where the socket lies in a workspace."""
DOOR = 3128
"""The port in the sandbox."""
MOST_TUNNELS, MOST_HELD = 64, 256
"""That carry something at a time, and with those that wait: each is an open file of the home."""
IDLE = 300.0
"""Seconds that a tunnel may be silent."""
PIECE = 65536
PYTHON = "/usr/bin/python3"
HOST = re.compile(r"(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::[0-9]{1,5})?|\*(?::[0-9]{1,5})?")
"""A host as it is granted."""
WANTED = re.compile(rb"CONNECT ([A-Za-z0-9.-]{1,253}):([0-9]{1,5}) HTTP/1\.[01]\r\n")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
PROXY = {
    **dict.fromkeys(PROXIES, f"http://127.0.0.1:{DOOR}"),
    "NODE_USE_ENV_PROXY": "1",
    "NO_PROXY": "",
    "no_proxy": "",
}
"""What programs are told of it."""
FORWARDER = """
import socket, subprocess, sys, threading
path, port, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
def pump(a, b):
    try:
        while piece := a.recv(65536):
            b.sendall(piece)
    except OSError:
        pass
    for end in (a, b):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
def serve(door):
    while True:
        inner, _ = door.accept()
        outer = socket.socket(socket.AF_UNIX)
        try:
            outer.connect(path)
        except OSError:
            inner.close()
            continue
        for a, b in ((inner, outer), (outer, inner)):
            threading.Thread(target=pump, args=(a, b), daemon=True).start()
door = socket.create_server(("127.0.0.1", port))
threading.Thread(target=serve, args=(door,), daemon=True).start()
sys.exit(subprocess.run(command).returncode)
"""
"""What is run in the sandbox in front of the program."""

UNREADABLE = (asyncio.IncompleteReadError, asyncio.LimitOverrunError)
"""What a request is that ends within its head, or whose head does not end."""
Reach = Callable[[str, int], Any]
"""Opens a stream to a host's port that was granted; raises where that cannot be."""


def with_network_forwarder(command: Sequence[str]) -> tuple[str, ...]:
    """The command with the way out in front of it. Raises InputError without python3."""
    if not Path(PYTHON).exists():
        raise InputError(f"a program in the sandbox reaches hosts by {PYTHON}, which is missing")
    return (PYTHON, "-IS", "-c", FORWARDER, f"/workspace/{SOCKET}", str(DOOR), *command)


def is_granted(host: str, port: int, granted: Collection[str]) -> bool:
    """Whether a host's port is among what was granted."""
    host = host.lower().rstrip(".")
    for each in granted:
        name, _, number = each.partition(":")
        if port != int(number or 443):
            continue
        if name in ("*", host) or (name.startswith("*.") and host.endswith(name[1:])):
            return True
    return False


@asynccontextmanager
async def granted_network(
    workspace: Path, granted: Collection[str], reach: Reach
) -> AsyncIterator[None]:
    """Let programs whose workspace this is reach what is granted, until the block ends."""
    folder = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY)
    path = Path(f"/proc/self/fd/{folder}") / SOCKET  # a socket's path has 107 bytes at most
    free, held = asyncio.Semaphore(MOST_TUNNELS), set[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(held) >= MOST_HELD:
            writer.close()
            return
        work = _tunnel(reader, writer, granted, reach, free)
        held.add(tunnel := tasks.spawn(work, "a way out of the sandbox"))
        tunnel.add_done_callback(held.discard)

    try:
        try:
            path.unlink(missing_ok=True)
        except OSError:  # a program made a folder of it
            await asyncio.to_thread(WorkspaceFiles(workspace / SOCKET).remove)
        async with BackgroundTasks() as tasks:
            server = await asyncio.start_unix_server(serve, str(path))
            path.chmod(0o666)
            try:
                yield
            finally:
                server.close()
                with suppress(OSError):
                    path.unlink(missing_ok=True)
    finally:
        os.close(folder)


async def _tunnel(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    granted: Collection[str],
    reach: Reach,
    free: asyncio.Semaphore,
) -> None:
    with contextlib.closing(writer), suppress(OSError, TimeoutError, *UNREADABLE):
        async with free:
            async with asyncio.timeout(IDLE):
                head = await reader.readuntil(b"\r\n\r\n")
            wanted = WANTED.match(head)
            if wanted is None:
                return await _say(writer, "405 Only CONNECT is served here")
            host, port = wanted[1].decode(), int(wanted[2])
            if not is_granted(host, port, granted):
                return await _say(writer, f"403 {host}:{port} is not granted to this program")
            try:
                stream = await reach(host, port)
            except Exception:  # whatever keeps it from being reached, this tunnel alone ends
                return await _say(writer, f"502 {host}:{port} cannot be reached")
            try:
                await _say(writer, "200 Connected")
                await _joined(reader, writer, stream)
            finally:
                await stream.aclose()


async def _joined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stream: Any) -> None:
    """Carry bytes both ways until one side ends."""

    async def out() -> None:
        while piece := await reader.read(PIECE):
            await stream.write(piece, IDLE)

    async def back() -> None:
        with suppress(Exception):  # its end, in whichever way the client's library tells it
            while piece := await stream.read(PIECE, IDLE):
                writer.write(piece)
                await writer.drain()

    async with BackgroundTasks() as tasks:
        ways = {tasks.spawn(out(), "out of the sandbox"), tasks.spawn(back(), "into the sandbox")}
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)


async def _say(writer: asyncio.StreamWriter, status: str) -> None:
    writer.write(f"HTTP/1.1 {status}\r\n\r\n".encode())
    await writer.drain()
