"""Where the host of a home can be reached."""

import socket
import stat
from pathlib import Path

import pytest

from loopforge.errors import BadSettings, Unreachable
from loopforge.io.socket.socket_address import LONGEST, SocketAddress


def reach(path: Path) -> None:
    """Connect to a socket, or raise."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))


def test_the_socket_lies_in_the_home_and_belongs_to_its_user_alone(tmp_path: Path) -> None:
    """An ordinary home has data/host.sock with mode 0600, and nothing is left after clear."""
    address = SocketAddress(tmp_path)
    with address.bind():
        reach(tmp_path / "host.sock")
        assert stat.S_IMODE((tmp_path / "host.sock").stat().st_mode) == 0o600
        assert SocketAddress(tmp_path).path() == tmp_path / "host.sock"
    address.clear()
    assert list(tmp_path.iterdir()) == []


def test_a_dead_hosts_socket_is_replaced(tmp_path: Path) -> None:
    """A socket that a killed host left behind does not keep the next one from opening its own."""
    SocketAddress(tmp_path).bind().close()
    with pytest.raises(ConnectionRefusedError):
        reach(tmp_path / "host.sock")
    with SocketAddress(tmp_path).bind():
        reach(tmp_path / "host.sock")


def test_a_living_homes_socket_and_a_file_are_left_alone(tmp_path: Path) -> None:
    """Two homes of one socket: the second is told so, and terminals of the first stay with it."""
    chosen = tmp_path / "shared.sock"
    with SocketAddress(tmp_path / "a", str(chosen)).bind():
        with pytest.raises(Unreachable, match=r"this is another one.*host_socket"):
            SocketAddress(tmp_path / "b", str(chosen)).bind()
        reach(chosen)
    (notes := tmp_path / "notes.txt").write_text("bread")
    with pytest.raises(Unreachable, match="is no socket"):
        SocketAddress(tmp_path / "b", str(notes)).bind()
    SocketAddress(tmp_path / "b", str(notes)).clear()
    assert notes.read_text() == "bread"


def deep(folder: Path) -> Path:
    """A folder whose path is too long for a socket."""
    while len(str(folder)) <= LONGEST:
        folder /= "a-folder-in-a-folder"
    folder.mkdir(parents=True)
    return folder


def test_a_deep_home_has_its_socket_elsewhere_and_says_where(tmp_path: Path) -> None:
    """For a home too deep, the host makes a private folder and every terminal finds it."""
    data = deep(tmp_path)
    host = SocketAddress(data)
    with host.bind():
        path = SocketAddress(data).path()
        reach(path)
        assert len(str(path)) <= LONGEST
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert (data / "host.sock.path").read_text() == f"{path}\n"
    host.clear()
    assert not path.parent.exists()
    assert list(data.iterdir()) == []


def test_the_next_host_of_a_deep_home_takes_the_same_place(tmp_path: Path) -> None:
    """After a killed host, the recorded place is used again, so that terminals need not look anew."""
    data = deep(tmp_path)
    SocketAddress(data).bind().close()
    first = SocketAddress(data).path()
    host = SocketAddress(data)
    with host.bind():
        assert SocketAddress(data).path() == first
        reach(first)
    host.clear()


@pytest.mark.parametrize(
    "record", ["", "relative/host.sock", "/" + "x" * 200, "/no/such/host.sock"]
)
def test_a_wrong_record_is_not_followed(tmp_path: Path, record: str) -> None:
    """A record that cannot be right is replaced by the host."""
    data = deep(tmp_path)
    (data / "host.sock.path").write_text(record)
    host = SocketAddress(data)
    with host.bind():
        assert str(host.path()) != record
        reach(SocketAddress(data).path())
    host.clear()


def test_a_chosen_place_is_taken_and_a_chosen_place_too_long_is_refused(tmp_path: Path) -> None:
    """The setting names the socket; one that cannot work is an error that says why."""
    place = tmp_path / "other.sock"
    host = SocketAddress(tmp_path / "data", str(place))
    with host.bind():
        reach(place)
    host.clear()
    assert not place.exists()
    with pytest.raises(BadSettings, match="at most 100"):
        SocketAddress(tmp_path, "/tmp/" + "x" * 200)


def test_a_place_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    """Where no socket can be made, the error names the folder and the way out."""
    with pytest.raises(Unreachable, match="host_socket"):
        SocketAddress(tmp_path / "nowhere").bind()
