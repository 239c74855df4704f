"""Fetching one large file: checked by its SHA-256, resumed when it breaks off, never half.

    HEAD (size and hash) -> NAME.HASH.part, by Range where some of it is there -> hash -> rename

Size and hash are what the place itself says before it leads on elsewhere: the hub's `X-Linked-Size`
and `X-Linked-ETag`, else `Content-Length` and an `ETag` that is a SHA-256. Whoever sends the bytes
after that is not believed. Sends no key. Knows no model and no page.
"""

import asyncio
import fcntl
import os
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urljoin, urlsplit

from msgspec import Struct

from loopforge.core.limits.retry_after import retry_after
from loopforge.core.text.spoken_lists import seconds_in_words
from loopforge.errors import LoopforgeError, ModelError
from loopforge.runtime.installation.home_files import sha256_of
from loopforge.runtime.system_clock import SystemClock

TRIES = 5
"""Requests in a row that may bring nothing before it is given up."""
HOPS = 5
QUIET = 60.0
"""Seconds without a byte after which a connection counts as broken."""
LONGEST_WAIT = 60.0
"""Seconds of `Retry-After` that are waited; who is told to wait longer is asked to come again."""
SPARE = 200_000_000
"""Bytes that stay free on the disk."""
REDIRECTS = (301, 302, 303, 307, 308)


class RemoteFile(Struct, frozen=True):
    """A file as the place it comes from describes it."""

    url: str
    size: int
    sha256: str


class DownloadProgress(Struct):
    """How far a fetch has come, in bytes. `size` is 0 until the place has told it."""

    have: int = 0
    size: int = 0


async def look_up(url: str, sha256: str = "") -> RemoteFile:
    """Ask for size and hash; a `sha256` that is known comes first. Raises ModelError."""
    import httpx2

    at = url
    async with _client(url) as http:
        for _ in range(HOPS):
            try:
                response = await _patient(partial(http.head, at), at)
            except (httpx2.HTTPError, OSError) as error:
                raise ModelError(_unreachable(at, error)) from error
            told, size = _hash_of(response.headers), _size_of(response.headers)
            if "x-linked-etag" in response.headers or response.status_code not in REDIRECTS:
                break
            onward = urljoin(at, response.headers.get("location", ""))
            if urlsplit(onward).netloc != urlsplit(at).netloc:
                break
            at = onward
        else:
            raise ModelError(f"{url} leads on and on; nothing was fetched.")
    _refuse(response, at)
    wanted = sha256 or told
    if not wanted:
        raise ModelError(
            f"{_host(url)} does not tell the SHA-256 of this file, so what comes could not be "
            "checked. Fetch the file yourself, then `loopforge model add FILE`."
        )
    if sha256 and told and told != sha256:
        raise ModelError(f"{_host(url)} has another file at {url} than the one that is known.")
    if not size:
        raise ModelError(f"{_host(url)} does not tell how large {url} is; nothing was fetched.")
    return RemoteFile(url=at, size=size, sha256=wanted)


async def download_model_file(
    file: RemoteFile,
    target: Path,
    progress: DownloadProgress,
    check: Callable[[Path], None] = lambda _: None,
) -> None:
    """Fetch it; `check` raises where what came is of no use, and then nothing of it is kept.

    Raises ModelError; what came before stays for the next time, unless it is wrong.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.{file.sha256[:16]}.part")
    progress.size = file.size
    try:
        with part.open("ab") as out:
            lock_download(out, target)
            if _came_already(target, part):
                return
            progress.have = out.tell()
            _room_for(target.parent, file.size - progress.have)
            await _fill(file, out, progress)
            out.flush()
            os.fsync(out.fileno())
            if await asyncio.to_thread(sha256_of, part) != file.sha256:
                part.unlink()
                raise ModelError(
                    f"What came from {_host(file.url)} is not the file that was promised (its "
                    "SHA-256 is another one); it was thrown away. Try again, or another place."
                )
            try:
                check(part)
            except LoopforgeError:
                part.unlink()
                raise
            part.replace(target)
    except OSError as error:
        raise ModelError(f"{target} cannot be written: {error.strerror or error}.") from error


async def _fill(file: RemoteFile, out: BinaryIO, progress: DownloadProgress) -> None:
    import httpx2

    idle = 0
    async with _client(file.url) as http:
        while progress.have < file.size:
            before, trouble = progress.have, "it broke off"
            try:
                await _piece(http, file, out, progress)
            except (httpx2.HTTPError, ConnectionError, TimeoutError) as error:
                trouble = _plain(error)
            idle = 0 if progress.have > before else idle + 1
            if idle == TRIES:
                raise ModelError(
                    f"{_host(file.url)} did not go on after {progress.have:,} of {file.size:,} "
                    f"bytes ({trouble}). What came is kept: fetch it again to go on from there."
                )
    if progress.have > file.size:
        out.truncate(0)
        raise ModelError(
            f"{_host(file.url)} sent more than the {file.size:,} bytes it had promised; what came "
            "was thrown away."
        )


async def _piece(http: Any, file: RemoteFile, out: BinaryIO, progress: DownloadProgress) -> None:
    """One request: from where it stands to the end, or to where the connection breaks."""
    headers = {"range": f"bytes={progress.have}-"} if progress.have else {}
    async with _streamed(http, file.url, headers) as response:
        if response.status_code == 416 or not _goes_on(response, progress.have):
            out.truncate(0)
            progress.have = 0
        _refuse(response, file.url, but=(416,))
        if response.status_code == 416:
            return
        async for piece in response.aiter_raw():
            out.write(piece)
            progress.have += len(piece)
            if progress.have > file.size:
                return


def _streamed(http: Any, url: str, headers: dict[str, str]) -> Any:
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def opened() -> Any:
        request = http.build_request("GET", url, headers=headers)

        async def send() -> Any:
            return await http.send(request, stream=True, follow_redirects=True)

        response = await _patient(send, url)
        try:
            yield response
        finally:
            await response.aclose()

    return opened()


def _goes_on(response: Any, have: int) -> bool:
    """Whether what comes continues what is there; a server may give the whole file instead."""
    if not have or response.status_code >= 400:
        return True
    told = re.match(r"bytes (\d+)-", response.headers.get("content-range", ""))
    return response.status_code == 206 and told is not None and int(told[1]) == have


async def _patient(send: Callable[[], Any], url: str) -> Any:
    """Ask; where the answer is to come again in a moment, come again."""
    for _ in range(TRIES):
        response = await send()
        if response.status_code not in (429, 503):
            return response
        await response.aclose()
        wait = retry_after(response.headers.get("retry-after", ""), SystemClock().now())
        seconds = 5.0 if wait is None else wait
        if seconds > LONGEST_WAIT:
            raise ModelError(
                f"{_host(url)} wants to be asked again in {seconds_in_words(seconds)}; what came "
                "so far is kept."
            )
        await asyncio.sleep(seconds)
    raise ModelError(f"{_host(url)} is too busy; try again later. What came so far is kept.")


def _refuse(response: Any, url: str, but: tuple[int, ...] = ()) -> None:
    status = response.status_code
    if status < 400 or status in but:
        return
    if status == 404:
        raise ModelError(
            f"{_host(url)} has no file at {url}. Is the setting embedded_files_from right?"
        )
    if status in (401, 403):
        raise ModelError(
            f"{_host(url)} does not give {url} without an account ({status}). Fetch it in your "
            "browser, then `loopforge model add FILE`."
        )
    raise ModelError(f"{_host(url)} answered {status} for {url}; try again later.")


def _client(url: str) -> Any:
    import httpx2

    here = re.search(r"://(127\.|localhost|\[::1\])", url)
    headers = {"accept-encoding": "identity"}
    hooks: dict[str, list[Callable[..., Any]]] = {"request": [partial(_stay_secure, url)]}
    return httpx2.AsyncClient(trust_env=not here, headers=headers, timeout=QUIET, event_hooks=hooks)


async def _stay_secure(url: str, request: Any) -> None:
    """Called before each request, also one that an answer leads to. Raises ModelError."""
    if url.startswith("https:") and request.url.scheme != "https":
        raise ModelError(
            f"{_host(url)} leads on to {request.url.host} without encryption (http); that was not "
            "followed, and nothing was fetched. Try again, or another place."
        )


def _hash_of(headers: Any) -> str:
    told = headers.get("x-linked-etag") or headers.get("etag") or ""
    found = re.fullmatch(r'(?:W/)?"?([0-9a-fA-F]{64})"?', told.strip())
    return found[1].lower() if found else ""


def _size_of(headers: Any) -> int:
    told = headers.get("x-linked-size") or headers.get("content-length") or ""
    return int(told) if told.isdigit() else 0


def lock_download(out: BinaryIO, target: Path) -> None:
    """Hold a file that is being written. Raises ModelError where another program does."""
    try:
        fcntl.flock(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ModelError(
            f"{target.name} is being fetched or taken by another at this moment; wait for that one."
        ) from error


def _came_already(target: Path, part: Path) -> bool:
    """Whether another program fetched it just now."""
    if target.exists():
        part.unlink(missing_ok=True)
        return True
    return False


def _room_for(folder: Path, wanted: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < wanted + SPARE:
        raise ModelError(
            f"{wanted / 1e9:.1f} GB are to come, and {folder} has {free / 1e9:.1f} GB free (some "
            "must stay). Make room, then fetch again."
        )


def _host(url: str) -> str:
    return urlsplit(url).netloc or url


def _unreachable(url: str, error: Exception) -> str:
    return f"{_host(url)} cannot be reached ({_plain(error)}). Is this machine online?"


def _plain(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
