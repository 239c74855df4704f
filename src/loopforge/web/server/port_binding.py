"""The port: bound before anything is promised.

One that is taken is a clear error, or, where nobody asked for that very one, the next free one is
taken. Imports nothing of the web, so that a home starts quickly.
"""

import errno
import socket

from loopforge.errors import BadSettings

NEXT = 20
"""Ports tried after the first, where any will do."""


def bind_listening_socket(host: str, port: int, *, exactly: bool) -> socket.socket:
    """A listening socket. Raises BadSettings where none can be had."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise BadSettings(
            f"`web_host` is {host!r}, and this machine knows no such address ({error.strerror}). "
            "127.0.0.1 is this machine alone, 0.0.0.0 the network; `loopforge settings undo "
            "web_host` takes the last change back."
        ) from error
    for tried in range(port, port + 1 if exactly or not port else port + NEXT):
        # The protocol is named, or else asyncio would leave Nagle's algorithm on: 40 ms an answer.
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((address[0], tried))
        except OSError as error:
            found.close()
            if error.errno != errno.EADDRINUSE:
                raise BadSettings(
                    f"The web room cannot be opened on {host}, port {tried}: {error.strerror}. "
                    "See `web_host` and `web_port`."
                ) from error
            continue
        found.listen(256)
        found.setblocking(False)
        return found
    raise BadSettings(f"Port {port} is taken. Set `web_port` to another, or 0 for any.")
