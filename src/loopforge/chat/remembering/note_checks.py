"""What a mate wants kept of a talk is checked against the talk: by code, not by a model.

    cites lines that were there, and says what they say    kept, resting on them
    cites none, but some hold its words                    kept, resting on those
    says more than those, in words that no line has        rests, too, on a line of each part of the
                                                           talk that some of their hearers missed
    no line holds enough of it                             refused
    a core memory                                          rests on all lines; travels if it holds
                                                           no person, no quote and no fact, and
                                                           nobody gave a file or picture
    a word of the room                                     rests on the lines that hold it, of which
                                                           there must be two

Whoever it is about is told by name, and must be somebody of the room; else it is about whoever said
it. What a stranger, a bot or a tool said is kept as untrusted.
"""

from collections.abc import Collection, Sequence
from typing import get_args

from msgspec import Struct

from loopforge.chat.room.room_state import RoomState
from loopforge.core.action_plan import Act
from loopforge.core.context_window import ContextEntry
from loopforge.core.effect_states import EffectFailed, EffectProposed
from loopforge.core.events import Event, kind_of
from loopforge.core.mates.mate_file import Mate
from loopforge.core.memory.evidence_overlap import (
    Stems,
    is_supported_by,
    stems_of,
    supporting_lines,
)
from loopforge.core.memory.memory_travel import LONGEST_CORE, may_travel
from loopforge.core.memory.memory_vocabulary import EvidenceLine, Layer, MemoryKept
from loopforge.core.room_vocabulary import Remember, StaySilent
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.text.topics import fold_case, written_words
from loopforge.core.turn_events import Verdict
from loopforge.memory.memory_store import LONGEST_ITEM

LAYERS: tuple[str, ...] = tuple(layer for layer in get_args(Layer) if layer != "insight")
UNSUPPORTED = "No line that it cites says so."
USES, LONGEST_WORD = 2, 200
"""Lines that must hold a word for it to be one of the room's; characters of what is kept of it."""
LONG_LESSON = 160
MOST_LESSONS = 3


class NotedTalk(Struct, frozen=True, kw_only=True):
    """The lines that a mate looks back on, and their room; of each its stems, and who heard it."""

    room: RoomState
    mate: Mate
    entries: tuple[ContextEntry, ...]
    stems: tuple[Stems, ...]
    hearers: tuple[frozenset[str], ...]


def noted_talk(
    room: RoomState,
    mate: Mate,
    entries: Sequence[ContextEntry],
    hearers: Sequence[frozenset[str]],
) -> NotedTalk:
    """The talk of these lines."""
    stems = tuple(stems_of(str(entry.text), entry.given) for entry in entries)
    return NotedTalk(
        room=room, mate=mate, entries=tuple(entries), stems=stems, hearers=tuple(hearers)
    )


class CheckedNote(Struct, frozen=True):
    """What is said of an act, and the item that it comes to."""

    verdict: Verdict
    item: MemoryKept | None = None


def check_note(act: Act, talk: NotedTalk) -> CheckedNote:
    """Whether what an act wants kept rests on the talk."""
    if isinstance(act, StaySilent):
        return CheckedNote(Verdict(act="stay_silent", allowed=True))
    if not isinstance(act, Remember):
        why = "When notes are taken, nothing else is done."
        return CheckedNote(Verdict(act=kind_of(act), allowed=False, rule="notes", why=why))
    layer: Layer = act.layer if act.layer in LAYERS else "note"  # type: ignore[assignment]
    said = f"“{act.subject}”: {act.text.strip()}" if layer == "word" else act.text.strip()
    text, grounds = said[:LONGEST_ITEM], _grounds(act, talk)
    if not text or not grounds or not _holds(text, layer, talk, grounds):
        return CheckedNote(Verdict(act="remember", allowed=False, rule="evidence", why=UNSUPPORTED))
    item = _item(act, text, layer, grounds, talk)
    return CheckedNote(Verdict(act="remember", allowed=True), item)


def _grounds(act: Remember, talk: NotedTalk) -> list[ContextEntry]:
    """The lines that an act rests on: of a core memory all; else those cited, and those it repeats.

    What it says may be from a line that it does not cite: whoever did not hear that one is not to
    hear this, either.
    """
    if act.layer == "core":
        return list(talk.entries)
    if act.layer == "word":
        return [entry for entry in talk.entries if _has(str(entry.text), act.subject)]
    cited = {entry.id for entry in talk.entries if entry.seq in act.lines}
    near = supporting_lines(act.text, talk.stems)
    wanted = cited | {talk.entries[place].id for place in near}
    wanted |= _parts_missed(act.text, talk, wanted)
    return [entry for entry in talk.entries if entry.id in wanted]


def _parts_missed(text: str, talk: NotedTalk, wanted: Collection[str]) -> set[str]:
    """The first line of each part of the talk that somebody missed who heard those wanted.

    None where the text says nothing beyond those lines: else it may be of any line, in other words.
    """
    places = [at for at, entry in enumerate(talk.entries) if entry.id in wanted]
    names = " ".join(
        str(one.name) for one in (*talk.room.people.values(), *talk.room.former.values())
    )
    known = stems_of("", f"{names} {talk.mate.name}").union(*(talk.stems[at] for at in places))
    if not places or stems_of(text) <= known:
        return set()
    heard = frozenset.intersection(*(talk.hearers[at] for at in places))
    parts = dict(zip(talk.hearers[::-1], talk.entries[::-1], strict=True))
    return {entry.id for there, entry in parts.items() if not heard <= there}


def _has(text: str, word: str) -> bool:
    """Whether a word, or some, stand in a text, as they are."""
    said, wanted = (list(map(fold_case, written_words(each))) for each in (text, word))
    return bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(said)} "


def _holds(text: str, layer: Layer, talk: NotedTalk, grounds: Sequence[ContextEntry]) -> bool:
    if layer == "core":
        return len(text) <= LONGEST_CORE
    if layer == "word":
        return len(grounds) >= USES and len(text) <= LONGEST_WORD
    those = {entry.id for entry in grounds}
    stems = zip(talk.entries, talk.stems, strict=True)
    return is_supported_by(text, [held for entry, held in stems if entry.id in those])


def _item(
    act: Remember, text: str, layer: Layer, grounds: Sequence[ContextEntry], talk: NotedTalk
) -> MemoryKept:
    told = {entry.who for entry in grounds if entry.kind == "heard"}
    one = next(iter(told)) if len(told) == 1 else ""
    named = _people(act.about, talk.room)
    named += [id for id in mentioned_people(text, talk.room) if id not in named]
    about = tuple(named) or ((one,) if one and layer in ("fact", "instruction") else ())
    everybody = (*talk.room.people.values(), *talk.room.former.values())
    names = [str(person.name) for person in everybody]
    names += [talk.mate.name, *talk.room.mates]
    said = [str(entry.text) for entry in talk.entries]
    free = layer == "core" and not any(entry.files for entry in talk.entries)
    return MemoryKept(
        layer=layer,
        text=Words(text),
        made_by="idle",
        evidence=tuple(EvidenceLine(talk.room.stream, e.seq, e.id) for e in grounds),
        about=about,
        told_by=one,
        subject=Words(act.subject) if act.subject else public_words(""),
        room=talk.room.stream,
        travels=free and may_travel(text, names, said),
        trusted=not any(entry.untrusted or entry.bot for entry in grounds),
    )


def _people(names: Sequence[str], room: RoomState) -> list[str]:
    """The ids of the persons of the room that are called so; of two of one name, neither."""
    known: dict[str, list[str]] = {}
    for id, person in (*room.former.items(), *room.people.items()):
        known.setdefault(fold_case(str(person.name)), []).append(id)
    found = (dict.fromkeys(known.get(fold_case(name.strip().strip('@“”"')), ())) for name in names)
    return [next(iter(ids)) for ids in found if len(ids) == 1]


def mentioned_people(text: str, room: RoomState) -> list[str]:
    """The persons of the room whose names stand in a text."""
    said = f" {' '.join(map(fold_case, written_words(text)))} "
    people = (*room.former.items(), *room.people.items())
    names = [(id, " ".join(map(fold_case, written_words(str(one.name))))) for id, one in people]
    return list(dict.fromkeys(id for id, name in names if name and f" {name} " in said))


def lessons_from_failures(events: Sequence[Event], mate: str) -> list[MemoryKept]:
    """What a mate's tools failed at, each once: the tool, with what, and what it said.

    `events` are failures, and the proposals that they go back to.
    """
    proposed = {e.id: e for e in events if isinstance(e.body, EffectProposed)}
    kept: dict[str, MemoryKept] = {}
    for event in events:
        if not isinstance(event.body, EffectFailed) or event.body.value.text is None:
            continue
        began = proposed.get(event.body.effect)
        if began is None or began.actor != f"mate:{mate}":
            continue
        assert isinstance(began.body, EffectProposed)
        told = " ".join(event.body.value.text.split())
        why = told.removeprefix(f"{began.body.tool} failed: ")[:LONG_LESSON]
        given = " ".join(str(began.body.arguments).split())[:LONG_LESSON]
        text = f"The tool {began.body.tool} failed with {given}: {why}"
        kept[f"{began.body.tool} {why}"] = MemoryKept(
            layer="lesson",
            text=Words(text[:LONGEST_ITEM]),
            made_by="tool",
            evidence=(
                EvidenceLine(began.stream, began.seq, began.id),
                EvidenceLine(event.stream, event.seq, event.id),
            ),
            room=event.stream,
            trusted=False,
        )
    return list(kept.values())[-MOST_LESSONS:]
