"""The form of an answer: its words first, and only the fields that may be needed."""

import pytest
from msgspec.structs import replace

from loopforge.core.perception import ToolOffer
from loopforge.core.text.erasable_text import public_words
from loopforge.mates.prompt_files import PromptFiles
from loopforge.policies.answer_form import AnswerForm
from loopforge.policies.prompt_building import LISTING, opening_messages, without_tools
from loopforge.policies.speaker_messages import instruction_message
from loopforge.policies.talk import talk
from tests.playbook import PROMPTS, Playbook, heard, shown

BASE = ["say", "mode", "rule", "narrative"]


def fields(text: str, **context: str) -> list[str]:
    """The fields that are asked for after this line, in their order."""
    seen = shown(heard("ana", text), model="full", **{"files": "yes", **context})
    schema = AnswerForm(seen).schema()
    assert schema["required"] == list(schema["properties"])
    return list(schema["required"])


def test_its_words_come_first() -> None:
    """The form opens with its words; for whom nobody addressed, with whether it speaks."""
    assert fields("hi there") == BASE
    assert fields("hi there", decide="yes") == ["speak", *BASE]


@pytest.mark.parametrize(
    "line",
    [
        "can you write a short story?",
        "please make me a list of plants",
        "a csv of it, please",
        "und jetzt als Datei bitte",
        "écris une lettre",
        "¿me das la receta?",
        "what is wrong in main.py",
        "一覧を作って",
        "Напиши список",
    ],
)
def test_files_are_offered_where_a_text_is_wanted(line: str) -> None:
    """Words of texts and files call for them, and so does an alphabet that the words are not of."""
    assert fields(line) == [*BASE, "files"] or "files" in fields(line)
    assert "files" not in fields(line, files="")


@pytest.mark.parametrize("line", ["hi", "lol", "what is the capital of France?", "Guten Morgen!"])
def test_small_talk_is_asked_for_four_fields(line: str) -> None:
    """For a plain line there is no paperwork."""
    assert fields(line) == BASE


@pytest.mark.parametrize("line", ["remember that I am vegan", "vergiss das nicht", "step by step"])
def test_a_note_is_offered_where_something_is_to_be_kept(line: str) -> None:
    """Notes and further steps are there where somebody asks to remember, or in a chain."""
    assert fields(line) == [*BASE, "note", "remember", "forget", "again"]
    assert fields("hi", summons="continue") == [*BASE, "note", "remember", "forget", "again"]


def test_tools_are_offered_where_they_are_granted() -> None:
    """Tools stand in the form and in what is said of it, with what they do and are given."""
    assert fields("hi", tools="clock dice") == [*BASE, "calls"]
    prompts = PROMPTS | {"tools": "Yours: {tools}."}
    seen = shown(heard("ana", "hi"), model="full", tools="clock dice")
    item = AnswerForm(seen).schema()["properties"]["calls"]["items"]
    assert item["properties"]["tool"] == {"type": "string", "enum": ["clock", "dice"]}
    assert AnswerForm(seen).told(prompts) == "<form>\n<form-tools>\n<form-more>\n<form-attach>"
    assert AnswerForm(without_tools(seen)).told(prompts) == "<form>\n<form-more>"
    assert opening_messages(seen, prompts)[LISTING].text == "Yours: clock dice."
    schema = {"type": "object", "properties": {"sides": {"type": "integer"}}}
    dice = ToolOffer(name="dice", summary="Throws one.", schema=schema)
    told = opening_messages(replace(seen, tools=(dice,)), prompts)[LISTING].text
    assert 'Yours: - dice: Throws one. Its arguments: {"sides": {"type": "integer"}}.' in told


def test_what_is_not_in_the_form_is_not_spoken_of() -> None:
    """The instructions name the fields of the form and no others."""
    seen = shown(heard("ana", "hi"), model="full", files="yes")
    assert AnswerForm(seen).instructions(PROMPTS) == "<reply>"
    assert Playbook(talk(PROMPTS), seen).prompt.endswith("\n<reply>")
    seen = shown(heard("ana", "remember my list"), model="full", files="yes", decide="yes")
    expected = "<reply>\n<reply-pass>\n<reply-more>"
    assert AnswerForm(seen).instructions(PROMPTS) == expected
    assert AnswerForm(seen).told(PROMPTS) == "<form>\n<form-more>\n<form-files>"
    named = AnswerForm(seen).instructions(PROMPTS | {"reply-more": "{more}"})
    assert named.endswith("`files`, `note`, `remember`, `forget`, `again`")


def test_a_forgotten_line_calls_for_nothing() -> None:
    """A line whose words were erased is passed over."""
    gone = type(heard("a", "b"))(
        kind="heard", who=public_words("ana"), text=type(public_words(""))(None, "0")
    )
    assert list(AnswerForm(shown(gone, model="full", files="yes")).schema()["required"]) == BASE


def test_a_link_is_offered_to_be_read() -> None:
    """Only to who can read it, while it is the last thing that was said, by somebody known here."""
    link = "look: https://example.org/slugs"
    told = AnswerForm(shown(heard("ana", link), model="full", tools="read_page")).instructions(
        PROMPTS
    )
    assert "reply-link" in told
    for line, tools in ((link, "clock"), ("no link here", "read_page"), ("https://", "read_page")):
        seen = shown(heard("ana", line), model="full", tools=tools)
        assert "reply-link" not in AnswerForm(seen).instructions(PROMPTS)
    stranger = replace(heard("ana", link), untrusted=True)
    seen = shown(stranger, model="full", tools="read_page")
    assert "reply-link" not in AnswerForm(seen).instructions(PROMPTS)


@pytest.mark.parametrize("react", ["yes", ""])
def test_an_emoji_is_told_of_at_the_beginning_where_one_can_be_put_on_lines(react: str) -> None:
    """The form is the same at every turn, whatever the line is: providers cache it."""
    seen = shown(heard("ana", "Maya, what time is it?", "first"), model="full", react=react)
    assert ("react" in AnswerForm(seen).schema()["properties"]) is bool(react)
    assert ("<form-react>" in AnswerForm(seen).told(PROMPTS)) is bool(react)
    assert "react" not in AnswerForm(seen).instructions(PROMPTS)


@pytest.mark.parametrize(
    "text", ["@maya what?", "@maya remember this, and write a story about http://x.org"]
)
def test_what_is_asked_at_the_end_is_short(text: str) -> None:
    """With names and titles as long as may be, and whatever the line may call for."""
    result = heard("plot", "[file 3fa9c1d2: a.png, image/png, 1,200 bytes]")
    lines = (replace(result, kind="result"), heard("a" * 40, text))
    context = {"decide": "yes", "files": "yes", "place": f"You are in the room “{'t' * 80}”."}
    context |= {"to": "a" * 40, "now": "Wednesday 30 September 2026, 14:05 (America/Indiana/Knox)"}
    seen = replace(shown(*lines, model="full", **context), name="M" * 40)
    seen = replace(seen, tools=(ToolOffer(name="read_page"),))
    asked = instruction_message(AnswerForm(seen).instructions(PromptFiles()), seen)
    assert 450 < len(asked.text.encode()) <= 900
