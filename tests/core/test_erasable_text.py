"""Words: texts that can be forgotten."""

import hashlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.text.erasable_text import (
    FORGOTTEN,
    Words,
    decode_plain,
    decode_stored,
    encode_plain,
    encode_stored,
    public_words,
    salted_digest,
)


@given(st.text())
def test_public_words_are_stored_as_they_are(text: str) -> None:
    """Public words go through the store and come back with their text."""
    back = decode_stored(Words, encode_stored(public_words(text)))
    assert (back.text, back.public) == (text, True)


@given(st.text(), st.binary(min_size=16, max_size=16))
def test_private_words_are_stored_as_their_digest(text: str, salt: bytes) -> None:
    """What is stored of private words is the salted digest, never the text."""
    ref = salted_digest(text, salt)
    stored = encode_stored(Words(text, ref))
    assert stored == "#" + ref
    back = decode_stored(Words, stored)
    assert (back.text, back.ref, back.public) == (None, ref, False)


def test_private_words_need_a_ref_to_be_stored() -> None:
    """An event cannot be written before its texts are."""
    with pytest.raises(ValueError, match="stored before"):
        encode_stored(Words("hello"))


def test_forgotten_words_say_so() -> None:
    """Erased words still read as something, and are not taken for an empty text."""
    gone = Words(None, "ab")
    assert str(gone) == FORGOTTEN
    assert gone
    assert not Words("")


def test_words_are_equal_by_ref_or_else_by_text() -> None:
    """Two stored texts with different salts are different; unstored ones compare as texts."""
    assert Words("a", "1") != Words("a", "2")
    assert Words("a", "1") == Words(None, "1")
    assert Words("a") == Words("a", "2")
    assert Words("a") != "a"
    assert hash(Words("a")) == hash(Words("a", "2"))


def test_the_digest_covers_salt_and_text() -> None:
    """It is SHA-256 over both, and takes text that is not valid Unicode too."""
    assert salted_digest("é", b"salt") == hashlib.sha256(b"salt" + "é".encode()).hexdigest()
    assert salted_digest("\udc80", b"") != salted_digest("", b"")


def test_plain_values_are_texts() -> None:
    """For people and files words are strings, and nothing else becomes words."""
    assert encode_plain(Words("a", "1")) == "a"
    assert decode_plain(Words, "a") == Words("a")
    with pytest.raises(msgspec.ValidationError):
        decode_plain(Words, 7)
    for wrong in (encode_plain, encode_stored):
        with pytest.raises(NotImplementedError):
            wrong(object())
    with pytest.raises(NotImplementedError):
        decode_stored(int, "7")
