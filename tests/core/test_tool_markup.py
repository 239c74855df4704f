"""Uses of tools as chat templates write them."""

import pytest

from loopforge.core.text.malformed_answer import read_lenient_answer
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


@pytest.mark.parametrize("before", ["", "I look."])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("form", [QWEN, GLM, MINIMAX, DEEPSEEK, DEEPSEEK_3, KIMI])
def test_uses_of_tools_in_the_form_of_a_template(form: str, count: int, before: str) -> None:
    """They are a wish to use the tools, and no word that people read."""
    text = "\n".join(filter(None, [before, *[form] * count]))
    data = read_lenient_answer(text, TOOLS, "say").data
    assert data is not None
    assert wanted_calls(data) == [WantedCall("clock", {"zone": "UTC"})] * count
    assert data["say"] == before
    assert said(text) == before, "where no tools are offered"


def test_an_argument_that_is_no_text() -> None:
    """A number and a list are read as such; what breaks off is still none of the words."""
    form = "<function=draw><parameter=n>3</parameter><parameter=of>[1, 2]</parameter>"
    data = read_lenient_answer(form, TOOLS, "say").data
    assert wanted_calls(data or {}) == [WantedCall("draw", {"n": 3, "of": [1, 2]})]


@pytest.mark.parametrize("text", ["a < b", "Write <tool_call> first.", "<b>bold</b>", "<function>"])
def test_what_is_no_use_of_a_tool_stays(text: str) -> None:
    """Signs and words of that kind are words."""
    assert with_json_calls(text) == text


@pytest.mark.parametrize("begun", ["<tool_call>x <arg_key>", "<function=x><parameter=a>"])
def test_a_form_that_never_ends_is_walked_once(begun: str) -> None:
    """A model that repeats the beginning of a use holds nothing up."""
    assert with_json_calls(begun * 20_000)
