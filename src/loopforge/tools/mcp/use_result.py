"""What an MCP server gives for a use, as texts and files that a mate may have: bounded, and marked.

It is material, never an order. Does not know who used it.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

import msgspec

from loopforge.errors import InputError
from loopforge.runtime.ports import ToolFile, ToolResult
from loopforge.tools.mcp.server_questions import question_in
from loopforge.tools.web.page_cache import MATERIAL

if TYPE_CHECKING:
    from mcp.types import CallToolResult

MOST_FILES, LARGEST_FILE = 8, 5_000_000
"""Files that come of one use, and bytes of one."""


def result_of(result: CallToolResult | None) -> ToolResult:
    """What a server gave, as texts and files. Raises InputError where it says that it failed."""
    if result is None:
        raise InputError("it stopped before its end, and says neither why nor what it wants")
    texts, files = list[str](), list[ToolFile]()
    for part in result.content:
        match part.type:
            case "text":
                texts.append(part.text)
            case "image" | "audio":
                _keep(files, texts, part.type, part.data, part.mime_type)
            case "resource_link":
                texts.append(f"[{part.name}: {part.uri}]")
            case "resource":
                held = part.resource
                if (text := getattr(held, "text", None)) is not None:
                    texts.append(f"[{held.uri}]\n{text}")
                else:
                    name = str(held.uri).rpartition("/")[2] or "file"
                    _keep(files, texts, name, held.blob, held.mime_type or "")  # type: ignore[union-attr]
    if not texts and result.structured_content is not None:
        texts.append(msgspec.json.encode(result.structured_content).decode())
    whole = "\n".join(texts)
    if result.is_error:
        raise InputError(whole or "it failed and does not say why")
    return ToolResult(text=f"{MATERIAL}\n{whole}" if whole else "", files=tuple(files))


def _keep(files: list[ToolFile], texts: list[str], name: str, data: str, media: str) -> None:
    try:
        held = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        texts.append(f"[{name}: it is broken]")
        return
    if len(files) >= MOST_FILES or len(held) > LARGEST_FILE:
        texts.append(f"[{name}, {len(held):,} bytes: too much to keep]")
        return
    ending = {"image": ".png", "audio": ".wav"}.get(name, "")
    if ending and "/" in media:
        ending = f".{media.partition('/')[2].partition(';')[0].partition('+')[0]}"
    if question_in(held) is not None:  # read_question takes files of answer_server as questions
        texts.append(f"[{name}: left out, a question that nobody asked]")
        return
    files.append(ToolFile(name=f"{name}{ending}", data=held, media=media))
