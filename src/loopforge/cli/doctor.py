"""loopforge doctor: what is missing or wrong in this home, and how to mend it.

Each examination gives findings; a finding is right, wrong, or a note. It changes nothing. An
examination that cannot be made, because an earlier one found the ground missing, is left out.
The only ones who are asked over the network are the platforms that mates are connected to, and
servers of one's own for their lists of models; `--offline` leaves that out.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import re
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from loopforge.errors import BadSettings, LoopforgeError, ModelError

if TYPE_CHECKING:
    from loopforge.io.platforms.account_findings import AccountFinding as Seen
    from loopforge.io.platforms.bot_tokens import BotAccount
    from loopforge.io.platforms.surface_plugin import InstalledSurface, Surfaces
    from loopforge.models.model_tiers import Tiers
    from loopforge.settings_table import Settings

State = Literal["ok", "note", "wrong"]
SIGNS: dict[State, str] = {"ok": "ok   ", "note": "note ", "wrong": "WRONG"}
STATES: dict[str, State] = {"ok": "ok", "warn": "note", "bad": "wrong"}
"""Of findings about accounts."""
SCARCE = 200 * 1024 * 1024
"""Bytes of free disk below which a home is in danger."""
OLD = timedelta(days=14)
"""Since the last backup of a home that makes none by itself."""
STARTING = 120
"""Seconds that a host may take to open its door: a long ledger, a slow machine."""
CLOSING = 5.0
"""Seconds that a host may go on holding its home after it closed its door."""
NARROW, SHORT = 60, 12
"""Columns and rows a terminal should have for the room."""


@dataclass(frozen=True)
class DoctorFinding:
    """One thing that was looked at. `mend` says what to do about it."""

    check: str
    state: State
    said: str
    mend: str = ""


def ok(check: str, said: str) -> DoctorFinding:
    """All is well with it."""
    return DoctorFinding(check, "ok", said)


def note(check: str, said: str, mend: str = "") -> DoctorFinding:
    """Something to know."""
    return DoctorFinding(check, "note", said, mend)


def wrong(check: str, said: str, mend: str) -> DoctorFinding:
    """Something to mend."""
    return DoctorFinding(check, "wrong", said, mend)


def command(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    offline: Annotated[
        bool,
        typer.Option("--offline", help="Ask no platform, nor any model's server."),
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Name each model that wants a key, and which key.")
    ] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="Look at tables, queues and buckets, and try the rights.")
    ] = False,
) -> None:
    """Say what is missing or wrong, and how to mend it. Exits with 1 if anything is."""
    everything = everything or as_json
    home = context.find_root().obj
    findings = list(examine(home, offline=offline, everything=everything, deep=deep))
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            show(finding.state, f"{finding.check}: {finding.said}", finding.mend)
    bad = sum(finding.state == "wrong" for finding in findings)
    if not as_json:
        typer.echo(f"\n{bad} wrong." if bad else "\nAll is well.")
    if bad:
        raise typer.Exit(1)


def show(state: State, said: str, mend: str) -> None:
    """Print what was found."""
    typer.echo(f"{SIGNS[state]}  {said}")
    if mend:
        typer.echo(f"       -> {mend}")


def examine(
    home: Path | None = None,
    *,
    offline: bool = False,
    everything: bool = False,
    deep: bool = False,
) -> Iterator[DoctorFinding]:
    """Look at everything, from the ground up."""
    yield from python()
    try:
        from loopforge.settings import load_settings

        settings = load_settings(home)
    except BadSettings as error:
        yield wrong("settings", str(error), "Correct it, then ask the doctor again.")
        return
    yield from told(settings)
    examinations: tuple[Callable[[Settings], Iterator[DoctorFinding]], ...] = (
        folder,
        disk,
        database,
        partial(models, offline=offline, everything=everything),
        partial(mates, offline=offline),
        prompts,
        services,
        installed,
        partial(accounts, offline=offline),
        host,
        backups,
        sandbox,
        *((elsewhere,) if deep else ()),
    )
    for look in examinations:
        yield from look(settings)
    yield from terminal()


# ---------------------------------------------------------------- the ground


def python() -> Iterator[DoctorFinding]:
    """The interpreter, and the packages Loopforge needs."""
    from importlib.metadata import PackageNotFoundError, requires, version

    from loopforge.runtime.installation.extras import EXTRAS, lacking

    yield ok("python", platform.python_version())
    missing = []
    for need in requires("loopforge-city") or ():
        if "extra ==" in need:
            continue
        name = re.split(r"[\[<>=!~; ]", need)[0]
        try:
            version(name)
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        yield wrong("packages", f"missing: {', '.join(missing)}.", "Run make install.")
    if absent := [extra for extra in EXTRAS if lacking(extra)]:
        yield ok("extras", f"left out: {', '.join(absent)}. `make install-all` gets them.")


def told(settings: Settings) -> Iterator[DoctorFinding]:
    """What is set, and from where; what looks like a setting and is none."""
    from loopforge.settings import SAVED

    given = [
        f"{name} ({source})" for name, source in settings.sources.items() if source != "default"
    ]
    yield ok("settings", f"set: {', '.join(given)}." if given else "all at default.")
    for stray in settings.strays:
        yield wrong(
            "settings",
            f"{'the variable' if stray.isupper() else f'in {SAVED},'} {stray} is no setting.",
            "Take it away, or look for the right name in docs/settings.md.",
        )
    machine = "the machine's" if settings.sources["timezone"] == "default" else "as set"
    yield ok("time zone", f"{settings.timezone}, {machine}.")


def folder(settings: Settings) -> Iterator[DoctorFinding]:
    """The home and whether it can be written."""
    home = settings.home
    if not settings.file.exists():
        yield wrong(
            "home",
            f"{home} is no home yet: it has no {settings.file.name}.",
            "`loopforge up` makes it; or name another with --home or LOOPFORGE_HOME.",
        )
        return
    for path in (home, settings.data):
        if path.exists() and not os.access(path, os.W_OK | os.X_OK):
            yield wrong("home", f"{path} cannot be written.", f"chown or chmod it: {path}")
            return
    yield ok("home", str(home))


def disk(settings: Settings) -> Iterator[DoctorFinding]:
    """Room on the disk that holds the home."""
    there = next(path for path in (settings.data, *settings.data.parents) if path.exists())
    free = shutil.disk_usage(there).free
    said = f"{free / 2**30:.1f} GiB free."
    if free < SCARCE:
        yield wrong("disk", said, f"Make room on the disk that holds {there}.")
    else:
        yield ok("disk", said)


# ---------------------------------------------------------------- the ledger


def database(settings: Settings) -> Iterator[DoctorFinding]:
    """Whether the database answers, and whether its schema is this program's."""
    url = settings.database_url
    path = Path(url.partition(":///")[2])
    place = str(path) if url.startswith("sqlite") else re.sub(r"//[^@/]*@", "//", url)
    if url.startswith("sqlite") and not path.exists():
        yield note("database", f"{place} is not there yet; the first start makes it.")
        return
    from loopforge.ledger.schema_migration import status
    from loopforge.memory.candidates.pgvector_index import recall_way
    from loopforge.memory_opening import in_database

    try:
        stands = status(url)
        wanted = in_database(settings) and stands == "ok"
        said, mend = recall_way(url) if wanted else ("", "")
    except LoopforgeError as error:
        yield wrong("database", str(error), f"Check `database_url`: {place}")
        return
    yield ok("database", f"{place} answers.")
    if said:
        yield note("memory", said, mend)
    match stands:
        case "ok":
            yield ok("migrations", "the schema is this program's.")
        case "empty":
            yield note("migrations", "the database is empty; the first start fills it.")
        case "behind":
            yield wrong("migrations", "the schema is older.", "Run `loopforge ledger migrate`.")
        case "ahead":
            yield wrong(
                "migrations",
                "the schema is newer than this program.",
                "Use the newer Loopforge that made it.",
            )


# ---------------------------------------------------------------- who thinks


def models(
    settings: Settings, *, offline: bool = False, everything: bool = False
) -> Iterator[DoctorFinding]:
    """The embedded model, the keys, what servers of one's own have, and which tiers they serve."""
    if settings.embedded_model:
        yield from embedded()
    if settings.keys:
        yield ok("keys", ", ".join(f"{name} is set" for name in sorted(settings.keys)))
    try:
        tiers = _tiers(settings, offline=offline)
    except BadSettings as error:
        yield wrong("models", str(error), "Correct it; see docs/adding-models.md.")
        return
    for each in tiers.notes():
        yield DoctorFinding("models", each.state, each.said, each.mend)
    if not tiers.models:
        yield wrong(
            "models",
            "no model can be used.",
            "Set a key (docs/adding-models.md), or embedded_model = true.",
        )
    for line in (*tiers.describe(), *(tiers.wanting() if everything else ())):
        yield note("models", line)
    if tiers.missing and not everything:
        count = len(tiers.missing)
        more = "1 more model wants" if count == 1 else f"{count} more models want"
        yield note("models", f"{more} a key first; `loopforge doctor --all` lists them.")


def embedded() -> Iterator[DoctorFinding]:
    """The program that runs the embedded model, and the model's file."""
    from importlib.util import find_spec

    from loopforge.models.providers.embedded_model import weights

    mend = "Run `loopforge up --model`, or set embedded_model = false."
    if find_spec("xllamacpp") is None:
        yield wrong("embedded model", "xllamacpp is missing.", "Run pip install xllamacpp.")
        return
    try:
        file = weights()
    except ModelError as error:
        yield wrong("embedded model", str(error), mend)
        return
    size = file.stat().st_size / 1e6
    yield ok("embedded model", f"{file.stem}, {size:.0f} MB.")


def _tiers(settings: Settings, *, offline: bool) -> Tiers:
    """The tiers, with what servers of one's own say they have, unless nobody is to be asked."""
    from loopforge.models.providers.server_catalogue import fetch
    from loopforge.models_opening import tiers_of

    tiers = tiers_of(settings)
    if offline or not tiers.servers:
        return tiers

    async def asked() -> Tiers:
        found = await asyncio.gather(*(fetch(one.address, one.key) for one in tiers.servers))
        addresses = [one.address for one in tiers.servers]
        return tiers_of(settings, dict(zip(addresses, found, strict=True)))

    return asyncio.run(asked())


def mates(settings: Settings, *, offline: bool = False) -> Iterator[DoctorFinding]:
    """Every mate file: its flaws by line, and whether the model it wants can be had."""
    from loopforge.mates.mate_roster import Roster

    roster = Roster(settings.home / "mates")
    for problem in roster.problems():
        yield wrong("mates", f"{problem}.", "Correct it; that applies at once.")
    there = roster.mates().values()
    for mate in there:
        if mate.model and (why := _objection(settings, mate.model, offline=offline)):
            mend = "Choose another in its file, or set that; its tier's models answer meanwhile."
            yield wrong("mates", f"{mate.handle} wants {mate.model}: {why}.", mend)
    if there:
        names = ", ".join(mate.handle for mate in there)
        yield ok("mates", f"{len(there)} can talk: {names}.")
    elif settings.file.exists():
        yield wrong("mates", "nobody can talk.", "`loopforge mate new NAME` makes one.")


def _objection(settings: Settings, model: str, *, offline: bool) -> str:
    try:
        return _tiers(settings, offline=offline).objection(model)
    except BadSettings:
        return ""  # found already


def prompts(settings: Settings) -> Iterator[DoctorFinding]:
    """The home's own prompts: each must bear the name of a shipped one."""
    from loopforge.mates.prompt_files import PromptBook

    known = set(PromptBook())
    own = sorted((settings.home / "prompts").glob("*.md"))
    for path in own:
        if path.stem not in known and path.name != "README.md":
            yield wrong(
                "prompts",
                f"{path} is used by nobody.",
                f"Name it like a shipped one: {', '.join(sorted(known))}.",
            )
    used = [path.name for path in own if path.stem in known]
    if used:
        yield ok("prompts", f"your own: {', '.join(used)}.")


def services(settings: Settings) -> Iterator[DoctorFinding]:
    """Tools that files of the home describe: each must be whole, and have its keys."""
    from loopforge.tools.tool_files import described

    found = described(settings)
    for flaw in found.flaws:
        yield wrong("tools", flaw, "docs/tools.md says what such a file holds.")
    if found.tools:
        names = ", ".join(tool.name for tool, _ in found.tools)
        yield ok("tools", f"described in files: {names}.")


def sandbox(_: Settings) -> Iterator[DoctorFinding]:
    """Whether programs can be confined on this machine: one that does nothing is run."""
    from tempfile import TemporaryDirectory

    from loopforge.tools.sandbox.bubblewrap import Sandbox, find_bubblewrap, make_workspace
    from loopforge.tools.sandbox.confined_process import why_unconfined

    with TemporaryDirectory() as place:
        why = asyncio.run(why_unconfined(Sandbox(make_workspace(Path(place)))))
    if why:
        yield note("sandbox", why, "Until then no tool runs a program; all else works.")
    else:
        yield ok("sandbox", f"programs can be confined, by {find_bubblewrap()}.")


# ---------------------------------------------------------------- where else mates talk


def installed(settings: Settings) -> Iterator[DoctorFinding]:
    """The surfaces that are installed, and the sinks that are wanted."""
    from loopforge.io.platforms.surface_plugin import surfaces_of
    from loopforge.sinks.sink_plugin import sinks_of

    yield ok("surfaces", f"{', '.join(surfaces_of(settings))}.")
    if sinks := [each.name for each in sinks_of(settings)]:
        yield ok("sinks", f"{', '.join(sinks)}.")


def elsewhere(settings: Settings) -> Iterator[DoctorFinding]:
    """The real places that sinks, the intake and backups use: there, as they must be, allowed."""
    from loopforge.sinks.queue_intake import examined
    from loopforge.sinks.sink_plugin import sinks_of

    for one in sinks_of(settings):
        for each in one.plugin.examine(one.choice):
            yield DoctorFinding(one.name, STATES[each.state], each.said, each.mend)
    for each in examined(settings):
        yield DoctorFinding("intake", STATES[each.state], each.said, each.mend)
    if "://" in settings.backup_to:
        from loopforge.backup.backup_store import BackupStore
        from loopforge.runtime.system_clock import SystemClock

        try:
            count = len(asyncio.run(BackupStore(settings.backup_to, SystemClock()).names()))
        except LoopforgeError as error:
            mend = "Make the bucket, or check its name, AWS_REGION, the keys, and s3:ListBucket."
            yield wrong("bucket", str(error), mend)
        else:
            yield ok("bucket", f"{settings.backup_to} answers, with {count} backups.")


def accounts(
    settings: Settings, *, offline: bool = False, surfaces: Surfaces | None = None
) -> Iterator[DoctorFinding]:
    """The bots by which mates talk on platforms. Says no token."""
    from loopforge.io.platforms.bot_tokens import EVERYBODY, BotTokens
    from loopforge.io.platforms.surface_plugin import surfaces_of
    from loopforge.mates.mate_roster import Roster

    surfaces = surfaces or surfaces_of(settings)
    known = Roster(settings.home / "mates").mates()
    try:
        found = BotTokens(settings.data, settings.tokens).weighed()
    except BadSettings as error:
        yield wrong("accounts", str(error), "Then ask the doctor again.")
        return
    for account, same in found:
        who = "all mates" if EVERYBODY in account.mates else ", ".join(account.mates)
        there = surfaces.get(account.platform)
        if there is None or there.plugin.bots is None:
            mend = f"Install it, or `loopforge mate disconnect {account.mates[0]}`."
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
    from loopforge.io.bot_connecting import looked_at
    from loopforge.io.platforms.account_findings import AccountFinding as Seen
    from loopforge.io.platforms.bot_tokens import FILE as KEPT

    try:
        return asyncio.run(looked_at(account, there)).findings
    except NotLetIn as error:
        again = "Then connect it anew: `loopforge mate connect`."
        mend = again if account.source == KEPT else f"Then set {account.source} anew."
        return [Seen("bad", str(error), mend)]
    except Unreachable as error:
        return [Seen("warn", str(error), "")]


# ---------------------------------------------------------------- who runs it, who looks at it


def backups(settings: Settings) -> Iterator[DoctorFinding]:
    """Whether there is a backup, and whether it is old."""
    from loopforge.backup.make_backup import last_backup
    from loopforge.runtime.system_clock import SystemClock

    if (last := last_backup(settings)) is None:
        mend = "`loopforge backup FOLDER` makes one; where `backup_to` is set, the home does."
        yield note("backups", "none was made yet.", mend)
        return
    age = SystemClock().now() - last.at
    said = f"the last one is of {last.at:%d %b %Y %H:%M} UTC, in {last.where}."
    if settings.backup_to and age > 2 * timedelta(hours=settings.backup_every_hours):
        mend = "Run the home, which makes them, or look in data/logs why it could not."
        yield wrong("backups", f"{said} That is too old.", mend)
    elif age > OLD:
        yield note("backups", f"{said} That is old.", f"`loopforge backup {last.where}`")
    else:
        yield ok("backups", said)


def host(settings: Settings, patience: float = CLOSING) -> Iterator[DoctorFinding]:
    """Whether a process runs this home, and whether terminals reach it.

    One that just begins, or just ends, is healthy: it is waited for, or said to begin.
    """
    from loopforge.host_lock import held_for, holder
    from loopforge.io.socket.socket_address import SocketAddress
    from loopforge.runtime.system_clock import SystemClock

    try:
        path = SocketAddress(settings.data, settings.host_socket).path()
    except BadSettings as error:
        yield wrong("host", str(error), "Change host_socket in loopforge.toml.")
        return
    clock = SystemClock()
    until = clock.ticks() + patience
    while (process := holder(settings.home)) is not None and not (answers := _answers(path)):
        if (held := held_for(settings.home, clock)) < STARTING or clock.ticks() > until:
            break
        time.sleep(0.1)
    if process is None:
        yield note("host", "nobody runs this home now; `loopforge up` does.")
    elif answers:
        yield ok("host", f"process {process} runs this home.")
    elif held < STARTING:
        said = f"process {process} took this home {held:.0f} s ago and is starting."
        yield note("host", said, "Ask the doctor again in a moment.")
    else:
        yield wrong(
            "host",
            f"process {process} holds this home, but {path} does not answer.",
            f"If it does not answer soon, end it: kill {process}",
        )


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.settimeout(2)
        try:
            caller.connect(os.fspath(path))
        except OSError:
            return False
        return True


def terminal() -> Iterator[DoctorFinding]:
    """Size and encoding of the terminal; without one, the plain form is used."""
    if not sys.stdout.isatty():
        yield note("terminal", "none here; `loopforge chat` takes its plain form.")
        return
    columns, lines = shutil.get_terminal_size()
    said = f"{columns} x {lines}, {sys.stdout.encoding}."
    if columns < NARROW or lines < SHORT:
        mend = f"Make it at least {NARROW} x {SHORT}."
        yield wrong("terminal", said, mend)
    elif sys.stdout.encoding.lower().replace("-", "") != "utf8":
        yield wrong("terminal", said, "Use a UTF-8 locale, such as LANG=C.UTF-8.")
    else:
        yield ok("terminal", said)
