"""talk: a mind that decides whether to speak, and speaks."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from loopforge.core.action_plan import Act
from loopforge.core.perception import Line, LineKind, ToolOffer
from loopforge.core.policy import All, Answer, AnswerOutcome, Ask, Call, Result, ResultOutcome
from loopforge.core.room_vocabulary import Continue, Note, Paper, React, Remember, Say, StaySilent
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.policies.faq import RULE, TIME_RULE
from loopforge.policies.talk import MOST_WASTED, talk
from loopforge.policies.tool_requests import MOST_AT_ONCE
from loopforge.runtime.ports import ModelReply
from loopforge.runtime.turn_driver import read_of
from tests.playbook import PROMPTS, Playbook, heard, mine, shown

MIND = talk(PROMPTS)


def test_a_small_model_speaks_plainly_and_accounts_for_it_after() -> None:
    """With a small model the answer is plain text aloud, and mode and narrative a second question."""
    plan = (
        Playbook(MIND, shown(heard("ana", "@maya hello"), model="small"))
        .asks("talk", aloud=True)
        .answered("Hello ana, mind the seedlings.")
        .asks("account", aloud=False)
        .answered(mode="guardrail", rule="greet back", narrative="She greeted me.")
        .plans()
    )
    assert plan.acts == (Say(text="Hello ana, mind the seedlings."),)
    assert (plan.mode, plan.rule, plan.narrative) == ("guardrail", "greet back", "She greeted me.")


def test_a_capable_model_gives_one_structured_answer() -> None:
    """With a capable model one answer holds mode, narrative, words, note and the wish to go on."""
    plan = (
        Playbook(MIND, shown(heard("ana", "@maya remember this"), model="full"))
        .asks("talk", aloud=True)
        .answered(
            mode="context",
            rule="",
            narrative="I think it over.",
            say="One moment.",
            note="ana has a wish",
            again=True,
        )
        .plans()
    )
    assert plan.acts == (
        Say(text="One moment."),
        Note(text="ana has a wish"),
        Continue(why="I think it over."),
    )


CLOCK = ToolOffer(
    name="clock",
    summary="Tells the time.",
    schema={"type": "object", "properties": {"zone": {"type": "string"}}},
)


def at_the_clock(**answer: object) -> Playbook:
    """A mate that may use the clock was asked for the time, and answers this."""
    seen = shown(heard("ana", "@maya what time is it in Paris?", "first"), model="full")
    wished: dict[str, Any] = {"say": "", "calls": [using(zone="Europe/Paris")]}
    book = Playbook(MIND, replace(seen, tools=(CLOCK,))).asks("talk")
    return book.answered(**(wished | answer))


def using(tool: str = "clock", **arguments: object) -> dict[str, str]:
    """A call as a model writes it."""
    return {"tool": tool, "arguments": json.dumps(arguments)}


def test_it_asks_for_a_tool_sees_what_it_gave_and_then_speaks() -> None:
    """The tool is called with its arguments, and what it gave is a line of the next question."""
    book = at_the_clock(note="ana wants the time")
    assert book.request == Call("clock", {"zone": "Europe/Paris"})
    late = heard("bo", "and in Rome?", "late")
    book.told(Result("returned", "It is nine.", (late,))).asks("talk", aloud=True)
    assert "[user] [result of clock: It is nine.]\n[user] bo: and in Rome?\n" in book.prompt
    plan = book.answered(say="Nine, in both.", narrative="I looked.").plans()
    assert plan.acts == (
        Say(text="Nine, in both.", reply_to=""),
        Note(text="ana wants the time"),
    )


@pytest.mark.parametrize("outcome", ["deferred", "refused", "failed", "unknown", "timed_out"])
def test_what_else_becomes_of_a_tool_is_put_to_the_model(outcome: ResultOutcome) -> None:
    """A tool that goes on, or could not be used, is a line too, with what is known of it."""
    book = at_the_clock().told(Result(outcome, "Because.")).asks("talk")
    assert f"[result of clock, {outcome}: Because.]" in book.prompt


def test_half_a_character_in_arguments_ends_no_turn() -> None:
    """A tool is given them with a mark in its place, for no record can hold half of one."""
    book = at_the_clock(calls=[using() | {"arguments": '{"zone": "Asia/\\ud83d Tokyo"}'}])
    assert book.request == Call("clock", {"zone": "Asia/? Tokyo"})


def test_arguments_that_are_no_json_reach_no_tool() -> None:
    """They are put back to the model with a sentence."""
    book = at_the_clock(calls=[using() | {"arguments": "Paris, please"}]).asks("talk")
    assert "its arguments were no JSON object" in book.prompt


def test_tools_are_used_until_a_bound_of_the_turn_is_met() -> None:
    """What is left is told in words; then no tool is offered, so that the turn comes to an end."""
    book = at_the_clock()
    book.told(Result("returned", "nine", left="1 use of tools")).asks("talk")
    assert book.prompt.endswith("Left to you in this turn: 1 use of tools.")
    assert "calls" in book.form
    book.answered(say="", calls=[using()])
    book.told(Result("returned", "nine", left="0 uses", bound="one use is the most")).asks("talk")
    assert "No tool can be used any more: one use is the most. Answer with what" in book.prompt
    assert "Left to you" not in book.prompt
    assert "calls" not in book.form
    assert book.answered(say="Nine.", calls=[using()]).plans().acts == (Say(text="Nine."),)


def test_prose_beside_uses_of_tools_is_its_thinking() -> None:
    """It is shown it with what the tool gave, and says none of it; words in the form are no such."""
    seen = shown(heard("ana", "@maya what time is it in Paris?", "first"), model="full")
    for text, data, there in (
        ("Paris, so I look.", {"calls": [using()]}, True),
        ("{...}", {"say": "Wait.", "calls": [using()]}, False),
    ):
        book = Playbook(MIND, replace(seen, tools=(CLOCK,))).asks("talk")
        book.told(Answer("answered", text, data)).told(Result("returned", "nine")).asks("talk")
        thought = "[your note to yourself: Paris, so I look.]\n[user] [result of clock: nine]"
        assert (thought in book.prompt) == there
        assert ("your note" in book.prompt) == there
        assert book.answered(say="Nine.").plans().acts == (Say(text="Nine."),)


def test_who_wants_what_cannot_be_used_is_not_asked_for_ever() -> None:
    """After a few answers without one call that could be made, no tool is offered any more."""
    book = at_the_clock(calls=[using() | {"arguments": "Paris"}])
    for _ in range(MOST_WASTED - 1):
        assert "calls" in book.asks("talk").form
        book.answered(say="", calls=[using() | {"arguments": "Paris"}])
    assert "calls" not in book.asks("talk").form


def with_tools(*wanted: dict[str, str]) -> Playbook:
    """A mate that reads the clock and the map, and turns the oven, wants these used at once."""
    offered = (
        replace(CLOCK, reads=True),
        ToolOffer(name="map", reads=True),
        ToolOffer(name="oven"),
    )
    seen = replace(shown(heard("ana", "@maya do it", "first"), model="full"), tools=offered)
    return Playbook(MIND, seen).asks("talk").answered(say="", calls=list(wanted))


def test_what_only_reads_is_used_side_by_side() -> None:
    """All at once; each result says which use it is of."""
    book = with_tools(using(zone="Asia/Tokyo"), using("map", of="Kyoto"))
    assert book.request == All(
        (Call("clock", {"zone": "Asia/Tokyo"}), Call("map", {"of": "Kyoto"}))
    )
    results = (Result("returned", "Nine."), Result("failed", "No map."))
    book.told(results).asks("talk")
    assert '[result of clock: (for {"zone": "Asia/Tokyo"})\n| Nine.]' in book.prompt
    assert '[result of map, failed: (for {"of": "Kyoto"})\n| No map.]' in book.prompt


def test_what_changes_something_is_used_one_after_the_other() -> None:
    """Until one does not come back: what stands behind it is not used, and it is told so."""
    book = with_tools(using("oven", degrees=180), using(), using("oven", degrees=0))
    assert book.request == Call("oven", {"degrees": 180})
    assert book.told(Result("returned", "Hot.")).request == Call("clock", {})
    book.told(Result("deferred", "It goes on.")).asks("talk")
    assert "oven was not used: the tool before it did not come back." in book.prompt


def test_one_answer_uses_only_so_many() -> None:
    """What is more than that is told, and not used."""
    book = with_tools(*[using(zone=f"{nth}") for nth in range(MOST_AT_ONCE + 2)])
    asked = book.request
    assert isinstance(asked, All)
    assert len(asked.requests) == MOST_AT_ONCE
    book.told(tuple(Result("returned", "nine") for _ in asked.requests)).asks("talk")
    assert book.prompt.count(f"one answer uses tools {MOST_AT_ONCE} times at most") == 2


def test_whom_nobody_addressed_is_asked_first_whether_it_speaks() -> None:
    """Quietly; it may stay silent, and what it says it wants counts for more than its yes or no."""
    seen = shown(heard("ana", "slugs!"), model="small", decide="yes")
    asked = Playbook(MIND, seen).asks("decide", aloud=False)
    plan = asked.answered(speak=False, narrative="They talk among themselves.").plans()
    assert plan.acts == (StaySilent(why="They talk among themselves."),)
    assert plan.intent == "listen"
    asked = Playbook(MIND, seen).asks("decide")
    asked.answered(speak=False, narrative="I want to speak of slugs.").asks("talk", aloud=True)


def test_a_small_model_accounts_afresh() -> None:
    """Its second question is a short prompt of its own: examples, the line, and what it said."""
    line = heard("ana", "@maya hello", "first")
    book = Playbook(MIND, shown(heard("bo", "hm"), line, model="small", line="first"))
    prompt = book.answered("Hello.").asks("account").prompt
    assert prompt.startswith("[system] <account-small>")
    assert prompt.endswith("[user] ana: @maya hello\nMaya: Hello.")
    assert "bo: hm" not in prompt


def test_the_time_stands_at_the_tail() -> None:
    """Date and time come last in the prompt of a capable model; a small one is not told."""
    small = Playbook(MIND, shown(heard("ana", "hi"), model="small", now="Saturday, 14:05"))
    assert "14:05" not in small.prompt
    prompts = PROMPTS | {"reply": "It is {now}."}
    for text in ("hi", "what time is it?"):
        seen = shown(heard("ana", text), model="full", now="Saturday, 14:05")
        full = Playbook(talk(prompts), seen)
        assert full.prompt.splitlines()[-1] == "It is Saturday, 14:05."


@pytest.mark.parametrize(
    ("text", "said", "rule", "word"),
    [
        ("what time is it?", "It is Saturday, 14:05 (UTC).", TIME_RULE, "clock"),
        ("where am I?", "This is Maya's home. (README.md)", RULE, "pages"),
    ],
)
def test_a_small_model_is_not_asked_for_the_time_or_the_house(
    text: str, said: str, rule: str, word: str
) -> None:
    """The clock and the pages say it, as often as it is asked; who has heard it needs it no more."""
    line = heard("ana", f"maya, {text}", "first")
    context = {"model": "small", "now": "Saturday, 14:05 (UTC)"}
    plan = Playbook(MIND, shown(line, **context)).plans()
    assert plan.acts == (Say(text=said),)
    assert (plan.mode, plan.rule) == ("guardrail", rule)
    assert word in plan.narrative
    told = Line(kind="said", who=Words("Zuzu"), text=Words(said))
    again = shown(line, told, heard("ana", text, "second"), **context)
    assert Playbook(MIND, again).plans().acts == (Say(text=said),)
    silent = shown(line, told, line="first", **context)
    assert Playbook(MIND, silent).plans().intent == "listen"


CHARACTER = "You are Maya.\n\n> Hi!\nHello, what broke?\n\n## Small talk\n\n> I am sad.\nTell me."


def test_a_small_model_is_shown_the_example_that_is_like_the_line() -> None:
    """It is a message of whoever speaks now; the others, and the talk before, are left out."""
    lines = (heard("ana", "hm"), mine("Yes?", "why"), heard("bo", "so sad today"))
    prompt = Playbook(MIND, shown(*lines, model="small", character=CHARACTER)).prompt
    assert prompt.splitlines()[1:] == [
        "<base-small>",
        *(["[user] bo: I am sad.", "[assistant] Tell me."] * 2),
        "[user] bo: so sad today",
    ]


def test_what_is_like_no_example_is_read_after_the_exchange_before_it() -> None:
    """One exchange, then what has been said since: more makes a small model repeat itself."""
    lines = (
        heard("ana", "one"),
        mine("two", "why"),
        heard("ana", "three"),
        mine("four", "why"),
        heard("bo", "five"),
        heard("cy", "six"),
    )
    prompt = Playbook(MIND, shown(*lines, model="small", character=CHARACTER)).prompt
    assert prompt.splitlines()[2:] == [
        "[user] ana: three",
        "[assistant] four",
        "[user] bo: five",
        "cy: six",
    ]


def test_a_capable_model_reads_the_examples_but_not_the_small_talk() -> None:
    """Examples are text to it; those under the heading are for small models alone."""
    prompt = Playbook(MIND, shown(heard("a", "b"), model="full", character=CHARACTER)).prompt
    assert "> Hi!\nHello, what broke?" in prompt
    assert "I am sad" not in prompt
    assert "Small talk" not in prompt


def test_what_it_has_said_already_is_asked_for_anew() -> None:
    """Its own words again, or those it was to answer, are asked for once more in another form."""
    lines = (heard("ana", "I am sad."), mine("Tell me.", "why"), heard("ana", "i am sad", "b"))
    book = Playbook(MIND, shown(*lines, model="small", character=CHARACTER))
    again = book.answered("Tell me!").asks("talk", aloud=True)
    assert again.prompt.splitlines()[-3:] == [
        "[user] ana: I am sad.",
        "[assistant] Tell me.",
        "[user] ana: i am sad",
    ]
    plan = again.answered("What is it?").answered(narrative="I asked.").plans()
    assert plan.acts == (Say(text="What is it?"),)


@pytest.mark.parametrize(
    "copied",
    ["Merlin: Ah, Ana! We have met already.", "ah, Ana", "I measure. What broke"],
)
def test_the_words_of_another_mate_are_no_answer(copied: str) -> None:
    """What a mate has said, or its beginning, is asked for once more with the called line alone."""
    merlins = Words("Ah, Ana! We have met already. What troubles you?")
    lines = (
        mine("I measure. What broke today?", "greet"),
        Line(kind="said", who=public_words("Merlin"), text=merlins, id="a"),
        heard("ana", "Hello, I bake bread", "b"),
    )
    book = Playbook(MIND, shown(*lines, model="small", character="You are Maya."))
    assert "Ah, Ana!" in book.prompt
    again = book.answered(copied).asks("talk", aloud=True)
    assert "Ah, Ana!" not in again.prompt
    assert again.prompt.splitlines()[-1] == "[user] ana: Hello, I bake bread"
    plan = again.answered("Ah, bread!").answered(narrative="I was glad.").plans()
    assert plan.acts == (Say(text="Ah, bread!"),)


def test_who_says_what_it_remembers_as_it_was_told_is_asked_without_it() -> None:
    """A row of its memory is no answer, and the next question holds none."""
    memory = Line(
        kind="recalled", who=public_words("Ana"), text=Words("I fear rain"), which="in another room"
    )
    seen = shown(memory, heard("ana", "Do you like rain?"), model="small", character=CHARACTER)
    book = Playbook(MIND, seen)
    assert "I fear rain" in book.prompt
    again = book.answered("[in another room, from Ana: I fear rain]").asks("talk", aloud=True)
    assert "I fear rain" not in again.prompt
    plan = again.answered("I do.").answered(narrative="I said so.").plans()
    assert plan.acts == (Say(text="I do."),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Ana: I had pizza.", "I had pizza."),
        ("maya: “Hello there.”", "Hello there."),
        ("(smiling) Ah, soup.", "Ah, soup."),
        ("Ana: (smiling) Ah, soup.", "Ah, soup."),
        ("*waves* Hi!", "Hi!"),
        ("Note: it is late.", "Note: it is late."),
        ("I eat. I eat!", "I eat."),
        ("It is red. No, no, no, no, no, no.", "It is red."),
        ("One. Two! Three? Fo", "One. Two!"),
        ("Only this one without an end", "Only this one without an end"),
        ('He said "no." And then', 'He said "no."'),
        ("He said “no.” Then left.", "He said “no.” Then left."),
        ("One line.\nAnother. Third.", "One line."),
        ("It costs 3.50 in all. Good. More.", "It costs 3.50 in all. Good."),
    ],
)
def test_what_only_a_small_model_writes_is_not_said(text: str, said: str) -> None:
    """Two sentences are, without a speaker's name, a stage direction, a circle or a cut one."""
    plan = (
        Playbook(MIND, shown(heard("ana", "what did you have"), model="small"))
        .answered(text)
        .answered(narrative="I answered.")
        .plans()
    )
    assert plan.acts == (Say(text=said),)


def test_a_mind_that_goes_on_alone_is_told_to() -> None:
    """When the last line is its own, a small model is asked to go on."""
    book = Playbook(MIND, shown(heard("ana", "hi"), mine("one", "why"), model="small"))
    assert book.prompt.splitlines()[-1] == "[user] Go on."


def test_its_last_narrative_is_put_before_it_when_it_accounts() -> None:
    """A small model is shown how it accounted for itself last, so that the form does not drift."""
    seen = shown(mine("one", "I weighed the frost."), heard("ana", "and now?"), model="small")
    prompt = Playbook(MIND, seen).answered("Wait.").asks("account").prompt
    assert (
        '[assistant] {"narrative": "I weighed the frost.", "rule": "none", "mode": "context"}'
        in prompt
    )


def test_texts_of_the_room_stay_references() -> None:
    """The words of a line stand in the prompt as the very Words they are, also in JSON history."""
    kinds: list[LineKind] = ["heard", "said", "mine", "note", "result", "told"]
    lines = [Line(kind=kind, who=Words("ada"), text=Words(kind)) for kind in kinds]
    for model, kept in (("full", kinds), ("small", ["heard", "said", "mine"])):
        request = Playbook(
            MIND, shown(*lines[3:], heard("bo", "hm"), *lines[2::-1], model=model)
        ).request
        assert isinstance(request, Ask)
        parts = [part for message in request.messages for part in message.parts]
        for line in lines:
            assert line.kind not in kept or any(part is line.text for part in parts), line.kind


@pytest.mark.parametrize("outcome", ["malformed", "failed", "timed_out", "refused", "cancelled"])
def test_an_answer_that_did_not_come_is_never_dressed_up(outcome: AnswerOutcome) -> None:
    """Whatever goes wrong is in the plan's meta; words the model gave itself are the only words."""
    for model in ("small", "full"):
        for text in ("", "half a sen"):
            book = Playbook(MIND, shown(heard("ana", "hi"), model=model)).asks("talk")
            plan = book.told(Answer(outcome, text)).plans()
            assert plan.meta == {"trouble": outcome}
            for act in plan.acts:
                assert isinstance(act, StaySilent) or text in getattr(act, "text", "")


def test_a_late_answer_says_what_it_replies_to() -> None:
    """When other lines came after the one that called, the answer is marked as a reply to it."""
    lines = (heard("ana", "@maya?", "first"), heard("bo", "well", "second"))
    plan = (
        Playbook(MIND, shown(*lines, model="small", line="first"))
        .answered("Yes.")
        .answered(mode="context", rule="", narrative="She asked.")
        .plans()
    )
    assert plan.acts == (Say(text="Yes.", reply_to="first"),)


def test_files_go_with_what_it_says() -> None:
    """Where files are offered they are part of its words, as they were given, however many."""
    written = [{"name": f"{nth}.md", "text": "# Bread\n"} for nth in range(4)]
    plan = (
        Playbook(MIND, shown(heard("ana", "@maya write"), model="full", files="yes"))
        .asks("talk", aloud=True)
        .answered(mode="context", rule="", narrative="She asked.", say="Here.", files=written)
        .plans()
    )
    files = tuple(Paper(name=f"{nth}.md", text="# Bread\n") for nth in range(4))
    assert plan.acts == (Say(text="Here.", files=files),)


def test_files_nobody_offered_are_passed_over() -> None:
    """A model that gives files unasked gives none."""
    plan = (
        Playbook(MIND, shown(heard("ana", "@maya write"), model="full"))
        .asks("talk", aloud=True)
        .answered(mode="context", rule="", narrative="I.", say="Here.", files=[{"name": "a"}])
        .plans()
    )
    assert plan.acts == (Say(text="Here."),)


ASKED = shown(heard("ana", "slugs!"), model="full", decide="yes")
CALLED = shown(heard("ana", "@maya hi"), model="full")


@pytest.mark.parametrize("outcome", ["timed_out", "failed", "malformed"])
def test_what_had_come_of_its_words_is_said(outcome: AnswerOutcome) -> None:
    """An answer that broke off is said as far as its words had come, never as the form it is in."""
    raw = '{"say": "The kettle is", "mode": '
    cut = Answer(outcome, raw, {"say": "The kettle is …"}, cut=True)
    assert Playbook(MIND, CALLED).told(cut).plans().acts == (Say(text="The kettle is …"),)
    none = Answer(outcome, '{"mode": "context", "narr', {"mode": "context"}, cut=True)
    (act,) = Playbook(MIND, CALLED).told(none).plans().acts
    assert isinstance(act, StaySilent)


@pytest.mark.parametrize("outcome", ["timed_out", "failed", "malformed", "refused"])
@pytest.mark.parametrize("model", ["small", "full"])
def test_whom_nobody_addressed_says_it_whole_or_not_at_all(
    outcome: AnswerOutcome, model: str
) -> None:
    """A mate that was only asked whether it wants to speak says nothing of what broke off."""
    seen = shown(heard("ana", "slugs!"), model=model, decide="yes")
    data = {"speak": True, "say": "The kettle is …"}
    plan = Playbook(MIND, seen).told(Answer(outcome, "The kettle", data, cut=True)).plans()
    assert [type(act) for act in plan.acts] == [StaySilent]


def test_whom_nobody_addressed_stays_silent_in_any_form() -> None:
    """A no, no words, and words that say that there are none are all silence."""
    for data in (
        {"speak": False, "say": "Well."},
        {"speak": False},
        {"speak": True, "say": ""},
        {"say": "PASS"},
        {"say": "(stays silent)"},
        {"say": "I have nothing to add."},
        {"say": "*Maya says nothing.*"},
        {"say": "No response needed."},
    ):
        plan = Playbook(MIND, ASKED).told(Answer("answered", "", data)).plans()
        assert [type(act) for act in plan.acts] == [StaySilent], data
    plan = Playbook(MIND, ASKED).told(Answer("answered", "", {"say": "Pass the salt."})).plans()
    assert plan.acts == (Say(text="Pass the salt."),)
    plan = Playbook(MIND, CALLED).told(Answer("answered", "", {"say": "Nothing."})).plans()
    assert plan.acts == (Say(text="Nothing."),)


def test_an_answer_without_words_is_none_for_whom_was_addressed() -> None:
    """An object that has everything but words is trouble, not silence of its own will."""
    data = {"mode": "context", "narrative": "I greet."}
    plan = Playbook(MIND, CALLED).told(Answer("answered", "", data)).plans()
    assert plan.meta == {"trouble": "malformed"}


@pytest.mark.parametrize(
    ("say", "emoji", "acts"),
    [
        ("", "👍", (React(to="first", emoji="👍"),)),
        ("Any time.", "❤", (Say(text="Any time."), React(to="first", emoji="❤"))),
        ("Any time.", "", (Say(text="Any time."),)),
        ("Any time.", "<b>", (Say(text="Any time."),)),
        ("", "", (StaySilent(why="I am content."),)),
    ],
)
def test_it_may_react_by_an_emoji(say: str, emoji: str, acts: tuple[Act, ...]) -> None:
    """An emoji goes onto the line that called it, beside its words or in their place."""
    seen = shown(heard("ana", "thanks Maya", "first"), model="full", react="yes", line="first")
    answer = {"say": say, "react": emoji, "mode": "context", "narrative": "I am content."}
    assert Playbook(MIND, seen).asks("talk").answered(**answer).plans().acts == acts


@pytest.mark.parametrize(
    ("say", "short", "lines"),
    [
        ("Ha!\n\nWait.\n \nWhat?", "yes", ["Ha!", "Wait.", "What?"]),
        ("Ha!\n\nWait.", "", ["Ha!\n\nWait."]),
        ("Ha!\nWait.", "yes", ["Ha!\nWait."]),
        ("1\n\n2\n\n3\n\n4", "yes", ["1\n\n2\n\n3\n\n4"]),
        ("See:\n\n- one", "yes", ["See:\n\n- one"]),
        ("See:\n\n" + "long " * 60, "yes", ["See:\n\n" + ("long " * 60).strip()]),
    ],
)
def test_it_may_say_several_short_lines(say: str, short: str, lines: list[str]) -> None:
    """An empty line parts short lines where there is room for them; a text stays one."""
    seen = shown(heard("ana", "Maya!", "first"), model="full", short=short)
    plan = Playbook(MIND, seen).asks("talk").answered(say=say, mode="context").plans()
    assert [act.text for act in plan.acts if isinstance(act, Say)] == lines


def read_back(raw: dict[str, Any], line: str, **context: str) -> Playbook:
    """What it does with an answer as a model wrote it."""
    book = Playbook(MIND, shown(heard("ana", line), model="full", **context)).asks("talk")
    assert isinstance(book.request, Ask)
    reply = ModelReply(outcome="malformed", text=json.dumps(raw), model="m")
    outcome, reading = read_of(book.request, reply)
    return book.told(Answer(outcome, reply.text, reading.data, "m"))


@pytest.mark.parametrize(
    "wish",
    [
        {"calls": [{"name": "clock", "arguments": {"zone": "UTC"}}]},
        {"calls": [{"function": {"name": "clock", "arguments": '{"zone": "UTC"}'}}]},
        {"calls": {"tool": "clock", "parameters": {"zone": "UTC"}}},
        {"tool_calls": [{"tool": "clock", "args": {"zone": "UTC"}}]},
    ],
)
def test_a_tool_is_wanted_in_any_form_of_providers(wish: dict[str, Any]) -> None:
    """It was read as silence."""
    book = read_back({"say": "", "narrative": "I look.", **wish}, "what time is it?", tools="clock")
    assert book.request == Call("clock", {"zone": "UTC"})


def test_a_wish_for_a_tool_that_cannot_be_read_is_no_silence() -> None:
    """It is told as an answer that made no sense."""
    plan = read_back({"say": "", "calls": ["clock"]}, "what time is it?", tools="clock").plans()
    assert plan.meta == {"trouble": "malformed"}


@pytest.mark.parametrize("kept", [["Ana is vegan"], {"who": "ana", "fact": "Ana is vegan"}])
def test_what_it_keeps_is_kept_in_words(kept: object) -> None:
    """An object or a list in place of a text; no repr of it is kept."""
    plan = read_back({"say": "Yes.", "remember": kept}, "remember that I am vegan").plans()
    assert plan.acts == (Say(text="Yes."), Remember(text="Ana is vegan"))


def test_files_by_other_names_of_their_fields() -> None:
    """A file's text may be its lines; what is no file is none, not an empty one."""
    files = [{"filename": "a.md", "content": ["x", "y"]}, {"a.md": "x"}]
    plan = read_back({"say": "Here.", "files": files}, "write a file", files="yes").plans()
    assert plan.acts == (Say(text="Here.", files=(Paper(name="a.md", text="x\ny"),)),)


def test_a_small_model_that_writes_a_use_of_a_tool_says_nothing() -> None:
    """It was offered none: nothing of that is said, and whoever called it is told."""
    use = '<tool_call>{"name": "clock", "arguments": {}}</tool_call>'
    book = Playbook(MIND, shown(heard("ana", "@maya hello"), model="small")).asks("talk")
    plan = book.answered(use).asks("talk").answered(use).plans()
    assert plan.acts == (StaySilent(why="the model's answer made no sense"),)
    assert plan.meta == {"trouble": "malformed"}
