"""The prompt of a small model: who it is, the examples nearest to what was said, what was said.

Measured with the embedded model over thirty first lines (docs/embedded-model.md): every message
more near the end makes a model of this size leave its character, and its own earlier lines make it
say them again. So it is shown two examples at the most; only where none is like the line, the
exchange before it. The time does not stand there: it misreads what it is told (see faq.py).
"""

import re

from msgspec.structs import replace

from loopforge.core.mates.mate_file import parse_dialogue
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Message, Prompts
from loopforge.core.text.prompt_rows import NAME, PLAIN, TEXT
from loopforge.core.text.tool_markup import without_calls
from loopforge.policies.few_shot import Example, nearest_examples
from loopforge.policies.prompt_building import (
    fields_of,
    fill_template,
    first_sentences,
    without_tools,
)
from loopforge.policies.speaker_messages import build_message, join_messages, line_message, was_said

ENOUGH = 5000
"""Characters of lines that a small model is shown where it stands in: its window is not known."""
TWICE = 2
"""How often the examples stand there: once is overheard, thrice is copied without a thought."""
LATEST = 3
"""Rows of others that stand in the last message, at most."""
COPIED = 2
"""So many words of a mate's line, from its beginning, are that line again."""
ROWS_BEFORE = 3
"""Rows that an answer may begin with, one within another: Ana: [3 May from Ben: ...] ..."""
_STAGE = re.compile(r"^\s*(?:\([^()]{1,60}\)|\*[^*\n]{1,60}\*)\s*(?=\S)")
"""A stage direction before the words: (smiling)."""
_ROW = re.compile(r"^(?:\s*\[[^\]\n]*(?:\](?!\()|(?=\n)|$))+")
"""What it remembers, said again as it was told it: [in another room, 3 May from Ana: ...]."""


def trim_for_small_model(seen: AgentPerception) -> AgentPerception:
    """What a small model is shown that stands in for a large one: the newest lines, as they are."""
    kept: list[Line] = []
    left = ENOUGH
    for line in reversed(seen.lines):
        left -= len(str(line.text)) + len(str(line.who))
        if kept and left < 0:
            break
        kept.append(line)
    context = {**seen.context, "model": "small", "fits": "small"}
    seen = replace(seen, local_events=tuple(reversed(kept)), context=context)
    return without_tools(seen)


def line_to_answer(seen: AgentPerception) -> Line | None:
    """The line that this turn answers: the one that called, else the last of somebody else."""
    heard = [line for line in seen.lines if line.kind in ("heard", "said")]
    called = [line for line in heard if line.id == seen.context.get("line")]
    return next(iter((called or heard)[-1:]), None)


def small_prompt(
    seen: AgentPerception, prompts: Prompts, *, again: bool = False
) -> tuple[Message, ...]:
    """What a small model is asked with; `again`, where that made it repeat itself, with less."""
    parts = parse_dialogue(seen.context.get("character", ""))
    base = fill_template(prompts["base-small"], fields_of(seen))
    told = f"{parts.character}\n{base}".strip()
    system = Message("system", (told,)) if again else _with_memory(told, seen)
    since = _since_it_spoke(seen)
    if not since:
        return (system, *_last_exchange(seen), Message("user", ("Go on.",)))
    line = line_to_answer(seen) or since[-1]
    said = str(line.text)
    shown = nearest_examples(parts.examples, said, seen.name)
    if shown and not again:
        shots = [message for example in shown for message in _shot(line, example)]
        return (system, *shots * TWICE, line_message(line, small=True))
    exchange = () if again and not shown else _last_exchange(seen)
    return (system, *exchange, _latest([line] if again else since, line))


def _with_memory(text: str, seen: AgentPerception) -> Message:
    """Who it is, and what it remembers that may fit: far from the end, where it would be copied."""
    rows = [line_message(line, small=True) for line in (*seen.standing, *seen.recalled)]
    return (
        join_messages([Message("system", (text,)), *rows]) if rows else Message("system", (text,))
    )


def _shot(line: Line, example: Example) -> tuple[Message, Message]:
    """An example, as if whoever speaks now had asked it."""
    asked, answered = example
    who = ((line.who, NAME), (": ", PLAIN), (asked, TEXT))
    return build_message("user", who), Message("assistant", (answered,))


def _last_exchange(seen: AgentPerception) -> tuple[Message, ...]:
    """What this mind answered last, with its answer."""
    spoken = [line for line in seen.lines if was_said(line)]
    own = [at for at, line in enumerate(spoken) if line.kind == "mine"]
    asked = [line for line in spoken[: own[-1]] if line.kind != "mine"] if own else []
    if not asked:
        return ()
    return (line_message(asked[-1], small=True), Message("assistant", (spoken[own[-1]].text,)))


def _since_it_spoke(seen: AgentPerception) -> list[Line]:
    """What others have said since this mind spoke last."""
    since: list[Line] = []
    for line in seen.lines:
        if line.kind == "mine":
            since.clear()
        elif was_said(line):
            since.append(line)
    return since


def _latest(since: list[Line], called: Line) -> Message:
    """The last rows of others, the one that called it among them."""
    latest = since[-LATEST:]
    if called not in latest:
        latest = [called, *latest[1:]]
    return join_messages([line_message(line, small=True) for line in latest])


def trim_small_answer(text: str, seen: AgentPerception) -> str:
    """What is said of an answer: its first two sentences, without a speaker's name before them.

    The second goes if it is not whole, says nothing new, or goes round in a circle.
    """
    said = first_sentences(_without_name(without_calls(text).strip(), seen), 2)
    first = first_sentences(said, 1)
    rest = said[len(first) :].strip()
    words, before = _words(rest), _words(first)
    turns = [tuple(words[at : at + 3]) for at in range(len(words) - 2)]
    whole = first_sentences(f"{rest} x", 1) == rest
    news = bool(set(words) - set(before)) and len(set(turns)) == len(turns)
    return said if rest and whole and news else first


def says_nothing_new(said: str, seen: AgentPerception) -> bool:
    """Whether these are words that it was to answer, or a mate's, as they began; or none."""
    words = _words(said)
    if not words:
        return True
    called = line_to_answer(seen)
    if called and words == _words(str(called.text)):
        return True
    mates = [_words(str(line.text)) for line in seen.lines if line.kind in ("mine", "said")]
    begun = [known[: len(words)] for known in mates] if len(words) >= COPIED else mates
    return words in begun


def _without_name(text: str, seen: AgentPerception) -> str:
    """An answer that begins like rows of the room ("Ana: ...") or a play, without these."""
    names = {seen.name.lower(), *(str(line.who).lower() for line in seen.lines)}
    for _ in range(ROWS_BEFORE):
        text = _STAGE.sub("", _ROW.sub("", text))
        head, colon, rest = text.partition(":")
        if colon and head.strip().lower() in names:
            text = rest.strip().strip('"“”')
    return text


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
