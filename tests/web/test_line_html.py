"""Lines as HTML: the same for every reader, nothing of other lines in them, nothing forgotten."""

from datetime import UTC, datetime

import pytest

from loopforge.chat.room.room_snapshot import MateCard, RoomSnapshot
from loopforge.core.events import Body, Event
from loopforge.core.room_vocabulary import (
    ConversationBegan,
    EnergySet,
    File,
    Heard,
    Marked,
    MateJoined,
    Noted,
    PersonJoined,
    Reacted,
    Said,
    Stopped,
    Titled,
    Told,
)
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.web.rendering.line_html import LineHtml, size
from loopforge.web.server.page_templates import template_environment

AT = datetime(2026, 10, 8, 14, 5, tzinfo=UTC)
SCENE = RoomSnapshot(
    room="kitchen",
    people=(("p1", "Ada Lovelace"),),
    mates=(MateCard(handle="maya", name="Maya", role="scientist", colour="#2a9d8f"),),
)


def event(body: Body, seq: int = 7, id: str = "") -> Event:
    """A fact of the room that the ledger has."""
    return Event(
        stream="room:kitchen", seq=seq, id=id or f"e{seq}", at=AT, actor="p1", cause="", body=body
    )


@pytest.fixture
def lines() -> LineHtml:
    """Nothing rendered yet."""
    return LineHtml(template_environment())


def test_a_line_of_a_person(lines: LineHtml) -> None:
    """It names its number, its event, its person and its time."""
    html = lines.render(event(Heard(person="p1", text=Words("Hi **you**, @maya"))), SCENE)
    for part in (
        'id="l-7"',
        'data-seq="7"',
        'data-id="e7"',
        'data-person="p1"',
        '<time datetime="2026-10-08T14:05:00Z" data-as=" short">14:05</time>',
        "<strong>you</strong>",
        '<span class="mention mate-maya">@maya</span>',
    ):
        assert part in html
    assert "/why/" not in html


def test_a_line_of_a_mate(lines: LineHtml) -> None:
    """It has its turn, its colour's class, and a way to ask why that works without scripts."""
    html = lines.render(event(Said(turn="t1", mate="maya", text=Words("Hm."))), SCENE)
    assert 'class="line said mate-maya"' in html
    assert 'data-turn="t1"' in html
    assert 'href="/rooms/kitchen/why/e7"' in html
    assert '<use href="#face-maya"/>' in html
    gone = lines.render(event(Said(turn="t1", mate="zed", text=Words("Hm.")), seq=8), SCENE)
    assert "<path" in gone


def test_an_answer_holds_no_word_of_the_line_it_answers(lines: LineHtml) -> None:
    """A reply names the other line and its speaker only: not everybody may see what it said."""
    before = event(Said(turn="t", mate="maya", text=Words("the secret of bread")), seq=3)
    html = lines.render(event(Heard(person="p1", text=Words("Why?"), reply_to="e3")), SCENE, before)
    assert 'data-to="e3"' in html
    assert 'href="#l-3"' in html
    assert "answers Maya" in html
    assert "secret" not in html


def test_an_answer_to_an_unknown_line(lines: LineHtml) -> None:
    """A reply to a line that is not known says so."""
    html = lines.render(event(Heard(person="p1", text=Words("Why?"), reply_to="e3")), SCENE)
    assert "answers an earlier line" in html


def test_files(lines: LineHtml) -> None:
    """Files are links; pictures that are kept are shown; names are escaped; forgotten ones say so."""
    files = (
        File(
            name=Words("<b>.png"),
            size=2_500_000,
            text=Words(""),
            hash=Words("ab"),
            media="image/png",
        ),
        File(
            name=Words("a.svg"), size=900, text=Words(""), hash=Words("cd"), media="image/svg+xml"
        ),
        File(name=Words(None, "ref"), size=1, text=Words(None, "ref2")),
    )
    html = lines.render(event(Heard(person="p1", text=Words(""), files=files)), SCENE)
    assert '<img src="/rooms/kitchen/files/e7/0" alt="&lt;b&gt;.png" loading="lazy">' in html
    assert html.count("<img") == 1
    assert '<a class="file" href="/rooms/kitchen/files/e7/1" download>' in html
    assert "A file that was forgotten" in html
    assert "2.5 MB" in html
    assert (size(1), size(900), size(12_300)) == ("1 byte", "900 bytes", "12 kB")


def test_forgotten_words_are_not_shown_again(lines: LineHtml) -> None:
    """A line whose words were forgotten is rendered anew, without them; and all can be let go of."""
    lines.render(event(Heard(person="p1", text=Words("a secret", "ref"))), SCENE)
    html = lines.render(event(Heard(person="p1", text=Words(None, "ref"))), SCENE)
    assert "secret" not in html
    assert "These words were forgotten." in html
    lines.forget_all()
    assert lines.kept == 0


def test_what_was_rendered_is_kept_for_a_while(lines: LineHtml) -> None:
    """The same event is rendered once; the oldest ones go when there are too many."""
    few = LineHtml(template_environment(), most=2)
    first = few.render(event(Told(text=Words("x")), seq=1), SCENE)
    assert few.render(event(Told(text=Words("x")), seq=1), SCENE) is first
    for seq in (2, 3, 4):
        few.render(event(Told(text=Words("x")), seq=seq), SCENE)
    assert few.kept == 2


def test_a_new_name_shows(lines: LineHtml) -> None:
    """Somebody who is called otherwise now is called so in what is rendered from then on."""
    said = event(Heard(person="p1", text=Words("Hi")))
    lines.render(said, SCENE)
    renamed = RoomSnapshot(room="kitchen", people=(("p1", "Countess"),))
    assert "Countess" in lines.render(said, renamed)


@pytest.mark.parametrize(
    ("body", "reads"),
    [
        (PersonJoined(person="p2", name=Words("<Bo>"), surface="web"), "&lt;Bo&gt; came in."),
        (MateJoined(mate="maya"), "Maya is here."),
        (Stopped(person="p1"), "Ada Lovelace said stop."),
        (ConversationBegan(why="asked"), "A new conversation."),
        (
            Titled(title=Words("<i>Bread</i>"), by="p1"),
            "called the room “&lt;i&gt;Bread&lt;/i&gt;”",
        ),
        (Titled(title=Words("Bread"), by="room"), "The room is called “Bread”."),
        (Told(text=public_words("No *key*.")), "No <em>key</em>."),
        (EnergySet(capacity=6, refill=4), "may say 6 lines"),
        (
            Marked(line="e3", mark="keep", by="p1"),
            'data-line="e3" data-change="{&#34;kind&#34;: &#34;room.marked&#34;',
        ),
        (Reacted(turn="t", mate="maya", to="e3", emoji="👀"), '&#34;who&#34;: &#34;maya&#34;}"'),
    ],
)
def test_what_else_happens(lines: LineHtml, body: Body, reads: str) -> None:
    """Other events are a sentence, escaped, with their number."""
    html = lines.render(event(body), SCENE)
    assert reads in html
    assert 'id="l-7" data-seq="7"' in html


def test_what_nobody_need_read(lines: LineHtml) -> None:
    """The first conversation and a mate's note to itself are no lines."""
    assert lines.render(event(ConversationBegan(why="first")), SCENE) == ""
    assert lines.render(event(Noted(turn="t", mate="maya", text=Words("x"))), SCENE) == ""


def test_a_mates_files_are_shown_as_peoples_are(lines: LineHtml) -> None:
    """Name, size and an address to download from; a forgotten one has no name left."""
    files = (
        File(name=Words("bread.md"), size=1200, text=Words("# Bread")),
        File(name=Words(None, "r"), size=3, text=Words(None, "s")),
    )
    said = Said(turn="t1", mate="maya", text=Words("Here."), files=files)
    html = lines.render(event(said), SCENE)
    assert 'href="/rooms/kitchen/files/e7/0" download' in html
    assert '<span class="name">bread.md</span> <span class="size">1 kB</span>' in html
    assert "A file that was forgotten" in html


def test_a_long_line_scrolls_in_itself(lines: LineHtml) -> None:
    """One of a hundred thousand characters is folded and not kept; a short one is neither."""
    said = Said(turn="t", mate="maya", text=Words("word " * 20_000))
    assert 'class="words long" tabindex="0"' in lines.render(event(said), SCENE)
    assert lines.kept == 0
    short = lines.render(event(Said(turn="t", mate="maya", text=Words("word"))), SCENE)
    assert 'class="words" dir="auto"' in short
    assert lines.kept == 1
