"""Keys: the variables by which an environment gives the keys and addresses of model providers.

Knows no provider; which of them is used for what is known to known_services.py. Does not show a
key.
"""

from __future__ import annotations

from collections.abc import Mapping

ENDS = ("_API_KEY", "_BASE_URL")


def keys_in(environ: Mapping[str, str]) -> dict[str, str]:
    """What is set of the providers' variables; Loopforge's own are settings."""
    return {
        name: value
        for name, value in environ.items()
        if value and name.endswith(ENDS) and not name.startswith("LOOPFORGE_")
    }
