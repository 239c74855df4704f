"""Which of a room's events people see, and how they read on whichever surface.

Pure. Does not cover what each surface says in its own way (edits, deletions, notices), nor markup:
a surface that shortens other people's words gives `quote`, which is put over them, and one that
tells which line is meant gives `about`.
"""

from collections.abc import Callable

from loopforge.chat.room.permissions import MATE, WHOM, Grant, grant_sentence, unasked_wording
from loopforge.chat.room.room_snapshot import RoomSnapshot
from loopforge.core.edited_lines import Revised
from loopforge.core.events import AnyBody, Event
from loopforge.core.limits import turn_bounds
from loopforge.core.room_vocabulary import (
    BoundsSet,
    ConversationBegan,
    ConversationEnded,
    DefaultMateSet,
    EnergySet,
    Heard,
    LineDeleted,
    LineEdited,
    LinePinned,
    Marked,
    MateJoined,
    MateLeft,
    PaceSet,
    PersonJoined,
    PersonLeft,
    PersonReacted,
    PlaceJoined,
    PlaceLeft,
    PlaceRenamed,
    PolicyChosen,
    Reacted,
    RightsSet,
    Said,
    Stopped,
    TalkSet,
    Titled,
    UnpromptedSet,
)

ERASED = "ledger.erased"
"""Texts were forgotten: whoever shows some of the room looks at it anew."""
CHANGES = (
    "room.marked",
    "room.reacted",
    "room.person_reacted",
    "room.line_pinned",
    "room.line_edited",
    "room.line_deleted",
)
"""Events that change a line."""
UNCHANGING = (
    "room.heard",
    "room.said",
    "room.told",
    "room.person_joined",
    "room.person_left",
    "room.mate_joined",
    "room.mate_left",
    "room.stopped",
    "room.conversation_began",
    "room.conversation_ended",
    "room.titled",
    "room.energy_set",
    "room.policy_chosen",
    "room.place_joined",
    "room.place_left",
    "room.place_renamed",
    "room.talk_set",
    "room.unprompted_set",
    "room.pace_set",
    "room.rights_set",
    "room.default_mate_set",
    "room.bounds_set",
)
SHOWN = (*UNCHANGING, *CHANGES)
"""The kinds of event that people may see of a room's past."""
MARKED = {"keep": "Kept in mind", "spent": "Left out first", "none": "Mark taken off"}


def event_sentence(
    body: AnyBody,
    scene: RoomSnapshot,
    quote: Callable[[str], str] = str,
    about: Callable[[str], str] = lambda _: "a line",
) -> str | None:
    """What an event reads like; None for those that have no sentence here."""
    match body:
        case LineEdited():
            return edit_text(body, scene)
        case LineDeleted():
            return deletion_text(body, scene)
        case PersonJoined(name=name):
            return f"{quote(str(name))} came in."
        case ConversationBegan(why=why):
            return None if why == "first" else "A new conversation. Mates start from a clean page."
        case ConversationEnded(why=why):
            return "The conversation ended" + (" after a long silence." if why == "idle" else ".")
        case Titled(title=title) if not title:
            return "The room will find a title of its own."
        case Titled(title=title, by=by):
            named = "The room is called" if by == "room" else f"{scene.person(by)} called the room"
            return f"{named} “{quote(str(title))}”."
        case Reacted(mate=mate, to=to, emoji=emoji):
            return f"{scene.mate(mate).name} put {quote(emoji)} on {about(to)}."
        case PersonReacted(person=person, to=to, emoji=emoji, back=back):
            did = ("took", "off") if back else ("put", "on")
            return f"{scene.person(person)} {did[0]} {quote(emoji)} {did[1]} {about(to)}."
        case LinePinned(person=person, line=line, back=back):
            does = "no longer pins" if back else "pinned"
            return f"{scene.person(person)} {does} {about(line)}."
        case EnergySet(capacity=capacity, refill=refill):
            gives = f"each line of a person allows {refill} more."
            return f"Mates may say {capacity} lines here before they wait for a person; {gives}"
        case PolicyChosen(policy=policy, mate=mate):
            who = scene.mate(mate).name if mate else "Everybody"
            if not policy:
                return f"No policy is chosen for {who if mate else 'everybody'} any more."
            return f"{who} thinks by the policy “{policy}” now."
        case Marked(line=line, mark=mark):
            return f"{MARKED[mark]}: {about(line)}."
        case PersonLeft(person=person):
            return f"{scene.person(person)} left."
        case MateJoined(mate=mate):
            return f"{scene.mate(mate).name} is here."
        case MateLeft(mate=mate):
            return f"{scene.mate(mate).name} left."
        case Stopped(person=person):
            who = scene.person(person)
            return f"{who} said stop. Mates stay still until somebody speaks to them."
        case PlaceJoined(place=place, name=name):
            where = f"“{quote(str(name))}” on {platform_name(place)}"
            return f"{where} is part of this room now: what is said in one is said in all."
        case PlaceLeft(place=place, why=why):
            gone = f"A place on {platform_name(place)} is part of this room no longer"
            return f"{gone}: {quote(str(why))}"
        case PlaceRenamed(place=place, name=name):
            return f"A place on {platform_name(place)} is called “{quote(str(name))}” now."
        case TalkSet(free=free):
            how = "without being called" if free else "only when they are called"
            return f"Mates may speak here {how} now."
        case PaceSet(kept=kept):
            return f"Mates {'take the time that typing takes' if kept else 'answer at once'} here."
        case UnpromptedSet(allowed=allowed):
            how = "may speak up" if allowed else "do not speak up"
            return f"Mates {how} here by themselves now."
        case RightsSet(who=who, rights=rights, tools=tools):
            grant = Grant(rights=rights, tools=tools)
            if who.startswith(MATE):
                return unasked_wording(who.removeprefix(MATE), grant)
            return grant_sentence(WHOM.get(who) or scene.person(who), grant)
        case BoundsSet(bounds=bounds):
            return f"Limits of tools in one turn here: {turn_bounds.said(bounds)}."
        case DefaultMateSet(mate=mate):
            named = scene.mate(mate).name if mate else "nobody in particular"
            return f"Lines to mates that name none of them go to {named} from now on."
        case _:
            return None


def edit_text(body: LineEdited, scene: RoomSnapshot, about: str = "a line") -> str:
    """What an edit reads like."""
    if body.transcribed:
        return f"What is said in the voice note of {about} was written down."
    if body.turn:
        return f"{scene.mate(body.by.removeprefix('mate:')).name} said {about} anew."
    who = scene.author(body.by) or "Somebody"
    return f"{who} {'chose another version of' if body.version else 'edited'} {about}."


def deletion_text(body: LineDeleted, scene: RoomSnapshot, about: str = "a line") -> str:
    """What a deletion reads like."""
    if who := scene.author(body.by):
        return f"{who} deleted {about}."
    return f"{about[:1].upper()}{about[1:]} was deleted on the platform where it was said."


def line_asides(event: Event) -> list[str]:
    """What is said quietly beside a line: where and who they are, and whether it was changed."""
    body, found = event.body, []
    if isinstance(body, Heard):
        known = {"a bot": body.bot, "not known here": body.untrusted, "came late": body.late}
        found = [f"on {platform_name(body.surface)}"] if ":" in body.surface else []
        found += [told for told, holds in known.items() if holds]
    if isinstance(body, Said) and body.cut:
        found = ["stopped here"]
    if isinstance(event, Revised) and not event.revision.deleted and event.revision.aside:
        found.append(event.revision.aside)
    return found


def platform_name(place: str) -> str:
    """What people call the surface of a place: platforms bear names, a terminal is just one."""
    name, colon, _ = place.partition(":")
    return name.capitalize() if colon else name
