"""Names and passwords: which are refused, with what sentence, and which count as the same."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.errors import BadAccount
from loopforge.people.identity.account_names import fold_name, valid_account_name
from loopforge.people.identity.password_rules import check_new_password, password_bytes


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("Ana", "Ana"),
        ("  Ana \t Maria\n", "Ana Maria"),
        ("O'Neil", "O'Neil"),
        ("Zoe\u0301", "Zo\u00e9"),
        ("王小明", "王小明"),
        ("🦊 Fox", "🦊 Fox"),
        ("7of9", "7of9"),
        ("A\x00n\x1ba\x7f", "Ana"),
        ("x" * 40, "x" * 40),
        ("Ana (work)", "Ana (work)"),
        ("Анна", "Анна"),
    ],
)
def test_names_that_are_kept(typed: str, kept: str) -> None:
    """A name is kept without control characters and superfluous spaces, composed."""
    assert valid_account_name(typed) == kept


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("", "missing"),
        (" \n\x00", "missing"),
        ("x" * 41, "41 characters"),
        ("An\u200ba", "nobody can see"),
        ("An\u202ea", "nobody can see"),
        ("\u3164", "nobody can see"),
        ("An\u034fa", "nobody can see"),
        ("\ue000na", "nobody can see"),
        ("@ana", "cannot hold @"),
        ("\uff20ana", "cannot hold @"),
        ("/stop", "cannot hold /"),
        ("maya: yes", "cannot hold :"),
        ("<b>", "cannot hold <"),
        ("a*b*", "cannot hold \\*"),
        ("-ana", "begins with"),
        ("...", "begins with"),
        ("\u0301a", "begins with"),
        ("\u0410na", "mixes alphabets"),
        ("M\u03b1ya", "mixes alphabets"),
    ],
)
def test_names_that_are_refused(typed: str, why: str) -> None:
    """A name that cannot be seen, imitates a sign or a mixed script is refused, and told why."""
    with pytest.raises(BadAccount, match=why):
        valid_account_name(typed)


def test_one_name_in_many_spellings() -> None:
    """Case, width, composition and spaces make no other name; other letters do."""
    same = ["Zoë Straße", "zoe\u0308 strasse", "\uff3aOË  STRASSE"]
    assert len({fold_name(one) for one in same}) == 1
    assert fold_name("Zoe") != fold_name("Zoë")


@given(st.text(max_size=60))
def test_whatever_is_typed_is_a_name_or_refused(text: str) -> None:
    """A kept name is seen whole, fits, and stays as it is when it is typed again."""
    try:
        name = valid_account_name(text)
    except BadAccount:
        return
    assert 1 <= len(name) <= 40
    assert name.isprintable()
    assert valid_account_name(name) == name
    assert not set(name) & set("@#/\\<>:|*`[]{}")


@given(st.text(max_size=50))
def test_folding_settles(text: str) -> None:
    """A folded name folds to itself; spaces around it and composition are no matter."""
    assert fold_name(fold_name(text)) == fold_name(text)
    assert fold_name(f" {text} ") == fold_name(text)
    assert fold_name(unicodedata.normalize("NFD", text)) == fold_name(text)


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("", "fewer than 8"),
        ("short", "fewer than 8"),
        ("x" * 257, "more than 256"),
        ("Ana Maria", "is your name"),
        (" ana  MARIA ", "is your name"),
        (" " * 9, "nothing but spaces"),
        ("password", "tried first"),
        ("P@ssw0rd2026!", "tried first"),
        ("123456789012", "tried first"),
        ("Contraseña1", "tried first"),
        ("passwordpassword", "tried first"),
        ("Sunshine 1", "tried first"),
        ("anamaria1984", "tried first"),
        ("12345678", "tried first"),
        ("a1234567", "tried first"),
        ("24121984", "tried first"),
        ("!@#$%^&*", "tried first"),
        ("aaaaaaaaaaaa", "tried first"),
        ("qwertyuiop", "tried first"),
        ("lkjhgfdsa", "tried first"),
        ("1q2w3e4r5t", "tried first"),
        ("asdf1234", "tried first"),
    ],
)
def test_passwords_that_are_refused(password: str, why: str) -> None:
    """A password that is too short, too long, the name, or nothing is refused, and told why."""
    with pytest.raises(BadAccount, match=why):
        check_new_password(password, "Ana Maria")


@pytest.mark.parametrize(
    "password",
    [
        "correct horse battery",
        "sunshine otter",
        "a brand new one",
        "31415 92653 58979",
        "🦊🐻🐼🦁🐸🐙🦉🐝",
    ],
)
def test_words_in_a_row_will_do(password: str) -> None:
    """A common word among others, a long number and pictures may be a password."""
    check_new_password(password, "Ana Maria")


@given(st.text(st.characters(exclude_categories=[]), min_size=8, max_size=256))
def test_every_other_password_will_do(password: str) -> None:
    """Any text that is not tried first, also half a surrogate pair, is a password with bytes."""
    check_new_password(f"two otters {password}"[:256], "Ana Maria")
    assert password_bytes(password) == password_bytes(unicodedata.normalize("NFD", password))
