"""Settings on a page: each with its help and where it comes from, a form, and what was changed.

Every change is on record and can be undone. What a setting means is known elsewhere.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from litestar import Response, get, post
from litestar.response import Redirect, Template
from msgspec import Struct

from loopforge.core.events import Event
from loopforge.core.home_events import KeyChanged, SettingChanged
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.account.account_pages import name_of
from loopforge.web.server.page_context import Fields, PageContext, render_page

LONGEST = 2_000
"""Characters of a value."""
SOUGHT = {
    "Your time zone": "timezone",
    "Open it to your network": "web_host",
    "Who may invite others": "who_may_invite",
    "Where backups go": "backup_to",
    "Answers a person may have in a day": "answers_per_person_a_day",
    "The largest file that may be sent": "upload_limit_bytes",
    "Who answers for a mate that cannot": "fallback_mate",
}
"""What people look for first, in their words, by the setting it is."""


class SettingChange(Struct, frozen=True, kw_only=True):
    """A change as it is listed; `last`: the newest of its setting, so that it can be undone."""

    at: datetime
    by: str
    name: str
    said: str
    last: bool


@get("/admin/settings")
async def settings(site: PageContext, owner: Visitor) -> Template:
    """Every setting, what it is, where that comes from; and what was changed here."""
    return await _settings(site, owner)


async def _settings(site: PageContext, owner: Visitor, **more: Any) -> Template:
    states = site.live.states()
    groups = [(name, list(each)) for name, each in groupby(states, lambda each: each.row.group)]
    return render_page(
        "admin-settings.html",
        owner,
        here="admin",
        section="settings",
        groups=groups,
        sought={words: site.setting(name) for words, name in SOUGHT.items()},
        set=sum(each.source != "default" for each in states),
        waiting=[each.row.name for each in states if each.next],
        changes=_listed(site, await site.live.changes()),
        **{"error": "", "wrong": "", "typed": "", **more},
    )


@post("/admin/settings/{name:str}")
async def change_setting(
    site: PageContext, owner: Visitor, name: str, data: Fields
) -> Response[Any]:
    """Save a setting; nothing typed takes back what was saved."""
    typed = data.get("value", "").strip()[:LONGEST]
    try:
        await site.live.change(name, typed or None, f"person:{owner.person}")
    except InputError as error:
        more = {"error": str(error), "wrong": name, "typed": typed, "status": 400}
        return await _settings(site, owner, **more)
    back = "invites?told=opened" if data.get("back") == "invites" else f"settings#{name}"
    return Redirect(f"/admin/{back}", status_code=303)


@post("/admin/settings/{name:str}/undo")
async def undo_setting(site: PageContext, owner: Visitor, name: str) -> Response[Any]:
    """Save again what was saved before the setting's last change."""
    try:
        await site.live.undo(name, f"person:{owner.person}")
    except InputError as error:
        return await _settings(site, owner, error=str(error), status=400)
    return Redirect(f"/admin/settings#{name}", status_code=303)


def _listed(site: PageContext, events: Sequence[Event]) -> list[SettingChange]:
    """The changes, the newest first."""
    seen: set[str] = set()
    found = []
    for event in reversed(events):
        match event.body:
            case SettingChanged(setting=name, before=before, after=after):
                said = f"{_value(before)} → {_value(after)}"
                last = name not in seen
            case KeyChanged(variable=name, kept=kept):
                said, last = ("saved" if kept else "removed"), False
            case _:
                continue
        seen.add(name)
        by = name_of(site, event.actor.removeprefix("person:"))
        found.append(SettingChange(at=event.at, by=by, name=name, said=said, last=last))
    return found


def _value(saved: Words) -> str:
    """What was saved, in words."""
    if not saved:
        return "nothing saved"
    value = "forgotten" if saved.text is None else json.loads(saved.text)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
