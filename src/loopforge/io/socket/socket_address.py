"""Where the host of a home can be reached: a Unix socket in its `data` folder.

A socket's path may be about 100 bytes long. In a home that lies deeper the host makes a folder of
its own among the temporary files and writes its socket's path into `data/host.sock.path`.

Only the process that holds the home's lock may `bind` or `clear`.
"""

import contextlib
import errno
import os
import socket
import tempfile
from pathlib import Path

from loopforge.errors import BadSettings, Unreachable

NAME = "host.sock"
RECORD = "host.sock.path"
LONGEST = 100
"""Linux takes 107 bytes, macOS 103."""


class SocketAddress:
    """The address of one home. `chosen` is a path set by the person, "" for the usual one."""

    def __init__(self, data: Path, chosen: str = "") -> None:
        self._data = data
        self._chosen = Path(chosen).expanduser() if chosen else None
        if self._chosen is not None and not _fits(self._chosen):
            raise BadSettings(
                f"host_socket is {len(os.fsencode(self._chosen))} bytes long; a Unix socket's path "
                f"has at most {LONGEST}. Choose a shorter one, or none."
            )

    def path(self) -> Path:
        """Where the socket is, or would be. For a deep home without a host: where it was last."""
        if self._chosen is not None:
            return self._chosen
        usual = self._data / NAME
        if _fits(usual):
            return usual
        with contextlib.suppress(OSError, UnicodeDecodeError):
            recorded = Path((self._data / RECORD).read_text("utf-8").strip())
            if recorded.is_absolute() and _fits(recorded):
                return recorded
        return usual

    def bind(self) -> socket.socket:
        """A listening socket that only this user may connect to, in place of a dead host's.

        Raises Unreachable.
        """
        try:
            return self._bind()
        except OSError as error:
            raise Unreachable(
                f"The socket for terminals cannot be opened in {self.path().parent}: "
                f"{error.strerror or error}. Mend that, or choose another place with host_socket."
            ) from error

    def _bind(self) -> socket.socket:
        path = self.path()
        if not _fits(path) or (path.parent != self._data and path != self._chosen):
            path = self._elsewhere(path)
        _make_way(path)
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            os.fchmod(bound.fileno(), 0o600)  # Linux gives the file this mode from the start
            bound.bind(os.fspath(path))
            path.chmod(0o600)
            bound.listen(128)
        except BaseException:
            bound.close()
            raise
        bound.setblocking(False)
        return bound

    def clear(self) -> None:
        """Take the socket away, and what was made for it."""
        path = self.path()
        if path.is_socket():
            path.unlink(missing_ok=True)
        if path.parent != self._data and path != self._chosen:
            with contextlib.suppress(OSError):
                path.parent.rmdir()
            (self._data / RECORD).unlink(missing_ok=True)

    def _elsewhere(self, recorded: Path) -> Path:
        """A short path in a folder that is ours alone, recorded in the home."""
        if not (_fits(recorded) and _ours(recorded.parent)):
            recorded = Path(tempfile.mkdtemp(prefix="loopforge-")) / NAME
            (self._data / RECORD).write_text(f"{recorded}\n", "utf-8")
        return recorded


def _make_way(path: Path) -> None:
    """Take a dead host's socket away. Raises OSError where another one answers, or it is none."""
    if not path.exists():
        path.unlink(missing_ok=True)  # a link that leads nowhere
        return
    if not path.is_socket():
        raise FileExistsError(errno.EEXIST, f"{path} is no socket, and is left as it is")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
        asked.setblocking(False)
        if asked.connect_ex(os.fspath(path)) in (0, errno.EAGAIN):  # EAGAIN: many ask at once
            raise OSError(errno.EADDRINUSE, f"the home of {path} runs, and this is another one")
    path.unlink(missing_ok=True)


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= LONGEST


def _ours(folder: Path) -> bool:
    try:
        about = folder.lstat()
    except OSError:
        return False
    return folder.is_dir() and about.st_uid == os.getuid() and about.st_mode & 0o077 == 0
