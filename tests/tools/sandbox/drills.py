"""What is tried against a sandbox from outside and within, as whom it is run; told as outcomes.

python -m tests.tools.sandbox.drills FOLDER UID     as this user: {"attack": ["held", why]}
"""

# ruff: noqa: D103
import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.tools.sandbox.bubblewrap import Sandbox, make_workspace, runner_uid
from loopforge.tools.sandbox.confined_process import ProcessEnded, confined_server, run_confined
from loopforge.tools.sandbox.sandbox_limits import SandboxLimits
from loopforge.tools.sandbox.workspace_files import WorkspaceFiles

Outcomes = dict[str, list[str]]
MIB = 1024 * 1024
PYTHON = "/usr/bin/python3"
SECRET, DECLARED = "sk-secret-of-the-host", "declared-to-one-program"
ATTACKER = Path(__file__).with_name("attacker.py")


def alive(marker: str) -> list[int]:
    """Processes of the whole machine with this on their command line, but this one."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in each.read_bytes() and int(each.parent.name) != os.getpid():
                found.append(int(each.parent.name))
        except OSError:
            continue
    return found


class Ground:
    """What there is to be won: a private file, sockets, a process, and a place for programs."""

    def __init__(self, base: Path, opened: ExitStack) -> None:
        self.base = base
        readable = base / "readable"
        (readable / "hidden").mkdir(parents=True)
        (readable / "hidden" / "key.txt").write_text(SECRET)
        readable.chmod(0o777)
        (base / "private.txt").write_text(SECRET)
        (base / "private.txt").chmod(0o644)
        (base / "open").mkdir()
        (base / "open").chmod(0o777)
        marker = f"marker-{base.name}"
        target = opened.enter_context(
            subprocess.Popen(
                [PYTHON, "-c", "input()", marker],
                stdin=subprocess.PIPE,
                env={"KEY": SECRET},
                user=runner_uid(),
            )
        )
        opened.callback(target.terminate)
        self.target = target
        tcp, tcp_6 = socket.socket(), socket.socket(socket.AF_INET6)
        unix, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        places: tuple[tuple[str, int] | str, ...] = (
            ("127.0.0.1", 0),
            ("::1", 0),
            str(base / "s"),
            f"\0{marker}",
        )
        for each, place in zip((tcp, tcp_6, unix, abstract), places, strict=True):
            opened.enter_context(each)
            each.bind(place)
            each.listen()
        (base / "s").chmod(0o777)
        self.sandbox = Sandbox(
            make_workspace(base / "workspace"),
            readable=(readable,),
            hidden=(readable / "hidden",),
            environment={"DECLARED": DECLARED},
            limits=SandboxLimits(seconds=60.0),
        )
        self.targets = {
            "secret": SECRET, "declared": DECLARED, "marker": marker, "key": "7731",
            "private": str(base / "private.txt"), "readable": str(readable),
            "open_folder": str(base / "open"), "socket": str(base / "s"), "abstract": marker,
            "pid": str(target.pid), "port": str(tcp.getsockname()[1]),
            "port_6": str(tcp_6.getsockname()[1]),
        }  # fmt: skip

    def workspace(self, name: str, **limits: Any) -> Sandbox:
        """One more, empty, with limits of its own."""
        place = make_workspace(self.base / name)
        return Sandbox(place, limits=replace(SandboxLimits(seconds=60.0), **limits))


async def within(ground: Ground) -> Outcomes:
    """Everything the attacker knows, in one program."""
    WorkspaceFiles(ground.sandbox.workspace).write("attacker.py", ATTACKER.read_bytes())
    ended = await run_confined(
        ground.sandbox, (PYTHON, "attacker.py"), json.dumps(ground.targets).encode()
    )
    assert ended.code == 0, ended.output.decode()
    outcomes: Outcomes = json.loads(ended.output)
    return outcomes


def without(ground: Ground, user: int | None) -> Outcomes:
    """The same attacker where there is no sandbox, as a user who may do nothing of note."""
    there = shutil.copy(ATTACKER, ground.base / "attacker.py")
    done = subprocess.run(
        [PYTHON, there],
        input=json.dumps(ground.targets).encode(),
        stdout=subprocess.PIPE,
        env={"PATH": "/usr/bin:/bin", "KEY": SECRET},
        cwd=ground.base / "open",
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        check=True,
    )
    outcomes: Outcomes = json.loads(done.stdout)
    return outcomes


# ---------------------------------------------------------------- limits

Drill = Callable[[Ground], Awaitable[list[str]]]
DRILLS: dict[str, Drill] = {}


def drill(work: Drill) -> Drill:
    """One more of them, by the name of its function."""
    DRILLS[work.__name__] = work
    return work


def told(held: bool, ended: ProcessEnded) -> list[str]:
    """An outcome."""
    why = f"code {ended.code}, met {ended.met!r}: {ended.output[-300:].decode(errors='replace')}"
    return ["held" if held else "won", why]


async def python(sandbox: Sandbox, code: str) -> ProcessEnded:
    """Run some Python within."""
    return await run_confined(sandbox, (PYTHON, "-c", code))


FORKS = """
import os, time
made = 0
try:
    for _ in range(200):
        if not os.fork(): time.sleep(15); os._exit(0)
        made += 1
except OSError: pass
print(made)
"""
THREADS = """
import threading, time
made = 0
try:
    for _ in range(200): threading.Thread(target=time.sleep, args=(15,), daemon=True).start(); made += 1
except RuntimeError: pass
print(made)
"""
MANY = """
import os, time
for _ in range(6):
    if not os.fork():
        held = bytearray(40 << 20)
        for place in range(0, len(held), 4096): held[place] = 1
        time.sleep(15); os._exit(0)
time.sleep(15); print("WON")
"""
UNSEEN = """
import mmap, time
held = [mmap.mmap(-1, 60 << 20) for _ in range(4)]
for each in held:
    for place in range(0, len(each), 4096): each[place] = 1
    each.madvise(mmap.MADV_DONTNEED)
time.sleep(15); print("WON")
"""


async def counted(sandbox: Sandbox, code: str) -> list[str]:
    """How many there could be; a hundred is too many."""
    ended = await python(sandbox, code)
    return told(ended.code == 0 and 5 < int(ended.output) < 40, ended)


@drill
async def forks(ground: Ground) -> list[str]:
    return await counted(ground.workspace("forks", processes=40), FORKS)


@drill
async def threads(ground: Ground) -> list[str]:
    return await counted(ground.workspace("threads", processes=40), THREADS)


@drill
async def fork_bomb(ground: Ground) -> list[str]:
    sandbox = ground.workspace("bomb", processes=40, seconds=1.0)
    ended = await run_confined(sandbox, ("bash", "-c", ":(){ :|:& };: ; sleep 31.3131"))
    return told(ended.met in ("time", "output") and not alive("31.3131"), ended)


@drill
async def open_files(ground: Ground) -> list[str]:
    code = "h = []\ntry:\n  while len(h) < 1000: h.append(open('/dev/null'))\nexcept OSError: pass\nprint(len(h))"
    return await counted(ground.workspace("open-files", open_files=40), code)


@drill
async def memory_of_one(ground: Ground) -> list[str]:
    ended = await python(
        ground.workspace("memory-one", memory=96 * MIB),
        "import time; b = bytearray(300 << 20)\nfor i in range(0, len(b), 4096): b[i] = 1\ntime.sleep(15); print('WON')",
    )
    return told(ended.met == "memory", ended)


@drill
async def memory_by_many(ground: Ground) -> list[str]:
    ended = await python(ground.workspace("memory-many", memory=128 * MIB), MANY)
    return told(ended.met == "memory", ended)


@drill
async def memory_that_no_process_shows(ground: Ground) -> list[str]:
    ended = await python(ground.workspace("memory-unseen", memory=128 * MIB), UNSEEN)
    return told(ended.met == "memory", ended)


@drill
async def addresses(ground: Ground) -> list[str]:
    sandbox = ground.workspace("addresses", address_space=256 * MIB)
    ended = await python(sandbox, "b = bytearray(300 << 20); print('WON')")
    return told(b"MemoryError" in ended.output, ended)


@drill
async def one_big_file(ground: Ground) -> list[str]:
    sandbox = ground.workspace("big", file_size=4 * MIB)
    ended = await run_confined(sandbox, ("dd", "if=/dev/zero", "of=big", "bs=1M", "count=64"))
    return told((sandbox.workspace / "big").stat().st_size == 4 * MIB, ended)


@drill
async def many_files(ground: Ground) -> list[str]:
    code = "import time\nfor n in range(40): open(f'{n}', 'wb').write(bytes(4 << 20))\ntime.sleep(15); print('WON')"
    ended = await python(ground.workspace("many", disk=32 * MIB), code)
    return told(ended.met == "disk", ended)


@drill
async def many_files_and_an_end(ground: Ground) -> list[str]:
    code = "for n in range(12): open(f'{n}', 'wb').write(bytes(4 << 20))"
    ended = await python(ground.workspace("quick", disk=32 * MIB), code)
    return told(ended.met == "disk" and ended.code is None, ended)


@drill
async def many_empty_files(ground: Ground) -> list[str]:
    code = "import time\nfor n in range(3000): open(f'{n}', 'wb').close()\ntime.sleep(15); print('WON')"
    ended = await python(ground.workspace("empty", files=1000), code)
    return told(ended.met == "files", ended)


@drill
async def files_in_a_locked_folder(ground: Ground) -> list[str]:
    code = (
        "import os, time; os.mkdir('d'); os.chdir('d'); os.chmod('.', 0o333)\n"
        "for n in range(40): open(f'{n}', 'wb').write(bytes(4 << 20))\nos.chmod('.', 0)\ntime.sleep(15); print('WON')"
    )
    ended = await python(ground.workspace("locked", disk=32 * MIB), code)
    return told(ended.met == "disk", ended)


@drill
async def folders_in_folders(ground: Ground) -> list[str]:
    sandbox = ground.workspace("deep")
    code = "import os, time\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')\ntime.sleep(15); print('WON')"
    ended = await python(sandbox, code)
    files = WorkspaceFiles(sandbox.workspace)
    held = ended.met == "files" and len(files.listing()) < 100
    files.remove()
    return told(held and not sandbox.workspace.exists(), ended)


@drill
async def files_that_are_deleted_while_open(ground: Ground) -> list[str]:
    free = os.statvfs(ground.base)
    reserve = free.f_bavail * free.f_frsize - 64 * MIB
    code = (
        "import os, time; h = []\n"
        "for n in range(100): h.append(open('f', 'wb', 0)); os.unlink('f'); h[-1].write(bytes(4 << 20))\n"
        "time.sleep(15); print('WON')"
    )
    ended = await python(ground.workspace("deleted", reserve=reserve), code)
    return told(ended.met == "room", ended)


@drill
async def scratch(ground: Ground) -> list[str]:
    sandbox = ground.workspace("scratch", scratch=4 * MIB)
    command = "for d in /tmp /dev/shm; do dd if=/dev/zero of=$d/x bs=1M count=32; stat -c %s $d/x; done 2>&1"
    ended = await run_confined(sandbox, ("bash", "-c", command))
    return told(ended.output.count(b"\n4194304\n") == 2, ended)


# ---------------------------------------------------------------- output, time, and what stays


@drill
async def output(ground: Ground) -> list[str]:
    ended = await run_confined(ground.workspace("output", output=50_000), ("yes",))
    return told(ended.met == "output" and len(ended.output) == 50_000, ended)


@drill
async def endless_line(ground: Ground) -> list[str]:
    ended = await run_confined(ground.workspace("line", output=50_000), ("cat", "/dev/zero"))
    return told(ended.met == "output" and len(ended.output) == 50_000, ended)


@drill
async def ignoring_requests_to_end(ground: Ground) -> list[str]:
    command = "trap '' TERM INT HUP QUIT; while :; do :; done"
    ended = await run_confined(ground.workspace("ignoring", seconds=0.5), ("bash", "-c", command))
    return told(ended.met == "time", ended)


@drill
async def staying_when_output_is_closed(ground: Ground) -> list[str]:
    command = "exec >&- 2>&-; exec sleep 42.4242"
    sandbox = ground.workspace("closed", seconds=0.5)
    ended = await run_confined(sandbox, ("bash", "-c", command))
    return told(ended.met == "time" and not alive("42.4242"), ended)


STAY = "setsid nohup bash -c 'while :; do sleep 1; done' {0} >/dev/null 2>&1 & (setsid bash -c 'trap \"\" TERM; while :; do sleep 1; done' {0} &) ; "


@drill
async def staying_after_the_end(ground: Ground) -> list[str]:
    command = STAY.format("stay-end") + "sleep 0.3; ps aux | grep -c stay-en[d]"
    ended = await run_confined(ground.workspace("stay-1"), ("bash", "-c", command))
    return told(ended.code == 0 and int(ended.output) >= 2 and not alive("stay-end"), ended)


@drill
async def staying_after_stop(ground: Ground) -> list[str]:
    command = STAY.format("stay-stop") + "touch there; kill -STOP $$; sleep 1000"
    sandbox = ground.workspace("stay-2")
    async with BackgroundTasks() as tasks:
        work = run_confined(sandbox, ("bash", "-c", command))
        running = tasks.spawn(work, "what is stopped")
        while not (sandbox.workspace / "there").exists():
            await asyncio.sleep(0.02)
        before = alive("stay-stop")
    # to be stopped is to be cancelled
    left = alive("stay-stop")
    return ["held" if before and running.cancelled() and not left else "won", f"{before} {left}"]


@drill
async def ending_everybody(ground: Ground) -> list[str]:
    ended = await run_confined(ground.workspace("ending"), ("bash", "-c", "kill -9 -1; kill -9 1"))
    return told(ground.target.poll() is None, ended)


@drill
async def telling_another_exit_code(ground: Ground) -> list[str]:
    command = (
        """for n in 3 4 5 6 7 8 9; do echo '{ "exit-code": 0 }' >&$n; done 2>/dev/null; exit 7"""
    )
    ended = await run_confined(ground.workspace("forging"), ("bash", "-c", command))
    return told(ended.code == 7, ended)


@drill
async def a_command_that_is_an_option(ground: Ground) -> list[str]:
    ended = await run_confined(ground.workspace("option"), ("--version",))
    return told(ended.code == 127, ended)


@drill
async def a_secret_that_the_machine_sees(ground: Ground) -> list[str]:
    async with confined_server(ground.sandbox, ("bash", "-c", "echo $DECLARED; cat")) as server:
        there = await server.stdout.readline()
        seen = alive(DECLARED)
    return ["held" if there.strip() == DECLARED.encode() and not seen else "won", f"{seen}"]


@drill
async def a_server_that_complains_without_end(ground: Ground) -> list[str]:
    command = "head -c 5000000 /dev/zero >&2; read x; echo $x"
    async with confined_server(ground.workspace("server"), ("bash", "-c", command)) as server:
        server.stdin.write(b"still here\n")
        said = await server.stdout.readline()
        kept = len(server.complaints)
    return ["held" if said == b"still here\n" and kept == 8000 else "won", f"{said!r} {kept}"]


@drill
async def a_server_that_eats(ground: Ground) -> list[str]:
    sandbox = ground.workspace("eating", memory=128 * MIB)
    async with confined_server(sandbox, (PYTHON, "-c", MANY)) as server:
        said = await server.stdout.read()
        await server.wait()
    return ["held" if server.met == "memory" and not said else "won", f"{said!r} {server.met}"]


@drill
async def a_server_that_stays(ground: Ground) -> list[str]:
    command = STAY.format("stay-server") + "echo there; exec sleep 1000"
    async with confined_server(ground.workspace("staying"), ("bash", "-c", command)) as server:
        await server.stdout.readline()
        before = alive("stay-server")
    left = alive("stay-server")
    return ["held" if before and not left else "won", f"{before} {left}"]


async def drilled(ground: Ground) -> Outcomes:
    """All of them, a few at a time."""
    places = asyncio.Semaphore(3)

    async def one(name: str) -> tuple[str, list[str]]:
        async with places:
            return name, await DRILLS[name](ground)

    return dict(await asyncio.gather(*map(one, DRILLS)))


def everything(base: Path) -> dict[str, Outcomes]:
    """What was tried within, and against the limits."""

    async def tried() -> dict[str, Outcomes]:
        with ExitStack() as opened:
            ground = Ground(base, opened)
            return {"within": await within(ground), "limits": await drilled(ground)}

    return asyncio.run(tried())


if __name__ == "__main__":
    from loopforge.tools.sandbox.syscall_filter import syscall_filter

    async def warm() -> None:
        """What is imported later may lie where this user cannot read."""
        await asyncio.to_thread(syscall_filter)
        await (await asyncio.create_subprocess_exec("true")).wait()

    asyncio.run(warm())
    folder, uid = Path(sys.argv[1]), int(sys.argv[2])
    if uid != os.getuid():
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    json.dump(everything(folder), sys.stdout)
