"""Uses of tools as the chat templates of open models write them: each in one form.

They come as text where a server does not read them.

    text --with_json_calls--> the same, with [TOOL_CALLS]{"name": ..., "arguments": {...}} for each

Known are those of Qwen and Nemotron, GLM, MiniMax, DeepSeek and Kimi. Pure. Knows nothing of which
tools there are.
"""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

MARK = "[TOOL_CALLS]"
_NAME = r"\s*(?:functions\.)?(?P<name>[\w.-]+)"
_KEYED = re.compile(
    r"<arg_key>([^<]*)</arg_key>\s*<arg_value>(.*?)(?:</arg_value>|(?=<arg_key>)|\Z)", re.DOTALL
)
_TAGGED = re.compile(
    r"<parameter(?:=|\s+name=\")([\w.-]+)\"?[^>]{0,80}>(.*?)(?:</parameter>|(?=<parameter)|\Z)",
    re.DOTALL,
)
_PARTS = (
    re.compile(rf"<function={_NAME}\s*>(?P<rest>.*?)(?:</function>|\Z)", re.DOTALL),
    re.compile(rf'<invoke name="{_NAME}"\s*>(?P<rest>.*?)(?:</invoke>|\Z)', re.DOTALL),
    re.compile(
        rf"<tool_call>{_NAME}\s*(?:(?P<rest><arg_key>.*?)(?:</tool_call>|\Z)|</tool_call>)",
        re.DOTALL,
    ),
)
"""A name, and each argument in a tag of its own."""
_WHOLE = (
    re.compile(
        rf"<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?{_NAME}\s*(?:<｜tool▁sep｜>)?\s*(?:```json)?"
        r"(?P<rest>.*?)(?:```\s*)?(?:<｜tool▁call▁end｜>|\Z)",
        re.DOTALL,
    ),
    re.compile(
        rf"<\|tool_call_begin\|>{_NAME}(?::\d+)?\s*<\|tool_call_argument_begin\|>"
        r"(?P<rest>.*?)(?:<\|tool_call_end\|>|\Z)",
        re.DOTALL,
    ),
)
"""A name, and the arguments as JSON."""
_AROUND = re.compile(
    r"</?(?:\w+:)?(?:tool_calls?|function_calls)>|<｜tool▁(?:calls▁begin|calls▁end)｜>"
    r"|<\|tool_calls_section_(?:begin|end)\|>"
)
"""What stands around one use or all of them."""


def with_json_calls(text: str) -> str:
    """The text, its uses of tools in one form; as it is where there are none."""
    if "<" not in text:
        return text
    made = text
    for form in _PARTS:
        made = form.sub(_written(_of_parts), made)
    for form in _WHOLE:
        made = form.sub(_written(str.strip), made)
    return text if made == text else _AROUND.sub("", made)


def _written(read: Callable[[str], str]) -> Callable[[re.Match[str]], str]:
    def write(found: re.Match[str]) -> str:
        arguments = read(found["rest"] or "") or "{}"
        return f'{MARK}{{"name": {json.dumps(found["name"])}, "arguments": {arguments}}}\n'

    return write


def _of_parts(rest: str) -> str:
    parts = (*_KEYED.findall(rest), *_TAGGED.findall(rest))
    return json.dumps({name.strip(): _value(value) for name, value in parts}, ensure_ascii=False)


def _value(written: str) -> Any:
    """An argument: JSON where it is a number, a list and the like, else text."""
    with suppress(ValueError, RecursionError):
        return json.loads(written)
    return written.strip("\n")
