"""Uses of tools as the chat templates of open models write them: each in one form.

They come as text where a server does not read them.

    text --with_json_calls--> the same, with [TOOL_CALLS]{"name": ..., "arguments": {...}} for each
         --written_calls--> the words before them, and each as {"name": ..., "arguments": {...}}

Known are those of Qwen and Nemotron, GLM, MiniMax, DeepSeek, Kimi, Mistral, Gemma and OpenAI's open
models, of ReAct, and calls as Python has them (Llama, Gemma, OLMo, LFM). Pure. Of which tools there
are it knows the names that it is told.
"""

import json
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

from loopforge.core.text.json_repair import JsonRepair

MARK = "[TOOL_CALLS]"
NAMED = ("name", "tool", "tool_name", "function", "action")
GIVEN = ("arguments", "parameters", "args", "action_input")
"""Fields of an object that is a use of a tool."""
_NAME = r"\s*(?:functions\.)?(?P<name>[\w.-]+)"
_SPACE = r"(?:[\w-]+:|[｜|]\w+[｜|])?"
"""The namespace of a tag: MiniMax, Seed, Step and DeepSeek have one of their own."""
_KEYED = re.compile(
    r"<(?:\w+_)?arg_key>([^<]*)</(?:\w+_)?arg_key>\s*<(?:\w+_)?arg_value>"
    r"(.*?)(?:</(?:\w+_)?arg_value>|(?=<(?:\w+_)?arg_key>)|\Z)",
    re.DOTALL,
)
_TAGGED = re.compile(
    rf"<{_SPACE}parameter(?:=|\s+name=\")([\w.-]+)\"?[^>]{{0,80}}>"
    rf"(.*?)(?:</{_SPACE}parameter>|(?=<{_SPACE}parameter)|\Z)",
    re.DOTALL,
)
_PARTS = (
    re.compile(
        rf"<function={_NAME}\s*>(?=\s*(?:[<{{]|\Z))(?P<rest>.*?)(?:</function>|\Z)", re.DOTALL
    ),
    re.compile(
        rf'<{_SPACE}invoke name="{_NAME}"\s*>(?P<rest>.*?)(?:</{_SPACE}invoke>|\Z)', re.DOTALL
    ),
    re.compile(
        rf"<(?:\w+_)?tool_call>{_NAME}\s*(?:(?P<rest><(?:\w+_)?arg_key>.*?)"
        r"(?:</(?:\w+_)?tool_call>|\Z)|</(?:\w+_)?tool_call>)",
        re.DOTALL,
    ),
)
"""A name, and each argument in a tag of its own."""
_WHOLE = (
    re.compile(
        rf"<\|tool_call_begin\|>{_NAME}(?::\d+)?\s*<\|tool_call_argument_begin\|>"
        r"(?P<rest>.*?)(?:<\|tool_call_end\|>|\Z)",
        re.DOTALL,
    ),
    re.compile(
        r"<[｜|]tool[▁_]call[▁_]begin[｜|]>(?:function<[｜|]tool[▁_]sep[｜|]>)?(?!function<)"
        rf"{_NAME}\s*+(?:<[｜|]tool[▁_]sep[｜|]>\s*+)?(?:```json)?"
        r"(?P<rest>.*?)(?:```\s*)?(?:<[｜|]tool[▁_]call[▁_]end[｜|]>|\Z)",
        re.DOTALL,
    ),
    re.compile(
        rf"\[TOOL_CALLS\]{_NAME}(?:\[CALL_ID\]\w+)?\s*+(?:\[ARGS\]\s*+)?"
        r"(?P<rest>\{.*?)(?=\[TOOL_CALLS\]|\Z)",
        re.DOTALL,
    ),
    re.compile(
        rf"<(?:start_function_call|\|tool_call)>\s*call:{_NAME}(?P<rest>\{{.*?)"
        r"(?:<end_function_call>|<tool_call\|>|\Z)",
        re.DOTALL,
    ),
    re.compile(
        r"(?:<\|end\|>)?(?:<\|start\|>assistant)? ?(?:<\|channel\|>\w+)? ?\bto=(?:functions\.)?"
        r"(?P<name>[\w.-]++)\s*+(?:<\|channel\|>\w++\s*+)?(?:<\|constrain\|>)?(?:\w++\s*+)?<\|message\|>"
        r"(?P<rest>.*?)(?:<\|(?:call|end|return)\|>|(?=<\|start\|>)|\Z)",
        re.DOTALL,
    ),
    re.compile(
        r"(?:\Aanalysis.*?assistant)?\bcommentary to=(?:functions\.)?(?P<name>[\w.-]+?)"
        r"\s*+(?:code|json)?\s*+(?P<rest>\{.*?)"
        r"(?=(?:assistant)?commentary to=|assistant(?:final|analysis)|\Z)",
        re.DOTALL,
    ),
    re.compile(
        rf"(?m:^)(?:Thought:[^\n]*\n+)?Action:{_NAME}[ \t]*\n+Action Input:"
        r"(?P<rest>.*?)(?=\n(?:Observation|Thought|Action):|\Z)",
        re.DOTALL,
    ),
    re.compile(rf"✿FUNCTION✿:{_NAME}\s*✿ARGS✿:(?P<rest>.*?)(?=✿|\Z)", re.DOTALL),
)
"""A name, and the arguments as JSON."""
_STRING = re.compile(r'(?:<escape>|<\|"\|>)(.*?)(?:<escape>|<\|"\|>)', re.DOTALL)
"""How Gemma writes a text."""
_CODE = re.compile(
    r"(?:```tool_code\b|<\|python_(?:tag|start)\|>|<\|tool_call_start\|>|<function_calls>)"
    r"(?P<code>.*?)(?:```|<\|python_end\|>|<\|tool_call_end\|>|</function_calls>|<\|eo[mt]_id\|>|\Z)",
    re.DOTALL,
)
"""What stands around calls in Python."""
_AROUND = re.compile(
    rf"</?{_SPACE}(?:tool_calls?|function_calls|longcat_tool_call)>"
    r"|<[｜|]tool[▁_]calls?[▁_](?:begin|end)[｜|]>(?:function<[｜|]tool[▁_]sep[｜|]>)?"
    r"|<\|tool_calls_section_(?:begin|end)\|>"
)
"""What stands around one use or all of them."""
_JSON = re.compile(
    r"^(?:```\w*\s*)?(?=\{\s*\"(?:name|tool|tool_name|function)\"\s*:\s*\"([\w.-]+)\"\s*,"
    r"\s*\"(?:arguments|args|parameters|input)\"\s*:)",
    re.MULTILINE,
)
"""A use of a tool behind words, with nothing to mark it."""
_CALL = re.compile(
    r"(?:<\|?(?:tool_calls?|tool_call_start|function_calls?|python_(?:tag|start)|tools_prefix"
    r"|START_ACTION)\|?>|<\|action_start\|>\s*<\|plugin\|>|<TOOLCALL>|\[TOOL_(?:CALLS|REQUEST)\]"
    r"|(?m:^)[ \t]*functools(?=\s*\[\s*\{)|(?m:^)Action:(?=\s*(?:```json|\[?\s*\{)))"
    r"\s*(?:```\w*\s*)?(?=[{\[])"
)
"""How uses of tools begin that are JSON."""
_CALLED = re.compile(r"(?<![\w.])(?:print\s*+\(\s*+)?((?:[A-Za-z_]\w*+\.)*+[A-Za-z_]\w*+)\s*+\(")
_KEYWORD = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)\s*(.*\S)\s*", re.DOTALL)
_SIGN = re.compile(r"""[(\[{)\]},]|"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'""", re.DOTALL)
"""What parts arguments, or may hold such a sign."""
_BESIDE = re.compile(r"(?:print|```(?:python|tool_code)?|[\s\[\](),;])*+")
"""What may stand around calls that are all there is."""

_BEGUN = re.compile(
    r"^[ \t]*(?:<(?:[|｜]|(?:[\w-]+:|\w+_)?(?i:(?:tool|function)(?:[_=>s]|call)|invoke|start_f))"
    r"|\[TOOL_|✿(?:[A-Z]|\Z)|```tool"
    r"|commentary(?: to=|\Z)"
    r"|\[[A-Za-z_][\w.]*\(|(?:<[^\s>]{0,20}|\[[\w.]*|`{1,3}\w{0,4})\Z)",
    re.MULTILINE,
)
"""Where a line begins, or may still begin, with what is read as a use of a tool."""
_TAGS = re.compile(r"<[^<>]*+>")
_LINES = re.compile(r"\A([\w.-]+)\n+(?=\{)")
"""A name, and below it the arguments: GLM's older ones."""


def written_calls(
    text: str, outer: object, names: Collection[str] | None
) -> tuple[str, list[dict[str, Any]]] | None:
    """The words before uses of tools, and those that can be read; None where there are none.

    `outer` is the object or list that the text is, if it is one; `names` as below.
    """
    text = with_json_calls(text, names)
    first = _CALL.search(text)
    parts = [JsonRepair(part, "") for part in _CALL.split(text)[1:]]
    held: list[object] = [
        part.value if isinstance(part.value, list) else part.outermost for part in parts
    ]
    calls = [call for each in held or [outer] for call in _calls_in(each, names or ())]
    return (text[: first.start()].strip() if first else "", calls) if first or calls else None


def before_calls(text: str) -> str:
    """Of words that are still coming those before what is, or may become, a use of a tool.

    What stands in a fence of code is shown, and so is the end of that fence.
    """
    for begun in _BEGUN.finditer(text):
        if _is_outside_code(begun):
            return text[: begun.start()].rstrip()
    return text


def before_broken_call(text: str) -> str:
    """Of words that broke off, and hold no whole use, those before what may have become one."""
    while (begun := _BEGUN.match(text, text.rfind("\n") + 1)) and _is_outside_code(begun):
        text = text[: begun.start()].rstrip()
    return text


def has_words_behind(text: str, names: Collection[str]) -> bool:
    """Whether a text with uses of tools goes on in words behind the last one."""
    last = _CALL.split(with_json_calls(text, names))[-1]
    try:
        _, end = json.JSONDecoder().raw_decode(last)
    except (ValueError, RecursionError):
        return False
    return any(sign.isalnum() for sign in _TAGS.sub("", last[end:]))


def _is_outside_code(found: re.Match[str]) -> bool:
    return found.string.count("```", 0, found.start()) % 2 == 0


def without_calls(text: str) -> str:
    """Plain words up to where a line begins with a use of a tool."""
    written = written_calls(text, None, ()) if begins_with_calls(text, ()) else None
    return text if written is None else written[0]


def begins_with_calls(text: str, names: Collection[str]) -> bool:
    """Whether a line of a text begins with a use of a tool; one in a fence of code is shown."""
    made = with_json_calls(text, names)
    first = _CALL.search(made)
    before = made[: first.start()] if first else "`"
    return before.count("```") % 2 == 0 and before.rstrip(" \t")[-1:] in ("", "\n")


def _calls_in(value: object, names: Collection[str]) -> list[dict[str, Any]]:
    """The uses of tools in an object, in its list of them, or in a list of such objects."""
    if isinstance(value, list):
        return [call for one in value for call in _calls_in(one, names)]
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("tool_calls"), list):
        return _calls_in(value["tool_calls"], names)
    inner = value.get("function")
    if isinstance(inner, dict):
        return _calls_in(inner, names)
    name = next((value[key] for key in NAMED if isinstance(value.get(key), str)), "")
    given = next((value[key] for key in GIVEN if value.get(key) is not None), None)
    if name and given is not None:
        return [{"name": name, "arguments": given}]
    alone = next(iter(value)) if len(value) == 1 else ""
    return [{"name": alone, "arguments": value[alone]}] if alone in names else []


def with_json_calls(text: str, names: Collection[str] | None = ()) -> str:
    """The text, its uses of tools in one form; as it is where there are none.

    What nothing marks is one where all tools it names are of these `names`; None: they are unknown.
    """
    if not any(sign in text for sign in "<[{(`"):
        return text
    made = text
    for form in _PARTS:
        made = form.sub(_written(_of_parts), made)
    for form in _WHOLE:
        made = form.sub(_written(_of_json), made)
    made = _CODE.sub(_of_code, made)
    return _unmarked(text, names) if made == text else _AROUND.sub("", made)


def _json_call(name: str, arguments: str) -> str:
    return f'{MARK}{{"name": {json.dumps(name)}, "arguments": {arguments}}}\n'


def _written(read: Callable[[str], str]) -> Callable[[re.Match[str]], str]:
    return lambda found: _json_call(found["name"], read((found["rest"] or "").strip()) or "{}")


def _of_parts(rest: str) -> str:
    if rest.startswith("{"):
        return _of_json(rest)
    parts = (*_KEYED.findall(rest), *_TAGGED.findall(rest))
    return json.dumps({name.strip(): _value(value) for name, value in parts}, ensure_ascii=False)


def _of_json(rest: str) -> str:
    """Arguments as an object; what is none as the text that it is, for who uses the tool."""
    plain = _STRING.sub(lambda found: json.dumps(found[1], ensure_ascii=False), rest)
    read = JsonRepair(plain, "").outermost
    return json.dumps(read if read is not None else rest, ensure_ascii=False) if rest else ""


def _value(written: str) -> Any:
    """An argument: JSON where it is a number, a list and the like, else text."""
    with suppress(ValueError, RecursionError):
        return json.loads(written)
    return written.strip("\n")


def _of_code(found: re.Match[str]) -> str:
    """Calls in Python; other code in their place is a use that cannot be read."""
    code = found["code"]
    if MARK in code or code.lstrip().startswith(("{", "[{")):
        return found[0]
    calls, _ = _python_calls(code)
    alone = found.start() == 0 or found.string[: found.start()].rstrip(" \t").endswith("\n")
    if not calls:
        return f"{MARK}{{}}\n" if alone else found[0]
    return "".join(_json_call(name, json.dumps(given)) for name, given in calls)


def _unmarked(text: str, names: Collection[str] | None) -> str:
    """The same of what nothing marks: the text's only words, or its last ones."""
    known = names or ()
    if (found := _LINES.match(text)) and found[1] in known:
        return _json_call(found[1], _of_json(text[found.end() :].strip()))
    for at in {0, text.rfind("\n[") + 1}:
        calls, alone = _python_calls(text[at:])
        listed = names is None and text.startswith("[") and all(given for _, given in calls)
        if calls and alone and (listed or all(name in known for name, _ in calls)):
            made = (_json_call(name, json.dumps(given)) for name, given in calls)
            return text[:at] + "".join(made)
    return _JSON.sub(lambda found: MARK if found[1] in known else found[0], text)


# ---------------------------------------------------------------- Python


def _python_calls(text: str) -> tuple[list[tuple[str, dict[str, Any]]], bool]:
    """The calls that stand in a text, by name and keywords, and whether that is all there is."""
    calls = list[tuple[str, dict[str, Any]]]()
    between, at = list[str](), 0
    while begun := _CALLED.search(text, at):
        parts, end = _arguments(text, begun.end())
        if end < 0:
            return calls, False
        name = re.sub(r"\A(?:functions|default_api|tools)\.|\.call\Z", "", begun[1])
        calls.append((name, _by_keyword(parts)))
        between.append(text[at : begun.start()])
        at = end
    return calls, all(_BESIDE.fullmatch(one) for one in (*between, text[at:]))


def _arguments(text: str, at: int) -> tuple[list[str], int]:
    """What stands between the commas up to the bracket that closes, and where that ends; or -1."""
    parts, begins, deep = list[str](), at, 0
    while found := _SIGN.search(text, at):
        at, sign = found.end(), found[0]
        if deep == 0 and sign in ",)":
            parts.append(text[begins : found.start()])
            begins = at
            if sign == ")":
                return parts, at
        deep += (sign in "([{") - (sign in ")]}")
    return parts, -1


def _by_keyword(parts: list[str]) -> dict[str, Any]:
    given = dict[str, Any]()
    for part in parts:
        if found := _KEYWORD.fullmatch(part):
            read = JsonRepair(f'{{"given": {found[2]}}}', "").outermost or {}
            given[found[1]] = read.get("given", found[2])
    return given
