"""What a task may not bring into a repository, and what people should look at twice. Pure.

Looked at is the difference of two trees, path by path: names that mean something else to git, to
another file system or to whoever reads them, links that lead out, repositories within, and files
that make git itself run or fetch something. What stood there before is the owner's, and stays.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from loopforge.core.egress.hidden_signs import hidden_signs, spelled_out
from loopforge.core.text.topics import normal_form

FILE, PROGRAM, LINK, NOTHING = "100644", "100755", "120000", "000000"
LONGEST_PATH = 1_000
_DEVICE = re.compile(r"(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")
_SHORT = re.compile(r"(?i:git~[0-9]+|gi[0-9a-f]{4}~[0-9]+)")
_DRIVER = re.compile(r"^(?:filter|diff|merge|working-tree-encoding)=|^(?:filter|merge)$")
_FETCHES = {
    ".gitmodules": "it makes git fetch other repositories",
    ".lfsconfig": "it says from where git fetches large files",
}
"""Files by which git is led elsewhere; in any folder."""
_RUNS = (
    (re.compile(r"(?:.*/)?\.(?:husky|githooks|hooks|git-hooks)/.*"), "hooks of git"),
    (
        re.compile(r"\.(?:github/workflows|circleci|woodpecker|gitea|forgejo|buildkite)/.*"),
        "what a server runs",
    ),
    (
        re.compile(r"\.(?:gitlab-ci|travis|drone|pre-commit-config|lefthook)\.ya?ml"),
        "what is run by itself",
    ),
    (
        re.compile(r"(?:.*/)?\.(?:envrc|vscode/.*|idea/.*|devcontainer/.*|devcontainer\.json)"),
        "what an editor or a shell runs",
    ),
    (
        re.compile(r"(?:.*/)?(?:conftest\.py|sitecustomize\.py|[^/]+\.pth)"),
        "what Python runs by itself",
    ),
    (
        re.compile(r"(?:.*/)?\.(?:npmrc|yarnrc|yarnrc\.yml|pypirc|netrc|cargo/config(?:\.toml)?)"),
        "from where others' code comes",
    ),
    (re.compile(r"(?:.*/)?\.gitattributes"), "how git treats files"),
    (
        re.compile(
            r"(?:.*/)?(?:(?:AGENTS|CLAUDE|GEMINI)\.md|\.(?:cursorrules|mcp\.json|"
            r"(?:claude|cursor)/.*|github/copilot-instructions\.md))"
        ),
        "what other agents obey",
    ),
)


class PathChange(NamedTuple):
    """One path that differs. Modes are git's, NOTHING where there is none.

    `new` is its object, `old` the one before.
    """

    path: str
    was: str
    mode: str
    new: str
    old: str

    @property
    def goes(self) -> bool:
        """Whether it is taken away."""
        return self.mode == NOTHING


def read_changes(parts: Sequence[str]) -> list[PathChange]:
    """What `git diff-tree -r -z --no-renames --raw` wrote, cut at its zero bytes."""
    changes = []
    for head, path in zip(parts[::2], parts[1::2], strict=True):
        was, mode, old, new, _ = head.removeprefix(":").split(" ")
        changes.append(PathChange(path, was, mode, new, old))
    return changes


def change_objections(
    changes: Sequence[PathChange], paths: Collection[str], texts: Mapping[str, str]
) -> Iterator[str]:
    """Why each of these changes is not taken over; none where all are.

    `paths` are all of the tree that would be; `texts` are where links lead and what .gitattributes
    files say, by path.
    """
    clashing = _clashing(paths)
    for change in changes:
        if not change.goes:
            for why in _objections(change, clashing, texts):
                yield f"{shown_path(change.path)}: {why}"


def _objections(
    change: PathChange, clashing: Collection[str], texts: Mapping[str, str]
) -> Iterator[str]:
    path, name = change.path, change.path.rpartition("/")[2]
    if change.mode not in (FILE, PROGRAM, LINK):
        yield "it is another repository, or nothing that git knows by its mode"
        return
    yield from _bad_names(path)
    ways = (path[:at] for at, sign in enumerate(f"{path}/") if sign == "/")
    if clashing and any(each in clashing for each in ways):
        yield "another path differs from it in nothing but small and capital letters"
    if why := next((why for each, why in _FETCHES.items() if _fold(name) == each), ""):
        yield why
    if change.mode == LINK and (why := _leads_out(path, texts.get(path, "/"))):
        yield why
    if _fold(name) == ".gitattributes":
        if path not in texts:
            yield "git goes by it, and it is no text that could be looked at"
        yield from _drivers(texts.get(path, ""))


def _bad_names(path: str) -> Iterator[str]:
    if len(path.encode("utf-8", "surrogateescape")) > LONGEST_PATH:
        yield "its path is too long"
    if any("\udc80" <= sign <= "\udcff" for sign in path):
        yield "its name is no text"
    if path.startswith("/") or any(part in ("", ".", "..") for part in path.split("/")):
        yield "its path leads out of the repository"
    if "\\" in path or ":" in path:
        yield "its name holds a sign that is part of a path elsewhere"
    if "\n" in path or "\t" in path or hidden_signs(path):
        yield "its name holds characters that cannot be seen"
    for part in path.split("/"):
        if _fold(part).rstrip(". ") == ".git" or _SHORT.fullmatch(part):
            yield "it would lie in git's own folder"
        elif part != part.rstrip(". ") or _DEVICE.fullmatch(part):
            yield "its name means something else on another system"


def _leads_out(path: str, target: str) -> str:
    """Why a link may not lead there; "" where it may. Only its first parts may be `..`."""
    parts = target.split("/")
    up = 0
    while up < len(parts) and parts[up] == "..":
        up += 1
    inner = parts[up:]
    if target.startswith("/") or "\\" in target or "\0" in target or not target:
        return "it is a link that leads out of the repository"
    if up > path.count("/") or ".." in inner:
        return "it is a link that leads out of the repository"
    if any(_fold(part).rstrip(". ") == ".git" for part in inner):
        return "it is a link into git's own folder"
    return ""


def _drivers(text: str) -> Iterator[str]:
    for line in text.split("\n"):  # of all breaks git knows this one
        for word in line.split()[1:] if not line.lstrip(" \t\r").startswith("#") else ():
            if _DRIVER.match(word):
                yield f"it has git run something, or rewrite files ({word[:60]})"


def notes_on(
    changes: Sequence[PathChange], texts: Mapping[str, str], before: Mapping[str, bytes]
) -> list[str]:
    """What people should look at twice; `texts` are the new files, as far as they are text.

    `before` are the old ones of those, by object.
    """
    notes = []
    for change in changes:
        shown = shown_path(change.path)
        for pattern, what in _RUNS:
            if pattern.fullmatch(change.path):
                notes.append(f"{shown} is {what}.")
        if change.mode == PROGRAM and change.was != PROGRAM:
            notes.append(f"{shown} becomes a program that can be run.")
        if change.mode == LINK:
            notes.append(f"{shown} is a link.")
        if hidden := hidden_signs(texts.get(change.path, "")):
            notes.append(f"{shown} holds characters that cannot be seen ({hidden}).")
        old, text = before.get(change.old, b""), texts.get(change.path, "")
        if b"\n" in old and "\n" in text and (b"\r\n" in old) != ("\r\n" in text):
            notes.append(f"{shown} has other line ends than before, so that every line differs.")
    return notes


def shown_path(path: str) -> str:
    """A path that can be shown, whatever it is."""
    return spelled_out(path).replace("\n", "\\n").replace("\t", "\\t")[:200]


@lru_cache(maxsize=4096)
def _fold(name: str) -> str:
    """As file systems compare names that do not tell letters apart, or leave signs out."""
    plain = "".join(sign for sign in name if unicodedata.category(sign) != "Cf")
    return normal_form(plain).casefold()


def _clashing(paths: Collection[str]) -> frozenset[str]:
    """The paths, and folders of paths, that are another one's to such a file system.

    Each folder is looked at once, however many lie in it: there may be hundreds above each file.
    """
    folds = {"": ""}
    for path in paths:
        new = []
        while path not in folds:
            new.append(path)
            path = path.rpartition("/")[0]
        for each in reversed(new):
            parent, _, name = each.rpartition("/")
            folds[each] = f"{folds[parent]}/{_fold(name)}"
    counted = Counter(folds.values())
    return frozenset(path for path, fold in folds.items() if counted[fold] > 1)
