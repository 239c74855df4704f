"""One loop for every mind, and what it may do to nobody but itself.

    ended = await drive(lambda: policy(seen), perform, 24)

Rooms, the Factory and replay drive their minds by it and differ in `perform` alone: it is given the
number of a request and its parts, and gives as many replies, or whatever else ends the turn. What a
mind raises, asks and returns is contained here: its own turn fails of it, as a `MindFailed`. One
that does not come back between two requests is ended (time_limit.py says what cannot be).

Knows nothing of ledgers and models.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import compress, repeat
from operator import is_not
from pathlib import PurePath
from signal import SIGINT, default_int_handler, getsignal
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception, ToolOffer
from loopforge.core.policy import All, Answer, Ask, Asking, Call, Message, Result, is_text
from loopforge.runtime.time_limit import OutOfTime, call_within

LONGEST = 300
"""Characters that are kept of a narrative, a rule, a belief or an error; a mind may ramble."""
LONGEST_PLAN = 1 << 23
"""Bytes of a plan as it is written down; one of more is broken."""
THINKING = 2.0
"""Seconds of processor time in which a mind has to ask or to plan, each time."""

OFFERS = tuple[ToolOffer, ...]
DRIVERS = tuple(
    str(PurePath(__file__).parents[1] / part) for part in ("runtime", "core", "lab/run")
)
"""Where the code lies that stands between a loop and a mind's own."""
HUGE, NO_BOUNDS = 1 << 31, "a question's bounds are none"

E = TypeVar("E")
Parts = tuple[Ask | Call, ...]
Replies = tuple[Answer | Result, ...]


@dataclass(frozen=True, slots=True)
class MindReturned:
    """What a mind returned, whatever that is."""

    value: object


@dataclass(frozen=True, slots=True)
class MindFailed:
    """A mind came to nothing, in words; `late`: it did not come back."""

    why: str
    late: bool = False


async def drive(
    begin: Callable[[], Asking[Any]],
    perform: Callable[[int, Parts], Awaitable[Replies | E]],
    most: int,
    seconds: float = THINKING,
) -> MindReturned | MindFailed | E:
    """Drive a mind to its end; it may ask `most` times. What `perform` raises goes through.

    It has so many seconds until it asks or returns, each time.
    """
    safely = partial(call_contained, seconds=seconds)
    thinking = safely(begin)
    if isinstance(thinking, MindFailed):
        return thinking
    reply: object = None
    rounds = asked = 0
    try:
        while True:
            made = safely(partial(_sent, thinking, reply, most - asked))
            if isinstance(made, MindReturned | MindFailed):
                return made
            request, parts = made
            if parts is None or rounds == most:
                return MindFailed(f"it asked more than {most} times")
            done = await perform(asked + 1, parts)
            if not isinstance(done, tuple):
                return done
            rounds, asked = rounds + 1, asked + len(parts)
            reply = done if isinstance(request, All) else done[0]
    finally:
        safely(lambda: thinking.close())  # one that will not be closed is left to the collector


def _sent(
    thinking: Asking[Any], reply: Any, most: int
) -> tuple[object, Parts | None] | MindReturned:
    """What it asks next, and the parts of that (see `_parts`); or what it returned."""
    try:
        request = thinking.send(reply)
    except StopIteration as end:
        return MindReturned(end.value)
    return request, _parts(request, most)


def call_contained(call: Callable[[], Any], seconds: float = THINKING) -> Any:
    """What the mind's own code gives within so many seconds, or MindFailed.

    It runs between two awaits: a cancelling from outside never comes up in it. A person's Ctrl-C
    goes through; within asyncio's loop theirs comes as a cancelling.
    """
    try:
        return call_within(seconds, call)
    except OutOfTime:
        return MindFailed(f"it did not come back within {seconds:g} seconds", late=True)
    except KeyboardInterrupt as error:
        if getsignal(SIGINT) is default_int_handler:
            raise
        return mind_failure(error)
    except BaseException as error:
        return mind_failure(error)


def mind_failure(error: BaseException) -> MindFailed:
    """What a mind failed of; an error may fail in saying so."""
    said, where = type(error).__name__, ""
    with suppress(BaseException):
        said = bounded_text(repr(error))
        where = _raised_at(error)
    return MindFailed(f"the policy failed: {said}{where}")


def _raised_at(error: BaseException) -> str:
    """Where in the mind's own file: " at braves.py:8"; "" where none of its lines was run.

    Its file is the first one that is not part of what drives it; of that the line furthest in.
    """
    file, line, step = "", 0, error.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        if not file and not name.startswith(DRIVERS):
            file = name
        if file and name == file:
            line = step.tb_lineno
        step = step.tb_next
    return f" at {bounded_text(PurePath(file).name)}:{line}" if file else ""


# ------------------------------------------------------------ values


def _parts(request: object, most: int) -> Parts | None:
    """The parts of a request, None where they are too many. Raises TypeError for what is none."""
    given: object = request.requests if isinstance(request, All) else (request,)
    if not isinstance(given, tuple | list):
        raise TypeError(f"a {type_name(given)} is no list of requests")
    if len(given) > most:
        return None
    parts = tuple(given[:most])
    for part in parts:
        if type(part) is Ask:
            laws = _ask_laws(part)
        elif type(part) is Call:
            laws = _call_laws(part)
        else:
            raise TypeError(f"a {type_name(part)} is no request")
        for holds, why in laws:
            if not holds:
                raise TypeError(why)
    return parts


def _ask_laws(ask: Ask) -> Iterator[tuple[bool, str]]:
    """What must be true of a question before it can be put, each with what is said otherwise."""
    yield type(ask.messages) is tuple, "the messages of a question are no tuple"
    others = map(is_not, map(type, ask.messages), repeat(Message))
    strange = [*compress(ask.messages, others)]
    yield not strange, f"a {type_name(strange[0] if strange else None)} is no message"
    for text in (ask.purpose, ask.field, ask.fits):
        yield is_text(text), f"a {type_name(text)} is no word of a question"
    numbers = (ask.max_tokens, ask.listing, ask.tier)
    yield {*map(type, numbers)} == {int} and all(abs(one) < HUGE for one in numbers), NO_BOUNDS
    yield type(ask.aloud) is type(ask.exact) is bool, NO_BOUNDS
    yield ask.shown is None or callable(ask.shown), "a question shows its drafts by no function"
    yield ask.schema is None or type(ask.schema) is dict, "the schema of a question is no dict"
    yield type(ask.tools) is tuple, "the tools of a question are none"
    odd = [tool for tool in ask.tools if type(tool) is not ToolOffer]
    yield not odd, f"a {type_name(odd[0] if odd else None)} is no tool"
    yield _are_offers(msgspec.json.encode(ask.tools)), ""
    yield bool(as_json(ask.schema)), ""


@lru_cache(16)
def _are_offers(tools: bytes) -> bool:
    """Whether this is JSON of tools as they are offered. Raises ValidationError."""
    return bool(msgspec.json.decode(tools, type=OFFERS) or True)


def _call_laws(call: Call) -> Iterator[tuple[bool, str]]:
    yield is_text(call.tool), "the name of a tool is no text"
    yield type(call.arguments) is dict, "the arguments of a tool are no dict"
    yield bool(as_json(call.arguments)), ""


def as_json(value: object) -> str:
    """A value as it stands in the record: as JSON, the same for the same value."""
    return msgspec.json.encode(value, order="sorted").decode()


def plan_of(made: object) -> tuple[AgentActionPlan, str] | MindFailed:
    """A plan as the record has it, and that text; what it holds besides is left behind."""
    if not isinstance(made, AgentActionPlan):
        return MindFailed(f"the policy returned a {type_name(made)}, which is no plan")
    kept = call_contained(partial(_read_back, made))
    if isinstance(kept, tuple):
        return kept
    why = kept.why if isinstance(kept, MindFailed) else "it is too large"
    return MindFailed(f"its plan cannot be written down: {why}")


def _read_back(made: AgentActionPlan) -> tuple[AgentActionPlan, str] | None:
    """A plan from its text, and that; None where it is too long."""
    text = as_json(made)
    if len(text) > LONGEST_PLAN:
        return None
    return msgspec.json.decode(text, type=AgentActionPlan), text


def copy_perception(seen: AgentPerception) -> AgentPerception:
    """A copy to be shown: what a mind writes into that is not what it was shown."""
    tools = seen.tools and msgspec.json.decode(msgspec.json.encode(seen.tools), type=OFFERS)
    return replace(
        seen,
        tools=tools,
        emotions=dict(seen.emotions),
        traits=dict(seen.traits),
        context=dict(seen.context),
        extra=deepcopy(seen.extra),
    )


def bounded_text(value: object) -> str:
    """Text that can be kept: bounded, and without half characters that cannot be written down.

    Numbers are written out; of anything else that is no text only its type is said, for how it
    shows itself may be without end, or other in each run.
    """
    if type(value) is str and len(value) < LONGEST and value.isascii():
        return value
    text = value if type(value) is str else _text(value)
    if len(text) > LONGEST:
        text = text[: LONGEST - 1] + "…"
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _text(value: object) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    if value is None or type(value) in (bool, float):
        return repr(value)
    if type(value) is int:
        return repr(value) if abs(value) < 1 << 63 else "a huge number"
    return f"a {type_name(value)}"


def type_name(value: object) -> str:
    """What type this is, whatever that type says of itself."""
    name: str = _NAME(type(value))
    return bounded_text(name)


_NAME = type.__dict__["__name__"].__get__
