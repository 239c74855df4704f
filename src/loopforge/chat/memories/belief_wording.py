"""What mates keep, in words and for programs: the same for commands, pages and exports."""

from typing import Any
from zoneinfo import ZoneInfo

from loopforge.chat.memories.memory_service import Belief

STATES = {
    "held": "",
    "superseded": "no longer so",
    "invalidated": "not used",
    "dropped": "let go",
    "forgotten": "forgotten",
}
LAYERS = {
    "note": "a note",
    "final": "a note at the end of a talk",
    "core": "a core memory",
    "fact": "a fact",
    "instruction": "an instruction",
    "saved": "saved by a tool",
    "lesson": "a lesson",
    "reflection": "a look back",
    "insight": "an insight",
    "word": "a word of a room",
}


def belief_labels(belief: Belief, zone: ZoneInfo) -> list[str]:
    """What is to be said of an item beside its words: what it is, from when, how it stands."""
    item = belief.item
    said = [LAYERS[item.layer], f"{item.at.astimezone(zone):%d %b %Y}"]
    if item.since:
        said.append(f"since {item.since.astimezone(zone):%d %b %Y}")
    if item.until:
        said.append(f"until {item.until.astimezone(zone):%d %b %Y}")
    said += [STATES[item.state]] if STATES[item.state] else []
    said += ["locked"] if item.locked else []
    return said + ([belief.doubt] if belief.doubt else [])


def belief_row(belief: Belief) -> dict[str, Any]:
    """For programs: the item, its state and validity, the lines that it rests on."""
    item = belief.item

    def time(at: Any) -> str:
        return at.isoformat(timespec="seconds") if at else ""

    return {
        "mate": item.mate,
        "number": item.seq,
        "id": item.id,
        "layer": item.layer,
        "text": belief.text,
        "state": item.state,
        "doubt": belief.doubt,
        "locked": item.locked,
        "at": time(item.at),
        "since": time(item.since),
        "until": time(item.until),
        "made_by": item.made_by,
        "about": list(item.about),
        "told_by": item.told_by,
        "shared": list(belief.shared),
        "evidence": [
            {"at": time(one.at), "who": one.who, "room": one.room, "text": one.text}
            for one in belief.evidence
        ],
        "evidence_not_shown": belief.hidden,
    }
