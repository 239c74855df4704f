"""Who does which kind of task: roles, their tiers and places in a tier's list of models, tools.

The tables as they ship; settings may hold others, written as "social=1.1, writing=3.2" (a tier, a
point, the place in its list). The prompts of roles are mate files. Pure.
"""

import re
from typing import NamedTuple, get_args

from loopforge.core.work.work_vocabulary import Complexity, FlowName, TaskType
from loopforge.errors import BadSettings


class ModelPlace(NamedTuple):
    """A place in a tier's list of models, both counted from 1."""

    tier: int
    place: int


LOOKING = ("work_list", "work_read", "work_search")
EDITING = (*LOOKING, "work_write", "work_edit")
ACTING = (*EDITING, "work_run", "work_git")


class WorkRole(NamedTuple):
    """A role: its handle (that of its mate file), what it is called, its model, its tools.

    `changes`: its tasks should change files. `second`: a peer gives a second opinion at the end.
    """

    handle: str
    title: str
    model: ModelPlace
    tools: tuple[str, ...]
    changes: bool = False
    second: bool = False


ROLES: dict[str, WorkRole] = {
    role.handle: role
    for role in (
        WorkRole("command-executor", "command executor", ModelPlace(2, 3), ACTING),
        WorkRole("python-coder", "Python coder", ModelPlace(2, 2), ACTING, changes=True),
        WorkRole("js-coder", "JS/TS coder", ModelPlace(2, 1), ACTING, changes=True),
        WorkRole("devops-engineer", "DevOps engineer", ModelPlace(3, 4), ACTING, changes=True),
        WorkRole("architect", "architect", ModelPlace(4, 4), EDITING),
        WorkRole("code-reviewer", "code reviewer", ModelPlace(3, 4), LOOKING, second=True),
        WorkRole("doc-writer", "documentation writer", ModelPlace(3, 1), EDITING, changes=True),
        WorkRole("dba", "DBA", ModelPlace(3, 3), ACTING),
        WorkRole("researcher", "researcher", ModelPlace(2, 2), LOOKING),
        WorkRole("general", "generalist", ModelPlace(1, 4), ACTING),
    )
}

TYPE_MODELS: dict[TaskType, ModelPlace] = {
    "social": ModelPlace(1, 1),
    "question": ModelPlace(1, 1),
    "writing": ModelPlace(3, 2),
}
"""Types of task that have a model of their own; others have that of their role."""

TYPES: tuple[TaskType, ...] = get_args(TaskType)
FLOWS: tuple[FlowName, ...] = get_args(FlowName)
COMPLEXITIES: tuple[Complexity, ...] = get_args(Complexity)

_PLACE = re.compile(r"\s*([a-z-]+)\s*=\s*([1-4])\.([1-9])\s*")


def read_places(
    text: str, known: tuple[str, ...], source: str = "the setting"
) -> dict[str, ModelPlace]:
    """The table that is written so: "social=1.1, writing=3.2". Raises BadSettings."""
    found: dict[str, ModelPlace] = {}
    for part in filter(str.strip, text.split(",")):
        said = _PLACE.fullmatch(part)
        if said is None or said[1] not in known:
            raise BadSettings(
                f"{source} has {part.strip()[:60]!r}; it must be such as {known[0]}=2.1 (a tier, a "
                f"point, the place in its list), with one of {', '.join(known)}."
            )
        found[said[1]] = ModelPlace(int(said[2]), int(said[3]))
    return found


def role_of(handle: str) -> WorkRole:
    """The role of that name; the generalist where there is none."""
    return ROLES.get(handle, ROLES["general"])


def peer_of(role: WorkRole, drawn: int) -> WorkRole:
    """Who gives the second opinion: one of the other roles that act, by a number that was drawn."""
    peers = [one for one in ROLES.values() if one.handle not in (role.handle, "general")]
    return peers[drawn % len(peers)]


def place_for(
    type: TaskType,
    role: WorkRole,
    types: dict[str, ModelPlace] | None = None,
    roles: dict[str, ModelPlace] | None = None,
) -> ModelPlace:
    """Which model a task begins with: by its type where that has one, else by its role."""
    if found := (types or {}).get(type) or TYPE_MODELS.get(type):
        return found
    return (roles or {}).get(role.handle, role.model)
