"""A service on the web is a tool by one file: the flight status of docs/connected-tools.md, and odd ones."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from loopforge.cli.health_checks.model_checks import check_service_tools
from loopforge.core.effect_states import EffectProposed, EffectReturned
from loopforge.errors import BadSettings, InputError
from loopforge.settings import load_settings
from loopforge.tools.web.described_service import read_service, redact_keys, request_of, told_of
from loopforge.tools.web.http_request import HttpAnswer
from tests.listening import listening
from tests.rooms.conftest import Home, living
from tests.said_now import using_what_is_asked

DOCS = Path(__file__).parents[2] / "docs" / "connected-tools.md"
SAID = re.search(r"```toml\n(summary = .*?)```", DOCS.read_text("utf-8"), re.DOTALL)
KEY = "k-3fb0c1d2e4a5"
MATE = "---\nname: Maya\nrole: traveller\ntools: ['*']\n---\nYou are Maya."
BOOK = """summary = "Books a seat."
address = "{host}/v1/seats"
method = "POST"
cost = 0.5
show = "seat"
[headers]
X-Api-Key = "${{FLIGHTS_KEY}}"
[arguments.row]
type = "integer"
name = "row_number"
"""


@dataclass
class Airport:
    """A service that is strict: with the key, by the right method, or not at all."""

    asked: list[str] = field(default_factory=list)
    booked: list[object] = field(default_factory=list)

    async def serve(self, request: web.Request) -> web.Response:
        """One request, one answer."""
        self.asked.append(f"{request.method} {request.raw_path}")
        if request.headers.get("x-api-key") != KEY:
            return web.json_response({"error": "no key"}, status=401)
        if request.method == "POST" and request.path == "/v1/seats":
            self.booked.append(await request.json())
            return web.json_response({"seat": f"12A, by {KEY}"})
        if request.method != "GET" or request.path != "/v1/status/LH400":
            return web.json_response({"error": f"no such flight: {request.path}"}, status=404)
        leaves = {"time": f"{request.query.get('date', 'today')} 14:05", "gate": "B42"}
        flight = {"number": "LH400", "to": {"city": "New York"}, "status": "delayed"}
        return web.json_response({"flights": [{**flight, "departure": leaves}]})


@asynccontextmanager
async def terminal(tmp_path: Path, **files: str) -> AsyncIterator[tuple[Home, Airport]]:
    """A home with the file of the documents, and with others."""
    airport = Airport()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", airport.serve)
    assert SAID is not None
    (tmp_path / "mates").mkdir(parents=True)
    (tmp_path / "mates" / "maya.md").write_text(MATE)
    (tmp_path / "tools").mkdir()
    files = {"flight_status": SAID[1], **files}
    async with listening(app) as host:
        for name, text in files.items():
            written = text.replace("https://api.flights.example", host).replace("{host}", host)
            (tmp_path / "tools" / f"{name}.toml").write_text(
                written.replace("{{", "{").replace("}}", "}")
            )
        async with living(tmp_path, using_what_is_asked, environ={"FLIGHTS_KEY": KEY}) as home:
            await home.hears("bo", "hello")
            await home.lends_tools()
            yield home, airport


async def test_the_flight_status_of_the_documents_works(tmp_path: Path) -> None:
    """With its key, which nobody is shown; a wrong flight and a strange one are told as such."""
    async with terminal(tmp_path) as (home, airport):
        told = await home.uses("bo", "flight_status", flight="LH400", date="2026-11-24")
        assert "LH400 to New York: delayed, leaves 2026-11-24 14:05 from gate B42" in told
        assert airport.asked == ["GET /v1/status/LH400?date=2026-11-24"]
        assert "answered 404 (Not Found)" in await home.uses("bo", "flight_status", flight="XX1")
        strange = await home.uses("bo", "flight_status", flight="../admin")
        assert "'flight' is not as it wants it" in strange
        assert len(airport.asked) == 2
        assert not home.holding(KEY.encode())
        assert home.app.tools.keys() == {KEY}


async def test_what_changes_something_asks_first_and_keys_are_told_to_nobody(
    tmp_path: Path,
) -> None:
    """The service gives the key back; nobody reads it. What a use costs is on record."""
    async with terminal(tmp_path, book_seat=BOOK) as (home, airport):
        await home.uses("bo", "book_seat", row=12)
        assert (await home.bodies(EffectProposed))[-1].asks
        assert airport.booked == []
        (question,) = await home.asks()
        assert "for bo with exactly this" in question
        assert "A use costs $0.5." in question
        (tool,) = [each for each in home.app.tools.known() if each.name == "book_seat"]
        assert (tool.price, tool.keys) == (0.5, ("FLIGHTS_KEY",))
        await home.does("bo", "approve", "1")
        await home.finishes()
        assert airport.booked == [{"row_number": 12}]
        (end,) = await home.bodies(EffectReturned)
        assert "12A, by [FLIGHTS_KEY]" in str(end.value)
        assert end.cost == 0.5
        assert not home.holding(KEY.encode())


@pytest.mark.parametrize(
    ("asks", "first", "once"),
    [
        ("", True, False),
        ("asks = true", True, False),
        ("asks = 'once'", True, True),
        ("asks = false", False, False),
    ],
)
async def test_it_asks_as_its_file_says(tmp_path: Path, asks: str, first: bool, once: bool) -> None:
    """Each time, until somebody said yes there, or never."""
    async with terminal(tmp_path, book_seat=f"{asks}\n{BOOK}") as (home, _):
        (tool,) = [each for each in home.app.tools.known() if each.name == "book_seat"]
        assert (tool.asks, tool.once) == (first, once)


@pytest.mark.parametrize("value", ["../admin", "a/b", "..", "", "a%2fb", "a\\b", "a\nb", "a\0"])
def test_an_argument_stays_in_its_part_of_the_address(value: str) -> None:
    """What would lead elsewhere is refused, also where a server decodes once more."""
    service = read_service(
        "s", {"summary": "s", "address": "https://e.org/a/{x}/b", "arguments": {"x": {}}}
    )
    with pytest.raises(InputError, match="cannot be a part of an address"):
        request_of(service, {"x": value}, {})


def test_arguments_are_encoded_where_they_stand() -> None:
    """In a path, in a query, in a header, in a body."""
    places = {"q": {}, "h": {"in": "header", "name": "X-Who"}, "p": {}, "n": {"type": "integer"}}
    written = {"summary": "s", "address": "https://e.org/{p}?a={q}", "arguments": places}
    service = read_service("s", written)
    given = {"q": "1&key=2#f", "p": "é?x=1", "h": "bo", "n": 3}
    sent = request_of(service, given, {})
    assert sent.address == "https://e.org/%C3%A9%3Fx%3D1?a=1%26key%3D2%23f&n=3"
    assert (sent.headers, sent.body) == ({"X-Who": "bo"}, None)
    with pytest.raises(InputError, match="no header may hold"):
        request_of(service, {**given, "h": "bo\r\nX-Admin: 1"}, {})


@pytest.mark.parametrize(
    "given_back",
    [
        (400, '{"error": "no key a/b+c/d"}'),
        (400, '{"error": "no key a\\/b+c\\/d"}'),
        (400, "x" * 295 + "a/b+c/d"),
        (200, "your key: a\\/b+c\\/d"),
    ],
)
def test_a_key_is_taken_out_however_the_service_writes_it(given_back: tuple[int, str]) -> None:
    """As JSON writes a slash, too, and where an error is so long that it is shortened."""
    service = read_service("s", {"summary": "s", "address": "https://e.org/"})
    status, text = given_back
    try:
        told = told_of(
            service, HttpAnswer(status, "text/plain", "utf-8", text.encode()), {"K": "a/b+c/d"}
        )
    except InputError as error:
        told = str(error)
    assert "a/b" not in told
    assert "a\\/" not in told


def test_of_two_keys_neither_leaves_a_part_of_the_other() -> None:
    """One may begin with another, and a query writes a space as a plus."""
    keys = {"ROOM": "garden", "DOOR": "garden gate/7"}
    told = redact_keys(
        "no garden gate/7, no /x?k=garden+gate%2F7, no garden%20gate/7, no garden", keys
    )
    assert told == "no [DOOR], no /x?k=[DOOR], no [DOOR], no [ROOM]"


@pytest.mark.parametrize("show", ["", "{a}"])
def test_an_answer_that_is_nested_too_deeply_is_no_crash(show: str) -> None:
    """It is a text that is not read as JSON."""
    service = read_service("s", {"summary": "s", "address": "https://e.org/", "show": show})
    answer = HttpAnswer(200, "text/plain", "utf-8", b"[" * 100_000)
    if not show:
        assert told_of(service, answer, {}).startswith("[[[")
        return
    with pytest.raises(InputError, match="did not answer in JSON"):
        told_of(service, answer, {})


def test_an_answer_without_the_list_of_the_file_is_told_as_that() -> None:
    """Not as if it were no JSON."""
    service = read_service("s", {"summary": "s", "address": "https://e.org/", "each": "rows"})
    with pytest.raises(InputError, match="has no list at 'rows'"):
        told_of(service, HttpAnswer(200, "application/json", "utf-8", b"{}"), {})


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"address": "https://{x}.org/"}, "the host of the address is fixed"),
        ({"address": "ftp://e.org"}, "the address must be such as"),
        ({"address": "https://[e.org"}, "the address must be such as"),
        ({"address": "https://e.org/{y}"}, "which is none of"),
        ({"address": "http://e.org", "headers": {"A": "${K}"}}, "must begin with https"),
        ({"headers": {"A b": "1"}}, "is no name of a header"),
        ({"headers": {"Host": "evil.example"}}, "is not set by hand"),
        ({"headers": {"A": "b\r\nC: d"}}, "is one line"),
        ({"address": "https://e.org:99999/"}, "the address must be such as"),
        ({"seconds": -1}, "`seconds` must be a number >= 1"),
        ({"method": "POST", "everybody": True}, "change nothing"),
        ({"method": "get"}, "one of GET, HEAD, POST"),
        ({"arguments": {"x": {"type": "text"}}}, "one of string, integer, number, boolean"),
        ({"colour": "red"}, "no key `colour`"),
        ({"arguments": {"x": {"pattern": "("}}}, "the pattern of x is none"),
    ],
)
def test_a_broken_file_says_what_is_wrong(more: dict[str, object], why: str) -> None:
    """In the words of the file."""
    with pytest.raises(BadSettings, match=re.escape(why)):
        read_service("s", {"summary": "s", "address": "https://e.org/", **more})


def test_the_doctor_names_a_broken_file_and_a_missing_key(tmp_path: Path) -> None:
    """And a name that another tool has is no crash."""
    assert SAID is not None
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "flight_status.toml").write_text(SAID[1])
    (tmp_path / "tools" / "torn.toml").write_text("summary = ")
    found = [one.said for one in check_service_tools(load_settings(tmp_path, environ={}))]
    assert "FLIGHTS_KEY is not set" in found[0]
    assert found[1].startswith("torn.toml: ")
