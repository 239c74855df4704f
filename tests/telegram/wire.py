"""What comes over the wire, held to the official documents.

The judge is aiogram's models, which are generated from the documents of the Bot API: a request
is parsed by its method's class, a result and an update are parsed by theirs. What does not fit,
on either side, is a deviation. It does not know what any of it means.

aiogram builds its models when it is imported, for six seconds: whoever needs one imports it there.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import BaseModel, TypeAdapter, ValidationError

from tests.telegram.records import Body, Deviation

if TYPE_CHECKING:
    from aiogram.methods.base import TelegramMethod

Method: TypeAlias = "type[TelegramMethod[Any]]"


@cache
def methods() -> dict[str, Method]:
    """By name in small letters: Telegram does not tell case apart in a method's name."""
    import aiogram.methods
    from aiogram.methods.base import TelegramMethod

    return {
        thing.__api_method__.lower(): thing
        for name in aiogram.methods.__all__
        if isinstance(thing := getattr(aiogram.methods, name), type)
        and issubclass(thing, TelegramMethod)
        and thing is not TelegramMethod
    }


class Refused(Exception):
    """An answer that is an error. `parameters` are Telegram's: retry_after, migrate_to_chat_id."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code, self.description, self.parameters = code, description, parameters


def bad(description: str) -> Refused:
    """The error of a request that cannot be done."""
    return Refused(400, f"Bad Request: {description}")


class Judge:
    """Holds both sides to the documents; `deviations` is what did not fit.

    `changed` is called for each.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self.deviations: list[Deviation] = []
        self._changed = changed

    def note(self, where: str, what: str) -> None:
        """Record something."""
        self.deviations.append(Deviation(where, what))
        self._changed()

    def request(self, method: Method, sent: Body) -> TelegramMethod[Any]:
        """The parameters as the method's class reads them. Raises Refused where it cannot."""
        name = method.__api_method__
        for key in sent.keys() - method.model_fields.keys():
            self.note(name, f"there is no parameter {key}")
        known = {key: value for key, value in sent.items() if key in method.model_fields}
        try:
            read = method.model_validate({key: decoded(method, key, known[key]) for key in known})
        except ValueError as error:
            self.note(name, _sentence(error))
            raise bad(_sentence(error)) from None
        for where in _strangers(read, name):
            self.note(name, f"there is no {where}")
        return read

    def result(self, method: Method, result: Any) -> None:
        """Look at what is about to be answered."""
        self._ours(method.__api_method__, _adapter(method), result)

    def update(self, update: Body) -> None:
        """Look at an update that is about to be told."""
        self._ours("getUpdates", _updates(), update)

    def _ours(self, name: str, adapter: TypeAdapter[Any], value: Any) -> None:
        try:
            read = adapter.validate_python(value)
        except ValidationError as error:
            self.note(name, f"the twin's own: {_sentence(error)}")
            return
        for where in _strangers(read, name):
            self.note(name, f"the twin's own: there is no {where}")


def decoded(method: Method, key: str, value: Any) -> Any:
    """A parameter's value; in a form everything but text is JSON. Raises ValueError."""
    if not isinstance(value, str):
        return value
    kinds = _leaves(method, key)
    if any(kind in (list, dict) or _is_object(kind) for kind in kinds):
        try:
            return json.loads(value)
        except ValueError:
            raise ValueError(f"can't parse {key} JSON object") from None
    if str not in kinds:
        return value.strip().lower() if bool in kinds else value.strip()
    return int(value) if int in kinds and value.removeprefix("-").isdecimal() else value


def _is_object(kind: Any) -> bool:
    from aiogram.types import InputFile

    return (
        isinstance(kind, type) and issubclass(kind, BaseModel) and not issubclass(kind, InputFile)
    )


@cache
def _leaves(method: Method, key: str) -> frozenset[Any]:
    found, todo = set(), [method.model_fields[key].annotation]
    while todo:
        kind = todo.pop()
        origin = typing.get_origin(kind)
        if origin in (list, dict):
            found.add(origin)
        elif origin is typing.Annotated:
            todo.append(typing.get_args(kind)[0])
        elif arguments := typing.get_args(kind):
            todo.extend(arguments)
        else:
            found.add(kind)
    return frozenset(found)


@cache
def _adapter(method: Method) -> TypeAdapter[Any]:
    return TypeAdapter(method.__returning__)


@cache
def _updates() -> TypeAdapter[Any]:
    from aiogram.types import Update

    return TypeAdapter(Update)


def _sentence(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:300]


def _strangers(value: Any, path: str) -> Iterable[str]:
    """Where an object has keys that its model does not know."""
    if isinstance(value, BaseModel):
        for key in value.model_extra or ():
            yield f"{path}.{key}"
        for key in type(value).model_fields:
            yield from _strangers(getattr(value, key), f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _strangers(item, path)
