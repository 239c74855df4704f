"""The form of a capable model's answer: which fields, in which order, and what is said of each.

    speak (only of a mate that may stay silent), say, mode, rule, narrative, then what may be needed

Its words come first, so that they stream at once. Fields for files, notes and tools stand there
only where the lines it has not answered yet make them likely: a form is read, and paid for, at
every turn. Pure; knows nothing of reading what comes back (core/text/malformed_answer.py).
"""

import re
from functools import cached_property
from itertools import islice
from typing import Any

from loopforge.core.perception import FINDER, KIND, READER, AgentPerception
from loopforge.core.policy import Prompts
from loopforge.policies.prompt_building import (
    MODE_FIELDS,
    fields_of,
    fill_template,
    form_of,
    may_pass,
)

SAY, SPEAK, REACT = "say", "speak", "react"
LAST = 6
"""Lines that are looked at, the room's own word of a file among them."""

FILES: dict[str, Any] = {
    "type": "array",
    "items": form_of({"name": {"type": "string"}, "text": {"type": "string"}}),
}
KEEPING: dict[str, Any] = {
    "note": {"type": "string"},
    "remember": {"type": "string"},
    "forget": {"type": "string"},
    "again": {"type": "boolean"},
}

OF_TEXTS = re.compile(
    r"\b(files?|lists?|tables?|code|coding|scripts?|programs?|functions?|poems?|stor(y|ies)|essays?"
    r"|letters?|recipes?|documents?|drafts?|summar\w+|reports?|csv|json|yaml|html|markdown|svg"
    r"|writ(e|es|ing|ten)|wrote|compose|translat\w+|attach\w*|download\w*|plans?|notes?"
    r"|datei\w*|liste\w*|tabelle\w*|skript\w*|gedicht\w*|brief\w*|rezept\w*|schreib\w*|text\w*"
    r"|fichiers?|tableau\w*|écri\w+|lettre\w*|recettes?|po[eè]me?s?|résum\w+"
    r"|archivo\w*|lista\w*|tabla\w*|código|escri\w+|carta\w*|receta\w*|poema\w*"
    r"|elenco|scriv\w+|arquivo\w*|escrev\w+)\b|\.\w{2,4}\b|```"
)
"""Words of somebody who may want a text too long for a chat (English, German, French, Spanish,
Italian, Portuguese), and signs of a file. In small letters, as the lines are searched: that is five
times as fast as having the search not tell them from capitals."""

OF_KEEPING = re.compile(
    r"\b(remember\w*|remind\w*|forget|forgot\w*|memor\w+|keep in mind|notes?"
    r"|write (it|that|this) down|next time|promise\w*|step by step|go on|think|plan|planning"
    r"|i (like|love|hate|prefer|always|never)|my name|call me"
    r"|merk\w*|notier\w*|vergiss\w*|vergess\w*|erinner\w*|schritt\w*"
    r"|souvien\w*|rappel\w*|oubli\w*|retien\w*|recuerd\w*|olvid\w*|anot\w*"
    r"|ricord\w*|dimentic\w*|lembr\w*|esque[cç]\w*)\b"
)
"""Words by which somebody asks to keep something in mind, or for more than one step, or tells of
themselves."""

LINK = re.compile(r"https?://[^\s/<>]", re.IGNORECASE)
"""The beginning of an address of the web."""

HANDLED = re.compile(r"\bfile [0-9a-f]{8}: ")
"""A kept file in what a tool gave, by its handle."""

EMOJIS = ("", *"👍❤🔥👏😁🤣😱😢🎉🙏💯🤗😎🤝")
"""What a mate may put on a line: what every platform takes, and nothing that marks how a line of a
person stands."""
BRIEF = 60
"""Characters of a line that may be met by an emoji alone."""

ELSEWHERE = re.compile(r"[^\W\d_]")
LATIN = 0x24F
"""The last letter of the alphabets that the words above are written in."""


class AnswerForm:
    """The form of the answer of a mind that sees this.

    What it holds is looked for in the lines once, as far as somebody wants to know.
    """

    def __init__(self, seen: AgentPerception) -> None:
        self.seen = seen

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the answer."""
        seen = self.seen
        fields: dict[str, Any] = {SPEAK: {"type": "boolean"}} if may_pass(seen) else {}
        fields[SAY] = {"type": "string"}
        fields |= MODE_FIELDS
        if _reacts(seen):  # at every turn: a form that varies is cached nowhere
            fields[REACT] = {"type": "string", "enum": list(EMOJIS)}
        if self.writes:
            fields["files"] = FILES
        if self.attaches:
            fields["attach"] = {"type": "array", "items": {"type": "string"}}
        if self.notes:
            fields.update(KEEPING)
        if seen.offered:
            names = [one.name for one in seen.offered]
            those = {} if FINDER in names else {"enum": names}
            call = form_of(
                {
                    "tool": {"type": "string", **those},
                    "arguments": {"type": "string", "description": "the tool's arguments, as JSON"},
                }
            )
            fields["calls"] = {"type": "array", "items": call}
        return form_of(fields)

    def instructions(self, prompts: Prompts) -> str:
        """What is asked of it now, and the fields of this form alone: others were told before."""
        more = ", ".join(f"`{name}`" for name in self._more)
        known = {**self.known, "more": more}
        parts = [
            fill_template(prompts[name], known)
            for name, there in (
                ("reply", True),
                ("reply-also", bool(self.seen.context.get("also"))),
                ("reply-pass", may_pass(self.seen)),
                ("reply-more", bool(more)),
                ("reply-link", self.link),
            )
            if there
        ]
        return "\n".join(parts)

    def told(self, prompts: Prompts) -> str:
        """What holds at every turn, and what some turns ask for besides.

        Told at the beginning, where a provider's cache keeps it.
        """
        names = (
            ("form", True),
            ("form-react", _reacts(self.seen)),
            ("form-tools", bool(self.seen.offered)),
            ("form-more", True),
            ("form-files", self._may_write),
            ("form-attach", bool(self.seen.offered) or self.attaches),
        )
        return "\n".join(fill_template(prompts[name], self.known) for name, there in names if there)

    @cached_property
    def known(self) -> dict[str, str]:
        """What the prompts of its mind may name."""
        return fields_of(self.seen)

    @property
    def _more(self) -> list[str]:
        """The fields of this turn that were told of as being asked for seldom."""
        asked = (("files", self.writes), ("attach", self.attaches))
        return [name for name, there in asked if there] + (list(KEEPING) if self.notes else [])

    @property
    def _may_write(self) -> bool:
        return self.seen.context.get("files") == "yes"

    @cached_property
    def writes(self) -> bool:
        """Whether files may go with what it says, and the last lines may want one."""
        return self._may_write and _speak_of(OF_TEXTS, self.seen)

    @cached_property
    def attaches(self) -> bool:
        """Whether a tool gave a file that could go with what it says."""
        lines = self.seen.lines
        if "result" not in map(KIND, lines):
            return False
        return any(line.kind == "result" and HANDLED.search(str(line.text)) for line in lines)

    @cached_property
    def notes(self) -> bool:
        """Whether it may want to keep something, or another step: asked to, or in a chain."""
        return self.seen.context.get("summons") == "continue" or _speak_of(OF_KEEPING, self.seen)

    @property
    def parts(self) -> bool:
        """Whether it may say several short lines in place of one: there is room for them."""
        return self.seen.context.get("short") == "yes" and not self.writes

    @property
    def link(self) -> bool:
        """Whether somebody known here just gave a link that can be read, and nothing followed."""
        if READER not in (tool.name for tool in self.seen.offered):
            return False
        passing = ("file", "told")
        last = next((line for line in reversed(self.seen.lines) if line.kind not in passing), None)
        if last is None or last.kind != "heard" or last.untrusted:
            return False
        return bool(LINK.search(str(last.text)))

    @property
    def reacts(self) -> bool:
        """Whether it may put an emoji on the line that called it: a brief one, or not for it."""
        called = self.seen.context.get("line", "")
        line = next((one for one in reversed(self.seen.lines) if one.id and one.id == called), None)
        if not _reacts(self.seen) or line is None or line.kind not in ("heard", "said"):
            return False
        text = str(line.text).strip()
        return may_pass(self.seen) or (len(text) <= BRIEF and not text.endswith(("?", "？", "؟")))


def _reacts(seen: AgentPerception) -> bool:
    """Whether emoji can be put on lines here at all."""
    return seen.context.get("react") == "yes"


def _speak_of(words: re.Pattern[str], seen: AgentPerception) -> bool:
    """Whether the last lines hold such words; in an alphabet they are not of, they may."""
    kinds = ("heard", "said", "told", "file")
    last = islice((line for line in reversed(seen.lines) if line.kind in kinds), LAST)
    text = "\n".join(str(line.text) for line in last if line.text.text is not None)
    elsewhere = () if text.isascii() else ELSEWHERE.finditer(text)
    return bool(words.search(text.lower())) or any(ord(found[0]) > LATIN for found in elsewhere)
