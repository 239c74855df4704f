"""Triggers: who has cause to speak after a line, and why, to the point."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from loopforge.chat.room.room_state import RoomState, fold
from loopforge.chat.speaking.triggers import REASONS, TriggerThresholds, batches, weigh_triggers
from loopforge.chat.why.record_building import meaning
from loopforge.core.room_vocabulary import (
    DefaultMateSet,
    EnergySet,
    Heard,
    PlaceJoined,
    Purged,
    TalkSet,
    TriggersSet,
    Weighed,
    Weight,
)
from loopforge.core.text.erasable_text import Words, public_words
from tests.strategies import MATES, PEOPLE, TEXTS, Chronicle, Listening, histories

HOUSE = {
    "maya": Listening("Maya", ("tea", "baking")),
    "merlin": Listening("Merlin", ("old maps",)),
    "zoe": Listening("Zoë"),
    "otto": Listening("Otto"),
    "pip": Listening("Pip"),
}


def weighed(
    story: Chronicle,
    mates: dict[str, Listening] | None = None,
    thresholds: TriggerThresholds | None = None,
) -> dict[str, Weight]:
    """The weights of the last batch of pending lines, by mate, in order."""
    state = fold(story.events)
    batch = batches(state.pending())[-1]
    weights = weigh_triggers(
        state, batch, mates or HOUSE, story.now, thresholds or TriggerThresholds()
    )
    return {weight.mate: weight for weight in weights}


def verdicts(weights: dict[str, Weight]) -> dict[str, str]:
    """What each mate is to do, in order."""
    return {mate: weight.verdict for mate, weight in weights.items()}


def heard(text: str, *, people: int = 2, mates: int = 3, **fields: str) -> dict[str, Weight]:
    """The weights after one line of a person in a new room."""
    story = Chronicle(people=people, mates=mates)
    story.hear(text, **fields)  # type: ignore[arg-type]
    return weighed(story)


# ---------------------------------------------------------------- laws


@given(histories(), st.integers(0, 100), st.integers(0, 100), st.integers(0, 4))
def test_a_score_is_the_sum_of_its_reasons(
    story: Chronicle, speak: int, ask: int, speakers: int
) -> None:
    """Exactly, between 0 and 100, and its verdict is what the thresholds say of it."""
    state = fold(story.events)
    thresholds = TriggerThresholds(speak=max(speak, ask), ask=ask, speakers=speakers)
    for batch in batches(state.pending()):
        for weight in weigh_triggers(state, batch, HOUSE, story.now, thresholds):
            assert weight.score == sum(weight.reasons.values())
            assert 0 <= weight.score <= 100
            if state.stopped:
                assert weight.verdict == "pass"
            elif weight.score >= thresholds.speak:
                assert weight.verdict == "speak"
            else:
                assert weight.verdict == ("ask" if weight.score >= ask else "pass")


@given(histories())
def test_every_other_mate_is_weighed_once(story: Chronicle) -> None:
    """All mates that are here, but never the one that spoke; each for the batch's last line."""
    state = fold(story.events)
    for batch in batches(state.pending()):
        weights = weigh_triggers(state, batch, HOUSE, story.now)
        speaker = batch[-1].who if batch[-1].kind == "said" else ""
        assert sorted(w.mate for w in weights) == sorted(set(state.mates) - {speaker})
        assert {w.line for w in weights} <= {batch[-1].id}


@given(histories(), st.integers(0, 4), st.integers(0, 4))
def test_a_line_wakes_only_so_many_that_it_did_not_address(
    story: Chronicle, speakers: int, after_mate: int
) -> None:
    """Of the unaddressed ones at most `speakers` (after a mate's line: fewer) speak or are asked."""
    state = fold(story.events)
    thresholds = TriggerThresholds(speakers=speakers, speakers_after_mate=after_mate)
    for batch in batches(state.pending()):
        most = speakers if batch[-1].kind == "heard" else after_mate
        weights = weigh_triggers(state, batch, HOUSE, story.now, thresholds)
        woken = [w for w in weights if w.summons == "conversation" and w.verdict != "pass"]
        assert len(woken) <= most


@given(histories(), TEXTS)
def test_weighing_changes_nothing(story: Chronicle, text: str) -> None:
    """It is a pure function of the state, and the same each time."""
    story.hear(text)
    state = fold(story.events)
    first = weigh_triggers(state, state.pending()[-1:], HOUSE, story.now)
    assert weigh_triggers(state, state.pending()[-1:], HOUSE, story.now) == first
    assert state == fold(story.events)


def test_every_reason_can_be_given() -> None:
    """No row of the table is led to by nothing, none is missing, and each has its meaning told."""
    story = Chronicle(people=2, mates=5)
    given: set[str] = set()

    def look() -> None:
        for weight in weighed(story).values():
            given.update(weight.reasons)

    story.hear("anyone for tea and baking?")
    look()
    story.weigh(("maya", story.lines[-1], "ask"))
    story.perceive("maya", summons="conversation")
    story.end()
    story.hear("@bo hello")
    look()
    story.hear("and @maya too", PEOPLE[1])
    look()
    story.say("merlin?", mate="maya")
    look()
    story.say("what, merlin?", mate="maya", reply_to=story.lines[0])
    look()
    story.say("nothing", mate="merlin")
    look()
    story.hear("right", reply_to=story.lines[-1])
    look()
    story.hear("I like maya, but not merlin", PEOPLE[1])
    look()
    story.hear("I saw mertin, I think")
    look()
    story.say("a fine day", mate="zoe")
    story.weigh()
    story.hear("is it?")
    look()
    story.hear("ok")
    look()
    question = story.hear("does anybody know?").id
    story.say("I do", mate="zoe", reply_to=question)
    state = fold(story.events)
    question_entry = state.lines[question]
    for weight in weigh_triggers(state, [question_entry], HOUSE, story.now):
        given.update(weight.reasons)
    for room in (Chronicle(people=1, mates=1), Chronicle(people=1, mates=3)):
        story = room
        story.hear("hi")
        look()
    story.add(Heard(person=PEOPLE[0], text=Words("hey you"), called=True))
    look()
    assert given - {
        "bound",
        "enough others",
        "left to it",
        "another speaks",
        "answered already",
    } == set(REASONS)
    assert all(meaning(reason) for reason in given)


# ---------------------------------------------------------------- being addressed


@pytest.mark.parametrize(
    ("text", "summons", "told"),
    [
        ("@maya hello", "mention", "speak pass pass"),
        ("Maya, hello", "name", "speak pass pass"),
        ("maya? @maya!", "mention", "speak pass pass"),
        ("@all, your names please", "mention", "speak speak speak"),
        ("nice weather", "conversation", "pass pass pass"),
        ("does anyone know?", "conversation", "speak ask pass"),
        ("`maya` fails", "conversation", "pass pass pass"),
    ],
)
def test_who_speaks_after_one_line(text: str, summons: str, told: str) -> None:
    """Whom it calls, by the stronger call, and no other; beyond all limits whoever it mentions.

    A plain line among people is for people: one mate at most is asked. A question to anyone finds
    somebody, and a name in code calls nobody.
    """
    weights = heard(text)
    assert next(iter(weights)) == "maya"
    assert weights["maya"].summons == summons
    assert [*verdicts(weights).values()] == told.split()


def test_a_reply_addresses_whose_line_it_is() -> None:
    """Also when that line left everybody's context long ago."""
    story = Chronicle(people=2)
    line = story.say("so it is", mate="zoe").id
    story.weigh()
    for mate in story.mates:
        story.add(Purged(mate=mate, lines=(line,), before=9, after=1))
    story.hear("really", reply_to=line)
    assert line not in fold(story.events).lines
    assert weighed(story)["zoe"].summons == "reply"
    assert weighed(story)["zoe"].verdict == "speak"


def test_addressed_mates_come_in_the_order_of_their_names() -> None:
    """The one replied to first, then as the text names them; then those that it does not."""
    story = Chronicle(people=2, mates=5)
    line = story.say("hm", mate="otto").id
    story.weigh()
    story.hear("Zoë, then @maya, what do you say?", reply_to=line)
    weights = weighed(story)
    assert list(weights)[:3] == ["otto", "zoe", "maya"]
    assert [weights[mate].summons for mate in list(weights)[:3]] == ["reply", "name", "mention"]


@pytest.mark.parametrize("bell", ["@everyone", "@here", "@all"])
def test_a_platforms_bell_calls_no_mate(bell: str) -> None:
    """@everyone and @here ring the bells of people on a platform: mates weigh the line without."""
    rung = heard(f"{bell} the server is down tonight", surface="discord:7")
    assert rung == {
        mate: replace(weight, line=rung[mate].line)
        for mate, weight in heard("the server is down tonight", surface="discord:7").items()
    }
    named = heard(f"{bell}; maya, say something", surface="discord:7")
    assert [mate for mate, verdict in verdicts(named).items() if verdict == "speak"] == ["maya"]


@pytest.mark.parametrize(
    ("triggers", "text", "verdict"),
    [
        (("mention",), "@maya", "speak"),
        (("mention",), "maya", "pass"),
        (("name",), "@maya", "pass"),
        (("name",), "maya", "speak"),
        ((), "@maya maya anyone?", "pass"),
    ],
)
def test_triggers_can_be_switched_off(triggers: tuple[str, ...], text: str, verdict: str) -> None:
    """By the mate's file, or by the room, which has the last word."""
    by_file = {"maya": Listening("Maya", ("tea",), triggers)}
    story = Chronicle(people=2, mates=1)
    story.hear(text)
    assert weighed(story, by_file)["maya"].verdict == verdict
    story.add(TriggersSet(mate="maya", triggers=triggers))
    assert weighed(story, HOUSE)["maya"].verdict == verdict


def test_a_mate_without_a_file_is_left_out() -> None:
    """A member whose file is broken or gone is not weighed."""
    story = Chronicle(people=2, mates=2)
    story.hear("hi")
    assert list(weighed(story, {"merlin": HOUSE["merlin"]})) == ["merlin"]


# ---------------------------------------------------------------- not being addressed


def test_alone_with_one_person_a_mate_always_speaks() -> None:
    """Whatever is said, and whatever its triggers are."""
    story = Chronicle(people=1, mates=1)
    story.hear("hm")
    weight = weighed(story, {"maya": Listening("Maya", (), ())})["maya"]
    assert (weight.verdict, weight.summons) == ("speak", "alone")


def test_the_only_person_is_always_answered() -> None:
    """In a room of one person and several mates each line makes exactly one mate speak."""
    story = Chronicle(people=1, mates=5)
    for text in ("hi", "hm", "so it goes", "well", "yes"):
        story.hear(text)
        weights = weighed(story)
        assert list(verdicts(weights).values()) == ["speak", "ask", "pass", "pass", "pass"]
        story.weigh((next(iter(weights)), story.lines[-1], "speak"))
        story.perceive(next(iter(weights)))
        story.say("indeed")
        story.end()
        story.weigh()


def test_who_talks_with_a_person_goes_on() -> None:
    """The mate that spoke last stands before the others when a person goes on."""
    story = Chronicle(people=1, mates=3)
    story.hear("hi")
    story.say("hello", mate="merlin")
    story.weigh()
    story.hear("how are things")
    assert next(iter(weighed(story))) == "merlin"
    assert "in conversation" in weighed(story)["merlin"].reasons


def test_enough_others_is_enough_however_much_cause_there_is() -> None:
    """A score that was cut at 100 is still brought below the asking threshold."""
    story = Chronicle(people=1, mates=3)
    story.hear("anyone, what is tea?")
    weights = weighed(story, None, TriggerThresholds(speakers=0))
    assert weights["maya"].reasons["enough others"] == -121
    assert {weight.score for weight in weights.values()} == {29}


def test_its_topic_brings_a_mate_forward() -> None:
    """The one whose interest a line touches stands first."""
    weights = heard("I mapped the whole coast", mates=3)
    assert next(iter(weights)) == "merlin"
    assert weights["merlin"].reasons["interest"] == REASONS["interest"].person
    assert "interest" not in weights["maya"].reasons


def test_a_line_to_another_person_is_left_alone() -> None:
    """By a mention or a reply; a mate then needs more cause than a question."""
    story = Chronicle(people=2)
    line = story.hear("I like it", PEOPLE[1]).id
    story.weigh()
    story.hear("why?", reply_to=line)
    assert set(verdicts(weighed(story)).values()) == {"pass"}
    assert set(verdicts(heard("@bo why?")).values()) == {"pass"}
    assert "to a person" not in heard("@ada why?")["maya"].reasons  # oneself


def test_a_mate_that_stays_silent_is_asked_less() -> None:
    """Among people, each silence in a row lowers its score; speaking makes it whole again."""
    story = Chronicle(people=2, mates=1)
    scores = []
    for _ in range(5):
        line = story.hear("what now?").id
        scores.append(weighed(story)["maya"].score)
        story.weigh(("maya", line, "ask"))
        story.perceive("maya", summons="conversation")
        story.end()
    assert scores == [40, 32, 24, 16, 16]


def test_a_mate_quiet_for_long_has_more_cause() -> None:
    """Ten minutes after it spoke it counts as quiet; before, it does not."""
    story = Chronicle(people=2, mates=1)
    story.say("hm", mate="maya")
    story.weigh()
    for after, quiet in ((300, False), (600, True)):
        story.hear("so", after=after)
        assert ("quiet so far" in weighed(story)["maya"].reasons) is quiet
        story.weigh()


# ---------------------------------------------------------------- gathered lines


def test_lines_of_one_person_in_a_row_are_one() -> None:
    """A batch ends where somebody else speaks; a mate's lines stand alone."""
    story = Chronicle(people=2)
    story.hear("one")
    story.hear("two")
    story.hear("three", PEOPLE[1])
    story.say("four", mate="maya")
    story.say("five", mate="maya")
    story.hear("six")
    texts = [[str(e.text) for e in batch] for batch in batches(fold(story.events).pending())]
    assert texts == [["one", "two"], ["three"], ["four"], ["five"], ["six"]]


def test_a_batch_is_weighed_as_one_text() -> None:
    """A call in any of its lines counts; the weight is for the last line."""
    story = Chronicle(people=2)
    story.hear("merlin, or no")
    last = story.hear("@maya rather")
    weights = weighed(story)
    assert list(weights)[:2] == ["merlin", "maya"]
    assert {weight.line for weight in weights.values()} == {last.id}


def test_each_mate_answers_the_line_that_called_it() -> None:
    """Lines in a row that call one mate each: every turn cites its own line, not the last."""
    story = Chronicle(people=2, mates=4)
    lines = [story.hear(f"{mate}, what is new?").id for mate in ("maya", "merlin", "zoe")]
    last = story.hear("thanks").id
    weights = weighed(story)
    assert [weights[mate].caller for mate in ("maya", "merlin", "zoe")] == lines
    assert {weight.line for weight in weights.values()} == {last}
    assert weights["otto"].caller == last
    story.add(Weighed(upto=len(story.events), weights=tuple(weights.values())))
    due = fold(story.events).due
    assert [(one.mate, one.line) for one in due if one.verdict == "speak"] == [
        (mate, line) for mate, line in zip(("maya", "merlin", "zoe"), lines, strict=True)
    ]


def test_of_several_lines_that_call_a_mate_it_answers_the_strongest_and_newest() -> None:
    """A mention counts more than a name, and of two alike the later."""
    story = Chronicle(people=2)
    story.hear("maya?")
    mention = story.hear("@maya, hello?").id
    story.hear("maya, please")
    story.hear("merlin?")
    newest = story.hear("merlin, and you?").id
    weights = weighed(story)
    assert (weights["maya"].caller, weights["merlin"].caller) == (mention, newest)


def test_what_follows_a_call_belongs_to_it() -> None:
    """Where one line alone calls, the turn answers the last of what was said in a row."""
    story = Chronicle(people=2)
    story.hear("maya, what time is it?")
    last = story.hear("in Tokyo, I mean").id
    assert weighed(story)["maya"].caller == last


def test_no_lines_no_weights() -> None:
    """Nothing heard, nobody called."""
    assert weigh_triggers(RoomState(), [], HOUSE, Chronicle().now) == []


def test_a_line_taken_in_by_a_running_turn_needs_no_other() -> None:
    """What was put before a mind in its turn is weighed no more for that mate, only for others."""
    story = Chronicle(people=2)
    line = story.hear("maya?").id
    story.weigh(("maya", line, "speak"))
    story.perceive("maya")
    news = story.hear("maya, and the date?").id
    story.say("noon, the third")
    story.end(took_in=(news,))
    state = fold(story.events)
    (batch, *_) = batches(state.pending())
    weights = {w.mate: w for w in weigh_triggers(state, batch, HOUSE, story.now)}
    assert weights["maya"].verdict == "pass"
    assert weights["maya"].reasons == {"answered already": 0}
    assert weights["merlin"].reasons["to another"] == REASONS["to another"].person


def test_the_rest_of_a_batch_still_calls() -> None:
    """Of two lines the first was taken in: only the second can call that mate."""
    story = Chronicle(people=2)
    line = story.hear("hm").id
    story.weigh(("maya", line, "speak"))
    story.perceive("maya")
    news = story.hear("maya, the date?").id
    story.hear("thanks")
    story.end(took_in=(news,))
    assert weighed(story)["maya"].verdict != "speak"
    story.hear("and the year, maya?")
    assert weighed(story)["maya"].verdict == "speak"


# ---------------------------------------------------------------- mates among themselves


def said(text: str, *, spent: int = 0) -> dict[str, Weight]:
    """The weights after a line of Maya's, in a room that had spent so much of its energy before."""
    story = Chronicle(people=2, mates=3)
    story.add(EnergySet(capacity=6, refill=4))
    for _ in range(spent):
        story.say("la", mate="zoe")
    story.weigh()
    story.say(text, mate="maya")
    return weighed(story)


def test_a_mate_addressed_by_a_mate_speaks() -> None:
    """A mention among mates counts, for less than a person's."""
    weights = said("@merlin, your view?")
    assert weights["merlin"].verdict == "speak"
    assert weights["merlin"].score < heard("@merlin")["merlin"].score
    assert "maya" not in weights


def test_the_same_line_weighs_less_from_a_mate() -> None:
    """No reason counts for more after a mate's line than after a person's, but the energy."""
    for name, points in REASONS.items():
        if points.person > 0:
            assert points.mate < points.person or name == "quiet so far"
    assert said("old maps, anyone?")["merlin"].score < heard("old maps, anyone?")["merlin"].score


def test_mates_among_themselves_tire() -> None:
    """Each line a mate said since a person spoke lowers its score, until even a call is passed."""
    story = Chronicle(people=2, mates=2)
    scores = []
    for _ in range(6):
        story.weigh()
        story.say("@maya?", mate="merlin")
        scores.append(weighed(story)["maya"].score)
        story.weigh()
        story.say("@merlin?", mate="maya")
    assert scores == [80, 65, 50, 35, 20, 5]
    story.weigh()
    story.hear("go on, you two")
    story.say("@maya?", mate="merlin")
    assert weighed(story)["maya"].score == 80


def test_the_rooms_energy_decides_between_mates() -> None:
    """The emptier the room, the less a mate has cause to answer another unasked."""
    points = [said("old maps?", spent=n)["merlin"].reasons.get("energy", 0) for n in range(6)]
    assert points == [5, 0, -5, -10, -15, -20]


def test_who_just_spoke_lets_others() -> None:
    """A mate that spoke right before this mate's line stands back."""
    story = Chronicle(people=2, mates=3)
    story.say("a", mate="merlin")
    story.say("b", mate="maya")
    weights = weighed(story)
    assert weights["merlin"].reasons["spoke just before"] == REASONS["spoke just before"].mate
    assert "spoke just before" not in weights["zoe"].reasons


def test_a_stopped_room_calls_nobody() -> None:
    """Until a person speaks again, even a mention between mates is passed over."""
    story = Chronicle(people=2)
    story.stop()
    story.say("@merlin", mate="maya")
    assert set(verdicts(weighed(story)).values()) == {"pass"}
    story.hear("@merlin", after=timedelta(minutes=1).total_seconds())
    assert weighed(story)["merlin"].verdict == "speak"


def test_the_thresholds_are_settable() -> None:
    """Whether a plain line is asked about is a matter of the threshold."""
    story = Chronicle(people=2, mates=len(MATES))
    story.hear("nice weather")
    assert verdicts(weighed(story, None, TriggerThresholds(ask=25)))["maya"] == "ask"
    assert verdicts(weighed(story, None, TriggerThresholds(ask=26)))["maya"] == "pass"
    assert verdicts(weighed(story, None, TriggerThresholds(speak=25, ask=9)))["maya"] == "speak"


def test_what_names_no_mate_is_answered_by_the_default_one() -> None:
    """In a group where mates are called, a line to mates as such; in private, every line."""
    story = Chronicle(people=2, mates=3)
    story.add(PlaceJoined(place="discord:7", name=public_words("general"), kind="group"))
    story.add(TalkSet(free=False))

    def verdict(text: str, **more: Any) -> dict[str, str]:
        story.add(Heard(person=PEOPLE[0], text=Words(text), **more))
        state = fold(story.events)
        found = weigh_triggers(state, state.recent(1), HOUSE, story.now)
        return {weight.mate: weight.summons for weight in found if weight.verdict == "speak"}

    assert verdict("a fine day", surface="discord:7") == {}
    first = next(iter(fold(story.events).mates))
    assert verdict("hello there", surface="discord:7", called=True) == {first: "default"}
    story.add(DefaultMateSet(mate="merlin"))
    assert verdict("a fine day", surface="discord:7") == {}
    assert verdict("hello there", surface="discord:7", called=True) == {"merlin": "default"}
    assert verdict("hello @maya", surface="discord:7", called=True) == {"maya": "mention"}
    story.add(PlaceJoined(place="discord:8", name=public_words("ana"), kind="private"))
    assert verdict("a fine day", surface="discord:8") == {"merlin": "default"}
    assert verdict("hello @maya", surface="discord:8") == {"maya": "mention"}
    story.add(DefaultMateSet(mate=""))
    assert verdict("a fine day", surface="discord:8") == {}


def test_who_is_alone_with_several_mates_is_answered_by_the_default_one() -> None:
    """In a room of the house as in private on a platform, unless mates are only to be called."""
    story = Chronicle(people=1, mates=3)
    story.add(DefaultMateSet(mate="merlin"))
    story.hear("a fine day")
    assert weighed(story)["merlin"].summons == "default"
    assert verdicts(weighed(story))["merlin"] == "speak"
    story.add(TalkSet(free=False))
    assert set(verdicts(weighed(story)).values()) == {"pass"}
