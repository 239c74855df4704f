"""Long chats between a User and an Assistant, in LoCoMo's format, for bench/retrieval.py.

    python -m bench.long_chats --tokens 100000 --chats 4 --half 0 > FILE

A stand-in: no real chat of that length may lie in this repository. What users say of themselves and
what is asked of it later was written by hand (long_chat_facts.json), so that question and statement
share few words; some facts change later on, and the question then has two lines for evidence. All
else is made: each fact stands in a message among others, is repeated by the reply to it, and is
touched on again and again by later messages that do not tell it. Replies are paragraphs of
documents that lie on this machine (Debian's and those of Python packages), those nearest to the
message by its words, with words of the message put in. `--half` takes one half of facts and
documents, so that weights can be chosen on one and looked at on the other.
"""

import argparse
import gzip
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from loopforge.core.text.topics import FUNCTION_WORDS

FOLDERS = (Path("/usr/share/doc"), Path(sys.prefix) / "lib")
LIKELY = re.compile(
    r"(?:README|NEWS|FAQ|changelog|INSTALL|LICENSE|METADATA|copyright)|\.(?:md|rst|txt)(?:\.gz)?$",
    re.IGNORECASE,
)
ASIDE = (
    "By the way, can you help me with the following? {}",
    "I keep coming back to this one: {} What would you do?",
    "Before we go on, I read that {} Is that right?",
    "Could you explain in plain terms: {}",
    "I'm stuck. {} How should I go about it?",
)
AGAIN = (
    "Coming back to {}, what else should I think of? {}",
    "I was wondering about {} again. {}",
    "Can you draft a plan that takes {} into account? {}",
    "What do people usually get wrong about {}? {}",
)
ECHO = (
    "Thanks for telling me. Considering {}, here is how I would approach it.",
    "Great question! With {} in mind, let's take it step by step.",
    "Understood. Let's look at {} first, and then at the rest.",
)
TOUCHED = 3
"""How often a fact is touched on again."""
REPLY = (180, 460)
"""Words of a reply."""
TOKENS = 1.33
"""Tokens a word, about."""


def paragraphs(half: int) -> list[str]:
    """Paragraphs of running text out of documents of this machine; of one half of the files."""
    found: dict[str, None] = {}
    for folder in FOLDERS:
        for nth, path in enumerate(sorted(filter(_likely, folder.rglob("*")))):
            if nth % 2 == half:
                for part in re.split(r"\n\s*\n", _read(path)):
                    words = part.split()
                    plain = sum(word.strip(".,;:()'\"").isalpha() for word in words)
                    if 25 <= len(words) <= 160 and plain > 0.8 * len(words):
                        found[" ".join(words)] = None
    return list(found)


def _likely(path: Path) -> bool:
    return bool(LIKELY.search(path.name)) and path.is_file() and path.stat().st_size < 400_000


def _read(path: Path) -> str:
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return raw.decode()
    except (OSError, UnicodeDecodeError, EOFError):
        return ""


class Library:
    """Paragraphs by the words in them."""

    def __init__(self, texts: Sequence[str], dice: random.Random) -> None:
        self.texts, self._dice = texts, dice
        self._by: defaultdict[str, list[int]] = defaultdict(list)
        for nth, text in enumerate(texts):
            for word in telling(text):
                self._by[word].append(nth)

    def any(self) -> str:
        """A sentence or two."""
        return " ".join(re.split(r"(?<=[.?!]) ", self._dice.choice(self.texts))[:2])

    def reply(self, message: str, length: int) -> str:
        """Paragraphs near to a message, with words of it put in."""
        words = list(telling(message))
        near = [nth for word in words for nth in self._by.get(word, ())[:200]]
        parts: list[str] = []
        while sum(len(part.split()) for part in parts) < length:
            nth = self._dice.choice(near) if near and self._dice.random() < 0.8 else None
            text = self.texts[nth] if nth is not None else self._dice.choice(self.texts)
            put = [
                self._dice.choice(words) if words and self._dice.random() < 0.03 else word
                for word in text.split()
            ]
            parts.append(" ".join(put))
        return "\n\n".join(parts)


def telling(text: str) -> dict[str, None]:
    """The words of a text that say something, each once, in small letters."""
    words = re.findall(r"[a-z']{3,}", text.lower())
    return dict.fromkeys(word for word in words if word not in FUNCTION_WORDS)


def chat(
    facts: Sequence[dict[str, str]], library: Library, tokens: int, dice: random.Random
) -> Any:
    """One conversation with its questions."""
    most = int(tokens / TOKENS)
    plan = list(_plan(facts, dice))
    sizes = [dice.randint(*REPLY) for _ in plan]
    spare = most - sum(sizes) - 70 * len(plan)
    while spare > 0:
        plan.insert(dice.randrange(len(plan) + 1), (-1.0, "", ""))
        sizes.append(dice.randint(*REPLY))
        spare -= sizes[-1] + 70
    turns: list[dict[str, str]] = []
    where: dict[str, str] = {}
    for (_, kind, text), size in zip(plan, sizes, strict=True):
        message = _message(kind, text, library, dice)
        where[kind + text] = f"D1:{len(turns) + 1}"
        turns.append({"speaker": "User", "dia_id": f"D1:{len(turns) + 1}", "text": message})
        echo = dice.choice(ECHO).format(_touch(message, dice)) if kind else ""
        answer = f"{echo} {library.reply(message, size)}".strip()
        turns.append({"speaker": "Assistant", "dia_id": f"D1:{len(turns) + 1}", "text": answer})
    qa = [{"question": f["asked"], "evidence": [where["said" + f["said"]]]} for f in facts]
    qa += [
        {
            "question": f["then"],
            "evidence": [where["said" + f["said"]], where["later" + f["later"]]],
        }
        for f in facts
        if "later" in f
    ]
    return {
        "conversation": {"speaker_a": "User", "speaker_b": "Assistant", "session_1": turns},
        "qa": qa,
    }


def _plan(facts: Sequence[dict[str, str]], dice: random.Random) -> Iterator[tuple[float, str, str]]:
    found = []
    for fact in facts:
        at = dice.random() * 0.6
        found.append((at, "said", fact["said"]))
        if "later" in fact:
            found.append((at + 0.3, "later", fact["later"]))
        found += [(dice.random(), f"again{n}", fact["said"]) for n in range(TOUCHED)]
    yield from sorted(found)


def _message(kind: str, text: str, library: Library, dice: random.Random) -> str:
    aside = dice.choice(ASIDE).format(library.any())
    if kind in ("said", "later"):
        return f"{text} {aside}" if dice.random() < 0.5 else f"{library.any()} {text} {aside}"
    if kind:
        return dice.choice(AGAIN).format(_touch(text, dice), library.any())
    return f"{library.any()} {aside}"


def _touch(text: str, dice: random.Random) -> str:
    words = list(telling(text))
    at = dice.randrange(max(1, len(words) - 3))
    return "the " + " ".join(words[at : at + 3])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the chats."""
    parser = argparse.ArgumentParser(prog="python -m bench.long_chats", description=__doc__)
    parser.add_argument("--tokens", type=int, default=100_000)
    parser.add_argument("--chats", type=int, default=4)
    parser.add_argument("--half", type=int, choices=[0, 1], default=0)
    told = parser.parse_args(arguments)
    facts = json.loads((Path(__file__).parent / "long_chat_facts.json").read_text("utf-8"))
    dice = random.Random(told.half)
    library = Library(paragraphs(told.half), dice)
    print(
        json.dumps(
            [chat(facts[told.half :: 2], library, told.tokens, dice) for _ in range(told.chats)]
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
