"""Forms in which models answer: what of each is said."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loopforge.core.egress.egress_filter import EgressFilter
from loopforge.core.text.malformed_answer import (
    MORE,
    PLAIN,
    UNDONE,
    read_lenient_answer,
    read_valid_answer,
)
from loopforge.policies.answer_form import AnswerForm
from loopforge.policies.tool_requests import WantedCall, wanted_calls
from tests.examples import few
from tests.playbook import heard, shown

FORM = AnswerForm(shown(heard("ana", "hi"), model="full")).schema()
PASSING = AnswerForm(shown(heard("ana", "hi"), model="full", decide="yes")).schema()
TOOLS = AnswerForm(shown(heard("ana", "hi"), model="full", tools="clock")).schema()
REST = '"mode": "context", "rule": "", "narrative": "I greet."'
HI = "Hi, ana."
WHOLE = f'{{"say": "{HI}", {REST}}}'

SAID: dict[str, tuple[str, str]] = {
    "as it is asked for": (WHOLE, HI),
    "in another order": (f'{{{REST}, "say": "{HI}"}}', HI),
    "say alone": (f'{{"say": "{HI}"}}', HI),
    "without mode": (f'{{"say": "{HI}", "rule": "", "narrative": "I."}}', HI),
    "as the history of old showed it": (
        f'{{"mode": "context", "narrative": "I.", "say": "{HI}"}}',
        HI,
    ),
    "with more keys": (f'{{"say": "{HI}", {REST}, "mood": "fine", "n": {{"a": [1, null]}}}}', HI),
    "mode unknown": (f'{{"say": "{HI}", "mode": "chat", "rule": 3, "narrative": ["I."]}}', HI),
    "narrative too long": (
        f'{{"say": "{HI}", "mode": "context", "rule": "", "narrative": "{"n" * 170}"}}',
        HI,
    ),
    "rule too long": (
        f'{{"say": "{HI}", "mode": "guardrail", "rule": "{"r" * 90}", "narrative": "I."}}',
        HI,
    ),
    "fenced": (f"```json\n{WHOLE}\n```", HI),
    "fenced without a language": (f"```\n{WHOLE}\n```", HI),
    "fenced, and never closed": (f"```json\n{WHOLE}", HI),
    "fenced in one line": (f"```json {WHOLE} ```", HI),
    "words before it": (f"Sure! Here is my answer:\n{WHOLE}", HI),
    "words before a fence": (f"Here is the JSON:\n\n```json\n{WHOLE}\n```", HI),
    "words after it": (f"{WHOLE}\n\nI hope this helps!", HI),
    "two objects": (f'{WHOLE}\n{{"say": "And more."}}', HI),
    "single quotation marks": (f"{{'say': '{HI}', 'mode': 'context'}}", HI),
    "a Python dict": (
        "{'say': \"I'm here, ana.\", 'mode': None, 'speak': True}",
        "I'm here, ana.",
    ),
    "an apostrophe in single marks": ("{'say': 'I'm here, ana.'}", "I'm here, ana."),
    "curly quotation marks": (f"{{“say”: “{HI}”, “mode”: “context”}}", HI),
    "keys without marks": (f'{{say: "{HI}", mode: "context"}}', HI),
    "words without marks": ("{say: Hi ana, mode: context}", "Hi ana"),
    "KEYS IN CAPITALS": (f'{{"Say": "{HI}", "MODE": "context"}}', HI),
    "a comma too many": (f'{{"say": "{HI}", "mode": "context",}}', HI),
    "a comma missing": (f'{{"say": "{HI}"\n "mode": "context"}}', HI),
    "two braces": (f'{{{{"say": "{HI}"}}}}', HI),
    "a brace missing": (f'{{"say": "{HI}", "mode": "context"', HI),
    "a comment": (f'{{\n  // my words\n  "say": "{HI}"\n}}', HI),
    "marks in the words": (
        '{"say": "He said "hi", and left.", "mode": "context"}',
        'He said "hi", and left.',
    ),
    "line breaks in the words": ('{"say": "One.\nTwo.", "mode": "context"}', "One.\nTwo."),
    "tabs and escapes": (r'{"say": "A\tB\\C \"D\" \u00e9\/"}', 'A\tB\\C "D" é/'),
    "an escape that is none": (r'{"say": "\alpha \_ C:\x"}', r"\alpha \_ C:\x"),
    "a pair of surrogates": (r'{"say": "\ud83d\ude00 hi"}', "😀 hi"),
    "half a pair": (r'{"say": "hi \ud83d there"}', "hi ? there"),
    "a mark of order first": (f"\ufeff{WHOLE}", HI),
    "in a list": (f"[{WHOLE}]", HI),
    "under response": (f'{{"response": {WHOLE}}}', HI),
    "under answer, beside its mode": (f'{{"answer": {{"say": "{HI}"}}, "mode": "context"}}', HI),
    "a call of a tool": (f'{{"name": "answer", "arguments": {WHOLE}}}', HI),
    "a call in a list": (f'[{{"type": "function", "function": {{"arguments": {WHOLE}}}}}]', HI),
    "a call with text": (json.dumps({"name": "answer", "arguments": WHOLE}), HI),
    "JSON in a string": (json.dumps(WHOLE), HI),
    "JSON in a string in a string": (json.dumps(json.dumps(WHOLE)), HI),
    "escaped, without a string": (WHOLE.replace('"', '\\"'), HI),
    "speak as a word": (f'{{"speak": "true", "say": "{HI}"}}', HI),
    "say a number": ('{"say": 42, "mode": "context"}', "42"),
    "say a list": ('{"say": ["One.", "Two."], "mode": "context"}', "One.\nTwo."),
    "say an object": (f'{{"say": {{"text": "{HI}"}}}}', HI),
    "say an object that names its kind first": (
        f'{{"say": {{"type": "text", "to": "ana", "text": "{HI}"}}, {REST}}}',
        HI,
    ),
    "say an object in an object": (f'{{"say": {{"message": {{"text": "{HI}"}}}}, {REST}}}', HI),
    "say a list of objects": (
        f'{{"say": [{{"type": "text", "text": "{HI}"}}, {{"text": "Tea?"}}], {REST}}}',
        f"{HI}\nTea?",
    ),
    "say an object of parts": (f'{{"say": {{"content": [{{"text": "{HI}"}}]}}, {REST}}}', HI),
    "say an object with a name of its own": (f'{{"say": {{"en": "{HI}"}}, {REST}}}', HI),
    "say the form once more": (json.dumps({"say": WHOLE, "mode": "context"}), HI),
    "say the form once more, behind a thought": (
        f"<think>Hm.</think>{json.dumps({'say': WHOLE})}",
        HI,
    ),
    "say is a file that was asked for": (json.dumps({"say": '{"a": 1}'}), '{"a": 1}'),
    "say is empty, the words elsewhere": (f'{{"say": "", "message": "{HI}", {REST}}}', HI),
    "say is the schema's own": ('{"properties": {"say": {"type": "string"}}}', ""),
    "another name, and a message": (
        f'{{"message": {{"role": "assistant", "content": "{HI}"}}, {REST}}}',
        HI,
    ),
    "another name, and parts": (f'{{"content": [{{"type": "text", "text": "{HI}"}}], {REST}}}', HI),
    "a plan around it": (f'{{"plan": {WHOLE}}}', HI),
    "a list of acts": (f'{{"acts": [{{"say": "{HI}"}}], {REST}}}', HI),
    "words before their form": (f"{HI}\n\n{{{REST}}}", HI),
    "words before their form in a fence": (f"{HI}\n```json\n{{{REST}}}\n```", HI),
    "another name for say": (f'{{"response": "{HI}"}}', HI),
    "another name, and a mode": (f'{{"text": "{HI}", "mode": "context"}}', HI),
    "thoughts before it": (f"<think>She greets. {{}}</think>\n{WHOLE}", HI),
    "thoughts in its words": (f'{{"say": "<think>She greets.</think>\\n{HI}", {REST}}}', HI),
    "thoughts in its words alone": (f'{{"say": "<think>She greets.", {REST}}}', ""),
    "thoughts with an object": (f'<think>{{"say": "no"}}</think>{WHOLE}', HI),
    "thoughts without a beginning": (f'Maybe {{"say": "no"}}?\n</think>\n{WHOLE}', HI),
    "thoughts before plain words": (f"<think>Hm.</think>{HI}", HI),
    "a channel for thoughts": (
        f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{WHOLE}",
        HI,
    ),
    "only the last channel": (f"<|channel|>final<|message|>{WHOLE}<|return|>", HI),
    "channels whose marks were lost": (f"analysisShe greets.assistantfinal{WHOLE}", HI),
    "channels whose marks were lost, plain": ("analysisShe greets.assistantfinalHi.", "Hi."),
    "the mark of an end": (f"{HI}<|im_end|>", HI),
    "plain words": (HI, HI),
    "plain words in a fence": (f"```\n{HI}\n```", HI),
    "plain words in marks": (f'"{HI}"', HI),
    "plain words, some in marks": ('"Hi" is what I say.', '"Hi" is what I say.'),
    "plain words under its name": (f"Maya: {HI}", HI),
    "plain words with a brace": ("Use {name}, or { }.", "Use {name}, or { }."),
    "plain words with code": (
        'Write {"a": 1} and return f({"b": 2}).',
        'Write {"a": 1} and return f({"b": 2}).',
    ),
    "plain words with brackets": ("[laughs] Oh, ana.", "[laughs] Oh, ana."),
    "plain words with a colon": ("One thing: tea.", "One thing: tea."),
    "a sign alone": ("🌱", "🌱"),
    "lines of keys": ("say: Hi, ana.\nmode: context\nnarrative: I greet.", HI),
    "one line with its key": ("say: Hi, ana.", HI),
    "lines of keys, in bold": ("**say:** Hi, ana.\n**mode:** context", HI),
    "lines of keys, with a block": ("say: |\n  Hi,\n  ana.\nmode: context", "Hi,\nana."),
    "tags": (f"<say>{HI}</say><mode>context</mode>", HI),
    "words for its yes": (f'{{"speak": "{HI}", {REST}}}', HI),
    "words for its yes, that begin with no": ('{"speak": "No, ana, tea."}', "No, ana, tea."),
    "words for its yes, in a tag": (f"<speak>{HI}</speak>", HI),
    "a line for its yes": (f"speak: true\n\n{HI}", HI),
    "lines of keys, its yes first": (f"speak: true\nsay: {HI}\nmode: context", HI),
    "one field of a name of its own": (f'{{"speaker": "Maya", "line": "{HI}"}}', HI),
    "acts": (f'{{"acts": [{{"type": "say", "text": "{HI}"}}]}}', HI),
    "saying as a tool": (f'{{"name": "say", "arguments": {{"text": "{HI}"}}}}', HI),
    "saying as a tool, in a tag": (
        f'<tool_call>{{"name": "say", "arguments": {{"text": "{HI}"}}}}</tool_call>',
        HI,
    ),
    "a tool that is not there, in a tag": ('<tool_call>{"name": "x", "arguments": {}}', ""),
    "words before a tool that is not there": (f'{HI}\n[TOOL_CALLS][{{"name": "x"}}]', HI),
    "the mark of a tool among words": ("Write <tool_call> first.", "Write <tool_call> first."),
    "a list of words": ('["Hi.", "Ana."]', "Hi.\nAna."),
}
"""What a model wrote, and what of it is said."""

CUT = {
    "in the middle of say": ('{"say": "Half a sen', "Half a sen …"),
    "at an escape": (r'{"say": "Half \u00', "Half …"),
    "after say": (f'{{"say": "{HI}", "mode": "con', HI),
    "in the narrative": (f'{{"say": "{HI}", "mode": "context", "rule": "", "narr": "I g', HI),
    "in the narrative, say last": ('{"mode": "context", "narrative": "I greet b', ""),
    "before say": ("{", ""),
    "at its key": ('{"sa', ""),
    "before say, behind words": ('Sure! {"mode": "context", "narrative": "I g', ""),
    "in a fence": ('```json\n{"say": "Half', "Half …"),
    "in a thought": ("<think>She greets me, so", ""),
    "in an object of words": ('{"say": {"text": "Half a sen', "Half a sen …"),
    "in a form once more": (r'{"say": "{\"say\": \"Half a sen', "Half a sen …"),
    "in plain words": ("Half a sen", "Half a sen …"),
    "where a use of a tool begins": ("I look.\n<tool_ca", "I look. …"),
    "in a use of a tool": ('I look.\n<tool_call>\n{"name": "clo', "I look."),
    "where a use begins in its words": (r'{"say": "I look.\n[TOOL_CA', "I look. …"),
    "where nothing but a use begins": ("<|python_t", ""),
    "in a file": (f'{{"say": "{HI}", "files": [{{"name": "a.md", "te', HI),
}
"""What came before the end of the time, and what of it is said."""

NOTHING = ("", "  \n", "{}", "[]", "}{ ????", "```json\n```", "<think>hm</think>")


def said(text: str, schema: dict[str, Any] = FORM, *, cut: bool = False) -> str:
    """What Maya says in the end."""
    data = read_lenient_answer(text, schema, "say", cut=cut).data or {}
    words = str(data.get("say", "")).encode("utf-8", "replace").decode()
    return EgressFilter(name="Maya").finish(words)[0]


@pytest.mark.parametrize("form", SAID)
def test_what_a_model_said_is_said(form: str) -> None:
    """Each form is read: its words are said, and nothing else of it."""
    text, words = SAID[form]
    assert said(text) == words


@pytest.mark.parametrize("form", CUT)
def test_of_a_cut_answer_what_had_come_of_its_words_is_said(form: str) -> None:
    """Never a brace, a narrative or a thought; a sign shows where the words broke off."""
    text, words = CUT[form]
    assert said(text, cut=True) == words
    assert (UNDONE in read_lenient_answer(text, FORM, "say", cut=True).notes) == (
        words.endswith("…")
    )


@pytest.mark.parametrize("text", NOTHING)
def test_where_there_are_no_words_none_are_made_up(text: str) -> None:
    """Nothing, thoughts alone and signs without a letter are no answer."""
    assert read_lenient_answer(text, FORM, "say").data is None


def test_what_was_missing_or_mended_is_noted() -> None:
    """The notes name what a form lacked, what was cut and what was left out."""
    assert read_lenient_answer(WHOLE, FORM, "say").notes == ()
    assert PLAIN in read_lenient_answer(HI, FORM, "say").notes
    assert (
        "missing: mode, rule, narrative" in read_lenient_answer('{"say": "x"}', FORM, "say").notes
    )
    long = read_lenient_answer(SAID["narrative too long"][0], FORM, "say")
    assert long.notes == ("narrative: cut at 160 characters",)
    assert long.data is not None
    assert len(long.data["narrative"]) == 160
    assert (
        "left out: 2 more fields"
        in read_lenient_answer(SAID["with more keys"][0], FORM, "say").notes
    )
    assert read_lenient_answer(f'{WHOLE}\n{{"say": "And more."}}', FORM, "say").notes == (MORE,)
    assert MORE in read_lenient_answer(f'[{WHOLE}, {{"say": "And more."}}]', FORM, "say").notes
    assert read_lenient_answer(f"{WHOLE}\n<|im_end|></s>", FORM, "say").notes == ()
    for none in ('{"mood": 1}', "{}", "[]"):
        odd = read_lenient_answer(f'{{"say": {none}, {REST}}}', FORM, "say")
        assert odd.notes == ("say: no words", "missing: say")
        assert "say" not in (odd.data or {}), "which is no silence"
    whole = {"say": HI, "mode": "context", "rule": "", "narrative": "n" * 161}
    assert read_valid_answer(whole, FORM, "say").notes == ("narrative: cut at 160 characters",)


@pytest.mark.parametrize("arguments", ['{"zone": "UTC"}', {"zone": "UTC"}])
def test_arguments_may_be_an_object_or_a_text(arguments: object) -> None:
    """A tool's arguments are kept in either form."""
    answer = {"say": HI, "calls": [{"tool": "clock", "arguments": arguments}]}
    data = read_lenient_answer(json.dumps(answer), TOOLS, "say").data
    assert data == answer


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("_" * 100_000, ""),
        (f"{HI}{' <|im_end|> </s>' * 20_000}", HI),
        (f"{HI} ({' ' * 1_000_000}x", f"{HI} ({' ' * 1_000_000}x"),
    ],
)
def test_a_model_that_repeats_itself_is_read_to_the_end(text: str, words: str) -> None:
    """Rows of one sign, of blanks and of ends of a turn are passed over once, not from each sign."""
    assert said(text) == words


CLOCK = '{"name": "clock", "arguments": {"zone": "UTC"}}'


@pytest.mark.parametrize(
    ("text", "words", "count"),
    [
        (f"<tool_call>\n{CLOCK}\n</tool_call>", "", 1),
        (
            f"Let me look.\n<tool_call>{CLOCK}</tool_call><tool_call>{CLOCK}</tool_call>",
            "Let me look.",
            2,
        ),
        (f"[TOOL_CALLS][{CLOCK}, {CLOCK}]", "", 2),
        (f"<|python_tag|>{CLOCK}", "", 1),
        (CLOCK.replace("arguments", "parameters"), "", 1),
    ],
)
def test_uses_of_tools_that_are_written_as_text(text: str, words: str, count: int) -> None:
    """What open models write where their server does not read it is a wish to use the tools."""
    data = read_lenient_answer(text, TOOLS, "say").data
    assert data is not None
    assert wanted_calls(data) == [WantedCall("clock", {"zone": "UTC"})] * count
    assert data["say"] == words
    assert said(f'<tool_call>{{"name": "say", "arguments": {{"text": "{HI}"}}}}', TOOLS) == HI


def test_objects_within_objects_are_looked_through_once() -> None:
    """Each level of them twice would take an hour for this one."""
    assert said('{"text":' * 23 + '""' + "}" * 23) == ""


@given(
    st.lists(
        st.sampled_from(
            ["{", "}", "[", "]", '"say"', '"mode"', ":", ",", '"hi"', "say", '"', "null", "<think>"]
        ),
        max_size=12,
    ),
    st.booleans(),
)
@settings(max_examples=few(300))
@example(['{"say":'], False)
@example(['{"say":,"mode":"context"}'], False)
@example(['[{"say":'], True)
def test_an_answer_is_read_wherever_it_breaks_off(pieces: list[str], cut: bool) -> None:
    """Also behind a key: what comes of it is words or none, and never an error of the policy."""
    read = read_lenient_answer("".join(pieces), FORM, "say", cut=cut)
    assert read.data is None or isinstance(read.data.get("say", ""), str)
