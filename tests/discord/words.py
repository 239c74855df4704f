"""What a test holds in its hands: bots, persons, places, lines, and the twin's records.

Knows nothing of SimCord or sockets. Everything here turns into plain JSON (`plain`), so that the
same words travel over the control endpoint.
"""

import dataclasses
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Bot:
    """An application with its user. `approved` are the privileged intents its portal grants."""

    name: str
    token: str
    id: int
    application: int
    role: int
    approved: frozenset[str]
    commands: dict[int | None, dict[tuple[str, int], dict[str, Any]]] = field(default_factory=dict)
    dms: dict[int, int] = field(default_factory=dict)

    @property
    def mention(self) -> str:
        """What a person types to address it."""
        return f"<@{self.id}>"


@dataclass(frozen=True)
class Person:
    """A member of the guild who is no bot."""

    name: str
    id: int


@dataclass(frozen=True)
class Place:
    """A channel, a thread, a forum or a DM, by its id."""

    name: str
    id: int
    guild: int | None


@dataclass(frozen=True)
class Line:
    """One message as it stands now (or stood last, if `deleted`).

    `by` is the name people see (of a webhook: the one it spoke under), `author` the user's id,
    `kind` Discord's message type (0 plain, 19 reply, 20 slash command, 21 thread starter), `files`
    the names of its attachments, `reactions` who gave what.
    """

    id: int
    channel: int
    by: str
    author: int
    text: str
    kind: int = 0
    nonce: str | None = None
    reply_to: int | None = None
    files: tuple[str, ...] = ()
    webhook: int | None = None
    avatar: str | None = None
    ephemeral: bool = False
    loading: bool = False
    previews: bool = True
    edited: bool = False
    deleted: bool = False
    reactions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    embeds: tuple[dict[str, Any], ...] = ()
    components: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Deed:
    """Something that happened, in order.

    `kind`: create, edit, delete, typing, react, unreact, thread. `seq` counts across the whole
    twin, `at` is in seconds of the event loop; `text` is what the line said after it, or the emoji.
    """

    seq: int
    at: float
    kind: str
    channel: int
    line: int
    by: str
    text: str = ""


@dataclass(frozen=True)
class Call:
    """One REST call. `carried` says whether it was carried out; `fault` what the plan did to it."""

    seq: int
    at: float
    bot: str
    method: str
    path: str
    status: int
    carried: bool
    fault: str = ""
    body: Any = None

    @property
    def route(self) -> str:
        """Method and path, as fault plans write them."""
        return f"{self.method} {self.path}"


def plain(value: Any) -> Any:
    """The value as JSON can carry it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value]
    return value
