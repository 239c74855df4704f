"""The plain form, through real pipes and a real socket."""

import asyncio
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import Heard, Said, Titled
from loopforge.core.text.erasable_text import Words
from loopforge.errors import Unknown
from loopforge.io.terminal.plain_mode import run_plain
from loopforge.runtime.background_tasks import BackgroundTasks
from tests.child_process import run_python
from tests.io.commons import HOSTED, NOTICE, Temper
from tests.io.test_socket_client import link, watching
from tests.io.test_terminal_wording import CONSTRUCTS

QUIET = Temper(answer=lambda text: None)


async def talk(
    home: Path,
    data: bytes,
    temper: Temper | None = None,
    *,
    as_json: bool = False,
    **person: object,
) -> tuple[int, str, str]:
    """Give these bytes to a plain terminal; exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    reading, writing = os.pipe()
    feeder = threading.Thread(target=_feed, args=(writing, data))
    feeder.start()
    try:
        made = link(home, "ana", temper, **{"tail": 0, **person})
        async with asyncio.timeout(60):
            code = await run_plain(made, reading, out, err, as_json=as_json, largest=1000)
    finally:
        os.close(reading)
        feeder.join()
    return code, out.getvalue(), err.getvalue()


def _feed(descriptor: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as pipe:
        pipe.write(data)


async def test_a_line_is_answered_and_that_is_the_output(tmp_path: Path) -> None:
    """`echo hi | ...` prints the answer and nothing else; what else there is goes to the side."""
    code, out, err = await talk(tmp_path, b"hi\n", Temper(step=0.001))
    assert (code, out) == (0, "maya: You said: hi\n")
    assert f"[{NOTICE}]" in err


async def test_markdown_goes_through_pipes_as_it_was_written(tmp_path: Path) -> None:
    """What reads a pipe gets every mark and every line: Markdown is plain text already."""
    written = "\n\n".join(text for text, _, _ in CONSTRUCTS)
    _, out, _ = await talk(tmp_path, b"hi\n", Temper(answer=lambda _: written, step=0.001))
    assert out == f"maya: {written}\n".replace("\n", "\n  ").rstrip(" ")


async def test_every_line_is_answered_before_it_ends(tmp_path: Path) -> None:
    """At the end of input it waits for all that is pending, also without a last newline."""
    lines = [f"line {n}" for n in range(50)]
    code, out, _ = await talk(tmp_path, "\n".join(lines).encode())
    assert code == 0
    assert out.splitlines() == [f"maya: You said: {line}" for line in lines]


async def test_silence_ends_too(tmp_path: Path) -> None:
    """When mates have nothing to say, the end of input is the end; there is no last line then."""
    assert (await talk(tmp_path, b"hi\n", QUIET))[:2] == (0, "")
    assert (await talk(tmp_path, b"", QUIET))[:2] == (0, "")
    code, out, err = await talk(tmp_path / "data", b"/why\n", QUIET)
    assert (code, out) == (1, "")
    assert "[line 1: Nothing has been said here yet." in err


async def test_a_failing_model_is_told_and_is_no_failure(tmp_path: Path) -> None:
    """The room's notice goes to standard error, and the exit code is 0."""
    temper = Temper(tells="Maya cannot answer just now: the model did not reply.")
    code, out, err = await talk(tmp_path, b"hi\n", temper)
    assert (code, out) == (0, "")
    assert "[Maya cannot answer just now: the model did not reply.]" in err


async def test_an_address_stands_apart_from_its_bracket(tmp_path: Path) -> None:
    """A terminal that makes links of addresses does not take the closing bracket into one."""
    link_to = "Once, within the hour:\nhttp://127.0.0.1:8777/enter/AbC-1_"
    _, _, err = await talk(tmp_path, b"hi\n", Temper(tells=link_to))
    assert f"[{link_to} ]" in err


async def test_a_draft_that_is_taken_back_is_told(tmp_path: Path) -> None:
    """A withdrawn draft is not printed as a line; that it was withdrawn is said."""
    code, out, err = await talk(tmp_path, b"hi\n", Temper(withdraws=True))
    assert (code, out) == (0, "")
    assert "Maya took back what it was saying: it would leak a key" in err


async def test_json_lines(tmp_path: Path) -> None:
    """With --json each event is one object with its number, speaker and text."""
    code, out, _ = await talk(tmp_path, "grüß dich\n/who\n".encode(), as_json=True)
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    heard, said = (next(r for r in rows if r["kind"] == kind) for kind in ("heard", "said"))
    assert (heard["who"], heard["text"], heard["mine"]) == ("ana", "grüß dich", True)
    assert (said["who"], said["text"], said["mine"]) == ("maya", "You said: grüß dich", False)
    assert said["reply_to"] == heard["id"]
    assert said["n"] > heard["n"]
    assert not {"mode", "narrative"} & said.keys()
    (answer,) = (r for r in rows if r["kind"] == "answer")
    assert "Merlin  @merlin" in answer["text"]


async def test_bad_bytes_are_mended_and_said(tmp_path: Path) -> None:
    """Invalid UTF-8 becomes U+FFFD, control characters go, each with a note and its line."""
    code, out, err = await talk(tmp_path, b"a\xffb\n\x1b[31mred\x00\n\n   \n")
    assert code == 0
    assert out.splitlines() == ["maya: You said: a\ufffdb", "maya: You said: red"]
    assert "[line 1: bytes that are no UTF-8 were replaced.]" in err
    assert "[line 2: control characters were taken out.]" in err


async def test_lines_too_long_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    """A line too long for the room, and one too long to be held, are errors; others are said."""
    data = b"one\n" + b"x" * 9000 + b"\ntwo\n" + b"y" * 300_000 + b"\nthree\n"
    code, out, err = await talk(tmp_path, data)
    assert code == 1
    assert out.splitlines() == [f"maya: You said: {n}" for n in ("one", "two", "three")]
    assert "[line 2: A line is at most 8,000 characters long; nothing was said.]" in err
    assert "[line 4: It has 300,000 bytes, which is too long.]" in err


async def test_ten_thousand_lines_through_a_pipe(tmp_path: Path) -> None:
    """A burst of 10,000 lines is heard in order, each once."""
    data = b"".join(b"%d\n" % n for n in range(10_000))
    assert (await talk(tmp_path, data, QUIET))[:2] == (0, "")
    heard = [e.body for e in HOSTED[tmp_path].events("commons") if isinstance(e.body, Heard)]
    assert [str(body.text) for body in heard] == [str(n) for n in range(10_000)]


async def test_commands_work(tmp_path: Path) -> None:
    """Commands are carried out in order; long answers go to standard output, short ones beside."""
    (tmp_path / "notes.txt").write_text("deep thoughts")
    data = f"""hi
/title The sea
/who
/help
/file "{tmp_path}/notes.txt" look at this
//slash
/policy stub
/nonsense
/file {tmp_path}/missing
/quit
never said
"""
    code, out, err = await talk(tmp_path, data.encode(), QUIET)
    assert code == 1
    assert "Merlin  @merlin  keeper of old books" in out
    assert "/why [LINE]" in out
    assert "[The room is called 'The sea' now.]" in err
    assert "[policy stub: done.]" in err
    assert "[line 8: There is no command /nonsense." in err
    assert f"[line 9: There is no file {tmp_path}/missing.]" in err
    events = HOSTED[tmp_path].events("commons")
    heard = [e.body for e in events if isinstance(e.body, Heard)]
    assert [str(body.text) for body in heard] == ["hi", "look at this", "/slash"]
    assert [(str(f.name), str(f.text)) for f in heard[1].files] == [("notes.txt", "deep thoughts")]
    assert any(isinstance(e.body, Titled) for e in events)


async def test_lines_are_named_by_number(tmp_path: Path) -> None:
    """/reply, /keep and /why take the number of a line, or the last one; a wrong one is refused."""
    _, out, _ = await talk(tmp_path, b"hi\n", as_json=True)
    n = {row["kind"]: row["n"] for row in map(json.loads, out.splitlines())}
    data = f"""/reply {n["said"]} indeed
/reply #{n["heard"]}
and this
/why {n["said"]}
/keep {n["heard"]}
/reply 9999 what
/why
/spent
"""
    code, out, err = await talk(tmp_path, data.encode(), QUIET)
    assert code == 1
    events = HOSTED[tmp_path].events("commons")
    (said,) = (event for event in events if isinstance(event.body, Said))
    first, *replies = (event for event in events if isinstance(event.body, Heard))
    assert [(str(e.body.text), e.body.reply_to) for e in replies if isinstance(e.body, Heard)] == [
        ("indeed", said.id),
        ("and this", first.id),
    ]
    assert f"Event {said.id}" in out
    assert out.count(f"Event {said.id}") == 2
    last = replies[-1]
    assert [one[1:] for one in HOSTED[tmp_path].acts] == [("keep", first.id), ("spent", last.id)]
    assert "There is no line 9999 here" in err


async def test_what_others_say_is_printed_and_cannot_move_the_cursor(tmp_path: Path) -> None:
    """Lines of others in the room appear with their name, without escapes, indented if long."""
    out = io.StringIO()
    reading, writing = os.pipe()
    async with watching(link(tmp_path, "ben", QUIET)) as ben:
        running = BackgroundTasks().spawn(
            run_plain(link(tmp_path, "ana", tail=0), reading, out, io.StringIO()), "plain"
        )
        await ben.until_here("p-ana")
        HOSTED[tmp_path].add(
            "commons",
            Heard(person="p-ben", text=Words("one\n\x1b[2Jtwo\u202e"), source="x"),
            "person:p-ben",
        )
        os.close(writing)  # the end of input waits for what happened before
        assert await running == 0
    os.close(reading)
    assert out.getvalue() == "ben: one\n  two\n"


async def test_what_breaks_the_link_ends_it_with_that_error(tmp_path: Path) -> None:
    """An unknown mate is raised to whoever called, and nothing waits for input."""
    with pytest.raises(Unknown, match="nobody"):
        await talk(tmp_path, b"hi\n", mates=("nobody",))


async def test_an_answer_given_while_the_host_was_away_is_printed(tmp_path: Path) -> None:
    """The host leaves while an answer is due; the pipe's own process takes over and prints it."""
    gate = asyncio.Event()
    out, err = io.StringIO(), io.StringIO()
    reading, writing = os.pipe()
    os.write(writing, b"hi\n")
    os.close(writing)
    host = link(tmp_path, "host", Temper(gate=gate))
    async with watching(host) as watch:
        running = BackgroundTasks().spawn(
            run_plain(link(tmp_path, "ana", tail=0), reading, out, err), "plain"
        )
        await watch.lines(1)
    code = await running
    os.close(reading)
    assert (code, out.getvalue()) == (0, "maya: You said: hi\n")
    assert "The host went away. Looking for it again…" in err.getvalue()


async def test_a_file_is_read_to_its_end(tmp_path: Path) -> None:
    """Input may be an ordinary file, or nothing at all."""
    (tmp_path / "input").write_bytes(b"from a file\n")
    for path, expected in (
        (tmp_path / "input", "maya: You said: from a file\n"),
        ("/dev/null", ""),
    ):
        out = io.StringIO()
        descriptor = os.open(path, os.O_RDONLY)
        made = link(tmp_path, "ana", tail=0)
        assert await run_plain(made, descriptor, out, io.StringIO()) == 0
        os.close(descriptor)
        assert out.getvalue() == expected


def test_the_plain_form_draws_nothing() -> None:
    """Importing it brings in neither Textual nor Rich, and no model's library."""
    code = (
        "import sys, loopforge.io.terminal.plain_mode\n"
        "print([m for m in ('textual', 'rich', 'pydantic_ai', 'sqlalchemy', 'typer') "
        "if m in sys.modules])"
    )
    done = run_python("-c", code, check=True)
    assert done.stdout == "[]\n"


INTERRUPTED = """
import asyncio, sys
from pathlib import Path
from loopforge.io.terminal.plain_mode import run_plain
from tests.io.commons import Temper
from tests.io.test_socket_client import link

home = Path(sys.argv[1])
never = asyncio.Event()
try:
    asyncio.run(run_plain(link(home, "ana", Temper(gate=never), tail=0), 0, sys.stdout, sys.stderr))
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_ctrl_c_ends_it_at_once_and_keeps_what_was_said(tmp_path: Path) -> None:
    """While an answer is due, an interrupt ends the process with 130; the line is kept."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(b"hi\n")
    process.stdin.flush()
    store = tmp_path / "data" / "events.jsonl"
    while not store.exists() or b'"hi"' not in store.read_bytes():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err
