"""Language models, and texts as vectors: what is asked of them, and what they answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from msgspec import UNSET, Struct, UnsetType

from loopforge.core.limits.budget_limits import BudgetNote, Charge
from loopforge.core.model_trouble import Delay
from loopforge.core.perception import ToolOffer
from loopforge.core.policy import AnswerOutcome, Fits
from loopforge.core.turn_events import Attempt, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from loopforge.core.mates.mate_file import Mate


class Route(Struct, frozen=True, kw_only=True):
    """Which model to ask: a tier (1 to 4), or one model by its name in loopforge.toml.

    `temperature` and `top_p` are how it draws its words; None and UNSET are the model's own. What
    is unset is not written: so the keys of old tapes and runs hold.
    """

    tier: int = 1
    model: str = ""
    temperature: float | None = None
    top_p: float | UnsetType = UNSET

    @classmethod
    def of(cls, mate: Mate) -> Route:
        """The model that a mate asks for, and how it draws its words."""
        top_p = UNSET if mate.top_p is None else mate.top_p
        return cls(tier=mate.tier, model=mate.model, temperature=mate.temperature, top_p=top_p)


class QuestionPicture(Struct, frozen=True, kw_only=True):
    """A picture at the end of a question's message; `message` is its place among them, from 0."""

    message: int
    hash: str
    media: str


class Question(Struct, frozen=True, kw_only=True):
    """One request to a language model. `messages` are (role, text) pairs; the rest as in Ask.

    `pictures` stand by the hash of their bytes, in the order of their messages; one of them may be
    a voice note, which is all that a model that hears is given. `field` is the one
    that the answer is about; with `aloud` it (or without a schema, the text) is shown to people as
    it comes, and once it has more than `longest` characters (0: any) no more is read. `charge` says
    for whom it is paid.
    """

    messages: tuple[tuple[str, str], ...]
    schema: dict[str, Any] | None = None
    max_tokens: int = 400
    route: Route = Route()
    pictures: tuple[QuestionPicture, ...] = ()
    field: str = ""
    aloud: bool = False
    longest: int = 0
    fits: Fits = "any"
    tools: tuple[ToolOffer, ...] = ()
    listing: int = -1
    exact: bool = False
    charge: Charge = Charge()

    @property
    def sound(self) -> str:
        """The hash of a voice note that is to be written down; "" of a question in words."""
        return next((one.hash for one in self.pictures if one.media.startswith("audio/")), "")


class ModelReply(Struct, frozen=True, kw_only=True):
    """What became of a question; never an exception.

    `text` is the raw answer as far as it came. `data` is what was parsed under a schema.
    `attempts` lists every try at every model, in order. `first` and `took` are milliseconds.
    `cut`: more would have come. `usage` is that of the answer; tries before it have their own.
    `budget` is what the tightest budget said. `small` as in Answer.
    """

    outcome: AnswerOutcome
    text: str = ""
    data: dict[str, Any] | None = None
    model: str = ""
    fallback: bool = False
    attempts: tuple[Attempt, ...] = ()
    usage: Usage = Usage()
    first: int = 0
    took: int = 0
    cut: bool = False
    small: bool = False
    budget: BudgetNote | None = None

    @property
    def usages(self) -> tuple[tuple[str, Usage], ...]:
        """All that it took, each with its model: of each try, and of the answer."""
        tries = ((one.model, one.usage) for one in self.attempts if one.usage)
        return (*tries, (self.model, self.usage))


class Pictures(Protocol):
    """The bytes of pictures, by their hash."""

    async def get(self, hash: str) -> bytes:
        """The bytes. Raises a LoopforgeError when they are gone, damaged or out of reach."""


@runtime_checkable
class AnswerListener(Protocol):
    """Who hears an answer come and wants to know, too, that it does not come, or no further."""

    def slow(self, model: str, others: str, how: Delay) -> None:
        """This model lets one wait; the next that is asked is `others`, "" for nobody.

        Whether there are words in what came is the hearer's to know.
        """

    def paid(self, usage: Usage, tries: Sequence[Attempt]) -> None:
        """The question was cancelled: what is counted for it, beside the tries before it."""


@runtime_checkable
class ModelListener(Protocol):
    """Who hears an answer come and wants to know whose it is, and of tries that are over."""

    def asking(self, model: str) -> None:
        """It is this model that is asked now."""

    def tried(self, attempt: Attempt) -> None:
        """A try is over, with what it took; as a rule another one follows."""


ANEW = "\0anew\0"
"""A piece of an answer that says: another one begins in the place of what came so far."""


class Models(Protocol):
    """Language models behind tiers."""

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """Ask; `hear` is given each piece of text as it comes, and ANEW where it comes anew.

        Cancelling the task stops it. An empty piece is a sign of life (the model thinks). A `hear`
        that is an AnswerListener is told, once, when no sign comes for a while.
        """

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by the model's own tokenizer, or a stated estimate."""

    def facts(self, route: Route) -> ModelFacts:
        """What is known of the first choice of a route, without asking it."""


@runtime_checkable
class PricedModels(Protocol):
    """Models that know beforehand about what an answer takes."""

    def estimate(self, question: Question, heard: str | None = None) -> Usage:
        """What a question takes at most: its prompt, and an answer as long as it may be.

        Tokens are estimated, the cost is by the price of the dearest model that may be asked. With
        what was `heard` of an answer that was cut off: about what that took, at the first model.
        """


class ModelFacts(Struct, frozen=True, kw_only=True):
    """A model as configured.

    `window` is in tokens; `small` models get short prompts; `vision`: it is shown pictures.
    """

    name: str
    window: int
    small: bool = False
    tools: bool = False
    embedded: bool = False
    vision: bool = False


class Embeddings(Protocol):
    """Texts as vectors: texts of near meaning lie near each other.

    `name` says whose vectors they are: those of two names are never compared. `dimension` is how
    many numbers a vector has; 0 where a server has yet to tell.
    """

    name: str
    dimension: int

    async def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of `dimension` numbers for each text, in order, of length 1 (so a dot is a cosine).

        A text that holds nothing known is a row of zeros. Raises ModelError, which says what to do.
        """

    async def close(self) -> None:
        """Let go of what it holds; it is asked no more."""


@runtime_checkable
class WordEmbeddings(Protocol):
    """Embeddings that have a vector for each word, at once and at no cost."""

    def word_vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """A row for each word: the longer, the more the word says. Zeros for one not known."""


@runtime_checkable
class WeightedEmbeddings(Protocol):
    """Embeddings of several parts, of which one tells more of what was said than another."""

    def leaning(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The vector of a question, with more weight on that part."""
