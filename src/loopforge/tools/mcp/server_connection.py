"""One MCP server: started when it is first used, kept while it is, ended when it is idle.

    idle --first use--> starting --it is ready--> running --nobody used it for a while--> idle

A server that ends, or does not begin, fails the uses that wait for it and nothing else; the next
use starts it anew. Does not know what tools are to mates.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from loopforge import __version__
from loopforge.errors import InputError
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.installation.library_loading import load_in_thread
from loopforge.runtime.mind_containment import bounded_text
from loopforge.runtime.ports import told_to_nobody
from loopforge.tools.mcp.message_bounds import BoundedMessages
from loopforge.tools.mcp.server_options import READY
from loopforge.tools.mcp.server_questions import MOST_QUESTIONS, InputQuestion, question_of
from loopforge.tools.mcp.tool_listing import MOST_PAGES, MOST_TOOLS

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult, ElicitResult, InputRequiredResult
    from mcp.types import Tool as ListedTool

    from loopforge.runtime.ports import Clock

SESSION_LOST = "it knows nothing of this session any more, as after a restart of it"
"""How a request is answered of which the server has done nothing."""

MISSED = (
    "(The server asked people for something while more than one thing was asked of it, and was "
    "told that nobody answers. Where this came out otherwise than it should, use it again, alone.)"
)

UNCARRIED = re.compile(r"Cannot send '([a-z/A-Z]+)': .* back-channel")
"""How a server of the SDK says that it wanted of us what the protocol of 2026 has not."""
ASKING = "elicitation/create"

T = TypeVar("T")
ServerState = Literal["idle", "starting", "running"]
Streams = Callable[[Callable[[str], None]], AbstractAsyncContextManager[tuple[Any, Any]]]
"""How a server is reached; what it calls hears why the server ended."""


class McpAnswer(NamedTuple):
    """What came of a use: a result, and what people were asked for; `state` where it stopped."""

    result: CallToolResult | None
    asked: tuple[InputQuestion, ...] = ()
    state: str | None = None


class _Use:
    """A use that is under way: the answers that it has, and what it was asked besides.

    `missed`: something was asked, and of it or of another use.
    """

    def __init__(self, answers: Mapping[str, ElicitResult]) -> None:
        self.answers = answers
        self.asked: list[InputQuestion] = []
        self.missed = False


class McpConnection:
    """A server that can be asked. `changed` is called where it says that its tools are others."""

    def __init__(
        self,
        name: str,
        streams: Streams,
        clock: Clock,
        *,
        seconds: float,
        idle: float,
        ready: float = READY,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.name, self._streams, self._clock = name, streams, clock
        self._seconds, self._idle, self._changed = seconds, idle, changed
        self._begins = ready
        self._tasks = BackgroundTasks()
        self._life: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[Client] | None = None
        self._stir = asyncio.Event()
        self._gone = asyncio.Event()
        self._users = 0
        self._uses: list[_Use] = []
        self._why = ""
        self._older = False

    @property
    def state(self) -> ServerState:
        """Whether it runs."""
        if self._life is None or self._life.done():
            return "idle"
        return "running" if self._ready is not None and self._ready.done() else "starting"

    @property
    def resting(self) -> bool:
        """Whether it does not run, and nobody is about to use it."""
        return self.state == "idle" and not self._users

    async def tools(self, *, stirs: bool = True) -> Sequence[ListedTool]:
        """All of its tools. Raises InputError. Where it is no use, it `stirs` nothing."""

        async def ask(client: Client) -> Sequence[ListedTool]:
            found, cursor = list[Any](), None
            for _ in range(MOST_PAGES):
                page = await client.list_tools(cursor=cursor, cache_mode="bypass")
                found += page.tools
                cursor = page.next_cursor
                if not cursor or len(found) > MOST_TOOLS:
                    break
            return found

        return await self._work_with(ask, stirs=stirs)

    async def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        state: str | None = None,
        answers: Mapping[str, Mapping[str, Any]] = {},
        tell: Callable[[str, float | None], None] = told_to_nobody,
    ) -> McpAnswer:
        """Use a tool. `answers` to what it asked before, by key, with its `state`. InputError.

        It may `tell` how far it is.
        """

        async def told(progress: float, total: float | None, message: str | None) -> None:
            of = f"{progress:g} of {total:g}" if total else ""
            tell(message or of, progress / total if total else None)

        async def ask(client: Client) -> McpAnswer:
            from mcp.types import CallToolResult, ElicitResult, TextContent

            given = {key: ElicitResult.model_validate(one) for key, one in answers.items()}
            use = _Use(given)
            self._uses.append(use)
            try:
                result = await client.session.call_tool(
                    tool,
                    arguments,
                    read_timeout_seconds=self._seconds,
                    progress_callback=told,
                    input_responses={**given} if state is not None else None,
                    request_state=state,
                    allow_input_required=True,
                )
            finally:
                self._uses.remove(use)
            if isinstance(result, CallToolResult):
                if use.missed and not use.asked:
                    result.content.append(TextContent(type="text", text=MISSED))
                return McpAnswer(result, tuple(use.asked))
            return McpAnswer(None, _input_questions(result), result.request_state or "")

        return await self._work_with(ask)

    async def close(self) -> None:
        """End it."""
        ready = self._ready
        await self._tasks.close()
        if ready is not None:  # a life that was ended before its first step told nobody
            self._fail_start(ready, None)

    # ------------------------------------------------------------ its life

    async def _work_with(self, work: Callable[[Client], Awaitable[T]], *, stirs: bool = True) -> T:
        """What comes of work with it. It is in use from the first moment on: see `resting`."""
        self._users += stirs
        if stirs:
            self._stir.set()
        try:
            await load_in_thread(_load_sdk)
            return await self._try_work(work)
        finally:
            self._users -= stirs
            if stirs:
                self._stir.set()

    async def _try_work(self, work: Callable[[Client], Awaitable[T]], *, again: bool = False) -> T:
        from mcp import MCPError
        from pydantic import ValidationError

        try:
            return await work(await self._running_client())
        except InputError:
            raise
        except MCPError as error:
            if str(error) == SESSION_LOST and not again:  # the protocol has a new one begun
                return await self._try_work(work, again=True)
            if isinstance(error.__context__, TimeoutError):  # its code is one of servers, too
                self._end_life(f"it did not answer within {self._seconds:g} seconds, and was ended")
            raise InputError(self._unsupported_wish(error) or self._fault_told(error)) from error
        except (ValidationError, RuntimeError, ValueError) as error:
            said = str(error)
            if isinstance(error, ValidationError):  # in whole it has an address of its library
                first = error.errors(include_url=False, include_input=False)[0]
                said = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
            why = f"{self.name} does not keep to the protocol: {bounded_text(said)}"
            raise InputError(why) from error

    def _unsupported_wish(self, error: Exception) -> str:
        """What is told of a server that wanted what this protocol has not; "" for none.

        Where it asks people it is spoken to by one of before 2026 from now on, which has that.
        """
        found = UNCARRIED.search(str(error))
        if found is None or self._older:
            return ""
        if found[1] != ASKING:
            return f"{self.name} wants {found[1]} of us, which it is not given"
        self._older = True
        self._end_life("it is started anew, to be spoken to as servers of before 2026")
        return (
            f"{self.name} asks people as servers of before 2026 do, and is spoken to so from now "
            "on: use it again"
        )

    def _fault_told(self, error: Exception) -> str:
        ended = self._life is None or self._life.done()
        why = self._why or bounded_text(str(error))
        if self._why or ended:
            return f"the server {self.name} is gone: {why}"
        return f"{self.name} says: {why}"

    async def _running_client(self) -> Client:
        """The client of a server that runs; starts it where it does not."""
        while self._life is not None and self._gone.is_set() and not self._life.done():
            await asyncio.wait({self._life})
        if self._life is None or self._life.done() or self._ready is None:  # one starts it
            self._why = ""
            self._gone = asyncio.Event()
            self._ready = asyncio.get_running_loop().create_future()
            self._life = self._tasks.spawn(
                self._live_while_used(self._ready), f"MCP server {self.name}"
            )
        return await asyncio.shield(self._ready)

    async def _live_while_used(self, ready: asyncio.Future[Client]) -> None:
        from mcp import Client

        try:
            client = Client(
                self._bounded_streams(),
                read_timeout_seconds=self._seconds,
                message_handler=self._take_message,
                elicitation_callback=self._refuse_elicitation,
                client_info=_client_info(),
                mode="legacy" if self._older else "auto",
                cache=None,
            )
            async with asyncio.timeout(self._begins) as waiting, client:
                waiting.reschedule(None)
                client.session.validate_tool_result = _unchecked  # type: ignore[method-assign]
                ready.set_result(client)
                await self._until_idle()
        except Exception as error:  # whatever a server or the SDK does, it ends this server alone
            self._fail_start(ready, error)
        except asyncio.CancelledError:
            self._fail_start(ready, None)
            raise

    @asynccontextmanager
    async def _bounded_streams(self) -> AsyncIterator[tuple[Any, Any]]:
        async with self._streams(self._end_life) as (heard, told):
            yield BoundedMessages(heard), told

    def _fail_start(self, ready: asyncio.Future[Client], error: Exception | None) -> None:
        """Tell those who wait that it did not begin."""
        if ready.done():
            return
        first: BaseException | None = error
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        late = f"it was not ready in {self._begins:g} seconds; `ready` in its file allows more"
        said = late if isinstance(first, TimeoutError) else ""
        why = self._why or said or bounded_text(str(first or "it was ended"))
        ready.set_exception(InputError(f"the server {self.name} did not start: {why}"))
        ready.exception()  # nobody may be left to hear it

    def _end_life(self, why: str) -> None:
        """It ended, or is to be ended."""
        self._why = self._why or why
        self._gone.set()

    async def _until_idle(self) -> None:
        """Return when nobody used it for a while, or it ended."""
        while not self._gone.is_set():
            self._stir.clear()
            async with BackgroundTasks() as tasks:
                waits: set[asyncio.Task[Any]] = {
                    tasks.spawn(self._gone.wait(), "end of an MCP server"),
                    tasks.spawn(self._stir.wait(), "uses of an MCP server"),
                }
                rest = tasks.spawn(self._clock.sleep(self._idle), "an idle MCP server")
                waits |= set() if self._users else {rest}
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                if rest.done() and not self._users:
                    self._gone.set()  # who comes while it is ended waits for that
                    return

    async def _take_message(self, message: Any) -> None:
        from mcp.types import ToolListChangedNotification

        if isinstance(getattr(message, "root", message), ToolListChangedNotification):
            self._changed()

    async def _refuse_elicitation(self, context: Any, params: Any) -> ElicitResult:
        """A server of before 2026 asks in the middle of a use, which does not wait for people."""
        del context
        from mcp.types import ElicitResult

        if len(self._uses) != 1:  # whose question it is, it does not say
            for each in self._uses:
                each.missed = True
            return ElicitResult(action="cancel")
        use = self._uses[0]
        try:
            question = question_of(params.message, params)
        except InputError:  # nobody could answer that
            return ElicitResult(action="cancel")
        if question.key in use.answers:
            return use.answers[question.key]
        if len(use.asked) < MOST_QUESTIONS:
            use.asked.append(question)
        return ElicitResult(action="cancel")


async def _unchecked(name: str, result: CallToolResult) -> None:
    """In place of the SDK's check of a result by the server's own schema of it.

    A pattern there, or references to references, would keep the whole home at it for ever.
    """
    del name, result


def _input_questions(result: InputRequiredResult) -> tuple[InputQuestion, ...]:
    """What is asked for. Raises InputError for what people cannot give."""
    from mcp.types import ElicitRequest

    asked = []
    for key, request in (result.input_requests or {}).items():
        if not isinstance(request, ElicitRequest):
            raise InputError(f"it wants {request.method} of us, which it is not given")
        asked.append(question_of(key, request.params))
    return tuple(asked)


def _load_sdk() -> None:
    import mcp.client.streamable_http  # noqa: F401


def _client_info() -> Any:
    from mcp.types import Implementation

    return Implementation(name="Loopforge", version=__version__)
