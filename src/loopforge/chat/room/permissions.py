"""Permissions: who may do what in a room, and whose tools mates may use for whom.

    talk     their lines are answered           change   title, energy, who is here, rights, ...
    stop     halt everything mates do           tools    tools beyond the harmless ones, by name

Where nobody set anything: in a room without a place of a platform, and in private places,
everybody may do everything. In a group or a thread everybody may talk and stop; the rest is for
keepers (who may manage that place on its platform) and for the home's owner, who may do everything
everywhere. What is set for one person counts alone; keepers have what everyone has as well. Nobody
gives others more than they may do themselves. What is set for a mate are tools that
it uses here without asking first, though they ask: a standing yes.

Pure. Does not know how a keeper is found out: the surface says it, and a line says it of itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import asdict, replace

from loopforge.chat.room.participants import RoomPlace
from loopforge.core.context_window import ContextEntry
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.limits.line_origin import LineOrigin
from loopforge.core.policy import Call
from loopforge.core.room_vocabulary import Right
from loopforge.core.text.spoken_lists import join_as_prose
from loopforge.core.text.taint_tracking import stands_in, tainted_arguments
from loopforge.runtime.ports import CallPermission, Tool

RIGHTS: tuple[Right, ...] = ("talk", "stop", "change", "tools")
EVERYONE, KEEPERS = "everyone", "keepers"
MATE = "mate:"
"""Before a mate's handle, in place of a person's id: what is set are tools it need not ask for."""
ASK = "ask"
"""In place of rights: the mate asks again before each use."""
Given = Sequence[tuple[str, str]]
"""What tools gave a program, by their names."""
ANY = "*"
"""In place of the names of tools: all of them."""
MEANING: dict[Right, str] = {
    "talk": "be answered by mates",
    "stop": "stop mates",
    "change": "change the room",
    "tools": "have mates use tools",
}


class Grant(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What somebody may do; `tools` as in RightsSet."""

    rights: tuple[Right, ...] = ()
    tools: tuple[str, ...] = ()

    def __or__(self, other: Grant) -> Grant:
        """Both together."""
        rights = tuple(right for right in RIGHTS if right in (*self.rights, *other.rights))
        return Grant(rights=rights, tools=tuple(dict.fromkeys((*self.tools, *other.tools))))

    def holds(self, other: Grant) -> bool:
        """Whether all of the other is in this one."""
        tools = other.tools if "tools" in other.rights else ()
        mine = self.tools if "tools" in self.rights else ()
        return set(other.rights) <= set(self.rights) and (ANY in mine or set(tools) <= set(mine))


FULL = Grant(rights=RIGHTS, tools=(ANY,))
TALK = Grant(rights=("talk", "stop"))


class PermissionFacts(Protocol):
    """What must be known of a room: its places, what was set, and its lines by id."""

    @property
    def places(self) -> Mapping[str, RoomPlace]:
        """The places of platforms that are part of it, by key."""

    @property
    def rights(self) -> Mapping[str, Grant]:
        """What was set, by person, EVERYONE, KEEPERS, or MATE with a mate's handle."""

    @property
    def lines(self) -> Mapping[str, ContextEntry]:
        """Its lines, by id."""


# ---------------------------------------------------------------- what a person may do


def grant_in_room(
    state: PermissionFacts, person: str, *, keeper: bool = False, owner: bool = False
) -> Grant:
    """All that a person may do in a room; `person` "" is somebody at the machine itself."""
    if owner or not person:
        return FULL
    if person in state.rights:
        return state.rights[person]
    crowded = any(place.kind != "private" for place in state.places.values())
    everyone = state.rights.get(EVERYONE, TALK if crowded else FULL)
    return everyone | state.rights.get(KEEPERS, FULL) if keeper else everyone


def may(
    state: PermissionFacts, person: str, right: Right, *, keeper: bool = False, owner: bool = False
) -> bool:
    """Whether a person may do this in a room."""
    return right in grant_in_room(state, person, keeper=keeper, owner=owner).rights


def may_close(opener: str, person: str, *, owner: bool = False) -> bool:
    """Whether somebody may delete a room: who opened it, the owner, who is at the machine."""
    return owner or not person or (bool(opener) and opener == person)


def who_may(state: PermissionFacts, right: Right) -> str:
    """Who may do this, in words, such as "the owner of this home"."""
    if right in grant_in_room(state, "?").rights:
        return "everybody here"
    if right in grant_in_room(state, "?", keeper=True).rights:
        return "whoever manages this channel or chat, and the owner of this home"
    return "the owner of this home"


WHOM = {EVERYONE: "Everybody here", KEEPERS: "Whoever manages a channel or chat of this room"}


def grant_sentence(who: str, grant: Grant) -> str:
    """What somebody may do, as a sentence; `who` is as it begins."""
    doing = [MEANING[right] for right in grant.rights if right != "tools"]
    if "tools" in grant.rights and grant.tools:
        named = "any tool" if ANY in grant.tools else f"the tools {', '.join(grant.tools)}"
        doing.append(f"have mates use {named}")
    return f"{who} may {join_as_prose(doing) or 'do nothing here but read'}."


def unasked_wording(mate: str, grant: Grant) -> str:
    """What a mate uses without asking, as a sentence."""
    if not grant.tools:
        return f"{mate} asks before each use of a tool that asks first."
    tools = ", ".join(grant.tools)
    return f"{mate} uses {tools} here without asking; /rights {mate} {ASK} ends it."


# ---------------------------------------------------------------- tools


def tools_for(
    state: PermissionFacts,
    person: str,
    tools: Iterable[Tool],
    *,
    keeper: bool = False,
    owner: bool = False,
    untrusted: bool = False,
) -> frozenset[str]:
    """The tools, by name, that a mate may use for a person."""
    grant = grant_in_room(state, person, keeper=keeper, owner=owner)
    named = grant.tools if "tools" in grant.rights and not untrusted else ()
    return frozenset(
        tool.name
        for tool in tools
        if (tool.idempotent and tool.harmless) or ANY in named or tool.name in named
    )


def tools_in_turn(
    state: PermissionFacts, lines: Sequence[str], tools: Sequence[Tool]
) -> frozenset[str]:
    """The tools that a mate may use in a turn about these lines: what all their speakers may."""
    left = frozenset(tool.name for tool in tools)
    for line in lines or ("",):
        entry = originating_line(state, line)
        if entry is None:
            left &= tools_for(state, "?", tools, untrusted=lost_origin(state, line))
            continue
        for person in (entry.who, *entry.beside):
            left &= tools_for(
                state,
                person,
                tools,
                keeper=entry.keeper,
                owner=entry.owner,
                untrusted=entry.untrusted,
            )
    return left


def call_permission(
    state: PermissionFacts,
    mate: str,
    own: Collection[str],
    lines: Sequence[str],
    call: Call,
    tools: Sequence[Tool],
    gave: Given = (),
) -> CallPermission:
    """May this call run, for whom, and is somebody asked first; `own` are the mate's tools.

    `gave` is what tools gave the program that makes it, by their names.

    It may where the mate has the tool, and everybody whom the turn answers may have it used: for a
    stranger that is what a stranger may. A standing yes spares the question, not the right, and is
    none for strangers. Whoever `may_answer` says yes or no to a question.
    """
    askers = [originating_line(state, line) for line in lines]
    people = answered_people(state, lines)
    granted = frozenset(own) & tools_in_turn(state, lines, tools)
    if call.tool not in granted:
        return CallPermission("refused", "grant", people, granted)
    known = {tool.name: tool for tool in tools}
    asks = known[call.tool].asks
    if not asks and not asks_first(state, mate, call, tools, gave):
        return CallPermission("runs", "rights", people, granted)
    if known[call.tool].owner:
        return CallPermission("asks", "rights", people, granted)
    trusted = [entry for entry in askers if entry is not None and not entry.untrusted]
    if trusted == askers and call.tool in preapproved_tools(state, mate):
        return CallPermission("runs", "a standing yes", people, granted)
    return CallPermission("asks", "rights", people, granted)


def may_answer(
    state: PermissionFacts,
    person: str,
    tool: str,
    tools: Iterable[Tool],
    *,
    keeper: bool = False,
    owner: bool = False,
    untrusted: bool = False,
) -> bool:
    """Whether a person may say yes or no to a use of a tool: who may have it used here.

    To some only the owner of the home may.
    """
    tools = tuple(tools)
    if needs_owner_approval(tool, tools) and (not owner or untrusted):
        return False
    given = tools_for(state, person, tools, keeper=keeper, owner=owner, untrusted=untrusted)
    return tool in given


def needs_owner_approval(tool: str, tools: Iterable[Tool]) -> bool:
    """Whether the owner of the home alone may say yes to a tool, each time anew."""
    return any(one.owner for one in tools if one.name == tool)


def is_asked_once(tool: str, tools: Iterable[Tool]) -> bool:
    """Whether a yes to a tool is a standing one: it is asked about once in a room."""
    return any(one.asks and one.once and not one.owner for one in tools if one.name == tool)


def preapproved_tools(state: PermissionFacts, mate: str) -> frozenset[str]:
    """The tools that a mate uses here without asking first, by a standing yes."""
    return frozenset(state.rights.get(MATE + mate, Grant()).tools)


def asks_first(
    state: PermissionFacts, mate: str, call: Call, tools: Iterable[Tool], gave: Given = ()
) -> bool:
    """Whether people are asked before a call because of what it sends out.

    To send for an address is to tell whoever keeps it all that stands in it. What a person gave
    here, or what a tool that finds addresses showed this mate or its program, is no news to anyone.
    """
    known = {tool.name: tool for tool in tools}
    tool = known.get(call.tool)
    if tool is None or not tool.address:
        return False
    address = str(call.arguments.get(tool.address, ""))
    if any(known[name].finds and stands_in(address, text) for name, text in gave if name in known):
        return False
    for entry in state.lines.values():
        given = entry.kind == "heard" and not (entry.bot or entry.untrusted)
        found = known.get(str(entry.name)) if entry.kind == "result" and entry.who == mate else None
        if (given or (found and found.finds)) and stands_in(address, str(entry.text)):
            return False
    return True


def borrowed_words(
    state: PermissionFacts, mate: str, call: Call, tools: Iterable[Tool], gave: Given = ()
) -> Mapping[str, str]:
    """By each argument of a call that holds words nobody here said, where it has them from.

    Those are texts that this mate was shown: what tools gave that are not trusted, what stands in
    files, and what strangers and other bots said.
    """
    trusted = {tool.name for tool in tools if tool.trusted}
    strange, own = dict[str, list[str]](), list[str]()
    for name, text in gave:
        if (tool := name.partition(",")[0]) not in trusted:
            strange.setdefault(f"`{tool}`", []).append(text)
    for entry in reversed([*state.lines.values()]):
        text = entry.text.text or ""
        tool = str(entry.name).partition(",")[0]
        if entry.kind == "result" and entry.who == mate and tool not in trusted:
            strange.setdefault(f"`{tool}`", []).append(text)
        elif entry.kind == "heard" and (entry.bot or entry.untrusted):
            strange.setdefault("a stranger", []).append(text)
        elif entry.kind == "heard":
            own.append(text)
        for file in entry.files if entry.kind == "heard" else ():
            strange.setdefault("a file", []).append(file.text.text or "")
    return tainted_arguments(call.arguments, strange, own)


def answered_people(state: PermissionFacts, lines: Sequence[str]) -> tuple[str, ...]:
    """The people whom a turn about these lines answers."""
    askers = (originating_line(state, line) for line in lines)
    return tuple(dict.fromkeys(entry.who for entry in askers if entry))


def charge_for_lines(state: PermissionFacts, lines: Sequence[str]) -> Charge | None:
    """For whom a turn about these lines is paid: whoever said the last that it goes back to."""
    askers = [found for line in lines if (found := originating_line(state, line))]
    if not askers:
        return None
    last = max(askers, key=lambda entry: entry.seq)
    return Charge(person=last.who, surface=last.surface, guest=last.guest, owner=last.owner)


def originating_line(state: PermissionFacts, line: str) -> ContextEntry | None:
    """The line of a person that a line goes back to: a mate speaks because somebody did.

    Where a routine woke it, that is the line that told of it, which bears who had set it. Where
    that line is gone, the first that is left of what came of it stands for it. As what it was said
    the nearest says that bears it: a mate that answered several may have had less.
    """
    led = [*_led_to(state, line)]
    if not led:
        return None
    begun, borne = led[-1], next((one.origin for one in led if one.origin is not None), None)
    if borne is not None:
        return replace(begun, **asdict(borne))
    return begun if begun.kind in ("heard", "told") and begun.who else None


def origin_of(state: PermissionFacts, line: str) -> LineOrigin | None:
    """Who said the line of a person that a line goes back to, and as what."""
    found = originating_line(state, line)
    if found is None:
        return None
    return LineOrigin(**{name: getattr(found, name) for name in LineOrigin.__struct_fields__})


def origin_of_answer(
    state: PermissionFacts, answers: str, lines: Sequence[str]
) -> LineOrigin | None:
    """Who said the line that a mate answers, and as what, in a turn about all these lines."""
    found = origin_of(state, answers)
    return found and (origin_of_person(state, lines, found.who) or found)


def origin_of_person(
    state: PermissionFacts, lines: Sequence[str], person: str
) -> LineOrigin | None:
    """As what a person said the last of these lines that goes back to them.

    Nobody can tell whose wish it is of all whom a turn answers: it may no more than each of them.
    """
    found = [one for line in lines if (one := origin_of(state, line)) is not None]
    last = next((one for one in reversed(found) if one.who == person), None)
    if last is None:
        return None
    less = {
        name: any(getattr(one, name) for one in found) for name in ("bot", "untrusted", "guest")
    }
    more = {name: all(getattr(one, name) for one in found) for name in ("keeper", "owner")}
    people = dict.fromkeys(who for one in found for who in (one.who, *one.beside))
    beside = tuple(who for who in people if who != last.who)
    return replace(last, beside=beside, **less, **more)


def lost_origin(state: PermissionFacts, line: str) -> bool:
    """Whether a line goes back to one that is gone, and nobody knows any more whose it was."""
    entry = state.lines.get(line)
    gone = bool(line) if entry is None else bool(entry.answers)
    return gone and originating_line(state, line) is None


def relay_depth(state: PermissionFacts, lines: Iterable[str]) -> int:
    """How many lines of mates stand between a person's line and what these set off, at most.

    They count as well where those before them are gone: no loop of mates begins anew by that.
    """
    held = (entry for line in lines if (entry := state.lines.get(line)) is not None)
    return max((entry.relayed or int(entry.kind != "heard") for entry in held), default=0)


def _led_to(state: PermissionFacts, line: str) -> Iterator[ContextEntry]:
    """A line, and what it goes back to, as far as a person's line."""
    entry = state.lines.get(line)
    while entry is not None:
        yield entry
        before = state.lines.get(entry.answers) if entry.kind != "heard" else None
        entry = before if before is not None and before.seq < entry.seq else None


def is_answerable(state: PermissionFacts, entry: ContextEntry) -> bool:
    """Whether a line is answered at all: not late, not over the day's count, by who may talk."""
    if entry.kind != "heard":
        return True
    may_talk = may(state, entry.who, "talk", keeper=entry.keeper, owner=entry.owner)
    return may_talk and not entry.late and not entry.over
