"""Who may do what about a task, and what can be done as it stands: the one place, for all surfaces.

    stop                    who gave it, and who may stop mates in its room
    say                     who may have tools of work used in its room
    thumbs                  who gave it, and the owner of the home
    resume, yes, result     the owner; and who gave it, or may change its room, while they may have
                            tools of work used there
    what a repository gets  the owner alone: it is theirs

A task of no room is limited by none. Who sees a task is decided where it is shown. Pure.
"""

from collections.abc import Collection

from msgspec import Struct

from loopforge.core.work.work_vocabulary import ANY_TOOL
from loopforge.errors import NotLetIn
from loopforge.work.task_state import TaskState

RUN = "work_run"
"""Who may have this tool used in a room may give tasks there."""
OVER = ("approved", "rejected")
MERGER = "Only the owner of this home decides what goes into a repository."
STOPPERS = "You may not stop mates in the room of this task."
STEERERS = "You may not have tools used in the room of this task; no guest of this home may."
RATERS = "Thumbs count of whoever gave the task, and of the owner of this home."
DECIDERS = "Who gave the task, who may change its room and the owner of this home decide that."


class TaskRights(Struct, frozen=True, kw_only=True):
    """How somebody stands to a task.

    `gave`: they gave it. Of its room: they may have `tools` of work used there (`granted` are all
    they may), `change` it, `stop` mates there.
    """

    state: TaskState
    gave: bool = False
    owner: bool = False
    tools: bool = True
    granted: frozenset[str] = frozenset({ANY_TOOL})
    change: bool = True
    stop: bool = True

    def refusal(self, act: str) -> str:
        """Why they may not do it, however the task stands; "" where they may."""
        merging = act == "approve" or (act == "undo" and self.state.stage == "approved")
        if merging and self.state.task.repo:
            return "" if self.owner else MERGER
        match act:
            case "stop":
                return "" if self.gave or self.stop else STOPPERS
            case "say":
                return "" if self.tools else STEERERS
            case "up" | "down" | "rate":
                return "" if self.gave or self.owner else RATERS
            case _:
                if self.owner or not (self.gave or self.change):
                    return "" if self.owner else DECIDERS
                return "" if self.tools else STEERERS

    def may(self, act: str) -> bool:
        """Whether they may do it, however the task stands."""
        return not self.refusal(act)

    def must(self, act: str) -> None:
        """Raise NotLetIn for what they may not do."""
        if why := self.refusal(act):
            raise NotLetIn(why)

    def acts(self) -> frozenset[str]:
        """What they may do about the task as it stands; stop a look back on it, too."""
        acts = possible_acts(self.state) | ({"stop"} if self.state.looks_back else set())
        return frozenset(act for act in acts if self.may(act))


def may_give(tools: Collection[str]) -> bool:
    """Whether whoever may have these tools used may give tasks."""
    return ANY_TOOL in tools or RUN in tools


def possible_acts(state: TaskState) -> frozenset[str]:
    """What can be done about a task as it stands, by whoever may."""
    stage, found = state.stage, set[str]()
    if stage in OVER:
        taken = stage == "approved" and (state.task.repo or state.undoable)
        return frozenset({"undo"} if taken else ())
    found.add("say")
    if state.turns:
        found.add("rate")
    if state.at_work or stage == "waiting":
        found.add("stop")
    if stage == "stopped":
        found.add("resume")
    if state.allowing:
        found |= {"allow", "deny"}
    if stage in ("finished", "stopped", "waiting"):
        found |= {"reject", "undo"} if state.undoable else {"reject"}
    if stage == "finished" and (not state.task.repo or (state.offered and state.offered.commit)):
        found.add("approve")
    return frozenset(found)
