"""Reading what a model answered where words are asked for in a form: whatever has words counts.

    raw text, schema, field --read--> Reading: the form's fields, and notes of what was missing

An object is read by json_repair.py; what holds none with the field may still be words: in another
field, as lines of `say: ...`, in a tag, or plain. Nothing is made up: what is not there
stays out. Pure. Knows neither what the fields are for nor who speaks.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from loopforge.core.text.json_repair import JsonRepair, is_affirmative
from loopforge.core.text.thought_stripping import BLOCKS, ThoughtFilter
from loopforge.core.text.tool_markup import (
    before_broken_call,
    begins_with_calls,
    has_words_behind,
    written_calls,
)

CUT = "…"
"""What words end with that broke off."""
ALIASES = (
    "response",
    "reply",
    "answer",
    "message",
    "text",
    "content",
    "words",
    "speech",
    "output",
    "result",
    "final",
    "final_answer",
    "messages",
    "says",
    "utterance",
    "parts",
)
"""Fields that hold the words in the objects of models that choose names of their own."""
UNDONE = "its words broke off"
PLAIN = "no form: plain words"
LOOSE = "no plain JSON"
MORE = "more stands behind it"
LABELS = frozenset(("type", "role", "mode", "rule", "narrative"))
"""Fields of an object in place of words that hold none."""
SPEAKERS = frozenset(("name", "speaker", "who", "from", "to", "author", "id"))
"""Fields that say who speaks."""
GATE = "speak"
"""The yes or no of forms that have one; models put their words there, too."""
TOOLS = "calls"
"""The field for uses of tools."""

_SCHEMATIC = re.compile(
    r"""[{\[]\s*(?:\\?["'“])?(?:say|speak|mode|rule|narrative)\b""", re.IGNORECASE
)
_OBJECT = re.compile(r"(?:```[\w+-]*\s*|\"\s*)?[{\[]\s*(?:\\?[\"'“{}\]]|\w+\s*:|$)")
_END = re.compile(r"<\|[\w|]*\|>|</s>|<eos>|<end_of_turn>")
_FENCED = re.compile(r"\A```[\w+-]*\n(.*?)\n?```\Z", re.DOTALL)
_FENCE = re.compile(r"\n```\w*\Z")
_LINE = re.compile(r"^[\s>*_`#-]*+(\w++)[*_`]*+\s*+:[*_`]*+[ \t]?(.*)$")
_CLOSERS = tuple(end for ends in BLOCKS.values() for end in ends if end.startswith(("</", "[/")))
_TAG = re.compile(r"<(\w+)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_DECISION = re.compile(
    r"\W*(?:yes|no|true|false|y|n|on|off|none|null|nil|pass|silent|\d+)\b\W*(?:i\b.*)?",
    re.IGNORECASE | re.DOTALL,
)
"""A yes or no, however it is put; "no, I have nothing to add" is one, too."""


class LenientReading(Struct, frozen=True, kw_only=True):
    """What could be read. `data` is None where there was nothing; `cut`: the words broke off.

    `notes` say what was missing, left out or cut, in the order of the form.
    """

    data: dict[str, Any] | None = None
    cut: bool = False
    notes: tuple[str, ...] = ()


def gate_of(schema: Mapping[str, Any], field: str) -> str:
    """The yes or no that stands before the field in a form and decides on it; "" without one."""
    for name, part in schema.get("properties", {}).items():
        if name == field:
            break
        if part.get("type") == "boolean":
            return str(name)
    return ""


def read_lenient_answer(
    text: str, schema: Mapping[str, Any], field: str, *, cut: bool = False
) -> LenientReading:
    """What an answer says. `cut`: more would have come."""
    text = _without_thoughts(text)
    reader = JsonRepair(text, field)
    if reader.found is None or reader.prose:
        after = _after_thoughts(text)
        if after is not None:
            text, reader = after, JsonRepair(after, field)
    if reader.found is None and '\\"' in text:
        again = JsonRepair(text.replace('\\"', '"').replace("\\\\", "\\"), field)
        reader = again if again.found is not None else reader
    if reader.found is not None:
        return _of_object(reader, schema, field)
    return _without(text, reader, schema, field, cut=cut)


def read_valid_answer(
    given: Mapping[str, Any], schema: Mapping[str, Any], field: str
) -> LenientReading:
    """The reading of an object that fits the form; what is too long in it is cut."""
    return _made(dict(given), schema, field, [])


def _without_thoughts(text: str) -> str:
    thoughts = ThoughtFilter()
    return thoughts.feed(text) + thoughts.rest()


def _after_thoughts(text: str) -> str | None:
    """What stands behind the last end of a thought whose beginning is not in the text."""
    ends = [text.rfind(end) + len(end) for end in _CLOSERS if end in text]
    return text[max(ends) :] if ends else None


# ---------------------------------------------------------------- an object


def _of_object(reader: JsonRepair, schema: Mapping[str, Any], field: str) -> LenientReading:
    found, outer = reader.found or {}, reader.outermost or {}
    known = schema.get("properties", {})
    given = {key: value for key, value in outer.items() if key in known} | found
    undone = not reader.whole
    notes = [LOOSE] if reader.damaged or reader.prose or reader.wrapped else []
    notes += [MORE] * reader.more
    if not _words_of(found.get(field), field) and (alias := _alias(outer, field)):
        given[field] = given.pop(alias)
        notes.append(f"{field}: as {alias!r}")
    return _made(given, schema, field, notes, undone=undone)


def _made(
    given: dict[str, Any],
    schema: Mapping[str, Any],
    field: str,
    notes: list[str],
    *,
    undone: bool = False,
) -> LenientReading:
    """The fields of the form, as far as what was given can be taken for them."""
    given = _without_calls(_unpacked(given, field, notes), schema, field, notes)
    data = dict[str, Any]()
    if "tool_calls" in given and "calls" not in given:  # as providers' own forms call them
        given["calls"] = given.pop("tool_calls")
    for name, part in schema.get("properties", {}).items():
        if name not in given:
            continue
        value, note = _fitted(given[name], part, field if name == field else "")
        if value is not None:
            data[name] = value
        if note:
            notes.append(f"{name}: {note}")
    missing = [name for name in schema.get("required", ()) if name not in data]
    if undone and (said := data.get(field)):
        came = before_broken_call(said).rstrip()
        data[field] = f"{came} {CUT}" if came else ""
        if came:
            notes.append(UNDONE)
    if missing:
        notes.append(f"missing: {', '.join(missing)}")
    if extra := len(set(given) - set(schema.get("properties", {}))):  # their names may tell things
        notes.append(f"left out: {extra} more field{'s' * (extra > 1)}")
    return LenientReading(data=data or None, cut=undone, notes=tuple(notes))


def _unpacked(given: dict[str, Any], field: str, notes: list[str]) -> dict[str, Any]:
    """The same, with the words of a form that was written, as text, where its words belong."""
    said = given.get(field)
    if not isinstance(said, str) or not said.startswith("{"):
        return given
    inner = JsonRepair(said, field)
    if inner.found is None or inner.prose:
        return given
    notes.append(LOOSE)
    return given | inner.found


def _without_calls(
    given: dict[str, Any], schema: Mapping[str, Any], field: str, notes: list[str]
) -> dict[str, Any]:
    """The same, with the uses of tools that were written among its words where they belong.

    Where a form has a place for them, and words go on behind one, it was shown and not meant.
    """
    said, form = given.get(field), schema.get("properties", {})
    if not isinstance(said, str) or not begins_with_calls(said, names := _offered(form)):
        return given
    if isinstance(given.get(TOOLS), list) and has_words_behind(said, names):
        return given
    notes.append(LOOSE)
    used = _used(said, {}, form, field) or {}
    kept = {name: value for name, value in given.items() if name != field}
    return kept | used | ({TOOLS: given[TOOLS]} if given.get(TOOLS) else {})


def _words_of(value: Any, field: str) -> str:
    """The words in what stands where words belong; "" for none.

    Those of a list one below the other, of an object what has a name for words, else the longest.
    """
    match value:
        case bool() | None:
            return ""
        case list():
            return "\n".join(words for one in value if (words := _words_of(one, field)))
        case dict():
            known = (field, *ALIASES)
            named = (_words_of(value.get(name), field) for name in known)
            held = (one for key, one in value.items() if key not in LABELS and key not in known)
            others = (_words_of(one, field) for one in held if isinstance(one, str | list | dict))
            return next(filter(None, named), "") or max(others, key=len, default="")
    return str(value)


def _alias(outer: Mapping[str, Any], field: str) -> str:
    """The field that holds the words under another name; "" for none."""
    return next((name for name in ALIASES if _words_of(outer.get(name), field)), "")


def _fitted(value: Any, part: Mapping[str, Any], spoken: str) -> tuple[Any, str]:
    """A value as its part of the form has it, and what was done to it; None where it is none."""
    match part.get("type"):
        case "boolean":
            return is_affirmative(value), "" if isinstance(value, bool) else "taken as yes or no"
        case "array":
            if isinstance(value, dict):
                return [value], "taken as a list"
            return (value, "") if isinstance(value, list) else ([], "no list" if value else "")
        case "string":
            return _text(value, part, spoken)
    return value, ""


def _text(value: Any, part: Mapping[str, Any], spoken: str) -> tuple[Any, str]:
    note = "" if isinstance(value, str) else "taken as text"
    if isinstance(value, dict | list):
        value = _words_of(value, spoken)
        if not value:
            return None, "no words"
    if value is None or (spoken and isinstance(value, bool)):
        return "", note
    text = _without_thoughts(str(value)) if spoken else str(value)
    if "enum" in part and text not in part["enum"]:
        folded = {str(one).casefold(): one for one in part["enum"]}
        return folded.get(text.strip().casefold()), "not one of the choices"
    longest = part.get("maxLength", len(text))
    if len(text) > longest:
        return text[: longest - 1].rstrip() + CUT, f"cut at {longest} characters"
    return text, note


# ---------------------------------------------------------------- anything else


def _without(
    text: str, reader: JsonRepair, schema: Mapping[str, Any], field: str, *, cut: bool
) -> LenientReading:
    """What a text says in which no object has the field."""
    outer, form = _ungated(reader.outermost or {}, field), schema.get("properties", {})
    if (used := _used(text, outer if reader.opens else {}, form, field)) is not None:
        return _made(used, schema, field, [LOOSE]) if used else LenientReading(cut=cut)
    known = {name: value for name, value in outer.items() if name in form}
    alias = _alias(outer, field) or next((name for name in ALIASES if outer.get(name) == ""), "")
    if alias and reader.opens:
        given = {name: value for name, value in outer.items() if name != alias}
        given[field] = outer[alias]
        note = f"{field}: as {alias!r}"
        return _made(given, schema, field, [note], undone=cut and not reader.closed)
    if known and (reader.opens or len(known) > 1):
        notes = [LOOSE] if reader.damaged else []
        words = "" if reader.opens or not reader.closed else text[: reader.begins].strip(" \n`")
        if words := _FENCE.sub("", words).strip():  # what it says stands before its form
            known, notes = known | {field: words}, [LOOSE]
        made = _made(known, schema, field, notes)
        return LenientReading(data=made.data, cut=cut, notes=made.notes)
    given = _tagged(text, form, field) or _listed(text, form, field)
    if given.get(field) or GATE in given:
        return _made(given, schema, field, [LOOSE], undone=cut and list(given)[-1] == field)
    words = _plain(text, reader, cut=cut) or _alone(outer, reader, field)
    return (
        _made({field: words}, schema, field, [PLAIN], undone=cut)
        if words
        else LenientReading(cut=cut)
    )


def _ungated(given: Mapping[str, Any], field: str) -> dict[str, Any]:
    """The same, with words that stand where a yes or no belongs as the words, if none are there."""
    words = "" if _words_of(given.get(field), field) else _words_of(given.get(GATE), field)
    if not words or _DECISION.fullmatch(words):
        return dict(given)
    return {name: value for name, value in given.items() if name != GATE} | {field: words}


def _used(
    text: str, outer: Mapping[str, Any], form: Mapping[str, Any], field: str
) -> dict[str, Any] | None:
    """Uses of tools that stand in a text, as fields of the form; None where there are none.

    Of one that says something its words. Where no tools are offered, what stands before them.
    """
    names = _offered(form)
    written = written_calls(text, outer, names or None)
    if written is None:
        return None
    before, calls = written
    saying = {field, GATE, *ALIASES}.difference(names)
    said = [one["arguments"] for one in calls if one["name"] in saying]
    given: dict[str, Any] = {
        field: "\n".join(filter(None, (before, *(_words_of(one, field) for one in said))))
    }
    used = [one for one in calls if one["name"] not in saying]
    return given | {TOOLS: used} if TOOLS in form and used else given if given[field] else {}


def _offered(form: Mapping[str, Any]) -> Sequence[str]:
    """The names of the tools that a form lets be used, as far as it names them."""
    items = form.get(TOOLS, {}).get("items", {})
    names: Sequence[str] = items.get("properties", {}).get("tool", {}).get("enum", ())
    return names


def _alone(outer: Mapping[str, Any], reader: JsonRepair, field: str) -> str:
    """The words of an object that holds nothing else, under whatever name; "" for none."""
    labels = (*LABELS, *SPEAKERS, GATE)
    others = [value for name, value in outer.items() if name.casefold() not in labels]
    if not (reader.opens and reader.closed and len(others) == 1):
        return ""
    words = _words_of(others[0], field) if isinstance(others[0], str | list | dict) else ""
    return words if any(sign.isalpha() for sign in words) else ""


def _tagged(text: str, form: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Fields written as tags: <say>...</say>."""
    given = {
        found[1].casefold(): found[2].strip()
        for found in _TAG.finditer(text)
        if found[1].casefold() in (*form, GATE)
    }
    return _ungated(given, field)


def _listed(text: str, form: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Fields written one a line: `say: ...`. One alone may be words: only `say:` itself is none."""
    given: dict[str, list[str]] = {}
    name = ""
    for line in text.strip().splitlines():
        found = _LINE.match(line)
        known = found is not None and found[1].casefold() in (*form, GATE)
        if found and known and found[1].casefold() not in given:
            name = found[1].casefold()
            given[name] = [found[2]]
        elif name:
            given[name].append(line)
        else:
            return {}
    decided, *rest = given.get(GATE, [""])
    if field not in given and "".join(rest).strip() and _DECISION.fullmatch(decided.strip()):
        given |= {GATE: [decided], field: rest}  # its words stand below its yes
    if len(given) < 2 and not text.lstrip().startswith((f"{field}:", f"{GATE}:")):
        return {}
    read = {name: _unquoted("\n".join(lines)) for name, lines in given.items()}
    return _ungated(read, field)


def _unquoted(text: str) -> str:
    """A value of a line, without the marks that may stand around it."""
    text = re.sub(r"\A\s*[|>]-?\s*\n", "", text)
    text = "\n".join(line.strip() for line in text.strip().splitlines())
    pair = text[:1] + text[-1:]
    return text[1:-1] if len(text) > 1 and pair in ('""', "''", "“”") else text


def _without_ends(text: str) -> str:
    """Without the signs by which models end, as often as they stand at the end."""
    text = text.rstrip()
    while (at := text.rfind("<")) >= 0 and _END.fullmatch(text, at):
        text = text[:at].rstrip()
    return text


def _plain(text: str, reader: JsonRepair, *, cut: bool) -> str:
    """The text as words; "" where it is the beginning of a form, or no words at all."""
    alone = reader.value
    if isinstance(alone, str):
        return alone.strip()
    if isinstance(alone, list) and alone and all(isinstance(one, str) for one in alone):
        return "\n".join(alone).strip()
    text = _without_ends(text.strip().lstrip("\ufeff")).strip()
    broken = cut or (reader.outermost is not None and not reader.closed)
    if _OBJECT.match(text) or (broken and _SCHEMATIC.search(text)):
        return ""
    fenced = _FENCED.match(text)
    text = (fenced[1] if fenced else text).strip()
    return text if any(unicodedata.category(sign)[0] in "LNS" for sign in text) else ""
