"""Rights: what who may do where, as a table."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from loopforge.chat.room.guest_rules import GuestRules
from loopforge.chat.room.participants import RoomPlace
from loopforge.chat.room.permissions import (
    ANY,
    FULL,
    Grant,
    charge_for_lines,
    grant_in_room,
    grant_sentence,
    is_answerable,
    may,
    origin_of_answer,
    origin_of_person,
    tools_for,
    tools_in_turn,
    who_may,
)
from loopforge.core.context_window import ContextEntry
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.limits.line_origin import LineOrigin
from loopforge.core.room_vocabulary import Right
from loopforge.core.text.erasable_text import public_words
from loopforge.runtime.ports import Tool
from tests.chat.test_plain_summary import AT

CLOCK = Tool(name="clock", summary="tells", idempotent=True, harmless=True)
NOTES = Tool(name="notes", summary="reads", idempotent=True)
SHELL = Tool(name="shell", summary="runs")
TOOLS = (CLOCK, NOTES, SHELL)


@dataclass
class Room:
    """A room as far as rights look at it."""

    kinds: tuple[str, ...] = ()
    rights: dict[str, Grant] = field(default_factory=dict)
    lines: dict[str, ContextEntry] = field(default_factory=dict)

    @property
    def places(self) -> dict[str, RoomPlace]:
        """Its places, one of each kind."""
        named = {kind: public_words(kind) for kind in self.kinds}
        return {kind: RoomPlace(name=name, kind=kind, met=name) for kind, name in named.items()}


def heard(id: str, who: str, seq: int = 1, **more: Any) -> ContextEntry:
    """A line of a person."""
    return ContextEntry(id=id, seq=seq, kind="heard", at=AT, who=who, **more)


@pytest.mark.parametrize(
    ("kinds", "keeper", "owner", "all_of_it"),
    [
        ((), False, False, True),
        (("private",), False, False, True),
        (("group",), False, False, False),
        (("thread",), False, False, False),
        (("private", "group"), False, False, False),
        (("group",), True, False, True),
        (("group",), False, True, True),
    ],
)
def test_where_nothing_is_set_the_place_decides(
    kinds: tuple[str, ...], keeper: bool, owner: bool, all_of_it: bool
) -> None:
    """Without a crowd everybody may do all; in one they talk and stop, keepers and owner do all."""
    room = Room(kinds)
    wanted: dict[Right, bool] = {
        "talk": True,
        "stop": True,
        "change": all_of_it,
        "tools": all_of_it,
    }
    for right, expected in wanted.items():
        assert may(room, "ana", right, keeper=keeper, owner=owner) is expected
    tools = tools_for(room, "ana", TOOLS, keeper=keeper, owner=owner)
    assert tools == ({"clock", "notes", "shell"} if all_of_it else {"clock"})


def test_what_is_set_for_a_person_counts_alone() -> None:
    """It gives more, or takes everything but what the owner has."""
    room = Room(("group",), {"ana": Grant(rights=("talk", "tools"), tools=("notes",))})
    assert grant_in_room(room, "ana", keeper=True) == room.rights["ana"]
    assert tools_for(room, "ana", TOOLS) == {"clock", "notes"}
    room.rights["ana"] = Grant()
    assert not may(room, "ana", "talk", keeper=True)
    assert may(room, "ana", "change", owner=True)
    assert may(room, "", "change")


def test_keepers_have_what_everyone_has_too() -> None:
    """What is set for keepers comes on top of what is set for everyone."""
    room = Room(("group",), {"keepers": Grant(rights=("change",)), "everyone": Grant()})
    assert grant_in_room(room, "ana") == Grant()
    assert grant_in_room(room, "ana", keeper=True).rights == ("change",)
    room.rights["everyone"] = Grant(rights=("talk",))
    assert grant_in_room(room, "ana", keeper=True).rights == ("talk", "change")


def test_who_is_not_known_here_has_harmless_tools_alone() -> None:
    """Also where everybody else may have all of them used."""
    assert tools_for(Room(), "ana", TOOLS, untrusted=True) == {"clock"}


def test_a_turn_has_the_tools_that_all_its_speakers_may_have_used() -> None:
    """A line of somebody who may less takes tools away; a mate's line counts as its asker's."""
    room = Room(("group",))
    room.lines = {
        "a": heard("a", "ana", keeper=True),
        "b": heard("b", "ben", 2),
        "c": heard("c", "cem", 3, keeper=True, untrusted=True),
        "m": ContextEntry(id="m", seq=4, kind="said", at=AT, who="maya", answers="a"),
        "n": ContextEntry(id="n", seq=5, kind="said", at=AT, who="otto", answers="m"),
        "x": ContextEntry(id="x", seq=6, kind="said", at=AT, who="otto", answers="long gone"),
    }
    everything = {"clock", "notes", "shell"}
    for lines, expected in (
        (("a",), everything),
        (("a", "b"), {"clock"}),
        (("c",), {"clock"}),
        (("m",), everything),
        (("n",), everything),
        (("n", "b"), {"clock"}),
        (("x",), {"clock"}),
    ):
        assert tools_in_turn(room, lines, TOOLS) == expected, lines


def test_a_line_that_is_gone_leaves_what_its_speaker_may_behind() -> None:
    """What a mate said because of it bears it; what does not is taken for a stranger's guest's."""
    guest = LineOrigin(who="gus", surface="web", guest=True)
    room = Room(rights={"gus": Grant(rights=("talk",))})
    room.lines = {
        "m": ContextEntry(
            id="m", seq=4, kind="said", at=AT, who="maya", answers="gone", origin=guest
        ),
        "n": ContextEntry(id="n", seq=5, kind="said", at=AT, who="otto", answers="m", origin=guest),
        "x": ContextEntry(id="x", seq=6, kind="said", at=AT, who="otto", answers="gone"),
        "y": ContextEntry(id="y", seq=7, kind="said", at=AT, who="otto"),
    }
    none = GuestRules(mates=frozenset())
    for line, tools, barred, charge in (
        ("m", {"clock"}, True, Charge(person="gus", surface="web", guest=True)),
        ("n", {"clock"}, True, Charge(person="gus", surface="web", guest=True)),
        ("x", {"clock"}, True, None),
        ("gone", {"clock"}, True, None),
        ("y", {"clock", "notes", "shell"}, False, None),
    ):
        assert tools_in_turn(room, [line], TOOLS) == tools, line
        assert charge_for_lines(room, [line]) == charge, line
        if line in room.lines:
            assert none.barred(room, [room.lines[line]], "zuzu") is barred, line


def test_what_a_mate_says_to_several_may_no_more_than_each_of_them() -> None:
    """Nobody can tell whose wish it hands on: the owner's word beside a guest's gives it nothing."""
    room = Room(rights={"gus": Grant(rights=("talk",))})
    room.lines = {
        "g": heard("g", "gus", guest=True),
        "o": heard("o", "ana", 2, owner=True, keeper=True),
    }
    narrow = origin_of_answer(room, "o", ("g", "o"))
    assert narrow == LineOrigin(who="ana", guest=True, beside=("gus",))
    alone = origin_of_answer(room, "o", ("o",))
    assert alone == LineOrigin(who="ana", owner=True, keeper=True)
    for origin, tools, barred in (
        (narrow, {"clock"}, True),
        (alone, {"clock", "notes", "shell"}, False),
    ):
        said = ContextEntry(
            id="m", seq=3, kind="said", at=AT, who="maya", answers="o", origin=origin
        )
        room.lines["m"] = said
        room.rights["ana"] = Grant(rights=("talk",))
        assert tools_in_turn(room, ["m"], TOOLS) == tools
        assert GuestRules(mates=frozenset()).barred(room, [said], "zuzu") is barred


def test_what_one_was_given_by_name_is_not_lent_to_whom_a_mate_answers_beside_them() -> None:
    """What it says to both, what comes of that, and a routine that it is asked for: all have less."""
    may_all = Grant(rights=("talk", "tools"), tools=("shell", "notes"))
    room = Room(("group",), {"ana": may_all, "cem": may_all})
    room.lines = {"a": heard("a", "ana"), "b": heard("b", "ben", 2), "c": heard("c", "cem", 3)}
    for lines, expected in (
        (("a", "b"), {"clock"}),
        (("b", "a"), {"clock"}),
        (("a", "c"), {"clock", "notes", "shell"}),
        (("a",), {"clock", "notes", "shell"}),
    ):
        said = origin_of_answer(room, lines[-1], lines)
        asked = origin_of_person(room, lines, room.lines[lines[-1]].who)
        room.lines |= {
            "m": ContextEntry(
                id="m", seq=4, kind="said", at=AT, who="maya", answers=lines[-1], origin=said
            ),
            "t": ContextEntry(id="t", seq=5, kind="told", at=AT, who="ana", origin=asked),
        }
        assert tools_in_turn(room, ["m"], TOOLS) == expected, lines
        assert tools_in_turn(room, ["t"], TOOLS) == expected, lines
        onward = origin_of_answer(room, "m", ("m",))
        room.lines["n"] = ContextEntry(
            id="n", seq=6, kind="said", at=AT, who="otto", answers="m", origin=onward
        )
        assert tools_in_turn(room, ["n"], TOOLS) == expected, lines


def test_a_line_is_heeded_if_its_speaker_may_talk_and_it_is_not_late() -> None:
    """What mates say always is."""
    room = Room(("group",), {"everyone": Grant(rights=("stop",))})
    assert not is_answerable(room, heard("a", "ana"))
    assert is_answerable(room, heard("a", "ana", keeper=True))
    assert not is_answerable(Room(), heard("a", "ana", late=True))
    assert is_answerable(room, ContextEntry(id="m", seq=4, kind="said", at=AT, who="maya"))


def test_who_may_is_said_in_words() -> None:
    """A refusal can say whom to ask."""
    assert who_may(Room(), "change") == "everybody here"
    keepers = who_may(Room(("group",)), "change")
    assert keepers == "whoever manages this channel or chat, and the owner of this home"
    nobody = Room(("group",), {"keepers": Grant()})
    assert who_may(nobody, "change") == "the owner of this home"


@pytest.mark.parametrize(
    ("mine", "theirs", "all_of_it"),
    [
        (FULL, FULL, True),
        (FULL, Grant(rights=("tools",), tools=("shell",)), True),
        (Grant(rights=("talk", "tools"), tools=("notes",)), FULL, False),
        (Grant(rights=("talk", "tools"), tools=("notes",)), Grant(rights=("talk",)), True),
        (Grant(rights=("talk", "tools"), tools=("notes",)), Grant(rights=("stop",)), False),
        (
            Grant(rights=("tools",), tools=("notes",)),
            Grant(rights=("tools",), tools=("notes", "shell")),
            False,
        ),
        (
            Grant(rights=("tools",), tools=("notes", "shell")),
            Grant(rights=("tools",), tools=("shell",)),
            True,
        ),
        # tools without the right to have them used are none, of either
        (Grant(rights=("talk",), tools=(ANY,)), Grant(rights=("talk",), tools=("shell",)), True),
        (
            Grant(rights=("talk",), tools=(ANY,)),
            Grant(rights=("talk", "tools"), tools=("shell",)),
            False,
        ),
    ],
)
def test_nobody_gives_what_they_do_not_have(mine: Grant, theirs: Grant, all_of_it: bool) -> None:
    """A grant holds another if each of its rights and tools is in it; `any` holds every tool."""
    assert mine.holds(theirs) is all_of_it


def test_rights_are_told_as_a_sentence() -> None:
    """Who, and what they may; nothing is said to be nothing."""
    full = Grant(rights=("talk", "stop", "change", "tools"), tools=("notes",))
    assert grant_sentence("Ana", full) == (
        "Ana may be answered by mates, stop mates, change the room "
        "and have mates use the tools notes."
    )
    assert grant_sentence("Ana", Grant()) == "Ana may do nothing here but read."
