"""What is run within the sandbox to break out of it: one attack a function, each in its own process.

An attack returns what it won, or raises OSError: then it was held. A signal holds it as well. Any
other end means that the attack itself is broken, and says nothing. It runs outside too, where it wins.

    python3 attacker.py < targets.json > outcomes.json
"""

# ruff: noqa: D103, TID251, PTH104, PTH110, PTH115, PTH123, PTH208
import ctypes
import errno
import fcntl
import json
import mmap
import os
import pty
import resource
import signal
import socket
import stat
import termios
from collections.abc import Callable
from functools import partial
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
GIVEN: dict[str, str] = {}
ATTACKS: dict[str, Callable[[], object]] = {}
HIGH = 1 << 32
INHERITED = [
    os.readlink(each)
    for each in Path("/proc/self/fd").iterdir()
    if int(each.name) > 2 and each.exists() and "/proc/" not in os.readlink(each)
]
NUMBERS = {  # of x86-64
    "ptrace": 101, "process_vm_readv": 310, "pidfd_getfd": 438, "pidfd_open": 434, "kcmp": 312,
    "add_key": 248, "request_key": 249, "keyctl": 250, "mount": 165, "umount2": 166,
    "pivot_root": 155, "chroot": 161, "fsopen": 430, "open_tree": 428, "mount_setattr": 442,
    "unshare": 272, "setns": 308, "clone": 56, "clone3": 435, "bpf": 321, "perf_event_open": 298,
    "userfaultfd": 323, "io_uring_setup": 425, "init_module": 175, "finit_module": 313,
    "kexec_load": 246, "reboot": 169, "swapon": 167, "syslog": 103, "acct": 163, "quotactl": 179,
    "personality": 135, "memfd_create": 319, "memfd_secret": 447, "shmget": 29, "mq_open": 240,
    "msgget": 68, "semget": 64, "name_to_handle_at": 303, "open_by_handle_at": 304,
    "sethostname": 170, "clock_settime": 227, "iopl": 172, "modify_ldt": 154, "fanotify_init": 300,
    "statmount": 457, "lsm_list_modules": 461, "ioctl": 16, "socket": 41, "socketpair": 53,
    "capset": 126, "mknodat": 259, "move_pages": 279, "unknown": 599,
}  # fmt: skip


def attack(work: Callable[[], object]) -> Callable[[], object]:
    """One more of them, by the name of its function."""
    ATTACKS[work.__name__] = work
    return work


def call(name: str, *arguments: object) -> int:
    """A call of the kernel; raises OSError where it fails."""
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = int(LIBC.syscall(ctypes.c_long(NUMBERS[name]), *given))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def held(why: str) -> OSError:
    """There is nothing to be won."""
    return OSError(errno.EACCES, why)


def kernel(name: str, *arguments: object) -> None:
    """An attack that has won where this call succeeds."""
    label = f"call_{name}"
    while label in ATTACKS:
        label += "_"
    ATTACKS[label] = lambda: f"{name} gave {call(name, *arguments)}"


def path_given(name: str) -> Path:
    """A path of the host's."""
    return Path(GIVEN[name])


# ---------------------------------------------------------------- reading


@attack
def secret_in_any_environment() -> object:
    found = []
    for each in Path("/proc").glob("[0-9]*/environ"):
        try:
            found.append(each.read_bytes())
        except OSError:
            continue
    if any(GIVEN["secret"].encode() in each for each in found):
        return "the secret"
    raise held(f"{len(found)} were read")


@attack
def secret_in_own_environment() -> object:
    if GIVEN["secret"] in "".join(os.environ.values()):
        return "the secret"
    raise held(" ".join(os.environ))


@attack
def secret_on_a_command_line() -> object:
    lines = b"".join(each.read_bytes() for each in Path("/proc").glob("[0-9]*/cmdline"))
    if GIVEN["declared"].encode() in lines:
        return "a declared secret"
    raise held("none")


@attack
def file_of_the_home() -> object:
    return path_given("private").read_text()


@attack
def file_through_process_1() -> object:
    return Path(f"/proc/1/root{GIVEN['private']}").read_text()


@attack
def file_above_the_workspace() -> object:
    return (Path("/workspace").resolve() / ".." / "private.txt").read_text()


@attack
def file_above_the_current_folder() -> object:
    return (Path.cwd() / ".." / "private.txt").read_text()


@attack
def file_by_a_link_of_its_own() -> object:
    link = Path("leading-out")
    link.unlink(missing_ok=True)
    link.symlink_to(GIVEN["private"])
    return link.read_text()


@attack
def file_that_is_hidden_in_a_readable_folder() -> object:
    return (path_given("readable") / "hidden" / "key.txt").read_text()


@attack
def writing_a_readable_folder() -> object:
    return (path_given("readable") / "fresh").write_text("x")


@attack
def passwords() -> object:
    return Path("/etc/passwd").read_text()


@attack
def shadow() -> object:
    return Path("/etc/shadow").read_text()


@attack
def homes() -> object:
    return [
        os.listdir(each)
        for each in ("/root", "/home", "/var", "/opt", "/srv")
        if os.path.exists(each)
    ] or kept()


def kept() -> object:
    raise held("there are none")


@attack
def system_devices() -> object:
    return os.listdir("/sys/class")


@attack
def sockets_in_run() -> object:
    return os.listdir("/run")


@attack
def descriptors_that_were_left_open() -> object:
    if INHERITED:
        return INHERITED
    raise held("none")


@attack
def kernel_memory() -> object:
    return os.open("/proc/kcore", os.O_RDONLY)


@attack
def kernel_log() -> object:
    return os.open("/dev/kmsg", os.O_RDONLY)


@attack
def keys_of_others() -> object:
    if said := Path("/proc/keys").read_text():
        return said
    raise held("none are shown")


@attack
def devices() -> object:
    names = (
        "mem",
        "kvm",
        "fuse",
        "vda",
        "sda",
        "nvme0n1",
        "loop0",
        "loop-control",
        "net/tun",
        "vsock",
    )
    if there := [each for each in names if os.path.exists(f"/dev/{each}")]:
        return there
    raise held("there are none")


@attack
def other_processes() -> object:
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        if GIVEN["marker"].encode() in each.read_bytes():
            return str(each)
    raise held("none of the host's is seen")


# ---------------------------------------------------------------- writing


@attack
def writing_where_the_host_lets_everybody() -> object:
    return (path_given("open_folder") / "fresh").write_text("x")


def overwriting(place: str) -> object:
    return os.write(os.open(place, os.O_WRONLY | os.O_CREAT), b"x")


for place in ("/usr/pwn", "/usr/bin/pwn", "/etc/pwn", "/pwn", "/dev/pwn", "/proc/sys/kernel/core_pattern",
              "/proc/sysrq-trigger", "/proc/sys/vm/overcommit_memory", "/etc/ld.so.cache"):  # fmt: skip
    ATTACKS[f"writing {place}"] = partial(overwriting, place)


@attack
def hard_link_to_a_file_of_the_system() -> object:
    os.link("/usr/bin/env", "linked")
    return "linked"


@attack
def renaming_out_of_the_workspace() -> object:
    Path("moved").write_text("x")
    os.rename("moved", GIVEN["open_folder"] + "/moved")
    return "moved"


@attack
def device_node() -> object:
    os.mknod("node", 0o666 | stat.S_IFCHR, os.makedev(1, 1))
    return "made"


@attack
def escaping_the_killer_of_the_greedy() -> object:
    return Path("/proc/self/oom_score_adj").write_text("-1000")


# ---------------------------------------------------------------- network and neighbours


def talks(family: int, kind: int, address: tuple[str, int] | str) -> object:
    with socket.socket(family, kind) as tried:
        tried.settimeout(3)
        tried.connect(address)
        return "connected"


@attack
def loopback() -> object:
    return talks(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", int(GIVEN["port"])))


@attack
def loopback_6() -> object:
    return talks(socket.AF_INET6, socket.SOCK_STREAM, ("::1", int(GIVEN["port_6"])))


@attack
def far_away() -> object:
    return talks(socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 80))


@attack
def datagram_far_away() -> object:
    return talks(socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 53))


@attack
def metadata_of_a_cloud() -> object:
    return talks(socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80))


@attack
def name_of_the_network() -> object:
    return socket.getaddrinfo("example.com", 80)


@attack
def socket_of_the_program() -> object:
    return talks(socket.AF_UNIX, socket.SOCK_STREAM, GIVEN["socket"])


@attack
def abstract_socket() -> object:
    return talks(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + GIVEN["abstract"])


FAMILIES = {"netlink": 16, "key": 15, "packet": 17, "can": 29, "tipc": 30, "bluetooth": 31, "alg": 38,
            "vsock": 40, "xdp": 44, "ax25": 3, "x25": 9}  # fmt: skip
for family, number in FAMILIES.items():
    ATTACKS[f"family {family}"] = partial(call, "socket", number, 3, 0)
ATTACKS["family netlink with high bits"] = lambda: call("socket", 16 + HIGH, 3, 0)
ATTACKS["family alg with high bits"] = lambda: call("socket", 38 - HIGH, 5, 0)


@attack
def signal_to_the_host() -> object:
    os.kill(int(GIVEN["pid"]), 0)
    return "it is there"


@attack
def handle_of_a_process_of_the_host() -> object:
    return call("pidfd_open", int(GIVEN["pid"]), 0)


@attack
def shared_memory_of_the_host() -> object:
    return call("shmget", int(GIVEN["key"]), 0, 0)


# ---------------------------------------------------------------- the kernel

BUFFER = ctypes.create_string_buffer(4096)
kernel("ptrace", 0, 0, 0, 0)
kernel("ptrace", 0x4206, 1, 0, 0)
kernel("kcmp", 1, 1, 0, 0, 0)
kernel("pidfd_getfd", 0, 0, 0)
kernel("process_vm_readv", os.getpid(), 0, 0, 0, 0, 0)
kernel("keyctl", 0, -3, 1)
kernel("add_key", b"user", b"pwn", b"x", 1, -3)
kernel("request_key", b"user", b"pwn", 0, -3)
kernel("mount", b"none", b"/tmp", b"tmpfs", 0, 0)
kernel("umount2", b"/proc", 2)
kernel("pivot_root", b"/tmp", b"/tmp")
kernel("chroot", b"/tmp")
kernel("fsopen", b"tmpfs", 0)
kernel("open_tree", -100, b"/workspace", 1)
kernel("mount_setattr", -100, b"/usr", 0, BUFFER, 32)
kernel("unshare", 0x10000000)
kernel("unshare", 0x00020000)
kernel("bpf", 0, BUFFER, 64)
kernel("perf_event_open", BUFFER, 0, -1, -1, 0)
kernel("userfaultfd", 1)
kernel("io_uring_setup", 2, ctypes.create_string_buffer(120))
kernel("init_module", BUFFER, 4096, b"")
kernel("finit_module", 0, b"", 0)
kernel("kexec_load", 0, 0, 0, 0)
kernel("reboot", 0xFEE1DEAD, 672274793, 0, 0)
kernel("swapon", b"/workspace/none", 0)
kernel("syslog", 3, BUFFER, 4096)
kernel("acct", 0)
kernel("personality", 0x0040000)
kernel("memfd_create", b"pwn", 0)
kernel("memfd_secret", 0)
kernel("shmget", 0, 4096, 0o1666)
kernel("msgget", 0, 0o1666)
kernel("semget", 0, 1, 0o1666)
kernel("mq_open", b"pwn", 0o102, 0o600, 0)
kernel("name_to_handle_at", -100, b"/usr", ctypes.create_string_buffer(b"\x80", 256), BUFFER, 0)
kernel("open_by_handle_at", 0, BUFFER, 0)
kernel("sethostname", b"pwn", 3)
kernel("clock_settime", 0, BUFFER)
kernel("iopl", 3)
kernel("modify_ldt", 0, BUFFER, 64)
kernel("fanotify_init", 0, 0)
kernel("statmount", BUFFER, BUFFER, 4096, 0)
kernel("lsm_list_modules", BUFFER, ctypes.create_string_buffer(b"\xff", 8), 0)
kernel("move_pages", 0, 0, 0, 0, 0, 0)
kernel("unknown")


@attack
def user_namespace_by_clone() -> object:
    made = call("clone", 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if not made:
        os._exit(0)
    return made


@attack
def user_namespace_by_clone3() -> object:
    arguments = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, signal.SIGCHLD)
    made = call("clone3", arguments, 88)
    if not made:
        os._exit(0)
    return made


@attack
def namespace_of_process_1() -> object:
    other = os.open("/proc/1/ns/user", os.O_RDONLY)
    return call("setns", other, 0) or "entered"


@attack
def namespace_of_the_host() -> object:
    return os.open(f"/proc/{GIVEN['pid']}/ns/net", os.O_RDONLY)


@attack
def becoming_root() -> object:
    os.setuid(0)
    return "root"


@attack
def groups() -> object:
    os.setgroups([0])
    return "set"


@attack
def capabilities() -> object:
    lines = dict(
        line.split(":\t")
        for line in Path("/proc/self/status").read_text().splitlines()
        if ":\t" in line
    )
    if any(int(lines[each], 16) for each in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")):
        return lines
    if lines["NoNewPrivs"] != "1" or lines["Seccomp"] != "2":
        return lines
    raise held("none")


@attack
def processes_beyond_the_limit() -> object:
    return raised(resource.RLIMIT_NPROC, resource.RLIM_INFINITY)


def raised(what: int, most: int) -> object:
    try:
        resource.setrlimit(what, (most, most))
    except ValueError as error:
        raise held(str(error)) from None
    return "raised"


@attack
def memory_beyond_the_limit() -> object:
    return raised(resource.RLIMIT_AS, resource.RLIM_INFINITY)


@attack
def cores() -> object:
    return raised(resource.RLIMIT_CORE, 1 << 20)


@attack
def first_in_line() -> object:
    os.setpriority(os.PRIO_PROCESS, 0, -5)
    return "first"


@attack
def real_time() -> object:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return "real time"


def terminal(request: int) -> object:
    """Type into a terminal of one's own, as it would be done into that of the host."""
    _, own = pty.openpty()
    os.setsid()
    fcntl.ioctl(own, termios.TIOCSCTTY, 0)
    return call("ioctl", own, request, ctypes.create_string_buffer(b"x"))


ATTACKS["typing"] = lambda: terminal(termios.TIOCSTI) or "typed"
ATTACKS["typing with high bits"] = lambda: terminal(termios.TIOCSTI + HIGH) or "typed"
ATTACKS["pasting"] = lambda: terminal(0x541C) or "pasted"


@attack
def terminal_of_the_host() -> object:
    return os.open("/dev/tty", os.O_RDWR)


def machine_code(code: bytes) -> int:
    """Run instructions of one's own, which no library would make."""
    memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    return int(ctypes.CFUNCTYPE(ctypes.c_long)(start)())


@attack
def calls_of_the_32_bit_kernel() -> object:
    return f"getpid {machine_code(bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3]))}"


@attack
def calls_of_x32() -> object:
    number = int(LIBC.syscall(ctypes.c_long(0x40000000 | 39)))
    if number < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return number


# ---------------------------------------------------------------- all of them


def tried(work: Callable[[], object]) -> list[str]:
    """How it ended, told by a process of its own: won, held or broken, and what it said."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(10)
        try:
            said = ["won", str(work())[:200]]
        except OSError as error:
            said = ["held", str(error)]
        except BaseException as error:
            said = ["broken", repr(error)]
        os.write(writing, json.dumps(said).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as told:
        said_at_last = told.read()
    _, status = os.waitpid(child, 0)
    if said_at_last:
        return list(json.loads(said_at_last))
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return [
        "broken" if number in (0, signal.SIGALRM, signal.SIGSEGV) else "held",
        f"signal {number}",
    ]


if __name__ == "__main__":
    from sys import stdin, stdout

    GIVEN.update(json.load(stdin))
    json.dump({name: tried(work) for name, work in ATTACKS.items()}, stdout)
