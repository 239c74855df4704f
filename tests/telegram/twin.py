"""A twin of Telegram's Bot API on loopback.

In a test (the fixtures `twin` and `city` are in conftest.py; any other folder's conftest.py may
import them):

    async def test_it(twin: Twin, city: City) -> None:
        aria = await city.bot("Aria", "aria_bot", reads_all=True)
        ana = await city.person("Ana", "ana")
        bot = telegram.Bot(aria.token, base_url=f"{twin.base}/bot")
        ...
        lab = await city.supergroup("Lab", [ana, aria], forum=True)
        topic = await city.topic(ana, lab, "Plans")
        line = await city.say(ana, lab, "hello @aria_bot", topic=topic)
        await city.say(ana, aria, "in private", document=("a.txt", b"bytes"))
        await city.fault("sendMessage", "after")      # done, but the client gets 502
        answer, = await city.heard(lab, by=aria)      # waits for the first line of the bot
        assert answer.reply == line.key
        assert await city.doubled() == []
        calls = await city.calls("sendMessage")

In a process of its own, so that the process under test (or the twin's client) may be killed:

    async with elsewhere(1) as (base, city): ...      # tests.telegram.elsewhere; the same City

which runs `python -m tests.telegram.twin PACE`; that prints one line of JSON {"base": "http://..."},
takes commands as POST {base}/control/{command} with a JSON object, and ends with its stdin.
"""

import asyncio
import json
import mimetypes
import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email.utils import format_datetime
from typing import Any

import msgspec
from aiohttp import web

from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock
from tests.hurried_clock import HurriedClock
from tests.listening import form_parts, listening
from tests.sim_clock import SimClock
from tests.telegram.city import City
from tests.telegram.faults import DOWNLOAD, NO_ANSWER, Fault
from tests.telegram.people import People
from tests.telegram.records import Body, Call
from tests.telegram.speaking import Speaking
from tests.telegram.standing import Standing
from tests.telegram.things import Account, File
from tests.telegram.town import Town
from tests.telegram.turn import SEND
from tests.telegram.wire import Method, Refused, methods

LONGEST = 50.0
"""Seconds that a long poll lasts at most, which is Telegram's limit too."""
HOOKED = (
    "Conflict: can't use getUpdates method while webhook is active; "
    "use deleteWebhook to delete the webhook first"
)
HIDDEN = frozenset({"document", "photo"})
"""Parameters that may be a file in a field of that name, without saying attach://."""


class Bots(Speaking, Standing):
    """One call, of any kind."""

    def does(self, method: Method) -> Callable[[Any], Any]:
        """What does this method, which `models` says is known."""
        known: Callable[[Any], Any] = getattr(self, _snake(method))
        return known


def models(method: Method) -> bool:
    """Whether the twin knows a method."""
    return hasattr(Bots, _snake(method)) or method is methods()["getupdates"]


def _snake(method: Method) -> str:
    return re.sub(r"(?=[A-Z])", "_", method.__api_method__).lower()


class Twin:
    """The server. `base` is its address, `city` its people; `town` what really is there.

    `busy` is how many calls are being answered, but for those that wait for updates.
    """

    def __init__(self, clock: Clock) -> None:
        self.town = Town(clock)
        self.people = People(self.town)
        self.city = City(self.people.perform)
        self.base, self.busy, self.late = "", 0, BackgroundTasks()

    def routes(self) -> web.Application:
        """The Bot API, downloads and commands."""
        app = web.Application(client_max_size=SEND + 2**20)
        app.router.add_route("*", "/bot{token}/{method}", self._answer)
        app.router.add_get("/file/bot{token}/{path:.*}", self._download)
        app.router.add_post("/control/{command}", self._control)
        app.router.add_route("*", "/{path:.*}", self._nowhere)
        app.on_response_prepare.append(self._date)
        return app

    async def _date(self, _: web.Request, response: web.StreamResponse) -> None:
        response.headers["Date"] = format_datetime(self.town.clock.now(), usegmt=True)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        bot = self.town.tokens.get(request.match_info["token"])
        name = request.match_info["method"]
        if bot is None:
            return self._refuse(Refused(401, "Unauthorized"))
        method = methods().get(name.lower())
        if method is None or not models(method):
            known = "the twin does not know this method" if method else "there is no such method"
            self.town.judge.note(name, known)
            return self._refuse(Refused(404, f"Not Found: method not found ({known})"))
        waits = method is methods()["getupdates"]
        self.busy += not waits
        try:
            sent, files = await _read(request)
            return await self._perform(request, bot, method, sent, files)
        finally:
            self.busy -= not waits

    async def _perform(
        self,
        request: web.Request,
        bot: Account,
        method: Method,
        sent: Body,
        files: dict[str, File],
    ) -> web.StreamResponse:
        name, town = method.__api_method__, self.town
        fault = town.faults.strike(name, bot.id, sent.get("chat_id"))
        place = len(town.calls)
        call = Call(place + 1, bot.username, name, sent, fault=fault.kind if fault else "")
        town.calls.append(call)
        town.touch()
        done = False
        try:
            if fault is not None and fault.kind in NO_ANSWER:
                if fault.kind == "drop":
                    return _drop(request)
                if fault.kind == "page":
                    return _page(fault.code)
                raise fault.refusal()
            town.floods.weigh(name, bot.id, sent.get("chat_id"))
            turn = Bots(town, bot, files)
            if fault is not None and fault.kind == "late":
                later = self._do_later(turn, method, sent, fault.retry_after)
                self.late.spawn(later, f"a late {name}")
                raise fault.refusal()
            result = await self._do(turn, method, sent, fault)
            done = True
            town.calls[place] = msgspec.structs.replace(call, done=True)
            if fault is None or fault.kind != "spoil":
                town.judge.result(method, result)
            if fault is not None and fault.kind == "after":
                raise fault.refusal()
            if fault is not None and fault.kind == "hold":
                await town.faults.gate.wait()
            if fault is not None and fault.kind == "cut":
                return await _cut(request, {"ok": True, "result": result})
        except Refused as refused:
            ended = {"code": refused.code, "description": refused.description, "done": done}
            town.calls[place] = msgspec.structs.replace(call, **ended)
            town.touch()
            return self._refuse(refused)
        town.calls[place] = msgspec.structs.replace(call, code=200, done=True)
        town.touch()
        return web.json_response({"ok": True, "result": result})

    async def _do_later(self, turn: Bots, method: Method, sent: Body, seconds: float) -> None:
        await self.town.clock.sleep(seconds)
        await self._do(turn, method, sent, None)

    async def _do(self, turn: Bots, method: Method, sent: Body, fault: Fault | None) -> Any:
        from aiogram.methods import GetUpdates

        call = self.town.judge.request(method, sent)
        if not isinstance(call, GetUpdates):
            return turn.does(method)(call)
        if turn.bot.profile.get("webhook"):
            raise Refused(409, HOOKED)
        box = turn.bot.box
        box.allow(call.allowed_updates)
        if call.offset:
            box.acknowledge(call.offset)
        if fault is not None and fault.kind == "again":
            box.again()
        self.town.touch()
        found = await box.fetch(call.limit or 0, min(call.timeout or 0, LONGEST))
        if fault is not None and fault.kind == "spoil":
            box.spoil()
        return found

    def _refuse(self, refused: Refused) -> web.Response:
        body: Body = {"ok": False, "error_code": refused.code, "description": refused.description}
        if refused.parameters:
            body["parameters"] = refused.parameters
        return web.json_response(body, status=refused.code)

    async def _download(self, request: web.Request) -> web.StreamResponse:
        bot, path = self.town.tokens.get(request.match_info["token"]), request.match_info["path"]
        owner, data = self.town.paths.get(path, (0, b""))
        if bot is None or owner != bot.id:
            return self._refuse(Refused(404, "Not Found"))
        if self.town.faults.strike(DOWNLOAD, bot.id, None) is not None:
            calls = self.town.calls
            calls.append(Call(len(calls) + 1, bot.username, DOWNLOAD, {"path": path}, fault="hold"))
            self.town.touch()
            await self.town.faults.gate.wait()
        return web.Response(body=data, content_type="application/octet-stream")

    async def _control(self, request: web.Request) -> web.Response:
        try:
            name = request.match_info["command"]
            return web.json_response(await self.people.perform(name, await request.json()))
        except (ValueError, TypeError, msgspec.ValidationError) as error:
            return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=400)

    async def _nowhere(self, request: web.Request) -> web.Response:
        self.town.judge.note(request.path, "there is no such address")
        return self._refuse(Refused(404, "Not Found"))


def _page(code: int) -> web.Response:
    """What a proxy says in place of Telegram."""
    words = f"<html><head><title>{code}</title></head><body>Ask the desk on floor 4</body></html>"
    return web.Response(status=code, text=words, content_type="text/html")


async def _read(request: web.Request) -> tuple[Body, dict[str, File]]:
    """The parameters of a call, and its files. A file in a field of its own name is attached."""
    sent: Body = dict(request.query)
    files: dict[str, File] = {}
    if request.content_type == "application/json":
        return sent | await request.json(), files
    if not request.content_type.startswith("multipart/"):
        form = await request.post()
        return sent | {key: value for key, value in form.items() if isinstance(value, str)}, files
    for part in await form_parts(request):
        if part.filename is not None:
            media = mimetypes.guess_type(part.filename)[0] or part.media
            files[part.name] = File(part.filename, media, part.data)
        else:
            sent[part.name] = part.data.decode()
    for key in files.keys() & HIDDEN - sent.keys():
        sent[key] = f"attach://{key}"
    return sent, files


def _drop(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def _cut(request: web.Request, body: Body) -> web.StreamResponse:
    """Half of an answer, and then no connection."""
    data = json.dumps(body).encode()
    response = web.StreamResponse(headers={"content-type": "application/json"})
    response.content_length = len(data)
    await response.prepare(request)
    await response.write(data[: len(data) // 2])
    if request.transport is not None:
        request.transport.close()
    return response


@asynccontextmanager
async def serving(clock: Clock) -> AsyncIterator[Twin]:
    """A twin on a free port of loopback, until the block ends.

    The judge's models are there before anybody asks it: a client does not wait six seconds.
    """
    methods()
    twin = Twin(clock)
    if isinstance(clock, SimClock):
        clock.while_busy(lambda: twin.busy)
    async with listening(twin.routes()) as twin.base:
        twin.city.base = twin.base
        try:
            yield twin
        finally:
            twin.town.faults.release()
            await twin.late.close()


async def main() -> None:
    """Serve until stdin ends, by a clock as fast as is said."""
    async with serving(HurriedClock(float(sys.argv[1]))) as twin:
        print(json.dumps({"base": twin.base}), flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
