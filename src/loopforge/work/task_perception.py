"""Building a perception: the one place where a mind's view of a task is made.

Truth comes in as a TaskState; out comes what one mate is shown: who it is in this task, what was
said and seen in order, what it means to do, which tools it has. What does not fit its window leaves
from the front, the person's words last, and not before they were shown once; that is on record.
"""

import json
from collections.abc import Collection, Sequence
from datetime import datetime, tzinfo

from loopforge.core.mates.mate_file import Mate
from loopforge.core.perception import AgentPerception, Edit, Line, ToolOffer
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.text.spoken_lists import join_as_prose, pluralize
from loopforge.core.work.task_classifier import shell_command
from loopforge.core.work.task_lifecycle import turn_limit
from loopforge.core.work.work_roles import ROLES
from loopforge.runtime.ports import ModelFacts, Tool
from loopforge.runtime.world import OpeningView
from loopforge.work.task_state import TaskEntry, TaskState, tool_use_argument
from loopforge.work.workspace.workspace_tools import CLONE

SIGNS = 3
"""Characters that are one token, at the least: code is denser than prose."""
ANSWER = 4500
"""Tokens kept free for the answer."""
LONGEST = 6000
"""Characters of one line that is shown; of a longer one its beginning and its end."""
NAMED = 40
"""Files that are named which were changed, where lines left the window."""
SHARE = 0.75
"""The share of a model's window that a prompt may fill."""
PERSON = "Person"


def opening_view(
    state: TaskState,
    mate: Mate,
    tools: Sequence[Tool],
    facts: ModelFacts,
    now: datetime,
    *,
    turns: int,
    branches: str,
) -> OpeningView:
    """What the mate is shown in this turn; `now` in the zone by which it is told times."""
    offers = tuple(
        ToolOffer(name=one.name, summary=_summary(one), schema=one.schema, reads=one.reads)
        for one in tools
    )
    lines = [_line(state, entry, now.tzinfo) for entry in state.entries]
    weight = len(mate.prompt) // SIGNS + sum(len(json.dumps(one.schema)) for one in offers) // SIGNS
    # A small model is shown the task alone: what came of it is for the mind that gives its steps.
    room = int(facts.window * SHARE) - (0 if facts.small else ANSWER + weight)
    kept, gone = _fitting(lines, room, state.pending)
    edits: tuple[Edit, ...] = ()
    if gone:
        why = "the window of its model is full"
        edits = (Edit(kind="withheld", what="lines", by="window", why=why, count=len(gone)),)
        text = f"{pluralize(len(gone), 'earlier line')} of this task left the window."
        changed = join_as_prose(tuple(state.written)[-NAMED:])
        more = f" Changed so far: {changed}." if changed else ""
        kept.insert(1, Line(kind="told", text=Words(text + more)))
    context = {
        "character": mate.prompt,
        "handle": mate.handle,
        "model": "small" if facts.small else "full",
        "title": state.role.title,
        "now": now.strftime("%A %d %B %Y, %H:%M"),
        "planned": _planned(state),
        "turn": str(state.turns - state.since + 1),
        "turns": str(turns),
        "left": _left(state),
        "branches": branches,
        "clone": f"{CLONE}/" if state.task.repo else "",
        "command": next((tool_use_argument(use, "command") for use in reversed(state.uses)), "")
        or shell_command(str(state.task.text)),
        "roles": "\n".join(f"- {one.handle}: {one.title}" for one in ROLES.values()),
    }
    seen = AgentPerception(
        step=state.turns,
        name=mate.name,
        role=state.role.title,
        location=state.thread,
        local_events=tuple(kept),
        context=context,
        tools=offers,
    )
    return OpeningView(perception=seen, edits=edits, upto=state.seq)


def _summary(tool: Tool) -> str:
    """What a mate is told of a tool; also that a person is asked first."""
    return f"{tool.summary} A person is asked first." if tool.asks else tool.summary


def _line(state: TaskState, entry: TaskEntry, zone: tzinfo | None) -> Line:
    """One entry as the mate is shown it."""
    at = entry.at.astimezone(zone).strftime("%H:%M")
    match entry.kind:
        case "heard":
            return Line(kind="heard", who=public_words(PERSON), text=entry.text, id=entry.id, at=at)
        case "result":
            good = entry.outcome == "returned"
            who = entry.who if good else f"{entry.who}, {entry.outcome}"
            text = entry.text
            if text.text is not None:
                alone = state.classified is not None and state.classified.flow == "shell"
                wanted = "" if alone else f"(for {truncate_middle(str(entry.arguments), 300)})\n"
                text = Words(f"{wanted}{truncate_middle(text.text, LONGEST)}")
            return Line(kind="result", who=public_words(who), text=text, id=entry.id, at=at)
        case "option":
            by, tier = public_words(entry.who), entry.outcome
            return Line(kind="option", who=by, text=entry.text, id=entry.id, which=tier)
        case "told":
            return Line(kind="told", text=entry.text, id=entry.id, at=at)
        case kind:
            return Line(
                kind=kind, who=public_words(state.task.mate), text=entry.text, id=entry.id, at=at
            )


def truncate_middle(text: str, most: int) -> str:
    """Its beginning and its end, where it is longer."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[{len(text) - most:,} characters left out]\n{text[-half:]}"


def _fitting(
    lines: list[Line], room: int, pending: Collection[str]
) -> tuple[list[Line], list[Line]]:
    """The lines that fit, with the task itself always, and what is to be heeded; and the others."""
    sizes = [len(str(line.text)) // SIGNS + 8 for line in lines]
    total, gone = sum(sizes), set[int]()
    for kinds in (("result", "note", "told"), ("mine",), ("heard",)):
        for nth in range(1, len(lines) - 2):
            if total <= room:
                break
            if lines[nth].kind in kinds and lines[nth].id not in pending:
                gone.add(nth)
                total -= sizes[nth]
    kept = [line for nth, line in enumerate(lines) if nth not in gone]
    return kept, [lines[nth] for nth in sorted(gone)]


def _planned(state: TaskState) -> str:
    if not state.plan:
        return "There is no plan yet: begin with one."
    return "Your plan:\n" + "\n".join(f"{nth}. {step}" for nth, step in enumerate(state.plan, 1))


def _left(state: TaskState) -> str:
    """What people should not have to say: that its time is nearly over."""
    classified = state.classified
    most = turn_limit(classified)
    left = most - (state.turns - state.since)
    return f"Only {pluralize(left, 'turn')} left: come to an end." if left <= 3 else ""
