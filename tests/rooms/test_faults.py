"""Every way a provider fails, over real sockets: what the room is told, and when, and what follows.

One row for each fault. For all of them: something is said or shown within 20 s, nothing of the
answer but its words stands in the room, no word of the provider's own errors does, energy is spent on
words alone, and the next line is answered.
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.events import Event
from loopforge.core.model_trouble import MEND, fixes_for_owner
from loopforge.core.room_vocabulary import Said, Told
from loopforge.runtime.ports import Draft
from tests.models.server import Behaviour, Server, serving
from tests.rooms.conftest import Home, living
from tests.still import while_answering

RAW = "PROVIDER-SAYS"
THOUGHT = "SECRET-THOUGHT"
NARRATIVE = "I answer because"
NEVER = (RAW, THOUGHT, NARRATIVE, "{", "}", '"', "narrative", "http", "Error", "sk-")
"""What never stands in a room."""

REST = {"mode": "context", "rule": "", "narrative": f"{NARRATIVE} I was called."}
FORM = json.dumps({"say": "Here."} | REST)
FIRST = json.dumps(REST)[:-1] + ', "say": "I hear you. '
FINE = Behaviour(pieces=[FORM])
SECOND = Behaviour(pieces=[json.dumps({"say": "Still here."} | REST)])
HALF = ['{"say": "I hear you. The kettle', " is on the", ' stove."', json.dumps(REST)]


def refusing(status: int, code: str = "", **more: object) -> Behaviour:
    """An error as OpenAI's protocol tells it."""
    error = {"message": f"{RAW} {{no}}: sk-sesame", "type": code, "code": code}
    return Behaviour(status=status, body=json.dumps({"error": error}), **more)  # type: ignore[arg-type]


def streamed(**delta: str) -> bytes:
    """One event of a stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    frame = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return f"data: {json.dumps(frame | {'choices': [choice]})}\n\n".encode()


@dataclass
class Fault:
    """What the server does with the first line, and what comes of it in the room.

    `said` begins what the mate says, "" for nothing. `told` stands in the last notice, "" for no
    notice; `owner` in what the owner is told. `at` is another address than the server's.
    """

    does: tuple[Behaviour, ...] = (FINE,)
    said: str = ""
    told: str = ""
    owner: str = ""
    at: str = ""


AGAIN = "Say it again"
GARBLED = "the model's server sent what is no answer"
FORMLESS = "the model's answer made no sense"
NO_ANSWER = "what the server of a sent is no answer"
FAILED = "the model's server failed"
FAILED_OWNER = "the server of a failed"
HEADS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"

FAULTS: dict[str, Fault] = {
    "500": Fault((refusing(500),), told=FAILED, owner=FAILED_OWNER),
    "502 with a page": Fault(
        (Behaviour(status=502, body=f"<html>{RAW}</html>"),), told=FAILED, owner=FAILED_OWNER
    ),
    "refused connection": Fault(at="closed", told=MEND, owner="the server of a cannot be reached"),
    "TLS to plain": Fault(at="tls", told=MEND, owner="no secure connection to a"),
    "no such host": Fault(at="nowhere", told=MEND, owner="no server has the name in the address"),
    "401": Fault((refusing(401, "invalid_api_key"),), told=MEND, owner="the key for a is refused"),
    "403": Fault((refusing(403),), told=MEND, owner="the key for a is refused"),
    "404": Fault((refusing(404, "model_not_found"),), told=MEND, owner="does not know a"),
    "404 of no model": Fault(
        (Behaviour(status=404, body='{"detail": "Not Found"}'),), told=MEND, owner="/v1"
    ),
    "404 with a page": Fault(
        (Behaviour(status=404, body=f"<html>{RAW}</html>"),), told=MEND, owner="`base_url`"
    ),
    "429": Fault((refusing(429),), told="the model is too busy just now", owner="is too busy"),
    "429, Retry-After 3": Fault(
        (refusing(429, headers={"retry-after": "3"}),),
        told="is too busy just now). Say it again in a moment.",
        owner="is too busy",
    ),
    "429, Retry-After an hour": Fault(
        (refusing(429, headers={"retry-after": "3600"}),),
        told="the model is too busy just now). Say it again in about an hour.",
        owner="is too busy",
    ),
    "429 once, Retry-After 2": Fault(
        (refusing(429, headers={"retry-after": "2"}), FINE), said="Here."
    ),
    "no credit": Fault(
        (refusing(429, "insufficient_quota"),), told=MEND, owner="the account behind a"
    ),
    "402": Fault((refusing(402),), told=MEND, owner="the account behind a"),
    "too long": Fault(
        (refusing(400, "context_length_exceeded"),),
        told="the conversation is longer than the model takes). /new begins another.",
        owner="set its `window`",
    ),
    "400": Fault((refusing(400),), told=MEND, owner="does not take the question"),
    "HTML page": Fault(
        (Behaviour(raw=f"<html>{RAW}</html>".encode()),), told=GARBLED, owner=NO_ANSWER
    ),
    "an error with 200": Fault(
        (Behaviour(raw=f'{{"error": "{RAW}"}}'.encode()),), told=GARBLED, owner=NO_ANSWER
    ),
    "an error in the stream": Fault(
        (Behaviour(raw=f'data: {{"error": {{"message": "{RAW}"}}}}\n\n'.encode()),), told=AGAIN
    ),
    "wrong JSON": Fault(
        (Behaviour(raw=f'data: {{"hello": "{RAW}"}}\n\ndata: [DONE]\n\n'.encode()),),
        told=GARBLED,
        owner=NO_ANSWER,
    ),
    "broken JSON": Fault(
        (Behaviour(raw=f'data: {{"{RAW}\n\n'.encode()),), told=GARBLED, owner=NO_ANSWER
    ),
    "garbage in the stream": Fault(
        (Behaviour(raw=b"data: \xff\xfe{" + RAW.encode() + b"\n\n"),), told=GARBLED
    ),
    "garbage bytes": Fault((Behaviour(wire=b"\x16\x03\x01\xff" + RAW.encode()),), told=AGAIN),
    "bad chunk": Fault((Behaviour(wire=HEADS + b"ZZZ\r\n" + RAW.encode()),), told=AGAIN),
    "cut before a word": Fault((Behaviour(cut=0),), told=FAILED, owner=FAILED_OWNER),
    "cut in the middle": Fault((Behaviour(pieces=HALF, cut=2),), said="I hear you. The kettle"),
    "endless before a word": Fault(
        (Behaviour(endless=streamed(content="")),), told="did not say a word", owner="said nothing"
    ),
    "endless thoughts": Fault(
        (Behaviour(endless=streamed(content="", reasoning_content=THOUGHT)),),
        told="did not come to an end",
        owner="did not come to an end",
    ),
    "endless within its words": Fault(
        (Behaviour(raw=streamed(content=FIRST), endless=streamed(content="and on ")),),
        said="I hear you. and on and on",
    ),
    "endless words in no form": Fault(
        (Behaviour(endless=streamed(content="and on ")),), said="and on and on"
    ),
    "silence": Fault(
        (Behaviour(stall=0),), told="did not say a word in time", owner="said nothing"
    ),
    "half, then silence": Fault(
        (Behaviour(pieces=HALF, stall=2),),
        said="I hear you. The kettle is on the …",
        told="a has stopped in the middle of its answer",
        owner="see whether its server is well",
    ),
    "a narrative, then silence": Fault(
        (Behaviour(pieces=[json.dumps(REST)[:-1], FORM], stall=1),),
        told="the model stopped in the middle of its answer",
        owner="stopped in the middle",
    ),
    "empty": Fault(
        (Behaviour(pieces=[]),), told="the model's answer was empty", owner="without a word"
    ),
    "{}": Fault((Behaviour(pieces=["{}"]),), told=FORMLESS),
    "no words in the form": Fault((Behaviour(pieces=[json.dumps(REST)]),), told=FORMLESS),
    "cut at max_tokens": Fault(
        (Behaviour(pieces=HALF[:1], finish="length"),), said="I hear you. The kettle …"
    ),
    "cut in the narrative": Fault((Behaviour(pieces=[FORM[:-20]], finish="length"),), said="Here."),
    "plain words": Fault((Behaviour(pieces=["Here, ", "ana."]),), said="Here, ana."),
    "fenced": Fault((Behaviour(pieces=["```json\n", FORM, "\n```"]),), said="Here."),
    "refusal field": Fault(
        (Behaviour(refusal="I cannot help with that."),), said="I cannot help with that."
    ),
    "filter": Fault(
        (Behaviour(pieces=[], finish="content_filter"),), told="the model would not answer"
    ),
    "refusal in words": Fault((Behaviour(pieces=["I can't help."]),), said="I can't help."),
    "thoughts before it": Fault(
        (Behaviour(pieces=[f"<think>{THOUGHT} {{", "}</think>", FORM]),), said="Here."
    ),
    "a thought that never ends": Fault(
        (Behaviour(pieces=[f"<think>{THOUGHT} and on"], finish="length"),),
        told="the model thought until no room was left for its words",
        owner="give it room by `thinking`",
    ),
    "no [DONE]": Fault((Behaviour(pieces=[FORM], vanish=3),), said="Here."),
    "no end at all": Fault((Behaviour(pieces=[FORM], vanish=1),), said="Here."),
}


@contextmanager
def address(server: Server, at: str) -> Iterator[str]:
    """Where the model is said to be."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listened on: refused
        here = server.url.removeprefix("http://")
        yield {
            "": f"http://{here}/v1",
            "closed": f"http://127.0.0.1:{taken.getsockname()[1]}/v1",
            "tls": f"https://{here}/v1",
            "nowhere": "http://nowhere.invalid/v1",
        }[at]


@asynccontextmanager
async def house(path: Path, at: str) -> AsyncIterator[tuple[Home, Server]]:
    """A home with one model, in simulated time that stands still while an answer comes."""
    async with serving(tokenizer=True) as server:
        with address(server, at) as base:
            environ = {"OPENAI_API_KEY": "sk-sesame"}
            given: dict[str, Any] = {"environ": environ, "embedded_model": False}
            given |= {"models": {"a": {"base_url": base, "key": "OPENAI_API_KEY"}}}
            async with living(path, None, tiers={"1": ["a"]}, **given) as home:
                while_answering(home.clock, lambda: server.waiting)
                yield home, server


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", FAULTS)
async def test_every_fault_is_told_in_time_and_the_next_line_is_answered(
    tmp_path: Path, name: str
) -> None:
    """The room reads words or a notice in time, and nothing else; the owner what to mend."""
    fault = FAULTS[name]
    shown: list[tuple[float, str]] = []
    async with house(tmp_path, fault.at) as (home, server):
        server.does(*fault.does)
        ear = home.app.front.rooms.listen(home.room)

        async def listen() -> None:
            async for what in ear:
                body = what.body if isinstance(what, Event) else what
                if isinstance(body, Said | Told | Draft):
                    shown.append((home.clock.ticks(), str(body.text)))

        listening = asyncio.ensure_future(listen())  # noqa: TID251
        await home.says("ana", "@maya hello")
        began = home.clock.ticks()
        await home.rest()
        events = await home.events()
        said = [str(e.body.text) for e in events if isinstance(e.body, Said)]
        told = [e.body for e in events if isinstance(e.body, Told)]
        scene = await home.app.front.rooms.scene(home.room)
        assert scene.energy == scene.capacity - len(said)
        if fault.at == "":
            server.does(SECOND)
            await home.hears("ana", "@maya are you there?")
            again = [str(one.text) for one in await home.bodies(Said)]
            assert again[-1] == "Still here."
            assert len(again) == len(said) + 1
        ear.close()
        await listening
    assert [one[: len(fault.said) or None] for one in said] == [fault.said] * bool(fault.said)
    assert fault.told in (str(told[-1].text) if told else "")
    assert fault.told != MEND or str(told[-1].text) == f"Maya gave no answer ({MEND})."
    assert bool(told) >= bool(fault.told)
    assert fault.owner in "; ".join(fixes_for_owner(one.mend) for one in told)
    assert min(when for when, _ in shown) - began < 20
    for _, text in shown:
        assert not [one for one in NEVER if one in text], text
