"""Uses of tools as chat templates write them."""

import json

import pytest

from loopforge.core.text.malformed_answer import CUT, read_lenient_answer, read_valid_answer
from loopforge.core.text.streamed_answer import SpokenWords
from loopforge.core.text.tool_markup import with_json_calls
from loopforge.policies.tool_requests import WantedCall, wanted_calls
from tests.core.test_malformed_answer import TOOLS, said

QWEN = (
    "<tool_call>\n<function=clock>\n<parameter=zone>\nUTC\n</parameter>\n</function>\n</tool_call>"
)
GLM = "<tool_call>clock\n<arg_key>zone</arg_key>\n<arg_value>UTC</arg_value>\n</tool_call>"
MINIMAX = (
    '<minimax:tool_call>\n<invoke name="clock">\n<parameter name="zone">UTC</parameter>\n'
    "</invoke>\n</minimax:tool_call>"
)
DEEPSEEK = (
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>clock\n```json\n"
    '{"zone": "UTC"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
)
DEEPSEEK_3 = '<｜tool▁call▁begin｜>clock<｜tool▁sep｜>{"zone": "UTC"}<｜tool▁call▁end｜>'
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.clock:0"
    '<|tool_call_argument_begin|>{"zone": "UTC"}<|tool_call_end|><|tool_calls_section_end|>'
)

JSON = '{"name": "clock", "arguments": {"zone": "UTC"}}'
DSML = (
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="clock">\n<｜DSML｜parameter name="zone" '
    'string="true">UTC</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>'
)
STEP = (
    '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="clock"><steptml:parameter '
    'name="zone">UTC</steptml:parameter></steptml:invoke><｜tool_call_end｜>'
)
LONGCAT = (
    "<longcat_tool_call>clock\n<longcat_arg_key>zone</longcat_arg_key>\n"
    "<longcat_arg_value>UTC</longcat_arg_value>\n</longcat_tool_call>"
)
MARKED = {
    "Qwen's coders": QWEN,
    "GLM": GLM,
    "MiniMax": MINIMAX,
    "DeepSeek": DEEPSEEK,
    "DeepSeek 3.1": DEEPSEEK_3,
    "DeepSeek in ASCII": DEEPSEEK.replace("｜", "|"),
    "DeepSeek 3.2": DSML,
    "Kimi": KIMI,
    "Step": STEP,
    "LongCat": LONGCAT,
    "Llama 3.1": '<function=clock>{"zone": "UTC"}</function>',
    "Llama 3.1, a tool of its own": '<|python_tag|>clock.call(zone="UTC")<|eom_id|>',
    "Llama 4": '<|python_start|>[clock(zone="UTC")]<|python_end|>',
    "Gemma": '```tool_code\nprint(default_api.clock(zone="UTC"))\n```',
    "Gemma 4": '<|tool_call>call:clock{zone:<|"|>UTC<|"|>}<tool_call|>',
    "FunctionGemma": (
        "<start_function_call>call:clock{zone:<escape>UTC<escape>}<end_function_call>"
    ),
    "Mistral": '[TOOL_CALLS]clock[ARGS]{"zone": "UTC"}',
    "Mistral, numbered": '[TOOL_CALLS]clock[CALL_ID]abc123456[ARGS]{"zone": "UTC"}',
    "Hermes in a fence": f"<tool_call>\n```json\n{JSON}\n```\n</tool_call>",
    "Nemotron": f"<TOOLCALL>[{JSON}]</TOOLCALL>",
    "InternLM": f"<|action_start|><|plugin|>\n{JSON}<|action_end|>",
    "LM Studio": f"[TOOL_REQUEST]{JSON}[END_TOOL_REQUEST]",
    "LFM": "<|tool_call_start|>[clock(zone='UTC')]<|tool_call_end|>",
    "OLMo": '<function_calls>\nclock(zone="UTC")\n</function_calls>',
    "Command R": ('Action: ```json\n[{"tool_name": "clock", "parameters": {"zone": "UTC"}}]\n```'),
    "gpt-oss": (
        "<|channel|>commentary to=functions.clock <|constrain|>json<|message|>"
        '{"zone": "UTC"}<|call|>'
    ),
    "gpt-oss, sent first": (
        "<|start|>assistant to=functions.clock<|channel|>commentary json<|message|>"
        '{"zone": "UTC"}<|call|>'
    ),
    "gpt-oss without its marks": 'commentary to=functions.clock json{"zone": "UTC"}',
    "Qwen's agent": '✿FUNCTION✿: clock\n✿ARGS✿: {"zone": "UTC"}\n',
    "ReAct": 'Thought: the time.\nAction: clock\nAction Input: {"zone": "UTC"}',
}
"""What a model wrote, by who writes so."""
UNMARKED = {
    "calls in Python": '[clock(zone="UTC")]',
    "one call in Python": 'clock(zone="UTC")',
    "calls in a fence": '```python\nclock(zone="UTC")\n```',
    "OpenAI's own": f'{{"tool_calls": [{{"type": "function", "function": {JSON}}}]}}',
    "by other names": '{"tool": "clock", "args": {"zone": "UTC"}}',
    "by its name alone": '[{"clock": {"zone": "UTC"}}]',
    "JSON below its name": 'clock\n{"zone": "UTC"}',
}
CLOCK = WantedCall("clock", {"zone": "UTC"})


@pytest.mark.parametrize("before", ["", "I look."])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("form", MARKED.values(), ids=MARKED)
def test_uses_of_tools_in_the_form_of_a_template(form: str, count: int, before: str) -> None:
    """They are a wish to use the tools, and no word that people read."""
    text = "\n".join(filter(None, [before, *[form] * count]))
    data = read_lenient_answer(text, TOOLS, "say").data
    assert data is not None
    assert wanted_calls(data) == [CLOCK] * count
    assert data["say"] == before
    assert said(text) == before, "where no tools are offered"


@pytest.mark.parametrize("form", UNMARKED.values(), ids=UNMARKED)
def test_what_nothing_marks_is_known_by_the_tools_that_there_are(form: str) -> None:
    """The whole answer is a use of tools that were offered."""
    assert wanted_calls(read_lenient_answer(form, TOOLS, "say").data or {}) == [CLOCK]


@pytest.mark.parametrize("form", ['[clock(zone="UTC")]', JSON, f"```json\n{JSON}\n```"])
def test_behind_words_too(form: str) -> None:
    """The words are said, and the tool is used."""
    data = read_lenient_answer(f"I look.\n{form}", TOOLS, "say").data or {}
    assert (data["say"], wanted_calls(data)) == ("I look.", [CLOCK])


@pytest.mark.parametrize("before", ["", "I look."])
@pytest.mark.parametrize("form", MARKED.values(), ids=MARKED)
def test_a_use_in_the_words_of_a_form(form: str, before: str) -> None:
    """The form is well, and its words are a use of a tool: it is used, and nobody reads it."""
    said_so = "\n".join(filter(None, [before, form]))
    whole = {"say": said_so, "mode": "context", "rule": "", "narrative": "I look."}
    for data in (
        read_valid_answer(whole, TOOLS, "say").data,
        read_lenient_answer(json.dumps(whole), TOOLS, "say").data,
    ):
        assert wanted_calls(data or {}) == [CLOCK]
        assert (data or {})["say"] == before
    assert said(json.dumps(whole)) == before, "where no tools are offered"


@pytest.mark.parametrize(
    "words",
    [
        f"Qwen writes:\n```\n<tool_call>{JSON}</tool_call>\n```\nwhich is JSON.",
        f"It is `<tool_call>{JSON}</tool_call>` there.",
        'In Python: print(clock(zone="UTC"))',
        "```python\n[clock(zone)]\n```\nis a list.",
        "Action: [sits down]",
        "[laughs(a bit)]",
    ],
)
def test_words_that_show_a_use_are_words(words: str) -> None:
    """Who is asked how a model writes it may say so: in a fence, or in the middle of a line."""
    assert said(json.dumps({"say": words, "mode": "context"}), TOOLS) == words


@pytest.mark.parametrize(
    "words",
    [
        f"Qwen writes:\n<tool_call>{JSON}</tool_call>\nThat is the whole form.",
        "Gemma writes:\n```tool_code\nclock()\n```\nThat is the whole form.",
        "Llama has a tag:\n<function=clock>\nand words behind it.",
        "It is in\nfunctools [see its page](https://example.org)",
    ],
)
def test_a_use_that_a_whole_form_shows_among_words_is_none(words: str) -> None:
    """The form has a place for uses, and words go on behind this one: all of them are said."""
    whole = {"say": words, "mode": "context", "rule": "", "narrative": "I show it.", "calls": []}
    for data in (
        read_valid_answer(whole, TOOLS, "say").data or {},
        read_lenient_answer(json.dumps(whole), TOOLS, "say").data or {},
    ):
        assert (data["say"], wanted_calls(data)) == (words, [])


@pytest.mark.parametrize(
    "words",
    [
        "Here it is.\n✿ one\n✿ two\nand so on",
        "So:\n<Toolbar>\n</Toolbar>\nThat renders it, and",
        "Two:\n[foo(bar)](https://example.org)\n<tool_call>\nis how it begins, and",
    ],
)
def test_of_words_that_broke_off_none_are_lost(words: str) -> None:
    """What looked like the beginning of a use is none where other words came behind it."""
    broken = f'{{"mode": "context", "say": {json.dumps(words)[:-1]}'
    assert said(broken, TOOLS) == f"{words} {CUT}"


def test_a_use_that_broke_off_is_not_shown() -> None:
    """Words before it are; neither what stands around it nor its beginning."""
    broken = '{"mode": "context", "say": "I look.\\n<tool_call>\\n<functi'
    assert said(broken, TOOLS) == f"I look. {CUT}"


@pytest.mark.parametrize("text", ["<to=" + "a" * 60_000, "<" + "a." * 60_000])
def test_a_long_run_of_letters_is_read_in_one_pass(text: str) -> None:
    """The time it takes grows with its length, and not with the square of it."""
    assert said(f'{{"say": "{text}', TOOLS).startswith(text[:20])


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("form", MARKED.values(), ids=MARKED)
def test_of_a_use_nothing_is_shown_while_it_comes(form: str, size: int) -> None:
    """Words before it are; it might be no use yet where its line has just begun."""
    written = json.dumps({"say": f"I look.\n{form}", "mode": "context"}, ensure_ascii=False)
    spoken = SpokenWords(TOOLS, "say")
    for at in range(0, len(written), size):
        spoken.feed(written[at : at + size])
        if not form.startswith(("Action", "Thought", "commentary")):
            assert "I look.".startswith(spoken.words.strip())


@pytest.mark.parametrize(
    "words",
    [
        f"Qwen writes:\n```\n<tool_call>{JSON}</tool_call>\n```\nwhich is JSON.",
        "```python\nprint(1)\n```",
    ],
)
def test_what_stands_in_a_fence_of_code_is_seen_as_it_comes(words: str) -> None:
    """Up to the end of the fence, and behind it."""
    spoken = SpokenWords(TOOLS, "say")
    for piece in json.dumps({"say": words, "mode": "context"}):
        spoken.feed(piece)
    assert spoken.words == words


@pytest.mark.parametrize(
    ("written", "given"),
    [
        ("a='it, (so)', b=[1, {'c': True}], d=None", {"a": "it, (so)", "b": [1, {"c": True}]}),
        ('a="say \\"hi\\"", n=-2.5', {"a": 'say "hi"', "n": -2.5}),
        ('"by place"', {}),
        ("", {}),
    ],
)
def test_arguments_in_python(written: str, given: dict[str, object]) -> None:
    """Texts, numbers, lists and names of values are read; what has no keyword is left out."""
    data = read_lenient_answer(f"<|python_tag|>draw({written})", TOOLS, "say").data
    (call,) = wanted_calls(data or {})
    assert {
        name: each for name, each in (call.arguments or {}).items() if each is not None
    } == given


@pytest.mark.parametrize("form", ["<|python_tag|>import math\nmath.pi", "```tool_code\nx = 1\n```"])
def test_code_for_an_interpreter_is_no_word(form: str) -> None:
    """It is a use that cannot be read, and nothing of it is said."""
    assert read_lenient_answer(form, TOOLS, "say").data is None
    assert said(f"I look.\n{form}", TOOLS) == "I look."


def test_an_argument_that_is_no_text() -> None:
    """A number and a list are read as such; what breaks off is still none of the words."""
    form = "<function=draw><parameter=n>3</parameter><parameter=of>[1, 2]</parameter>"
    data = read_lenient_answer(form, TOOLS, "say").data
    assert wanted_calls(data or {}) == [WantedCall("draw", {"n": 3, "of": [1, 2]})]


@pytest.mark.parametrize("text", ["a < b", "Write <tool_call> first.", "<b>bold</b>", "<function>"])
def test_what_is_no_use_of_a_tool_stays(text: str) -> None:
    """Signs and words of that kind are words."""
    assert with_json_calls(text) == text


@pytest.mark.parametrize(
    "begun",
    [
        *("<tool_call>x <arg_key>", "<function=x><parameter=a>", "f(", "f('", '[f(a="', "print("),
        *("[TOOL_CALLS]", "<|python_tag|>", "commentary to=", "\nAction: x\n", "<escape>", " " * 9),
        *("```tool_code", '\n{"name": "', "<|tool_call>call:x{a:<escape>"),
    ],
)
def test_a_form_that_never_ends_is_walked_once(begun: str) -> None:
    """A model that repeats the beginning of a use holds nothing up."""
    assert with_json_calls(begun * 20_000, ["x"])
