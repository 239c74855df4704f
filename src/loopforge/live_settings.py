"""Settings changed while the home runs: saved, on record, and undone.

    change -> checked as at a start -> data/settings.json -> the stream "home" -> whoever follows

What was saved comes after the environment and before loopforge.toml. A change takes effect at once
where its row says so (`live`), else at the next start. The stream is what tells of a change, so one
that another process made (a command) is heard like one's own. Keys of model services are saved
beside, in data/keys.json; what they are stands nowhere else.

Does not know who uses a setting for what.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from loopforge.core.events import Body, Event
from loopforge.core.home_events import STREAM, KeyChanged, SettingChanged
from loopforge.core.text.erasable_text import Words
from loopforge.errors import BadSettings, LedgerError, Unknown
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.models.providers.known_services import key_objection, keys_in
from loopforge.runtime.installation.settings_file import (
    KEYS,
    RAW_TABLES,
    SETTINGS,
    read_saved,
    save_setting,
)
from loopforge.runtime.plugins.setting_declarations import SettingsRow, SettingState
from loopforge.runtime.system_clock import Stamp
from loopforge.setting_defaults import Settings
from loopforge.settings import SAVED, settings_rows, settings_with

log = logging.getLogger(__name__)
KINDS = ("home.setting_changed", "home.key_changed")


class LiveSettings:
    """The settings of a running home. `now` are those in force, `saved` those of the next start.

    `check` raises BadSettings for settings that no home could start with.
    """

    def __init__(
        self,
        settings: Settings,
        ledger: SqlLedger,
        stamp: Stamp,
        check: Callable[[Settings], object],
    ) -> None:
        self.now = self.saved = settings
        self._ledger, self._stamp, self._check = ledger, stamp, check
        self._hear: list[Callable[[Settings], None]] = []
        ledger.subscribe(self._changed, streams=STREAM, kinds=KINDS)

    def follow(self, hear: Callable[[Settings], None]) -> None:
        """Tell `hear` of the settings in force whenever they have changed."""
        self._hear.append(hear)

    def take(self, name: str, value: Any) -> None:
        """A setting that holds from the next start on holds now: who goes by it made it so."""
        self.now = replace(self.now, **{name: value})
        for hear in self._hear:
            hear(self.now)

    # ------------------------------------------------------------ what is in force

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of what people and mates are shown."""
        return ZoneInfo(self.now.timezone)

    def states(self) -> list[SettingState]:
        """Every setting, in the order of the table."""
        return [self._state(row) for row in settings_rows()]

    def _state(self, row: SettingsRow) -> SettingState:
        source = self.saved.sources.get(row.name, "default")
        value, later = (_shown(row, getattr(each, row.name)) for each in (self.now, self.saved))
        return SettingState(
            row=row,
            value=value,
            next=later if later != value else "",
            source=source,
            saved=source == SAVED,
            fixed=source in row.variables,
        )

    # ------------------------------------------------------------ changing

    async def change(self, name: str, value: str | Mapping[str, Any] | None, by: str) -> None:
        """Save a setting as `by` (an actor) wants it: a text, or a raw table; None: as without.

        Raises Unknown, and BadSettings with what is allowed; then nothing has changed.
        """
        await self._save(name, value, by, "change")

    async def undo(self, name: str, by: str) -> None:
        """Save of a setting what was saved before its last change. Raises Unknown."""
        events = await self._ledger.read(STREAM, kinds=KINDS[:1])
        for event in reversed(events):
            if isinstance(event.body, SettingChanged) and event.body.setting == name:
                before = str(event.body.before)
                await self._save(name, json.loads(before) if before else None, by, "undo")
                return
        raise Unknown(f"`{name}` was not changed while this home ran: there is nothing to undo.")

    async def _save(self, name: str, value: Any, by: str, how: Any) -> None:
        environ = dict(self.now.environ)
        if name not in RAW_TABLES:
            row = _row(name)
            if row.secret:
                raise BadSettings(f"`{name}` may hold a password; set it as {row.variable}.")
            for variable in row.variables:
                environ.pop(variable, None)  # what is saved has to do without it, too
        path = self.now.data / SETTINGS
        value = value or None
        wanted = {**read_saved(path), name: value}
        wanted = {key: kept for key, kept in wanted.items() if kept is not None}
        self._check(settings_with(wanted, self.now.home, environ))
        before = save_setting(path, name, value)
        if before != value:
            told = SettingChanged(setting=name, before=_json(before), after=_json(value), how=how)
            await self._tell(told, by, partial(save_setting, path, name, before))

    async def keep_key(self, variable: str, value: str, by: str) -> None:
        """Save the key or address of a model service; "" removes it. Raises BadSettings."""
        value = value.strip()
        if objection := key_objection(variable, value):
            raise BadSettings(objection)
        keys = {**self.now.keys, variable: value, **keys_in(self.now.environ)}
        self._check(replace(self.now, keys={name: key for name, key in keys.items() if key}))
        keep = partial(save_setting, self.now.data / KEYS, variable)
        before = keep(value or None)
        told = KeyChanged(variable=variable, kept=bool(value))
        await self._tell(told, by, partial(keep, before))

    def kept_keys(self) -> list[str]:
        """The variables whose keys or addresses are saved in this home."""
        return sorted(read_saved(self.now.data / KEYS))

    async def _tell(self, body: Body, by: str, put_back: Callable[[], object]) -> None:
        """Have it take effect; where that cannot be written, the file is as it was before."""
        try:
            await self._ledger.append(STREAM, [self._stamp.fact(body, actor=by)])
        except LedgerError:
            put_back()
            raise

    # ------------------------------------------------------------ hearing of it

    async def changes(self, limit: int = 100) -> list[Event]:
        """The newest changes, the newest first."""
        return await self._ledger.read(STREAM, kinds=KINDS, newest=True, limit=limit)

    def _changed(self, _stream: str, _events: Sequence[Event]) -> None:
        now = self.now
        path = now.data / SETTINGS
        try:
            self.saved = settings_with(read_saved(path), now.home, now.environ)
        except BadSettings as error:
            log.warning("a setting was changed and cannot be read: %s", error)
            return
        found = {row.name: getattr(self.saved, row.name) for row in settings_rows() if row.live}
        raw = {table: getattr(self.saved, table) for table in RAW_TABLES}
        self.now = replace(now, **found, **raw, keys=self.saved.keys)
        for hear in self._hear:
            hear(self.now)


def _row(name: str) -> SettingsRow:
    """The row of this name. Raises Unknown."""
    known = {row.name: row for row in settings_rows()}
    if name not in known:
        near = get_close_matches(name.lower()[:80], known, 1)
        meant = f"did you mean `{near[0]}`? " if near else ""
        raise Unknown(f"There is no setting `{name}`; {meant}docs/settings.md lists them all.")
    return known[name]


def _shown(row: SettingsRow, value: Any) -> str:
    """A value in words; what may hold a password is hidden."""
    if row.secret and value and not str(value).startswith("sqlite"):
        return "(set, not shown)"
    return str(value).lower() if row.type == "bool" else str(value)


def _json(value: Any) -> Words:
    return Words("" if value is None else json.dumps(value, ensure_ascii=False))
