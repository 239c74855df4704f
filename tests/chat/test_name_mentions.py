"""Address: whom a text speaks to, in any language, and what a stop is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.chat.speaking.name_mentions import (
    find_mentions,
    is_general,
    is_question,
    strip_quotes_and_code,
)
from loopforge.chat.speaking.stop_requests import is_stop

NAMES = {
    "maya": "Maya",
    "merlin": "Merlin the Grey",
    "ann": "Ann",
    "annlee": "Ann Lee",
    "zoe": "Zoë",
    "yu": "雨",
    "ma-ya": "마야",
    "anya": "Аня",
    "a.b": "A.B",
}


def called(text: str) -> dict[str, str]:
    """Who is addressed, and how, the first time."""
    found: dict[str, str] = {}
    for who, address in find_mentions(strip_quotes_and_code(text), NAMES):
        found.setdefault(who, address.summons)
    return found


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("@maya hello", "maya"),
        ("hello @Maya", "maya"),
        ("hello,@MAYA!", "maya"),
        ("(@maya)", "maya"),
        ("well...@maya?", "maya"),
        ("@maya's turn", "maya"),
        ("@Merlin the Grey, speak", "merlin"),
        ("@merlin", "merlin"),
        ("@Ann Lee is here", "annlee"),
        ("@annlee", "annlee"),
        ("@ann, lee is here", "ann"),
        ("@ZOË", "zoe"),
        ("@zoe\u0308", "zoe"),
        ("你好@maya你好", "maya"),
        ("@雨さん", "yu"),
        ("@마야야 안녕", "ma-ya"),
        ("@maya야", "maya"),
        ("@аня, привет", "anya"),
        ("@a.b: yes", "a.b"),
    ],
)
def test_mentions(text: str, who: str) -> None:
    """An @ with a handle or a name mentions that one, and nobody else."""
    assert called(text) == {who: "mention"}


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("Maya, what time is it?", "maya"),
        ("what does MAYA think", "maya"),
        ("is this Maya's?", "maya"),
        ("“Maya”", "maya"),
        ("maya - hi", "maya"),
        ("good night maya.", "maya"),
        ("I asked Merlin the Grey", "merlin"),
        ("merlin?", "merlin"),
        ("Ann Lee said so", "annlee"),
        ("Zoë und ich", "zoe"),
        ("今日は雨です", "yu"),
        ("마야가 말했다", "ma-ya"),
        ("Аня, привет", "anya"),
        ("maya你好", "maya"),
    ],
)
def test_names(text: str, who: str) -> None:
    """A name that stands as a word addresses the one who bears it."""
    assert called(text) == {who: "name"}


@pytest.mark.parametrize(
    "text",
    [
        "write to joe@maya.org",
        "write to maya@example.org or joe.maya@example.org",
        "see https://example.org/@maya and www.maya.net/maya",
        "see maya.org",
        "`maya = 1` and ```\n@maya\n``` and more",
        "```\nmaya never closed",
        "> @maya said so\nI do not think so",
        "Mayan ruins, amaya, Maya-Lisa, anti-maya, maya_2",
        "@mayan @maya-lisa @maya_2 x@maya",
        "히마야산",
        "",
    ],
)
def test_nobody_is_addressed(text: str) -> None:
    """Addresses, links, code, quoted lines and other words that hold a name address nobody."""
    assert called(text) == {}


def test_a_quoted_line_ends_with_the_line() -> None:
    """What stands below a quoted line is the speaker's own."""
    assert called("> @maya said so\n@ann is right") == {"ann": "mention"}


@pytest.mark.parametrize("everybody", ["@all", "@everyone", "@Mates", "@here", "@everybody"])
def test_everybody_can_be_mentioned(everybody: str) -> None:
    """With an @, words for everybody mention each."""
    assert called(f"{everybody} listen") == dict.fromkeys(NAMES, "mention")
    assert called(f"joe{everybody}.org") == {}


def test_addresses_come_in_the_order_of_the_text() -> None:
    """Who is named first comes first."""
    assert list(called("Zoë and @maya and Ann")) == ["zoe", "maya", "ann"]


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    """No text is an error, and every address lies within it."""
    said = strip_quotes_and_code(text)
    for _, address in find_mentions(said, NAMES):
        assert 0 <= address.place < address.end <= len(said)
    assert isinstance(is_stop(text) or is_question(said) or is_general(said), bool)


@pytest.mark.parametrize(
    ("piece", "times"),
    [
        ("a", 0),
        ("`", 0),
        ("```", 0),
        ("> ", 0),
        ("@", 0),
        ("maya", 0),
        ("maya ", 40_000),
        ("@maya.", 33_333),
        ("a@", 0),
        ("x://", 0),
        ("-", 0),
    ],
)
def test_a_very_long_line_is_read_to_its_end(piece: str, times: int) -> None:
    """200,000 characters of one thing over and over: every address in it is found."""
    text = piece * (200_000 // len(piece))
    assert len(find_mentions(strip_quotes_and_code(text), {"maya": "Maya"})) == times


@pytest.mark.parametrize(
    "text", ["really?", "what now", "\n\nwho is there", "何時ですか？", "كيف؟", "Why not!"]
)
def test_questions(text: str) -> None:
    """A question mark of any script, or a question word first."""
    assert is_question(strip_quotes_and_code(text))


@pytest.mark.parametrize("text", ["so it is", "see `a ? b : c`", "tell me what", "whatever", ""])
def test_no_questions(text: str) -> None:
    """A question word in the middle, or a question mark in code, is none."""
    assert not is_question(strip_quotes_and_code(text))


@pytest.mark.parametrize(
    "text",
    ["anyone here?", "Everybody up", "what do you all think", "hey mates", "y’all", "you two"],
)
def test_general_calls(text: str) -> None:
    """Anyone, everybody, you all."""
    assert is_general(strip_quotes_and_code(text))


@pytest.mark.parametrize("text", ["schoolmates", "everyones", "you allow it", "all is well"])
def test_no_general_calls(text: str) -> None:
    """Words that only hold such a word are none."""
    assert not is_general(strip_quotes_and_code(text))


@pytest.mark.parametrize(
    "text",
    [
        "stop",
        "Stop",
        "STOP.",
        "stop!",
        "/stop",
        " stop \n",
        "please stop",
        "Stop, please!",
        "stop it",
        "stop stop stop",
        "**stop**",
        "ok stop now",
        "everyone stop",
        "stop talking",
        "🛑",
        "🛑\ufe0f🛑",
        "🛑 stop 🙏",
        "ＳＴＯＰ",
        "stop…",
    ],
)
def test_a_stop_is_a_stop(text: str) -> None:
    """A line that is just a stop."""
    assert is_stop(text)


NAMED = {"maya": "Maya", "tom": "Old Tom", "stop": "Stop"}


@pytest.mark.parametrize(
    "text",
    [
        "@maya stop",
        "@Maya stop!",
        "maya stop",
        "stop, maya",
        "Stop MAYA.",
        "please stop it, Old Tom",
        "maya, tom: stop",
        "@all stop",
        "maya 🛑",
        "stop",
    ],
)
def test_a_stop_may_be_said_to_mates(text: str) -> None:
    """With their names and mentions of them, a stop is one."""
    assert is_stop(text, NAMED)


@pytest.mark.parametrize(
    "text",
    [
        "don't stop, maya",
        "maya, how do I stop bread from burning",
        "maya's stop",
        "stop ben",
        "@ben stop",
        "joe@maya stop",
        "maya",
        "@maya",
        "maya, go on and stop",
    ],
)
def test_more_than_a_name_and_a_stop_is_none(text: str) -> None:
    """What says something else besides, or is said to a person, stops nothing."""
    assert not is_stop(text, NAMED)


def test_a_stop_may_be_said_to_a_bot_of_several_mates() -> None:
    """The mention that a line begins with may be of no mate's own bot."""
    assert is_stop("@home_bot stop", NAMED, called=True)
    assert not is_stop("@home_bot stop", NAMED)
    assert not is_stop("stop @home_bot now or else", NAMED, called=True)


@given(st.permutations(["stop", "@maya", "old tom", "please", "!"]), st.sampled_from(" ,\n"))
def test_the_order_of_names_and_stop_does_not_matter(parts: list[str], between: str) -> None:
    """However names, mentions and the word are put in a row, it is one; with another word it is none."""
    assert is_stop(between.join(parts), NAMED)
    assert not is_stop(between.join([*parts, "burning"]), NAMED)


@pytest.mark.parametrize(
    "text",
    [
        "stop by the shop",
        "don't stop",
        "non-stop",
        "the bus stop",
        "stopwatch",
        "stop 5",
        "please",
        "it",
        "",
        "!",
        "stop it please now that all just talking ok",
        "can you stop it",
        "✋",
        "a 🛑 sign",
    ],
)
def test_a_stop_in_a_sentence_is_none(text: str) -> None:
    """A line that says more than stop."""
    assert not is_stop(text)


@pytest.mark.parametrize(
    "text",
    [
        "everybody shut up",
        "quiet, please",
        "stopp!",
        "Ruhe bitte",
        "hört auf, alle",
        "arrêtez s'il vous plaît",
        "ça suffit",
        "¡Basta ya!",
        "cállate, Maya",
        "smettila",
        "parem, por favor",
        "przestań już",
        "přestaň",
        "хватит",
        "Аня, замолчи пожалуйста",
        "yeter artık",
        "hou op",
        "sluta",
        "ストップ！",
        "やめて",
        "停！",
        "别说了",
        "그만해",
    ],
)
def test_stop_is_said_in_many_languages(text: str) -> None:
    """Alone, politely, to all or to one."""
    assert is_stop(text, NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "para mañana, quizá",
        "halt mal den Hammer",
        "basta con eso para hoy",
        "the halt of trains",
        "hört auf mich",
    ],
)
def test_a_stop_within_a_sentence_is_none(text: str) -> None:
    """Other words beside it, and it says something else."""
    assert not is_stop(text, NAMES)
