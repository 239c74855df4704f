"""Whether tools may be used in a task: by a mate in its turn, or by a program that it wrote.

Who does a task is said here, too: the role's mate, or the one that was named, in that role; and
with it which tools there are, and how what it runs is confined. A program is judged call by call,
by the task as it stands then: one that was stopped has nothing more done.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec.structs import replace

from loopforge.core.effect_states import EffectProposed
from loopforge.core.egress.egress_filter import SHORTEST, EgressFilter
from loopforge.core.egress.key_shapes import MARK
from loopforge.core.events import Event
from loopforge.core.mates.mate_file import Mate
from loopforge.core.mates.sandbox_profile import SandboxProfile
from loopforge.core.policy import Call
from loopforge.core.text.taint_tracking import argument_texts, stands_in
from loopforge.core.work.work_roles import WorkRole
from loopforge.core.work.work_vocabulary import ANY_TOOL
from loopforge.runtime.ports import (
    CallPermission,
    InnerPermission,
    Tool,
    Tools,
    named_tools,
)
from loopforge.work.assignment.role_files import RoleFiles
from loopforge.work.task_state import TaskState
from loopforge.work.task_store import TaskStore
from loopforge.work.work_settings import WorkSettings

EGRESS = "egress"
WORKSPACE = "work_"
"""How tools of a workspace are called."""
PROGRAMS = "python"
"""The one tool of programs that a task has: those that mates wrote for rooms stay there."""
WITHOUT = frozenset({"simple", "branch", "breakglass"})
"""Flows without tools."""
ALWAYS = ("read_result", "find_tools")
"""Tools that every mate at work has: it reads on in what its tools gave, and finds the others."""
CHANGING = frozenset({"work_write", "work_edit", "work_git", "work_push"})
"""Tools that whoever may change no file has no use for."""
TALK = 6
"""Lines by which the tools are chosen that fit."""
TAKEN = "{mate} may not use {tool} in this task any more"
TOO_DEAR = "it costs ${price:g}, and of the task's ${budget:g} there is ${left:.2f} left"
MADE_UP = (
    "{tool} was not used: nobody gave this address, and no tool showed it. Use {tool} outside of a "
    "program: then a person is asked."
)


class TaskCalls:
    """See `InnerSite`. `secrets` are what no mate says, as they are known now."""

    def __init__(
        self,
        store: TaskStore,
        roles: RoleFiles,
        tools: Tools,
        settings: Callable[[], WorkSettings],
        secrets: Callable[[], Collection[str]],
    ) -> None:
        self._store, self.roles, self._tools = store, roles, tools
        self._settings, self._secrets = settings, secrets

    # ------------------------------------------------------------ who does it, by what

    def mate(self, state: TaskState) -> Mate:
        """Who takes its turns."""
        found = state.classified
        mate = self.roles.mate_for(state.task.mate, found.role if found else "general")
        if found is None:
            return mate
        return replace(mate, tier=state.tier or found.tier or mate.tier, model=state.model)

    def flaw(self, state: TaskState) -> str:
        """Why nobody can do it: its mate is gone, or the home's own file of its role is broken.

        What such a file says of tools and the sandbox is not guessed. "" for nothing.
        """
        if (mate := state.task.mate) and not self.roles.is_mate(mate):
            return f"There is no mate {mate} any more: bring its file back, or give a new task"
        return self.roles.flaw(state.classified.role) if state.classified else ""

    def offered_to(self, state: TaskState, mate: Mate) -> tuple[Tool, ...]:
        """The tools that this mate may use in this task: what all who spoke in it may have used."""
        if state.classified is not None and state.classified.flow in WITHOUT:
            return ()
        role = state.role
        found = tools_for(role, mate, self._tools.known())
        return tuple(tool for tool in found if _may(state.tools, tool))

    async def shown_to(self, state: TaskState, mate: Mate, window: int) -> tuple[Tool, ...]:
        """Those that a turn is shown: of its role's all, of its file's what fits, as in rooms.

        `window` is that of its model, in tokens.
        """
        tools = self.offered_to(state, mate)
        role = state.role.tools
        more = [tool for tool in tools if tool.name not in role]
        talk = [str(one.text) for one in state.entries if one.kind in ("heard", "mine", "note")]
        few = await self._tools.choose((state.stream, mate.handle), more, talk[-TALK:], window)
        return (*(tool for tool in tools if tool.name in role), *few)

    def may_use(self, tools: Collection[str], name: str) -> bool:
        """Whether whoever may have these tools used may say yes or no to a use of that one."""
        return any(_may(tools, tool) for tool in self._tools.known() if tool.name == name)

    def budget_of(self, state: TaskState) -> float:
        """What it may cost in US dollars; 0: as much as budgets allow."""
        home = self._settings().dollars
        return state.budget or (home + state.extra if home else 0.0)

    def judged(
        self,
        state: TaskState,
        tools: Sequence[Tool],
        call: Call,
        egress: EgressFilter,
        gave: Sequence[tuple[str, str]] = (),
    ) -> CallPermission:
        """Whether one of these tools may be used so; by egress for the mate's words.

        `gave` is what tools gave the program that makes the call, by their names.
        """
        people, there = (state.task.person,), {tool.name: tool for tool in tools}
        names = frozenset(there)
        if call.tool not in names:
            return CallPermission("refused", "grant", people, names)
        if egress.leak([text for _, text in argument_texts(call.arguments)], ()):
            why = f"{call.tool} was not used: it would have told a secret of this home."
            return CallPermission("refused", EGRESS, people, names, why)
        if why := self._too_dear(state, there[call.tool]):
            return CallPermission("refused", "bounds", people, names, f"Not used: {why}.")
        if there[call.tool].asks or _made_up(state, there, call, gave):
            return CallPermission("asks", "task", people, names)
        return CallPermission("runs", "task", people, names)

    def without_keys(self, text: str) -> str:
        """What somebody says, as a mate may be shown it: no key of the home is in it."""
        for secret in sorted(self._secrets(), key=len, reverse=True):
            text = text.replace(secret, MARK) if len(secret) >= SHORTEST else text
        return text

    # ------------------------------------------------------------ programs

    async def offered(self, program: Event) -> Sequence[Tool]:
        """See `InnerSite.offered`."""
        state = await self._store.state(program.stream)
        if not state.at_work or state.forgotten:
            return ()
        tools = self.offered_to(state, self.mate(state))
        return [tool for tool in tools if not (tool.composes or tool.asks)]

    async def permission(
        self, program: Event, call: Call, gave: Sequence[tuple[str, str]]
    ) -> InnerPermission:
        """See `InnerSite.permission`. Nobody is asked for a program: such tools it has not."""
        state = await self._store.state(program.stream)
        egress = EgressFilter(secrets=self._secrets(), name=self.mate(state).name)
        found = self.judged(state, await self.offered(program), call, egress, gave)
        if found.verdict == "asks":
            found = found._replace(verdict="refused", why=MADE_UP.format(tool=call.tool))
        if found.verdict != "refused" and (why := self._spent(state)):
            found = found._replace(verdict="refused", by="bounds", why=why)
        return InnerPermission(found, lambda _: ())

    def _spent(self, state: TaskState) -> str:
        """That the budget of the task is spent, in words."""
        budget = self.budget_of(state)
        if not budget or budget > float(state.dollars):
            return ""
        return f"Nothing more is used: the task cost its ${budget:g}."

    def lapse(self, state: TaskState, tool: str, effect: str = "") -> str:
        """Why a use that waits for a yes may not run as things stand now; "" where it may.

        `effect`: its id, where it has its yes.
        """
        if why := self.flaw(state):
            return why
        mate = self.mate(state)
        may = [one for one in self.offered_to(state, mate) if one.name == tool]
        if not may:
            return TAKEN.format(mate=mate.name, tool=tool)
        return self._too_dear(state, may[0], effect)

    def _too_dear(self, state: TaskState, tool: Tool, effect: str = "") -> str:
        """That a use costs more than is left of the task's own budget, as a clause.

        What others cost that are allowed and not over is left no more.
        """
        budget, prices = self.budget_of(state), {one.name: one.price for one in self._tools.known()}
        uses = {**state.running, **state.inner}.items()
        going = sum(prices.get(use.tool, 0.0) for id, use in uses if id != effect and not use.asks)
        left = max(0.0, budget - float(state.dollars) - going)
        if not budget or tool.price <= left:
            return ""
        return TOO_DEAR.format(price=tool.price, budget=budget, left=left)

    async def lapsed(self, effect: Event) -> str:
        """See `InnerSite.lapsed`."""
        assert isinstance(effect.body, EffectProposed)
        return self.lapse(await self._store.state(effect.stream), effect.body.tool, effect.id)

    async def granted(self, effect: Event) -> frozenset[str]:
        """See `InnerSite.granted`."""
        state = await self._store.state(effect.stream)
        return frozenset(tool.name for tool in self.offered_to(state, self.mate(state)))

    async def sandbox(self, stream: str, mate: str) -> SandboxProfile:  # noqa: ARG002
        """See `InnerSite.sandbox`."""
        return self.mate(await self._store.state(stream)).sandbox


def _may(tools: Collection[str], tool: Tool) -> bool:
    """Whether whoever may have these tools used may have this one.

    Whoever may have work done may have that of the workspace used; and everybody, what harms none.
    """
    harmless = tool.idempotent and tool.harmless
    return harmless or tool.name.startswith(WORKSPACE) or bool({ANY_TOOL, tool.name} & {*tools})


def _made_up(
    state: TaskState, tools: Mapping[str, Tool], call: Call, gave: Sequence[tuple[str, str]]
) -> bool:
    """Whether it sends for an address that no person gave the task, and no tool showed its mate.

    To send for an address is to tell whoever keeps it all that stands in it.
    """
    if not (argument := tools[call.tool].address):
        return False
    shown = [(one.who, one.text.text or "") for one in state.entries if one.outcome == "returned"]
    given = [one.text.text or "" for one in state.entries if one.kind == "heard"]
    given += [text for name, text in (*shown, *gave) if name in tools and tools[name].finds]
    address = str(call.arguments.get(argument, ""))
    return not any(stands_in(address, text) for text in given)


def tools_for(role: WorkRole, mate: Mate, known: Collection[Tool]) -> tuple[Tool, ...]:
    """The tools of a role, of the mate's own file, and of all, as far as its sandbox has a use."""
    there = {tool.name: tool for tool in known}
    names = [*role.tools, *(tool.name for tool in named_tools(mate, known)), *ALWAYS]
    if not mate.sandbox.writable:
        names = [name for name in names if name not in CHANGING]
    named = (there[name] for name in names if name in there)
    fit = (tool for tool in named if not tool.composes or tool.name == PROGRAMS)
    return tuple({tool.name: tool for tool in fit}.values())
