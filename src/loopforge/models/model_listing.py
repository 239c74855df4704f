"""The models of a home as people see them: what is configured, what is missing, what answers.

`ModelListing` lists tiers, models and the variables that open services (whether they are set, never
what they hold), and asks one model whether it is there. Knows no page and no command line.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from loopforge.core.model_trouble import fixes_for_owner
from loopforge.core.policy import AnswerOutcome
from loopforge.core.text.name_labels import truncate_text
from loopforge.errors import BadSettings, Unknown
from loopforge.models.model_router import TieredModels
from loopforge.models.model_tiers import Tiers
from loopforge.models.providers.known_services import PLACES, is_open, key_objection
from loopforge.models.providers.model_spec import ModelSpec
from loopforge.models.providers.own_servers import ServerNote
from loopforge.runtime.ports import ModelReply, Models, Question, Route

LONGEST = 30.0
"""Seconds after which a model that was only asked whether it is there is given up on."""
HELLO = Question(messages=(("user", "Say hello in one short sentence."),), max_tokens=40)
SHOWN = 300
"""Characters of an answer or of an error that are shown."""


class ModelRow(Struct, frozen=True, kw_only=True):
    """One model. `needs` says what is missing, "" where it can be used; `tiers` name it, in order.

    `place` says where it is reached, `price` what a million tokens cost where the file says so.
    """

    name: str
    tiers: tuple[int, ...]
    needs: str = ""
    id: str = ""
    place: str = ""
    window: int = 0
    price: str = ""
    embedded: bool = False
    small: bool = False


class TierRow(Struct, frozen=True, kw_only=True):
    """One tier: its usable models in the order they are asked, and which tier really answers.

    `served` is 0 where no model can be used at all.
    """

    tier: int
    models: tuple[str, ...]
    served: int


class PlaceRow(Struct, frozen=True, kw_only=True):
    """One service: its variables with whether each is set, and whether that is enough."""

    title: str
    variables: tuple[tuple[str, bool], ...]
    open: bool


class ModelTrial(Struct, frozen=True, kw_only=True):
    """What came of asking one model. `said` is its answer, or the error; `took` milliseconds.

    `mend` says what its owner has to mend, where that is known.
    """

    name: str
    outcome: AnswerOutcome
    said: str
    took: int
    cost: str = ""
    mend: str = ""

    @property
    def well(self) -> bool:
        """Whether it answered."""
        return self.outcome == "answered"


class KeyTrial(Struct, frozen=True, kw_only=True):
    """What a key or an address would open, and what the first of those models answered.

    `trouble` says in words why none is opened.
    """

    models: tuple[str, ...] = ()
    found: ModelTrial | None = None
    trouble: str = ""

    @property
    def well(self) -> bool:
        """Whether a model answered."""
        return self.found is not None and self.found.well


async def _unpaid(_: ModelReply) -> None:
    """Nobody counts."""


class ModelListing:
    """The models of a home, for its owner. `keys` are the variables of services, with values.

    `open` gives models by such variables, not loaded yet; `paid` is told what each asking took.
    """

    def __init__(
        self,
        models: Models,
        open: Callable[[Mapping[str, str]], TieredModels],
        keys: Mapping[str, str],
        paid: Callable[[ModelReply], Awaitable[None]] = _unpaid,
    ) -> None:
        self._models, self._opening, self._paid = models, open, paid
        self.become(keys)

    def become(self, keys: Mapping[str, str]) -> None:
        """These are the variables of services from now on."""
        self._values = dict(keys)
        self._fixed: Tiers | None = None
        self._keys = {name: bool(value) for name, value in keys.items()}
        self._open = {name: is_open(name, keys) for name in PLACES}
        self._secrets = [value for value in keys.values() if len(value) > 5]

    @property
    def _tiers(self) -> Tiers:
        """As they stand now: what servers of one's own have may change."""
        if isinstance(self._models, TieredModels):
            return self._models.tiers
        if self._fixed is None:
            self._fixed = self._opening(self._values).tiers
        return self._fixed

    async def look(self) -> None:
        """Ask the servers of one's own anew which models they have."""
        if isinstance(self._models, TieredModels):
            await self._models.learn(anew=True)

    def notes(self) -> list[ServerNote]:
        """How matters stand with each server of one's own."""
        return [
            replace(note, said=self._hidden(note.said), mend=self._hidden(note.mend))
            for note in self._tiers.notes()
        ]

    @property
    def keyless(self) -> bool:
        """Whether the embedded model answers for want of any key."""
        return self._tiers.keyless

    def rows(self) -> list[ModelRow]:
        """Every model: those that can be used first, in the order of the tiers."""
        names = [*self._tiers.models, *self._tiers.missing]
        made = [self._row(name) for name in dict.fromkeys(names) if name != "scripted"]
        return sorted(made, key=lambda row: (bool(row.needs), row.tiers or (9,)))

    def _row(self, name: str) -> ModelRow:
        places = [n for n, names in enumerate(self._tiers.tiers, 1) if name in names]
        spec = self._tiers.models.get(name)
        if spec is None:
            return ModelRow(name=name, tiers=tuple(places), needs=self._tiers.missing[name])
        return ModelRow(
            name=name,
            tiers=tuple(places),
            id=spec.id,
            place=self._hidden(spec.place),
            window=spec.window,
            price=_price(spec),
            embedded=spec.provider == "embedded",
            small=spec.small,
        )

    def tiers(self) -> list[TierRow]:
        """The tiers, from the first."""
        return [
            TierRow(tier=number, models=names, served=self._tiers.served[number - 1])
            for number, names in enumerate(self._tiers.tiers, 1)
        ]

    def places(self) -> list[PlaceRow]:
        """The services, then other variables that are set and may be some model's."""
        rows = [
            PlaceRow(
                title=place.title,
                variables=tuple(
                    (name, self._keys.get(name, False))
                    for name in (*place.keys, place.base_variable)
                    if name
                ),
                open=self._open[known],
            )
            for known, place in PLACES.items()
        ]
        listed = {name for row in rows for name, _ in row.variables}
        others = tuple((name, True) for name in sorted(self._keys) if name not in listed)
        more = [PlaceRow(title="others that are set", variables=others, open=True)]
        return sorted(rows, key=lambda row: not row.open) + (more if others else [])

    async def check(self, name: str) -> ModelTrial:
        """Ask one model to say hello, once. Raises Unknown if there is no such model."""
        if not self._tiers.known(name) and name not in self._tiers.missing:
            raise Unknown(f"There is no model {name!r}.")
        return await self._sounded(name, self._models)

    async def try_keys(self, given: Mapping[str, str]) -> KeyTrial:
        """Try such variables beside those that are set: nothing is saved.

        The first model they open is asked to say hello, once. Raises BadSettings for what is none.
        """
        for objection in filter(None, (key_objection(*each) for each in given.items())):
            raise BadSettings(objection)
        before = self._opening({k: v for k, v in self._values.items() if k not in given}).tiers
        models = self._opening({**self._values, **given})
        try:
            await models.learn()
            opened = [
                name
                for name, spec in models.tiers.models.items()
                if spec.base_url and spec != before.models.get(name)
            ]
            wrong = [note.said for note in models.tiers.notes() if note.state == "wrong"]
            if wrong or not opened:
                said = " ".join(wrong) or "It opens none of the models that this home knows."
                return KeyTrial(trouble=self._hidden(said))
            first = (name for names in models.tiers.tiers for name in names if name in opened)
            found = await self._sounded(next(first, opened[0]), models)
            return KeyTrial(models=tuple(opened), found=found)
        finally:
            await models.close()

    async def _sounded(self, name: str, models: Models) -> ModelTrial:
        try:
            async with asyncio.timeout(LONGEST):
                reply = await _ask(name, models)
            await self._paid(reply)
        except TimeoutError:
            said = f"It gave no whole answer within {LONGEST:.0f} seconds."
            return ModelTrial(name=name, outcome="timed_out", said=said, took=round(LONGEST * 1000))
        except Unknown as error:
            return ModelTrial(name=name, outcome="failed", said=str(error), took=0)
        faults = [str(each.detail) for each in reply.attempts if each.detail]
        said = reply.text.strip() or (faults[-1] if faults else "It said nothing.")
        return ModelTrial(
            name=name,
            outcome=reply.outcome,
            said=truncate_text(self._hidden(said), SHOWN),
            took=reply.took,
            cost=reply.usage.cost,
            mend=fixes_for_owner((each.model, each.cause) for each in reply.attempts),
        )

    def _hidden(self, text: str) -> str:
        """The text without any key, or name and password of an address."""
        for secret in self._secrets:
            if "://" not in secret:
                text = text.replace(secret, "[key]")
        return re.sub(r"//[^/@\s]*@", "//", text)


async def _ask(name: str, models: Models) -> ModelReply:
    if isinstance(models, TieredModels):
        return await models.sound(name, HELLO)
    return await models.ask(replace(HELLO, route=Route(model=name)), lambda _: None)


def _price(spec: ModelSpec) -> str:
    if spec.provider in ("embedded", "scripted"):
        return "free"
    if spec.price is None:
        return "as listed" if spec.vendor else ""
    return f"${spec.price.read:g} read, ${spec.price.written:g} written"
