"""How a room's events read, and how text is drawn."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.chat.room.event_wording import line_asides
from loopforge.chat.room.room_snapshot import MateCard, RoomSnapshot, kaomoji_for
from loopforge.core.events import Body, Event
from loopforge.core.room_vocabulary import (
    ConversationBegan,
    ConversationEnded,
    EnergySet,
    File,
    Heard,
    Marked,
    MateJoined,
    MateLeft,
    Noted,
    PersonJoined,
    PersonLeft,
    PolicyChosen,
    Reacted,
    RightsSet,
    Said,
    Stopped,
    Titled,
    Told,
)
from loopforge.core.text.erasable_text import Words
from loopforge.io.socket.wire_protocol import RoomSight
from loopforge.io.terminal.client_state import KEPT, ClientState
from loopforge.io.terminal.terminal_markup import render_prose
from loopforge.io.terminal.terminal_wording import (
    clock_time,
    energy_bar,
    line_quotation,
    long_date,
    notice_sentence,
)
from loopforge.io.terminal.typed_lines import safe_for_terminal

AT = datetime(2026, 10, 8, 22, 30, tzinfo=UTC)


def event(body: Body, seq: int = 1) -> Event:
    """An event that holds this."""
    return Event(
        stream="room:commons", seq=seq, id=f"e{seq}", at=AT, actor="room", cause="", body=body
    )


def minutes() -> ClientState:
    """What is known of a room with Ana and Maya, and one line of each."""
    made = ClientState()
    people = (("p1", "Ana"),)
    mates = (MateCard(handle="maya", name="Maya"),)
    made.take(RoomSight(scene=RoomSnapshot(room="commons", you="p1", people=people, mates=mates)))
    made.take(event(Heard(person="p1", text=Words("a *question*")), 7))
    made.take(event(Said(turn="t", mate="maya", text=Words("an\nanswer")), 8))
    return made


@given(st.integers(-5, 2000), st.integers(-2, 2000))
def test_the_energy_bar_is_honest(energy: int, capacity: int) -> None:
    """It is full only when it is, empty only when it is, and never wider than it should be."""
    bar = energy_bar(energy, capacity)
    full, empty = bar.count("▮"), bar.count("▯")
    assert 1 <= full + empty == len(bar) <= 12
    if capacity > 1:
        assert (empty == 0) == (energy >= capacity)
        assert (full == 0) == (energy <= 0)


def test_small_bars_show_each_line() -> None:
    """Up to twelve lines of energy each have their own mark."""
    assert energy_bar(3, 6) == "▮▮▮▯▯▯"
    assert energy_bar(0, 0) == "▯"


def test_times_are_those_of_the_zone() -> None:
    """Hour and day follow the zone that is shown."""
    berlin = ZoneInfo("Europe/Berlin")
    assert clock_time(AT, berlin) == "00:30"
    assert clock_time(AT, ZoneInfo("UTC")) == "22:30"
    assert long_date(date(2026, 10, 8)) == "Thursday, 8 October 2026"


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (Told(text=Words("Plain.")), "Plain."),
        (PersonJoined(person="p2", name=Words("Ben"), surface="t"), "Ben came in."),
        (PersonLeft(person="p1"), "Ana left."),
        (MateJoined(mate="maya"), "Maya is here."),
        (MateLeft(mate="otto"), "Otto left."),
        (
            Stopped(person="p1"),
            "Ana said stop. Mates stay still until somebody speaks to them.",
        ),
        (ConversationBegan(why="first"), None),
        (ConversationBegan(why="asked"), "A new conversation. Mates start from a clean page."),
        (ConversationEnded(why="idle"), "The conversation ended after a long silence."),
        (ConversationEnded(why="asked"), "The conversation ended."),
        (Titled(title=Words("Tides"), by="room"), "The room is called “Tides”."),
        (Titled(title=Words("Tides"), by="p1"), "Ana called the room “Tides”."),
        (Titled(title=Words(""), by=""), "The room will find a title of its own."),
        (Reacted(turn="t", mate="maya", to="e7", emoji="🌊"), "Maya put 🌊 on “Ana: a question”."),
        (
            EnergySet(capacity=6, refill=4),
            "Mates may say 6 lines here before they wait for a person; each line of a person allows 4 more.",
        ),
        (PolicyChosen(policy="stub"), "Everybody thinks by the policy “stub” now."),
        (PolicyChosen(policy="stub", mate="maya"), "Maya thinks by the policy “stub” now."),
        (
            RightsSet(who="mate:maya", rights=()),
            "maya asks before each use of a tool that asks first.",
        ),
        (
            RightsSet(who="mate:maya", rights=("tools",), tools=("shell",)),
            "maya uses shell here without asking; /rights maya ask ends it.",
        ),
        (RightsSet(who="p1", rights=()), "Ana may do nothing here but read."),
        (Marked(line="e8", mark="keep", by="p1"), "Kept in mind: “Maya: an answer”."),
        (Marked(line="e1", mark="none", by="p1"), "Mark taken off: an earlier line."),
        (Noted(turn="t", mate="maya", text=Words("secret")), None),
    ],
)
def test_what_events_read_like(body: Body, read: str | None) -> None:
    """Each event has its sentence, with the names people have."""
    assert notice_sentence(event(body), minutes()) == read


def test_lines_are_quoted_in_short() -> None:
    """A quotation is one line with the speaker; of a file alone, its name."""
    known = minutes()
    assert line_quotation(known.line("e8"), known) == "Maya: an answer"
    assert line_quotation(known.line("e8"), known, 9) == "Maya: an…"
    assert line_quotation(None, known) == "an earlier line"
    file = File(name=Words("notes.txt"), size=1204, text=Words(""))
    line = event(Heard(person="p1", text=Words(""), files=(file,)))
    assert line_quotation(line, known) == "Ana: notes.txt, 1,204 bytes"


def test_minutes_know_numbers_and_keep_only_so_many() -> None:
    """A line is found by id and number; the oldest are forgotten first."""
    known = minutes()
    assert known.numbered(8) is known.line("e8") is known.last_said is known.newest()
    for seq in range(9, 9 + KEPT):
        known.take(event(Told(text=Words("x")), seq))
    assert known.line("e8") is None
    assert known.numbered(8) is None


@given(st.text(max_size=12))
def test_a_face_is_short_and_always_the_same(seed: str) -> None:
    """Five letters, the same for the same seed, with two equal eyes."""
    made = kaomoji_for(seed)
    assert len(made) == 5
    assert made == kaomoji_for(seed)
    assert made[1] == made[3]


@pytest.mark.parametrize(
    ("text", "plain", "styles"),
    [
        ("a **bold** word", "a bold word", ["bold"]),
        ("*slanted* and `code`", "slanted and code", ["italic", "$code on $code-ground"]),
        ("2 * 3 * 4 and snake_case", "2 * 3 * 4 and snake_case", []),
        ("# Heading\n- one\n* two", "Heading\n• one\n• two", ["bold"]),
        ("```py\na *= 1\n```\nafter", "▏a *= 1\nafter", ["$code 60%", "$code"]),
        ("hi @maya and @nobody", "hi @maya and @nobody", ["bold #fff"]),
        ("see https://example.org/x.", "see https://example.org/x.", ["underline"]),
        ("[b]not markup[/b]", "[b]not markup[/b]", []),
        ("unclosed `code and **bold", "unclosed `code and **bold", []),
    ],
)
def test_little_markup_is_drawn(text: str, plain: str, styles: list[str]) -> None:
    """What models write is set off without its marks; everything else stands as it is."""
    made = render_prose(text, {"maya": "#fff"})
    assert made.plain == plain
    assert [span.style for span in made.spans] == styles


CONSTRUCTS: tuple[tuple[str, str, list[str]], ...] = (
    ("~~~\nx = 1\n~~~", "▏x = 1", ["$code 60%", "$code"]),
    ("````\n```\nx\n```\n````", "▏```\n▏x\n▏```", ["$code 60%", "$code"] * 3),
    ("~~gone~~", "gone", ["strike"]),
    ("_so_ and __very__", "so and very", ["italic", "bold"]),
    ("[a page](https://e.org/x)", "a page (https://e.org/x)", ["underline"]),
    ("<https://e.org/x>", "https://e.org/x", ["underline"]),
    ("|a|b|\n|-|-|\n|one|2|", "▏a    b\n▏---  -\n▏one  2", ["$code 60%", "$code"] * 3),
    ("> a word\n> more", "▎a word\n▎more", ["$quiet"] * 2),
    (r"\*as it is\*", "*as it is*", []),
    ("- one\n  1. two", "• one\n  1. two", []),
    ("**bold and *both***", "bold and both", ["bold", "italic"]),
)
"""What stands in Markdown, how a terminal shows it, and in which styles."""


@pytest.mark.parametrize(("text", "plain", "styles"), CONSTRUCTS)
def test_every_construct_is_drawn(text: str, plain: str, styles: list[str]) -> None:
    """Fences, strikes, links, tables, quotes and escapes are shown, and none as raw marks."""
    made = render_prose(text)
    assert made.plain == plain
    assert [span.style for span in made.spans] == styles


def test_drafts_are_drawn_while_they_grow() -> None:
    """A text that ends anywhere is drawn; a fence that is still open is code already."""
    assert render_prose("so\n```py\nx = ").plain == "so\n▏x ="
    whole = "\n\n".join(text for text, _, _ in CONSTRUCTS)
    for end in range(len(whole)):
        render_prose(whole[:end])


def test_markdown_makes_nothing_harmful() -> None:
    """Marks that turn the direction of writing are no better for being written as numbers."""
    assert render_prose("pay &#8238;ana").plain == "pay &#8238;ana"
    assert render_prose("a &amp; b").plain == "a & b"


@given(st.text(alphabet="ab *`#@-_[]\n", max_size=60))
def test_drawing_loses_no_words(text: str) -> None:
    """Whatever the marks, every letter of the text is drawn."""
    letters = [letter for letter in safe_for_terminal(text) if letter in "ab"]
    drawn = [letter for letter in render_prose(text).plain if letter in "ab"]
    assert drawn == letters or "```" in text


def test_who_comes_in_and_speaks_at_once_has_a_name() -> None:
    """A line heard before the room was looked at again bears its speaker's name and their place."""
    known = minutes()
    line = event(Heard(person="p2", text=Words("hi"), surface="telegram:-7"), 10)
    known.take(event(PersonJoined(person="p2", name=Words("Cleo"), surface="telegram"), 9))
    known.take(line)
    assert known.speaker(line) == "Cleo"
    known.take(
        RoomSight(scene=RoomSnapshot(room="commons", people=(("p1", "Ana"),)))
    )  # an older look
    assert known.speaker(line) == "Cleo"
    known.take(RoomSight(scene=RoomSnapshot(room="commons", people=(("p2", "Cleopatra"),))))
    assert known.scene.people == (("p2", "Cleopatra"),)
    assert line_asides(line) == ["on Telegram"]
