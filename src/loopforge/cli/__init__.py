"""The command line: arguments in, one call, an exit code out.

`COMMANDS` lists every noun; its module is imported only when that noun is used, so `loopforge
--help` stays quick. A module offers `app` (a Typer with sub-commands) or `command` (a function).
Errors that Loopforge raises on purpose become one line on standard error; exit code 2 means that
what came in was wrong, 3 that another process runs the home, 1 that something else was amiss, 130
that a person interrupted, 141 that whoever read the output went away.

Knows nothing of what the commands do.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from loopforge.core.egress.hidden_signs import spelled_out
from loopforge.errors import HostTaken, InputError, LoopforgeError, Unknown

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.setting_defaults import Settings

T = TypeVar("T")
Row = TypeVar("Row", bound=Mapping[str, Any])
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Handle = Annotated[str, typer.Argument(help="The mate's handle, such as maya.")]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="The new file; else one named after it, here.")
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]

COMMANDS: dict[str, tuple[str, str]] = {
    "up": (
        "loopforge.cli.up_command",
        "Start here: open the home, in the browser and the terminal.",
    ),
    "chat": ("loopforge.cli.chat_command", "Talk in a room, in the terminal or through a pipe."),
    "mate": ("loopforge.cli.mate_command", "The characters: make, list, show and check them."),
    "room": ("loopforge.cli.rooms.room_command", "See and set up rooms."),
    "work": (
        "loopforge.cli.work.work_command",
        "Tasks: give one to a mate, watch it, decide on what comes of it.",
    ),
    "lab": ("loopforge.cli.factory.lab_command", "The Factory, a simulated city to test mates in."),
    "people": (
        "loopforge.cli.people_command",
        "Who is known, who asks to come in, whose accounts are linked.",
    ),
    "memory": (
        "loopforge.cli.memory_command",
        "What mates keep of people: list, correct, lock, forget, audit.",
    ),
    "turn": ("loopforge.cli.turn_command", "Look into one turn of a mate, and replay it."),
    "web": (
        "loopforge.cli.web_command",
        "Links that open the pages in a browser: for you, or for a guest.",
    ),
    "why": ("loopforge.cli.why_command", "Why a line was said: all that is on record of it."),
    "usage": ("loopforge.cli.money.usage_command", "What models were asked, and what that cost."),
    "budget": (
        "loopforge.cli.money.budget_command",
        "How much mates may spend, for whom, in a day or a month.",
    ),
    "ledger": (
        "loopforge.cli.ledger_command",
        "The record of all that happened: verify, follow, export, forget.",
    ),
    "tool": ("loopforge.cli.tool_command", "What mates can be given to use: list, try, check."),
    "backup": (
        "loopforge.cli.backup_command",
        "Save a copy of everything in this home, and check it.",
    ),
    "restore": ("loopforge.cli.restore_command", "Make a home from a backup."),
    "settings": (
        "loopforge.cli.configuration.settings_command",
        "See settings, change them, take changes back.",
    ),
    "model": (
        "loopforge.cli.configuration.model_command",
        "Larger models that run here: fetch, add, use.",
    ),
    "doctor": ("loopforge.cli.doctor", "Say what is missing or wrong, and how to mend it."),
    "docs": (
        "loopforge.cli.docs_command",
        "The documents that texts point to: list them, read one.",
    ),
}
"""From a noun to the module that serves it and one line of help."""
UNREAD = 141
"""The exit code where whoever read the output went away, as of every program that a pipe ends."""
ALIASES = {"person": "people", "task": "work", "tasks": "work"}
"""Other words for the same nouns; they are not listed."""


class LazyGroup(TyperGroup):
    """A group whose commands are imported when they are called, not when they are listed."""

    _listing = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Only told of: in the help, and where a noun is mistyped.
        told = {name: line for name, (_, line) in COMMANDS.items()}
        self.commands = {name: TyperCommand(name, help=line) for name, line in told.items()}

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # noqa: ARG002
        """The nouns, in the table's order."""
        return list(COMMANDS)

    def get_command(  # type: ignore[override]
        self,
        ctx: typer.Context,  # noqa: ARG002
        cmd_name: str,
    ) -> Any:
        """The real command; while help is written, only its name and one line."""
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        if self._listing or cmd_name not in COMMANDS:
            return self.commands.get(cmd_name)
        return load(cmd_name, *COMMANDS[cmd_name])

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write the help without importing any command."""
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False


def load(name: str, module: str, line: str) -> Any:
    """Import one command and give it as Typer runs it."""
    offered = importlib.import_module(module)
    if (app := getattr(offered, "app", None)) is not None:
        app.rich_markup_mode = None
        group = get_group(app)
        group.name = name
        group.help = group.help or line
        _told_whole(group)
        return group
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, help=offered.command.__doc__ or line)(offered.command)
    return get_command(app)


def _told_whole(group: Any) -> None:
    """In its list each command says its whole first sentence; else it ends where a line does."""
    for command in group.commands.values():
        command.short_help = command.get_short_help_str(limit=1_000)
        if hasattr(command, "commands"):
            _told_whole(command)


root = typer.Typer(
    cls=LazyGroup,
    help="Loopforge: talk with AI characters on your own machine, and ask why they said it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: importing Rich's costs more than all the rest
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from loopforge import __version__

        typer.echo(f"loopforge {__version__}")
        raise typer.Exit


@root.callback()
def options(
    context: typer.Context,
    home: Annotated[
        Path | None,
        typer.Option(
            "--home",
            help="The home to use: the folder that holds everything. Else LOOPFORGE_HOME, "
            "else the current folder's.",
        ),
    ] = None,
    version: Annotated[  # noqa: ARG001 - its callback does it
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Options that stand before every command."""
    context.obj = home


def settings_from_context(context: typer.Context) -> Settings:
    """The settings of the home that the command line names, whose log is kept from now on.

    Raises BadSettings.
    """
    from loopforge.runtime.installation.log_file import keep_log
    from loopforge.runtime.installation.log_settings import LogSettings
    from loopforge.settings import load_settings

    found = load_settings(context.find_root().obj)
    keep_log(found.data, found.log_level, found.of("log", LogSettings))
    return found


def existing_settings(context: typer.Context) -> Settings:
    """The settings of a home that was started before. Raises Unknown for one without a ledger."""
    there = settings_from_context(context)
    kind, _, path = there.database_url.partition(":///")
    if kind.startswith("sqlite") and not Path(path).exists():
        raise Unknown(f"There is no ledger at {path} yet; `loopforge up` makes it.")
    return there


def run_with_app(context: typer.Context, work: Callable[[App], Coroutine[Any, Any, T]]) -> T:
    """Do something with the parts of a home, beside a host that may run it.

    Asks no model and wakes no mate. Raises Unknown for a home without a ledger.
    """
    import asyncio

    there = existing_settings(context)

    async def run() -> T:
        from loopforge.app import open_aside

        async with open_aside(there) as app:
            return await work(app)

    return asyncio.run(run())


def in_home(work: Callable[..., Coroutine[Any, Any, object]]) -> Callable[..., None]:
    """A command that is done with the parts of a home; what it returns, if anything, is told.

    They are its first parameter, and the others those of the command line.
    """
    home, *rest = inspect.signature(work).parameters.values()
    del work.__annotations__[home.name]  # its module is not loaded yet
    kinds = get_type_hints(work, include_extras=True)

    def command(context: typer.Context, **given: Any) -> None:
        told = run_with_app(context, lambda app: work(app, **given))
        if told is not None:
            typer.echo(told)

    first = home.replace(name="context", annotation=typer.Context)
    shown = [first, *(each.replace(annotation=kinds[each.name]) for each in rest)]
    vars(command)["__signature__"] = inspect.Signature(shown)
    command.__annotations__ = {each.name: each.annotation for each in shown}
    command.__name__, command.__doc__ = work.__name__, work.__doc__
    return command


async def event_id(app: App, named: str) -> str:
    """The id of an event, given by it or by its place: room:commons#74, commons#74.

    After a task's last digits the number is that of a turn: 92a6819f#3. `last` is the newest line
    of a mate, wherever it was said.
    """
    if named == "last":
        return await _last_said(app)
    stream, _, seq = named.rpartition("#")
    if not (stream and seq.isascii() and seq.isdecimal() and len(seq) < 12):
        return named
    where = stream if ":" in stream else f"room:{stream}"
    found = await app.ledger.read(where, after=int(seq) - 1, limit=1)
    if found and found[0].seq == int(seq):
        return found[0].id
    with suppress(Unknown):
        turns = (await app.work.tasks.store.named(stream)).progress
        return next((one.turn for one in turns if one.nth == int(seq)), named)
    return named


async def _last_said(app: App) -> str:
    for count in (100, 10_000):
        for event in reversed(await app.ledger.tail(count)):
            if event.kind == "room.said":
                return event.id
    raise Unknown("No mate said anything lately. `loopforge ledger tail` shows what happened.")


def print_rows(rows: Sequence[Row], as_json: bool, line: Callable[[Row], str], none: str) -> None:
    """Write rows, each by its line or all as JSON; `none` where there is none.

    What steers a screen, in a name or a text, is written by its number.
    """
    if as_json:
        print_json(rows)
        return
    for row in rows:
        typer.echo(spelled_out(line(row)))
    if not rows:
        typer.echo(none)


def is_confirmed(question: str, yes: bool, *, err: bool = False) -> bool:
    """Whether `--yes` was given, or somebody says so here.

    Raises InputError where nobody can answer: before anything was changed.
    """
    try:
        return yes or typer.confirm(question, err=err)
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        unasked = "Nobody is here to say yes; add --yes, and it is done without asking."
        raise InputError(unasked) from None


def print_json(value: object) -> None:
    """Write a value for programs."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


async def write_new(path: Path, chunks: AsyncIterator[bytes]) -> None:
    """Write a new file as it is made, whole or not at all, which only its owner may read.

    Raises InputError where there is one already.
    """
    with new_file(path) as file:
        async for chunk in chunks:
            file.write(chunk)
    typer.echo(f"Written: {path}")


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A new file, whole or not at all, for its owner alone. InputError: there is one already."""
    try:
        with open(path, "xb", opener=_open_private) as file:
            try:
                yield file
                file.flush()  # a full disk is often met here
            except BaseException:
                path.unlink(missing_ok=True)
                raise
    except FileExistsError as error:
        raise InputError(f"{path} is there already; choose another name with -o.") from error
    except OSError as error:
        raise LoopforgeError(f"{path} cannot be written: {error.strerror}.") from error


def _open_private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; alone, where a home is or may be: `up`."""
    given = sys.argv[1:] if arguments is None else arguments
    _open_what_is_closed()
    try:
        get_group(root).main(args=given or _without_words(), prog_name="loopforge")
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # Typer makes 1 of it
            return UNREAD
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _hush_output()
    except LoopforgeError as error:
        print(f"loopforge: {spelled_out(str(error))}", file=sys.stderr)  # noqa: T201 - the one line a person gets
        return 2 if isinstance(error, InputError) else 3 if isinstance(error, HostTaken) else 1
    except UnicodeEncodeError as error:
        typed = error.reason == "surrogates not allowed"
        told = (
            "What was typed is no UTF-8; nothing was done."
            if typed
            else f"What there is to say cannot be written as {error.encoding}; set PYTHONUTF8=1."
        )
        print(f"loopforge: {told}", file=sys.stderr)  # noqa: T201
        return 2 if typed else 1
    except OSError as error:
        import logging

        logging.getLogger(__name__).info("a command ended", exc_info=True)
        named = f"{str(error.filename)[:200]}: " if error.filename else ""
        print(f"loopforge: {named}{error.strerror or error}.", file=sys.stderr)  # noqa: T201
        return 1
    return 0


def _without_words() -> list[str]:
    """What `loopforge` without a word means here: to run the home, or to be told what there is."""
    from loopforge.settings import is_home

    return ["up"] if is_home() else []


def _open_what_is_closed() -> None:
    """Standard streams that were closed lead nowhere; no file opened later is taken for one."""
    while (null := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(null)
    nowhere = Path(os.devnull)
    sys.stdin = sys.stdin or nowhere.open(encoding="utf-8")
    sys.stdout = sys.stdout or nowhere.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nowhere.open("w", encoding="utf-8")


def _hush_output() -> int:
    """The reader of our output went away: let nothing else be written, quietly."""
    sys.stdout = None
    return UNREAD
