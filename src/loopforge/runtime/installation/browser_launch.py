"""Opening a page in the browser of whoever sits at this machine.

The address goes by a file that only they can read: it may let in whoever has it, and a command line
can be read by everybody on the machine.
"""

import subprocess
import sys
from collections.abc import Mapping
from html import escape
from pathlib import Path
from threading import Thread

from loopforge.runtime.installation.home_files import write_private

PAGE = """\
<!doctype html><meta charset="utf-8"><title>Loopforge</title>
<meta http-equiv="refresh" content="0;url={address}"><p><a href="{address}">Come in</a></p>
"""


def has_screen(environ: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether a browser could be seen here: there is a desktop, and nobody is far away."""
    if environ.get("SSH_CONNECTION") or environ.get("CI"):
        return False
    if platform in ("darwin", "win32"):
        return True
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def open_page(address: str, through: Path, environ: Mapping[str, str]) -> bool:
    """Open an address, by the file `through`; whether it was tried."""
    if not has_screen(environ):
        return False
    write_private(through, PAGE.format(address=escape(address)).encode())
    line = [sys.executable, "-m", "webbrowser", through.as_uri()]
    Thread(target=_run, args=(line, dict(environ)), name="browser", daemon=True).start()
    return True


def _run(line: list[str], environ: dict[str, str]) -> None:
    """Wait for a browser that keeps its caller waiting, and see that nothing is left of it."""
    quiet = subprocess.DEVNULL
    subprocess.run(  # noqa: S603  our own Python, with the address of a file of ours
        line, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True, env=environ
    )
