"""May this call run, for whom, and who is asked first: the one place that says so, as a table."""

from typing import Any

import pytest

from loopforge.chat.room.permissions import Grant, call_permission, may_answer
from loopforge.core.context_window import ContextEntry
from loopforge.core.policy import Call
from loopforge.core.text.erasable_text import public_words
from loopforge.runtime.ports import Tool
from tests.chat.test_permissions import Room, heard
from tests.chat.test_plain_summary import AT

CLOCK = Tool(name="clock", summary="tells", idempotent=True, harmless=True)
NOTES = Tool(name="notes", summary="reads", idempotent=True)
MAIL = Tool(name="mail", summary="sends", asks=True)
PAGE = Tool(name="page", summary="reads", idempotent=True, harmless=True, address="url")
WRITE = Tool(name="write", summary="writes a tool", asks=True, owner=True)
TOOLS = (CLOCK, NOTES, MAIL, PAGE, WRITE)
OWN = ("clock", "mail", "page", "notes", "write")
STANDING = {"mate:maya": Grant(rights=("tools",), tools=("mail", "page", "write"))}
MAILERS = {"everyone": Grant(rights=("talk", "tools"), tools=("mail",))}
READERS = {"everyone": Grant(rights=("talk", "tools"), tools=("notes",))}
ANA: dict[str, Any] = {"who": "ana"}
KEEPER: dict[str, Any] = {"who": "kim", "keeper": True}
OWNER: dict[str, Any] = {"who": "olu", "owner": True}
STRANGER: dict[str, Any] = {"who": "?x", "untrusted": True}
HOME, CROWD = (), ("group",)


@pytest.mark.parametrize(
    ("kinds", "rights", "asked_by", "own", "tool", "verdict", "by"),
    [
        # what the mate has
        (HOME, {}, [OWNER], OWN, "clock", "runs", "rights"),
        (HOME, {}, [OWNER], (), "clock", "refused", "grant"),
        (HOME, {}, [OWNER], OWN, "rocket", "refused", "grant"),
        # what the room lets everybody, keepers and the owner have used
        (HOME, {}, [ANA], OWN, "notes", "runs", "rights"),
        (CROWD, {}, [ANA], OWN, "notes", "refused", "grant"),
        (CROWD, {}, [KEEPER], OWN, "notes", "runs", "rights"),
        (CROWD, {}, [OWNER], OWN, "notes", "runs", "rights"),
        (CROWD, READERS, [ANA], OWN, "notes", "runs", "rights"),
        # what a person may
        (HOME, {"ana": Grant()}, [ANA], OWN, "notes", "refused", "grant"),
        (HOME, {"ana": Grant()}, [ANA], OWN, "clock", "runs", "rights"),
        (CROWD, {"ana": MAILERS["everyone"]}, [ANA], OWN, "mail", "asks", "rights"),
        (CROWD, {"kim": Grant()}, [KEEPER], OWN, "mail", "refused", "grant"),
        # a tool that asks, and the standing yes, which spares the question and not the right
        (HOME, {}, [OWNER], OWN, "mail", "asks", "rights"),
        (HOME, STANDING, [ANA], OWN, "mail", "runs", "a standing yes"),
        (CROWD, STANDING, [ANA], OWN, "mail", "refused", "grant"),
        (CROWD, STANDING | MAILERS, [ANA], OWN, "mail", "runs", "a standing yes"),
        (HOME, {"mate:otto": STANDING["mate:maya"]}, [ANA], OWN, "mail", "asks", "rights"),
        (HOME, STANDING, [ANA], ("clock",), "mail", "refused", "grant"),
        # one that only the owner says yes to, each time
        (HOME, STANDING, [OWNER], OWN, "write", "asks", "rights"),
        (CROWD, {}, [ANA], OWN, "write", "refused", "grant"),
        # an address that nobody gave
        (HOME, {}, [ANA], OWN, "page", "asks", "rights"),
        (HOME, STANDING, [ANA], OWN, "page", "runs", "a standing yes"),
        # a stranger, whatever everybody else may
        (HOME, {}, [STRANGER], OWN, "clock", "runs", "rights"),
        (HOME, {}, [STRANGER], OWN, "notes", "refused", "grant"),
        (HOME, {}, [STRANGER], OWN, "mail", "refused", "grant"),
        (HOME, STANDING, [STRANGER], OWN, "mail", "refused", "grant"),
        (HOME, STANDING, [STRANGER], OWN, "page", "asks", "rights"),
        (CROWD, {"?x": MAILERS["everyone"]}, [STRANGER], OWN, "mail", "refused", "grant"),
        # several at once: what all of them may
        (CROWD, {}, [KEEPER, ANA], OWN, "notes", "refused", "grant"),
        (HOME, {}, [OWNER, STRANGER], OWN, "notes", "refused", "grant"),
        (HOME, STANDING, [OWNER, STRANGER], OWN, "page", "asks", "rights"),
        # a line that leads back to nobody who is known
        (CROWD, {}, [], OWN, "notes", "refused", "grant"),
        (CROWD, STANDING, [], OWN, "page", "asks", "rights"),
    ],
)
def test_whether_a_call_may_run(
    kinds: tuple[str, ...],
    rights: dict[str, Grant],
    asked_by: list[dict[str, Any]],
    own: tuple[str, ...],
    tool: str,
    verdict: str,
    by: str,
) -> None:
    """Mate's grant x room's rights x person's right x the tool's question x standing yes."""
    said = [heard(str(nth), seq=nth, **who) for nth, who in enumerate(asked_by)]
    lost = ContextEntry(id="x", seq=9, kind="said", at=AT, who="otto", answers="long gone")
    room = Room(kinds, rights, {line.id: line for line in said or [lost]})
    call = Call(tool, {"url": "https://example.org/"})
    found = call_permission(room, "maya", own, tuple(room.lines), call, TOOLS)
    assert (found.verdict, found.by) == (verdict, by)
    assert found.people == tuple(who["who"] for who in asked_by)


@pytest.mark.parametrize("words", ["see https://example.org/", "see https://evil.example/"])
@pytest.mark.parametrize("who", [ANA, STRANGER])
def test_an_address_that_a_known_person_gave_is_read_for_everybody(
    words: str, who: dict[str, Any]
) -> None:
    """One that a stranger gave is asked for, as is one that nobody gave."""
    room = Room(lines={"a": heard("a", text=public_words(words), **who)})
    call = Call("page", {"url": "https://example.org/"})
    found = call_permission(room, "maya", OWN, ("a",), call, TOOLS).verdict
    assert found == ("runs" if "example.org" in words and who is ANA else "asks")


def test_a_mate_that_was_called_by_a_mate_acts_for_the_person_behind() -> None:
    """Through any number of mates: it gains nothing by being asked by another one."""
    room = Room(lines={"a": heard("a", **STRANGER)})
    for seq, who in enumerate(("maya", "otto", "zuzu"), 2):
        before = [*room.lines][-1]
        line = ContextEntry(id=who, seq=seq, kind="said", at=AT, who=who, answers=before)
        room.lines[who] = line
    found = call_permission(room, "maya", OWN, ("zuzu",), Call("notes"), TOOLS)
    assert (found.verdict, found.people) == ("refused", ("?x",))


def test_a_turn_for_nobody_may_what_anybody_may() -> None:
    """Its lines are gone: it is not taken for everybody's."""
    found = call_permission(Room(CROWD), "maya", OWN, (), Call("notes"), TOOLS)
    assert (found.verdict, found.people) == ("refused", ())


@pytest.mark.parametrize(
    ("kinds", "rights", "who", "answers"),
    [
        (HOME, {}, {"person": "ana"}, True),
        (CROWD, {}, {"person": "ana"}, False),
        (CROWD, MAILERS, {"person": "ana"}, True),
        (CROWD, READERS, {"person": "ana"}, False),
        (CROWD, {}, {"person": "kim", "keeper": True}, True),
        (CROWD, {"kim": Grant()}, {"person": "kim", "keeper": True}, False),
        (CROWD, {"olu": Grant()}, {"person": "olu", "owner": True}, True),
        (CROWD, {}, {"person": "", "owner": True}, True),
    ],
)
def test_who_may_have_a_tool_used_answers_for_it(
    kinds: tuple[str, ...], rights: dict[str, Grant], who: dict[str, Any], answers: bool
) -> None:
    """Those are asked first; nobody says yes to what they may not have done."""
    assert may_answer(Room(kinds, rights), tool="mail", tools=TOOLS, **who) is answers


def test_the_owner_alone_says_yes_to_some() -> None:
    """Whoever else may have it used may not answer; nor may an owner who is not known for sure."""
    room = Room()
    assert may_answer(room, "olu", "write", TOOLS, owner=True)
    assert not may_answer(room, "ana", "write", TOOLS)
    assert not may_answer(room, "kim", "write", TOOLS, keeper=True)
    assert not may_answer(room, "olu", "write", TOOLS, owner=True, untrusted=True)
    assert may_answer(room, "ana", "mail", TOOLS)
