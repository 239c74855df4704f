"""The port of a surface: what a package declares to be one, and what it is given when it runs.

    [project.entry-points."loopforge.surfaces"]
    bell = "loopforge_bell:SURFACE"      # a SurfacePlugin of the name "bell"

A declaration is light: it is read with the settings, by every command. What a surface needs to run
is imported by `make`, when there is somebody to run it for. docs/surfaces.md shows a whole one.
Knows no surface.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from msgspec import Struct

from loopforge.runtime.plugins.installed_plugins import load_plugins
from loopforge.runtime.plugins.setting_declarations import PluginSettings
from loopforge.runtime.ports import Surface

if TYPE_CHECKING:
    from loopforge.artifacts.artifact_store import Artifacts
    from loopforge.chat.rooms_api import RoomsApi
    from loopforge.core.mates.mate_file import Mate
    from loopforge.io.platforms.bot_tokens import BotAccount
    from loopforge.io.platforms.incoming_lines import IncomingLines
    from loopforge.io.platforms.surface_options import SurfaceOptions
    from loopforge.mates.cards.avatar_image import Portraits
    from loopforge.people.account_linking import AccountLinking
    from loopforge.people.accounts.account_service import Accounts
    from loopforge.people.identity.person_registry import PersonRegistry
    from loopforge.people.stranger_pairing import StrangerPairing, Strangers
    from loopforge.runtime.delivery_worker import Deliveries
    from loopforge.runtime.ports import Clock, Dice
    from loopforge.runtime.system_clock import Stamp

State = Literal["ok", "warn", "bad"]


class AccountFinding(Struct, frozen=True):
    """One thing that was looked at: how it is, in a sentence, and what to do.

    `warn`: mates can talk, but not as well or not everywhere. `bad`: they cannot.
    """

    state: State
    said: str
    mend: str = ""


def clock_findings(amiss: str) -> list[AccountFinding]:
    """What a visit says of this machine's clock, of which a clause (PlatformTime) says what is."""
    mend = "Set it right, best by a time server (`timedatectl set-ntp true`)."
    return [AccountFinding("warn", f"{amiss}.", mend)] if amiss else []


class ConnectReport(Struct, frozen=True):
    """What was found, and the addresses by which people come to the bot, each with what it does."""

    findings: tuple[AccountFinding, ...] = ()
    ways: tuple[tuple[str, str], ...] = ()

    @property
    def well(self) -> bool:
        """Whether mates can talk by it."""
        return all(finding.state != "bad" for finding in self.findings)


GROUP = "loopforge.surfaces"


class RunningSurface(Surface, Protocol):
    """A surface that is run: lines go out by it, as by any, and come in by it."""

    async def run(self) -> None:
        """Be there until cancelled."""

    async def close(self) -> None:
        """Be there no longer."""

    def attend(self, room: str) -> None:
        """Show from now on what is going on in this room; twice is once."""

    def states(self) -> Mapping[str, str]:
        """How it stands with each account, by its mates ("*": all): "connected", or why not."""


@dataclass(frozen=True, kw_only=True)
class HomeParts:
    """What surfaces need of a running home."""

    front: RoomsApi
    people: PersonRegistry
    linking: AccountLinking
    pairing: StrangerPairing
    accounts: Accounts
    artifacts: Artifacts
    deliveries: Deliveries
    stamp: Stamp

    @property
    def portraits(self) -> Portraits:
        """What its mates look like."""
        from loopforge.mates.cards.avatar_image import Portraits
        from loopforge.people.accounts.avatar_records import of_mate

        given = self.accounts.pictures
        return Portraits(lambda mate: given.of(of_mate(mate)), self.artifacts)


@dataclass(frozen=True, kw_only=True)
class SurfaceParts:
    """What a surface is made with. `options` are its own settings, `accounts` its bots."""

    reception: IncomingLines
    front: RoomsApi
    artifacts: Artifacts
    portraits: Portraits
    clock: Clock
    dice: Dice
    manners: SurfaceOptions
    options: Any
    accounts: Sequence[BotAccount] = ()


@dataclass(frozen=True, kw_only=True)
class AccountVisit:
    """What to do at a platform with an account: look, and tell it what is wanted.

    `shared`: several mates speak by it. `told`: tell the commands. `face`: and the name and face of
    this mate, as `portraits` has it. `take_over`: take another program's webhook away first.
    """

    account: BotAccount
    options: Any
    shared: bool
    told: bool = False
    face: Mate | None = None
    portraits: Portraits | None = None
    take_over: bool = False


@dataclass(frozen=True, kw_only=True)
class BotRules:
    """Of a surface that mates are on by bots whose tokens people bring.

    `shape` is a regular expression of a token, `where` says where it is to be had. `visit` raises
    NotLetIn for a token that is not known, and Unreachable. `server` is the name of the setting by
    which another server is asked; `takes_over`: another program's webhook may be in the way.
    """

    shape: str
    where: str
    visit: Callable[[AccountVisit], Awaitable[ConnectReport]]
    server: str = ""
    takes_over: bool = False


@dataclass(frozen=True)
class NoSettings:
    """Of a plugin that has none."""


@dataclass(frozen=True, kw_only=True)
class SurfacePlugin:
    """A surface as a package declares it.

    `settings` is a dataclass of fields made by `setting`; `loads` are modules that `make` needs,
    loaded beside the running home first. A surface with `bots` runs while mates have accounts
    there; any other one as long as the home does, unless `make` returns None. `place` is a regular
    expression of its places' keys after its name and a colon, `account` one of people's accounts.
    `dm` and `places` are the names of its settings for what strangers meet in private ("pairing"
    without one), and for where mates talk ("open").
    """

    title: str
    make: Callable[[SurfaceParts], RunningSurface | None]
    settings: type = NoSettings
    loads: tuple[str, ...] = ()
    bots: BotRules | None = None
    place: str = r"\S+"
    account: str = r"\S+"
    dm: str = ""
    places: str = ""


class InstalledSurface(NamedTuple):
    """A surface that is installed, by its name, with its settings as they are set."""

    name: str
    plugin: SurfacePlugin
    options: Any

    @property
    def elsewhere(self) -> str:
        """The other server that is asked in place of the platform's own; "" for that."""
        server = self.plugin.bots.server if self.plugin.bots else ""
        return str(getattr(self.options, server)) if server else ""

    @property
    def grounds(self) -> str:
        """Where mates talk there, as it is set."""
        return str(getattr(self.options, self.plugin.places)) if self.plugin.places else "open"

    def names(self, place: str) -> bool:
        """Whether this is a key of a place there."""
        return re.fullmatch(f"{self.name}:(?:{self.plugin.place})", place, re.ASCII) is not None


Surfaces = Mapping[str, InstalledSurface]


def surfaces_of(settings: PluginSettings) -> dict[str, InstalledSurface]:
    """Every surface that is installed, by name, as this home's settings want it."""
    return {
        name: InstalledSurface(name, plugin, settings.of(name, plugin.settings))
        for name, plugin in load_plugins(GROUP).items()
    }


def strangers_of(settings: PluginSettings) -> dict[str, Strangers]:
    """What strangers meet on each surface that is installed, as it is set."""
    from loopforge.people.stranger_pairing import Strangers

    return {
        name: Strangers(getattr(each.options, each.plugin.dm, "pairing"), each.plugin.account)
        for name, each in surfaces_of(settings).items()
    }
