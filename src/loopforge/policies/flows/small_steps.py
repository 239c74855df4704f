"""A task in the hands of a small model: one file, written and run, and what came of it said.

A small model is not left to plan, nor to choose among tools. The steps are this mind's; the model
writes what stands in the file, after examples (prompts/work-small.md). After a run that fails it is
asked again, with other examples. What ran and what it printed is said as it was. Anything else is
put back to the person. Knows a few kinds of file alone.
"""

import ast
import builtins
import re
from collections.abc import Sequence

from loopforge.core.action_plan import Act, AgentActionPlan
from loopforge.core.mates.mate_file import parse_dialogue
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Asking, Message, Prompts, Result, ask, call
from loopforge.core.work.work_vocabulary import (
    AdmitStuck,
    AskPerson,
    FinishWork,
    GoOn,
    SetPlan,
)
from loopforge.policies.few_shot import Example, sort_by_likeness
from loopforge.policies.flows.task_prompt import no_answer
from loopforge.policies.prompt_building import fits_of

WRITE, RUN = "work_write", "work_run"
RUNNERS = {"py": "python3", "sh": "bash", "js": "node"}
"""What runs a file, by the end of its name."""
_KINDS = {
    "py": r"\bpython (?:script|program|file)\b",
    "sh": r"\b(?:shell|bash)[ -]script\b",
    "js": r"\b(?:javascript|node|js) (?:script|program|file)\b",
}
"""How a file is asked for that has no name."""
TOKENS = 300
"""Of what it writes into a file."""
SHOTS = 3
"""Examples that it is shown."""
TRIES = 3
"""Runs of a file that fail, until that is told."""
LONGEST = 1200
"""Characters of what a run printed that are said."""
RULE = "a small model writes one file, and the steps are given"
_FILE = re.compile(
    r"(?<![\w/.])([A-Za-z0-9_][\w-]{0,40}\.(?:py|sh|js|ts|md|txt|html|css|json|csv|ya?ml|toml))\b(?!/)"
)
_FENCED = re.compile(r"```[\w+-]*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_NUMBER = re.compile(r"\d{1,18}")
_WORD = re.compile(r"[a-z]+")
_QUOTED = re.compile(r"[\"'](.*?)[\"']")
_EXIT = re.compile(r"\[exit code (\d+)")


def small_steps(seen: AgentPerception, prompts: Prompts) -> Asking[AgentActionPlan]:
    """The next step of a task, by what came of those before."""
    heard = [nth for nth, line in enumerate(seen.lines) if line.kind == "heard"]
    wanted = " ".join(str(seen.lines[nth].text).strip() for nth in heard)
    name = _name(wanted)
    offered = {one.name for one in seen.offered}
    if WRITE not in offered:
        return _planned(AdmitStuck(why=_UNABLE), "A small model has no way to do this.")
    if not name:
        return _planned(AskPerson(question=_BEYOND), "This is more than I can do by a small model.")
    runner = RUNNERS.get(name.rpartition(".")[2], "") if RUN in offered else ""
    since = seen.lines[heard[-1] + 1 :]
    writes, runs = _results(since, WRITE), _results(since, RUN)
    if len(writes) <= len(runs):
        if runs and (_good(runs[-1]) or len(runs) >= TRIES):
            return _ended(name, runs[-1])
        return (yield from _written(seen, prompts, name, wanted, len(runs)))
    if not runner:
        return _planned(
            FinishWork(result=f"{name} is written; it was not run.", evidence=f"{name} is there."),
            f"I wrote {name}.",
        )
    result = yield from call(RUN, {"command": f"{runner} {name}"})
    return _refused(result, name) or _planned(GoOn(did=f"I ran {name}."), f"I ran {name}.")


def _name(wanted: str) -> str:
    """The file that is asked for; "" for none."""
    if found := _FILE.search(wanted):
        return found[1]
    kinds = (kind for kind, words in _KINDS.items() if re.search(words, wanted, re.IGNORECASE))
    return f"main.{kind}" if (kind := next(kinds, "")) else ""


_UNABLE = "I run on a small model here, which can only write one file; this needs a larger one."
_BEYOND = (
    "I run on a small model here: it can write one file, and run it. Which file shall I make (such "
    "as hello.py), and what should it do? For more, give me a larger model (Admin, Models)."
)


def _written(
    seen: AgentPerception, prompts: Prompts, name: str, wanted: str, failed: int
) -> Asking[AgentActionPlan]:
    """Have the model write the file; `failed` runs of it came to nothing before.

    It is shown other examples where what it wrote cannot be right; of what it wrote, the least
    doubtful is taken.
    """
    prompt, written = prompts["work-small"], list[tuple[int, str]]()
    alike = _alike(prompt, name, wanted)
    alike = alike[: max(1, len(alike) - failed)]
    shots = alike[-SHOTS:], alike[-1:], alike[-SHOTS - 1 : -1] or alike
    for examples in dict.fromkeys(map(tuple, shots)):
        answer = yield from ask(
            (*_shown(parse_dialogue(prompt).character, examples), Message("user", (wanted,))),
            purpose="write",
            max_tokens=TOKENS,
            fits=fits_of(seen),
            exact=True,
        )
        said = answer.text.strip("\n")
        if answer.outcome != "answered" or not said.strip():
            return no_answer(answer)
        fenced = _FENCED.search(said)
        text = fenced[1] if fenced else said
        written.append((_doubts(name, text, wanted), text))
        if not written[-1][0]:
            break
    text = min(written, key=lambda one: one[0])[1]
    path = f"{seen.context.get('clone', '')}{name}"  # commands run in a repository's clone, too
    result = yield from call(WRITE, {"path": path, "text": text + "\n"})
    steps = (f"write {name}", "run it", "say what it printed")
    did = GoOn(did=f"I wrote {name}.")
    return _refused(result, name) or _planned(did, f"I wrote {name}.", SetPlan(steps=steps))


def _alike(prompt: str, name: str, wanted: str) -> list[Example]:
    """The examples of such a file, the one that is most like what is wanted last."""
    end = "." + name.rpartition(".")[2]
    examples = [
        (said, answer.replace("\\n", "\n")) for said, answer in parse_dialogue(prompt).examples
    ]
    same = [one for one in examples if _name(one[0]).endswith(end)] or examples
    return sort_by_likeness(same, wanted) or same


def _shown(character: str, examples: Sequence[Example]) -> list[Message]:
    """What it is told, and the examples."""
    messages = [Message("system", (character,))]
    for said, answer in examples:
        messages += [Message("user", (said,)), Message("assistant", (answer,))]
    return messages


def _doubts(name: str, text: str, wanted: str) -> int:
    """How much in a file is likely wrong: numbers and words that nobody asked for, bad Python."""
    asked = wanted.replace(name, "")
    numbers, written = (set(map(int, _NUMBER.findall(each))) for each in (asked, text))
    lacking = {one for one in numbers if not {one, one + 1} & written}
    made_up = {one for one in written if not {one, one - 1} & {0, 1, *numbers}}
    spoken = " ".join(_QUOTED.findall(text) if name.endswith((".py", ".js", ".sh")) else ())
    strange = set(_WORD.findall(spoken.lower())) - set(_WORD.findall(asked.lower()))
    python = name.endswith(".py")
    fails, silent = python and _broken(text), python and "print" not in text
    return len(lacking) + len(made_up) + bool(strange) + silent + 3 * fails


def _broken(text: str) -> bool:
    """Whether it is no Python, or uses a name that nothing gives."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    used, given = set[str](), set(dir(builtins))
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                used.add(name)
            case ast.Name(id=name) | ast.arg(arg=name):
                given.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                given.add(name)
            case ast.alias(name=name, asname=other):
                given.add(other or name.partition(".")[0])
    return not used <= given


def _ended(name: str, printed: str) -> AgentActionPlan:
    """What came of it, as the run gave it."""
    said = printed.partition("\n")[2].strip()[-LONGEST:]
    if not _good(printed):
        why = f"{name} is written, and fails when it runs:\n{said}"
        return _planned(AdmitStuck(why=why), f"I could not get {name} to run.")
    result = f"{name} is written and ran. It printed:\n{said}" if said else f"{name} ran."
    return _planned(FinishWork(result=result, evidence=printed[:LONGEST]), f"I made {name}.")


def _refused(result: Result, name: str) -> AgentActionPlan | None:
    """Where a tool could not be used at all."""
    if result.outcome in ("returned", "failed", "deferred"):
        return None
    return _planned(AdmitStuck(why=result.value), f"I could not work on {name}.")


def _results(lines: Sequence[Line], tool: str) -> list[str]:
    """What uses of a tool gave, without what they were for."""
    return [
        str(line.text).partition("\n")[2]
        for line in lines
        if line.kind == "result" and str(line.who).partition(",")[0] == tool
    ]


def _good(printed: str) -> bool:
    found = _EXIT.search(printed)
    return found is not None and found[1] == "0"


def _planned(act: Act, narrative: str, *more: Act) -> AgentActionPlan:
    return AgentActionPlan(
        intent="work", mode="guardrail", rule=RULE, narrative=narrative, acts=(*more, act)
    )
