"""talk: decide whether to speak, and speak.

Two forms of the same mind. A capable model gives one structured answer: its words first, then mode,
rule and narrative, and perhaps a note to itself, tools to use, or the wish for another step. What
the tools gave is shown to it, and it is asked once more, until a bound of the turn is met. A
small model speaks plainly first and accounts for it in a second, short question; if nobody
addressed it, it is first asked whether it has anything to say; where a line is like an example that
wants a tool, it only fills in the arguments.

A chain of steps is a chain of turns: Note and Continue are acts, and the room bounds them.
"""

import re
from dataclasses import replace
from functools import partial
from typing import Any

from msgspec import structs

from loopforge.core.action_plan import Act, AgentActionPlan
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import (
    Answer,
    Asking,
    Fits,
    Message,
    Mind,
    Policy,
    Prompts,
    Thinking,
    ask,
)
from loopforge.core.room_vocabulary import Continue, Forget, Note, Paper, React, Remember, Say
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.policies.answer_form import EMOJIS, REACT, SAY, SPEAK, AnswerForm
from loopforge.policies.faq import answer_without_model
from loopforge.policies.prompt_building import (
    LISTING,
    TranscriptMessages,
    ask_for_account,
    few_shot_messages,
    fields_of,
    fits_of,
    form_of,
    is_small,
    last_lines,
    may_pass,
    memory_messages,
    mode_of,
    opening_messages,
    silent_plan,
    without_answer,
    without_tools,
    words_of,
)
from loopforge.policies.small_prompt import (
    line_to_answer,
    says_nothing_new,
    small_prompt,
    trim_for_small_model,
    trim_small_answer,
)
from loopforge.policies.small_tools import HERE, plan_by_tool, plan_from_tool_result
from loopforge.policies.speaker_messages import instruction_message
from loopforge.policies.tool_requests import left_rows, named_one, use_tools, wanted_calls

VERSION = "talk/13"

SHORT = 50
"""Tokens of a small model's answer: its first two sentences are the sensible ones."""

NOTHING = re.compile(
    r"[\W_]*(?:pass|silent|silence|false|none|null|nothing|skip|(?:i have )?nothing to add"
    r"|(?:[^\W_]+ )?(?:(?:stays?|remains?|keeps?|is) (?:silent|quiet)|says? nothing)"
    r"|no[ _]?(?:reply|response|answer)(?: is)?(?: (?:needed|necessary|required))?)?[\W_]*",
    re.IGNORECASE,
)
"""Plain words by which a model says that it says nothing."""

MOST_WASTED = 3
"""Answers of one turn of whose calls none could be made; then it is offered no tools any more."""
LONGEST_THOUGHT = 2000
"""Characters that it is shown again of what it wrote beside uses of tools."""
MOST_PARTS, LONGEST_PART = 3, 240
"""Short lines in place of one, and characters of each."""
MARKED = re.compile(r"```|[-*+>#|]|\d+[.)]")
"""How a paragraph of a written text begins: a list, a quote, a table, code."""
LONG, LONG_WITH_FILES = 900, 3000
"""Tokens of a capable model's answer."""

DECIDE = form_of({"narrative": {"type": "string", "maxLength": 120}, "speak": {"type": "boolean"}})


def talk(prompts: Prompts) -> Policy:
    """The talking mind with these prompts."""
    told = TranscriptMessages()

    def policy(seen: AgentPerception) -> Thinking:
        if greeting := seen.context.get("greeting"):
            return greet(greeting)
        if is_small(seen):
            return (yield from ask_small_model(seen, prompts))
        return (yield from _structured(seen, prompts, told))

    return policy


def greet(greeting: str) -> AgentActionPlan:
    """Greet whoever is the first in a room, in the mate's own words; no model is asked."""
    return AgentActionPlan(
        intent="greet",
        mode="guardrail",
        rule="whoever is the first in a room is greeted",
        narrative="Somebody came in where nobody had spoken yet, so I said my greeting.",
        acts=(Say(text=greeting),),
    )


def _to(seen: AgentPerception) -> str:
    """The line to reply to: the one that called, when others have come after it."""
    called = seen.context.get("line", "")
    newest = seen.lines[-1].id if seen.lines else ""
    return called if called and called != newest else ""


# ---------------------------------------------------------------- a small model


def ask_small_model(seen: AgentPerception, prompts: Prompts) -> Thinking:
    """How a small model is asked: plain words first, then an account of them."""
    called, to = line_to_answer(seen), _to(seen)
    plan = plan_from_tool_result(seen, to) or (
        answer_without_model(seen, prompts, called, to) if called else None
    )
    if plan:
        return plan
    fits = fits_of(seen)
    if may_pass(seen):
        question = last_lines(seen, 4, head=f"{seen.name}, {seen.role}:")
        messages = (*few_shot_messages(prompts["decide-small"], fields_of(seen)), question)
        answer = yield from ask(messages, schema=DECIDE, purpose="decide", max_tokens=60, fits=fits)
        if answer.outcome != "answered" or answer.data is None:
            return without_answer(answer)
        narrative = str(answer.data.get("narrative") or "")
        if not _wants(narrative, answer.data):
            return silent_plan(narrative)
    if called and (plan := (yield from plan_by_tool(seen, prompts, called, to))):
        return plan
    messages = small_prompt(seen, prompts)
    answer = yield from _aloud(messages, fits, seen)
    said = trim_small_answer(answer.text, seen)
    if answer.outcome == "answered" and says_nothing_new(said, seen):
        messages = small_prompt(seen, prompts, again=True)
        answer = yield from _aloud(messages, fits, seen)
        said = trim_small_answer(answer.text, seen)
    if answer.outcome != "answered" or not said:
        return without_answer(answer, "" if may_pass(seen) else words_of(answer), to)
    mode, rule, narrative = yield from ask_for_account(messages, said, seen, prompts)
    return AgentActionPlan(
        intent="talk",
        mode=mode,
        rule=rule,
        narrative=narrative,
        acts=(Say(text=said, reply_to=to),),
    )


def _aloud(messages: tuple[Message, ...], fits: Fits, seen: AgentPerception) -> Asking[Answer]:
    """Ask for its words; people see of them what it will say, while they come."""
    shown = partial(trim_small_answer, seen=seen)
    return (
        yield from ask(
            messages, aloud=True, purpose="talk", max_tokens=SHORT, fits=fits, shown=shown
        )
    )


def _wants(narrative: str, data: dict[str, Any]) -> bool:
    """Whether it has something to say: its sentence counts, where the two contradict each other."""
    if narrative.startswith("I want"):
        return True
    return bool(data.get("speak")) and not narrative.startswith("I stay silent")


# ---------------------------------------------------------------- a capable model


def _structured(seen: AgentPerception, prompts: Prompts, told: TranscriptMessages) -> Thinking:
    first, before, wasted, told_left = seen, list[dict[str, Any]](), 0, left_rows(None, seen)
    form = first_form = AnswerForm(seen)
    front = opening_messages(seen, prompts, form.told(prompts), form.known)
    while True:
        asked = instruction_message(f"{form.instructions(prompts)}{told_left}", seen)
        messages = (*front, *told.of(seen), *memory_messages(seen), asked)
        answer = yield from ask(
            messages,
            schema=form.schema(),
            aloud=True,
            field=SAY,
            purpose="talk",
            max_tokens=LONG_WITH_FILES if form.writes else LONG,
            fits="large",
            tools=seen.offered,
            listing=LISTING if seen.offered else -1,
        )
        if answer.small:
            return (yield from ask_small_model(trim_for_small_model(first), prompts))
        if answer.outcome != "answered" or answer.data is None:
            return without_answer(answer, _came(answer, first), _to(first))
        calls = wanted_calls(answer.data) if seen.offered else []
        if not calls:
            break
        before.append(answer.data)
        seen = _thinking(answer, seen)
        seen, last, _ = yield from use_tools(calls, seen)
        wasted += last is None
        told_left = left_rows(last, seen)
        bound = (last and last.bound) or wasted >= MOST_WASTED
        seen = without_tools(seen) if bound else seen
        form = AnswerForm(seen)
        if bound:
            front = opening_messages(seen, prompts, form.told(prompts), form.known)
    attach = _attached(answer.data) if form.attaches else ()
    plan = _plan(answer.data, before, first_form, attach)
    unread = SAY not in answer.data or answer.data.get("calls")  # which is no wish to be silent
    if plan.intent == "listen" and unread and answer.data.get(SPEAK, True):
        return without_answer(replace(answer, outcome="malformed"))
    return plan


def _thinking(answer: Answer, seen: AgentPerception) -> AgentPerception:
    """The same, with the prose that stood beside its uses of tools: it is not said, nor lost."""
    prose = "" if answer.data is None or answer.data.keys() - {"calls"} else answer.text.strip()
    if not prose:
        return seen
    line = Line(kind="note", who=public_words(seen.name), text=Words(prose[:LONGEST_THOUGHT]))
    return structs.replace(seen, local_events=(*seen.local_events, line))


def _came(answer: Answer, seen: AgentPerception) -> str:
    """What of its words had come. Whom nobody addressed says it whole or not at all."""
    data = answer.data or {}
    if may_pass(seen) and (answer.outcome == "refused" or answer.cut or not data.get(SPEAK, True)):
        return ""
    return str(data.get(SAY) or "").strip()


def _plan(
    data: dict[str, Any],
    before: list[dict[str, Any]],
    form: AnswerForm,
    attach: tuple[str, ...],
) -> AgentActionPlan:
    """The plan of its last answer; what it noted `before`, and said where it now says nothing."""
    mode, rule, narrative = mode_of(data)
    acts, seen = list[Act](), form.seen
    files = _files(data.get("files")) if form.writes else ()
    said = next((words for each in (data, *before[::-1]) if (words := _words(each, seen))), "")
    said = said or ", ".join(file.name for file in files) or (HERE if attach else "")
    if said and data.get(SPEAK, True):
        *first, last = _parted(said) if form.parts and not attach else [said]
        answered = [_to(seen), *([""] * len(first))]
        acts += [Say(text=text, reply_to=to) for text, to in zip(first, answered, strict=False)]
        acts.append(Say(text=last, reply_to=answered[len(first)], files=files, attach=attach))
    if form.reacts and (emoji := str(data.get(REACT) or "")) in EMOJIS[1:]:
        acts.append(React(to=seen.context["line"], emoji=emoji))
    acts += [Note(text=note) for note in _each("note", before, data)]
    acts += [Remember(text=text) for text in _each("remember", before, data)]
    acts += [Forget(what=text) for text in _each("forget", before, data)]
    if data.get("again"):
        acts.append(Continue(why=narrative))
    if not acts:
        return silent_plan(narrative)
    return AgentActionPlan(
        intent="talk" if said else "think",
        mode=mode,
        rule=rule,
        narrative=narrative,
        acts=tuple(acts),
    )


def _parted(said: str) -> list[str]:
    """Its words as the short lines that they are meant to be; as one where they are a text."""
    parts = [part.strip() for part in re.split(r"\n\s*\n", said) if part.strip()]
    short = all(len(part) <= LONGEST_PART and not MARKED.match(part) for part in parts)
    return parts if 1 < len(parts) <= MOST_PARTS and short else [said]


def _each(field: str, before: list[dict[str, Any]], data: dict[str, Any]) -> list[str]:
    """What stands in a field of any of its answers, each once."""
    written = (str(each.get(field) or "").strip() for each in (*before, data))
    return [one for one in dict.fromkeys(written) if one]


def _words(data: dict[str, Any], seen: AgentPerception) -> str:
    """What it says. A model that knows no form stays silent in words, where it may."""
    said = str(data.get(SAY) or "").strip()
    return "" if may_pass(seen) and SPEAK not in data and NOTHING.fullmatch(said) else said


def _attached(data: dict[str, Any]) -> tuple[str, ...]:
    """The handles that it attaches, each once; whether they are there is the room's to say."""
    written = data.get("attach")
    given = (str(each).strip() for each in written) if isinstance(written, list) else ()
    handles = (each.removeprefix("file ").strip("[]#: ") for each in given)
    return tuple(dict.fromkeys(each for each in handles if each))


def _files(written: object) -> tuple[Paper, ...]:
    """The files as they were given; what of them may go out is the guard's to say."""
    given = (
        [each for each in written if isinstance(each, dict)] if isinstance(written, list) else []
    )
    return tuple(paper for each in given if (paper := _paper(each)).name or paper.text)


def _paper(each: dict[str, Any]) -> Paper:
    """A file, also by other names of its fields, or its text a list of lines."""
    text = named_one(each, "text", "content", "body") or ""
    text = "\n".join(map(str, text)) if isinstance(text, list) else str(text)
    return Paper(name=str(named_one(each, "name", "filename", "path") or ""), text=text)


MIND = Mind(VERSION, talk)
