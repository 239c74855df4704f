"""loopforge lab: run the Factory, and look at what came of it."""

from __future__ import annotations

import typer

from loopforge.cli import instruments, runs

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _lab() -> None:
    """Run the Factory, a city of robots where rules conflict with reality, and see what comes."""


for command in (
    runs.run,
    runs.scenarios,
    instruments.verify,
    instruments.story,
    instruments.why,
    runs.fork,
    instruments.diff,
    instruments.audit,
    instruments.sweep,
    instruments.report,
    instruments.export,
):
    app.command()(command)
