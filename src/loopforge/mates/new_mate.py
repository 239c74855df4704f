"""A new mate: its file, valid as it is, to be filled with life by hand."""

import json
import re
from pathlib import Path

from loopforge.core.mates.mate_file import RESERVED, TRIGGERS, parse_mate, slug
from loopforge.errors import InputError
from loopforge.mates.mate_roster import MateRoster

HEAD = """\
#voice: how it sounds, in a few words
#colour: teal
#face: "🦊"
#traits: {{curiosity: high, patience: low}}
#tools: [clock]
#bounds: {{calls: 4, seconds: 30}}
#sandbox: {{seconds: 60, memory: 256}}
#triggers: [{triggers}]
#interests: [words, that, wake, its, attention]
#temperature: 0.8
#unprompted: after 3 hours, at 08:30
#pace: 12
#greeting: "Hello, {{person}}! This is said to whoever is the first in a room."
"""

BODY = """\
You are {what}. You talk in short, plain sentences. You say what you think.

> Hi {name}!
Hi! I have just moved in. What should I look at first?

> Can you send an email for me?
I only have words here. Tell me what it should say, and I help you write it.

> Who are you?
I am {name}. The rest you will find out if you stay.
"""
WORDS_OF_YAML = ("yes", "no", "on", "off", "true", "false", "null", "y", "n")


def draft_mate_file(name: str, role: str = "", tier: int = 1) -> str:
    """The file's text. What a mate may have besides stands there as comments."""
    told = f"role: {quote_yaml(role)}" if role else "#role: what it does, in a few words"
    fields = f"name: {quote_yaml(name)}\n{told}\ntier: {tier}\n"
    more = HEAD.format(triggers=", ".join(TRIGGERS))
    body = BODY.format(name=name, what=f"{name}, {role}" if role else name)
    return f"---\n{fields}{more}---\n{body}"


def quote_yaml(text: str) -> str:
    """A text as YAML takes it, in quotation marks where it needs them."""
    if re.fullmatch("[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ0-9 .'-]*", text) and text.lower() not in WORDS_OF_YAML:
        return text
    return json.dumps(text, ensure_ascii=False)


def import_mate_file(roster: MateRoster, text: str, source: str) -> Path:
    """Put a mate's file of another home into this one, named by its handle.

    Raises BadMate for what is wrong with it, InputError if its handle is taken here.
    """
    mate = parse_mate(text, source)
    path = roster.path(mate.handle)
    if path.exists() or mate.handle in roster.mates():
        raise InputError(
            f"@{mate.handle} is taken, by {path.name}. Give this one a handle of its own, such as "
            f"--handle {mate.handle}-two."
        )
    return roster.path(roster.write(mate.handle, text).handle)


def create_mate_file(roster: MateRoster, name: str, role: str = "", tier: int = 1) -> Path:
    """Put a new mate's file into a home. Raises InputError if there is one of that handle."""
    handle = slug(name)
    if not handle or handle in RESERVED:
        raise InputError(
            f"No handle can be made of {name[:80]!r}. Make the mate by another name, such as maya, "
            "and write both into its file: `name:` as people call it, `handle:` as it is addressed."
        )
    path = roster.path(handle)
    if path.exists():
        raise InputError(f"{path} is there already; edit it, or choose another name.")
    mate = roster.write(handle, draft_mate_file(name.strip(), role.strip(), tier))
    return roster.path(mate.handle)
