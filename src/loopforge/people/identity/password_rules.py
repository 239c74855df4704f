"""Passwords that an account may have: long enough, and not among those that are tried first.

Pure; hashing is accounts/password_hashing.py's.
"""

import unicodedata

from loopforge.errors import BadAccount
from loopforge.people.identity.account_names import fold_name

SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 256

_WORDS = """
    password passwort passw pass wachtwoord motdepasse contrasena senha parola haslo secret geheim
    letmein welcome willkommen welkom bienvenue hello hallo hola bonjour admin administrator root
    user guest owner test tester testing login master default changeme access system server
    computer internet google facebook loopforge iloveyou ichliebedich loveyou lovely lover love
    princess prinzessin sunshine sonnenschein rainbow flower butterfly schmetterling chocolate
    schokolade cookie cheese banana orange cherry pepper ginger coffee summer winter spring autumn
    sommer herbst january february march april june july august september october november december
    monday friday sunday football fussball baseball basketball hockey soccer tennis liverpool
    chelsea arsenal barcelona juventus schalke bayern dortmund yankees cowboys lakers steelers
    dragon monkey tiger panther falcon eagle horse dolphin kitten puppy bailey buster harley
    mustang ferrari porsche mercedes corvette yamaha superman batman spiderman starwars pokemon
    naruto minecraft fortnite pikachu nintendo playstation matrix shadow ninja killer hunter ranger
    soldier warrior wizard hacker freedom freiheit forever whatever nothing trustno nevermind
    asshole fuckyou fuck fucker bullshit biteme blink metallica nirvana slipknot eminem family
    familie mother father sister brother daughter angel angels jesus jesuschrist god blessed heaven
    michael jennifer jessica ashley amanda nicole daniel andrew joshua matthew robert thomas charlie
    george jordan michelle hannah maggie samantha anthony william alexander victoria elizabeth
    natasha alexandra sophie patrick martin christian schatz schatzi liebe mausi hase baby babygirl
    sweet sweetheart honey darling diamond silver golden gold phoenix thunder lightning midnight
    purple yellow green black white blue red pink snoopy garfield mickey scooby cocacola pepsi
    america canada london berlin paris hamburg deutschland england australia samsung apple windows
    correcthorsebatterystaple opensesame sesame startrek gandalf merlin contraseña
"""
"""Words that lists of leaked passwords begin with, as they are without what stands around them."""
_TRIED_FIRST = frozenset(_WORDS.split())
_KEYS = (
    *("qwertyuiopasdfghjklzxcvbnm", "qwertzuiopasdfghjklyxcvbnm", "azertyuiopqsdfghjklmwxcvbn"),
    *(
        "abcdefghijklmnopqrstuvwxyz",
        "1q2w3e4r5t6z7u8i9o0p",
        "1q2w3e4r5t6y7u8i9o0p",
        "q1w2e3r4t5y6u7",
    ),
    *("1qaz2wsx3edc4rfv5tgb6yhn7ujm", "1qazxsw23edcvfr4", "zaq12wsxcde34rfv", "zaq1xsw2cde3vfr4"),
    *("a1b2c3d4e5f6g7h8", "qazwsxedcrfvtgbyhnujm", "123qweasdzxc", "qweasdzxc123"),
    "12345678901234567890",
)
"""Rows and columns of keyboards, and the alphabet: any part of one is tried first."""
_LIKE = str.maketrans("013457@$!", "oieastasi")
"""Signs that are written for letters."""
SHORTEST_NUMBER = 12
"""Signs of a password that holds no letters, or one or two and digits; a birthday has eight."""


def password_bytes(password: str) -> bytes:
    """A password as it is hashed: the same bytes from every keyboard that types the same signs."""
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")


def check_new_password(password: str, name: str) -> None:
    """Raise BadAccount, with what to do, for a password that this person cannot have."""
    if len(password) < SHORTEST_PASSWORD:
        raise BadAccount(
            f"This password has fewer than {SHORTEST_PASSWORD} characters. Take a longer one; "
            "four words in a row are easy to remember."
        )
    if len(password) > LONGEST_PASSWORD:
        raise BadAccount(
            f"This password has more than {LONGEST_PASSWORD} characters. Take a shorter one."
        )
    if fold_name(password) == fold_name(name):
        raise BadAccount("This password is your name, which everybody knows. Take another.")
    if not password.strip():
        raise BadAccount("This password is nothing but spaces. Take one that is harder to guess.")
    if _tried_first(password, name):
        raise BadAccount(
            "This password is among those that are tried first. "
            "Take another; four words in a row are easy to remember."
        )


def _tried_first(password: str, name: str) -> bool:
    """A common word, the name or a row of keys, with digits and signs around; a short number."""
    text = fold_name(password).replace(" ", "")
    text = text[: _period(text)]
    bare = _bare(text)
    bare = bare[: _period(bare)]
    words = {bare, bare.translate(_LIKE)}
    rows = [row for each in _KEYS for row in (each, each[::-1])]
    keys = any(part in row for part in (text, bare) if len(part) > 2 for row in rows)
    digits = not bare or (len(bare) < 3 and text.isalnum())
    number = text.isascii() and digits and len(text) < SHORTEST_NUMBER
    known = words & (_TRIED_FIRST | {_bare(fold_name(name).replace(" ", ""))}) - {""}
    return len(text) < 5 or keys or number or bool(known)


def _bare(text: str) -> str:
    """From its first letter to its last one."""
    letters = [nth for nth, sign in enumerate(text) if sign.isalpha()]
    return text[letters[0] : letters[-1] + 1] if letters else ""


def _period(text: str) -> int:
    """After how many signs it begins anew: 3 of "abcabc"; all of them, if it never does."""
    return (text + text).find(text, 1)
