"""Opening what a run of the Factory needs: minds with the home's models, and the ledger's witness.

The composition root's other half: app.py opens the home itself. Here nobody talks in a room.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from loopforge.core.mates.mate_file import parse_mate, without_small_talk
from loopforge.home import shipped_mates
from loopforge.ledger_opening import open_ledger_of
from loopforge.mates.mate_roster import MateRoster
from loopforge.mates.prompt_files import PromptFiles
from loopforge.models.model_router import TieredModels
from loopforge.models_opening import open_models
from loopforge.runtime.ports import Models, Route
from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice
from loopforge.setting_defaults import Settings
from loopforge.settings import load_settings

if TYPE_CHECKING:
    from loopforge.lab.run.robot_minds import Minds as LabMinds
    from loopforge.lab.verification.ledger_anchors import LedgerWitness


def lab_minds(
    settings: Settings, models: Models, model: str = "", *, fallback: bool = False
) -> LabMinds:
    """Minds for robots: these models (`model` by its name, else tier 1), prompts, and the mates.

    Policies that are installed beside Loopforge and think for robots are among them.
    Another model steps in only with `fallback`. The mates are the home's; where there is no home,
    those that come along. Raises Unknown for a model that cannot be asked.
    """
    from loopforge.app import build_policies
    from loopforge.lab.run.pinned_model import PinnedModel
    from loopforge.lab.run.robot_minds import Minds, Persona

    if isinstance(models, TieredModels):
        pinned = PinnedModel(models)
        if model:
            pinned.named(Route(model=model))
        models = models if fallback else pinned

    if settings.file.exists():
        mates = MateRoster(settings.home / "mates").mates()
    else:
        shipped = [parse_mate(text, name) for name, text in shipped_mates().items()]
        mates = {mate.handle: mate for mate in shipped}
    prompts = PromptFiles(settings.home / "prompts", SystemClock())
    installed = build_policies(prompts, robots=True)
    minds = Minds(
        models=models,
        prompts=prompts,
        own={name: policy for name, (policy, _) in installed.items()},
        versions={name: version for name, (_, version) in installed.items()},
        personas={
            handle: Persona(
                without_small_talk(mate.prompt),
                Route.of(mate),
                mate.hash,
            )
            for handle, mate in mates.items()
        },
    )
    return minds.on_model(model)


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
) -> AsyncIterator[tuple[LabMinds, LedgerWitness | None]]:
    """What a run in this folder needs: minds, which ask models or do not, and the ledger's witness.

    Where there is no home, nobody takes note of the run but its own folder.
    """
    from loopforge.lab.run.robot_minds import Minds
    from loopforge.lab.verification.ledger_anchors import LedgerWitness

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
            witness = LedgerWitness(ledger, stamp, folder, resumed=resumed)
            stack.callback(witness.close)
        yield minds, witness


def worker_minds(home: str, model: str = "", *, fallback: bool = False) -> LabMinds:
    """The same for a worker of a sweep, which opens them by itself and ends with its process."""
    settings = load_settings(Path(home))
    models = open_models(settings, SystemClock(), SystemDice())
    if models.tiers.servers:
        asyncio.run(models.learn())
    return lab_minds(settings, models, model, fallback=fallback)
