"""A service on the web as a tool that a file describes: `tools/NAME.toml` in a home.

    summary, address with {arguments}, method, headers with ${KEYS} of the environment
        -> a tool, its schema, and one request for each use
        -> of the answer in JSON what `show` names, by a path or in a sentence

Each argument stays in its place: it is encoded there, and refused where that cannot be. Keys are
sent, and stand in nothing that is told or kept. docs/connected-tools.md says what a file may hold.

Does not cover: signing requests, OAuth, uploads, answers in parts. An MCP server does.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal
from urllib.parse import quote, quote_plus, urlencode, urlsplit

import msgspec

from loopforge.core.text.validation_errors import explain_validation_error
from loopforge.errors import BadSettings, InputError
from loopforge.runtime.mind_containment import bounded_text
from loopforge.runtime.plugins.setting_checks import web_parts
from loopforge.runtime.ports import Tool, ToolCall, ToolResult, ToolWork, arguments_schema
from loopforge.tools.web.http_request import (
    HttpAnswer,
    HttpRequest,
    send_http_request,
    status_phrase,
)
from loopforge.tools.web.network_guard import GuardedNetwork
from loopforge.tools.web.page_cache import MATERIAL
from loopforge.tools.web.page_decoding import decode_page, strip_invisible
from loopforge.tools.web.page_fetch import checked_url

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
KEY = re.compile(r"\$\{(\w+)\}")
PLACEHOLDER = re.compile(r"\{(\w+)\}")
SHOWN = re.compile(r"\{([^{}]+)\}")
HEADER = re.compile(r"[A-Za-z0-9-]{1,64}")
OURS = ("host", "content-length", "transfer-encoding", "connection", "accept-encoding")
"""Headers by which a request is read: they are for the client to set."""
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
LONGEST, ROWS = 2_000, 50
"""Characters of an argument, and rows of an answer."""
READING = ("GET", "HEAD")
NEAR = ("localhost", "127.0.0.1", "::1")
"""Where a key may go without encryption: it does not leave the machine."""
NOTHING = "–"
"""What stands where the answer has nothing."""


class ServiceArgument(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"place": "in"}
):
    """One argument: sent in `place`, by `name`; `default` stands for one that is not given."""

    type: Literal["string", "integer", "number", "boolean"] = "string"
    about: str = ""
    choices: tuple[str | int, ...] = ()
    pattern: str = ""
    required: bool = True
    default: str | int | float | bool | None = None
    place: Literal["", "path", "query", "header", "body"] = ""
    name: str = ""


class DescribedService(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool as its file describes it."""

    summary: str
    address: str
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    changes: bool | None = None
    asks: bool | Literal["once"] | None = None
    everybody: bool = False
    arguments: dict[str, ServiceArgument] = {}
    headers: dict[str, str] = {}
    query: dict[str, str] = {}
    each: str = ""
    show: str = ""
    cost: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    seconds: Annotated[float, msgspec.Meta(ge=1, le=300)] = 20.0

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self.method in READING if self.changes is None else not self.changes

    def place(self, argument: str) -> str:
        """Where an argument is sent."""
        if f"{{{argument}}}" in self.address:
            return "path"
        usual = "query" if self.method in (*READING, "DELETE") else "body"
        return self.arguments[argument].place or usual

    def key_names(self) -> set[str]:
        """The variables whose values are sent."""
        values = (*self.headers.values(), *self.query.values())
        return {key for value in values for key in KEY.findall(value)}


def read_service(name: str, written: Mapping[str, Any]) -> DescribedService:
    """A tool as it is written in its file. Raises BadSettings."""
    try:
        service = msgspec.convert(written, DescribedService)
    except msgspec.ValidationError as error:
        raise BadSettings(
            f"{name}.toml: {explain_validation_error(error, DescribedService, ServiceArgument)}."
        ) from error
    if why := _flaw_of(name, service):
        raise BadSettings(f"{name}.toml: {why}.")
    return service


def _flaw_of(name: str, service: DescribedService) -> str:
    """What is wrong with it; "" for nothing."""
    place = web_parts(service.address)
    holes = PLACEHOLDER.findall(service.address)
    if not NAME.fullmatch(name):
        return "a tool's name has small letters, digits and _, such as flight_status"
    if place is None or place.username:
        return "the address must be such as https://api.example.org/status/{flight}"
    if "{" in place.netloc or "$" in service.address:
        return "the host of the address is fixed, and keys stand in headers or in [query]"
    if unknown := [hole for hole in holes if hole not in service.arguments]:
        return f"the address names {unknown[0]!r}, which is none of [arguments]"
    if service.key_names() and place.scheme == "http" and place.hostname not in NEAR:
        return "it sends a key, so its address must begin with https://"
    if service.everybody and not service.reads:
        return "everybody = true is for tools that change nothing"
    if any(map(CONTROL.search, service.headers.values())):
        return "a header's value is one line"
    try:
        checked_url(PLACEHOLDER.sub("x", service.address))
    except InputError as error:
        return str(error)
    return next(filter(None, map(_wrong_header, service.headers)), "") or next(
        filter(None, (_wrong_argument(service, each, holes) for each in service.arguments)), ""
    )


def _wrong_header(header: str) -> str:
    if header.lower() in OURS:
        return f"the header {header} is not set by hand"
    return "" if HEADER.fullmatch(header) else f"{header!r} is no name of a header"


def _wrong_argument(service: DescribedService, name: str, holes: list[str]) -> str:
    argument = service.arguments[name]
    if not re.fullmatch(r"[A-Za-z]\w{0,63}", name, re.ASCII):
        return f"an argument is called such as flight, not {name[:40]!r}"
    if argument.place == "path" and name not in holes:
        return f"the address has no {{{name}}}"
    if service.place(name) == "header" and _wrong_header(argument.name or name):
        return _wrong_header(argument.name or name)
    if name in holes and not argument.required and argument.default is None:
        return f"{name} stands in the address, so it is required or has a default"
    try:
        re.compile(argument.pattern)
    except re.error as error:
        return f"the pattern of {name} is none ({error})"
    return ""


def service_tool(
    name: str,
    service: DescribedService,
    environ: Mapping[str, str],
    network: Callable[[], GuardedNetwork],
) -> tuple[Tool, ToolWork]:
    """The tool and its work. Raises BadSettings where a key is not set."""
    for key in sorted(service.key_names()):
        if not environ.get(key) or CONTROL.search(environ[key]):
            raise BadSettings(f"{name}.toml: the environment variable {key} is not set, or broken.")
    tool = Tool(
        name=name,
        summary=" ".join(service.summary.split()),
        schema=_schema_of(service),
        idempotent=service.reads,
        reads=service.reads,
        harmless=service.everybody,
        asks=not service.reads if service.asks is None else bool(service.asks),
        once=service.asks == "once",
        price=service.cost,
        keys=tuple(sorted(service.key_names())),
        patience=min(service.seconds, 20.0),
        limit=service.seconds + 5,
    )
    secrets = {key: environ[key] for key in service.key_names()}

    async def use(call: ToolCall) -> ToolResult:
        try:
            answer = await send_http_request(
                request_of(service, call.arguments, secrets), network(), service.seconds
            )
            told = told_of(service, answer, secrets)
        except InputError as error:
            raise InputError(redact_keys(str(error), secrets)) from None
        return ToolResult(text=f"{MATERIAL}\n{redact_keys(told, secrets)}")

    return tool, use


def _schema_of(service: DescribedService) -> dict[str, Any]:
    properties = {}
    for name, argument in service.arguments.items():
        row: dict[str, Any] = {"type": argument.type}
        if argument.about:
            row["description"] = argument.about
        if argument.choices:
            row["enum"] = list(argument.choices)
        if argument.type == "string":
            row |= {"maxLength": LONGEST} | (
                {"pattern": argument.pattern} if argument.pattern else {}
            )
        properties[name] = row
    required = [
        name for name, each in service.arguments.items() if each.required and each.default is None
    ]
    return arguments_schema(required, **properties)


# ---------------------------------------------------------------- what is sent


def request_of(
    service: DescribedService, arguments: Mapping[str, Any], secrets: Mapping[str, str]
) -> HttpRequest:
    """The request for these arguments, each in its place. Raises InputError."""
    places: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}, "body": {}}
    for name, argument in service.arguments.items():
        value = arguments.get(name, argument.default)
        if value is not None:
            sent_as = name if service.place(name) == "path" else argument.name or name
            places[service.place(name)][sent_as] = value
    before, _, after = service.address.partition("?")
    path = PLACEHOLDER.sub(lambda hole: _path_segment(hole[1], places["path"]), before)
    after = PLACEHOLDER.sub(lambda hole: quote(_text_of(places["path"][hole[1]]), safe=""), after)
    fixed = {key: _fill_secrets(value, secrets) for key, value in service.query.items()}
    more = urlencode({key: _text_of(value) for key, value in places["query"].items()} | fixed)
    query = "&".join(filter(None, (after, more)))
    headers = {key: _header_value(key, _text_of(value)) for key, value in places["header"].items()}
    headers |= {key: _fill_secrets(value, secrets) for key, value in service.headers.items()}
    body = None if service.method in (*READING, "DELETE") and not places["body"] else places["body"]
    return HttpRequest(service.method, f"{path}{'?' * bool(query)}{query}", headers, body)


def _text_of(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _path_segment(name: str, values: Mapping[str, Any]) -> str:
    """An argument as a part of a path. Servers decode before they look: no / and no dots alone."""
    text = _text_of(values[name]).strip()
    if not text or re.search(r"[/\\%]", text) or CONTROL.search(text) or not text.strip("."):
        raise InputError(f"{name} is {text[:80]!r}, which cannot be a part of an address")
    return quote(text, safe="")


def _header_value(name: str, text: str) -> str:
    if CONTROL.search(text) or not text.isascii():
        raise InputError(f"{name} holds characters that no header may hold")
    return text


def _fill_secrets(text: str, secrets: Mapping[str, str]) -> str:
    return KEY.sub(lambda key: secrets[key[1]], text)


# ---------------------------------------------------------------- what is told


def told_of(service: DescribedService, answer: HttpAnswer, secrets: Mapping[str, str]) -> str:
    """What a mind is told of an answer. Raises InputError.

    Keys are taken out before it is shortened: half of one would not be found.
    """
    text = redact_keys(strip_invisible(decode_page(answer.data, answer.charset)), secrets)
    host = urlsplit(service.address).hostname
    if not 200 <= answer.status < 300:
        if answer.status in (401, 403):
            raise InputError(
                f"{host} answered {status_phrase(answer.status)}: the owner should look at its key"
            )
        raise InputError(
            f"{host} answered {status_phrase(answer.status)}: {bounded_text(text) or 'no words'}"
        )
    if not text.strip():
        return f"{host} answered {status_phrase(answer.status)}, without words."
    try:
        return _show_answer(service, json.loads(text))
    except InputError:
        raise
    except (ValueError, RecursionError):
        if service.show or service.each:
            raise InputError(f"{host} did not answer in JSON") from None
        return text


def _show_answer(service: DescribedService, found: Any) -> str:
    rows = _value_at(found, service.each) if service.each else [found]
    if not isinstance(rows, list):
        raise InputError(f"the answer has no list at {service.each!r}, as its file says")
    told = [_show_row(service.show, row) for row in rows[:ROWS]]
    more = [f"[{len(rows) - ROWS} more are not shown]"] if len(rows) > ROWS else []
    return "\n".join([*told, *more]) or "It found none."


def _show_row(show: str, row: Any) -> str:
    if "{" in show:
        return SHOWN.sub(lambda hole: _plain_value(_value_at(row, hole[1].strip())), show)
    return _plain_value(_value_at(row, show))


def _value_at(found: Any, path: str) -> Any:
    """What stands at a path such as `flights.0.status`; None where there is nothing."""
    for step in filter(None, path.split(".")):
        if isinstance(found, dict):
            found = found.get(step)
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            return None
    return found


def _plain_value(found: Any) -> str:
    if found is None:
        return NOTHING
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, indent=1)


def redact_keys(text: str, secrets: Mapping[str, str]) -> str:
    """A text without keys, which a server may have given back as it writes them.

    The longest first: one may begin with another.
    """
    for key, value in sorted(secrets.items(), key=lambda one: -len(one[1])):
        written = json.dumps(value)[1:-1]
        encoded = (quote(value, safe=""), quote(value), quote_plus(value))
        for form in (value, *encoded, written, written.replace("/", "\\/")):
            text = text.replace(form, f"[{key}]")
    return text
