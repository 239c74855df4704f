"""The surfaces that are installed, asked elsewhere than their makers: at the twins on loopback."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

from loopforge.io.platforms.surface_plugin import InstalledSurface, surfaces_of
from loopforge.setting_defaults import Settings


def elsewhere(
    settings: Settings | None = None,
    *,
    telegram: str = "",
    discord: Callable[[], Any] | None = None,
) -> dict[str, InstalledSurface]:
    """As these settings want them; without any, mates talk in every place.

    `discord` makes connections to its twin.
    """
    found = surfaces_of(settings or Settings())
    if settings is None:
        found = {name: each._replace(options=_open(each)) for name, each in found.items()}
    if telegram:
        there = found["telegram"]
        found["telegram"] = there._replace(options=replace(there.options, base_url=telegram))
    if discord is not None:
        there = found["discord"]
        assert there.plugin.bots is not None
        visit, make = cast("Any", there.plugin.bots.visit), cast("Any", there.plugin.make)
        bots = replace(there.plugin.bots, visit=partial(visit, connector=discord))
        make = partial(make, connector=discord)
        found["discord"] = there._replace(plugin=replace(there.plugin, make=make, bots=bots))
    return found


def _open(surface: InstalledSurface) -> Any:
    places = surface.plugin.places
    return replace(surface.options, **({places: "open"} if places else {}))
