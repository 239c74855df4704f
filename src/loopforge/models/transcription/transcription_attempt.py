"""One attempt at having a voice note written down: OpenAI's `/audio/transcriptions`, asked once.

    multipart: file (the sound), model, response_format=json  ->  {"text": ..., "usage": ...}

What comes of it is an outcome, as of any question (model_attempt.py); a silent note is an answer
with no words. The file goes out under a name that tells its kind alone. Never tries twice.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from loopforge.core.limits.retry_after import retry_after
from loopforge.core.turn_events import Usage
from loopforge.errors import LoopforgeError
from loopforge.models.providers.answer_cost import of_minutes, usage_cost
from loopforge.models.providers.attempt_outcome import AttemptOutcome
from loopforge.models.providers.model_spec import ModelSpec
from loopforge.models.providers.provider_client import (
    OversizedAnswer,
    closing_responses,
    http_client,
)
from loopforge.models.providers.provider_faults import fault_of
from loopforge.models.providers.token_estimate import estimate_tokens, whole_tokens
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.installation.library_loading import load_in_thread
from loopforge.runtime.ports import Clock, Pictures, Question, QuestionPicture

if TYPE_CHECKING:
    import httpx2

ENDINGS = {"audio/mpeg": "mp3", "audio/mp4": "m4a"}
"""Of files whose kind is called otherwise than they end."""
RATE = 8000
SILENCE = (
    struct.pack(
        "<4sI4s4sIHHIIHH", b"RIFF", 36 + RATE, b"WAVE", b"fmt ", 16, 1, 1, RATE, 2 * RATE, 2, 16
    )
    + struct.pack("<4sI", b"data", RATE)
    + bytes(RATE)
)
"""Half a second in which nothing is said: what it is asked to hear by whoever tries it out."""
GONE = "the voice note is not kept any more, or cannot be read"
LONGEST = 200_000
RESERVED_MINUTES = 10.0
"""Set aside of a budget before a voice note is listened to: nobody knows its length beforehand."""
"""Characters of what is written down; a server that tells more has run wild."""
WORDLESS = AttemptOutcome("malformed", "the server sent no JSON with a `text`", cause="garbled")


class Transcriber:
    """A model that hears, and is reached over the network."""

    def __init__(
        self, spec: ModelSpec, clock: Clock, tasks: BackgroundTasks, sounds: Pictures | None = None
    ) -> None:
        self.spec, self._clock, self._tasks, self._sounds = spec, clock, tasks, sounds
        self._http: httpx2.AsyncClient | None = None
        self._opening = asyncio.Lock()

    async def close(self) -> None:
        """Close its connections."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def attempt(
        self, question: Question, hear: Callable[[str], None], within: float | None = None
    ) -> AttemptOutcome:
        """Ask once. There is no first word to wait for, so it has as long as a whole answer has."""
        del within
        began = self._clock.ticks()
        note = next((one for one in question.pictures if one.hash == question.sound), None)
        data = SILENCE if note is None else await self._data(note)
        if data is None:
            return AttemptOutcome("failed", GONE, ours=True, cause="rejected")
        media = note.media if note else "audio/wav"
        work = self._tasks.spawn(self._sent(media, data), "model answer")
        alarm = self._tasks.spawn(self._clock.sleep(self.spec.total_seconds), "model deadline")
        try:
            await asyncio.wait({work, alarm}, return_when=asyncio.FIRST_COMPLETED)
            tried = work.result() if work.done() else None
        finally:
            alarm.cancel()
            work.cancel()
            await asyncio.gather(alarm, work, return_exceptions=True)
        tried = tried or AttemptOutcome("timed_out", "no transcript came in time", cause="silent")
        if note is not None and tried.cause == "rejected":
            tried = replace(tried, cause="unheard")
        if tried.text:
            hear(tried.text)
        took = round((self._clock.ticks() - began) * 1000)
        return replace(tried, took=took, first=took)

    async def _data(self, note: QuestionPicture) -> bytes | None:
        if self._sounds is None:
            return None
        try:
            return await self._sounds.get(note.hash)
        except LoopforgeError:
            return None

    async def _sent(self, media: str, data: bytes) -> AttemptOutcome:
        """The answer of the server, or what is wrong."""
        ending = ENDINGS.get(media, media.partition("/")[2])
        key = self.spec.key.reveal()
        extra = {name: str(value) for name, value in self.spec.extra.items()}
        try:
            http = await self._client()
            async with closing_responses():
                answer = await http.post(
                    f"{self.spec.base_url.rstrip('/')}/audio/transcriptions",
                    headers={"Authorization": f"Bearer {key}"} if key else {},
                    data={"model": self.spec.id, "response_format": "json", **extra},
                    files={"file": (f"note.{ending}", data, media)},
                )
                return self._read(answer)
        except OversizedAnswer as error:
            return AttemptOutcome("malformed", str(error), cause="garbled")
        except Exception as error:
            return fault_of(error)

    async def _client(self) -> httpx2.AsyncClient:
        async with self._opening:
            if self._http is None:
                self._http = await load_in_thread(http_client, self.spec.base_url)
            return self._http

    def _read(self, answer: httpx2.Response) -> AttemptOutcome:
        """What an answer amounts to."""
        status = answer.status_code
        if not answer.is_success:
            detail = f"{status}: {' '.join(answer.text.split())[:1000]}"
            wait = retry_after(answer.headers.get("retry-after", ""), self._clock.now())
            return _refused(status, detail, wait)
        try:
            told = msgspec.json.decode(answer.content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return WORDLESS
        text = told.get("text") if isinstance(told, dict) else None
        if not isinstance(text, str) or len(text) > LONGEST:
            return WORDLESS
        return AttemptOutcome(
            "answered", text=text.strip(), usage=self._usage(told.get("usage"), text)
        )

    def _usage(self, told: Any, text: str) -> Usage:
        """What it took: tokens or seconds, as the server counts; else its words are estimated."""
        counts = told if isinstance(told, dict) else {}
        read, written = counts.get("input_tokens"), counts.get("output_tokens")
        seconds = counts.get("seconds")
        price = self.spec.minute_price
        if type(read) is int and type(written) is int and min(read, written) >= 0:
            usage = Usage(read=whole_tokens(read), written=whole_tokens(written))
            return replace(usage, cost=usage_cost(self.spec, usage))
        spent = ""
        if price is not None and isinstance(seconds, int | float) and 0 <= seconds < 1e6:
            spent = of_minutes(price, seconds / 60)
        return Usage(written=estimate_tokens(text), cost=spent)


def _refused(status: int, detail: str, wait: float | None) -> AttemptOutcome:
    """What to make of a status that is no success."""
    match status:
        case 401 | 403:
            return AttemptOutcome("failed", detail, lasting=True, cause="key")
        case 402:
            return AttemptOutcome("failed", detail, lasting=True, cause="credit")
        case 404 | 405:
            return AttemptOutcome("failed", detail, lasting=True, cause="unknown")
        case 429:
            return AttemptOutcome("failed", detail, again=True, wait=wait, cause="busy")
        case 400 | 413 | 415 | 422:
            return AttemptOutcome("failed", detail, ours=True, cause="rejected")
    again = status >= 500 or status in (408, 409, 425)
    return AttemptOutcome("failed", detail, again=again, wait=wait, cause="broken")
