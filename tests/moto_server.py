"""A server that speaks S3, as a process of its own: moto's, from a venv that `make dev` makes."""

import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError

import pytest

PROGRAM = Path(__file__).parent.parent / ".venv-moto" / "bin" / "moto_server"


class BucketServer:
    """One that runs. `variables` are what a client finds it by."""

    def __init__(self, process: subprocess.Popen[bytes], address: str) -> None:
        self._process, self.address = process, address

    @property
    def variables(self) -> dict[str, str]:
        """As a provider's documents name them."""
        return {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ALLOW_HTTP": "true",
        }

    def make(self, bucket: str) -> None:
        """Make a bucket."""
        asked = urllib.request.Request(f"{self.address}/{bucket}", method="PUT")
        urllib.request.urlopen(asked).close()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()


@contextmanager
def bucket_server() -> Iterator[BucketServer]:
    """One on loopback, empty."""
    if not PROGRAM.exists():
        pytest.skip("moto is not installed (make dev)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = subprocess.DEVNULL
    line = [str(PROGRAM), "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(line, stdout=quiet, stderr=quiet)
    server = BucketServer(process, f"http://127.0.0.1:{port}")
    try:
        while process.poll() is None:
            try:
                urllib.request.urlopen(f"{server.address}/moto-api/").close()
                break
            except URLError:
                time.sleep(0.05)
        yield server
    finally:
        server.kill()
