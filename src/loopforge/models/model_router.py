"""TieredModels: the `Models` port over tiers. Tries, waits, goes on to the tier's next model.

    ask -> the tier's models in order -> a few tries at each, with waits -> the first answer

Every try stands in the reply's `attempts`. Refusals and malformed answers are answers of a kind:
they go to the policy, and nothing is tried again. Nor is anything once people were shown words.
What a server of one's own has is asked of it before the first question, again as long as it does
not tell, and anew when it does not know a model that it had.
Knows nothing of protocols (model_attempt.py), of how models are found (model_tiers.py), nor of
rooms.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from loopforge.core.model_trouble import Delay
from loopforge.core.policy import Fits
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Attempt, Usage
from loopforge.errors import Unknown
from loopforge.models.circuit_breaker import CircuitBreaker
from loopforge.models.embedded.embedded_model import EmbeddedModel, EmbeddedProvider
from loopforge.models.model_pool import ModelPool, ModelVoice
from loopforge.models.model_tiers import Tiers
from loopforge.models.providers.attempt_outcome import NO_PLACE, AttemptOutcome
from loopforge.models.providers.model_attempt import Provider
from loopforge.models.providers.model_spec import ModelSpec
from loopforge.models.providers.own_servers import Catalogues, OwnServer
from loopforge.models.providers.server_catalogue import ServerCatalogue, fetch_catalogue
from loopforge.models.retry_patience import AMISS, LEAST, MOST_WAITED, SLOW, RetryPatience
from loopforge.models.scripted_model import ScriptedProvider
from loopforge.models.token_counting import TokenCounter
from loopforge.models.transcription.transcription_attempt import Transcriber
from loopforge.models.usage_estimate import most_taken, taken_until
from loopforge.runtime.background_tasks import BackgroundTasks, acquire_within
from loopforge.runtime.ports import (
    ANEW,
    AnswerListener,
    Clock,
    Dice,
    ModelFacts,
    ModelListener,
    ModelReply,
    Pictures,
    Question,
    Route,
)

LONGEST_DETAIL = 2000
SOON = 1.0
"""Seconds until the embedded model is loaded in advance."""
UNANSWERED = ("failed", "timed_out")
AGAIN = 5.0
"""Seconds for which a server that did not tell what it has is not asked again."""


@dataclass
class TierClimb:
    """One question on its way over the models.

    `alive` once any gave a sign, `spoke` when the last words came; `busy` while one is waited for
    that said that it is asked too often.
    `after` are models that come after those, and want the question in another form.
    """

    question: Question
    hear: Callable[[str], None]
    attempts: list[Attempt]
    until: float
    ticks: Callable[[], float]
    after: Sequence[str] = ()
    alive: bool = False
    busy: bool = False
    spoke: float = -1.0
    asked: str = ""
    next: str = ""
    _left: int = 1

    def at(self, name: str, others: Sequence[str]) -> None:
        """It has come to this model, with these after it."""
        self.asked, self.next, self._left = name, next(iter(others), ""), len(others) + 1
        hear: object = self.hear
        if isinstance(hear, ModelListener):
            hear.asking(name)

    def tried(self, attempt: Attempt) -> None:
        """A try at it is over."""
        self.attempts.append(attempt)
        hear: object = self.hear
        if isinstance(hear, ModelListener):
            hear.tried(attempt)

    def share(self, now: float) -> float:
        """Seconds that this model has until its first word."""
        return max((self.until - now) / self._left, LEAST)

    def heard(self, piece: str) -> None:
        """A sign of life, mostly with words in it."""
        self.alive = True
        if piece:
            self.spoke = self.ticks()
        self.hear(piece)


def _fitting_models(
    specs: Sequence[ModelSpec], fits: Fits
) -> tuple[Sequence[ModelSpec], tuple[str, ...]]:
    """The models that a prompt was made for, and those after them that want another."""
    small = next((nth for nth, spec in enumerate(specs) if spec.small), len(specs))
    if fits == "large":
        return specs[:small], tuple(spec.name for spec in specs[small:])
    return (specs[small:] if fits == "small" and small < len(specs) else specs), ()


def _before_last(attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """The tries, the last of which has its usage in the reply."""
    made = [nth for nth, one in enumerate(attempts) if one.outcome not in ("missing", "resting")]
    last = made[-1] if made else -1
    return tuple(
        replace(one, usage=None) if nth == last else one for nth, one in enumerate(attempts)
    )


async def _retire_models(embedded: EmbeddedModel, voices: Sequence[ModelVoice]) -> None:
    try:
        await embedded.retire()
    finally:  # also where the program ends before
        await embedded.close()
        for voice in voices:
            await voice.close()


class TieredModels:
    """The `Models` port. `close` when done; `preload` loads what is asked first in advance.

    `read` makes the tiers anew from what servers of one's own told. Without `pictures` no model
    sees any.
    """

    def __init__(
        self,
        tiers: Tiers,
        clock: Clock,
        dice: Dice,
        *,
        patience: RetryPatience = RetryPatience(),  # noqa: B008  frozen
        embedded: EmbeddedModel | None = None,
        pictures: Pictures | None = None,
        read: Callable[[Catalogues], Tiers] | None = None,
    ) -> None:
        self.tiers, self._read, self._pictures = tiers, read, pictures
        self._catalogues: dict[str, ServerCatalogue] = {}
        self._looked: dict[str, float] = {}
        self._clock, self._dice, self._patience = clock, dice, patience
        self._tasks = BackgroundTasks()
        self.embedded = embedded or EmbeddedModel(dice)
        self._pool = ModelPool(self._make_voice, self._is_current)
        self._rests = CircuitBreaker()
        self._counter = TokenCounter(self.embedded)

    def of_tier(self, tier: int) -> tuple[str, ...]:
        """The names of those that serve a tier, in order."""
        return tuple(spec.name for spec in self.tiers.choose(Route(tier=tier)))

    def known(self, name: str) -> bool:
        """Whether there is such a model, and it can be used."""
        return bool(self.tiers.known(name))

    # ------------------------------------------------------------ the port

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """Ask the route's models in their order until one answers."""
        began = self._clock.ticks()
        await self.learn()
        route = question.route
        attempts: list[Attempt] = []
        if route.model and (objection := self.tiers.objection(route.model)):
            attempts.append(
                Attempt(
                    model=route.model,
                    outcome="missing",
                    detail=Words(objection),
                    cause="missing",
                    has="" if route.model in self.tiers.missing else self.tiers.instead(),
                )
            )
        specs = self._models_to_ask(question)
        asked, after = _fitting_models(specs, question.fits)
        share = self._patience.climb * (len(asked) or 1) / (len(specs) or 1)
        share = share if question.fits == "small" else self._patience.climb
        climb = TierClimb(question, hear, attempts, began + share, self._clock.ticks, after)
        watching = self._tasks.spawn(self._report_silence(climb), "slow models")
        try:
            name, last = await self._climb_models(asked, climb)
            if last.cause in ("unknown", "nothing") and await self._has_other_models(
                name, route, specs
            ):
                specs = self._models_to_ask(question)
                asked, climb.after = _fitting_models(specs, question.fits)
                name, last = await self._climb_models(asked, climb)
        finally:
            watching.cancel()
        wanted = self.tiers.known(route.model) or route.model or (specs[0].name if specs else "")
        return replace(
            self._reply_of(name, last, attempts, began),
            fallback=bool(name) and name != wanted,
            small=bool(climb.after) and last.outcome in UNANSWERED and not last.text,
        )

    def _models_to_ask(self, question: Question) -> tuple[ModelSpec, ...]:
        """The models to ask, in order; with a voice note none but those that hear."""
        specs = self.tiers.choose(question.route)
        return tuple(spec for spec in specs if spec.hears == bool(question.sound))

    async def sound(self, name: str, question: Question, *, patient: bool = False) -> ModelReply:
        """Ask this one model, and nobody in its stead, whether it rests or not.

        Once; `patient`: with tries, waiting out its limits of how often it is asked. Raises Unknown
        for a model that cannot be used.
        """
        await self.learn()
        if objection := self.tiers.objection(name):
            raise Unknown(f"It cannot be asked: {objection}.")
        spec, began = self.tiers.models[self.tiers.known(name)], self._clock.ticks()
        attempts: list[Attempt] = []
        waited = 0.0
        while True:
            async with self._pool.places(spec):
                with self._pool.voice(spec) as voice:
                    last = await voice.attempt(question, lambda _: None)
            attempts.append(self._attempt_of(spec, last))
            wait = self._patient_wait(last, len(attempts), waited) if patient else None
            if wait is None:
                break
            waited += wait
            await self._clock.sleep(wait)
        if last.outcome not in UNANSWERED:
            self._rests.worked(name)
        return self._reply_of(name, last, attempts, began)

    def _patient_wait(self, tried: AttemptOutcome, tries: int, waited: float) -> float | None:
        """As `_seconds_to_retry`; of a model asked too often as long as it takes, within reason.

        None where it says itself that it will take longer than that.
        """
        if tried.cause == "busy" and (tried.wait or 0) > MOST_WAITED:
            return None
        if tried.cause != "busy" or waited >= MOST_WAITED:
            return self._seconds_to_retry(tried, tries)
        longer = min(SOON * 2.0**tries, self._patience.longest)
        asked = longer if tried.wait is None else tried.wait
        return min(max(asked, SOON), MOST_WAITED - waited)

    def _reply_of(
        self, name: str, last: AttemptOutcome, attempts: Sequence[Attempt], began: float
    ) -> ModelReply:
        took = round((self._clock.ticks() - began) * 1000)
        return ModelReply(
            outcome=last.outcome,
            text=last.text,
            data=last.data,
            model=name,
            attempts=_before_last(attempts),
            usage=last.usage,
            cut=last.cut,
            first=took - last.took + last.first,
            took=took,
        )

    def estimate(self, question: Question, heard: str | None = None) -> Usage:
        """See `PricedModels.estimate`."""
        specs = self.tiers.choose(question.route)
        if heard is None:
            return most_taken(specs, question)
        return taken_until(specs[0], question, heard) if specs else Usage()

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, as the route's first model counts them if it can be asked."""
        specs = [spec for spec in self.tiers.choose(route) if not spec.hears]
        return await self._counter.count(specs[0] if specs else None, texts)

    def facts(self, route: Route) -> ModelFacts:
        """What is known of the route's first model."""
        specs = self.tiers.choose(route)
        if not specs:
            return ModelFacts(name="no model", window=4096)
        spec = specs[0]
        return ModelFacts(
            name=spec.name,
            window=spec.window,
            small=spec.small,
            tools=spec.tools,
            embedded=spec.provider == "embedded",
            vision=spec.vision,
        )

    def become(self, read: Callable[[Catalogues], Tiers], patience: RetryPatience) -> None:
        """Go by other tiers and another patience from the next question on."""
        self._read, self._patience = read, patience
        self.tiers = read(dict(self._catalogues))
        self._rests = CircuitBreaker()
        self._pool.close_former()
        self._counter.become(self.embedded)

    async def change_embedded(self, new: EmbeddedModel) -> None:
        """Let another model answer inside this process, from the next question on.

        It is loaded beside the one there is, which goes when it has answered what it was asked.
        Raises ModelError where it cannot be loaded; then all is as before.
        """
        if self.embedded.begun or self.facts(Route()).embedded:
            try:
                await new.address()
            except BaseException:
                await new.close()
                raise
        old, self.embedded = self.embedded, new
        self._counter.become(new)
        retiring = _retire_models(old, self._pool.take_embedded())
        self._tasks.spawn(retiring, "the embedded model of before")

    async def close(self) -> None:
        """Close connections and the embedded model."""
        await self._tasks.close()
        await self._pool.close()
        await self._counter.close()
        await self.embedded.close()

    def preload(self) -> None:
        """Load in a moment what the first tier would ask: the embedded model, or a client.

        Not at once: loading holds up the whole process for half a second or more, and a person who
        comes in now should find the room drawn first. A question that comes sooner loads it.
        """
        spec = next(iter(self.tiers.choose(Route())), None)
        if spec and spec.provider != "scripted":
            self._tasks.spawn(self._prepare_model(spec), "preload")

    async def _prepare_model(self, spec: ModelSpec) -> None:
        await self._clock.sleep(SOON)
        with self._pool.voice(spec) as voice:
            if isinstance(voice, EmbeddedProvider | Provider):
                await voice.prepare()

    # ------------------------------------------------------------ servers of one's own

    async def learn(self, *, anew: bool = False) -> None:
        """Ask the servers of one's own which models they have, where that is not known yet.

        `anew`: those too that told it a while ago. Each has a few seconds for its answer.
        """
        now = self._clock.ticks()
        due = [
            server
            for server in self.tiers.servers
            if self._read
            and (anew or server.catalogue(self._catalogues).trouble not in ("", "unlisted"))
            and now - self._looked.get(server.address, -AGAIN) >= AGAIN
        ]
        if due:
            await self._look_at_servers(due)

    async def _look_at_servers(self, servers: Sequence[OwnServer]) -> None:
        now = self._clock.ticks()
        self._looked.update((server.address, now) for server in servers)
        found = await asyncio.gather(*(fetch_catalogue(each.address, each.key) for each in servers))
        for server, catalogue in zip(servers, found, strict=True):
            known = self._catalogues.get(server.address)
            if known is None or known.trouble or not catalogue.trouble:
                self._catalogues[server.address] = catalogue
        if self._read:
            self.tiers = self._read(dict(self._catalogues))
            self._pool.close_former()

    async def _has_other_models(self, name: str, route: Route, specs: Sequence[ModelSpec]) -> bool:
        """Whether a server that did not know its model has others now."""
        spec = self.tiers.models.get(name)
        own = [
            server
            for server in self.tiers.servers
            if spec and server.catalogue(self._catalogues).base_url == spec.base_url
        ]
        if own and self._read:
            await self._look_at_servers(own)
        return bool(own) and self.tiers.choose(route) != tuple(specs)

    # ------------------------------------------------------------ tries

    async def _report_silence(self, climb: TierClimb) -> None:
        """Say so when no sign comes for a while, or none with words, or no more after words."""
        hear: object = climb.hear
        if not isinstance(hear, AnswerListener):
            return
        await self._clock.sleep(SLOW)
        waits: Delay = "busy" if climb.busy else "thinking" if climb.alive else "slow"
        hear.slow(climb.asked, climb.next, waits)
        told = -1.0
        while True:
            left = climb.spoke + SLOW - self._clock.ticks() if climb.spoke > told else SLOW
            if left > 0:
                await self._clock.sleep(left)
            else:
                told = climb.spoke
                hear.slow(climb.asked, climb.next, "stalled")

    async def _climb_models(
        self, specs: Sequence[ModelSpec], climb: TierClimb
    ) -> tuple[str, AttemptOutcome]:
        """The models in order, until one answers. If all are at rest, the one that wakes first."""
        name, last = "", AttemptOutcome(outcome="failed")
        for nth, spec in enumerate(specs):
            if not self._rests.enter(spec.name, self._clock.ticks()):
                why = Words("passed over: it failed a moment ago")
                climb.attempts.append(Attempt(model=spec.name, outcome="resting", detail=why))
                continue
            climb.at(spec.name, [*(one.name for one in specs[nth + 1 :]), *climb.after])
            name, last = spec.name, await self._try_some_times(spec, climb)
            if last.outcome not in UNANSWERED or last.shown:
                return name, last
            if last.text:
                climb.hear(ANEW)
        if specs and not name and not climb.after:
            spec = min(specs, key=lambda spec: self._rests.until(spec.name))
            climb.at(spec.name, climb.after)
            return spec.name, await self._try_some_times(spec, climb)
        return name, last

    async def _try_some_times(self, spec: ModelSpec, climb: TierClimb) -> AttemptOutcome:
        """A few tries at one model, as long as its share of the time is not up."""
        tries, now = 0, self._clock.ticks()
        until = now + climb.share(now)
        try:
            while True:
                tried = await self._try_once(spec, climb, until)
                tries += 1
                climb.tried(self._attempt_of(spec, tried))
                wait = self._seconds_to_retry(tried, tries)
                if wait is None or self._clock.ticks() + wait >= until:
                    return self._note_outcome(spec, tried)
                if tried.text:
                    climb.hear(ANEW)
                climb.busy = tried.cause == "busy"
                await self._clock.sleep(wait)
                climb.busy = False
        finally:
            self._rests.leave(spec.name)

    async def _try_once(self, spec: ModelSpec, climb: TierClimb, until: float) -> AttemptOutcome:
        """One try, once there is a place at the model."""
        places, left = self._pool.places(spec), until - self._clock.ticks()
        if not places.locked():
            await places.acquire()
        elif not await acquire_within(
            places.acquire(), places.release, max(left, LEAST), self._clock, self._tasks
        ):
            return NO_PLACE
        try:
            left = max(until - self._clock.ticks(), LEAST)
            with self._pool.voice(spec) as voice:
                return await voice.attempt(climb.question, climb.heard, left)
        finally:
            places.release()

    def _seconds_to_retry(self, tried: AttemptOutcome, tries: int) -> float | None:
        """Seconds until the next try at the same model; None: there is none."""
        patience = self._patience
        most = patience.tries if tried.outcome in UNANSWERED else min(patience.tries, AMISS)
        if not tried.again or tried.shown or tries >= most:
            return None
        if tried.wait is not None:
            return tried.wait if tried.wait <= patience.longest else None
        share = int.from_bytes(self._dice.bytes(2), "big") / 0xFFFF
        return min(patience.wait * 2.0 ** (tries - 1) * (0.75 + share / 2), patience.longest)

    def _note_outcome(self, spec: ModelSpec, tried: AttemptOutcome) -> AttemptOutcome:
        """Remember how it went."""
        if tried.outcome not in UNANSWERED:
            self._rests.worked(spec.name)
        elif not tried.ours:
            now, least = self._clock.ticks(), tried.wait or 0.0
            self._rests.failed(spec.name, now, least=least, lasting=tried.lasting)
        return tried

    def _attempt_of(self, spec: ModelSpec, tried: AttemptOutcome) -> Attempt:
        detail = tried.detail
        for known in (spec, *self.tiers.models.values()):
            detail = known.key.hide_in(detail)
        detail = detail[:LONGEST_DETAIL]
        return Attempt(
            model=spec.name,
            outcome=tried.outcome,
            took=tried.took,
            detail=Words(detail),
            cause=tried.cause,
            usage=tried.usage if tried.usage != Usage() else None,
            has=self.tiers.instead(spec.base_url) if tried.cause == "unknown" else "",
            wait=tried.wait or 0.0,
        )

    # ------------------------------------------------------------ models

    def _is_current(self, spec: ModelSpec) -> bool:
        return self.tiers.models.get(spec.name) == spec

    def _make_voice(self, spec: ModelSpec) -> ModelVoice:
        match spec.provider:
            case "embedded":
                return EmbeddedProvider(spec, self.embedded, self._clock, self._tasks)
            case "scripted":
                return ScriptedProvider(spec, self._clock)
            case _ if spec.hears:
                return Transcriber(spec, self._clock, self._tasks, self._pictures)
            case _:
                return Provider(spec, self._clock, self._tasks, self._pictures)
