"""Holds every call and frame to Discord's own schemas; what deviates is kept, once each.

The schemas are made from npm packages that others write (see schemas/README.md). They tell wrong
types, missing keys, lengths and ids; they do not tell unknown keys in calls, nor the 2000
characters of a bot's message (SimCord tells both). Known deviations stand in allowed.py, each with
its reason; all others are in `deviations`.
"""

import functools
import gzip
import json
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft7Validator, Draft202012Validator  # type: ignore[import-untyped]
from jsonschema.exceptions import ValidationError  # type: ignore[import-untyped]
from jsonschema.validators import extend  # type: ignore[import-untyped]

from tests.discord.allowed import ALLOWED

HERE = Path(__file__).parent / "schemas"
VARIES = re.compile(
    r'"[1-9][0-9]{14,19}"|"20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-9:]{8}(?:\.[0-9]{3,6})?\+00:00"'
)
"""Ids and times, as they stand in a body's JSON."""

TIME = '"2026-11-21T09:00:00+00:00"'


class Judge:
    """Collects deviations."""

    def __init__(self) -> None:
        self.deviations: list[str] = []

    def event(self, event: str, body: Any) -> None:
        """A dispatch that the twin sends."""
        self._gateway(event, "events", event, body)

    def frame(self, frame: dict[str, Any]) -> None:
        """A frame that a client sends."""
        self._gateway(f"op {frame['op']}", "frames", str(frame["op"]), frame.get("d"))

    def request(self, method: str, path: str, body: Any) -> None:
        """A request's body."""
        where, operation = self._operation(method, path)
        if operation is None:
            self.note(where, "Discord has no such route")
        elif body is not None and operation["body"] is not None:
            key = ("paths", template(method, path), method.lower(), "body")
            self._hold(f"{where} request", "rest", key, body)
        elif body:
            self.note(f"{where} request", "a body where there is none")

    def response(self, method: str, path: str, status: int, body: Any) -> None:
        """A response's body, and whether the status is one of that route's."""
        where, operation = self._operation(method, path)
        if operation is None:
            return
        known = operation["responses"]
        kind = str(status) if str(status) in known else f"{status // 100}XX"
        if kind not in known:
            self.note(f"{where} response", f"status {status} is not of {sorted(known)}")
        elif body is not None:
            key = ("paths", template(method, path), method.lower(), "responses", kind)
            self._hold(f"{where} response", "rest", key, body)

    def success(self, method: str, path: str) -> int:
        """The status with which that route answers when it has something to say."""
        _, operation = self._operation(method, path)
        known = operation["responses"] if operation is not None else {}
        return 201 if "201" in known and "200" not in known else 200

    def note(self, where: str, what: str) -> None:
        """Keep a deviation, unless it is known or was kept already."""
        text = f"{where}: {what}"
        if text not in self.deviations and not any(fnmatchcase(text, one) for one in ALLOWED):
            self.deviations.append(text)

    def _operation(self, method: str, path: str) -> tuple[str, dict[str, Any] | None]:
        route = template(method, path)
        if not route:
            return f"{method} {path}", None
        return f"{method} {route}", _document("rest")["paths"][route][method.lower()]

    def _gateway(self, where: str, kind: str, name: str, body: Any) -> None:
        if name in _document("gateway")[kind]:
            self._hold(where, "gateway", (kind, name), body)
        else:
            self.note(where, "Discord's gateway has no such thing")

    def _hold(self, where: str, name: str, key: tuple[str, ...], body: Any) -> None:
        for at, what in _judged(name, _pointer(key), VARIES.sub(_alike, json.dumps(body))):
            self.note(f"{where} at {at}", what)


def _alike(found: re.Match[str]) -> str:
    text = found.group()
    return re.sub("[0-9]", "1", text) if "T" not in text else TIME


@functools.cache
def _judged(name: str, ref: str, body: str) -> list[tuple[str, str]]:
    """Where a body deviates, and how: of bodies that differ by their ids alone once."""
    found = []
    for error in _at(name, ref).iter_errors(json.loads(body)):
        nearest = _nearest(error)
        at = "/".join("*" if isinstance(one, int) else str(one) for one in nearest.absolute_path)
        found.append((f"/{re.sub(r'[0-9]{15,}', '*', at)}", nearest.message[:160]))
    return found


def _nearest(error: ValidationError) -> ValidationError:
    """Into the branch of a union that was meant: the one that is the least wrong."""
    while error.context:
        error = min(
            min(_branches(error), key=_wrong), key=lambda one: (-_wrong([one]), one.message)
        )
    return error


def _branches(error: ValidationError) -> list[list[ValidationError]]:
    branches: dict[Any, list[ValidationError]] = {}
    for one in error.context:
        branches.setdefault(one.relative_schema_path[0], []).append(one)
    return list(branches.values())


def _wrong(errors: Iterable[Any]) -> int:
    """How wrong a branch is: another `type` is another thing altogether."""
    total = 0
    for one in errors:
        if one.context:
            total += min(map(_wrong, _branches(one)))
        else:
            other = one.validator in ("const", "enum") and list(one.path)[-1:] == ["type"]
            total += 100 if other or one.validator_value == "null" else 1
    return total


@functools.cache
def _document(name: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(gzip.decompress((HERE / f"{name}.json.gz").read_bytes()))
    return made


def _follow(name: str, _validator: Any, ref: str, body: Any, _schema: Any) -> Any:
    return _at(name, ref).iter_errors(body)


KINDS = {
    "rest": extend(Draft202012Validator, {"$ref": functools.partial(_follow, "rest")}),
    "gateway": extend(Draft7Validator, {"$ref": functools.partial(_follow, "gateway")}),
}
"""What is referred to is made ready once; the library's own way looks for it each time."""


@functools.cache
def _at(name: str, ref: str) -> Any:
    found = _document(name)
    for part in unquote(ref).removeprefix("#/").split("/"):
        found = found[part.replace("~1", "/").replace("~0", "~")]
    return KINDS[name](found)


def _pointer(key: tuple[str, ...]) -> str:
    return "#" + "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in key)


@functools.cache
def _routes() -> dict[str, list[tuple[re.Pattern[str], int, str]]]:
    made: dict[str, list[tuple[re.Pattern[str], int, str]]] = {}
    for route, item in _document("rest")["paths"].items():
        parts = re.split(r"(\{[^}]+\})", route)
        form = "".join("[^/]+" if part.startswith("{") else re.escape(part) for part in parts)
        literal = sum(not part.startswith("{") for part in route.split("/"))
        for method in item:
            made.setdefault(method.upper(), []).append((re.compile(form), literal, route))
    return made


@functools.cache
def template(method: str, path: str) -> str:
    """The route a path belongs to (`/channels/{channel_id}/messages`), or an empty string."""
    fits = [one for one in _routes().get(method, []) if one[0].fullmatch(path)]
    return max(fits, key=lambda one: one[1])[2] if fits else ""
