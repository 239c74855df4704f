"""The site: everything pages may use, in one value that host.py makes, and how a page is given.

Knows no handler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from litestar import Request
from litestar.enums import RequestEncodingType
from litestar.params import Body
from litestar.response import Template
from msgspec import Struct

from loopforge.artifacts.artifact_store import Artifacts
from loopforge.budgets.model_usage import UsageView
from loopforge.chat.rooms_api import Front
from loopforge.lab.run_queue import Shifts
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.mates.mate_roster import Roster
from loopforge.mates.version_history import Chronicle
from loopforge.models.model_listing import ModelsDesk
from loopforge.people.account_linking import AccountLinking
from loopforge.people.accounts.account_service import Accounts
from loopforge.people.accounts.account_values import Visitor
from loopforge.people.identity.person_registry import Registry
from loopforge.people.stranger_pairing import Pairing
from loopforge.runtime.ports import Clock
from loopforge.web.rendering.live_hub import Hub

Asked = Request[Any, Any, Any]
"""A request, as handlers take it."""
Fields = Annotated[dict[str, str], Body(media_type=RequestEncodingType.URL_ENCODED)]
"""The fields of a form without files."""


class SettingRow(Struct, frozen=True, kw_only=True):
    """One setting as the owner's page shows it; `value` and `default` in words, secrets hidden."""

    name: str
    value: str
    source: str
    default: str
    help: str
    group: str


@dataclass(frozen=True)
class Site:
    """Everything pages may use. `boot` names this run of the server; `address` has no slash.

    `shifts` plays the runs of the Factory; `scenarios` is the home's folder of them. `platforms`
    says how it stands with mates elsewhere: by platform, then by an account's mates, in words.
    `surfaces` is what people call each platform that bots are connected to, by its name.
    """

    front: Front
    accounts: Accounts
    people: Registry
    linking: AccountLinking
    pairing: Pairing
    artifacts: Artifacts
    roster: Roster
    chronicle: Chronicle
    usage: UsageView
    ledger: SqlLedger
    models: ModelsDesk
    clock: Clock
    zone: ZoneInfo
    hub: Hub
    shifts: Shifts
    scenarios: Path
    policies: Sequence[str]
    settings: Callable[[], Sequence[SettingRow]] = field(default=tuple)
    surfaces: Mapping[str, str] = field(default_factory=dict)
    platforms: Callable[[], Mapping[str, Mapping[str, str]]] = field(default=dict)
    address: str = "http://127.0.0.1"
    boot: str = ""
    commons: str = "commons"
    person: str = "you"
    notice: str = ""
    notice_owner: str = ""
    upload_limit: int = 5_000_000
    text_limit: int = 200_000

    @property
    def secure(self) -> bool:
        """Whether browsers reach it by https."""
        return self.address.startswith("https://")


def page(
    template: str, visitor: Visitor | None, /, *, here: str = "", status: int = 200, **context: Any
) -> Template:
    """A page or a fragment, made from a template; `here` is the part of the site it belongs to."""
    shown = {"visitor": visitor, "here": here, **context}
    return Template(template_name=template, context=shown, status_code=status)
