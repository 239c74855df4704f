"""loopforge doctor: what is missing or wrong in this home, and how to mend it.

Each examination gives findings; a finding is right, wrong, or a note. It changes nothing. An
examination that cannot be made, because an earlier one found the ground missing, is left out.
The only ones who are asked over the network are the platforms that mates are connected to, and
servers of one's own for their lists of models; `--offline` leaves that out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli.health_checks.health_finding import DoctorFinding, State, wrong
from loopforge.cli.health_checks.home_checks import (
    check_backups,
    check_database,
    check_host,
    check_settings,
)
from loopforge.cli.health_checks.machine_checks import (
    check_disk,
    check_home_folder,
    check_python,
    check_sandbox,
    check_terminal,
)
from loopforge.cli.health_checks.model_checks import (
    check_mates,
    check_models,
    check_prompts,
    check_service_tools,
)
from loopforge.cli.health_checks.platform_checks import (
    check_accounts,
    check_external_places,
    check_plugins,
)
from loopforge.core.egress.hidden_signs import as_visible_row
from loopforge.errors import BadSettings

if TYPE_CHECKING:
    from loopforge.setting_defaults import Settings

SIGNS: dict[State, str] = {"ok": "ok   ", "note": "note ", "wrong": "WRONG"}


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
            print_finding(finding.state, f"{finding.check}: {finding.said}", finding.mend)
    bad = sum(finding.state == "wrong" for finding in findings)
    if not as_json:
        typer.echo(f"\n{bad} wrong." if bad else "\nAll is well.")
    if bad:
        raise typer.Exit(1)


def print_finding(state: State, said: str, mend: str) -> None:
    """Print what was found, in a row of its own: a file may be called anything."""
    typer.echo(f"{SIGNS[state]}  {as_visible_row(said)}")
    if mend:
        typer.echo(f"       -> {as_visible_row(mend)}")


def examine(
    home: Path | None = None,
    *,
    offline: bool = False,
    everything: bool = False,
    deep: bool = False,
) -> Iterator[DoctorFinding]:
    """Look at everything, from the ground up."""
    yield from check_python()
    try:
        from loopforge.settings import load_settings

        settings = load_settings(home)
    except BadSettings as error:
        yield wrong("settings", str(error), "Correct it, then ask the doctor again.")
        return
    yield from check_settings(settings)
    examinations: tuple[Callable[[Settings], Iterator[DoctorFinding]], ...] = (
        check_home_folder,
        check_disk,
        check_database,
        partial(check_models, offline=offline, everything=everything),
        partial(check_mates, offline=offline),
        check_prompts,
        check_service_tools,
        check_plugins,
        partial(check_accounts, offline=offline),
        check_host,
        check_backups,
        check_sandbox,
        *((check_external_places,) if deep else ()),
    )
    for look in examinations:
        yield from look(settings)
    yield from check_terminal()
