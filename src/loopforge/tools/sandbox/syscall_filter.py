"""What programs in the sandbox may ask of the kernel: a seccomp filter, as bubblewrap takes it.

Refused are calls that reach out of namespaces or have often led out of them, those by which memory
is held where no sum sees it (memfd, System V), sockets but of IP and Unix, typing into a terminal,
and every call newer than those that were judged here. Another architecture's calls end the program.

User namespaces are not its business: `--disable-userns` forbids them, whichever call asks.
"""

import errno
import os
import socket
import tempfile
import termios
from functools import cache

from loopforge.errors import NotInstalled
from loopforge.runtime.installation.extras import getting

REFUSED = """
 add_key keyctl request_key ptrace process_vm_readv process_vm_writev process_madvise kcmp
 pidfd_getfd kexec_load kexec_file_load mount umount2 pivot_root chroot unshare setns bpf
 perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register init_module
 finit_module delete_module open_by_handle_at name_to_handle_at mknod mknodat swapon swapoff reboot
 syslog acct quotactl quotactl_fd personality fsopen fsconfig fspick fsmount move_mount open_tree
 mount_setattr fanotify_init lookup_dcookie nfsservctl vhangup uselib iopl ioperm modify_ldt
 clock_settime settimeofday adjtimex clock_adjtime sethostname setdomainname move_pages
 migrate_pages mbind set_mempolicy
"""
ABSENT = """
 memfd_create memfd_secret shmget shmat shmctl msgget msgsnd msgrcv msgctl semget semop semctl
 mq_open mq_unlink
"""
"""Answered as if the kernel had none, so that libraries take another way."""
JUDGED = 452
"""Numbers above are newer than this list (they are the same on every architecture from 424 on)."""
LATEST = 600
TIOCLINUX = 0x541C


@cache
def syscall_filter() -> bytes:
    """The filter for this machine. Raises NotInstalled where libseccomp is missing."""
    try:
        import pyseccomp as seccomp  # type: ignore[import-untyped]
    except (ImportError, RuntimeError, OSError) as error:
        raise NotInstalled(
            f"programs cannot be confined, for libseccomp is missing ({error}): install "
            f"it (`apt install libseccomp2`), and run {getting()}."
        ) from error
    rules = seccomp.SyscallFilter(seccomp.ALLOW)

    def refuse(name: str, action: int) -> None:
        try:
            number = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name)
        except (OSError, ValueError):
            return  # newer than the library: its number is above JUDGED
        if number >= 0:  # below it is a call of another architecture
            rules.add_rule(action, number)

    for name in REFUSED.split():
        refuse(name, seccomp.ERRNO(errno.EPERM))
    for name in ABSENT.split():
        refuse(name, seccomp.ERRNO(errno.ENOSYS))
    for number in range(JUDGED + 1, LATEST):
        rules.add_rule(seccomp.ERRNO(errno.ENOSYS), number)
    _sockets_and_terminals(seccomp, rules)
    with tempfile.TemporaryFile() as exported:
        rules.export_bpf(exported)
        exported.seek(0)
        return exported.read()


def _sockets_and_terminals(seccomp: object, rules: object) -> None:
    """Compared as 64 bits, where the kernel looks at 32: what has more set is refused as well."""
    from typing import Any, cast

    sc, to = cast("Any", seccomp), cast("Any", rules)
    unknown = sc.ERRNO(errno.EAFNOSUPPORT)
    for name in ("socket", "socketpair"):
        to.add_rule(unknown, name, sc.Arg(0, sc.GT, int(socket.AF_INET6)))
        for family in range(int(socket.AF_INET) + 1, int(socket.AF_INET6)):
            to.add_rule(unknown, name, sc.Arg(0, sc.EQ, family))
    for request in (termios.TIOCSTI, TIOCLINUX):
        to.add_rule(
            sc.ERRNO(errno.EPERM), "ioctl", sc.Arg(1, sc.MASKED_EQ, 0xFFFFFFFF, int(request))
        )


def sealed_descriptor(data: bytes, name: str) -> int:
    """A descriptor that reads these bytes and that nobody can write or lengthen."""
    import fcntl

    made = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with open(made, "wb", closefd=False) as file:
            file.write(data)
        fcntl.fcntl(
            made,
            fcntl.F_ADD_SEALS,
            fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL,
        )
        os.lseek(made, 0, os.SEEK_SET)
    except BaseException:
        os.close(made)
        raise
    return made
