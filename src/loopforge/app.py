"""The composition root: Settings in, a running App out. The only place that names concrete classes.

Tests call it too, with other parts: a scripted model, a simulated clock, seeded dice.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.file_lookup import KeptRoomFiles
from loopforge.artifacts.file_retention import Keeper, Kept, sweep
from loopforge.budgets.model_usage import UsageTally, UsageView
from loopforge.chat.bot import Bot
from loopforge.chat.commands.approval_commands import ApprovalCommands
from loopforge.chat.commands.command_dispatch import Commands
from loopforge.chat.commands.query_commands import QueryCommands
from loopforge.chat.room.daily_quota import Quota
from loopforge.chat.room.guest_rules import GuestRules, handles_in
from loopforge.chat.room.member_visibility import Members
from loopforge.chat.room.platform_channels import Places
from loopforge.chat.room.room_store import House
from loopforge.chat.room_loop import Conduct
from loopforge.chat.rooms_api import Front
from loopforge.chat.server import Rooms
from loopforge.chat.service.delivery_notices import LostNotices
from loopforge.chat.service.line_deletion import Forgetting
from loopforge.chat.service.line_history import LineHistory
from loopforge.chat.service.room_closing import Closing
from loopforge.chat.speaking.room_rules import SCREEN, Rules
from loopforge.chat.speaking.triggers import SMALL, Thresholds
from loopforge.chat.turns.build_perception import Viewer
from loopforge.chat.turns.fallback_mate import Relief
from loopforge.core.mates.mate_file import for_capable, parse
from loopforge.core.policy import Policy, as_policy
from loopforge.errors import LedgerError
from loopforge.home import shipped_mates
from loopforge.io.platforms.surface_plugin import HomeParts, surfaces_of
from loopforge.live_settings import LiveSettings
from loopforge.mates.mate_cache import Cast
from loopforge.mates.mate_editing import Workshop
from loopforge.mates.mate_roster import Roster
from loopforge.mates.prompt_files import PromptBook
from loopforge.mates.version_history import Chronicle
from loopforge.models.embedded_switch import EmbeddedSwitch
from loopforge.models.embeddings.embeddings_choice import embeddings_of
from loopforge.models.files.file_shelf import file_of, is_small
from loopforge.models.model_listing import ModelsDesk
from loopforge.models.model_router import Patience, TieredModels
from loopforge.models.model_tiers import SMALL_MODEL, TierLimits, Tiers, read_tiers
from loopforge.models.null_model import Unasked
from loopforge.models.providers.embedded_install import missing
from loopforge.models.providers.embedded_model import Embedded
from loopforge.models.providers.own_servers import Catalogues
from loopforge.people.account_linking import AccountLinking
from loopforge.people.accounts.account_service import Accounts
from loopforge.people.identity.person_registry import Registry
from loopforge.people.stranger_pairing import Pairing, Strangers
from loopforge.runtime.background_tasks import Tasks
from loopforge.runtime.delivery_worker import Deliveries
from loopforge.runtime.effect_worker import Effects, EffectSite
from loopforge.runtime.local.room_pubsub import LocalSignals
from loopforge.runtime.local.stream_lanes import LocalLanes
from loopforge.runtime.local.stream_timers import LocalTimers
from loopforge.runtime.plugins.installed_plugins import installed
from loopforge.runtime.ports import Clock, Dice, Models, Pictures, Route, Surface, ToolHome
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice
from loopforge.runtime.turn_driver import Ports
from loopforge.runtime.turn_record import Recorder
from loopforge.runtime.world import Worlds
from loopforge.settings import Settings, load_settings
from loopforge.tools.shell import scratch_goes
from loopforge.tools.tool_registry import Toolbox
from loopforge.tools.tool_shortlist import Shortlist, ToolSettings

if TYPE_CHECKING:
    from loopforge.lab.run.robot_minds import Minds as LabMinds
    from loopforge.lab.verification.ledger_anchors import Witness
    from loopforge.ledger.sql_ledger import SqlLedger
    from loopforge.ledger.storage.folded_views import FoldedView
    from loopforge.people.accounts.invite_links import Links

log = logging.getLogger(__name__)
FOLLOW = 1.0
"""Seconds between two looks for what other processes wrote."""
ARTIFACTS = "artifacts"
"""The folder of kept files, in the home's data."""


def minds(prompts: Mapping[str, str]) -> dict[str, tuple[Policy, str]]:
    """Every mind that is installed, by name, with its version."""
    known = installed("loopforge.policies").values()
    return {mind.name: (as_policy(mind.make(prompts)), mind.version) for mind in known}


def choices() -> list[str]:
    """The minds a room or a mate may choose, by name."""
    known = installed("loopforge.policies").values()
    return sorted(mind.name for mind in known if not mind.hidden)


def toolbox(
    live: LiveSettings, clock: Clock, files: KeptRoomFiles, history: LineHistory
) -> Toolbox:
    """Every tool that is installed, as the settings of the home have it."""
    tools = Toolbox(Shortlist(live.now, partial(embeddings_of, live.now, clock)))

    def furnish(settings: Settings) -> None:
        tools.furnish(ToolHome(clock, settings.timezone, settings, files, history))

    furnish(live.now)
    live.follow(furnish)
    return tools


SMALL_WINDOW = 8192
"""Tokens that the small model was made for; beyond them it babbles."""


def rules_of(
    settings: Settings, surfaces: Sequence[str] = (SCREEN,), *, small: bool = False
) -> Rules:
    """The rules of rooms, from the settings, for a home whose first model is small or not."""
    speakers = settings.max_speakers
    return Rules(
        zone=ZoneInfo(settings.timezone),
        debounce=settings.debounce_seconds,
        idle=settings.idle_minutes * 60,
        steps=settings.max_steps,
        thresholds=replace(SMALL, speakers=min(1, speakers))
        if small
        else Thresholds(speakers=speakers),
        share=settings.context_share,
        low=settings.context_low_water,
        line_limit=settings.line_limit,
        say_limit=settings.say_limit,
        file_limit=settings.file_limit_bytes,
        capacity=settings.energy_capacity,
        refill=settings.energy_refill,
        bounds=settings.of("tools", ToolSettings).bounds,
        surfaces=tuple(surfaces),
        guests=GuestRules(
            mates=handles_in(settings.guest_mates),
            rooms=settings.guest_rooms,
            files=settings.guest_files,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class App(HomeParts):
    """A running Loopforge. `rooms` is what surfaces use.

    `settings` are those it began with, `live` has those in force.
    """

    settings: Settings
    live: LiveSettings
    ledger: SqlLedger
    rooms: Rooms
    lanes: LocalLanes[str]
    timers: LocalTimers
    worlds: Worlds
    models: Models
    tools: Toolbox
    roster: Roster
    accounts: Accounts
    keeper: Keeper
    closing: Closing
    forgetting: Forgetting
    chronicle: Chronicle
    usage: UsageView
    desk: ModelsDesk
    effects: Effects
    house: House
    policies: Mapping[str, tuple[Policy, str]]
    switch: EmbeddedSwitch | None = None


def views() -> tuple[FoldedView, ...]:
    """The views of a home's ledger, besides its own."""
    return (Members(), Kept(), UsageTally(), Places())


@asynccontextmanager
async def open_ledger_of(
    settings: Settings, clock: Clock | None = None, dice: Dice | None = None
) -> AsyncIterator[SqlLedger]:
    """The ledger of a home alone, for commands that only read or mend it."""
    from loopforge.ledger.sql_ledger import open_ledger

    ledger = await open_ledger(
        settings.database_url,
        clock or SystemClock(),
        dice or SystemDice(),
        views(),
        durability=settings.database_durability,
    )
    try:
        yield ledger
    finally:
        await ledger.close()


def tiers_of(settings: Settings, catalogues: Catalogues = {}) -> Tiers:  # noqa: B006
    """The ladder of models that the settings and the keys at hand give.

    `catalogues` are what servers of one's own said they have, by address.
    """
    limits = TierLimits(
        first_token_seconds=settings.model_first_token_seconds,
        total_seconds=settings.model_total_seconds,
        embedded=settings.embedded_model,
        embedded_window=window_of(settings),
        embedded_id=settings.embedded_file or SMALL_MODEL,
        embedded_small=is_small(file_of(settings.data, settings.embedded_file)),
        model=settings.server_model,
    )
    return read_tiers(settings.models, settings.tiers, settings.keys, limits, catalogues)


def window_of(settings: Settings) -> int:
    """The window of the model run here, in tokens."""
    most = settings.embedded_context
    return most if settings.embedded_file else min(most, SMALL_WINDOW)


def patience_of(settings: Settings) -> Patience:
    """How failures of a model are met."""
    return Patience(
        tries=settings.model_tries,
        wait=settings.model_backoff_seconds,
        climb=settings.model_climb_seconds,
    )


def embedded_of(dice: Dice, settings: Settings) -> Embedded:
    """The model that runs here, by its file. Not loaded yet."""
    path, most = file_of(settings.data, settings.embedded_file), settings.embedded_threads
    return Embedded(dice, window=window_of(settings), threads=most, path=path)


def open_models(
    settings: Settings, clock: Clock, dice: Dice, pictures: Pictures | None = None
) -> TieredModels:
    """The language models that the settings and the keys at hand give. Loads none of them yet."""
    return TieredModels(
        tiers_of(settings),
        clock,
        dice,
        patience=patience_of(settings),
        embedded=embedded_of(dice, settings),
        pictures=pictures,
        read=partial(tiers_of, settings),
    )


def keyed_models(settings: Settings, keys: Mapping[str, str], stamp: Stamp) -> TieredModels:
    """The models that such keys would give. Loads none of them yet."""
    return open_models(dataclasses.replace(settings, keys=keys), stamp.clock, stamp.dice)


@asynccontextmanager
async def open_app(
    settings: Settings,
    *,
    models: Models | None = None,
    clock: Clock | None = None,
    dice: Dice | None = None,
    surfaces: Mapping[str, Surface] | None = None,
    secrets: Callable[[], Collection[str]] = frozenset,
    wake: bool = True,
    follow: float = FOLLOW,
) -> AsyncIterator[App]:
    """Open a home and run it until the block ends.

    With `wake`, whatever was heard and not yet handled is handled now; the caller then holds the
    home's lock. Every `follow` seconds (0: never) it looks for what other processes wrote.
    `secrets` are asked for at each turn: mates never say them.
    """
    clock, dice, surfaces = clock or SystemClock(), dice or SystemDice(), surfaces or {}
    async with AsyncExitStack() as stack:
        ledger = await stack.enter_async_context(open_ledger_of(settings, clock, dice))
        artifacts = Artifacts(settings.data / ARTIFACTS, clock)
        if models is None:
            models = tiered = open_models(settings, clock, dice, artifacts)
            stack.push_async_callback(tiered.close)
            await tiered.learn()
            if wake:
                tiered.preload()
        if wake:
            claim = await ledger.claim("host")
            stack.push_async_callback(claim.release)
        tasks = await stack.enter_async_context(Tasks())
        app = _wired(settings, ledger, models, artifacts, clock, dice, surfaces, secrets, tasks)
        if wake and isinstance(models, TieredModels):
            switch = EmbeddedSwitch(models, app.live, partial(embedded_of, dice), tasks)
            app = dataclasses.replace(app, switch=switch)
        app.rooms.is_guest = app.accounts.is_guest
        app.keeper.on_erased(partial(scratch_goes, app.settings.home, tasks))
        stack.push_async_callback(app.house.close)
        stack.push_async_callback(app.tools.close)
        stack.push_async_callback(app.deliveries.close)
        stack.push_async_callback(app.effects.close)
        stack.push_async_callback(app.lanes.close)
        stack.push_async_callback(app.timers.close)
        await app.accounts.desk.refresh()
        await app.deliveries.start(ledger)
        if wake:
            await app.effects.start(ledger)
            await app.worlds.wake_all(app.lanes)
            await app.chronicle.look()
            app.keeper.soon()
            await app.closing.resume()
            await app.forgetting.resume()
        if wake and follow:
            tasks.spawn(_follow(app, follow), "follow")
        yield app


async def _follow(app: App, pause: float) -> None:
    """Notice what other processes (a command, another terminal's) write, and mates' files."""
    while True:
        await app.stamp.clock.sleep(pause)
        try:
            await app.ledger.follow()
            await app.chronicle.look()
        except LedgerError as error:
            log.warning("the ledger could not be followed: %s", error)


def _wired(
    settings: Settings,
    ledger: SqlLedger,
    models: Models,
    artifacts: Artifacts,
    clock: Clock,
    dice: Dice,
    surfaces: Mapping[str, Surface],
    secrets: Callable[[], Collection[str]],
    tasks: Tasks,
) -> App:
    stamp, recorder, signals = Stamp(clock, dice), Recorder(), LocalSignals()
    live = LiveSettings(settings, ledger, stamp, tiers_of)
    small = models.facts(Route()).small
    rules = rules_of(settings, (SCREEN, *surfaces), small=small)
    roster = Roster(settings.home / "mates")
    cast = Cast(roster, clock)
    house = House(ledger, signals, recorder)
    files = KeptRoomFiles(ledger, artifacts)
    tools = toolbox(live, clock, files, LineHistory(ledger, house))
    effects = Effects(ledger, tools, stamp, EffectSite(files.keep, house.present))
    ports = Ports(ledger, models, tools, effects, signals, stamp, recorder, tasks)
    policies = minds(PromptBook(settings.home / "prompts"))
    viewer = Viewer(models, tools, clock, rules, cast)
    relief = Relief(settings.fallback_mate, cast, roster.why_not, stamp, rules)
    conduct = Conduct(ledger, stamp, house, cast, rules, relief)
    bot = Bot(ports, house, conduct, viewer, cast, rules, relief)
    timers = LocalTimers(lambda stream: lanes.wake(stream), clock)
    worlds = Worlds(ports, timers, policies, [bot], lambda: untold.union(secrets(), tools.keys()))
    lanes = LocalLanes(worlds.work, clock)
    people = Registry(ledger, stamp)
    patience = timedelta(hours=settings.platform_patience_hours)
    quota = Quota(ledger, clock, *quota_of(settings))
    notice = notice_of(models)
    rooms = Rooms(ledger, house, lanes, signals, people, cast, stamp, rules, quota, notice)
    worlds.follow(lanes)
    deliveries = Deliveries(ledger, stamp, surfaces, LostNotices(house.known, cast), patience)
    accounts = Accounts(ledger, people, stamp, tasks)
    chronicle = Chronicle(ledger, roster, stamp)
    linking = AccountLinking(accounts.desk, people, clock)
    pairing = Pairing(accounts.desk, people, strangers_of(settings))
    keeper = Keeper(ledger, artifacts, tasks, clock)
    closing = Closing(ledger, rooms, house, signals, lanes, effects, tasks)
    forgetting = Forgetting(ledger, house, signals, tasks)
    usage, going = UsageView(ledger), deliveries.going
    answers = QueryCommands(rooms, ledger, models, usage, going, clock, rules, linking)
    desk = ModelsDesk(models, lambda keys: keyed_models(live.now, keys, stamp), settings.keys)
    untold = _follow_settings(live, models, rules, quota, relief, desk, accounts.links)
    approvals = ApprovalCommands(rooms, tools)
    commands = Commands(rooms, choices(), answers, Workshop(chronicle, roster), approvals)
    front = Front(rooms, commands, deliveries, ledger, closing, accounts.links)
    return App(
        settings=settings,
        live=live,
        ledger=ledger,
        front=front,
        rooms=rooms,
        lanes=lanes,
        timers=timers,
        worlds=worlds,
        models=models,
        tools=tools,
        roster=roster,
        people=people,
        accounts=accounts,
        linking=linking,
        pairing=pairing,
        artifacts=artifacts,
        keeper=keeper,
        closing=closing,
        forgetting=forgetting,
        chronicle=chronicle,
        usage=usage,
        desk=desk,
        deliveries=deliveries,
        effects=effects,
        house=house,
        stamp=stamp,
        policies=policies,
    )


def _follow_settings(
    live: LiveSettings,
    models: Models,
    rules: Rules,
    quota: Quota,
    relief: Relief,
    desk: ModelsDesk,
    links: Links,
) -> set[str]:
    """Whatever goes by settings goes by others as soon as they are changed.

    Returns the keys of model services, which mates never say, also of those there were before.
    """
    untold: set[str] = set()

    def know(keys: Mapping[str, str]) -> None:
        untold.update(key for key in keys.values() if len(key) > 11)

    def obey(settings: Settings) -> None:
        if isinstance(models, TieredModels):
            models.become(partial(tiers_of, settings), patience_of(settings))
        small = models.facts(Route()).small
        rules.become(rules_of(settings, rules.surfaces, small=small))
        quota.allow(*quota_of(settings))
        relief.fallback = settings.fallback_mate
        desk.become(settings.keys)
        know(settings.keys)
        links.inviters = settings.who_may_invite

    know(live.now.keys)
    links.inviters = live.now.who_may_invite
    live.follow(obey)
    return untold


def quota_of(settings: Settings) -> tuple[int, int, ZoneInfo]:
    """How many answers a place and a person may have in a day, and where days begin."""
    zone = ZoneInfo(settings.timezone)
    return settings.answers_per_place_a_day, settings.answers_per_person_a_day, zone


def strangers_of(settings: Settings) -> dict[str, Strangers]:
    """What strangers meet on each surface that is installed, as it is set."""
    return {
        name: Strangers(getattr(each.options, each.plugin.dm, "pairing"), each.plugin.account)
        for name, each in surfaces_of(settings).items()
    }


def notice_of(models: Models, *, owner: bool = True) -> str:
    """What people are told on entering about the model; the owner also, what to set for another."""
    facts = models.facts(Route())
    if not facts.embedded or not facts.small:
        return ""
    if isinstance(models, TieredModels) and missing() and models.embedded.path is None:
        told = "No mate can answer yet: the small model that would is not installed."
        return told + " Run `loopforge up --model`, or see Admin, Models in the browser." * owner
    told = "Answers come from a small embedded model, for trying out; it is not clever."
    more = " For a better one: Admin, Models in the browser (docs/adding-models.md)."
    return told + more * owner


# ---------------------------------------------------------------- the Factory


def lab_minds(
    settings: Settings, models: Models, model: str = "", *, fallback: bool = False
) -> LabMinds:
    """Minds for robots: these models (`model` by its name, else tier 1), prompts, and the mates.

    Another model steps in only with `fallback`. The mates are the home's; where there is no home,
    those that come along. Raises Unknown for a model that cannot be asked.
    """
    from loopforge.lab.run.pinned_model import Pinned
    from loopforge.lab.run.robot_minds import Minds, Persona

    if isinstance(models, TieredModels):
        pinned = Pinned(models)
        if model:
            pinned.named(Route(model=model))
        models = models if fallback else pinned

    if settings.file.exists():
        mates = Roster(settings.home / "mates").mates()
    else:
        shipped = [parse(text, name) for name, text in shipped_mates().items()]
        mates = {mate.handle: mate for mate in shipped}
    return Minds(
        models=models,
        route=Route(model=model),
        prompts=PromptBook(settings.home / "prompts"),
        personas={
            handle: Persona(
                for_capable(mate.prompt),
                Route(tier=mate.tier, model=model or mate.model, temperature=mate.temperature),
                mate.hash,
            )
            for handle, mate in mates.items()
        },
    )


@asynccontextmanager
async def open_minds(
    settings: Settings, model: str = "", *, fallback: bool = False
) -> AsyncIterator[LabMinds]:
    """Minds for a run of the Factory, with this home's models until the block ends."""
    models = open_models(settings, SystemClock(), SystemDice())
    try:
        await models.learn()
        yield lab_minds(settings, models, model, fallback=fallback)
    finally:
        await models.close()


@asynccontextmanager
async def open_run(
    settings: Settings,
    folder: Path,
    *,
    asks: bool,
    model: str = "",
    fallback: bool = False,
    resumed: bool = False,
) -> AsyncIterator[tuple[LabMinds, Witness | None]]:
    """What a run in this folder needs: minds, which ask models or do not, and the ledger's witness.

    Where there is no home, nobody takes note of the run but its own folder.
    """
    from loopforge.lab.run.robot_minds import Minds
    from loopforge.lab.verification.ledger_anchors import Witness

    async with AsyncExitStack() as stack:
        minds = Minds()
        if asks:
            opened = open_minds(settings, model, fallback=fallback)
            minds = await stack.enter_async_context(opened)
        witness = None
        if settings.file.exists():
            settings.data.mkdir(0o700, exist_ok=True)
            ledger = await stack.enter_async_context(open_ledger_of(settings))
            stamp = Stamp(SystemClock(), SystemDice())
            witness = Witness(ledger, stamp, folder, resumed=resumed)
            stack.callback(witness.close)
        yield minds, witness


def worker_minds(home: str, model: str = "", *, fallback: bool = False) -> LabMinds:
    """The same for a worker of a sweep, which opens them by itself and ends with its process."""
    settings = load_settings(Path(home))
    models = open_models(settings, SystemClock(), SystemDice())
    if models.tiers.servers:
        asyncio.run(models.learn())
    return lab_minds(settings, models, model, fallback=fallback)


# ---------------------------------------------------------------- single commands


def open_aside(settings: Settings) -> AbstractAsyncContextManager[App]:
    """A home for one command, beside the host that may run it: no model, and nobody is woken."""
    return open_app(settings, models=Unasked(), wake=False)


async def sweep_files(settings: Settings, ledger: SqlLedger) -> int:
    """Delete the kept files that nothing holds any more, of a home that does not run."""
    return len(await sweep(ledger, Artifacts(settings.data / ARTIFACTS, SystemClock())))
