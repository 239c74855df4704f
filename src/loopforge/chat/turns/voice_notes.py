"""Voice notes: which line has one that is to be written down, and what comes of that.

    heard -> a turn of the room's own mind, by a model that hears -> the line, edited by the room
          -> or it is too large, one too many, or no sound        -> or a sentence why not

The line is weighed after that, so that who is called by a voice note hears it. Its words are the
sender's, as if they had typed them: they belong to whoever sent it, and are forgotten with them.
Does not know how sound is sent to a model.
"""

from collections.abc import Sequence

from loopforge.artifacts.media_types import BYTES
from loopforge.chat.room.permissions import is_answerable
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.turns.apply_acts import ActsOutcome, delivery_facts
from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.context_window import (
    LARGEST_SOUND,
    MANY,
    MOST_SOUNDS,
    ContextEntry,
    sounds_of,
)
from loopforge.core.edited_lines import caption_lengths, join_captions, split_captions
from loopforge.core.room_vocabulary import File, Heard, LineEdited, Transcribe
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Verdict
from loopforge.runtime.system_clock import Stamp

LONGEST = 40_000
"""Characters of what is written down of one line: an hour of speech has some 50,000."""
FAILED = "What {name} said in a voice note could not be written down ({why}): no mate knows it."
LEFT = "{what} of {name} {were} not listened to ({why}): no mate knows what is said there."
LARGE = f"one may have {LARGEST_SOUND // 1_000_000} MB at most"
MORE = f"{MANY[MOST_SOUNDS]} of one line are"
STRANGE = "it holds no sound that is known here"
CALLED = ("mp3", "m4a", "ogg", "oga", "opus", "wav", "flac", "aac", "amr", "wma", "aif", "aiff")
"""How names of sound files end, whatever is in them."""


def oldest_untranscribed(state: RoomState) -> str:
    """The oldest line that waits to be weighed and has a voice note which nobody listened to."""
    if state.stopped:
        return ""
    waiting = (
        entry.id
        for entry in state.pending()
        if _counts(state, entry)
        and not entry.transcribed
        and entry.id not in state.turns.listened
        and sounds_of(entry)
    )
    return next(waiting, "")


def skipped_audio_notices(state: RoomState, entries: Sequence[ContextEntry]) -> list[str]:
    """What the room says of sounds in these lines that are not given to the model that hears."""
    told = list[str]()
    for entry in entries:
        if _counts(state, entry) and (whys := _whys(entry)):
            what, were = (
                ("A voice note", "was") if len(whys) == 1 else (f"{len(whys)} voice notes", "were")
            )
            name, why = str(entry.name) or "somebody", "; ".join(dict.fromkeys(whys))
            told.append(LEFT.format(what=what, were=were, name=name, why=why))
    return told


def _counts(state: RoomState, entry: ContextEntry) -> bool:
    """Whether what is said in a line's voice notes is listened to."""
    return entry.kind == "heard" and not entry.bot and is_answerable(state, entry)


def _whys(entry: ContextEntry) -> list[str]:
    """Why sounds of a line are not listened to, each."""
    given = sounds_of(entry)
    rest = [file for at, file in enumerate(entry.files) if (entry.id, at) not in given]
    return [_why(file) for file in rest if file.hash.text and _sounds(file)]


def _why(file: File) -> str:
    if not file.media.startswith("audio/"):
        return STRANGE
    return LARGE if file.size > LARGEST_SOUND else MORE


def _sounds(file: File) -> bool:
    """Whether it is a sound, or is named as one and nothing can be made of what is in it."""
    ending = (file.name.text or "").rpartition(".")[2].lower()
    return file.media.startswith("audio/") or (ending in CALLED and file.media == BYTES)


def add_transcript(
    state: RoomState,
    plan: AgentActionPlan,
    verdicts: Sequence[Verdict],
    stamp: Stamp,
    turn: str,
    line: str,
) -> ActsOutcome:
    """The line with what is said in its voice notes: under what was typed, as a quotation."""
    judged = zip(plan.acts, verdicts, strict=True)
    words = [act.text for act, can in judged if can.allowed and isinstance(act, Transcribe)]
    entry = state.lines.get(line)
    if not words or entry is None:
        return ActsOutcome()
    told = words[0] if len(words[0]) <= LONGEST else f"{words[0][:LONGEST]} …"
    told = _beside(entry.text.text or "", told)
    body = LineEdited(line=line, text=Words(told), by="room")
    fact = stamp.fact(body, actor=f"person:{entry.who}", cause=turn)
    others = [place for place in state.places if place != entry.surface]
    return ActsOutcome(facts=[fact, *delivery_facts(fact, others, stamp, "edit")], spoke=True)


def merge_edited_text(
    heard: Heard, edits: Sequence[LineEdited], text: str, message: str
) -> tuple[str, tuple[int, ...]]:
    """What a line says once its sender typed other words: what is said in its notes stays there.

    `message` is the one that has these words; of several the others' stay, and it is told how much
    each says. `edits` is what became of the line since.
    """
    typed, told, captions = heard.text.text or "", "", heard.captions
    for edit in edits:
        words = edit.text.text or ""
        if edit.transcribed and not told:
            told = words.removeprefix(_beside(typed, ""))
            if typed.strip():
                told = "\n".join(row.removeprefix("> ") for row in told.splitlines())
        elif not edit.transcribed:
            typed = "" if words == told else words.removesuffix(_beside(".", told)[1:])
            captions = edit.captions or captions
    if captions:
        parts = split_captions(typed, captions)
        parts[(heard.source, *heard.pieces).index(message)] = text
        text, captions = join_captions(parts), caption_lengths(parts)
    return (_beside(text, told) if told else text), captions


def _beside(typed: str, told: str) -> str:
    """What is said in a note, as a quotation under what was typed."""
    if not (typed := typed.strip()):
        return told
    quoted = "\n".join(f"> {row}" for row in told.splitlines())
    return f"{typed}\n\n{quoted}"


def transcript_failure_notice(state: RoomState, line: str, why: str) -> str:
    """What the room says where nothing was written down; "" where the line is gone."""
    entry = state.lines.get(line)
    return FAILED.format(name=str(entry.name) or "somebody", why=why) if entry else ""
