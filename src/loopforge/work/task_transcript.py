"""What happens to a task, as lines of text for people who watch it. Pure."""

from loopforge.core.effect_states import EffectEnd, EffectProposed
from loopforge.core.egress.hidden_signs import spelled_out
from loopforge.core.events import Event
from loopforge.core.model_trouble import fixes_for_owner
from loopforge.core.text.name_labels import truncate_text
from loopforge.core.text.spoken_lists import hours_in_words, pluralize
from loopforge.core.work.work_vocabulary import (
    AttemptScored,
    ChangeUndone,
    PlanSet,
    ResultApproved,
    ResultOffered,
    ResultRejected,
    TaskAsked,
    TaskClassified,
    TaskDelayed,
    TaskEscalated,
    TaskFinished,
    TaskLearned,
    TaskLeased,
    TaskNudged,
    TaskOpened,
    TaskProgressed,
    TaskQueued,
    TaskRated,
    TaskReflected,
    TaskResumed,
    TaskSteered,
    TaskStopped,
    TaskSummarized,
    TierChosen,
    WorkEvent,
    WorkspaceRecovered,
    WorkspaceSaved,
)
from loopforge.work.workspace.file_markers import without_marks

LONGEST = 200
"""Characters of what is shown of a tool's arguments or result in one line."""


def lines_of(event: Event, *, owner: bool = False) -> list[str]:
    """What is said of an event, more to the `owner`; nothing of what only the record needs."""
    match event.body:
        case EffectProposed(tool=tool, arguments=arguments, within="", asks=asks, hours=hours):
            if not asks:
                return [f"  {tool} {_short(str(arguments))}"]
            asked = f"  {tool} {spelled_out(str(arguments))}"
            until = hours_in_words(hours)
            return [asked, f"  It runs when a person says yes within {until}: `allow`, or `deny`."]
        case body if isinstance(body, EffectEnd):
            rows = str(body.value).splitlines()
            more = [f"    [{pluralize(len(rows) - 6, 'more line')}]"] if len(rows) > 6 else []
            return [*(f"    {_indented(row)}" for row in rows[:6]), *more]
        case TaskStopped(why=why, mend=mend) if owner and mend:
            return [f"Stopped: {why}.", f"For the owner: {fixes_for_owner(mend)}."]
        case TaskDelayed(why=why, mend=mend) if owner and mend:
            return [f"It waits: {why}.", f"For the owner: {fixes_for_owner(mend)}."]
        case body if isinstance(body, WorkEvent):
            return _task(body)
        case _:
            return []


def first_tier_line(body: TierChosen) -> str:
    """With which tier a task begins, and why."""
    if body.by == "tried":
        return f"It begins with tier {body.tier}, by lot: to see what such tasks cost there."
    known = next(one for one in body.records if one.tier == body.tier)
    return (
        f"It begins with tier {body.tier}: {known.approved} of {known.tasks} such tasks were "
        f"approved that began there, for ${known.dollars:.4f} in all."
    )


def _task(body: WorkEvent) -> list[str]:
    match body:
        case TaskOpened():
            return ["Starting work."]
        case TaskClassified(task_type=type, role=role, complexity=complexity, flow=flow):
            model = f", {body.model}" if body.model else ""
            return [f"Taken as {type}, {complexity}, by {flow} ({role}{model}). {body.reason}"]
        case TierChosen():
            return [first_tier_line(body)]
        case TaskQueued(behind=behind):
            return [f"Its thread is held by the task {behind[-8:]}; it waits until that is over."]
        case PlanSet(steps=steps):
            return ["Plan:", *(f"  {nth}. {step}" for nth, step in enumerate(steps, 1))]
        case TaskProgressed():
            return [progress_line(body)]
        case TaskSteered(text=text):
            return [f"> {text}"]
        case TaskAsked(question=question):
            return [f"It asks: {question}", "It waits for an answer, and holds nothing up."]
        case TaskNudged(what=what):
            return [f"It goes in circles: {what}"]
        case TaskEscalated(why=text) | WorkspaceRecovered(what=text):
            return [str(text)]
        case TaskRated(up=up, confidence=confidence):
            return [f"Thumb {'up' if up else 'down'}: confidence {confidence:.0f} of 100."]
        case TaskStopped(why=why):
            return [f"Stopped: {why}."]
        case TaskDelayed(why=why):
            return [f"It waits: {why}."]
        case TaskResumed():
            return ["It goes on."]
        case TaskSummarized(text=text):
            return str(text).splitlines()
        case TaskFinished(result=result):
            told = without_marks(str(result), {})
            return ["Result:", *(f"  {row}" for row in told.splitlines())]
        case ResultOffered():
            return _offered(body)
        case ResultApproved(merged=merged):
            return [f"Approved and merged as {merged[:12]}." if merged else "Approved."]
        case ResultRejected(why=why):
            return [f"Rejected: {why}" if why.text != "" else "Rejected."]
        case ChangeUndone(checkpoint=""):
            return ["The merge was taken back."]
        case ChangeUndone(nth=nth):
            return [f"Taken back to turn {nth}."]
        case AttemptScored():
            return [score_line(body)]
        case TaskReflected():
            return reflection_lines(body)
        case TaskLearned(left=left, insights=insights):
            if left:
                return [f"Nothing of that is kept: {left}."]
            return ["That is kept for later tasks."] if insights else []
        case TaskLeased() | WorkspaceSaved():
            return []


def progress_line(body: TaskProgressed) -> str:
    """The one line that says how a task goes: surfaces edit it in place."""
    files = f"{body.files_read} read, {body.files_written} written"
    model = f", {body.model}" if body.model else ""
    return (
        f"[turn {body.nth} of {body.most}, confidence {body.confidence:.0f}{model}, {files}, "
        f"${body.cost}] {_short(str(body.action))}"
    )


def score_line(body: AttemptScored) -> str:
    """What an attempt is given, why, and how far the mind was off."""
    why = ", ".join(f"{one.name} {one.points:+g}" for one in body.reasons)
    own = f"; the mind thought {body.own:.0f}, {off_by(body.off)}" if body.own >= 0 else ""
    return (
        f"Attempt {body.attempt}: {body.together:.0f} of 100 (completion {body.completion:.0f}, "
        f"quality {body.quality:.0f}, efficiency {body.efficiency:.0f}: {why or 'no more is known'}"
        f"){own}."
    )


def off_by(off: float) -> str:
    """How far over or under the score the mind's own view was."""
    if abs(off) < 1:
        return "which is so"
    return f"{abs(off):.0f} too {'much' if off > 0 else 'little'}"


PARTS = {
    "worked": "It worked",
    "failed": "It failed",
    "cause": "The cause",
    "change": "From now on",
    "insight": "To remember",
}
"""How the parts of a look back are called."""


def reflection_lines(body: TaskReflected) -> list[str]:
    """A look back, sentence by sentence, with the turns it cites and what contradicts it."""
    if body.trouble:
        return [f"It could not look back: {body.trouble}."]
    if not body.claims:
        return [f"Looking back: {body.text}"]
    rows = [f"Looking back on attempt {body.attempt}:"]
    for one in body.claims:
        turns = f" [turn {', '.join(map(str, one.turns))}]" if one.turns else ""
        flag = f" (the record says otherwise: {one.flag})" if one.flag else ""
        rows.append(f"  {PARTS[one.part]}: {one.text}{turns}{flag}")
    return rows


def _offered(body: ResultOffered) -> list[str]:
    if not body.commit:
        return [f"There is nothing to merge: {body.message}"]
    head = (
        f"Ready to merge: {body.commit[:12]} on {body.branch}, {pluralize(len(body.files), 'file')}"
    )
    return [
        *(f"Look twice: {note}" for note in body.notes),
        f"{head}. `approve` merges exactly this.",
    ]


def _indented(row: str) -> str:
    """A row as far as it is shown; code and tracebacks are read by where their rows begin."""
    row = row.expandtabs(4)
    return " " * min(len(row) - len(row.lstrip(" ")), LONGEST) + _short(row)


def _short(text: str) -> str:
    return truncate_text(" ".join(text.split()), LONGEST)
