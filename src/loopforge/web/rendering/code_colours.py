"""Colours of code: what stands in a fence that names its language, as spans of a few short classes.

Pygments takes it apart. Only for languages that are asked for by name and stand here: guessing is
dear and often wrong, and a lexer that is slow on hostile text is not on the list. What is beyond
some screenfuls of one text is shown without colours.
"""

from functools import lru_cache
from itertools import groupby
from typing import Any

from markupsafe import Markup, escape

LONGEST = 4_000
"""Characters of code in one text that are coloured; the dearest hostile ones take 0.3 s."""
LIKE_D = frozenset({"c", "c++", "cpp", "cs", "csharp", "java"})
"""Coloured as D, whose words are much the same: their own lexers take seconds for hostile text."""
LANGUAGES = (
    LIKE_D
    | {"bash", "sh", "shell", "dockerfile", "lua", "py", "python", "r", "rb", "ruby"}
    | {"css", "html", "xml", "ini", "json", "toml", "yaml", "yml", "sql", "diff"}
    | {"go", "golang", "kotlin", "rs", "rust", "swift", "javascript", "js", "ts", "typescript"}
)
CLASSES = {
    "Token.Keyword": "hk",
    "Token.Operator.Word": "hk",
    "Token.Name.Tag": "hk",
    "Token.Name.Builtin": "hb",
    "Token.Name.Function": "hf",
    "Token.Name.Class": "hf",
    "Token.Name.Decorator": "hf",
    "Token.Name.Attribute": "hb",
    "Token.Literal.String": "hs",
    "Token.Literal.Number": "hn",
    "Token.Comment": "hc",
    "Token.Generic.Inserted": "hs",
    "Token.Generic.Deleted": "hd",
    "Token.Generic.Subheading": "hf",
}
"""The class of a kind of token, and of all kinds beneath it."""


def highlight_code(code: str, language: str) -> Markup:
    """The code as HTML; without colours where the language is none of ours."""
    language = language.lower()
    if language not in LANGUAGES:
        return escape(code)
    tokens = _lexer(language).get_tokens(code)
    runs = groupby(tokens, lambda token: _class(token[0]))
    return Markup("").join(_shaded(shade, "".join(text for _, text in run)) for shade, run in runs)


def _shaded(shade: str, text: str) -> str:
    return Markup('<span class="{}">{}</span>').format(shade, text) if shade else text


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]

    language = "d" if language in LIKE_D else language
    return get_lexer_by_name(language, stripnl=False, ensurenl=False)


@lru_cache(maxsize=512)
def _class(kind: Any) -> str:
    while kind.parent is not None:
        if str(kind) in CLASSES:
            return CLASSES[str(kind)]
        kind = kind.parent
    return ""
