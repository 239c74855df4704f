"""Words: a text that can be forgotten.

An event holds only the salted digest (`ref`) of private words; the words themselves, with
their salt, lie in a side table that erasure may empty. In memory a `Words` carries both.
Public words (a mate's name, a rule's text) are written into the event as they are.

Knows nothing of where texts are kept; the ledger fills `ref` on append and `text` on read.
"""

import hashlib
from typing import Any

import msgspec

FORGOTTEN = "[forgotten]"
_PUBLIC = "="
_PRIVATE = "#"


class Words:
    """Some text, its ref once stored, or only its ref once forgotten.

    `text` is None when the text was erased. `ref` is "" until the ledger has stored it.
    Two Words are equal when their refs are (both stored), else when their texts are.
    Many hold the same ones, and minds are shown them: they change by `set_words_text` and
    `set_words_ref` alone.
    """

    __slots__ = ("public", "ref", "text")
    text: str | None
    ref: str
    public: bool

    def __init__(self, text: str | None = "", ref: str = "", *, public: bool = False) -> None:
        _set_text(self, text)
        _set_ref(self, ref)
        _set_public(self, public)

    def __setattr__(self, name: str, _value: object) -> None:
        raise AttributeError(f"the {name} of Words is not to be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"the {name} of Words is not to be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.text, self.ref, self.public)

    def __str__(self) -> str:
        return FORGOTTEN if self.text is None else self.text

    def __repr__(self) -> str:
        return f"Words({self.text!r}, {self.ref[:8]!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Words):
            return NotImplemented
        if self.ref and other.ref:
            return self.ref == other.ref
        return self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __bool__(self) -> bool:
        return self.text is None or bool(self.text)


_set_text, _set_ref, _set_public = (
    Words.__dict__[name].__set__ for name in ("text", "ref", "public")
)
"""By the slots themselves: Words are made by the thousand."""


def _again(text: str | None, ref: str, is_public: bool) -> Words:
    return Words(text, ref, public=is_public)


def set_words_text(words: Words, text: str | None) -> None:
    """Put in the text that was read for them, or None: forget it. All who hold them have it so."""
    _set_text(words, text)


def set_words_ref(words: Words, ref: str) -> None:
    """Say by which ref they are stored; "" where they are not."""
    _set_ref(words, ref)


def public_words(text: str) -> Words:
    """Words that are nobody's private text and never need forgetting."""
    return Words(text, public=True)


def salted_digest(text: str, salt: bytes) -> str:
    """The ref of a private text: SHA-256 over salt and UTF-8 text, 64 hex digits."""
    return hashlib.sha256(salt + text.encode("utf-8", "surrogatepass")).hexdigest()


def encode_stored(value: Any) -> Any:
    """msgspec `enc_hook` for the ledger: private Words become "#ref", public ones "=text"."""
    if isinstance(value, Words):
        if value.public:
            return _PUBLIC + (value.text or "")
        if not value.ref:
            raise ValueError("private words must be stored before the event that holds them")
        return _PRIVATE + value.ref
    raise NotImplementedError(f"cannot store a {type(value).__name__}")


def decode_stored(kind: type, value: Any) -> Any:
    """msgspec `dec_hook` for the ledger; private Words come back without their text."""
    if kind is Words and isinstance(value, str):
        if value.startswith(_PUBLIC):
            return public_words(value[1:])
        return Words(None, value[1:])
    raise NotImplementedError(f"cannot read a {kind.__name__}")


def encode_plain(value: Any) -> Any:
    """msgspec `enc_hook` for people and files: Words become their text."""
    if isinstance(value, Words):
        return str(value)
    raise NotImplementedError(f"cannot write a {type(value).__name__}")


def decode_plain(kind: type, value: Any) -> Any:
    """msgspec `dec_hook` for people and files: a string becomes Words."""
    if kind is Words and isinstance(value, str):
        return Words(value)
    raise msgspec.ValidationError(f"Expected `str`, got `{type(value).__name__}`")


def replace_lone_surrogates(value: Any) -> Any:
    """The same, with "?" for every half of a surrogate pair that has no other beside it.

    A model's JSON can hold such halves; they are no text that could be shown, written or compared.
    Two that came in pieces of their own are the sign that they are halves of.
    """
    if isinstance(value, str):
        if value.isascii():
            return value
        whole = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return whole.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {
            replace_lone_surrogates(key): replace_lone_surrogates(each)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [replace_lone_surrogates(each) for each in value]
    return value
