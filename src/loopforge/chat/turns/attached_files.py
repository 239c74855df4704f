"""Kept files that a mate attaches to what it says: which they are, and whether they may go out.

A mate names a file by its handle. It may attach what its tools may take: what stands in the room,
and what a tool gave it for those whom it answers. What can be read of a file goes through the same
filter as words do; a picture has none.

Does not know how a line is written down or sent.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from loopforge.artifacts.media_types import PICTURES
from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.egress.egress_filter import EgressFilter
from loopforge.core.room_vocabulary import File, Say
from loopforge.core.text.document_kinds import DOCUMENTS
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.errors import InputError, LoopforgeError
from loopforge.runtime.ports import RoomFiles, ToolCall

NOT_HERE = "it is not here"
HELD = "it holds a key or password of this home"


async def resolve_attachments(
    files: RoomFiles,
    call: ToolCall,
    plan: AgentActionPlan,
    egress: EgressFilter,
    before: Sequence[str],
    longest: int,
) -> dict[str, File | str]:
    """The files that a plan names by handle, as a line holds them; or why one stays.

    `call` says for whom. `before` is what mates said here, newest first. Others read what stands in
    a file of at most `longest` bytes of text.
    """
    named = (handle for act in plan.acts if isinstance(act, Say) for handle in act.attach)
    return {
        handle: await _attached(files, call, handle, egress, before, longest)
        for handle in dict.fromkeys(named)
    }


async def _attached(
    files: RoomFiles,
    call: ToolCall,
    handle: str,
    egress: EgressFilter,
    before: Sequence[str],
    longest: int,
) -> File | str:
    try:
        file = await files.file(call, handle)
        text = await _read(files, call, file)
    except LoopforgeError:
        return NOT_HERE
    name = str(file.name)
    if egress.finish_file(name)[1] or egress.finish_file(text)[1]:
        return HELD
    if egress.leak([name, text], before):
        return HELD
    size = len(text.encode("utf-8", "replace"))
    shown = text if 0 < size <= longest else ""
    return replace(
        file,
        text=Words(shown) if shown else public_words(""),
        length=size if shown and file.media in DOCUMENTS else 0,
    )


async def _read(files: RoomFiles, call: ToolCall, file: File) -> str:
    """What can be read of a file; "" where there are no words in it."""
    if file.media in PICTURES:
        return ""
    try:
        return (await files.text(call, str(file.hash)))[1]
    except InputError:
        return ""
