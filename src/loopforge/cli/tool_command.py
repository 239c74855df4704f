"""loopforge tool: which tools mates can be given here, a use of one by hand, and what is amiss."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopforge.cli import Json, in_home, print_json, run_with_app
from loopforge.errors import InputError, LoopforgeError, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopforge.app import App
    from loopforge.runtime.ports import Tool

app = typer.Typer(no_args_is_help=True)

LACKING = "it has not what it needs: see its settings (`loopforge settings list`, docs/tools.md)"


@app.command("list")
@in_home
async def list_tools(home: App, as_json: Json = False) -> None:
    """List the tools that mates of this home can be given, by `tools:` in their files."""
    await home.tools.servers.learn()
    rows = [_row(tool) for tool in sorted(home.tools.known(), key=lambda tool: tool.name)]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        typer.echo(f"{row['name']}\t{row['does']}\t{row['summary']}")


@app.command("try")
def try_tool(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The tool's name, such as clock.")],
    arguments: Annotated[str, typer.Argument(help="Its arguments, as a JSON object.")] = "{}",
    room: Annotated[
        str, typer.Option("--room", help="The room whose files it is given.")
    ] = "commons",
) -> None:
    """Use a tool by hand, and see what a mate would be told. It really does what it does."""
    given = _read(arguments)

    async def work(home: App) -> str:
        from loopforge.budgets.metered_ports import MeteredTools
        from loopforge.core.limits.budget_limits import Charge
        from loopforge.runtime.background_tasks import BackgroundTasks
        from loopforge.runtime.ports import ToolCall

        await home.tools.servers.learn()
        known = {tool.name: tool for tool in home.tools.known()}
        if name not in known:
            raise Unknown(f"There is no tool {name!r} here; `loopforge tool list` says which are.")
        if wrong := home.tools.misfit(name, given):
            raise InputError(wrong)
        charge = Charge(tool=name)
        call = ToolCall(arguments=given, id="by hand", stream=f"room:{room}", charge=charge)
        async with BackgroundTasks() as tasks:
            metered = MeteredTools(home.tools, home.budgets, tasks)
            worked, result = await metered.call(name, call)
        if not worked:
            raise LoopforgeError(result.text)
        files = (f"[file {one.name}: {len(one.data):,} bytes; not kept]" for one in result.files)
        return "\n".join([result.text, *files])

    typer.echo(run_with_app(context, work))


@app.command("check")
@in_home
async def check(home: App) -> None:
    """Say for each tool whether it can be used here, and what to do if it cannot.

    And which tools mates' files name that there are not.
    """
    servers = home.tools.servers
    await servers.learn(anew=True)
    found = [(name, await _amiss(home, name)) for name in _named(home)]
    found += [(flaw.partition(".toml:")[0], flaw) for flaw in home.tools.flaws]
    found += [(flaw.partition(".json:")[0], flaw) for flaw in home.tools.written.flaws]
    for one in servers.views():
        found += [(one.name, flaw) for flaw in one.flaws]
    found += _misnamed(home)
    for name, why in found:
        typer.echo(f"{name}: {why or 'well'}")
    raise typer.Exit(1 if any(why and why != LACKING for _, why in found) else 0)


@app.command("accept")
@in_home
async def accept(
    home: App,
    server: Annotated[str, typer.Argument(help="The server's name, such as github.")],
) -> str:
    """Accept an MCP server's tools as it describes them now; until then they are not used."""
    known = {one.name: one for one in home.tools.servers.views()}
    if server not in known:
        names = ", ".join(known) or "none"
        raise Unknown(f"There is no MCP server {server!r} here. There are: {names}.")
    taken = home.tools.servers.accept(server)
    return f"Taken as described now: {', '.join(taken)}." if taken else "Nothing had changed."


@app.command("revoke")
@in_home
async def revoke(
    home: App,
    name: Annotated[str, typer.Argument(help="The tool's name, as `loopforge tool list` has it.")],
) -> str:
    """Take back a tool that a mate wrote: no mate is offered it any more."""
    return f"{name}, version {home.tools.written.take_back(name).number}, is taken back."


def _named(home: App) -> Iterator[str]:
    """The tools that are known, and those that are installed and are not."""
    from loopforge.tools.tool_registry import tool_makers

    yield from sorted(
        {tool.name for tool in home.tools.known()} | {one.tool.name for one in tool_makers()}
    )


def _misnamed(home: App) -> Iterator[tuple[str, str]]:
    """What mates' files name that no tool here is called; a server that is away may have it."""
    there, away = [*_named(home)], tuple(f"{one.name}_" for one in home.tools.servers.views())
    for handle, mate in home.rooms.mates.items():
        for named in mate.tools:
            if not (named.startswith(away) or any(fnmatchcase(each, named) for each in there)):
                yield f"@{handle}", f"its file names {named!r}, which no tool here is called"


async def _amiss(home: App, name: str) -> str:
    """Why a tool cannot be used; "" where it can."""
    if name not in {tool.name for tool in home.tools.known()}:
        return LACKING
    said = home.tools.misfit(name, {})
    if "its own schema is broken" in said:
        return said
    return await _unconfined() if name == "shell" else ""


async def _unconfined() -> str:
    """Why no program can be run in the sandbox here; "" where one can."""
    import tempfile
    from pathlib import Path

    from loopforge.tools.sandbox.bubblewrap import Sandbox, make_workspace
    from loopforge.tools.sandbox.confined_process import why_unconfined

    with tempfile.TemporaryDirectory(prefix="loopforge-") as folder:
        Path(folder).chmod(0o711)  # noqa: ASYNC240  quick
        return await why_unconfined(Sandbox(make_workspace(Path(folder) / "trial")))


def _read(arguments: str) -> dict[str, Any]:
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{arguments!r} is no JSON: {error}.") from error
    if not isinstance(given, dict):
        raise InputError(f'{arguments!r} is no JSON object, such as \'{{"zone": "UTC"}}\'.')
    return given


def _row(tool: Tool) -> dict[str, Any]:
    does = "reads" if tool.harmless or tool.reads else "changes"
    free = tool.harmless and tool.idempotent
    does += f", asks {'once' if tool.once else 'first'}" if tool.asks else ""
    return {
        "name": tool.name,
        "does": does + (f", ${tool.price:g} a use" if tool.price else ""),
        "summary": tool.summary,
        "for": "everybody" if free else "who has the right to it",
        "price": tool.price,
        "keys": list(tool.keys),
        "schema": tool.schema,
    }
