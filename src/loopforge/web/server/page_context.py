"""Context: all that pages may use, in one value that host.py makes, and how a page is given.

Knows no handler.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Protocol
from zoneinfo import ZoneInfo

from litestar import Request
from litestar.enums import RequestEncodingType
from litestar.params import Body
from litestar.response import Template

from loopforge.artifacts.artifact_store import Artifacts
from loopforge.budgets.budget_reservation import Budgets
from loopforge.budgets.model_usage import UsageView
from loopforge.chat.memories.memory_service import MemoryService
from loopforge.chat.reminders.reminder_service import ReminderService
from loopforge.chat.rooms_api import RoomsApi
from loopforge.core.events import Event
from loopforge.lab.run_queue import RunQueue
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.mates.cards.avatar_image import Portraits
from loopforge.mates.mate_editing import MateGrowth
from loopforge.mates.mate_roster import MateRoster
from loopforge.mates.version_history import VersionHistory
from loopforge.models.embedded_switch import EmbeddedSwitch
from loopforge.models.files.model_library import ModelLibrary
from loopforge.models.model_listing import ModelListing
from loopforge.people.account_linking import AccountLinking
from loopforge.people.accounts.account_service import Accounts
from loopforge.people.accounts.account_values import Visitor
from loopforge.people.accounts.avatar_records import AvatarRecords
from loopforge.people.identity.person_registry import PersonRegistry
from loopforge.people.stranger_pairing import StrangerPairing
from loopforge.runtime.plugins.setting_declarations import SettingState
from loopforge.runtime.ports import Clock, SinkStandings
from loopforge.tools.tool_registry import ToolRegistry
from loopforge.web.rendering.live_hub import LiveHub
from loopforge.web.server.link_reach import LinkReach
from loopforge.web.server.request_limits import RequestLimits
from loopforge.work.task_service import TaskService
from loopforge.work.watching.watch_service import WatchService

Asked = Request[Any, Any, Any]
"""A request, as handlers take it."""
Fields = Annotated[dict[str, str], Body(media_type=RequestEncodingType.URL_ENCODED)]
"""The fields of a form without files."""


class HomeSettings(Protocol):
    """The settings that pages go by; live_settings.py, which is above, has the real ones."""

    @property
    def now(self) -> Any:
        """Those in force, by name."""

    @property
    def saved(self) -> Any:
        """Those of the next start, by name."""

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of what people are shown."""

    def states(self) -> Sequence[SettingState]:
        """Every setting, in the order of the table."""

    async def change(self, name: str, value: str | Mapping[str, Any] | None, by: str) -> None:
        """Save one, or take back what was saved. Raises Unknown and BadSettings."""

    async def undo(self, name: str, by: str) -> None:
        """Save again what was saved before its last change. Raises Unknown."""

    async def keep_key(self, variable: str, value: str, by: str) -> None:
        """Save the key or address of a model service; "" removes it. Raises BadSettings."""

    def kept_keys(self) -> list[str]:
        """The variables whose keys or addresses are saved in this home."""

    async def changes(self, limit: int = 100) -> Sequence[Event]:
        """The newest changes, the newest first."""


@dataclass(frozen=True)
class PageContext:
    """Everything pages may use. `boot` names this run of the server; `address` has no slash.

    `shifts` plays the runs of the Factory; `scenarios` is the home's folder of them. `library` has
    the files of models that run here, or could. `platforms` says how it stands with mates
    elsewhere: by platform, then by an account's mates, in words.
    `live` are the settings in force; `notice` tells the owner of the models, if anything.
    `surfaces` is what people call each platform that bots are connected to, by its name; `reach`
    says how a link begins that is given to others, and who can open it. `switch` changes which
    file's model answers here; `backed_up` is when the last backup was made; `metrics_token`
    opens /metrics ("": nobody can); `beyond` are places from which no text is called back; `sinks`
    are where what happens goes.
    """

    front: RoomsApi
    accounts: Accounts
    people: PersonRegistry
    linking: AccountLinking
    pairing: StrangerPairing
    pictures: AvatarRecords
    portraits: Portraits
    artifacts: Artifacts
    roster: MateRoster
    chronicle: VersionHistory
    growth: MateGrowth
    beliefs: MemoryService
    usage: UsageView
    budgets: Budgets
    work: TaskService
    watch: WatchService
    reminders: ReminderService
    ledger: SqlLedger
    models: ModelListing
    library: ModelLibrary
    tools: ToolRegistry
    clock: Clock
    live: HomeSettings
    hub: LiveHub
    shifts: RunQueue
    scenarios: Path
    policies: Sequence[str]
    notice: Callable[[], str] = str
    surfaces: Mapping[str, str] = field(default_factory=dict)
    platforms: Callable[[], Mapping[str, Mapping[str, str]]] = field(default=dict)
    address: str = "http://127.0.0.1"
    reach: Callable[[], LinkReach] = field(
        default=lambda: LinkReach(scope="machine", base="http://127.0.0.1", port=80)
    )
    boot: str = ""
    switch: EmbeddedSwitch | None = None
    backed_up: Callable[[], datetime | None] = lambda: None
    metrics_token: Callable[[], str] = str
    beyond: Callable[[], Sequence[str]] = list
    sinks: SinkStandings | None = None

    @cached_property
    def paces(self) -> RequestLimits:
        """How much each person may do in a while."""
        return RequestLimits(self.clock, self.live.now.upload_limit_bytes)

    def setting(self, name: str) -> SettingState:
        """One setting as it stands."""
        return next(each for each in self.live.states() if each.row.name == name)

    @property
    def secure(self) -> bool:
        """Whether browsers reach it by https."""
        return self.address.startswith("https://")


def render_page(
    template: str, visitor: Visitor | None, /, *, here: str = "", status: int = 200, **context: Any
) -> Template:
    """A page or a fragment, made from a template; `here` is the part of the site it belongs to."""
    shown = {"visitor": visitor, "here": here, **context}
    return Template(template_name=template, context=shown, status_code=status)
