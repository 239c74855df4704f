"""Files stay under 600 lines and functions under 80: what is longer is two things."""

import ast
from pathlib import Path

from tests.source import parsed

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("bench/*.py")])
FILE, FUNCTION = 600, 80


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
