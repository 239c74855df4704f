"""What is known of one language model as configured: how to reach it, what it can do, its price.

Knows nothing of files, tiers or networks.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

WINDOW = 32_768
"""Tokens of a model's window, where neither a table nor its service tells."""
USUAL_WINDOW = 4096
"""Tokens that Ollama and llama.cpp read of a prompt unless their owner sets more; of a longer one
Ollama drops the rest unsaid."""
UNTOLD_WINDOW = 8192
"""Tokens that are counted on where a server of one's own does not tell."""
AMOUNT = Meta(ge=0)
"""Of seconds, tokens or dollars: none or more."""
Provider = Literal["openai", "anthropic", "google", "embedded", "scripted"]


class Secret:
    """A key. It never shows itself: `reveal()` is the only way to it.

    An empty one is false.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        self._text = text

    def reveal(self) -> str:
        """The key itself, for the one header it belongs in."""
        return self._text

    def hide_in(self, text: str) -> str:
        """The text with this key blotted out."""
        return text.replace(self._text, "[key]") if self._text else text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Secret(...)" if self._text else "Secret()"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


class Price(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars per million tokens: read, written, read from the provider's cache, stored there.

    Without `cached` or `stored`, such tokens cost what others that are read do.
    """

    read: Annotated[float, AMOUNT]
    written: Annotated[float, AMOUNT]
    cached: Annotated[float, AMOUNT] | None = None
    stored: Annotated[float, AMOUNT] | None = None


class ModelSpec(Struct, frozen=True, kw_only=True):
    """One model that can be used.

    `provider` is the protocol: "openai" means any server that speaks OpenAI's. `place` says where
    it is reached, for people; `id` is its name there; `vendor` its name in the price list.
    `structured`: the server constrains answers to a JSON schema (else the prompt asks for JSON).
    `responses`: it answers only through OpenAI's Responses API. `thinking` is how many tokens it
    may think silently on top of what an answer may have. `extra` goes into the request as it is.
    `vision`: it can be shown pictures. `hears`: it writes down what is said in a sound file
    (OpenAI's `/audio/transcriptions`), and is asked nothing else; a minute of that costs
    `minute_price` US dollars, where it does not count tokens. `slots` questions at once; times in
    seconds.
    """

    name: str
    provider: Provider
    id: str
    place: str = ""
    vendor: str = ""
    base_url: str = ""
    key: Secret = Secret()
    tools: bool = True
    structured: bool = True
    responses: bool = False
    small: bool = False
    vision: bool = False
    hears: bool = False
    minute_price: float | None = None
    thinking: int = 0
    window: int = 32_768
    price: Price | None = None
    slots: int = 8
    first_token_seconds: float = 60
    total_seconds: float = 180
    extra: dict[str, Any] = {}
