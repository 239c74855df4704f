"""Files stay under 600 lines, functions under 80, parameters under 8: what has more is two things."""

import ast
from pathlib import Path

from tests.source import parsed

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("bench/*.py")])
FILE, FUNCTION, PARAMETERS = 600, 80, 7
OPTIONS = "each parameter is an option of a command, which people see"
WIRED = "each is a part that it works with, given once, where the home is put together"
KEYWORDS = "called by strangers with a few of these, by name"
WIDE = {
    "app.py: open_app": KEYWORDS,
    "chat/bot.py: Bot": WIRED,
    "chat/remembering/note_taking.py: NoteWorld": WIRED,
    "chat/room_loop.py: RoomLoop": WIRED,
    "chat/server.py: Rooms": WIRED,
    "chat/service/memory_wishes.py: MemoryWishes": WIRED,
    "chat/turns/apply_acts.py: carry_out": "what a turn is, and three ways to look further into it",
    "chat/why/redaction.py: build_redaction": "what a record is made of, each read by itself",
    "cli/factory/sweep_commands.py: sweep": OPTIONS,
    "cli/factory/run_commands.py: fork": OPTIONS,
    "cli/factory/run_commands.py: run": OPTIONS,
    "cli/factory/run_playing.py: play_and_report": "what two commands were given, and how it is told",
    "cli/work/bench_command.py: bench": OPTIONS,
    "cli/work/work_command.py: run_task": OPTIONS,
    "command_opening.py: more_commands": WIRED,
    "core/events.py: chain_hash": "what a hash covers, in its order",
    "core/policy.py: ask": KEYWORDS,
    "io/bot_connecting.py: connect": "what the command that connects a bot was given",
    "io/platforms/incoming_lines.py: command": "called by surfaces, also by those of strangers",
    "io/discord/receiving/incoming_events.py: IncomingEvents": WIRED,
    "io/discord/sending/personas.py: DiscordSpeaker": "a speaker of a webhook has a name, a face and more",
    "io/terminal/transcript_view.py: TranscriptEntry": "a widget: each is a part of how a line is drawn",
    "lab/run/run_lifecycle.py: run_simulation": KEYWORDS,
    "runtime/plugins/setting_declarations.py: setting": KEYWORDS,
    "work/task_service.py: open": "a task as it is given, by name",
    "work/task_world.py: TaskWorld": WIRED,
}
"""What has more parameters, and why it may. Nothing is added here for having become so."""


def long_functions(text: str) -> list[str]:
    """The functions of a source that are too long, docstrings not counted."""
    found = []
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                first = node.body[0]
                length -= (first.end_lineno or first.lineno) - first.lineno + 1
            if length > FUNCTION:
                found.append(f"{node.name} ({length} lines)")
    return found


def wide_functions(text: str) -> list[str]:
    """The functions and classes of a source that take too many parameters, self not counted."""
    found = []
    for node in ast.walk(parsed(text)):
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                given = [*part.args.posonlyargs, *part.args.args, *part.args.kwonlyargs]
                taken = [each.arg for each in given if each.arg not in ("self", "cls")]
                if len(taken) > PARAMETERS:
                    of = node.name if isinstance(node, ast.ClassDef) else ""
                    found.append(of if part.name == "__init__" else part.name)
    return found


def test_nothing_takes_too_many_parameters() -> None:
    """No function of the program takes more than seven, but for those that are named above."""
    package = ROOT / "src" / "loopforge"
    wide = {
        f"{path.relative_to(package)}: {name}"
        for path in package.rglob("*.py")
        for name in wide_functions(path.read_text("utf-8"))
    }
    assert wide == WIDE.keys()


def test_too_many_parameters_are_found() -> None:
    """The measure itself: eight are too many, self is none; keywords count, and stars do not."""
    seven = ", ".join("abcdefg")
    assert wide_functions(f"def f({seven}): ...") == []
    assert wide_functions(f"def f({seven}, *more, **others): ...") == []
    assert wide_functions(f"async def f({seven}, *, h): ...") == ["f"]
    assert wide_functions(f"class C:\n    def __init__(self, {seven}): ...") == []
    assert wide_functions(f"class C:\n    def __init__(self, {seven}, h): ...") == ["C"]


def test_nothing_is_too_long() -> None:
    """No file and no function is over the limit."""
    wrong = []
    for path in SOURCES:
        text, name = path.read_text("utf-8"), path.relative_to(ROOT)
        if text.count("\n") > FILE:
            wrong.append(f"{name} ({text.count(chr(10))} lines)")
        wrong += [f"{name}: {each}" for each in long_functions(text)]
    assert wrong == []


def test_a_long_function_is_found() -> None:
    """The measure itself: 81 lines are too long, a long docstring is not."""
    body = "    x = 1\n"
    assert long_functions("def f():\n" + body * 80) == ["f (81 lines)"]
    assert long_functions("def f():\n" + body * 79) == []
    assert long_functions('def f():\n    """' + "a\n" * 100 + '"""\n' + body) == []
