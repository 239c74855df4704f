"""Shapes of keys: what keys, tokens and passwords of well-known services look like.

By them mates say none (egress_filter.py), and who types one is told so at once. Does not know
which keys the home has.
"""

import re
from typing import NamedTuple

MARK = "[redacted]"
"""What stands in the place of a key."""


class KeyShape(NamedTuple):
    """What a kind of key looks like. A group named `key` is what is taken out, else the whole."""

    name: str
    pattern: re.Pattern[str]


_WORD = "[A-Za-z0-9_-]"
_EDGE = "(?<![A-Za-z0-9])"
SHAPES = tuple(
    KeyShape(name, re.compile(pattern, re.DOTALL | re.ASCII))
    for name, pattern in (
        ("private key", "-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*KEY-----|\\Z)"),
        ("Anthropic key", f"{_EDGE}sk-ant-{_WORD}{{16,}}"),
        ("API key", f"{_EDGE}sk-(?!ant-){_WORD}{{20,}}"),
        ("GitHub token", f"{_EDGE}gh[pousr]_[A-Za-z0-9]{{20,}}"),
        ("GitHub token", f"{_EDGE}github_pat_[A-Za-z0-9_]{{20,}}"),
        ("GitLab token", f"{_EDGE}gl(?:pat|ptt|dt|rt)-{_WORD}{{20,}}"),
        ("Hugging Face token", f"{_EDGE}hf_[A-Za-z0-9]{{30,}}"),
        ("Groq key", f"{_EDGE}gsk_[A-Za-z0-9]{{40,}}"),
        ("xAI key", f"{_EDGE}xai-{_WORD}{{40,}}"),
        ("Stripe key", f"{_EDGE}[rs]k_(?:live|test)_[A-Za-z0-9]{{20,}}"),
        ("npm token", f"{_EDGE}npm_[A-Za-z0-9]{{30,}}"),
        ("PyPI token", f"{_EDGE}pypi-AgE{_WORD}{{40,}}"),
        ("AWS key", f"{_EDGE}A(?:KI|SI)A[A-Z0-9]{{16,}}"),
        ("Google key", f"{_EDGE}AIza{_WORD}{{30,}}"),
        ("Slack token", f"{_EDGE}xox[abeprs]-[A-Za-z0-9-]{{10,}}"),
        ("Discord token", f"{_EDGE}[MNO]{_WORD}{{22,30}}\\.{_WORD}{{6}}\\.{_WORD}{{27,}}"),
        ("Telegram token", f"{_EDGE}[0-9]{{8,10}}:{_WORD}{{35,}}"),
        ("signed token", f"{_EDGE}eyJ{_WORD}{{8,400}}\\.eyJ{_WORD}{{8,}}\\.{_WORD}{{8,}}"),
        (
            "password",
            f"{_EDGE}[A-Za-z][A-Za-z0-9+.-]{{0,20}}://[^\\s:@/]*:(?!{re.escape(MARK)}@)(?P<key>[!-.0-~]+)@",
        ),
    )
)
"""The keys that are known by their shape. None spans white space but a private key."""
