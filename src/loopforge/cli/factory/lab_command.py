"""loopforge lab: run the Factory, look at what came of it, and keep many runs in order."""

import typer

from loopforge.cli.factory import inspect_commands, run_commands, sweep_commands

app = typer.Typer(
    no_args_is_help=True,
    help="Run the Factory, a city of robots where rules conflict with reality, and see what comes.",
)


for command in (
    run_commands.run,
    run_commands.scenarios,
    inspect_commands.verify,
    inspect_commands.story,
    inspect_commands.why,
    run_commands.fork,
    inspect_commands.diff,
    inspect_commands.audit,
    sweep_commands.sweep,
    inspect_commands.report,
    inspect_commands.export,
    run_commands.rename,
    run_commands.delete,
):
    app.command()(command)
