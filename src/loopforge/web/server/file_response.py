"""A file as an answer: what a browser does with it, and a part of it where one is asked for.

Players want parts: Safari plays no sound of a server that gives none, and others seek by them
(RFC 9110, section 14). One range is served; of several, or of what is none, the whole.
"""

import re

from litestar import Response
from litestar.datastructures import Headers

RANGE = re.compile(r"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))")
SANDBOXED = "default-src 'none'; sandbox"


def file_response(
    data: bytes, name: str, media: str, headers: Headers, *, inline: bool
) -> Response[bytes]:
    """A file that somebody gave, or the bytes of it that `headers` ask for; nothing in it runs."""
    answer = {
        "Content-Disposition": content_disposition(name, inline=inline),
        "Content-Security-Policy": SANDBOXED,
        "Accept-Ranges": "bytes",
    }
    asked = "" if "if-range" in headers else headers.get("range", "")  # nothing has an ETag here
    status, part = 200, byte_range(asked, len(data))
    if part is not None:
        status = 206 if part else 416
        first = f"{part.start}-{part.stop - 1}" if part else "*"
        answer["Content-Range"] = f"bytes {first}/{len(data)}"
        data = data[part.start : part.stop]
    return Response(data, status_code=status, media_type=media, headers=answer)


def byte_range(asked: str, size: int) -> range | None:
    """The bytes of a Range header, of a file of `size`; empty where it has none of them.

    None where the whole file is to be given.
    """
    found = RANGE.fullmatch(asked.replace(" ", "").lower())
    if found is None:
        return None
    first, last, tail = found.groups()
    if tail is not None:
        return range(max(0, size - int(tail)), size)
    if last and int(last) < int(first):
        return None
    return range(int(first), min(int(last) + 1, size) if last else size)


def content_disposition(name: str, *, inline: bool) -> str:
    """What a browser does with a file, and what it calls it."""
    from urllib.parse import quote

    return f"{'inline' if inline else 'attachment'}; filename*=UTF-8''{quote(name, safe='')}"
