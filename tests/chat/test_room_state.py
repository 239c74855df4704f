"""The fold of a room: what is true after what happened, and that it stays small."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.chat.room.participants import StandIn
from loopforge.chat.room.permissions import Grant, relay_depth
from loopforge.chat.room.room_state import AUTHORS, SOURCES, RoomState, fold
from loopforge.chat.room.room_store import VERSION, restore, snapshot
from loopforge.chat.room.visible_lines import HELD
from loopforge.core.events import Erased
from loopforge.core.home_events import CaughtUp
from loopforge.core.room_vocabulary import (
    ConversationBegan,
    ConversationEnded,
    DefaultMateSet,
    EnergySet,
    Heard,
    LineDeleted,
    Marked,
    MateJoined,
    MateLeft,
    PersonLeft,
    PlaceJoined,
    PolicyChosen,
    Purged,
    RightsSet,
    StoodDown,
    StoodIn,
    Stopped,
    TalkSet,
    Titled,
    TriggersSet,
)
from loopforge.core.text.erasable_text import public_words, set_words_text
from loopforge.errors import LedgerBehind, LedgerBroken
from tests.strategies import MATES, PEOPLE, Chronicle, histories


def state_of(story: Chronicle) -> RoomState:
    """The fold of a history."""
    return fold(story.events)


# ---------------------------------------------------------------- laws


@given(histories(), st.data())
def test_a_restored_state_goes_on_as_the_folded_one(story: Chronicle, data: st.DataObject) -> None:
    """A snapshot taken anywhere, restored and carried on, equals the fold of everything."""
    cut = data.draw(st.integers(0, len(story.events)))
    half = restore(snapshot(fold(story.events[:cut])))
    assert fold(story.events[cut:], half) == state_of(story)


@given(histories(), st.data())
def test_an_event_taken_in_twice_changes_nothing(story: Chronicle, data: st.DataObject) -> None:
    """Events that come again, from any point on, leave the state as it is."""
    cut = data.draw(st.integers(0, len(story.events)))
    state = fold(story.events[cut:], state_of(story))
    assert state == state_of(story)


@given(histories())
def test_texts_come_back_by_their_refs(story: Chronicle) -> None:
    """After a restore every private text is wanting; filled in, all read as before."""
    state = state_of(story)
    texts = {words.ref: words.text for words in state.words() if words.ref}
    back = restore(snapshot(state))
    assert back.wanting() == set(texts)
    back.fill({ref: text for ref, text in texts.items() if text is not None})
    assert [str(words) for words in back.words()] == [str(words) for words in state.words()]


@given(histories())
def test_the_fold_never_looks_into_a_text(story: Chronicle) -> None:
    """With every text forgotten before the fold, the same is true of the room."""
    state = state_of(story)
    kept = snapshot(state)
    for event in story.events:
        if isinstance(event.body, Heard):
            set_words_text(event.body.text, None)
    assert snapshot(state_of(story)) == kept


@given(histories())
def test_who_is_to_take_a_turn_agrees_with_a_plain_account(story: Chronicle) -> None:
    """The due turns, in order and with their lines, are those the history itself counted."""
    state = state_of(story)
    assert {due.mate: list(due.lines) for due in state.due} == story.called
    assert [due.mate for due in state.due] == list(story.called)
    assert list(state.open) == ([story.turn[0]] if story.turn else [])


@given(histories())
def test_what_waits_to_be_weighed_is_never_let_go(story: Chronicle) -> None:
    """Every line that was not weighed is pending, whoever purged it and whatever began anew."""
    assert [entry.id for entry in state_of(story).pending()] == story.unweighed


@given(histories())
def test_a_purged_line_is_gone_for_its_mate_and_for_no_other(story: Chronicle) -> None:
    """No mate sees a line it purged while it was there, nor another's note or result."""
    state = state_of(story)
    for mate in state.mates:
        seen = state.visible(mate)
        assert not {entry.id for entry in seen} & state.page.purged.get(mate, set())
        assert all(e.who == mate for e in seen if e.kind in ("note", "result"))
        assert [e.seq for e in seen] == sorted(e.seq for e in seen)


@given(histories(), st.data())
def test_what_no_mate_sees_is_let_go(story: Chronicle, data: st.DataObject) -> None:
    """After a purge, every line that is held is seen by a mate or waits to be weighed."""
    if not story.mates:
        story.join_mate("maya")
    lines = data.draw(st.sets(st.sampled_from(story.lines or ["none"])))
    mate = data.draw(st.sampled_from(story.mates))
    story.add(Purged(mate=mate, lines=tuple(lines), before=9, after=1))
    state = state_of(story)
    seen = {entry.id for mate in state.mates for entry in state.visible(mate)}
    assert all(e.id in seen or e.seq > state.weighed for e in state.lines.values())
    assert not lines & {entry.id for entry in state.visible(mate)}


@given(histories())
def test_the_energy_is_within_its_bounds(story: Chronicle) -> None:
    """Whatever happens, the room's energy lies between nothing and its capacity."""
    energy = state_of(story).energy
    assert 0 <= energy.left <= energy.capacity


# ---------------------------------------------------------------- who is here


def test_a_new_room_is_at_rest() -> None:
    """Nothing said, due, open or stopped; no conversation; full of energy."""
    state = state_of(Chronicle(began=False))
    assert not state.stopped
    assert not state.due
    assert not state.open
    assert not state.lines
    assert (state.conversation, state.last_at, str(state.title)) == ("", None, "")
    assert (state.spoken, state.heard, state.untitled, state.untried, state.weighed) == (0,) * 5
    assert state.energy.left == state.energy.capacity


def test_a_room_knows_who_is_here() -> None:
    """Name, people by id with their names, mates in the order they joined, policies, triggers."""
    story = Chronicle(people=2, mates=3)
    story.add(PersonLeft(person=PEOPLE[0]))
    story.leave_mate("merlin")
    story.add(PolicyChosen(policy="chain"))
    story.add(PolicyChosen(policy="stub", mate="zoe"))
    story.add(TriggersSet(mate="zoe", triggers=("mention",)))
    state = state_of(story)
    assert state.name == "commons"
    assert {id: str(person.name) for id, person in state.people.items()} == {PEOPLE[1]: "Bo"}
    assert list(state.mates) == ["maya", "zoe"]
    assert (state.policy("maya"), state.policy("zoe")) == ("chain", "stub")
    assert state.triggers == {"zoe": ("mention",)}


def test_a_name_stays_on_the_line_it_was_said_under() -> None:
    """A line keeps the very Words of its speaker's name, also after the person has gone."""
    story = Chronicle()
    line = story.hear("hello")
    joined = story.events[1].body
    story.add(PersonLeft(person=PEOPLE[0]))
    assert state_of(story).lines[line.id].name is joined.name  # type: ignore[attr-defined]


def test_a_line_of_the_same_source_is_recognised() -> None:
    """A surface's own id of a line leads to the event it became, and only on that surface."""
    story = Chronicle()
    line = story.hear("hello", source="17")
    state = state_of(story)
    assert state.heard_before("terminal", "17") == line.id
    assert state.heard_before("web", "17") == ""
    assert state.heard_before("terminal", "") == ""


def test_a_stop_of_the_same_source_is_recognised_too() -> None:
    """A stop that a surface sends twice is known by its source."""
    story = Chronicle()
    stopped = story.add(Stopped(person=PEOPLE[0], surface="web", source="9"))
    assert state_of(story).heard_before("web", "9") == stopped.id


# ---------------------------------------------------------------- conversations


def test_a_new_conversation_is_a_clean_page() -> None:
    """Lines of before are no longer seen, and the counts begin again."""
    story = Chronicle()
    story.hear("hello")
    story.weigh()
    began = story.add(ConversationBegan(why="asked"))
    state = state_of(story)
    assert not state.lines
    assert (state.conversation, state.spoken, state.heard) == (began.id, 0, 0)


def test_a_line_that_waits_goes_along_into_the_new_conversation() -> None:
    """Unweighed lines, and lines that a due or open turn answers, are not lost by a new page."""
    story = Chronicle()
    first = story.hear("maya?").id
    second = story.hear("merlin?").id
    gone = story.hear("just saying").id
    story.weigh(("maya", first, "speak"), ("merlin", second, "speak"))
    story.perceive("maya")
    waiting = story.hear("and one more").id
    story.add(ConversationBegan(why="asked"))
    state = state_of(story)
    assert list(state.lines) == [first, second, waiting]
    assert gone not in state.lines
    assert (state.spoken, state.heard) == (3, 3)
    assert [due.mate for due in state.due] == ["merlin"]


def test_an_ended_conversation_waits_for_the_next() -> None:
    """After its end there is no conversation; what was said is still seen until another begins."""
    story = Chronicle()
    story.hear("bye")
    story.add(ConversationEnded(why="asked"))
    state = state_of(story)
    assert state.conversation == ""
    assert len(state.visible("maya")) == 1


# ---------------------------------------------------------------- stop


def test_stop_ends_what_is_due_and_pending_and_lasts() -> None:
    """After a stop nothing is due, nothing pends, the open turn is halted, mates stay still."""
    story = Chronicle()
    line = story.hear("everybody, go").id
    story.weigh(("maya", line, "speak"), ("merlin", line, "speak"))
    story.perceive("maya")
    story.judge(("continue", True))
    story.hear("and more")
    story.stop()
    state = state_of(story)
    assert state.stopped
    assert not state.due
    assert not state.pending()
    assert [turn.halted for turn in state.open.values()] == [True]
    story.end("done")
    assert not state_of(story).due


def test_a_persons_line_lifts_the_stop() -> None:
    """The next line of a person lifts it; a turn begun before the stop still goes no further."""
    story = Chronicle()
    line = story.hear("go").id
    story.weigh(("maya", line, "speak"))
    story.perceive("maya")
    story.judge(("continue", True))
    story.stop()
    story.hear("maya, go on")
    story.end("done")
    state = state_of(story)
    assert not state.stopped
    assert not state.due
    assert len(state.pending()) == 1


def test_a_line_that_came_late_lifts_no_stop() -> None:
    """What was said long before and comes after the stop calls nobody; what is said now lifts it."""
    story = Chronicle()
    story.stop()
    words = public_words("old words")
    story.add(Heard(person=PEOPLE[0], text=words, surface="terminal", late=True))
    assert state_of(story).stopped
    story.hear("new words")
    assert not state_of(story).stopped


def test_who_stood_in_for_another_and_was_sent_out_does_so_no_more() -> None:
    """If it comes back for that, it is told again."""
    story = Chronicle()
    line = story.hear("hello?").id
    story.add(StoodIn(mate=MATES[0], by=MATES[1], line=line))
    assert set(state_of(story).stand_ins) == {MATES[0]}
    story.add(MateLeft(mate=MATES[1]))
    assert state_of(story).stand_ins == {}


def test_verdicts_on_lines_before_a_stop_are_void() -> None:
    """A Weighed that was under way when the stop came calls nobody, also once it is lifted."""
    story = Chronicle()
    line = story.hear("go").id
    story.stop()
    story.weigh(("maya", line, "speak"))
    assert not state_of(story).due
    newer = story.hear("go again").id
    story.weigh(("maya", line, "speak"), ("merlin", newer, "speak"))
    assert [due.mate for due in state_of(story).due] == ["merlin"]


# ---------------------------------------------------------------- lines and what mates did


def test_a_mates_line_says_which_line_it_answers() -> None:
    """What a mate says in a turn answers the line that called it, and counts as its own."""
    story = Chronicle()
    line = story.hear("maya?").id
    story.weigh(("maya", line, "speak"))
    turn = story.perceive("maya").id
    said = story.say("yes?").id
    state = state_of(story)
    entry = state.lines[said]
    assert (entry.answers, entry.turn, entry.who, entry.mode) == (line, turn, "maya", "context")
    member = state.mates["maya"]
    assert (member.spoke_seq, member.spoke_at, member.streak) == (entry.seq, entry.at, 1)
    assert state.authors[said] == "mate:maya"


def test_silence_is_counted_when_a_mate_was_asked() -> None:
    """Asked and silent counts; silent after a note and a next step does not; speaking resets."""
    story = Chronicle()
    for _ in range(2):
        line = story.hear("hm").id
        story.weigh(("maya", line, "ask"))
        story.perceive("maya", summons="conversation")
        story.end()
    assert state_of(story).mates["maya"].declined == 2
    line = story.hear("hm").id
    story.weigh(("maya", line, "ask"))
    story.perceive("maya", summons="conversation")
    story.judge(("note", True), ("continue", True))
    story.note("hm")
    story.end()
    assert state_of(story).mates["maya"].declined == 2
    story.perceive("maya", step=1, summons="continue")
    story.say("well")
    story.end()
    assert state_of(story).mates["maya"].declined == 0
    story.weigh(("maya", line, "ask"))
    story.perceive("maya", summons="conversation")
    story.note("nothing to say")
    story.end()
    assert state_of(story).mates["maya"].declined == 1


def test_lines_taken_in_are_known_until_they_are_weighed() -> None:
    """A line that was put before a mind in a running turn is noted for that mate alone."""
    story = Chronicle()
    line = story.hear("maya?").id
    story.weigh(("maya", line, "speak"))
    story.perceive("maya")
    news = story.hear("and the date?").id
    story.say("noon, the third")
    story.end(took_in=(news, "no such line"))
    state = state_of(story)
    assert list(state.mates["maya"].took_in) == [news]
    assert not state.mates["merlin"].took_in
    story.weigh()
    assert not state_of(story).mates["maya"].took_in


def test_a_failed_tool_is_named_with_its_outcome() -> None:
    """A result's name is the tool's, with the outcome where it is not a plain return."""
    story = Chronicle()
    line = story.hear("maya?").id
    story.weigh(("maya", line, "speak"))
    story.perceive("maya")
    well, ill = story.use("clock", "noon").id, story.use("clock", "no clock", "failed").id
    state = state_of(story)
    assert [str(state.lines[id].name) for id in (well, ill)] == ["clock", "clock, failed"]
    assert [e.id for e in state.visible("merlin")] == [line]


def test_marks_are_put_on_and_taken_off() -> None:
    """A held line carries its mark; "none" takes it off; an unknown line is passed over."""
    story = Chronicle()
    line = story.hear("keep this").id
    story.add(Marked(line=line, mark="keep", by=PEOPLE[0]))
    story.add(Marked(line="no such line", mark="keep", by=PEOPLE[0]))
    assert state_of(story).lines[line].mark == "keep"
    story.add(Marked(line=line, mark="none", by=PEOPLE[0]))
    assert state_of(story).lines[line].mark is None


def test_a_title_remembers_what_it_was_made_from() -> None:
    """The title, who gave it, and the lines before it; the count of lines begins again."""
    story = Chronicle()
    story.hear("tea first")
    story.add(Titled(title=story.words("Tea"), by="room"))
    story.hear("more tea")
    state = state_of(story)
    assert (str(state.title), state.titled_by) == ("Tea", "room")
    assert [str(words) for words in state.basis] == ["tea first"]
    assert (state.untitled, state.spoken) == (1, 2)


def test_energy_follows_the_lines() -> None:
    """A mate's line costs one, a person's gives the refill back, up to what the room can hold."""
    story = Chronicle()
    story.add(EnergySet(capacity=3, refill=2))
    for _ in range(5):
        story.say("la", mate="maya")
    assert state_of(story).energy.left == 0
    story.hear("hi")
    assert state_of(story).energy.left == 2
    story.hear("hi")
    assert state_of(story).energy.left == 3


# ---------------------------------------------------------------- erasure, snapshots, bounds


def test_erasure_reaches_the_state() -> None:
    """After Erased the text is gone from the line, and nothing else has changed."""
    story = Chronicle()
    line = story.hear("my secret")
    assert isinstance(line.body, Heard)
    story.add(Titled(title=story.words("Secrets"), by="room"))
    story.add(Erased(refs=(line.body.text.ref,), by=PEOPLE[0]))
    state = state_of(story)
    assert str(state.lines[line.id].text) == "[forgotten]"
    assert [words.text for words in state.basis] == [None]
    assert state.wanting() == {line.body.text.ref}
    assert str(state.title) == "Secrets"


def test_a_snapshot_holds_no_private_text() -> None:
    """What people and mates said stands in a snapshot as references alone."""
    story = Chronicle()
    story.hear("the spare key is under the mat")
    story.say("noted")
    stored = snapshot(state_of(story))
    assert b"spare key" not in stored
    assert b"Ada" not in stored
    assert b"thought" not in stored


def test_a_snapshot_of_another_version_is_refused() -> None:
    """It says what to do instead."""
    stored = msgspec.json.decode(snapshot(RoomState()))
    assert stored["version"] == VERSION
    stored["version"] = VERSION + 1
    with pytest.raises(LedgerBehind, match="fold the stream"):
        restore(msgspec.json.encode(stored))


def test_a_long_life_leaves_a_small_state() -> None:
    """After 10,000 lines nobody purged the state holds no more than its bounds."""
    story = Chronicle(mates=2)
    state = RoomState()
    for number in range(10_000):
        story.hear(f"line {number}", source=str(number))
        if number % 10 == 0:
            story.weigh()
    state = state_of(story)
    assert len(state.lines) <= HELD
    assert len(state.sources) == SOURCES
    assert len(state.authors) == AUTHORS
    assert state.heard_before("terminal", "9999")
    assert not state.heard_before("terminal", "0")
    assert list(state.lines)[-1] == story.lines[-1]


def test_a_burst_is_pending_to_the_last_line() -> None:
    """10,000 lines that nobody has weighed are all still there to be weighed."""
    story = Chronicle(mates=1)
    for number in range(10_000):
        story.hear(f"line {number}")
    assert len(state_of(story).pending()) == 10_000
    story.weigh()
    story.hear("and one more")
    assert len(state_of(story).lines) <= HELD


def test_public_words_are_never_forgotten() -> None:
    """Forgetting goes by ref; words without one stay, whatever is forgotten."""
    state = RoomState(title=public_words("The commons"))
    state.forget([""])
    assert str(state.title) == "The commons"


def test_rights_places_and_stand_ins_outlive_a_snapshot() -> None:
    """What was set is the same after a restore, and folds on from there."""
    story = Chronicle(people=2, mates=2)
    line = story.hear("@maya hello").id
    for body in (
        PlaceJoined(place="discord:7", name=public_words("general"), kind="group"),
        TalkSet(free=False),
        RightsSet(who="keepers", rights=("talk", "tools"), tools=("clock",)),
        DefaultMateSet(mate=MATES[1]),
        StoodIn(mate=MATES[0], by="otto", line=line, guest=True),
    ):
        story.add(body)
    state = fold(story.events)
    back = restore(snapshot(state))
    assert back.rights == {"keepers": Grant(rights=("talk", "tools"), tools=("clock",))}
    assert (back.default_mate, back.quiet, list(back.places)) == (MATES[1], True, ["discord:7"])
    assert back.stand_ins == {MATES[0]: StandIn(mate="otto", guest=True)}
    assert [(due.mate, due.line) for due in back.due] == [("otto", line)]
    assert "otto" in back.mates
    for each in (state, back):
        each.apply(story.add(StoodDown(mate=MATES[0])))
        story.events.pop()
        assert each.stand_ins == {}
        assert "otto" not in each.mates
        assert each.due == []
        assert "otto" not in each.left


def test_a_guest_that_is_brought_in_stays() -> None:
    """Who stood in and was then made a member is one, whoever runs again."""
    story = Chronicle(people=1, mates=1)
    line = story.hear("hello").id
    story.add(StoodIn(mate=MATES[0], by="otto", line=line, guest=True))
    story.add(MateJoined(mate="otto"))
    story.add(StoodDown(mate=MATES[0]))
    assert "otto" in fold(story.events).mates


def test_a_line_that_is_gone_is_due_to_nobody() -> None:
    """A turn about it alone is halted and not taken anew; one about more goes on with the rest."""
    story = Chronicle(people=1, mates=2)
    first, second = story.hear("one").id, story.hear("two").id
    story.weigh((MATES[0], first, "speak"), (MATES[0], second, "speak"))
    story.weigh((MATES[1], first, "speak"))
    story.add(LineDeleted(line=first, by="room"))
    state = fold(story.events)
    assert [(due.mate, due.lines) for due in state.due] == [(MATES[0], (second,))]
    story.perceive(MATES[0])
    story.add(LineDeleted(line=second, by="room"))
    state = fold(story.events)
    (turn,) = state.open.values()
    assert turn.halted
    assert turn.due is None
    assert state.lines == {}


@pytest.mark.parametrize("gone", ["while it is answered", "afterwards"])
def test_lines_of_mates_are_counted_though_those_before_them_are_deleted(gone: str) -> None:
    """Two that answer each other come to the bound of depth, whatever of their lines is left."""
    story = Chronicle()
    line = story.hear("Talk.").id
    for depth in range(1, 6):
        mate = MATES[depth % 2]
        before, extra = line, story.hear("And?", "p-bo").id
        story.weigh((mate, extra, "speak"), (mate, line, "speak"))
        story.perceive(mate)
        if gone == "while it is answered":
            story.add(LineDeleted(line=before, by="room"))
        line = story.say(f"So {depth}.").id
        story.end()
        assert relay_depth(fold(story.events), [extra, line]) == depth
        if gone == "afterwards":
            story.add(LineDeleted(line=before, by="room"))
    assert relay_depth(fold(story.events), [line]) == 5


def test_a_room_takes_only_its_own_events() -> None:
    """What belongs to another kind of stream is refused, and changes nothing."""
    story = Chronicle()
    state = state_of(story)
    story.add(CaughtUp())
    with pytest.raises(LedgerBroken, match=r"platform\.caught_up cannot stand in room:"):
        state.apply(story.events[-1])
    assert state == fold(story.events[:-1])
