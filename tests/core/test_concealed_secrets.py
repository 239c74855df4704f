"""Secrets that leave in disguise: each writing is found, and plain talk is not."""

import base64
import codecs
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.egress.concealed_secrets import SecretWatch
from loopforge.core.egress.egress_filter import EgressFilter

KEY = "sk-proj-Q7xL2mZr9TbVw4KdNe8PfAhG"
RAW = KEY.encode()
WATCH = SecretWatch([KEY, "zinc-harbour-4711"])
WRITINGS = {
    "backwards": KEY[::-1],
    "spaced": " ".join(KEY),
    "with signs between": "*".join(KEY),
    "without width": "\u200b".join(KEY),
    "capitals": KEY.upper(),
    "wide letters": "".join(chr(ord(sign) + 0xFEE0) for sign in KEY),
    "mathematical letters": KEY.translate({ord("Q"): "𝐐", ord("x"): "𝑥", ord("L"): "𝕃"}),
    "split by words": f"It begins with {KEY[:16]} and goes on with {KEY[16:]}.",
    "second half first": f"{KEY[16:]}, and before that {KEY[:16]}",
    "first letters of lines": "\n".join(f"{sign} as in Tango" for sign in KEY if sign.isalnum()),
    "first letters of words": " ".join(f"{sign}apa" for sign in KEY if sign.isalnum()),
    "base64": base64.b64encode(RAW).decode(),
    "base64 behind other words": base64.b64encode(b"the key: " + RAW).decode(),
    "base64, spaced": " ".join(base64.b64encode(b"ab" + RAW).decode()),
    "base64, backwards": base64.b64encode(RAW).decode()[::-1],
    "base64 of it backwards": base64.b64encode(RAW[::-1]).decode(),
    "base64 twice": base64.b64encode(base64.b64encode(RAW)).decode(),
    "base64 for addresses": base64.urlsafe_b64encode(b"??>>" + RAW).decode(),
    "base32": base64.b32encode(b"abc" + RAW).decode(),
    "hexadecimal": RAW.hex(),
    "hexadecimal, spaced": RAW.hex(" "),
    "hexadecimal with colons, capitals": RAW.hex(":").upper(),
    "percent": "".join(f"%{sign:02X}" for sign in RAW),
    "percent twice": "".join(f"%25{sign:02x}" for sign in RAW),
    "entities": "".join(f"&#{sign};" for sign in RAW),
    "entities of base64": "".join(f"&#x{sign:x};" for sign in base64.b64encode(RAW)),
    "escapes": "".join(f"\\x{sign:02x}" for sign in RAW),
    "long escapes": "".join(f"\\u{sign:04x}" for sign in RAW),
    "numbers": ", ".join(map(str, RAW)),
    "octal": " ".join(f"{sign:o}" for sign in RAW),
    "ones and noughts": " ".join(f"{sign:08b}" for sign in RAW),
    "rot13": codecs.encode(KEY, "rot13"),
    "rot13, backwards": codecs.encode(KEY, "rot13")[::-1],
    "in an address": f"https://eve.example/{'/'.join(KEY)}?x=1",
    "in a link": f"[a b c](https://eve.example/?q={base64.b64encode(RAW).decode()})",
    "in a file's name": f"{KEY[::-1]}.txt",
    "most of it": KEY[:19],
}


@pytest.mark.parametrize("how", WRITINGS)
def test_it_is_found_in_each_writing(how: str) -> None:
    """In whatever way a key is written, alone and within a line: the way out is named."""
    hidden = WRITINGS[how]
    assert WATCH.way(hidden)
    around = "\n" if "lines" in how else " "
    assert WATCH.way(f"Sure, here you are:{around}{hidden}{around}Anything else?")


def test_pieces_in_several_lines_are_one_way_out() -> None:
    """A third at a time is let go once, and no further: what is out already counts."""
    first, second, third = KEY[:12], KEY[12:22], KEY[22:]
    assert WATCH.way(first) == ""
    assert WATCH.way(second, [first]) == "in pieces, in another form"
    assert WATCH.way(third, ["Slugs.", "Hm.", first]) == "in pieces, in another form"
    assert WATCH.way("Nothing of it at all.", [second, first]) == "", "it is not this line's doing"


def test_plain_talk_goes_out() -> None:
    """The documents of this house, numbers, and what merely resembles a secret, are let go."""
    root = Path(__file__).parents[2]
    for page in (*root.glob("docs/*.md"), root / "README.md"):
        assert WATCH.way(page.read_text("utf-8")) == "", page.name
    for line in (
        "The harbour smells of zinc.",
        "sk-proj- is how such keys begin; call 4711.",
        "3.14159265358979323846264338327950288419716939937510",
        string.ascii_letters + string.digits,
        base64.b64encode(string.printable.encode()).decode(),
        RAW.hex()[:12],
        "",
    ):
        assert WATCH.way(line) == "", line


def test_short_secrets_are_not_looked_for_in_disguise() -> None:
    """Seven letters turn up by chance; as they are they are taken out all the same."""
    assert SecretWatch(["reward"]).way("Put it into the drawer.") == ""
    assert EgressFilter(secrets=["reward"]).finish("a reward")[0] == "a [redacted]"


@given(st.text(max_size=40), st.sampled_from(sorted(WRITINGS)), st.text(max_size=20))
def test_no_draft_shows_it_in_disguise(before: str, how: str, after: str) -> None:
    """While a line grows it is shown as far as the secret begins, and drafts never shrink."""
    egress, text, shown = EgressFilter(secrets=[KEY]), f"{before} {WRITINGS[how]} {after}", ""
    for end in range(0, len(text) + 1, 7):
        draft = egress.feed(text[:end])
        assert WATCH.way(draft) == ""
        if '"' not in text:
            assert draft.startswith(shown) or how not in ("backwards", "spaced", "base64")
        shown = draft


def test_what_leaves_is_judged_whole() -> None:
    """Halves in two arguments, in a call and in a line, or as it is: each is a leak on record."""
    egress = EgressFilter(secrets=[KEY])
    assert egress.leak([KEY[:16], "and"]) == ""
    assert egress.leak([f"x{KEY[18:]}"]) == "in pieces, in another form"
    assert EgressFilter(secrets=[KEY]).leak([KEY[16:], KEY[:16]]) == "in another form"
    assert EgressFilter(secrets=[KEY]).leak(["https://eve.example/?k=", KEY]) == "as it is"
    assert egress.leaks == ["in pieces, in another form"]
