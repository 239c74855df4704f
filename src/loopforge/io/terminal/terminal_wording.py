"""How a room's events read: names, times, sentences. Shared by all forms of the terminal.

Pure; knows nothing of colours and screens.
"""

from datetime import date, datetime, tzinfo

from loopforge.chat.room.event_wording import deletion_text, edit_text, event_sentence
from loopforge.core.edited_lines import Revised
from loopforge.core.events import Event
from loopforge.core.model_trouble import fixes_for_owner
from loopforge.core.room_vocabulary import (
    Heard,
    LineDeleted,
    LineEdited,
    Said,
    Told,
)
from loopforge.io.terminal.client_state import ClientState
from loopforge.io.terminal.typed_lines import one_line, safe_for_terminal
from loopforge.runtime.ports import ToolProgress

WIDEST_BAR = 12
_PLAINER = {ord(mark): None for mark in "*`"}


def clock_time(at: datetime, zone: tzinfo | None = None) -> str:
    """Such as 14:05, in a zone, by default the machine's."""
    return f"{at.astimezone(zone):%H:%M}"


def long_date(when: date) -> str:
    """Such as Thursday, 8 October 2026."""
    return f"{when:%A}, {when.day} {when:%B} {when.year}"


def energy_bar(energy: int, capacity: int) -> str:
    """Such as ▮▮▮▯▯▯; a wide one is drawn to scale, and never full or empty unless it is."""
    if capacity <= 0:
        return "▯"
    energy = min(max(energy, 0), capacity)
    width = min(capacity, WIDEST_BAR)
    filled = round(energy * width / capacity)
    if 0 < energy < capacity:
        filled = min(max(filled, 1), width - 1)
    return "▮" * filled + "▯" * (width - filled)


def line_reference(event: Event) -> str:
    """How a line is named in commands: #12."""
    return f"#{event.seq}"


def files_of(event: Event) -> list[str]:
    """The files of a line, such as "notes.txt, 1,204 bytes"."""
    if not isinstance(event.body, Heard | Said):
        return []
    return [
        f"{safe_for_terminal(str(file.name))}, {file.size:,} bytes" for file in event.body.files
    ]


def line_text(event: Event, minutes: ClientState) -> str:
    """The words of a line as it stands; of a deleted one, that it was deleted."""
    if isinstance(event, Revised) and event.revision.deleted:
        who = minutes.scene.author(event.revision.by)
        return f"(deleted by {who})" if who else "(deleted on the platform where it was said)"
    return str(event.body.text) if isinstance(event.body, Heard | Said | Told) else ""


def tool_progress_text(use: ToolProgress) -> str:
    """What a tool is used for, and how far it is: "uses fetch: page 3 of 4, 75 %"."""
    done = "" if use.part is None else f"{use.part:.0%}".replace("%", " %")
    how = ", ".join(each for each in (safe_for_terminal(use.text), done) if each)
    return f"uses {use.tool}: {how}" if how else f"uses {use.tool}…"


def line_quotation(event: Event | None, minutes: ClientState, most: int = 60) -> str:
    """A line in short, for replies and lists."""
    if event is None:
        return "an earlier line"
    body = event.body
    if not isinstance(body, Heard | Said | Told):
        return line_reference(event)
    text = line_text(event, minutes).translate(_PLAINER).strip() or ", ".join(files_of(event))
    name = minutes.speaker(event)
    return one_line(f"{name}: {text}" if name else text, most)


def notice_sentence(event: Event, minutes: ClientState) -> str | None:
    """What an event other than a line reads like; None for what nobody need read."""

    def about(id: str) -> str:
        line = minutes.line(id)
        return f"“{line_quotation(line, minutes, 40)}”" if line else "an earlier line"

    match event.body:
        case Told(text=text, mend=mend):
            more = f" For the owner: {fixes_for_owner(mend)}." if mend else ""
            return safe_for_terminal(f"{text}{more}")
        case LineEdited() | LineDeleted():
            return _changed(event.body, minutes)
        case _:
            return event_sentence(
                event.body, minutes.scene, lambda words: one_line(words, 200), about
            )


def _changed(body: LineEdited | LineDeleted, minutes: ClientState) -> str:
    line = minutes.line(body.line)
    which = line_reference(line) if line else "an earlier line"
    if isinstance(body, LineDeleted):
        return deletion_text(body, minutes.scene, which)
    told = edit_text(body, minutes.scene, which).removesuffix(".")
    return f"{told}: {one_line(str(body.text), 200)}"
