"""Turns: what is due after what happened, also when the process died in between."""

import pytest
from msgspec.structs import replace

from loopforge.chat.room.guest_rules import GuestRules
from loopforge.chat.room.room_state import RoomState, fold
from loopforge.chat.room.turn_queue import CALLED, GREETING, RANK, UNCALLED, DueTurn, TurnQueue
from loopforge.chat.room_loop import GONE, SENT, why_halted
from loopforge.chat.speaking.memory_requests import wishes_in
from loopforge.core.limits.budget_limits import Charge
from loopforge.core.room_vocabulary import (
    AnswerWanted,
    LineDeleted,
    MateLeft,
    Reacted,
    TurnDropped,
    Weight,
)
from loopforge.core.text.erasable_text import public_words
from loopforge.core.turn_events import Judged, LineRun, Perceived, Recollection, TurnEnded, Verdict
from tests.strategies import Chronicle


def state_of(story: Chronicle) -> RoomState:
    """The fold of a history."""
    return fold(story.events)


def called(*mates: str) -> tuple[Chronicle, str]:
    """A room in which these mates were called by one line."""
    story = Chronicle()
    line = story.hear("well?").id
    story.weigh(*((mate, line, "speak") for mate in mates))
    return story, line


def test_verdicts_become_turns_in_their_order() -> None:
    """Speak and ask are due, in the order of the weights; pass is not."""
    story = Chronicle()
    line = story.hear("well?").id
    story.weigh(("zoe", line, "ask"), ("maya", line, "pass"), ("merlin", line, "speak"))
    due = state_of(story).due
    assert [(d.mate, d.verdict, d.step) for d in due] == [("zoe", "ask", 0), ("merlin", "speak", 0)]


def test_a_mate_that_is_not_here_is_not_called() -> None:
    """A weight for a mate that left, or never came, calls nobody."""
    story, line = called("maya")
    story.weigh(("pip", line, "speak"))
    story.leave_mate("maya")
    assert not state_of(story).due


def test_two_calls_make_one_turn() -> None:
    """Called twice before its turn, a mate answers both lines at once, where it stood."""
    story, first = called("maya", "merlin")
    second = story.hear("and you, maya?").id
    story.weigh(("maya", second, "ask"))
    due = state_of(story).due
    assert [d.mate for d in due] == ["maya", "merlin"]
    assert due[0].lines == (first, second)
    assert due[0].line == second
    assert due[0].verdict == "speak"


def test_of_two_summons_the_stronger_is_named() -> None:
    """Mention before reply, name, alone, continue, conversation; an unknown one comes last.

    And its line is the one that calls, also where the weaker came after it; which is known for one
    that called as well, as long as it is not deleted.
    """
    for strong, weak in zip(RANK, [*RANK[1:], "a dream"], strict=True):
        for order in ((weak, strong), (strong, weak)):
            turns = TurnQueue()
            for each in order:
                turns.call(Weight(mate="maya", line=each, score=9, summons=each, verdict="ask"))
            due = DueTurn(mate="maya", lines=(weak, strong), summons=strong, verdict="ask", score=9)
            assert turns.due == [replace(due, also=(weak,) if weak in CALLED else ())]
            turns.deleted(weak)
            assert turns.due == [replace(due, lines=(strong,))]


def _shown(line: str, summons: str) -> Perceived:
    return Perceived(
        mate="maya",
        policy="talk/1",
        mind="0" * 16,
        line=line,
        summons=summons,
        step=0,
        shown=public_words("{}"),
        lines=LineRun(more=()),
    )


WISH = AnswerWanted(person="bob", line="l1", mate="maya", how="again", surface="web")
PAYER = Charge(person="bob", surface="web")


@pytest.mark.parametrize("summons", [GREETING, *UNCALLED])
def test_a_wish_is_paid_by_who_wished_also_where_nobody_called(summons: str) -> None:
    """A turn for a wish and for a call that comes of no person is for whoever had the wish."""
    turns = TurnQueue()
    turns.want(WISH)
    turns.call(Weight(mate="maya", line="l2", score=9, summons=summons, verdict="speak"))
    assert [(due.by, due.lines) for due in turns.due] == [(PAYER, ("l1", "l2"))]


def test_a_wish_and_a_persons_call_are_paid_by_who_called() -> None:
    """Whoever said the last that a turn answers pays for it, as for every other."""
    turns = TurnQueue()
    turns.want(WISH)
    turns.call(Weight(mate="maya", line="l2", score=9, summons="mention", verdict="speak"))
    assert [(due.by, due.summons) for due in turns.due] == [(None, "mention")]


def test_the_next_step_of_a_wish_is_paid_by_who_wished() -> None:
    """A turn that a wish had begun goes on for the same person, not for whom the line answered."""
    turns = TurnQueue()
    turns.want(WISH)
    turns.begin("t1", _shown("l1", "again"))
    turns.judged(Judged(turn="t1", verdicts=(Verdict(act="continue", allowed=True),)))
    turns.end(TurnEnded(turn="t1", outcome="done"), onward=True)
    assert [(due.by, due.step) for due in turns.due] == [(PAYER, 1)]


def test_a_begun_turn_is_open_and_no_longer_due() -> None:
    """Perceived takes the due turn; after a crash it is found open, with what called it."""
    story, line = called("maya", "merlin")
    turn = story.perceive("maya").id
    state = state_of(story)
    assert [d.mate for d in state.due] == ["merlin"]
    opened = state.open[turn]
    assert (opened.mate, opened.line, opened.step) == ("maya", line, 0)
    assert opened.due is not None
    assert opened.due.lines == (line,)


def test_a_dropped_turn_is_over() -> None:
    """TurnDropped by any of its lines takes it off, and only the one of that mate."""
    story, line = called("maya", "merlin")
    second = story.hear("more").id
    story.weigh(("maya", second, "speak"))
    story.add(TurnDropped(mate="maya", line=line, why="no energy"))
    assert [d.mate for d in state_of(story).due] == ["merlin"]


@pytest.mark.parametrize("act", ["continue", "use_tool"])
def test_an_allowed_next_step_is_due_first(act: str) -> None:
    """Also read back after a crash: a done turn whose Continue was allowed has a next step."""
    story, line = called("maya", "merlin")
    story.perceive("maya")
    story.judge(("say", True), (act, True))
    story.say("let me see")
    assert [d.mate for d in state_of(story).due] == ["merlin"]
    story.end()
    due = state_of(story).due
    assert [d.mate for d in due] == ["maya", "merlin"]
    assert due[0] == DueTurn(mate="maya", lines=(line,), summons="continue", step=1)
    story.perceive("maya", step=1, summons="continue")
    story.judge(("continue", True))
    story.end()
    assert state_of(story).due[0].step == 2


@pytest.mark.parametrize(
    ("verdict", "outcome"),
    [(False, "done"), (True, "failed"), (True, "stopped")],
)
def test_no_next_step_without_leave(verdict: bool, outcome: str) -> None:
    """A Continue that the guard refused, or a turn that was not done, has no next step."""
    story, _ = called("maya")
    story.perceive("maya")
    story.judge(("continue", verdict))
    story.end(outcome)
    assert not state_of(story).due


def test_a_next_step_and_a_new_call_are_one_turn() -> None:
    """A mate that was to go on and is called meanwhile takes one turn, of a new chain of steps."""
    story, first = called("maya")
    story.perceive("maya")
    story.judge(("continue", True))
    second = story.hear("maya, wait").id
    story.weigh(("maya", second, "speak"))
    story.end()
    (due,) = state_of(story).due
    assert due.lines == (second, first)
    assert (due.summons, due.step) == ("continue", 0)


def test_a_next_step_answers_all_the_lines_of_the_first() -> None:
    """Lines answered together stay together over the steps."""
    story, first = called("maya")
    second = story.hear("maya?").id
    story.weigh(("maya", second, "speak"))
    story.perceive("maya")
    story.judge(("use_tool", True))
    story.end()
    assert state_of(story).due[0].lines == (first, second)


def test_a_turn_that_diverged_without_effect_is_due_anew() -> None:
    """It is put back where it was, first, as it was called."""
    story, _ = called("maya", "merlin")
    before = state_of(story).due[0]
    story.perceive("maya")
    story.end("diverged")
    assert state_of(story).due[0] == before


@pytest.mark.parametrize("effect", ["said", "noted", "reacted", "used"])
def test_a_turn_that_had_an_effect_is_never_taken_anew(effect: str) -> None:
    """Once anything of it is in the room, diverging ends it."""
    story, line = called("maya")
    turn = story.perceive("maya").id
    match effect:
        case "said":
            story.say("so")
        case "noted":
            story.note("so")
        case "used":
            story.use("clock", "noon")
        case _:
            story.add(Reacted(turn=turn, mate="maya", to=line, emoji="🙂"))
            story.effects = True
    story.end("diverged")
    assert not state_of(story).due


def test_a_turn_begun_anew_takes_the_place_of_the_old() -> None:
    """Perceived again for the same call, without an end of the first, leaves one open turn."""
    story, line = called("maya")
    story.perceive("maya")
    story.called["maya"] = [line]
    again = story.perceive("maya").id
    state = state_of(story)
    assert list(state.open) == [again]
    assert state.open[again].due is not None


def test_a_title_takes_no_mates_turn() -> None:
    """A turn that finds a title leaves what is due alone, and is followed by nothing."""
    story, line = called("maya")
    story.called["maya"] = [line]
    story.perceive("maya", summons="title")
    story.judge(("continue", True))
    assert [d.mate for d in state_of(story).due] == ["maya"]
    story.end()
    assert state_of(story).due[0].summons == "conversation"


def test_a_mate_that_left_does_not_go_on() -> None:
    """Its open turn may end; no step follows."""
    story, _ = called("maya")
    story.perceive("maya")
    story.judge(("continue", True))
    story.leave_mate("maya")
    story.end()
    state = state_of(story)
    assert not state.due
    assert not state.open


def test_what_ended_while_a_turn_was_prepared_is_due_after_it() -> None:
    """A turn that was shown the room up to before a tool's end takes that end with it no more."""
    story, line = called("maya")
    began = story.perceive("maya").body
    assert isinstance(began, Perceived)
    after = (36, ("an earlier line",), 1)
    for upto, left in ((35, ["an earlier line"]), (36, []), (0, [])):
        turns = TurnQueue()
        turns.due = [
            DueTurn(mate="maya", lines=("an earlier line", line), summons="name", after=after)
        ]
        turns.begin("t", replace(began, line=line, upto=upto))
        assert [due.line for due in turns.due] == left
        assert [due.summons for due in turns.due] == ["continue"] * len(left)


def test_who_comes_in_while_a_turn_is_prepared_has_it_begin_anew() -> None:
    """Of before they came is what it was made of; one that nothing was recalled for goes on."""
    some, unlike = Recollection(of="x"), Recollection(of="x", left="it hardly fits")
    cases: list[tuple[Recollection | None, int, bool]] = [
        (some, 4, True),
        (some, 5, False),
        (unlike, 4, False),
        (None, 4, False),
    ]
    for recalled, upto, overtaken in cases:
        turns = TurnQueue()
        turns.came_in(5)
        shown = _shown("l", "name")
        body = replace(shown, upto=upto, recalled=(recalled,) if recalled else ())
        turns.begin("t", body)
        assert turns.open["t"].overtaken is overtaken
        turns.came_in(9)
        assert turns.open["t"].overtaken is (recalled is some)


@pytest.mark.parametrize("upto", [4, 5])
def test_what_a_tool_had_recalled_counts_as_what_a_turn_was_reminded_of(upto: int) -> None:
    """Also where it left the page while the turn was prepared: that was made with it."""
    for gone in (True, False):
        story, _ = called("maya")
        turns = TurnQueue()
        turns.came_in(5, bound=gone)
        begun = story.perceive("maya").body
        assert isinstance(begun, Perceived)
        turns.begin("t", replace(begun, upto=upto), bound=not gone)
        assert turns.open["t"].overtaken is (upto == 4)
        turns.came_in(9)
        assert turns.open["t"].overtaken is (upto == 4 or not gone)


def test_a_line_that_was_deleted_before_it_was_weighed_calls_nobody() -> None:
    """It was there when the weighing began; nor does anything else of it count, such as a wish."""
    story = Chronicle()
    line = story.hear("maya, remember that I am vegetarian").id
    pending = state_of(story).pending()
    weights = [Weight(mate="maya", line=line, score=95, verdict="speak")]
    assert len(list(wishes_in(state_of(story), pending, weights, lambda _: [], GuestRules()))) == 1
    story.add(LineDeleted(line=line, by="person:p-ada"))
    assert not list(wishes_in(state_of(story), pending, weights, lambda _: [], GuestRules()))
    story.weigh(("maya", line, "speak"))
    assert not state_of(story).due


def test_what_was_called_off_while_a_turn_was_prepared_halts_it() -> None:
    """Its line was deleted, or its mate was sent out, before it began; what else is due stays due."""
    deleted, sent = (called("maya", "merlin")[0] for _ in range(2))
    line = deleted.called["maya"][0]
    more = deleted.hear("and what else, maya?").id
    deleted.weigh(("maya", more, "speak"))
    deleted.add(LineDeleted(line=more, by="person:p-ada"))
    turn = deleted.perceive("maya").id
    state = state_of(deleted)
    assert why_halted(state, state.open[turn]) == GONE
    assert [(due.mate, due.lines) for due in state.due] == [("maya", (line,)), ("merlin", (line,))]

    sent.add(MateLeft(mate="maya"))
    turn = sent.perceive("maya").id
    state = state_of(sent)
    assert why_halted(state, state.open[turn]) == SENT
    assert [due.mate for due in state.due] == ["merlin"]
