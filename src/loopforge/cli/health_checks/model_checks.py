"""Who thinks, and with what: models, mates, prompts, and tools that files describe."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopforge.cli.health_checks.health_finding import DoctorFinding, note, ok, wrong
from loopforge.errors import BadSettings, InputError, ModelError

if TYPE_CHECKING:
    from loopforge.models.model_tiers import Tiers
    from loopforge.setting_defaults import Settings


def check_models(
    settings: Settings, *, offline: bool = False, everything: bool = False
) -> Iterator[DoctorFinding]:
    """The embedded model, the keys, what servers of one's own have, and which tiers they serve."""
    if settings.embedded_model:
        yield from embedded(settings)
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


def embedded(settings: Settings) -> Iterator[DoctorFinding]:
    """The program that runs the embedded model, and the model's file."""
    from importlib.util import find_spec

    from loopforge.models.embedded.embedded_model import weights_path
    from loopforge.models.files.gguf_file import check_gguf
    from loopforge.models.files.model_library import file_of
    from loopforge.runtime.installation.extras import getting

    mend = "Run `loopforge up --model`, or set embedded_model = false."
    if find_spec("xllamacpp") is None:
        yield wrong("embedded model", "xllamacpp is missing.", f"Run {getting()}.")
        return
    try:
        if file := file_of(settings.data, settings.embedded_file):
            check_gguf(file)
        else:
            file = weights_path()
    except InputError as error:
        other = 'Name another by `embedded_file`; `loopforge model use ""` takes the small one.'
        yield wrong("embedded model", str(error), other)
        return
    except ModelError as error:
        yield wrong("embedded model", str(error), mend)
        return
    size = file.stat().st_size / 1e6
    yield ok("embedded model", f"{file.stem}, {size:.0f} MB.")


def _tiers(settings: Settings, *, offline: bool) -> Tiers:
    """The tiers, with what servers of one's own say they have, unless nobody is to be asked."""
    from loopforge.models.providers.server_catalogue import fetch_catalogue
    from loopforge.models_opening import tiers_of

    tiers = tiers_of(settings)
    if offline or not tiers.servers:
        return tiers

    async def asked() -> Tiers:
        found = await asyncio.gather(
            *(fetch_catalogue(one.address, one.key) for one in tiers.servers)
        )
        addresses = [one.address for one in tiers.servers]
        return tiers_of(settings, dict(zip(addresses, found, strict=True)))

    return asyncio.run(asked())


def check_mates(settings: Settings, *, offline: bool = False) -> Iterator[DoctorFinding]:
    """Every mate file: its flaws by line, and whether the model it wants can be had."""
    from loopforge.mates.mate_roster import MateRoster

    roster = MateRoster(settings.home / "mates")
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


def check_prompts(settings: Settings) -> Iterator[DoctorFinding]:
    """The home's own prompts: each must bear the name of a shipped one."""
    from loopforge.mates.prompt_files import PromptFiles

    known = set(PromptFiles())
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


def check_service_tools(settings: Settings) -> Iterator[DoctorFinding]:
    """Tools that files of the home describe: each must be whole, and have its keys."""
    from loopforge.tools.tool_files import load_described_tools

    found = load_described_tools(settings)
    for flaw in found.flaws:
        yield wrong("tools", flaw, "docs/connected-tools.md says what such a file holds.")
    if found.tools:
        names = ", ".join(tool.name for tool, _ in found.tools)
        yield ok("tools", f"described in files: {names}.")
