"""Reading Python code for its docstrings: a program that `docstring_process.py` starts and limits.

    python -I docstring_check.py missing|only SECONDS MEMORY < files.json > told.json

    {"files": [{"path": ..., "before": base64 or null, "after": base64 or null}],
     "waiting": [[path, name], ...]}

`missing`: which functions and classes that are new, changed, or wait already have no docstring
after it. `only`: in which files something else than docstrings changed, and what. Code is parsed
and never run; it comes from strangers, so the process confines itself before it looks at the first
byte. It knows nothing of Loopforge. Does not cover: docstrings of modules, and of what linters let
be (private names, tests, functions within functions, overloads, setters of properties).
"""

import ast
import base64
import io
import json
import re
import resource
import sys
import tokenize
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

Owner = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
SPARED = ("overload", "override", "setter", "deleter")
"""Decorators by which a definition needs no docstring of its own."""
LONGEST = 100
"""Letters of a name that is told."""


class FoundPlace(NamedTuple):
    """A function or class: its name with those of its classes, its line, what it is made of."""

    name: str
    line: int
    made: str
    told: bool


# ---------------------------------------------------------------- where they are missing


def places(tree: ast.Module, path: str) -> dict[str, FoundPlace]:
    """The functions and classes of a file that want a docstring, by name; the tree is changed."""
    file = path.rpartition("/")[2]
    if file.startswith("test_") or file.endswith("_test.py") or file == "conftest.py":
        return {}
    told = {id(node) for node in ast.walk(tree) if isinstance(node, Owner) and _docstring(node)}
    return {one.name: one for one in _places(bare(tree), "", told)}


def _places(owner: ast.Module | ast.ClassDef, within: str, told: set[int]) -> Iterator[FoundPlace]:
    for node in _definitions(owner.body):
        if node.name.startswith("_") or len(node.name) > LONGEST or _spared(node):
            continue
        name = f"{within}{node.name}"
        yield FoundPlace(name, node.lineno, _made_of(node), id(node) in told)
        if isinstance(node, ast.ClassDef):
            yield from _places(node, f"{name}.", told)


def _definitions(body: Iterable[ast.AST]) -> Iterator[Definition]:
    """Those of a body, and of what stands in it under a condition."""
    for node in body:
        if isinstance(node, Definition):
            yield node
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            yield from _definitions(ast.iter_child_nodes(node))


def _spared(node: Definition) -> bool:
    for each in node.decorator_list:
        name = each.func if isinstance(each, ast.Call) else each
        if getattr(name, "attr", getattr(name, "id", "")) in SPARED:
            return True
    return False


def _made_of(node: Definition) -> str:
    """What it is made of; of a class without what is defined in it."""
    if not isinstance(node, ast.ClassDef):
        return ast.dump(node)
    own = [each for each in node.body if not isinstance(each, Definition)]
    return repr(
        (
            node.name,
            *(ast.dump(each) for each in (*node.decorator_list, *node.bases, *node.keywords, *own)),
        )
    )


def missing(files: list[dict[str, Any]], waiting: list[list[str]]) -> dict[str, Any]:
    """The places that wait for a docstring, and the files that nobody can read.

    Of a file that could not be read before, nothing is new; of one that cannot be now, what waited
    waits on.
    """
    asked = {(path, name) for path, name in waiting}
    known, now = set[tuple[str, str]](), dict[str, dict[str, FoundPlace]]()
    closed, unread = set[str](), list[str]()
    for file in files:
        path = file["path"]
        before, after = (_read(file[side], path) for side in ("before", "after"))
        known |= {(one.name, one.made) for one in (before or {}).values()}  # what moved is not new
        now[path] = after or {}
        if before is None:
            closed.add(path)
        if after is None:
            unread.append(path)
    found = [{"path": path, "name": name, "line": 0} for path, name in waiting if path in unread]
    for path, there in now.items():
        for one in there.values():
            fresh = path not in closed and (one.name, one.made) not in known
            if not one.told and (fresh or (path, one.name) in asked):
                found.append({"path": path, "name": one.name, "line": one.line})
    return {"missing": found, "unread": unread}


def _read(text: str | None, path: str) -> dict[str, FoundPlace] | None:
    """The places of a file, none where there is no file; None where it cannot be read."""
    if text is None:
        return {}
    try:
        tree = tree_of(base64.b64decode(text))
        return None if tree is None else places(tree, path)
    except (RecursionError, MemoryError):
        return None


# ---------------------------------------------------------------- nothing else


def objection(before: bytes | None, after: bytes | None) -> str:
    """What of a change of a file is not its docstrings; "" where it is they alone."""
    if before is None or after is None:
        return "the file is new, or gone"
    one, other = tree_of(before), tree_of(after)
    if one is None or other is None:
        return "it cannot be read as Python"
    try:
        if lost := sorted(docstrings(one) - docstrings(other)):
            return f"{lost[0] or 'the module'} has no docstring any more"
        if ast.dump(bare(one)) != ast.dump(bare(other)):
            return "its code is changed"
    except RecursionError:
        return "it is too deep to be read"
    if written(before) != written(after) or (b"\r\n" in before) != (b"\r\n" in after):
        return "comments, or how its code is written, are changed"
    return ""


def docstrings(tree: ast.Module) -> set[str]:
    """The names of whatever has a docstring; "" for the module."""

    def walk(node: ast.AST, within: str) -> Iterator[str]:
        if isinstance(node, Owner) and ast.get_docstring(node) is not None:
            yield within.rstrip(".")
        for child in ast.iter_child_nodes(node):
            yield from walk(
                child, f"{within}{child.name}." if isinstance(child, Definition) else within
            )

    return set(walk(tree, ""))


def bare(tree: Any) -> Any:
    """The same tree without docstrings; it is changed."""
    for node in ast.walk(tree):
        if isinstance(node, Owner) and _docstring(node) is not None:
            node.body = node.body[1:]
    return tree


def _docstring(node: Owner) -> ast.expr | None:
    """The string that is its docstring."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return first.value if isinstance(first.value.value, str) else None
    return None


def written(data: bytes) -> str:
    """How the code of a file is written, without its docstrings.

    Where lines break, and what blanks follow on a colon, does not count: a docstring may need that.
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    lines = data.decode(encoding).encode().splitlines(keepends=True)  # as Python counts them
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    whole, cut = b"".join(lines), list[tuple[int, int]]()
    for node in ast.walk(ast.parse(data)):
        if isinstance(node, Owner) and (said := _docstring(node)) is not None:
            assert said.end_lineno is not None
            assert said.end_col_offset is not None
            begin = starts[said.lineno - 1] + said.col_offset
            cut.append((begin, starts[said.end_lineno - 1] + said.end_col_offset))
    kept, at = list[bytes](), 0
    for begin, end in sorted(cut):
        kept.append(whole[at:begin])
        at = end
    kept.append(whole[at:])
    text = b"".join(kept).decode("utf-8", "replace").strip()
    return re.sub(r":\s+", ":", re.sub(r"[ \t\f]*[\r\n]\s*", "\n", text))


# ---------------------------------------------------------------- within limits


def tree_of(data: bytes | None) -> ast.Module | None:
    """The tree of a file; None for what is no Python, or too much to be read."""
    try:
        return None if data is None else ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def confine(what: int, limit: int) -> None:
    """Set a limit for this process, or a lower one that it has already."""
    _, hard = resource.getrlimit(what)
    least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(what, (least, least))


def main() -> None:
    """Read what comes in, say what is found."""
    what, seconds, memory = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    confine(resource.RLIMIT_CORE, 0)
    confine(resource.RLIMIT_FSIZE, 0)
    confine(resource.RLIMIT_CPU, seconds)
    confine(resource.RLIMIT_AS, memory)
    given = json.loads(sys.stdin.buffer.read())
    if what == "missing":
        told = missing(given["files"], given["waiting"])
    else:
        told = {"objections": [_objection(file) for file in given["files"]]}
    sys.stdout.buffer.write(json.dumps(told).encode())


def _objection(file: dict[str, Any]) -> str:
    before, after = (
        None if file[side] is None else base64.b64decode(file[side]) for side in ("before", "after")
    )
    return objection(before, after)


if __name__ == "__main__":
    main()
