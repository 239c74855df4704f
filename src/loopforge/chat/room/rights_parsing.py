"""Rights parsing: what somebody wrote after /rights: for whom, and what they may do from now on.

    everyone talk stop        keepers all        Ana talk tools:clock,calendar        Ben none
    Maya ask            (a mate asks again before each use of a tool, also where it need no more)

Names are free to be taken, rights are not: no person's name stands for everyone or the keepers, and
where a name means several people, it means nobody. Pure; who may grant what is permissions.py's to
say.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import get_args

from loopforge.chat.room.participants import Participant
from loopforge.chat.room.permissions import (
    ANY,
    ASK,
    EVERYONE,
    FULL,
    KEEPERS,
    MATE,
    RIGHTS,
    WHOM,
    Grant,
    grant_in_room,
    grant_sentence,
    unasked_wording,
)
from loopforge.chat.room.room_state import RoomState
from loopforge.core.room_vocabulary import Right, RightsSet
from loopforge.errors import InputError, Unknown

NOTHING = "none"
HOW = (
    "Say for whom and what, such as /rights everyone talk stop, or /rights Ana talk tools:clock; "
    f"whom: {EVERYONE}, {KEEPERS} (whoever manages the channel), or somebody's name; "
    f"what: {', '.join(RIGHTS)}, all, or {NOTHING}."
)


def read(state: RoomState, said: str, same: Callable[[str], str]) -> tuple[str, Grant]:
    """For whom rights are to be set (as in RightsSet), and which.

    `same` gives the id of whom a person became. Who went away is meant where nobody here is. Raises
    Unknown for nobody, InputError for words that are no rights, and where several could be meant.
    """
    first, *rest = said.removeprefix("@").split() or [""]
    if first.casefold() in state.mates and [word.casefold() for word in rest] == [ASK]:
        return MATE + first.casefold(), Grant()
    if first.casefold() in WHOM:
        return first.casefold(), _grant(rest)
    found = [*_people(state.people, [first, *rest])] or [*_people(state.former, [first, *rest])]
    if not found:
        raise Unknown(f"{first!r} is nobody here. {HOW}")
    meant = {same(id): words for id, words in found if _fits(words)}
    if len(meant) > 1:
        ids = ", ".join(f"{id} ({named(state, id)})" for id in meant)
        raise InputError(f"Several people here could be meant; write one's id instead: {ids}.")
    who, words = next(iter(meant.items()), min(found, key=lambda one: len(one[1])))
    return who, _grant(words)


def inherited_rights(state: RoomState, person: str, same: Callable[[str], str]) -> list[RightsSet]:
    """What was set for somebody who has become this person, for whom nothing was set: the least.

    So nobody who may not talk here talks on by linking their account to another one of theirs.
    """
    set_for = ((id, grant) for id, grant in state.rights.items() if _is_person(id))
    before = [grant for id, grant in set_for if same(id) == person]
    if not before or person in state.rights:
        return []
    least = min(before, key=lambda grant: (len(grant.rights), len(grant.tools)))
    return [RightsSet(who=person, rights=least.rights, tools=least.tools)]


def _people(
    people: Mapping[str, Participant], said: Sequence[str]
) -> Iterator[tuple[str, Sequence[str]]]:
    """Each of these people whose name or id is said first, and the words after it."""
    for id, person in people.items():
        for name in (id, str(person.name)):
            words = name.casefold().split()
            if words and [word.casefold() for word in said[: len(words)]] == words:
                yield id, said[len(words) :]
                break


def _fits(words: Sequence[str]) -> bool:
    try:
        _grant(words)
    except InputError:
        return False
    return True


def _grant(words: Sequence[str]) -> Grant:
    """The rights that some words name: "talk stop", "talk tools:clock,calendar", "all", "none"."""
    if not words:
        raise InputError(HOW)
    if [word.casefold() for word in words] == ["all"]:
        return FULL
    if [word.casefold() for word in words] == [NOTHING]:
        return Grant()
    rights: list[Right] = []
    tools: list[str] = []
    for word in words:
        name, colon, listed = word.partition(":")
        right = next((one for one in get_args(Right) if one == name.casefold()), None)
        named_tools = [tool for tool in listed.split(",") if tool]
        if right is None or (colon and right != "tools"):
            raise InputError(f"{word!r} is no right. {HOW}")
        if colon and not named_tools:
            raise InputError(f"Say which tools right after the colon, as in tools:clock. {HOW}")
        rights.append(right)
        if right == "tools":
            tools += named_tools or [ANY]
    return Grant() | Grant(rights=tuple(rights), tools=tuple(tools))


# ---------------------------------------------------------------- told


def held(state: RoomState, who: str) -> Grant:
    """What holds for a person, for everyone or for keepers."""
    return grant_in_room(state, "?" if who in WHOM else who, keeper=who == KEEPERS)


def told(state: RoomState) -> str:
    """Who may do what in a room, a sentence each."""
    lines = [grant_sentence(WHOM[EVERYONE], held(state, EVERYONE))]
    if state.places:
        lines.append(grant_sentence(WHOM[KEEPERS], held(state, KEEPERS)))
    set_for = [who for who in state.rights if who not in WHOM]
    lines += [sentence(state, who, state.rights[who]) for who in set_for]
    return "\n".join([*lines, "The owner of this home may do everything."])


def sentence(state: RoomState, who: str, grant: Grant) -> str:
    """What holds for somebody for whom this is set."""
    mate = who.removeprefix(MATE)
    return grant_sentence(named(state, who), grant) if mate == who else unasked_wording(mate, grant)


def _is_person(who: str) -> bool:
    return who not in WHOM and not who.startswith(MATE)


def named(state: RoomState, who: str) -> str:
    """What somebody for whom rights are set is called, as a sentence begins."""
    known = state.people.get(who) or state.former.get(who)
    return WHOM.get(who) or (str(known.name) if known else "Somebody")
