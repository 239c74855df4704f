"""Calling: who must answer, who may, and who is left out, in a room of three people."""

from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.chat.room.room_state import fold
from loopforge.chat.speaking import name_mentions
from loopforge.chat.speaking.addressee_detection import find_name_calls
from loopforge.chat.speaking.name_mentions import Form, forms_of, strip_quotes_and_code
from loopforge.chat.speaking.triggers import batches, weigh_triggers
from tests.strategies import Chronicle, Listening

HOUSE = {
    "maya": Listening("Maya"),
    "merlin": Listening("Merlin"),
    "zoe": Listening("Zoë"),
}
EVERYBODY = "maya merlin zoe"


def verdicts(text: str, people: int = 3, mates: int = 3) -> dict[str, set[str]]:
    """Who is to speak, is asked and passes, after a line of Ada's; Bo and Cy are people, too."""
    story = Chronicle(people=people, mates=mates)
    story.hear(text)
    state = fold(story.events)
    found: dict[str, set[str]] = {"speak": set(), "ask": set(), "pass": set()}
    for weight in weigh_triggers(state, batches(state.pending())[-1], HOUSE, story.now):
        found[weight.verdict].add(weight.mate)
    return found


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("maya", "maya"),
        ("Maya!", "maya"),
        ("maya?", "maya"),
        ("@maya", "maya"),
        ("maya, what time is it?", "maya"),
        ("maya what time is it", "maya"),
        ("maya: hi", "maya"),
        ("maya - hi", "maya"),
        ("maya can you help me", "maya"),
        ("maya will you stay?", "maya"),
        ("maya tell me a story", "maya"),
        ("what time is it, maya?", "maya"),
        ("what do you think maya?", "maya"),
        ("what do you think about bread, maya", "maya"),
        ("good night maya.", "maya"),
        ("hi maya", "maya"),
        ("hey merlin!", "merlin"),
        ("thanks, Merlin", "merlin"),
        ("no, maya, that is wrong", "maya"),
        ("well maya, tell us", "maya"),
        ("please, maya, stay", "maya"),
        ("Maya and Merlin, what do you say?", "maya merlin"),
        ("maya & zoë: hello", "maya zoe"),
        ("What is 17 times 23? Merlin, you first, then Maya.", "maya merlin"),
        ("Maya first, then Merlin", "maya merlin"),
        ("Maya zuerst, dann Merlin!", "maya merlin"),
        ("Maya d'abord, puis Zoë", "maya zoe"),
        ("I am here. Maya, are you?", "maya"),
        ("hey merlin! is zoë here?", "merlin"),
        ("ask them @merlin", "merlin"),
        ("Hallo Maya", "maya"),
        ("Guten Morgen, Maya!", "maya"),
        ("maya, wie spät ist es?", "maya"),
        ("was meinst du, maya?", "maya"),
        ("danke maya", "maya"),
        ("Salut Maya, ça va ?", "maya"),
        ("qu'en penses-tu, maya ?", "maya"),
        ("hola maya", "maya"),
        ("¿qué piensas, maya?", "maya"),
        ("ciao maya!", "maya"),
        ("привет, maya", "maya"),
        ("mayaさん、おはよう", "maya"),
        ("not you maya, I mean merlin", "merlin"),
        ("nicht du, Maya, ich meine Merlin", "merlin"),
        ("everyone except zoë, say hi", "maya merlin"),
        ("everybody but Zoë: what is tea?", "maya merlin"),
        ("all of you but maya, good night", "merlin zoe"),
        ("Alle außer Zoë, bitte kommen", "maya merlin"),
        ("tous sauf maya, dites bonjour", "merlin zoe"),
        ("todos menos maya, hola", "merlin zoe"),
        ("tutti tranne maya, ciao", "merlin zoe"),
        ("@all", EVERYBODY),
        ("@all but @zoë", "maya merlin"),
    ],
)
def test_who_is_called_speaks(text: str, who: str) -> None:
    """By a mention, or by name where the sentence is said to them; nobody else must."""
    assert verdicts(text)["speak"] == set(who.split())


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("the Rolls-Royce Merlin engine was a V12", "merlin"),
        ("Maya was rude yesterday", "maya"),
        ("maya is funny", "maya"),
        ("what does MAYA think", "maya"),
        ("is this Maya's?", "maya"),
        ("do you like maya?", "maya"),
        ("Zoë und ich gehen heim", "zoe"),
        ("Maya hat recht", "maya"),
        ("ich glaube, Merlin schläft", "merlin"),
        ("je crois que merlin dort", "merlin"),
        ("creo que maya duerme", "maya"),
        ("Maya et moi", "maya"),
        ("we saw the tower, then Maya, then the river", "maya"),
        ("merlin, is maya asleep?", "maya"),
    ],
)
def test_who_is_spoken_of_may_stay_silent(text: str, who: str) -> None:
    """Its own mind is asked."""
    found = verdicts(text)
    assert found["ask"] >= set(who.split())
    assert not found["speak"] & set(who.split())


@pytest.mark.parametrize(
    "text",
    [
        "Bo, I think Maya was rude yesterday",
        "@bo what did Merlin say about the tower?",
        "Zoë's joke was funny, right bo?",
        "I asked Merlin already",
        "ask maya",
        "I read about Merlin and the owl",
        "Bo, Maya ist nett",
        "Bo said: “Maya, you are late”, and laughed",
        "the Merlin is a small falcon",
        "zapytaj Merlina",
        "マヤに聞いて",
        "Merlin'e sor",
    ],
)
def test_no_mind_is_asked_about_what_is_said_to_others(text: str) -> None:
    """Nor where a name is a mere word, stands in others' words, or is what is spoken with or about."""
    assert verdicts(text)["pass"] == set(EVERYBODY.split())


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("Merln, are you there?", "merlin"),
        ("mayaaa!", "maya"),
        ("hi merl", "merlin"),
        ("Merlinie, która godzina?", "merlin"),
        ("Mayo, pomůžeš mi?", "maya"),
        ("Mayacığım, nasılsın?", "maya"),
        ("Мерлин, ты где?", "merlin"),
        ("привет, Майя", "maya"),
        ("マヤさん、おはよう", "maya"),
        ("マーリンはどう思う？", "merlin"),
        ("마야야, 뭐해?", "maya"),
        ("梅林，你在吗？", "merlin"),
        ("*Merlin, sorry", "merlin"),
        ("sorry, that was for Merlin", "merlin"),
    ],
)
def test_other_forms_of_a_name_call_where_a_name_would(text: str, who: str) -> None:
    """Inflected, in another script, misspelt, drawn out, cut short, put right."""
    assert verdicts(text)["speak"] == set(who.split())


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("not you, Maya", "maya"),
        ("not you maya", "maya"),
        ("not you, @maya", "maya"),
        ("not maya", "maya"),
        ("maya, not you", "maya"),
        ("nicht du, Maya", "maya"),
        ("nicht Maya", "maya"),
        ("pas toi, maya", "maya"),
        ("no tú, maya", "maya"),
        ("non tu, maya", "maya"),
        ("не ты, maya", "maya"),
        ("everybody but Zoë", "zoe"),
        ("anyone except zoë know what tea is?", "zoe"),
        ("everyone except zoë was late", "zoe"),
        ("alle außer Zoë", "zoe"),
    ],
)
def test_who_is_left_out_stays_silent(text: str, who: str) -> None:
    """A line that says whom it does not mean means just that."""
    assert who in verdicts(text)["pass"]


@pytest.mark.parametrize("sign", ["@everyone", "@here", "@all"])
def test_the_bells_of_platforms_call_nobody(sign: str) -> None:
    """What rings for people in a place of a platform is said to no mate."""
    assert (
        find_name_calls(
            strip_quotes_and_code(f"{sign} hello", surface="discord:7"), {"maya": "Maya"}
        )
        == []
    )


def test_the_only_person_is_answered_by_one_mate() -> None:
    """With one person in the room one mate must answer a question; another may."""
    found = verdicts("and how can I test that?", people=1)
    assert (len(found["speak"]), len(found["ask"])) == (1, 1)
    assert verdicts("Merln?", people=1)["speak"] == {"merlin"}


@pytest.mark.parametrize("mates", [1, 2, 3])
@pytest.mark.parametrize(
    "text",
    [
        "Maya is a funny name for a cat",
        "Maya was rude yesterday",
        "I asked Maya already",
        "the Maya calendar ended, did it not?",
    ],
)
def test_whom_the_only_person_merely_mentions_may_stay_silent(text: str, mates: int) -> None:
    """Its own mind is asked; where there are other mates, one of them must answer."""
    found = verdicts(text, people=1, mates=mates)
    assert found["ask"] == {"maya"}
    assert len(found["speak"]) == min(1, mates - 1)


def test_whom_the_only_person_calls_still_speaks() -> None:
    """Called by its name, a mate that is alone with a person speaks as ever."""
    for text in ("maya, what time is it?", "hm", "Maya"):
        assert verdicts(text, people=1, mates=1)["speak"] == {"maya"}


@given(st.text(max_size=60), st.text(max_size=60))
def test_every_name_has_one_sense_in_its_place(before: str, after: str) -> None:
    """Whatever stands around a name, it is called, spoken of or left out, within the text."""
    text = strip_quotes_and_code(f"{before} maya {after}")
    for who, address, sense, _ in find_name_calls(text, {"maya": "Maya"}, {"p1": "Bo"}):
        assert who in ("maya", "p1")
        assert sense in ("called", "about", "aside", "not")
        assert 0 <= address.place < address.end <= len(text)


def test_a_long_line_is_read_soon() -> None:
    """A name over and over is one row of names, however long the line."""
    assert len(find_name_calls(strip_quotes_and_code("maya " * 2000), {"maya": "Maya"})) == 2000


def test_a_line_of_nothing_but_names_is_read_to_its_hundredth() -> None:
    """What stands around each is searched; thousands of them would hold up every room."""
    found = find_name_calls("so maya's " * 800, {"maya": "Maya"})
    assert len(found) == 100


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "line", ["@maya{gap}!", "maya{gap}x maya", "maya 以外{gap}!", "maya{gap},{gap}x maya"]
)
def test_a_gap_beside_a_name_is_read_once(line: str) -> None:
    """Room for a comma was looked for at each sign of it anew: 8,000 blanks took fifteen seconds."""
    assert find_name_calls(line.format(gap="\xa0" * 60_000), {"maya": "Maya"})


def test_a_word_is_compared_with_names_that_begin_like_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a room of hundreds a long line of new words had taken seconds."""
    compared, form = list[str](), name_mentions._form

    def counted(word: str, name: str) -> Form:
        compared.append(name)
        return form(word, name)

    monkeypatch.setattr(name_mentions, "_form", counted)
    name_mentions.forget_all()
    names = tuple((f"{first}{second}nna",) for first in ascii_lowercase for second in "aeiou")
    forms = forms_of("manna", names)
    assert [name for (name,), one in zip(names, forms, strict=True) if one] == ["manna"]
    assert 5 <= len(compared) <= 20
