"""Lines as a plugin: what is declared of it. Read with the settings, so it imports little."""

from dataclasses import dataclass
from typing import Literal

from loopforge.io.platforms.surface_plugin import RunningSurface, SurfaceParts, SurfacePlugin
from loopforge.runtime.plugins.setting_declarations import setting


@dataclass(frozen=True, kw_only=True)
class LinesSettings:
    """In loopforge.toml `lines_port = 7007`, in the environment LOOPFORGE_LINES_PORT."""

    dm: Literal["pairing", "open", "allowlist"] = setting(
        "pairing", "What strangers meet: a code for the owner, an open door, or a polite notice."
    )
    port: int = setting(
        0, "Port on 127.0.0.1 where lines are taken; 0 for none.", least=0, most=65_535
    )


def make(parts: SurfaceParts) -> RunningSurface | None:
    """The surface, if a port is set."""
    from lines_surface import Lines

    return Lines(parts) if parts.options.port else None


SURFACE = SurfacePlugin(
    title="Lines",
    make=make,
    settings=LinesSettings,
    loads=("lines_surface",),
    place="[0-9a-f]{16}",
    account="[0-9a-f]{16}",
    dm="dm",
)
