"""Policy: a mind as a generator. It asks, is told, and returns a plan.

    def greet(perception):
        answer = yield from ask("Say hello to " + perception.context["to"])
        return AgentActionPlan(intent="talk", mode="context", acts=(Say(text=answer.text),))

A policy has no clock, dice, network, database, file or log; it cannot await. One runtime file
performs its requests and records each; so a turn can be replayed, and a fault is another driver,
never another policy. A plain function from perception to plan is a policy that asks nothing.
"""

import dataclasses
import inspect
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, cast, get_args

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception, Line, Picture, ToolOffer
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.prompt_rows import laid_out

Role = Literal["system", "user", "assistant"]
ROLES = frozenset(get_args(Role))

AnswerOutcome = Literal[
    "answered",  # text, and `data` where a schema was given
    "refused",  # the model or its provider would not answer; `text` says what it said
    "malformed",  # an answer came, but not of the form asked for; `text` is the raw answer
    "timed_out",  # nothing, or not everything, came in time; `text` is what came
    "failed",  # no model of the tier answered
    "cancelled",  # stopped by a person
]
ResultOutcome = Literal[
    "returned",  # `value` is what the tool gave
    "failed",  # the tool ran and failed; `value` says how
    "refused",  # the guard did not let it run
    "deferred",  # it goes on; its result wakes a new turn
    "unknown",  # it was in flight when the process died; it may or may not have happened
    "timed_out",
    "cancelled",
]


def is_text(value: object) -> bool:
    """Whether it can be written down: half a character cannot."""
    return type(value) is str and (value.isascii() or bool(value.encode()))


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt. `parts` are joined; Words among them stay references when stored.

    `pictures` come after its text, before those models that can see. `layout` says of each part how
    it is laid out (prompt_rows.py); "": all as they are.
    """

    role: Role
    parts: tuple[str | Words, ...]
    pictures: tuple[Picture, ...] = ()
    layout: str = ""

    def __post_init__(self) -> None:
        """Hold it to what can be put before a model and written down. Raises TypeError."""
        given: tuple[object, ...] = (self.role, self.parts, self.pictures)
        if type(given[0]) is not str or given[0] not in ROLES:
            raise TypeError("a message has no such role")
        if not type(given[1]) is type(given[2]) is tuple:
            raise TypeError("the parts and the pictures of a message are no tuples")
        for part in self.parts:
            text: object = part.text if type(part) is Words else part
            if part is None or not (text is None or is_text(text)):  # Words may be forgotten
                raise TypeError(f"a {type(part).__name__} is no text of a message")
        if not is_text(self.layout) or len(self.layout) not in (0, len(self.parts)):
            raise TypeError("the layout of a message is no form for each of its parts")
        for picture in self.pictures:
            if type(picture) is not Picture:
                raise TypeError(f"a {type(picture).__name__} is no picture")
            fields = (picture.name, picture.hash, picture.media, picture.size)
            if (*map(type, fields),) != (Words, Words, str, int):
                raise TypeError("a picture of a message is none")

    @property
    def text(self) -> str:
        """The message as the model reads it."""
        return laid_out(self.parts, self.layout)


Fits = Literal["any", "large", "small"]
"""Which models a prompt was made for."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a language model. With a JSON `schema` the answer is constrained to it.

    `aloud` streams a draft to the room: the whole text, or with a schema the string field named by
    `field`. `purpose` is one word for the record. `max_tokens` bounds the answer. `fits`: "large"
    where the mind has another prompt for small models, and wants to be told when one stands in;
    "small" where this is that prompt, which goes to the small one and who comes after it.

    `tools` are offered in the provider's own form to a model that knows such; one that does not
    has `calls` in its form, and a list of them in the message number `listing`, which the other is
    not shown. Either way the answer's `calls` have them: each a `tool` and its `arguments` as JSON.

    `shown` makes of the words so far what a draft shows of them, where the mind says less than all
    of an answer.

    `exact`: what is asked for stands in the messages; a small model is let copy it. `tier`: of this
    one a model is asked, in place of the mate's own (0).
    """

    messages: tuple[Message, ...]
    schema: dict[str, Any] | None = None
    aloud: bool = False
    field: str = ""
    purpose: str = "answer"
    max_tokens: int = 400
    fits: Fits = "any"
    tools: tuple[ToolOffer, ...] = ()
    listing: int = -1
    exact: bool = False
    tier: int = 0
    shown: Callable[[str], str] | None = dataclasses.field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """Call a tool by its name with JSON arguments."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class All:
    """Several requests at once; the reply is a tuple of replies in the same order."""

    requests: tuple[Ask | Call, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of an Ask. `model` answered; `fallback` says it was not the first choice.

    `data` may be there whatever became of it: what could be read of what came. `cut`: its words
    broke off in the middle.
    `small`: nobody did, and a small model stands in once it is asked in its own form.
    """

    outcome: AnswerOutcome
    text: str = ""
    data: dict[str, Any] | None = None
    model: str = ""
    fallback: bool = False
    news: tuple[Line, ...] = ()
    cut: bool = False
    small: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a Call.

    `left` says what the turn may still have done by tools; `bound` which bound of it is met, so
    that no further call is made.
    """

    outcome: ResultOutcome
    value: str = ""
    news: tuple[Line, ...] = ()
    left: str = ""
    bound: str = ""


Request = Ask | Call | All
Reply = Answer | Result | tuple[Answer | Result, ...]
Thinking = Generator[Request, Reply, AgentActionPlan]
Policy = Callable[[AgentPerception], Thinking]
PlainPolicy = Callable[[AgentPerception], AgentActionPlan]

Prompts = Mapping[str, str]
"""Prompt texts by name ("base", "reply", "account", ...), with {fields} to fill."""


@dataclass(frozen=True, slots=True)
class Mind:
    """A kind of mind as a plugin offers it (entry points "loopforge.policies").

    `version` is a name with a number, such as "talk/1": raise the number when the policy asks or
    plans otherwise than before, so that a replay knows. `make` is given the prompts once. Rooms
    cannot choose a `hidden` mind; the Factory can choose one that thinks for `robots`.
    """

    version: str
    make: Callable[[Prompts], Policy | PlainPolicy]
    hidden: bool = False
    robots: bool = False

    @property
    def name(self) -> str:
        """What it is chosen by: "talk"."""
        return self.version.partition("/")[0]


T = TypeVar("T")
Asking = Generator[Request, Reply, T]


def ask(
    prompt: str | tuple[Message, ...],
    *,
    schema: dict[str, Any] | None = None,
    aloud: bool = False,
    field: str = "",
    purpose: str = "answer",
    max_tokens: int = 400,
    fits: Fits = "any",
    tools: tuple[ToolOffer, ...] = (),
    listing: int = -1,
    exact: bool = False,
    shown: Callable[[str], str] | None = None,
) -> Asking[Answer]:
    """`answer = yield from ask(prompt)`: ask a model; a plain string is one user message."""
    messages = (Message("user", (prompt,)),) if isinstance(prompt, str) else prompt
    asked = Ask(messages, schema, aloud, field, purpose, max_tokens, fits, tools, listing, exact)
    reply = yield asked if shown is None else dataclasses.replace(asked, shown=shown)
    return cast(Answer, reply)


def call(tool: str, arguments: dict[str, Any] | None = None) -> Asking[Result]:
    """`result = yield from call(tool, arguments)`: call a tool."""
    reply = yield Call(tool, arguments or {})
    return cast(Result, reply)


def together(*requests: Ask | Call) -> Asking[tuple[Answer | Result, ...]]:
    """`one, two = yield from together(Ask(...), Call(...))`: several at once."""
    reply = yield All(requests)
    return cast("tuple[Answer | Result, ...]", reply)


def as_policy(mind: Policy | PlainPolicy) -> Policy:
    """Accept a plain function from perception to plan as a policy that asks nothing."""
    if inspect.isgeneratorfunction(mind):
        return mind

    def thinking(perception: AgentPerception) -> Thinking:
        made = mind(perception)
        if isinstance(made, Generator):
            return (yield from made)
        return made

    return thinking
