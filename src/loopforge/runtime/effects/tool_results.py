"""What a tool gave, as a mind is told it: the head of a long text, and files by their handles.

What is longer, and every file, is kept under its hash; tools read on from there.
"""

from loopforge.core.effect_states import EffectReturned
from loopforge.core.room_vocabulary import File
from loopforge.core.text.erasable_text import Words
from loopforge.errors import LoopforgeError
from loopforge.runtime.ports import EffectFiles, OpenEffect, ToolFile, ToolResult

RESULT_HEAD = 4_000
"""Characters of a result that a mind is told; of a longer one they are its head, and it is kept."""
HANDLE = 8
"""Digits of a kept file's hash by which it is called in its room."""
MOST_RESULT_FILES = 20
"""Files of one result that are kept."""


def file_handle_line(file: File) -> str:
    """A kept file as a mind is told of it, with the handle by which tools take it."""
    sides = f", {file.width} x {file.height} pixels" if file.width else ""
    return f"file {str(file.hash)[:HANDLE]}: {file.name}, {file.media}, {file.size:,} bytes{sides}"


def failure_shown(why: str) -> str:
    """Why a tool failed, of which nothing is kept but its head."""
    return why if len(why) <= RESULT_HEAD else f"{why[:RESULT_HEAD]}…"


async def store_tool_result(
    found: OpenEffect, given: ToolResult, price: float, files: EffectFiles
) -> EffectReturned:
    """What came of a use; one without a cost of its own costs the tool's `price`, in dollars."""
    text, wanted, told, kept = given.text, list(given.files), list[str](), list[File]()
    whole = False
    if len(text) > RESULT_HEAD:
        wanted.insert(0, ToolFile(name=f"{found.tool}.txt", data=text.encode()))
        told.append(
            f"[the first {RESULT_HEAD:,} of {len(text):,} characters; read_result reads on]"
        )
    for file in wanted[:MOST_RESULT_FILES]:
        try:
            one = await files.keep(file)
        except (LoopforgeError, OSError) as error:
            told.append(f"[{file.name} is lost: {error}]")
            continue
        kept.append(one)
        told.append(f"[{file_handle_line(one)}]")
        whole = whole or (file is wanted[0] and len(text) > RESULT_HEAD)
    if (more := len(wanted) - MOST_RESULT_FILES) > 0:
        told.append(f"[{more} more files are lost: a use gives {MOST_RESULT_FILES} at most]")
    return EffectReturned(
        effect=found.effect,
        value=Words("\n".join([*([text[:RESULT_HEAD]] if text else []), *told])),
        files=tuple(kept),
        tells=given.tells,
        cost=given.cost or price,
        whole=whole,
    )
