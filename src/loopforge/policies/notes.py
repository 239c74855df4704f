"""notes: a mind that keeps what matters of a talk. It reads lines and plans acts of Remember.

A capable model writes notes, facts about people, wishes, and at the end core memories in its own
"I", each with the numbers of the lines that it rests on. A small model only chooses lines worth
keeping; their own words are kept. Whether a line says so is checked by code, not here.
"""

from typing import Any

from loopforge.core.action_plan import Act, AgentActionPlan
from loopforge.core.egress.egress_filter import strip_control_characters
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Message, Mind, Policy, Prompts, Thinking
from loopforge.core.room_vocabulary import Remember, StaySilent
from loopforge.policies.prompt_building import (
    ask_again,
    few_shot_messages,
    fields_of,
    fill_template,
    form_of,
    is_small,
    without_answer,
)
from loopforge.policies.speaker_messages import (
    SpeakerTold,
    instruction_message,
    join_messages,
    line_message,
    was_said,
)

VERSION = "notes/3"
MOST = 8
"""Things of one kind that are kept of one talk, at most."""
CORE, WORDS = 3, 4
SMALL_LINES, SMALL_KEEPS = 8, 2
LONG = 900
"""Tokens of the answer."""
_TEXT = {"type": "string", "maxLength": 240}
_LINES = {"type": "array", "items": {"type": "integer"}, "maxItems": 6}


def _list(**fields: Any) -> dict[str, Any]:
    items = form_of({**fields, "text": _TEXT, "lines": _LINES})
    return {"type": "array", "items": items, "maxItems": MOST}


_NAME = {"type": "string", "maxLength": 60}
NOTES = {
    "notes": _list(),
    "facts": _list(about=_NAME, subject=_NAME),
    "wishes": _list(about=_NAME),
}
FINAL = {
    **NOTES,
    "words": {**_list(subject=_NAME), "maxItems": WORDS},
    "core": {**_list(), "maxItems": CORE},
}
LAYERS = {
    "notes": "note",
    "facts": "fact",
    "wishes": "instruction",
    "words": "word",
    "core": "core",
}
ENDING = {"core": CORE, "words": WORDS}
"""What is kept at the end of a talk alone, and how many of it."""


def notes(prompts: Prompts) -> Policy:
    """The noting mind with these prompts."""

    def policy(seen: AgentPerception) -> Thinking:
        if is_small(seen):
            return (yield from _chosen(seen, prompts))
        final = seen.context.get("summons") == "final"
        known = fields_of(seen)
        told = "\n".join(fill_template(prompts[name], known) for name in _parts(final=final))
        messages = (
            Message("system", (told,)),
            _rows(seen),
            instruction_message("Now the JSON.", seen),
        )
        form = form_of(FINAL if final else NOTES)
        answer = yield from ask_again(messages, form, purpose="notes", max_tokens=LONG)
        if answer.small:
            return (yield from _chosen(seen, prompts))
        if answer.outcome != "answered" or answer.data is None:
            return without_answer(answer)
        kinds = (kind for kind in LAYERS if kind not in ENDING or final)
        return _plan([act for kind in kinds for act in _acts(kind, answer.data, final=final)])

    return policy


def _parts(*, final: bool) -> tuple[str, ...]:
    return ("notes", "notes-core") if final else ("notes",)


def _plan(acts: list[Act]) -> AgentActionPlan:
    return AgentActionPlan(
        intent="note",
        mode="context",
        narrative="I kept what matters of this talk.",
        acts=tuple(acts) or (StaySilent(why="there was nothing to be kept"),),
    )


def _acts(kind: str, data: dict[str, Any], *, final: bool) -> list[Act]:
    """What an answer keeps of one kind; what has no proper form is passed over."""
    written = data.get(kind)
    given = [one for one in written if isinstance(one, dict)] if isinstance(written, list) else []
    layer = "final" if final and kind == "notes" else LAYERS[kind]
    return [
        Remember(
            text=text,
            layer=layer,
            about=(about,) if (about := str(one.get("about") or "").strip()) else (),
            subject=strip_control_characters(str(one.get("subject") or "")).strip(),
            lines=_numbers(one.get("lines")),
        )
        for one in given[: ENDING.get(kind, MOST)]
        if (text := " ".join(strip_control_characters(str(one.get("text") or "")).split()))
    ]


def _numbers(written: object) -> tuple[int, ...]:
    given = written if isinstance(written, list) else []
    return tuple(dict.fromkeys(one for one in given if type(one) is int and one > 0))


def _rows(seen: AgentPerception) -> Message:
    told = SpeakerTold()
    return join_messages(
        [line_message(line, told.before(line), numbered=True) for line in seen.lines]
    )


# ---------------------------------------------------------------- a small model


def _chosen(seen: AgentPerception, prompts: Prompts) -> Thinking:
    """A small model says which of the last lines of others are worth keeping, by their place."""
    lines = [line for line in seen.lines if line.kind == "heard"][-SMALL_LINES:]
    if not lines:
        return _plan([])
    schema = form_of(
        {
            "keep": {
                "type": "array",
                "items": {"type": "integer", "enum": list(range(1, len(lines) + 1))},
                "maxItems": SMALL_KEEPS,
            }
        }
    )
    rows = join_messages([_numbered(place, line) for place, line in enumerate(lines, 1)])
    messages = (*few_shot_messages(prompts["notes-small"], fields_of(seen)), rows)
    answer = yield from ask_again(messages, schema, purpose="notes", max_tokens=30)
    if answer.outcome != "answered" or answer.data is None:
        return without_answer(answer)
    kept = [lines[place - 1] for place in _numbers(answer.data.get("keep")) if place <= len(lines)]
    acts: list[Act] = [
        Remember(text=str(line.text)[:240], layer="fact", about=(str(line.who),), lines=(n,))
        for line in kept
        if was_said(line) and line.text.text and (n := line.number)
    ]
    return _plan(acts)


def _numbered(place: int, line: Line) -> Message:
    shown = line_message(line, small=True)
    layout = shown.layout or "." * len(shown.parts)
    return Message(shown.role, (f"{place}. ", *shown.parts), (), f".{layout}")


MIND = Mind(VERSION, notes, hidden=True)
