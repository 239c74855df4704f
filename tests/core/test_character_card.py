"""character_card: cards of three versions, and what strangers put into them."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.mates.character_card import (
    LARGEST_REST,
    as_json,
    is_card,
    read_card,
)
from loopforge.core.mates.lorebook import ALWAYS
from loopforge.core.mates.png_text import SIGNATURE, with_texts
from loopforge.errors import InputError

FIELDS = {"name": "Sera", "description": "A guard.", "first_mes": "Hello {{user}}!"}
EMPTY = SIGNATURE + b"\0\0\0\0IEND\xaeB`\x82"


def written(version: int, **more: Any) -> bytes:
    """A card of this version."""
    data = {**FIELDS, **more}
    card = {"spec": f"chara_card_v{version}", "spec_version": f"{version}.0", "data": data}
    return json.dumps(data if version == 1 else card).encode()


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("chunk", ["", "chara", "ccv3"])
def test_every_version_is_read(version: int, chunk: str) -> None:
    """The same character comes of each version, as JSON and from a picture."""
    data = written(version)
    if chunk:
        data = with_texts(EMPTY, {chunk: base64.b64encode(data)})
    card = read_card(data)
    assert is_card(data)
    assert (card.name, card.description, card.first_mes) == tuple(FIELDS.values())


def test_the_newer_card_of_a_picture_counts() -> None:
    """Where a picture holds two cards, the third version is read."""
    two = {"chara": written(2, name="Old"), "ccv3": written(3)}
    held = {keyword: base64.b64encode(data) for keyword, data in two.items()}
    assert read_card(with_texts(EMPTY, held)).name == "Sera"


def test_a_lorebook_becomes_lore() -> None:
    """Entries come in their order; constant ones are always known; patterns and `@@` are not run."""
    book = {
        "entries": [
            {"keys": ["b", "c, d"], "content": "@@depth 4\nSecond.", "insertion_order": 2},
            {"keys": ["a"], "secondary_keys": ["x"], "selective": True, "content": "First."},
            {"keys": [], "constant": True, "content": "Always.", "insertion_order": 3},
            {"keys": ["/e+/"], "use_regex": True, "content": "Never.", "insertion_order": 4},
            {"keys": ["f"], "enabled": False, "content": "Off.", "insertion_order": 5},
            {"keys": [7], "content": "Nothing calls it.", "insertion_order": 6},
            "no entry",
        ]
    }
    card = read_card(written(2, character_book=book))
    assert [(one.keys, one.also, one.text, one.off) for one in card.lore] == [
        (("a",), ("x",), "First.", False),
        (("b", "c d"), (), "Second.", False),
        ((ALWAYS,), (), "Always.", False),
        (("/e /",), (), "Never.", True),
        (("f",), (), "Off.", True),
    ]
    assert [said.partition(" (")[0] for said in card.left] == [
        "Lore that is called by patterns is kept and put by",
        "Lore without words that call it, or without text, is left out",
    ]


def test_the_rest_goes_along() -> None:
    """What no mate has a place for is kept, as far as it is not too much; pictures are not."""
    card = read_card(written(3, tags=["a"], extensions={"x": 1}, assets=[{"uri": "data:"}]))
    assert card.rest == {"tags": ["a"], "extensions": {"x": 1}}
    assert card.left == ("Its pictures and sounds are left out: a mate has none.",)
    card = read_card(written(3, tags=["a"], extensions={"x": "y" * LARGEST_REST}))
    assert card.rest == {"tags": ["a"]}
    assert card.left == ("Its extensions is left out: there is too much of it.",)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"a": ' * 100_000, "no JSON"),
        (b"\xff\xfe{}", "no JSON"),
        (b"[]", "names nobody"),
        (b"{}", "names nobody"),
        (b'{"name": 7}', "names nobody"),
        (b'{"spec": "chara_card_v2", "data": []}', "names nobody"),
        (b'{"name": "x", "description": "' + b"y" * 4_000_000 + b'"}', "too long"),
        (EMPTY, "no character in this picture"),
        (with_texts(EMPTY, {"chara": b"%%%"}), "no base64"),
        (b"\0" * 20_000_001, "too large"),
    ],
)
def test_what_is_no_card_is_refused(data: bytes, said: str) -> None:
    """Each is refused in a sentence that says what is wrong."""
    with pytest.raises(InputError, match=said):
        read_card(data)


def test_everything_has_a_limit() -> None:
    """Of long texts and many entries a part is kept, and it is said how much."""
    entries = [{"keys": ["k"] * 900, "content": "x" * 9_000}] * 40
    book = {"entries": entries}
    card = read_card(written(2, description="y" * 50_000, character_book=book))
    assert (len(card.description), len(card.lore[0].text)) == (40_000, 6_000)
    assert card.left[0].startswith("Its description has 50,000 characters")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)
KEYS = st.sampled_from(
    ["description", "character_book", "extensions", "tags", "assets", "mes_example", "nickname"]
)


@given(st.dictionaries(KEYS, JSON), JSON)
def test_any_values_are_taken_or_left(fields: dict[str, Any], entry: Any) -> None:
    """Whatever stands in a card's fields, a card comes of it, without signs that nobody sees."""
    book = {"character_book": {"entries": [entry, {"keys": entry, "content": entry}]}}
    for more in (fields, fields | book):
        card = read_card(json.dumps({"name": "x\u202e\0", **more}).encode())
        assert card.name == "x"
        assert json.loads(as_json(card.rest)) == card.rest
