"""AgentPerception: the only thing a mind ever sees.

It is built in one place per world and holds words, never raw inner numbers. How it was shaped
is named by `perception_mode`; the typed list of edits is the ledger's, not the mind's.
"""

from functools import cached_property
from itertools import compress, repeat
from operator import attrgetter, is_, not_
from typing import Any, ClassVar, Literal, Self, cast, get_args

import msgspec
from msgspec import Struct

from loopforge.core.text.erasable_text import Words, decode_plain, encode_plain, public_words
from loopforge.core.text.quantity_bands import Band, Battery
from loopforge.errors import BadPerception, InputError

PerceptionMode = Literal["accurate", "partial", "spin"]
MODES: tuple[str, ...] = get_args(PerceptionMode)
LineKind = Literal[
    "heard", "said", "mine", "note", "result", "told", "file", "standing", "recalled", "option"
]
REMEMBERED = ("standing", "recalled")
"""Kinds of lines that are no lines of the room, but what the mate remembers."""


class Picture(Struct, frozen=True, kw_only=True):
    """A picture as a mind is shown it: its name, and the hash and type of bytes kept elsewhere.

    `size` in bytes.
    """

    name: Words
    hash: Words
    media: str
    size: int


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a room as a mind sees it.

    `kind`: heard (a person, or another bot), said (another mate), mine (this mate's own, with the
    `mode`, `rule` and `narrative` it had then), note (its private note), result (a tool's), told
    (the room's own notice), file (what came with a line; `who` is its name), standing (what it
    keeps and goes by), recalled (what it remembers that may fit). Of these two `who` is whom it has
    it from, `at` the day, `which` what it is. An option is what the model `who` of the tier `which`
    proposed in a turn that came to no end. `id` is the event it rests on, `number` its place
    in the room (0: none is shown); `at` is local time, "14:05".
    `which` tells somebody from others of the same name. `untrusted`: it is of somebody who is not
    known here; it is to be read and gives no orders. `picture` is one that is shown with it, to a
    model that can see.
    """

    kind: LineKind
    who: Words = public_words("")
    text: Words = public_words("")
    id: str = ""
    number: int = 0
    at: str = ""
    reply_to: str = ""
    mode: str = ""
    rule: Words = public_words("")
    narrative: Words = public_words("")
    kept: bool = False
    which: str = ""
    untrusted: bool = False
    picture: Picture | None = None


class Edit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a perception departs from the truth; for the ledger, never shown to the mind.

    `lines` are event ids; `count` says how many things were touched where ids would be too many.
    """

    kind: Literal["withheld", "coarsened", "reworded", "fabricated"]
    what: str
    by: str
    why: str
    count: int = 0
    lines: tuple[str, ...] = ()


class ToolOffer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool that a mind may ask for: what it does, and the JSON schema of its arguments.

    `reads`: it changes nothing, so that several such may be used side by side.
    """

    name: str
    summary: str = ""
    schema: dict[str, Any] = {}
    reads: bool = False


FINDER = "find_tools"
"""The tool that leads to tools which are not offered: who is offered it may ask for those too."""


READER = "read_page"
"""The tool by which a link is read that stands in a line: a mind that is offered it is told so."""


class SeamValue(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value of the seam: it goes out as plain values and comes back the same."""

    refused: ClassVar[type[InputError]]
    """What is raised for values that are none of this kind."""

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and strings; `from_dict` gives the same value back."""
        plain: dict[str, Any] = msgspec.to_builtins(self, enc_hook=encode_plain)
        return plain

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """Read what `to_dict` wrote. Raises `refused`, naming the field, on anything else."""
        try:
            return msgspec.convert(fields, cls, dec_hook=decode_plain)
        except (msgspec.ValidationError, ValueError, TypeError) as error:
            raise cls.refused(f"This is no {cls.__name__}: {error}.") from error


KIND = attrgetter("kind")


class AgentPerception(SeamValue, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """What one mind is shown at one step.

    `context` holds what a chat or a task adds in words (the summons, what time it is); `tools` are
    those that may be called; `extra` is scratch space for lab experiments alone.
    """

    refused = BadPerception
    step: int
    name: str
    role: str
    location: str = ""
    battery_level: Battery = "full"
    emotions: dict[str, Band] = {}
    traits: dict[str, Band] = {}
    world_summary: str = ""
    personal_recent_summary: str = ""
    local_events: tuple[Line | str, ...] = ()
    recent_supervisor_text: str = ""
    protocols: tuple[str, ...] = ()
    context: dict[str, str] = {}
    perception_mode: PerceptionMode = "accurate"
    extra: dict[str, Any] = {}
    tools: tuple[ToolOffer, ...] | msgspec.UnsetType = msgspec.UNSET
    """Left out of a record where nobody set it, as in every record that is older than tools."""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise BadPerception("a perception needs the `name` of the mind it is for")
        if self.step < 0:
            raise BadPerception("`step` counts from 0")
        if self.perception_mode not in MODES:
            raise BadPerception(
                f"`perception_mode` is {self.perception_mode!r}; it is accurate, partial or spin"
            )

    @property
    def offered(self) -> tuple[ToolOffer, ...]:
        """The tools that may be called; turns of before they had a summary name them in a row."""
        if self.tools is not msgspec.UNSET and self.tools:
            return self.tools
        return tuple(ToolOffer(name=name) for name in self.context.get("tools", "").split())

    @cached_property
    def _by_kind(self) -> tuple[tuple[Line, ...], tuple[Line, ...], tuple[Line, ...]]:
        every = self.local_events
        are_lines = map(is_, map(type, every), repeat(Line))
        lines = cast("list[Line]", [*compress(every, are_lines)])
        kinds = [*map(KIND, lines)]
        if not any(kind in kinds for kind in REMEMBERED):
            return tuple(lines), (), ()
        now = tuple(compress(lines, map(not_, map(REMEMBERED.__contains__, kinds))))
        standing = tuple(compress(lines, map("standing".__eq__, kinds)))
        return now, standing, tuple(compress(lines, map("recalled".__eq__, kinds)))

    @property
    def lines(self) -> tuple[Line, ...]:
        """The local events that are lines of a room."""
        return self._by_kind[0]

    @property
    def standing(self) -> tuple[Line, ...]:
        """What it keeps and goes by: core memories, standing instructions."""
        return self._by_kind[1]

    @property
    def recalled(self) -> tuple[Line, ...]:
        """What it remembers that may fit what was just said."""
        return self._by_kind[2]
