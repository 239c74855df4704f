"""What was saved in the home while it ran: settings (settings.json) and keys (keys.json).

Two JSON objects in the home's data which only its owner may read, written by the program alone.
Does not know what a setting means, nor shows a key.
"""

import json
from pathlib import Path
from typing import Any

from loopforge.errors import BadSettings, LoopforgeError
from loopforge.runtime.installation.home_files import alone, bytes_of, write_private

SETTINGS, KEYS = "settings.json", "keys.json"


def read_saved(path: Path) -> dict[str, Any]:
    """What is saved there; nothing where there is no file. Raises BadSettings."""
    try:
        found = json.loads(bytes_of(path) or b"{}")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise BadSettings(
            f"{path} cannot be read: {error}. Mend it, or move it away: what was set in the "
            "browser then no longer holds."
        ) from error
    if not isinstance(found, dict):
        raise BadSettings(f"{path} must be a JSON object. Mend it, or move it away.")
    return found


def save(path: Path, name: str, value: Any) -> Any:
    """Save a value under this name, or with None take it away; what was saved there before.

    Raises LoopforgeError where it cannot be written; then nothing has changed.
    """
    try:
        with alone(path):
            saved = read_saved(path)
            before = saved.pop(name, None)
            if value is not None:
                saved[name] = value
            content = json.dumps(saved, ensure_ascii=False, indent=1, sort_keys=True)
            write_private(path, content.encode())
    except OSError as error:
        raise LoopforgeError(f"{path} cannot be written: {error.strerror}.") from error
    return before
