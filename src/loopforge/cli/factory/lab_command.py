"""loopforge lab: run the Factory, and look at what came of it."""

import typer

from loopforge.cli.factory import inspect_commands, keep_commands, run_commands

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
    inspect_commands.sweep,
    inspect_commands.report,
    inspect_commands.export,
    keep_commands.rename,
    keep_commands.delete,
):
    app.command()(command)
