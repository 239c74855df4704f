"""Character cards as mates' files and back."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.mates.character_card import read_card
from loopforge.core.mates.mate_file import TRIGGERS, parse_dialogue, parse_mate
from loopforge.core.mates.png_text import SIGNATURE
from loopforge.errors import InputError
from loopforge.mates.cards.card_export import export_card
from loopforge.mates.cards.card_import import body_text, import_card, read_file

CARD: dict[str, Any] = {
    "name": "Sera: the *Guard*",
    "description": "{{char}} guards the glade for {{user}}.\n## Lore\n> You see her\nand kneel.",
    "personality": "kind {{// a comment}}",
    "scenario": "A {{random:green,dark}} glade.",
    "first_mes": "Hello {{user}}!\n\nSit {{roll:d6}} down.",
    "mes_example": "<START>\n{{user}}: Who are you?\n{{char}}: I am {{char}}, {{user}}.\n"
    "{{user}}: Bye\n{{char}}: Stay a while,\nplease.\n<START>\n{{char}}: *waits*",
    "system_prompt": "{{original}} Be brief.",
    "post_history_instructions": "Never shout.",
    "creator": "somebody",
    "tags": ["fantasy"],
    "alternate_greetings": ["Hey {{user}}"],
    "character_book": {"entries": [{"keys": ["glade"], "content": "{{char}}'s glade heals."}]},
}


def made(**more: Any) -> str:
    """The mate's file that the card makes with these fields changed."""
    return import_card(json.dumps(CARD | more).encode()).text


def test_a_card_is_a_mate() -> None:
    """Its texts stand where a mate has them, with macros filled; nothing of it passes for a part."""
    mate = parse_mate(made(), "x.md")
    assert (mate.name, mate.handle) == ("Sera the Guard", "sera-the-guard")
    assert mate.greeting == "Hello {person}!\n\nSit down."
    assert mate.prompt.startswith(
        "Be brief.\n\nSera the Guard guards the glade for the person you talk to.\n**Lore**\n"
        "» You see her\nand kneel.\n\n## Personality\n\nkind\n\n## Scenario\n\nA green glade.\n\n"
        "## Above all\n\nNever shout.\n\n> Who are you?\n"
    )
    assert parse_dialogue(mate.prompt).examples == (
        ("Who are you?", "I am Sera the Guard."),
        ("Bye", "Stay a while, please."),
        ("(nobody said anything)", "*waits*"),
    )
    assert [(one.keys, one.text) for one in mate.lore] == [
        (("glade",), "Sera the Guard's glade heals.")
    ]
    assert (mate.tools, mate.model, mate.tier, mate.triggers) == ((), "", 1, TRIGGERS)


@pytest.mark.parametrize("form", ["v1", "v2", "v3", "png"])
def test_a_card_comes_back(form: Any) -> None:
    """A mate that is taken along as a card and brought in again is the same, but its tools."""
    head = "role: guard\nvoice: soft\ntraits: {tact: high}\ntemperature: 0.5\ntools: [clock]\n"
    text = made().replace("---\n", f"---\n{head}", 1)
    mate = parse_mate(text, "x.md")
    again = parse_mate(import_card(export_card(mate, form)).text, "x.md")
    same = (
        ("name", "greeting") if form == "v1" else ("name", "greeting", "prompt", "lore", "colour")
    )
    assert [getattr(again, key) for key in same] == [getattr(mate, key) for key in same]
    if form != "v1":
        assert (again.role, again.voice, again.traits) == (mate.role, mate.voice, mate.traits)
        assert json.loads(again.card) == json.loads(mate.card)
    assert (again.temperature, again.tools) == (None if form == "v1" else 0.5, ())


def test_a_card_of_a_mate_is_a_card() -> None:
    """What other programs read of it stands where they look, with the words they know."""
    png = export_card(parse_mate(made(), "x.md"), "png")
    assert png.startswith(SIGNATURE)
    card = read_card(png)
    assert card.first_mes == "Hello {{user}}!\n\nSit down."
    assert card.post_history_instructions == "Never shout."
    assert card.mes_example.startswith("<START>\n{{user}}: Who are you?\n{{char}}: I am")
    assert card.rest["alternate_greetings"] == ["Hey {{user}}"]


@pytest.mark.parametrize("name", ["マヤ", "all", "Yes", "O'Hara", "x" * 99])
def test_any_name_is_made_one(name: str) -> None:
    """A name of which no handle can be made gets one; a handle that is given is taken."""
    assert parse_mate(made(name=name), "x.md").name == name[:40]
    given = import_card(json.dumps(CARD | {"name": name}).encode(), "sera")
    assert parse_mate(given.text, "x.md").handle == "sera"


@pytest.mark.parametrize(
    ("data", "handle", "said"),
    [
        (b'{"name": "***"}', "", "names nobody"),
        (b'{"name": "Sera"}', "Not One", "handle"),
        (b"\xff\xfe", "", "no text"),
        (b"no front matter", "sera", "front matter"),
    ],
)
def test_what_makes_no_mate_is_refused(data: bytes, handle: str, said: str) -> None:
    """It is said what is wrong, and nothing is made."""
    with pytest.raises(InputError, match=said):
        read_file(data, "a file", handle)


def test_lore_that_does_not_fit_is_said() -> None:
    """A book that is larger than a mate's file is cut at its end, and it is told how far."""
    entries = [{"keys": [f"k{n}"], "content": "é" * 4000} for n in range(60)]
    brought = import_card(json.dumps(CARD | {"character_book": {"entries": entries}}).encode())
    assert 20 < len(parse_mate(brought.text, "x.md").lore) < 60
    assert "fit into a mate's file" in brought.told[-1]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (f"# x{' ' * 1_000_000}y", f"**x{' ' * 1_000_000}y**"),
        (f"#{' #' * 500_000}", f"**{('# ' * 499_999).strip()}**"),
        (f"{{{{random:{'a' * 1_000_000}", f"{{{{random:{'a' * 1_000_000}"),
    ],
)
def test_a_text_of_a_card_is_read_once(text: str, plain: str) -> None:
    """What looks like an endless heading or choice is not looked through again from each sign."""
    assert body_text(text, "Sera") == plain


TEXTS = st.text(
    st.sampled_from("#>-`{}:\n \"'*a{{char}}<START>") | st.characters(codec="utf-8"),
    max_size=60,
)


@given(st.dictionaries(st.sampled_from([*CARD][1:-3]), TEXTS), TEXTS)
def test_any_text_of_a_card_stays_text(texts: dict[str, str], lore: str) -> None:
    """Whatever a card says, a mate comes of it that has no tools and only the lore of the card."""
    book = {"character_book": {"entries": [{"keys": [lore], "content": lore}]}}
    mate = parse_mate(made(**texts, **book), "x.md")
    assert mate.tools == ()
    assert len(mate.lore) <= 1


@pytest.mark.timeout(30)
@pytest.mark.parametrize("blank", ["\n", "\n\n ", " \r\n", "\x0b"])
def test_blank_lines_in_examples_are_read_once(blank: str) -> None:
    """Forty kilobytes of them took ten seconds: each was the beginning of all behind it."""
    mes_example = f"{{{{user}}}}: hi\n{blank * (39_000 // len(blank))}\n{{{{char}}}}: Beans."
    card = json.dumps(CARD | {"mes_example": mes_example}).encode()
    for _ in range(8):
        assert "> hi\nBeans." in import_card(card).text


@pytest.mark.parametrize("kept", ["not JSON", '{"a":' + "[" * 3000 + "]" * 3000 + "}", "7"])
def test_a_mate_whose_card_cannot_be_read_is_taken_along_without(kept: str) -> None:
    """A stranger wrote it into the file: taking the mate along was an error of the program."""
    mate = parse_mate(f"{made().split('## Card')[0]}## Card\n\n```json\n{kept}\n```\n", "x.md")
    assert mate.card == kept
    assert read_card(export_card(mate, "v3")).name == mate.name
