"""Where else mates talk and their ledger goes: surfaces, sinks, and the bots of platforms."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from loopforge.cli.health_checks.health_finding import STATES, DoctorFinding, note, ok, wrong
from loopforge.errors import BadSettings, LoopforgeError

if TYPE_CHECKING:
    from loopforge.io.platforms.bot_tokens import BotAccount
    from loopforge.io.platforms.surface_plugin import AccountFinding as Seen
    from loopforge.io.platforms.surface_plugin import InstalledSurface, Surfaces
    from loopforge.setting_defaults import Settings


def check_plugins(settings: Settings) -> Iterator[DoctorFinding]:
    """The surfaces that are installed, and the sinks that are wanted."""
    from loopforge.io.platforms.surface_plugin import surfaces_of
    from loopforge.sinks.sink_plugin import sinks_of

    yield ok("surfaces", f"{', '.join(surfaces_of(settings))}.")
    try:
        sinks = [each.name for each in sinks_of(settings)]
    except BadSettings as error:
        yield wrong("sinks", str(error), "Then ask the doctor again; its places were not asked.")
        return
    if sinks:
        yield ok("sinks", f"{', '.join(sinks)}.")


def check_external_places(settings: Settings) -> Iterator[DoctorFinding]:
    """The real places of sinks, the intake, backups and workspaces: there, as must be, allowed."""
    from loopforge.sinks.queue_intake import examine_intake
    from loopforge.sinks.sink_plugin import sinks_of

    with suppress(BadSettings):  # said by `check_plugins`
        for one in sinks_of(settings):
            for each in one.plugin.examine(one.choice):
                yield DoctorFinding(one.name, STATES[each.state], each.said, each.mend)
    for each in examine_intake(settings):
        yield DoctorFinding("intake", STATES[each.state], each.said, each.mend)
    yield from _buckets(settings)


def _buckets(settings: Settings) -> Iterator[DoctorFinding]:
    from loopforge.backup.backup_store import BackupStore
    from loopforge.runtime.system_clock import SystemClock
    from loopforge.work.workspace.workspace_checkpoints import CheckpointArchive
    from loopforge.work.workspace.workspace_settings import WorkspaceSettings

    looks: list[tuple[str, str, Callable[[], Coroutine[None, None, Sequence[object]]]]] = []
    if "://" in (backups := settings.backup_to):
        looks.append((backups, "with {} backups", BackupStore(backups, SystemClock()).names))
    if bucket := settings.of("workspace", WorkspaceSettings).bucket:
        listed = partial(CheckpointArchive(bucket).numbers, "doctor")
        looks.append((bucket, "for the workspaces of tasks", listed))
    for where, said, look in looks:
        try:
            count = len(asyncio.run(look()))
        except LoopforgeError as error:
            mend = "Make the bucket, or check its name, AWS_REGION, the keys, and s3:ListBucket."
            yield wrong("bucket", str(error), mend)
        else:
            yield ok("bucket", f"{where} answers, {said.format(count)}.")


def check_accounts(
    settings: Settings, *, offline: bool = False, surfaces: Surfaces | None = None
) -> Iterator[DoctorFinding]:
    """The bots by which mates talk on platforms. Says no token."""
    from loopforge.io.platforms.bot_tokens import EVERYBODY, BotTokens
    from loopforge.io.platforms.surface_plugin import surfaces_of
    from loopforge.mates.mate_roster import MateRoster

    surfaces = surfaces or surfaces_of(settings)
    known = MateRoster(settings.home / "mates").mates()
    try:
        found = BotTokens(settings.data, settings.tokens).weighed()
    except BadSettings as error:
        yield wrong("accounts", str(error), "Then ask the doctor again.")
        return
    for account, same in found:
        who = "all mates" if EVERYBODY in account.mates else ", ".join(account.mates)
        there = surfaces.get(account.platform)
        if there is None or there.plugin.bots is None:
            whose = "all" if EVERYBODY in account.mates else account.mates[0]
            mend = f"Install it, or `loopforge mate disconnect {whose} --from {account.platform}`."
            said = f"by {account.source}: no such surface is installed."
            yield wrong(f"{account.platform} ({who})", said, mend)
            continue
        check = f"{there.plugin.title} ({who})"
        if same or (why := account.amiss(known)):
            yield wrong(check, *_misplaced(account, same or why))
        if same:
            continue
        own = there.elsewhere
        by = f"{account.source}, at {own}" if own else account.source
        if offline:
            yield note(check, f"by {by}; not asked.")
            continue
        if own:
            setting = f"{there.name}_{there.plugin.bots.server}"
            yield ok(check, f"by {by} ({setting}).")
        for each in _visited(account, there):
            yield DoctorFinding(check, STATES[each.state], each.said, each.mend)


def _misplaced(account: BotAccount, why: str) -> tuple[str, str]:
    """What is said of an account that nobody can talk by, and what to do about it."""
    from loopforge.io.platforms.bot_tokens import FILE

    who, platform = account.mates[0], account.platform
    end = f"unset {account.source}"
    if account.source == FILE:
        end = f"`loopforge mate disconnect {who} --from {platform}`"
    if why.startswith("no such mate"):
        return f"by {account.source}: {why}.", f"`loopforge mate new {who}` makes it; else {end}."
    mend = f"Give {who} a bot of its own, or let several speak by one (docs/{platform}.md); {end}."
    return f"by {account.source}: {why}, so it is passed over.", mend


def _visited(account: BotAccount, there: InstalledSurface) -> Sequence[Seen]:
    """What a platform says of an account; that it cannot be reached is no fault of the home's."""
    from loopforge.errors import NotLetIn, Unreachable
    from loopforge.io.bot_connecting import check_bot_account
    from loopforge.io.platforms.bot_tokens import FILE as KEPT
    from loopforge.io.platforms.surface_plugin import AccountFinding as Seen

    try:
        return asyncio.run(check_bot_account(account, there)).findings
    except NotLetIn as error:
        again = "Then connect it anew: `loopforge mate connect`."
        mend = again if account.source == KEPT else f"Then set {account.source} anew."
        return [Seen("bad", str(error), mend)]
    except Unreachable as error:
        return [Seen("warn", str(error), "")]
