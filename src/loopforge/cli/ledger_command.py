"""loopforge ledger: verify, follow, export and forget what is recorded.

Everything here reads, but `erase`, `rebuild` and `migrate`. None of it makes a ledger where there
is none: that is what running the home does.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopforge.cli import Yes, existing_settings, is_confirmed, new_file, settings_from_context
from loopforge.core.text.name_labels import truncate_text
from loopforge.errors import InputError, Unknown

if TYPE_CHECKING:
    from loopforge.core.events import Event
    from loopforge.ledger import SqlLedger
    from loopforge.ledger.erasure.text_erasure import Erasure, ErasureRequest
    from loopforge.setting_defaults import Settings

app = typer.Typer(no_args_is_help=True)

Stream = Annotated[str, typer.Option("--stream", help="Only this stream, such as room:commons.")]
Streams = Annotated[str, typer.Option("--stream", help="Only streams whose name begins so.")]
MOST = 2**53
"""Events that can be asked for at once; a database counts no further than 2**63."""
LOOK = 0.5
"""Seconds between two looks for new events."""
WIDE = 100
"""Characters of an event's text that one line of `tail` shows."""


def _run(context: typer.Context, work: Callable[[SqlLedger], Coroutine[Any, Any, None]]) -> None:
    there = existing_settings(context)

    async def run() -> None:
        from loopforge.ledger_opening import beside_host, open_ledger_of

        async with open_ledger_of(there) as ledger:
            beside_host(ledger, there)
            await work(ledger)

    asyncio.run(run())


# ---------------------------------------------------------------- looking


@app.command()
def tail(
    context: typer.Context,
    count: Annotated[int, typer.Option("-n", help="How many events.", min=0, max=MOST)] = 20,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with new ones.")] = False,
    stream: Stream = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print lines of JSON.")] = False,
) -> None:
    """Show the newest events, oldest first."""
    there = settings_from_context(context)

    async def show(ledger: SqlLedger) -> None:
        write, known = _writer(there, as_json), dict[str, int]()

        def told(name: str, events: Sequence[Event]) -> None:
            for event in events:
                if stream in ("", name) and event.seq > known.get(name, 0):
                    write(event)

        for event in await ledger.tail(count, stream):
            write(event)
            known[event.stream] = event.seq
        if stream and not (known or follow or await ledger.heads(stream)):
            raise _no_stream(stream)
        ledger.subscribe(told, streams=stream)
        while follow:
            await asyncio.sleep(LOOK)
            await ledger.follow()

    _run(context, show)


def _writer(there: Settings, as_json: bool) -> Callable[[Event], None]:
    from zoneinfo import ZoneInfo

    from loopforge.ledger.jsonl_export import as_json_line

    zone = ZoneInfo(there.timezone)

    def write(event: Event) -> None:
        if as_json:
            typer.echo(as_json_line(event))
            return
        at = event.at.astimezone(zone).strftime("%d %b %H:%M:%S")
        place = f"{event.stream}#{event.seq}"
        typer.echo(f"{at}  {event.id}  {place}  {event.kind}  {event.actor}  {brief(event)}")

    return write


def brief(event: Event) -> str:
    """What an event says, in one line: its text if it has one, else its fields."""
    import msgspec

    from loopforge.core.text.erasable_text import encode_plain

    fields = msgspec.to_builtins(event.body, enc_hook=encode_plain)
    fields.pop("type", None)
    text = fields.get("text")
    said = repr(text) if text else " ".join(f"{k}={_short(v)}" for k, v in fields.items())
    return truncate_text("".join(sign if sign.isprintable() else " " for sign in said), WIDE)


def _short(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@app.command()
def status(context: typer.Context) -> None:
    """Say where the ledger is, whether its form is up to date, and how long its streams are."""
    from loopforge.ledger.schema_migration import ledger_schema_status

    schema = ledger_schema_status(existing_settings(context).database_url)
    typer.echo(f"schema: {schema}")
    if schema != "ok":
        return

    async def show(ledger: SqlLedger) -> None:
        for stream, seq in (await ledger.heads()).items():
            typer.echo(f"{seq:8}  {stream}")

    _run(context, show)


@app.command()
def export(
    context: typer.Context,
    format: Annotated[str, typer.Option("--format", help="The form; jsonl is the one.")] = "jsonl",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A new file; else standard output.")
    ] = None,
    stream: Streams = "",
) -> None:
    """Write all events to a file, private texts included, with what is needed to verify them."""

    async def work(ledger: SqlLedger, write: Callable[[str], object]) -> None:
        if stream and not await ledger.heads(stream):
            raise _no_stream(stream)
        async for line in ledger.export(stream, format):
            write(line)

    if output is None:
        _run(context, lambda ledger: work(ledger, sys.stdout.write))
        return
    with new_file(output) as file:
        _run(context, lambda ledger: work(ledger, lambda line: file.write(line.encode())))


@app.command()
def verify(
    context: typer.Context,
    stream: Streams = "",
    anchors: Annotated[
        Path | None,
        typer.Option(
            "--anchors",
            help="A file of heads noted earlier and kept out of reach: they must still be there. "
            "When all is sound, the file is made or brought up to date.",
        ),
    ] = None,
) -> None:
    """Check that nothing in the record was changed: every hash is computed again.

    Exits with 1 if anything does not agree.
    """
    noted = _noted(anchors)

    async def work(ledger: SqlLedger) -> None:
        found = await ledger.verify(stream, noted)
        if stream and not (found.events or found.findings):
            raise _no_stream(stream)
        for finding in found.findings:
            typer.echo(f"{finding.trouble:<10}  {finding.says}")
        if found.more:
            typer.echo(f"... and {found.more} more.")
        forgotten = f", {found.forgotten} texts forgotten" if found.forgotten else ""
        typer.echo(f"{found.events} events and {found.texts} texts read{forgotten}.")
        if not found.sound:
            raise typer.Exit(1)
        typer.echo("All of it is as it was written.")
        if anchors is not None:
            _note(anchors, {**noted, **found.anchors})

    _run(context, work)


def _no_stream(stream: str) -> Unknown:
    return Unknown(f"No stream begins with {stream[:80]!r}; `loopforge ledger status` lists them.")


def _noted(path: Path | None) -> dict[str, tuple[int, str]]:
    if path is not None and not path.parent.is_dir():
        raise InputError(
            f"There is no folder {path.parent}; make it, and the heads are noted there."
        )
    if path is None or not path.exists():
        return {}
    try:
        return {
            name: (int(seq), str(hash))
            for name, (seq, hash) in json.loads(path.read_text()).items()
        }
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{path} holds no anchors: {error}.") from error


def _note(path: Path, anchors: dict[str, tuple[int, str]]) -> None:
    path.write_text(json.dumps(anchors, indent=1, sort_keys=True) + "\n", "utf-8")
    typer.echo(f"Noted {len(anchors)} heads in {path}; keep it where nobody can change it.")


# ---------------------------------------------------------------- mending


@app.command()
def erase(
    context: typer.Context,
    events: Annotated[
        list[str] | None, typer.Argument(help="Ids of events whose words are to be forgotten.")
    ] = None,
    person: Annotated[
        str, typer.Option("--person", help="Everything of this person, by name or id.")
    ] = "",
    exactly: Annotated[
        bool, typer.Option("--exactly", help="Only that; leave what quotes it.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Forget words for good, wherever they are quoted too. The chain still verifies."""
    from loopforge.ledger.erasure.text_erasure import ErasureRequest

    if not events and not person:
        raise InputError("Say what to forget: ids of events, or --person NAME.")
    there = settings_from_context(context)

    async def work(ledger: SqlLedger) -> None:
        known = await _person(ledger, person) if person else ""
        wish = ErasureRequest(
            events=tuple(events or ()), person=known, exactly=exactly, by="terminal"
        )
        would = await ledger.erase(wish, pretend=True)
        if not would.refs:
            done = await ledger.erase(wish)
            rest = "" if done.clean else " Somebody was reading; ask again to clean the files too."
            typer.echo(f"Nothing of that is left to forget.{rest}")
        elif is_confirmed(f"{_told(would)} This cannot be undone. Forget?", yes):
            await _forget(there, ledger, wish)
        else:
            typer.echo("Nothing was forgotten.")

    _run(context, work)


async def _forget(there: Settings, ledger: SqlLedger, wish: ErasureRequest) -> None:
    """Forget, and say what that came to and what is still to be done."""
    from loopforge.ledger_opening import sweep_idle_home
    from loopforge.sinks.sink_plugin import beyond_recall

    done = await ledger.erase(wish)
    typer.echo(f"Forgotten: {_told(done)}")
    if places := beyond_recall(there):
        typer.echo(f"Not called back, if it went there: {', '.join(places)}.")
    if not done.clean:
        typer.echo("Somebody was reading; ask once more to clean the files too.")
    gone = await sweep_idle_home(ledger, there)
    if gone is None:
        typer.echo("The home is running; its memory forgets within a second or two.")
    elif gone:
        typer.echo(f"Kept files that went with it: {gone}.")


def _told(erasure: Erasure) -> str:
    streams = ", ".join(stream for stream, refs in erasure.texts.items() if refs)
    resting = f", {erasure.resting} of memories that rest on them" if erasure.resting else ""
    told = f"{erasure.named} texts and {erasure.quoting} that quote them{resting}, in {streams}."
    return told + erasure.unlooked


async def _person(ledger: SqlLedger, name: str) -> str:
    """The id of the one person of that name. Raises Unknown for none, InputError for several."""
    from loopforge.cli.people_command import person_called
    from loopforge.people.identity.person_registry import PersonRegistry
    from loopforge.runtime.system_clock import Stamp, SystemClock, SystemDice

    people = PersonRegistry(ledger, Stamp(SystemClock(), SystemDice()))
    await people.refresh()
    return (await person_called(people, name, forgotten=True)).id


@app.command()
def rebuild(context: typer.Context) -> None:
    """Make anew what is derived from the events, such as lists and counts."""

    async def work(ledger: SqlLedger) -> None:
        typer.echo(f"Folded {await ledger.rebuild()} events.")

    _run(context, work)


@app.command()
def migrate(context: typer.Context) -> None:
    """Bring an older database to the form that this program needs."""
    from loopforge.ledger.schema_migration import migrate_schema as bring

    stood = bring(existing_settings(context).database_url)
    said = {"ok": "It was up to date.", "empty": "Made.", "behind": "Brought up to date."}
    typer.echo(said[stood])
