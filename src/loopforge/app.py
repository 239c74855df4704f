"""The composition root: Settings in, a running App out. The only place that names concrete classes.

Tests call it too, with other parts: a scripted model, a simulated clock, seeded dice.
"""

import dataclasses
import logging
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from loopforge import memory_opening
from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.file_lookup import KeptRoomFiles
from loopforge.artifacts.file_retention import FileSweeper
from loopforge.budgets.budget_book import BudgetBook, BudgetRules, by_default
from loopforge.budgets.budget_reservation import Budgets
from loopforge.budgets.metered_ports import MeteredModels, MeteredTools
from loopforge.budgets.model_usage import UsageView
from loopforge.chat.bot import Bot
from loopforge.chat.commands.command_dispatch import Commands
from loopforge.chat.commands.query_commands import QueryCommands
from loopforge.chat.remembering.note_taking import NoteWorld
from loopforge.chat.reminders.due_reminders import DueReminders
from loopforge.chat.reminders.reminder_service import ReminderRules, ReminderService
from loopforge.chat.reminders.reminder_tools import ReminderTools
from loopforge.chat.reminders.unprompted_turns import UnpromptedTurns
from loopforge.chat.room.daily_quota import Quota
from loopforge.chat.room.guest_rules import GuestRules, handles_in
from loopforge.chat.room.room_store import RoomStore
from loopforge.chat.room_loop import RoomLoop
from loopforge.chat.rooms_api import RoomsApi
from loopforge.chat.server import Rooms
from loopforge.chat.service.closed_accounts import ClosedAccounts
from loopforge.chat.service.delivery_notices import DeliveryNotices
from loopforge.chat.service.history_access import LineHistory
from loopforge.chat.service.line_deletion import LineDeletion
from loopforge.chat.service.mate_questions import ASK_MATE, MateQuestions
from loopforge.chat.service.memory_notice import MemoryNotice
from loopforge.chat.service.memory_visibility import usable_spans
from loopforge.chat.service.memory_wishes import MemoryWishes
from loopforge.chat.service.room_closing import RoomClosing
from loopforge.chat.service.room_invites import TakenInvites
from loopforge.chat.service.trait_tool import PROPOSE_TRAIT, TraitTool
from loopforge.chat.speaking.room_rules import SCREEN, RoomRules
from loopforge.chat.speaking.triggers import SMALL, TriggerThresholds
from loopforge.chat.turns.build_perception import PerceptionBuilder
from loopforge.chat.turns.fallback_mate import FallbackMate
from loopforge.chat.turns.program_calls import ProgramCalls
from loopforge.chat.turns.tool_questions import ToolQuestions
from loopforge.chat.turns.turn_recall import TurnRecall
from loopforge.command_opening import more_commands
from loopforge.core.egress.egress_filter import SHORTEST_KEY
from loopforge.core.policy import Mind, Policy, as_policy
from loopforge.errors import BadSettings, LedgerError, LoopforgeError
from loopforge.io.platforms.surface_plugin import HomeParts, strangers_of
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger.storage.process_follow import FOLLOW
from loopforge.ledger_opening import (
    ARTIFACTS,
    beside_host,
    open_ledger_of,
    sweep_idle_home,
)
from loopforge.live_settings import LiveSettings
from loopforge.mates.mate_editing import MateEditing, MateGrowth, growth_of
from loopforge.mates.mate_roster import MateCache, MateRoster
from loopforge.mates.prompt_files import PromptFiles
from loopforge.mates.version_history import VersionHistory
from loopforge.models.embedded_switch import EmbeddedSwitch
from loopforge.models.model_listing import ModelListing
from loopforge.models.model_router import TieredModels
from loopforge.models.null_model import NullModels
from loopforge.models.transcription.transcription_settings import TranscriptionSettings
from loopforge.models_opening import (
    embedded_of,
    keyed_models,
    notice_of,
    open_models,
    patience_of,
    tiers_of,
)
from loopforge.people.account_linking import AccountLinking
from loopforge.people.accounts.access_links import AccessLinks
from loopforge.people.accounts.account_service import Accounts
from loopforge.people.identity.person_registry import PersonRegistry
from loopforge.people.stranger_pairing import StrangerPairing
from loopforge.runtime.background_tasks import BackgroundTasks, SetbackLog
from loopforge.runtime.delivery_worker import Deliveries
from loopforge.runtime.effects.effect_worker import Effects
from loopforge.runtime.effects.late_results import LateResults
from loopforge.runtime.effects.nested_calls import InnerSites
from loopforge.runtime.local.room_pubsub import LocalSignals
from loopforge.runtime.local.stream_lanes import LocalLanes, LocalTimers
from loopforge.runtime.plugins.installed_plugins import load_plugins, make_plugin
from loopforge.runtime.ports import (
    Clock,
    Dice,
    EffectSite,
    Embeddings,
    Models,
    Route,
    Surface,
    ToolHome,
)
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice
from loopforge.runtime.turn_driver import TurnPorts
from loopforge.runtime.turn_record import Recorder
from loopforge.runtime.world import Worlds
from loopforge.setting_defaults import Settings
from loopforge.settings import secret_values
from loopforge.tools.sandbox.call_workspace import forget_workspaces_later
from loopforge.tools.tool_registry import ToolRegistry
from loopforge.tools.tool_shortlist import ToolSettings, ToolShortlist
from loopforge.work.work_parts import WorkParts, work_parts
from loopforge.work_opening import task_memory, threads_of

log = logging.getLogger(__name__)
MINDS = "loopforge.policies"


def build_policies(
    prompts: Mapping[str, str], *, robots: bool = False
) -> dict[str, tuple[Policy, str]]:
    """Every mind that is installed, by name, with its version; those for `robots` alone."""
    return {
        name: (as_policy(make_plugin(MINDS, name, partial(mind.make, prompts))), mind.version)
        for name, mind in installed_minds().items()
        if mind.robots or not robots
    }


def _minds_of(settings: Settings, clock: Clock) -> dict[str, tuple[Policy, str]]:
    return build_policies(PromptFiles(settings.home / "prompts", clock))


def selectable_minds() -> list[str]:
    """The minds a room or a mate may choose, by name."""
    return sorted(name for name, mind in installed_minds().items() if not mind.hidden)


def installed_minds() -> dict[str, Mind]:
    """Every mind, by name. Raises BadSettings for what is none, or has the name of another."""
    found: dict[str, Mind] = {}
    for entry, mind in load_plugins(MINDS).items():
        if not isinstance(mind, Mind) or not str(mind.version).partition("/")[0].strip():
            raise BadSettings(
                f"The plugin {entry!r} of loopforge.policies is no mind, such as "
                f"Mind('{entry}/1', make). Mend or uninstall that package."
            )
        if mind.name in found:
            raise BadSettings(
                f"Two minds that are installed are called {mind.name!r}. Give one another name, "
                "or uninstall its package."
            )
        found[mind.name] = mind
    return found


def toolbox(
    live: LiveSettings,
    clock: Clock,
    files: KeptRoomFiles,
    history: LineHistory,
    models: Models,
    vectors: Callable[[], Embeddings],
) -> ToolRegistry:
    """Every tool that is installed, as the settings of the home have it."""
    tools = ToolRegistry(ToolShortlist(live.now, vectors))

    def furnish(settings: Settings) -> None:
        tools.furnish(ToolHome(clock, settings.timezone, settings, files, history, models))

    furnish(live.now)
    live.follow(furnish)
    return tools


def _hours_of(live: LiveSettings) -> Callable[[], int]:
    """For how long a tool that asks first waits for a yes, as it is set now."""
    return lambda: live.now.of("tools", ToolSettings).question_hours


def rules_of(
    settings: Settings, surfaces: Sequence[str] = (SCREEN,), *, small: bool = False
) -> RoomRules:
    """The rules of rooms, from the settings, for a home whose first model is small or not."""
    speakers = settings.max_speakers
    return RoomRules(
        zone=ZoneInfo(settings.timezone),
        debounce=settings.debounce_seconds,
        idle=settings.idle_minutes * 60,
        steps=settings.max_steps,
        thresholds=replace(SMALL, speakers=min(1, speakers))
        if small
        else TriggerThresholds(speakers=speakers),
        share=settings.context_share,
        low=settings.context_low_water,
        line_limit=settings.line_limit,
        say_limit=settings.say_limit,
        file_limit=settings.file_limit_bytes,
        capacity=settings.energy_capacity,
        refill=settings.energy_refill,
        bounds=settings.of("tools", ToolSettings).bounds,
        reminders=settings.reminders_a_person,
        transcriber=settings.of("transcription", TranscriptionSettings).model,
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
    worlds: Worlds
    models: Models
    tools: ToolRegistry
    keeper: FileSweeper
    closing: RoomClosing
    forgetting: LineDeletion
    wishes: MemoryWishes
    notes: NoteWorld
    growth: MateGrowth
    usage: UsageView
    budgets: Budgets
    listing: ModelListing
    effects: Effects
    book: ReminderService
    memory: memory_opening.RoomMemory
    work: WorkParts
    switch: EmbeddedSwitch | None = None

    @property
    def house(self) -> RoomStore:
        """What its rooms are folded to."""
        return self.rooms.house

    @property
    def roster(self) -> MateRoster:
        """The files of its mates."""
        return self.growth.roster

    @property
    def chronicle(self) -> VersionHistory:
        """The versions of those files."""
        return self.growth.chronicle

    @property
    def policies(self) -> Mapping[str, tuple[Policy, str]]:
        """Minds by name, each with its version."""
        return self.worlds.policies


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
            await ledger.write_anew()
        tasks = await stack.enter_async_context(BackgroundTasks())
        app = _wire(settings, ledger, models, artifacts, surfaces, secrets, tasks)
        if wake and isinstance(models, TieredModels):
            switch = EmbeddedSwitch(models, app.live, partial(embedded_of, dice), tasks)
            app = dataclasses.replace(app, switch=switch)
        app.rooms.is_guest = app.accounts.is_guest
        asking = MateQuestions(app.rooms, app.house, ledger, app.stamp, app.lanes.wake)
        app.tools.add(ASK_MATE, asking.ask)
        asked = TraitTool(app.growth.traits, app.house, ledger, app.memory.store)
        app.tools.add(PROPOSE_TRAIT, asked.ask)
        if wake:
            ledger.after_erasing = LateResults(app.effects, tasks).look_again
            end = app.tools.servers.forget
            app.keeper.on_erased(partial(forget_workspaces_later, settings.home, tasks, end))
            app.keeper.follow()
        closing = (app.house, app.tools, app.deliveries, app.effects, app.lanes, app.worlds.timers)
        for part in closing:
            stack.push_async_callback(part.close)
        closed = ClosedAccounts(ledger, app.rooms, tasks, app.stamp.clock)
        taken = TakenInvites(ledger, app.front.inviting, app.accounts.decisions, tasks, clock)
        await app.accounts.decisions.refresh()
        await app.deliveries.start(ledger)
        if wake:
            await app.work.follow(app.lanes)
            await app.effects.start(ledger)
            await app.worlds.wake_all(app.lanes)
            await app.chronicle.look()
            await app.growth.forking.resume()
            app.keeper.soon()
            await app.closing.resume()
            await app.forgetting.resume()
            closed.soon()
            taken.soon()
            await app.accounts.pictures.finish()
            app.wishes.start(MemoryNotice(ledger, app.house, app.stamp, tasks))
            await app.wishes.resume()
            await app.notes.resume(app.lanes)
            app.memory.audit.start()
            app.tools.servers.start()
            tasks.spawn(app.memory.vectors.run(), "vectors of what was said")
            tasks.spawn(app.work.keep_up(ledger), "what is said to tasks")
        if wake and follow:
            tasks.spawn(_follow_others(app, follow), "follow")
        yield app


async def _follow_others(app: App, pause: float) -> None:
    """Notice what other processes (a command, another terminal's) write, and mates' files."""
    setbacks = SetbackLog(log, "following the ledger")
    while True:
        await app.stamp.clock.sleep(pause)
        try:
            await app.ledger.follow()
            await app.chronicle.look()
        except LedgerError as error:
            setbacks.met(error)
        else:
            setbacks.over()


def _wire(
    settings: Settings,
    ledger: SqlLedger,
    models: Models,
    artifacts: Artifacts,
    surfaces: Mapping[str, Surface],
    secrets: Callable[[], Collection[str]],
    tasks: BackgroundTasks,
) -> App:
    stamp, clock = ledger.stamp, ledger.stamp.clock
    live, recorder = LiveSettings(settings, ledger, stamp, tiers_of), Recorder()
    signals, files = LocalSignals(), KeptRoomFiles(ledger, artifacts, usable_spans)
    rules = rules_of(settings, (SCREEN, *surfaces), small=models.facts(Route()).small)
    roster, house = MateRoster(settings.home / "mates"), RoomStore(ledger, signals, recorder)
    cast, people, hours = MateCache(roster, clock), PersonRegistry(ledger, stamp), _hours_of(live)
    memory = memory_opening.memory_of(live, ledger, stamp, tasks, house, people)
    budgets, paid, quota = _metered_ports(settings, ledger, models, stamp, tasks, people)
    tools = toolbox(live, clock, files, LineHistory(ledger, house), paid, memory.embeddings)
    policies, questions = _minds_of(settings, clock), ToolQuestions(tools, stamp, hours)
    inner = ProgramCalls(ledger, house, cast, rules, questions, tools, lambda: worlds.secrets())
    site = EffectSite(files, house, InnerSites(inner), signals)
    effects = Effects(ledger, MeteredTools(tools, budgets, tasks), stamp, site, hours)
    ports = TurnPorts(ledger, paid, tools, effects, signals, stamp, recorder, tasks)
    recalling = TurnRecall(memory.recall, memory.items, house, rules, clock, cast)
    tools.add(*memory_opening.recall_tool_of(memory, house, cast, settings.timezone))
    viewer = PerceptionBuilder(models, tools, clock, rules, cast, budgets.left, recalling)
    relief = FallbackMate(settings.fallback_mate, cast, roster.why_not, stamp, rules)
    book, bell, unprompted = _reminders_of(ledger, house, people, stamp, live, tools, cast)
    conduct = RoomLoop(ledger, stamp, house, cast, rules, relief, bell, unprompted, quota, policies)
    bot = Bot(ports, conduct, viewer, cast, rules, relief, files, questions)
    kept, usage = task_memory(memory, people, ledger), UsageView(ledger)
    work = work_parts(ports, cast, models, live, lambda: worlds.secrets(), site, kept)
    looking_back = memory_opening.notes_of(memory, house, models, cast, rules, live, ledger)
    timers, kinds = LocalTimers(lambda on: lanes.wake(on), clock), (bot, *work.worlds, looking_back)
    worlds = Worlds(ports, timers, policies, kinds, lambda: kept_in.union(secrets(), tools.keys()))
    lanes, growth = LocalLanes(worlds.work, clock), growth_of(ledger, roster, stamp, memory.lineage)
    notice, wait = notice_of(models), timedelta(hours=settings.platform_patience_hours)
    rooms = Rooms(ledger, house, lanes, signals, people, cast, stamp, rules, quota, notice)
    _follow_worlds(worlds, lanes, live, ledger)
    looking_back.follow(lanes, signals)
    deliveries = Deliveries(ledger, stamp, surfaces, DeliveryNotices(house, cast), wait, (SCREEN,))
    accounts, linking, pairing = _accounts_of(settings, ledger, people, stamp, tasks)
    closing = RoomClosing(ledger, rooms, house, signals, lanes, effects, tasks)
    answers = QueryCommands(rooms, ledger, models, deliveries.going, rules, linking)
    listing = ModelListing(models, partial(keyed_models, live, stamp), settings.keys, paid.paid)
    kept_in = _follow_settings(live, models, rules, quota, relief, listing, accounts.links)
    more = more_commands(rooms, tools, ledger, clock, budgets, usage, book, memory, live, closing)
    work, on_work = threads_of(work, rooms, conduct, deliveries, files, more[0], closing)
    commands = Commands(rooms, selectable_minds(), answers, MateEditing(growth), on_work, *more[1:])
    return App(
        settings=settings,
        live=live,
        ledger=ledger,
        front=RoomsApi(rooms, commands, deliveries, ledger, closing, accounts.links, tools),
        rooms=rooms,
        lanes=lanes,
        worlds=worlds,
        models=models,
        tools=tools,
        people=people,
        accounts=accounts,
        linking=linking,
        pairing=pairing,
        artifacts=artifacts,
        keeper=FileSweeper(ledger, artifacts, tasks, clock),
        closing=closing,
        forgetting=LineDeletion(ledger, house, tasks, clock),
        notes=looking_back,
        wishes=memory_opening.wishes_of(memory, house, cast, live, ledger, tasks),
        growth=growth,
        usage=usage,
        budgets=budgets,
        listing=listing,
        deliveries=deliveries,
        effects=effects,
        book=book,
        stamp=stamp,
        memory=memory,
        work=work,
    )


def _follow_worlds(
    worlds: Worlds, lanes: LocalLanes[str], live: LiveSettings, ledger: SqlLedger
) -> None:
    """Quiet hours and zones say when what is due may ring; what is erased waits for minds."""
    worlds.follow(lanes)
    ledger.before_erasing = worlds.rested
    live.follow(lambda _: worlds.wake_waiting(lanes))
    ledger.subscribe(lambda *_: worlds.wake_waiting(lanes), kinds=["people.time_chosen"])


def _metered_ports(
    settings: Settings,
    ledger: SqlLedger,
    models: Models,
    stamp: Stamp,
    tasks: BackgroundTasks,
    people: PersonRegistry,
) -> tuple[Budgets, MeteredModels, Quota]:
    """The budgets of the home, its models within them (the only ones it asks), and its answers."""
    book = BudgetBook(ledger, stamp, budgets_of(settings))
    quota = Quota(ledger, stamp.clock, book, people.same)
    budgets = Budgets(ledger, stamp, book, quota.had, people.same)
    return budgets, MeteredModels(models, budgets, tasks), quota


def _accounts_of(
    settings: Settings,
    ledger: SqlLedger,
    people: PersonRegistry,
    stamp: Stamp,
    tasks: BackgroundTasks,
) -> tuple[Accounts, AccountLinking, StrangerPairing]:
    """Who may come in, which accounts are one person's, and what strangers meet."""
    accounts = Accounts(ledger, people, stamp, tasks)
    linking = AccountLinking(accounts.decisions, people, stamp.clock)
    return accounts, linking, StrangerPairing(accounts.decisions, people, strangers_of(settings))


def _follow_settings(
    live: LiveSettings,
    models: Models,
    rules: RoomRules,
    quota: Quota,
    relief: FallbackMate,
    listing: ModelListing,
    links: AccessLinks,
) -> set[str]:
    """Whatever goes by settings goes by others as soon as they are changed.

    Returns the keys and passwords of settings, which mates never say, also those of before.
    """
    known: set[str] = set()

    def know(settings: Settings) -> None:
        known.update(key for key in secret_values(settings) if len(key) >= SHORTEST_KEY)

    def obey(settings: Settings) -> None:
        if isinstance(models, TieredModels):
            models.become(partial(tiers_of, settings), patience_of(settings))
        small = models.facts(Route()).small
        rules.become(rules_of(settings, rules.surfaces, small=small))
        quota.become(budgets_of(settings))
        relief.fallback = settings.fallback_mate
        listing.become(settings.keys)
        know(settings)
        links.inviters = settings.who_may_invite

    know(live.now)
    links.inviters = live.now.who_may_invite
    live.follow(obey)
    return known


def budgets_of(settings: Settings) -> BudgetRules:
    """What the settings say of budgets: where days begin, and those there are by default."""
    defaults = (
        *by_default("home", "dollars", settings.dollars_a_day),
        *by_default("places", "dollars", settings.dollars_per_place_a_day),
        *by_default("guests", "dollars", settings.dollars_per_guest_a_day),
        *by_default("places", "answers", settings.answers_per_place_a_day),
        *by_default("people", "answers", settings.answers_per_person_a_day),
    )
    return BudgetRules(ZoneInfo(settings.timezone), settings.budget_first_mark, defaults)


def _reminders_of(
    ledger: SqlLedger,
    house: RoomStore,
    people: PersonRegistry,
    stamp: Stamp,
    live: LiveSettings,
    tools: ToolRegistry,
    cast: MateCache,
) -> tuple[ReminderService, DueReminders, UnpromptedTurns]:
    """The reminders of the home, which mates set by tools, what rings them, and who speaks up."""

    def rules() -> ReminderRules:
        now = live.now
        return ReminderRules(now.timezone, now.quiet_hours, now.reminders_a_person)

    service = ReminderService(ledger, house, people, stamp, rules)
    for tool, work in ReminderTools(service).table:
        tools.add(tool, work)
    bell = DueReminders(ledger, stamp, house, cast, service)
    return service, bell, UnpromptedTurns(ledger, stamp, house, cast, service)


# ---------------------------------------------------------------- single commands


@asynccontextmanager
async def open_aside(settings: Settings) -> AsyncIterator[App]:
    """A home for one command, beside the host that may run it: no model, and nobody is woken.

    What the command had forgotten takes files along at its end, or by the host.
    """
    async with open_app(settings, models=NullModels(), wake=False) as app:
        await app.lanes.close()  # turns are the host's alone
        beside_host(app.ledger, settings)
        erased = list[str]()
        app.ledger.subscribe(lambda stream, _: erased.append(stream), kinds=["ledger.erased"])
        yield app
        if erased:
            try:
                await sweep_idle_home(app.ledger, settings)
            except LoopforgeError as error:
                log.warning("kept files are not swept until the next start: %s", error)
